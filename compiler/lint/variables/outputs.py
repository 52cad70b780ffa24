"""Uses of the outputs of tasks and steps: that they exist, have been made by then, and are certain to be there."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import BODY_OF, WORD_OF
from flowdsl.compiler.lint.variables.failures import (
    Missing,
    lost,
    lost_at_end,
    missing,
    missing_at_end,
    skip,
)
from flowdsl.compiler.lint.variables.findings import (
    NeverThere,
    NotEarlier,
    Overlooked,
    UnknownOutput,
    UnknownVariable,
)
from flowdsl.compiler.lint.variables.hyphens import as_keys
from flowdsl.compiler.lint.variables.inline import NAMED, is_unkept
from flowdsl.compiler.lint.variables.typing_findings import WrongOperand
from flowdsl.compiler.lint.variables.uses import (
    Late,
    Place,
    Spot,
    guarded_fault,
    other_sort,
    output_fault,
    producer_of,
)
from flowdsl.compiler.tree import string, value_at
from flowdsl.grammar.depends import asks
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Call, Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.lint.variables.failures import Skip
    from flowdsl.compiler.problem import Problem
    from flowdsl.compiler.tree import Path
    from flowdsl.diagnostic import Finding
    from flowdsl.grammar.template import Reference

_READER = regex(r"\b(fromJSON|jsonpath)\(\s*$")


class Outputs:
    """Checks how the texts of one template use the outputs of tasks and steps; `late` collects the uses in DAGs."""

    def __init__(self, view: View, template: Template, late: list[Late]) -> None:
        self._view = view
        self._template = template
        self._late = late
        self._skips: dict[int, Skip | None] = {}

    def output(
        self, spot: Spot, target: tuple[str, str, str], place: Place, exact: bool, guarded: str = ""
    ) -> Iterator[Problem]:
        """The findings about a variable of a task or step: `target` is the root, the name of the call, and the rest.

        `exact` requires a complete variable, as simple tags do; an expression may name a prefix. `guarded`:
        the text of a use with `??` or `?.`, which turns a missing value into nil.
        """
        word, name, output = target
        while place.graph is not None and place.graph.body != BODY_OF[word]:
            place = place.outer
        graph, call = place
        if graph is None:
            other = WORD_OF.get(self._template.body)
            reason = f"write `{other}.`, for its own {other}" if other else "pass the value on as an argument"
            yield spot.problem(UnknownVariable(f"{word}.{name}.{output}".rstrip("."), (), reason))
            return
        position = graph.call_index.get(name)
        if position is None:
            reason = "" if graph.call_index else f"there are no {word}"
            known = _called(word, tuple(graph.call_index))
            yield spot.problem(UnknownVariable(f"{word}.{name}", known, reason))
            return
        producer = graph.calls[position]
        fault = guarded_fault(producer, output, guarded) if guarded else output_fault(producer, output, exact)
        if isinstance(fault, NeverThere) and "outputs" in self._view.defaults:
            fault = None  # which may set it
        at_end = call is None and graph.body == "dag" and "hooks" not in producer.data
        if fault is None and call is None and not (guarded or has_default(self._view, spot.path)):
            fault = self._left_out(graph, position, output)
        if fault is None and at_end and exact and output == "status":
            reason = "the outputs of a DAG cannot use it in a simple tag: use an expression"
            fault = UnknownOutput(name, output, (), reason)
        if fault is not None:
            yield spot.problem(fault)
        elif call is not None:
            yield from self.order(spot, graph, producer, call)

    def of_call(
        self, spot: Spot, reference: Reference, place: Place, text: str, needed: bool, in_tag: bool
    ) -> Iterator[Problem]:
        """The findings about a variable of a task or step in an expression, which may be required."""
        root, call, *rest = reference.path
        name, guarded = reference.dotted, reference.guarded
        if rest == ["outputs", "result"] and _is_overlooked(place.graph, call):
            finding = Overlooked(name, f"{root}['{call}'].outputs.result")
            yield spot._replace(expression=False).problem(finding)
            return
        if rest == ["outputs", "result"] and not in_tag and is_unkept(place.graph, root, call):
            yield spot.problem(UnknownVariable(name, (), NAMED))
            return
        written = text[reference.start : reference.end]
        target = (root, call, ".".join(rest))
        found = list(self.output(spot, target, place, exact=False, guarded=written if guarded else ""))
        if not found and in_tag and (sort := other_sort(spot.path, name, target[2], place.call is not None)):
            found = [spot.problem(sort)]
        yield from found
        if rest == ["outputs", "parameters"]:
            yield from self._mapping(spot, text[: reference.start], name, place)
        if not (guarded and "?." in written.rpartition("outputs")[2]):
            alone = len(written) == len(text.strip())
            yield from self.missing(spot, place, Missing(name, spot.path, False, alone, guarded, needed))

    def missing(self, spot: Spot, place: Place, use: Missing) -> Iterator[Problem]:
        """The finding about an output whose task may be skipped, or fail before writing it."""
        root, _, rest = use.name.partition(".")
        graph, call = place
        name, _, output = rest.partition(".")
        producer = None if graph is None else producer_of(graph, root, name)
        if producer is None:
            return
        at_end = use.path[-1] == "fromExpression" or (
            (use.path[-2] == "valueFrom" or use.path[-1] == "from") and not has_default(self._view, use.path)
        )
        finding = None
        if (why := self.skip(producer)) is not None:
            if call is not None:
                finding = missing(producer, call, output, use, why)
            elif at_end:
                finding = missing_at_end(producer, output, use, why)
        if finding is None and call is not None:
            finding = lost(producer, call, output, use)
        elif finding is None and at_end:
            finding = lost_at_end(producer, output, use)
        if finding is not None:
            yield spot.problem(finding)

    def skip(self, call: Call) -> Skip | None:
        """The reason why a call may be skipped, as far as known."""
        depends = call.depends
        if not asks(depends) and call.data.keys().isdisjoint(("when", "withParam", "withSequence")):
            return None
        found = self._skips
        return found[id(call)] if id(call) in found else found.setdefault(id(call), skip(self._view, call))

    def order(self, spot: Spot, graph: Template, producer: Call, call: Call) -> Iterator[Problem]:
        """The finding about a call that uses one which may not have ended; hooks may use their own call."""
        user = call.parent or call
        if user is producer and call.parent is not None:
            return
        if graph.body == "dag":
            first, second = graph.call_index[producer.name], graph.call_index[user.name]
            self._late.append(Late(graph, first, second, spot))
        elif producer.group >= user.group:
            when = "runs at the same time" if producer.group == user.group else "runs later"
            when = "is the step itself" if user is producer else when
            yield spot.problem(NotEarlier(user.name, producer.name, when))

    def _left_out(self, graph: Template, position: int, output: str) -> Finding | None:
        """The finding about an output of a DAG from a task that its targets exclude."""
        target = string(graph.data, "dag", "target")
        if not target:
            return None
        targets = target.split(" ")
        wanted = [graph.call_index[each] for each in targets if each in graph.call_index]
        if len(wanted) < len(targets) or not graph.dag.is_sound or position in graph.dag.before(wanted):
            return None
        reason = "no target waits for it, so it does not run: add it to `target`"
        return UnknownOutput(graph.calls[position].name, output, (), reason)

    def _mapping(self, spot: Spot, before: str, name: str, place: Place) -> Iterator[Problem]:
        """The finding about the outputs of a loop read as text: in an expression they are a mapping by their names.

        Source: Argo Workflows, util/expand, which keeps only the entries below a name.
        """
        reader = _READER.search(before)
        producer = None if place.graph is None else place.graph.call(name.split(".")[1])
        callee = None if producer is None else producer.callee
        if reader is not None and callee is not None and callee.output_parameters:
            one = as_keys(f"{name}.{next(iter(callee.output_parameters))}")
            way = f"write `{one}`, which is a list in JSON for each output"
            yield spot.problem(
                WrongOperand(reader[1], as_keys(name), "a mapping of the outputs by name", way)
            )


def _is_overlooked(graph: Template | None, name: str) -> bool:
    """Whether Argo does not store the result of a task or step, because it does not find its use."""
    if graph is None or (producer := graph.call(name)) is None or name in graph.results_used:
        return False
    return producer.callee is None or producer.callee.is_pod


def has_default(view: View, path: Path) -> bool:
    """Whether an output has a default, or is optional, in case that its source has no value."""
    output = path[:-1]
    return any(
        value_at(view.document, (*output, field)) not in (None, False) for field in ("default", "optional")
    )


@lru_cache(16)
def _called(word: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The prefixes of the outputs of calls."""
    return tuple(f"{word}.{each}" for each in names)
