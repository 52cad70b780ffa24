"""Expressions that may fail without failing the run, and outputs that may be missing."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import GRAPH_BODIES, PROGRAM_BODIES
from flowdsl.compiler.lint.variables.hyphens import as_keys
from flowdsl.compiler.lint.variables.typing_findings import AlwaysMissing, MayBeMissing, PassedOn
from flowdsl.compiler.lint.workflow.constant_conditions import holds as always
from flowdsl.compiler.lint.workflow.constant_conditions import never_holds
from flowdsl.compiler.lint.workflow.loops import amount, has_no_items, is_none
from flowdsl.compiler.lint.workflow.omitted import runs_with, runs_without, succeeds_without
from flowdsl.compiler.lint.workflow.passed_values import arriving
from flowdsl.compiler.problem import Fault
from flowdsl.compiler.tree import inside, is_json
from flowdsl.grammar import expression_tree as t
from flowdsl.grammar.depends import asks, depends, holds
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import TAG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Call, Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.problem import Part
    from flowdsl.compiler.tree import Object, Path
    from flowdsl.diagnostic import Finding

_FAILING = frozenset(("fromJSON", "jsonpath", "fromBase64", "date", "duration"))
_CONVERSIONS = frozenset(("asInt", "asFloat", "int", "float"))
"""Functions that fail for a text that is not a number, which an output of a step usually is."""


_SIGNS = regex(r"\w\(|\[[^']|[/%]")
"""Parts of an expression that can fail."""


def passed_on(text: str, node: t.Node) -> Iterator[Fault]:
    """The finding about a `let` in a tag: if it fails, Argo takes its name for a variable that has no value yet.

    Source: a real controller, and missingVarsInEnv in util/template/expression_template.go.
    """
    if (failing := _failing(node, _FAILING | _CONVERSIONS)) is None:
        return
    if any(isinstance(each, t.Let) for each in t.walk(node)):
        effect = "the text of the whole expression is passed on as the value, because of its `let`"
        way = "write the value in place of the name, without `let`"
        yield _passed_on(text, failing, effect, way)


def _passed_on(text: str, failing: t.Node, effect: str, way: str) -> Fault:
    part = failing.start, failing.end
    return Fault(PassedOn(text[slice(*part)], effect, way), part)


def can_fail(view: View, template: Template, text: str, node: t.Node) -> Iterator[Fault]:
    """The finding about an output of a DAG that another task waits for: if it fails, the run never ends."""
    if template.body != "dag" or not _SIGNS.search(text):
        return
    for call in view.calls:
        if call.callee is template and call.is_awaited:
            if (failing := _failing(node, _FAILING)) is None:
                return
            effect = f"the run never ends, because a task waits for `{call.name}`"
            way = "pass the text on as it is, and compute where it is used"
            yield _passed_on(text, failing, effect, way)
            return


@lru_cache(maxsize=4096)
def _failing(node: t.Node, functions: frozenset[str]) -> t.Node | None:
    """The first part that may fail: a call of one of the functions, an index of a list, a division."""
    for each in t.walk(node):
        match each:
            case t.Call("fromJSON", (t.Literal(str() as text),)) if is_json(text):
                pass
            case t.Call(function) if function in functions:
                return each
            case t.Member(_, t.Literal(str())):
                pass
            case t.Member() | t.Binary("/" | "%"):
                return each
            case _:
                pass
    return None


def needed(node: t.Node) -> frozenset[Part]:
    """The operands of operators that fail for nil; none if the expression checks for nil anywhere."""
    if any(_asks_for_nil(each) for each in t.walk(node)):
        return frozenset()
    operations = [each for each in t.walk(node) if isinstance(each, t.Binary) and each.operator in _OPERATORS]
    return frozenset((side.start, side.end) for each in operations for side in (each.left, each.right))


_OPERATORS = t.COMPARISONS | {"+", "-", "*", "/", "%", "contains", "matches", "startsWith", "endsWith"}


def _asks_for_nil(node: t.Node) -> bool:
    match node:
        case t.Literal(None) | t.Conditional() | t.Binary("??"):
            return True
        case t.Member():
            return node.optional
        case _:
            return False


class Missing(NamedTuple):
    """A use of an output that may be missing: a simple tag or a part of an expression, `alone` or with other text.

    `guarded` says that the expression has another value if it is missing, `needed` that it is an operand of
    an operator that fails without it.
    """

    name: str
    path: Path
    is_tag: bool
    alone: bool
    guarded: bool = False
    needed: bool = False

    @property
    def shown(self) -> str:
        """The variable as in the manifest."""
        return f"{{{{{self.name}}}}}" if self.is_tag else as_keys(self.name)

    @property
    def filled(self) -> str:
        """The variable with a fallback for a missing value, valid where the variable is used.

        A task without declared parameters then has no `outputs` at all, so the result is read by `?.`.
        """
        name = as_keys(self.name).replace(".outputs.result", ".outputs?.result")
        return self._or(name)

    @property
    def unwritten(self) -> str:
        """The same for a parameter, where `outputs` may be missing altogether."""
        return self._or(self._below)

    @property
    def collected(self) -> str:
        """The same for a parameter that a loop collects."""
        return self._or(self._below, "[]")

    @property
    def _below(self) -> str:
        return _PARAMETER.sub(r".outputs?.parameters?.\1", as_keys(self.name))

    def _or(self, name: str, other: str = "") -> str:
        if self.guarded:
            return name
        filled = f"{name} ?? '{other or _FILLED.get(str(self.path[-1]), '')}'"
        return f"{{{{={filled}}}}}" if self.is_tag else f"({filled})"


_FILLED = {"when": "none", "withParam": "[]"}
_ABSENT = frozenset(("outputs.result", "outputs.parameters", "exitCode", "hostNodeName", "ip"))
"""What a skipped task does not have at all: Argo waits for it."""
_ARTIFACT = "outputs.artifacts."
_EMPTY = "has no items"
_SKIPPED = "is skipped"
_LEFT_OUT = "is left out"
_NONE_RUNS = "has no item that runs"
_OF_ROUNDS = (_SKIPPED, _NONE_RUNS)
"""The cases in which a loop may have iterations, but none of them runs."""


class Skip(NamedTuple):
    """The reason why a call may be skipped, as far as known: in words, and whether it always is."""

    case: str
    always: bool = False

    def leaves(self, producer: Call, output: str) -> bool:
        """Whether the output exists all the same: for a loop in a DAG, an empty list of all results or outputs."""
        collected = output in ("outputs.result", "outputs.parameters") and producer.owner.body == "dag"
        return bool(producer.loop) and collected and self.case in _OF_ROUNDS

    def finding(self, producer: Call, use: Missing, effect: str, way: str) -> Finding:
        """The finding about a use of an output of the call."""
        if self.always:
            return AlwaysMissing(producer.name, self.case, use.shown, effect, way)
        return MayBeMissing(producer.name, self.case, use.shown, effect, way)


def skip(view: View, producer: Call) -> Skip | None:
    """The reason why a call may be skipped as a whole."""
    when = str(producer.data.get("when") or "true")
    if producer.loop and has_no_items(producer):
        return Skip(_EMPTY, always=True)
    if not always(when) and "{{item" not in when:
        return Skip(_SKIPPED, always=never_holds(when))
    if producer.loop and not _is_written(producer, when):
        return Skip(_NONE_RUNS)
    waits = producer.depends
    if asks(waits):
        return Skip(_LEFT_OUT)
    path, text = amount(producer)
    empty = any(is_none(path, value) for _, value in arriving(view, producer.owner, text, path))
    return Skip(_EMPTY) if empty else None


def _is_written(producer: Call, when: str) -> bool:
    """Whether the items are literal, and only they decide which iterations run."""
    return when == "true" or (
        producer.loop == "withItems" and all(tag[1].strip().startswith("item") for tag in TAG.finditer(when))
    )


def missing(producer: Call, call: Call, output: str, use: Missing, why: Skip) -> Finding | None:
    """The finding about an output of a call that may be skipped, used by a call that runs all the same.

    The parameters of a skipped task are nil, and an argument with one counts as left out; Argo waits for
    anything else. Source: a real controller, and addSkippedNodeOutputsToScope in
    workflow/controller/scope.go.
    """
    if (
        _is_conditional(call, use)
        or call.parent is not None
        or producer.callee is None
        or why.leaves(producer, output)
    ):
        return None
    if output == "outputs.parameters" and output not in (producer.outputs or (output,)):
        return None  # which is reported elsewhere
    if why.case == _LEFT_OUT:
        if not runs_without(call, producer):
            return None
    elif not _runs_without(call.depends, producer.name):
        return None
    if not (why.always or producer.loop or runs_with(call, producer)):
        why = Skip(f"has not run when `{call.name}` begins", always=True)
    if use.guarded:
        return _nothing_below(producer, output, use, why)
    if output.startswith(_ARTIFACT):
        return _artifact(producer, call, use, why)
    effect, way = "the run never ends", f"write `{use.filled}`"
    kind, _, last = output.rpartition(".")
    if kind == "outputs.parameters" and (not producer.loop or why.case not in _OF_ROUNDS):
        declared = producer.callee.output_parameters.get(last, {})
        argument = use.path[-4:-2] == ("arguments", "parameters")
        left_out = use.alone and argument if use.is_tag else not use.alone
        wanted = _wanted(call, use.path) if left_out and use.is_tag else ""
        if (left_out and not wanted) or "default" in (declared.get("valueFrom") or {}):
            return None
        effect = "the run fails here"
        if wanted:
            way = (
                f"{way}, or give input `{wanted}` of `{call.callee.title if call.callee else ''}` a `default`"
            )
    elif output not in _ABSENT and kind != "outputs.parameters":
        return None
    elif kind == "outputs.parameters":
        way = _of_rounds(producer, use)
    if "volumes" in use.path:  # there is no other name that could take its place
        way = f"let `{call.title}` run only if `{producer.title}` has run"
    return why.finding(producer, use, effect, way)


def _is_conditional(call: Call, use: Missing) -> bool:
    """Whether the condition of a call may keep it from the use."""
    return use.path[-1] != "when" and not always(str(call.data.get("when") or ""))


def _artifact(producer: Call, call: Call, use: Missing, why: Skip) -> Finding | None:
    """The finding about an artifact of a call that may be skipped, passed on by another call.

    In a DAG the argument has to be optional, and the input. A list of steps passes on an artifact without a place,
    which no input takes, not even an optional one. Artifacts of loops are reported elsewhere. Source:
    addSkippedNodeOutputsToScope, ProcessArgs in workflow/common/util.go and loadArtifact in
    workflow/executor/executor.go, of Argo 4.1, and a real controller.
    """
    if producer.loop or not (use.is_tag and use.alone and use.path[-4:-2] == ("arguments", "artifacts")):
        return None
    argument: Object = call.data["arguments"]["artifacts"][use.path[-2]]
    if call.owner.body == "steps":
        way = "call both in a DAG, where `optional: true` here and at the input leaves the file out"
        return why.finding(producer, use, "the run fails here", way)
    ways = [] if argument.get("optional") else ["here"]
    if call.callee is not None and argument.get("name") in call.callee.required_artifacts:
        ways.append(f"at input `{argument['name']}` of `{call.callee.title}`")
    way = f"write `optional: true` {' and '.join(ways)}"
    return why.finding(producer, use, "the run fails here", way) if ways else None


def _of_rounds(producer: Call, use: Missing) -> str:
    """The fix for a parameter that a loop collects: without an iteration, a step has no `outputs`.

    Source: a real controller; a DAG has the text of an empty list instead of all parameters.
    """
    if producer.owner.body == "dag":
        return f"take all parameters, `{{{{tasks.{producer.name}.outputs.parameters}}}}`, which are an empty list then"
    return f"write `{use.collected}`"


_PARAMETER = regex(r"\.outputs\.parameters\.?(\[.*\]|\w+)$")


def _nothing_below(producer: Call, output: str, use: Missing, why: Skip) -> Finding | None:
    """The finding about a result with a fallback, if there are no `outputs` to read it from.

    Source: a real controller: `cannot fetch result from <nil>`.
    """
    callee = producer.callee
    if callee is None or output != "outputs.result" or (producer.loop and why.case in _OF_ROUNDS):
        return None
    if callee.output_parameters or (producer.owner.body == "steps" and callee.output_artifacts):
        return None
    way = f"write `{use.filled}`: of a task that was skipped there are no `outputs` at all"
    return why.finding(producer, use, "the run fails here", way)


def lost(producer: Call, call: Call, output: str, use: Missing) -> Finding | None:
    """The finding about an output of a call that may fail before writing it, used by a call that runs even then.

    A default of the input does not help: Argo waits for what a failed task has not written. Source: a real
    controller; an expression fails with `cannot fetch parameters from <nil>`.
    """
    last = output.rpartition(".")[2]
    case, callee = _unwritten(producer, output), producer.callee
    if not case or callee is None or _is_conditional(call, use) or call.parent is not None:
        return None
    if not runs_after(producer, call):
        return None
    of_graph = callee.body in GRAPH_BODIES
    sources = [inside(each, "valueFrom") for each in callee.output_parameters.values()]
    if use.guarded and not of_graph and any("default" in each for each in sources):
        return None  # the outputs exist then, but this one may be missing
    way = f"write `{use.unwritten}`"
    if not of_graph:
        way = f"add a `default` to `valueFrom` of output `{last}` of `{callee.title}`, or {way}"
    effect = "the run fails here" if use.guarded else "the run never ends"
    return MayBeMissing(producer.name, case, use.shown, effect, way)


def lost_at_end(producer: Call, output: str, use: Missing) -> Finding | None:
    """The finding about an output of a DAG or step list without a default, from a call that may fail without ending it.

    Source: Argo Workflows, getTemplateOutputsFromScope in workflow/controller/operator.go.
    """
    case = _unwritten(producer, output)
    read = use.path[-2:] == ("valueFrom", "parameter") if use.is_tag else use.alone or use.needed
    if not case or use.guarded or not read:
        return None
    if inside(producer.data, "continueOn").get("failed") is not True and not _ends_nothing(producer):
        return None
    way = "add a `default` to `valueFrom`"
    return MayBeMissing(producer.name, case, use.shown, "the run fails here", way)


def _unwritten(producer: Call, output: str) -> str:
    """How a call ends without a declared output parameter; empty if it always has it.

    A failed DAG or step list has no outputs at all. Source: executeDAG and executeSteps of Argo 4.1.
    """
    kind, _, last = output.rpartition(".")
    callee = producer.callee
    if kind != "outputs.parameters" or callee is None or producer.loop:
        return ""
    source = inside(callee.output_parameters.get(last, {}), "valueFrom")
    if callee.body in GRAPH_BODIES and source:
        return "fails"
    unwritten = callee.body in PROGRAM_BODIES and source.get("path") and "default" not in source
    return f"fails before it has written `{last}`" if unwritten else ""


def runs_after(producer: Call, call: Call) -> bool:
    """Whether a call runs even if one that it directly depends on has failed."""
    if not call.depends:
        before = producer.group < call.group if call.owner.body == "steps" else False
        named = before or producer.name in (call.data.get("dependencies") or ())
        return named and inside(producer.data, "continueOn").get("failed") is True
    return _may_run(call, producer, ("Failed",))


def _ends_nothing(producer: Call) -> bool:
    """Whether a DAG continues after a task, whether that has failed or not, and no other task requires its success."""
    graph = producer.owner
    after = [graph.calls[at] for at in graph.dag.needing.get(graph.call_index.get(producer.name, -1), ())]
    return all(_may_run(each, producer, ("Failed",)) for each in after) and any(
        _may_run(each, producer, (None, "Succeeded")) for each in after
    )


_LONGEST = 2000
"""The longest `depends` to check, in characters: it is parsed again for each task that it names."""


def _may_run(call: Call, producer: Call, results: tuple[str | None, ...]) -> bool:
    """Whether the `depends` of a task can hold if another one, which it names, has one of these results."""
    text = call.depends
    if len(text) > _LONGEST:
        return False
    if not asks(text) and "|" not in text:
        return bool(text) and None in results
    try:
        operands = depends(text)
    except GrammarError:
        return False
    answers = [each.result in results if each.task == producer.name else None for each in operands]
    return producer.name in {each.task for each in operands} and holds(text, answers) is not False


def missing_at_end(producer: Call, output: str, use: Missing, why: Skip) -> Finding | None:
    """The finding about an output of a DAG or step list without a default, from a call that may be skipped.

    Source: Argo Workflows, getTemplateOutputsFromScope in workflow/controller/operator.go.
    """
    if producer.callee is None or use.guarded:
        return None
    if output.startswith(_ARTIFACT):
        if producer.loop or producer.owner.body != "dag" or not use.alone:
            return None  # for a skipped step, it is an artifact without a location
        own = f"`from: {{{{{use.name}}}}}` with " if not use.is_tag else ""
        return why.finding(producer, use, "the run fails here", f"write {own}`optional: true`")
    if why.leaves(producer, output) or (why.case == _LEFT_OUT and not succeeds_without(producer)):
        return None
    if not (use.path[-2:] == ("valueFrom", "parameter") if use.is_tag else use.alone or use.needed):
        return None
    kind, _, last = output.rpartition(".")
    source = inside(producer.callee.output_parameters.get(last, {}), "valueFrom")
    given = kind == "outputs.parameters" and "default" in source and not producer.loop
    if given or not (kind == "outputs.parameters" or output in _ABSENT):
        return None
    return why.finding(producer, use, "the run fails here", "add a `default` to `valueFrom`")


_MOST = 6
"""The most operands of other tasks whose combinations are all tried."""


def _runs_without(text: str, name: str) -> bool:
    """Whether a `depends` can hold if one of its tasks was skipped."""
    try:
        operands = depends(text) if asks(text) else ()
    except GrammarError:
        return False
    own = [each.result in (None, "Skipped", "Omitted") for each in operands if each.task == name]
    others = len(operands) - len(own)
    if not own or others > _MOST:
        return not own or all(own)
    for answers in product((True, False), repeat=others):
        left, mine = iter(answers), iter(own)
        if holds(text, [next(mine if each.task == name else left) for each in operands]):
            return True
    return False


def _wanted(call: Call, path: Path) -> str:
    """The required input that an argument at a path is for; empty for others."""
    name: str = call.data["arguments"]["parameters"][path[-2]].get("name") or ""
    return name if call.callee is not None and name in call.callee.required_parameters else ""
