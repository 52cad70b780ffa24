"""References from one task or step to another, and the outputs that each has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import BODY_OF, WORD_OF
from flowdsl.compiler.lint.manifest.template import LOOPS
from flowdsl.compiler.lint.variables.findings import (
    LoopArtifact,
    NeverThere,
    NotAncestor,
    OtherSort,
    UnclosedTag,
    UnknownOutput,
    UnknownVariable,
    in_expression,
)
from flowdsl.compiler.problem import Problem
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Call, Template
    from flowdsl.compiler.lint.variables.typing import Use
    from flowdsl.compiler.problem import Part
    from flowdsl.compiler.tree import Path
    from flowdsl.diagnostic import Finding
    from flowdsl.grammar.template import Tag


class Spot(NamedTuple):
    """A use of a variable: the path of the text, the location in it, and whether that is in an expression."""

    path: Path
    part: Part
    expression: bool = False

    @classmethod
    def of_name(cls, path: Path, name: str, tag: Tag) -> Spot:
        """The spot of a name in a tag of the text at a path."""
        start = tag.inside + tag.body.index(name)
        return cls(path, (start, start + len(name)))

    def problem(self, finding: Finding) -> Problem:
        """A finding about the variable."""
        return Problem(self.path, in_expression(finding) if self.expression else finding, part=self.part)


class InTag(NamedTuple):
    """The offset of a tag's expression in its text, and whether closing braces follow after the tag."""

    offset: int
    braces: bool


class Late(NamedTuple):
    """A use of one task by another, by their positions in a DAG; the order of all is checked together."""

    graph: Template
    producer: int
    user: int
    spot: Spot


class Place(NamedTuple):
    """The scope of a text: the template whose calls it may name, and the call that it belongs to.

    `call` is None in the outputs of `graph`, which come after all calls.
    """

    graph: Template | None
    call: Call | None

    @property
    def outer(self) -> Place:
        """The scope around the template, if it is inline in a call."""
        around = self.graph.around if self.graph is not None else None
        return Place(around.owner, around) if around is not None else Place(None, None)


def loop_around(place: Place, path: Path = ()) -> Call | None:
    """The nearest loop whose items a text at a path may use; not the loop whose items the text itself defines."""
    while place.graph is not None and not (place.call is not None and _has_items(place.call, path)):
        place = place.outer
    return None if place.call is None else place.call.parent or place.call


def _has_items(call: Call, path: Path) -> bool:
    """Whether a call is a loop, and a text at a path is expanded for each item."""
    return bool((call.parent or call).loop) and path[len(call.path) : len(call.path) + 1] not in _OF_LOOPS


_OF_LOOPS = tuple((field,) for field in LOOPS)


def producer_of(graph: Template, word: str, name: str) -> Call | None:
    """The task or step of a DAG or step list that a variable refers to by its root and the name after it, if any."""
    return graph.call(name) if BODY_OF.get(word) == graph.body else None


def loop_of(graph: Template, variable: str, *, together: bool = False) -> Call | None:
    """The loop whose collected output, a list in JSON, a variable is; None for any other variable.

    `together`: this includes all parameters at once, as in simple tags, but not in expressions. Source: Argo
    Workflows, aggregateLoopOutputs.
    """
    producer, output = graph.output(variable) or (None, "")
    if producer is None or not producer.loop:
        return None
    is_list = output == "result" or output.startswith("parameters.") or (together and output == "parameters")
    return producer if is_list else None


def gathered(call: Call, text: str) -> list[dict[str, str]]:
    """A sample item of a loop over the collected parameters of another loop; else nothing."""
    maker, output = call.owner.output_in(text) or (None, "")
    if maker is None or maker.callee is None or output != "parameters":
        return []
    if maker.loop not in ("withItems", "withParam"):
        return []
    names = maker.callee.output_parameters
    return [dict.fromkeys(names, "")] if names else []


def late_problems(late: list[Late]) -> Iterator[Problem]:
    """The findings about tasks used by others that do not wait for them."""
    graphs: dict[int, list[Late]] = {}
    for use in late:
        graphs.setdefault(id(use.graph), []).append(use)
    for uses in graphs.values():
        graph = uses[0].graph
        dag = graph.dag
        if dag.is_tagged:
            continue
        pairs = [(use.producer, use.user) for use in uses]
        ordered = dag.reached(pairs) if dag.is_sound else {each for each in pairs if dag.may_reach(*each)}
        for use in uses:
            if (use.producer, use.user) not in ordered:
                names = graph.calls[use.user].name, graph.calls[use.producer].name
                yield use.spot.problem(NotAncestor(*names))


def unclosed(path: Path, text: str, tag: Tag) -> Problem:
    """The finding about a tag without closing braces."""
    written = text[tag.start : tag.start + 40]
    end = written.find("}") + 1 or len(written)
    return Spot(path, (tag.start, tag.start + 2)).problem(UnclosedTag(written[:end]))


def of_metric(path: Path) -> bool:
    """Whether a text belongs to a metric."""
    return "prometheus" in path and path[path.index("prometheus") - 1] == "metrics"


def expression_use(path: Path) -> Use:
    """How Argo uses the result of a field that holds an expression."""
    owner, around = path[-2:-1], path[-3:-2]
    if around == ("labelsFrom",):
        return "text"
    if path[-1] == "fromExpression":
        return "artifact"
    asked = owner in (("retryStrategy",), ("stopStrategy",), ("http",)) or around == ("hooks",)
    return "flag" if path[-1:] in (("expression",), ("successCondition",)) and asked else "value"


_SORTS = {
    ("parameters", "value"): (
        "artifacts",
        "an artifact",
        "a parameter",
        "pass it on in `artifacts`, with `from`",
    ),
    ("artifacts", "from"): (
        "parameters",
        "a parameter",
        "an artifact",
        "pass it on in `parameters`, with `value`",
    ),
}


_AS_TEXT = "use an output parameter, whose text is what is needed here"


def other_sort(path: Path, name: str, output: str, of_call: bool) -> Finding | None:
    """What is wrong with a passed output of a call: an artifact where a parameter belongs, or vice versa.

    `of_call`: whether the path is in a call, which fails for the tag or leaves it unchanged.
    """
    if path[-4:-3] not in (("arguments",), ("outputs",)):
        if of_call and output.startswith("outputs.artifacts.") and path[-1] not in ("from", "fromExpression"):
            return OtherSort(name, "an artifact", "a text", _AS_TEXT)
        return None
    listed, found, wanted, way = _SORTS.get((str(path[-3]), str(path[-1])), ("", "", "", ""))
    *where, _ = output.split(".")
    if path[-1] == "from" and where[:2] != ["outputs", "artifacts"] and where != ["outputs", "parameters"]:
        return OtherSort(name, "a text", wanted, way)
    return OtherSort(name, found, wanted, way) if where == ["outputs", listed] else None


def guarded_fault(producer: Call, output: str, written: str) -> Finding | None:
    """What is wrong with an output that may be missing, or None: what it is a part of must exist."""
    callee = producer.callee
    of_parameters = output.startswith(f"{_EVERY}.")
    if callee is None or output == _EVERY:
        return None
    fault = output_fault(producer, output, False)
    if not isinstance(fault, UnknownOutput) or (producer.loop and of_parameters):
        return fault
    whole, _, part = output.rpartition(".")
    known = [each for each in producer.outputs or () if each.startswith(f"{whole}.") or not whole]
    if known or written.rpartition(whole.rpartition(".")[2] or ".")[2].startswith("?."):
        of_call = f"{WORD_OF[producer.owner.body]}.{producer.name}."
        return NeverThere(of_call + output, [of_call + each for each in sorted(known)])
    if whole not in _OUTPUTS:
        return fault
    reason = f"its template has no {_OUTPUTS[whole]}: write `?.{part}` for what need not be there"
    return UnknownOutput(producer.name, output, (), reason)


_OUTPUTS = {
    "outputs": "outputs",
    "outputs.parameters": "output parameters",
    "outputs.artifacts": "output artifacts",
}
_EVERY = "outputs.parameters"


def output_fault(producer: Call, output: str, exact: bool) -> Finding | None:
    """What is wrong with an output of a call, or None. The template of the call may be unknown."""
    known = producer.outputs
    if exact and not output:
        variable = f"{WORD_OF[producer.owner.body]}.{producer.name}"
        parts = sorted(known or ("status",), key=lambda each: not each.startswith("outputs."))
        return UnknownVariable(variable, (), f"write which part of it, such as `{variable}.{parts[0]}`")
    if known is None or output in known:
        return None
    whole = {_EVERY} if output.startswith(f"{_EVERY}.") else set[str]()  # all at once, including this one
    if not exact and (not output or any(f"{output}.".startswith(f"{each}.") for each in known - whole)):
        return None
    if not exact and any(each.startswith(f"{output}.") for each in known):
        return None
    callee = producer.callee
    reason = ""
    if callee is not None and output in callee.outputs:
        if output.startswith("outputs."):
            return LoopArtifact(producer.name)
        reason = "each round of a loop has its own, the loop has none, and Argo would wait for it forever"
    elif output == "outputs.parameters":
        reason = "only `withItems` and `withParam` collect the parameters of all items"
    elif callee is not None and callee.data.get("daemon") and callee.is_pod:
        reason = "a daemon has no outputs before it ends, and it ends when all that uses it has"
    elif output in ("outputs.result", "exitCode") and callee is not None:
        reason = f"a template with `{callee.body}` has none"
    elif output == "outputs.parameters.result" and "outputs.result" in known:
        reason = "write `outputs.result` for what the program prints"
    elif output == "ip":
        reason = "only a template with `daemon: true` and a pod of its own has an address"
    return UnknownOutput(producer.name, output, known, reason)
