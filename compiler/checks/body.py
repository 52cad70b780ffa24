"""The function of a step or pipeline in its file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.grammar.named import NamedTuple
from flowdsl.step import StepDef

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flowdsl.compiler.carry.module import ModuleSource
    from flowdsl.compiler.carry.tree import Function
    from flowdsl.compiler.checks.inference import Evident
    from flowdsl.compiler.checks.variables import Variables
    from flowdsl.pipeline import PipelineDef
    from flowdsl.places.place import Span
    from flowdsl.tracing.trace import Call, Trace

    Calls = Callable[[], Mapping[int, list[Call]]]
    """What `calls_by_target` gives, made when it is first asked for."""


def calls_by_target(traces: Iterable[Trace]) -> dict[int, list[Call]]:
    """The calls of each step and pipeline, by its id."""
    found: dict[int, list[Call]] = {}
    for trace in traces:
        for call in trace.calls:
            found.setdefault(id(call.target), []).append(call)
    return found


class Body(NamedTuple):
    """The function of a step or pipeline in its file, and facts about it."""

    definition: StepDef | PipelineDef
    module: ModuleSource
    node: Function
    names: set[str]
    returns: list[ast.Return]
    changed: dict[str, Span]
    read: dict[str, Span]
    variables: Variables
    evident: Evident
    calls: Calls

    @property
    def step(self) -> StepDef:
        """The step that the function belongs to."""
        assert isinstance(self.definition, StepDef)
        return self.definition

    @property
    def given(self) -> Sequence[Call]:
        """The calls of the step."""
        return self.calls().get(id(self.definition), ())

    @property
    def returned(self) -> list[ast.expr]:
        """The expressions that it returns."""
        return [one.value for one in self.returns if one.value is not None]
