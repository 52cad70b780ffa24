"""The function of a step or pipeline in its file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flowdsl.compiler.carry.module import ModuleSource
    from flowdsl.compiler.carry.tree import Function
    from flowdsl.compiler.checks.evident import Evident
    from flowdsl.compiler.checks.variables import Variables
    from flowdsl.pipeline import PipelineDef
    from flowdsl.places.place import Span
    from flowdsl.step import StepDef
    from flowdsl.tracing.trace import Call

    Calls = Callable[[], Mapping[int, list[Call]]]
    """The calls of each step, by its id, for those who ask."""


class Body(NamedTuple):
    """The function of a step or pipeline in its file, and what it does there."""

    definition: StepDef | PipelineDef
    module: ModuleSource
    node: Function
    names: set[str]
    returns: list[ast.Return]
    changed: dict[str, Span]
    read: dict[str, Span]
    variables: Variables
    evident: Evident

    @property
    def returned(self) -> list[ast.expr]:
        """The expressions that it returns."""
        return [one.value for one in self.returns if one.value is not None]
