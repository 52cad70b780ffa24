"""Conditions with their known values substituted: the result may not be readable without quotes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.kinds import BODY_OF
from flowdsl.compiler.lint.manifest.globals import sample
from flowdsl.compiler.lint.variables import conditions
from flowdsl.compiler.lint.variables.findings import BrokenExpression
from flowdsl.compiler.lint.variables.hyphens import as_keys
from flowdsl.compiler.lint.variables.kinds import WORDS
from flowdsl.compiler.lint.variables.typing_findings import WrongResult
from flowdsl.compiler.lint.variables.unreplaced import is_quoted
from flowdsl.compiler.lint.variables.uses import loop_around, loop_of
from flowdsl.compiler.lint.workflow.passed_values import arriving, items_of, with_values
from flowdsl.compiler.lint.workflow.printed import result
from flowdsl.compiler.problem import Fault
from flowdsl.compiler.schema.findings import short
from flowdsl.compiler.tree import compact, is_mapping, string
from flowdsl.grammar import expression_tree as t
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.expression import parse
from flowdsl.grammar.govaluate import is_time
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import TAG

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.lint.variables.uses import Place
    from flowdsl.diagnostic import Finding

_FLAGS = frozenset(("true", "false"))
_DIGITS, _WORD = regex(r"\d+"), regex(r"[^\W\d]+")
_PLAIN = regex(r"[A-Za-z]\w*|\d+(?:\.\d+)?")
_CLOSING = regex(r"['\"\\]")
_KNOWN = frozenset(("item", "inputs", "node", "workflow", *BODY_OF))
_JOINED = regex(r"&&|\|\||\?")
"""Plain words and numbers, which need no quotes; and operators between conditions."""


def filled(view: View, text: str, place: Place) -> Iterator[Fault]:
    """The findings about tags whose known values make a condition invalid."""
    yield from _said(text)
    found = list(_alone(view, text, place))
    yield from found or _together(view, text)


def _together(view: View, text: str) -> Iterator[Fault]:
    """The finding about operands that Argo evaluates and cannot, where all values are those of the run."""
    read = with_values(view, text)
    if "{{" in read or not _JOINED.search(text) or conditions.is_condition(read):
        return
    # Few manifests have such conditions.
    from flowdsl.compiler.evaluation.conditions import condition
    from flowdsl.compiler.evaluation.values import ExpressionError

    try:
        condition(read)
    except ExpressionError:
        if conditions.is_condition(text):
            yield Fault(_fault(read), (0, len(text)))


def _alone(view: View, text: str, place: Place) -> Iterator[Fault]:
    """The findings about single tags, whatever the others become."""
    for tag in TAG.finditer(text):
        computed = tag[1].startswith("=")
        name = tag[1].lstrip("=").strip()
        if name.partition(".")[0] not in _KNOWN or (computed and tag.end() < len(text)):
            continue
        quoted = is_quoted(text, tag.start())
        seen: set[str] = set()
        for value in values(view, name, place):
            shape = value if value in _FLAGS else _WORD.sub("x", _DIGITS.sub("1", value))
            closing = quoted and _CLOSING.search(value) is not None
            if quoted and not closing and not is_time(value):
                continue
            read = text[: tag.start()] + value + text[tag.end() :]
            whole = read == value
            plain = not whole and _PLAIN.fullmatch(value) is not None
            # The first of several operands may decide before this one is evaluated.
            if not read or shape in seen or (plain and _JOINED.search(text, 0, tag.start())):
                continue
            seen.add(shape)
            if not conditions.is_condition(read) and conditions.is_condition(text):
                found = _closed(read, name, tag.start()) if closing else None
                found = found or (_listed(read, name, tag.start()) if value == _LIST else None)
                found = found or (_fault(read) if quoted else None)
                found = found or (_fault(read) if plain else _finding(read, name, tag.start(), whole))
                yield Fault(found, tag.span())
                break


def _said(text: str) -> Iterator[Fault]:
    """The findings about text results of an expression that is the whole condition."""
    tag = TAG.fullmatch(text)
    if tag is None or not tag[1].startswith("="):
        return
    try:
        tree = parse(tag[1][1:])
    except GrammarError:
        return  # which is reported for the expression
    for node in _texts(tree):
        if not conditions.is_condition(str(node.value)):
            way = "write `true` or `false`, or a comparison"
            begin = tag.start(1) + 1
            finding = WrongResult(
                short(tag[1][1 + node.start : 1 + node.end]), WORDS["text"], "true or false", way
            )
            yield Fault(finding, (begin + node.start, begin + node.end))


def _texts(node: t.Node) -> Iterator[t.Literal]:
    """The text literals that may be the result; not the empty one, for which Argo runs the step."""
    match node:
        case t.Literal(str(value)) if value:
            yield node
        case t.Conditional(_, yes, no):
            yield from _texts(yes)
            yield from _texts(no)
        case t.Binary("??", _, right):
            yield from _texts(right)
        case t.Let(_, _, body):
            yield from _texts(body)
        case _:
            pass


def _finding(read: str, name: str, start: int, whole: bool) -> Finding:
    """What is wrong with a condition after replacement, because of a variable at an offset."""
    if whole:
        way = f"compare it, as in `'{{{{{name}}}}}' == 'yes'`"
        return WrongResult(short(read), "no condition", "true or false", way)
    way = f"write `'{{{{{name}}}}}'`, and what it is compared with in quotes too"
    return BrokenExpression(short(read), f"quotes around `{{{{{name}}}}}`", start + 1, way)


def _closed(read: str, name: str, start: int) -> Finding:
    """What is wrong with a condition after replacement, because quotes in a value end the quotes around it."""
    way = f"let Argo compare it as a value: `{{{{={name} == 'yes'}}}}`"
    return BrokenExpression(short(read), "a value without quotes and backslashes", start + 1, way)


_LIST = "[1]"
"""A sample of a loop's collected outputs, for the check of a condition."""


def _listed(read: str, name: str, start: int) -> Finding:
    """What is wrong with a condition after replacement, because a variable is the list of a loop's outputs."""
    way = f"compare one of its items: `{{{{=fromJSON({as_keys(name)})[0] == '1'}}}}`"
    return BrokenExpression(short(read), "one value where the outputs of a loop are", start + 1, way)


def _fault(read: str) -> Finding:
    """What is wrong with a condition after replacement, whatever word or number a variable becomes."""
    found = conditions.condition(read)
    if not isinstance(found, GrammarError):
        return next(each.finding for each in found if isinstance(each.finding, conditions.FATAL))
    way = "write comparisons such as `'{{...}}' == 'yes'` with && and ||"
    return BrokenExpression(short(read), found.expected, found.start + 1, way)


def values(view: View, name: str, place: Place) -> Iterator[str]:
    """The values that a variable certainly may have, as far as this document shows."""
    root, _, rest = name.partition(".")
    if root == "item":
        call = loop_around(place)
        if call is not None:
            texts = (_as_text(item, rest) for _, item in items_of(view, call))
            yield from (each for each in texts if each is not None)
    elif name == "workflow.status" and view.runs and _begins(view, place):
        yield ""
    elif (shape := sample(tuple(name.split(".")))) is not None:
        yield shape
    elif place.graph is not None and loop_of(place.graph, name, together=True) is not None:
        yield _LIST
    elif root in BODY_OF and name not in _OF_NODES:
        producer, _, output = rest.partition(".")
        call = place.graph.call(producer) if place.graph is not None and output == "outputs.result" else None
        printed = None if call is None else result(call)
        yield from (printed,) if printed else ()
    elif not view.runs:
        return
    elif name in _OF_NODES:
        yield from _node_names(view, name, place)
    elif name == "workflow.name":
        yield from filter(None, (_run_name(view),))
    elif name.startswith("workflow.parameters."):
        value = view.arguments.get(name.removeprefix("workflow.parameters."), {}).get("value")
        if isinstance(value, str) and "{{" not in value:
            yield value
    elif name.startswith("inputs.parameters.") and place.graph is not None:
        template = place.graph
        yield from (value for _, value in arriving(view, template, f"{{{{{name}}}}}", template.path))


_OF_NODES = ("node.name", "steps.name", "tasks.name")


_LATER = ("parallelism", "retryStrategy", "suspend", "synchronization")
"""What makes calls at the beginning of a run wait, or run again."""


def _begins(view: View, place: Place) -> bool:
    """Whether a call is only at the start of a run, when the run's status is still empty.

    Source: Argo Workflows, operate in workflow/controller/operator.go, which sets the status to Running in
    that pass.
    """
    graph, call = place.graph, place.call
    if graph is None or call is None or call.parent is not None:
        return False
    if not graph.name or graph.name != view.setting("entrypoint"):
        return False
    settings = [each for each, _ in view.levels(graph)] + ([] if view.base is None else [view.base.spec])
    if view.callers.get(id(graph)) or any(each.get(field) for each in settings for field in _LATER):
        return False
    if graph.body == "dag":
        return not call.data.get("depends") and not call.data.get("dependencies")
    return call.group == 0


def _run_name(view: View) -> str:
    """A name that a run may have; empty if none is given."""
    given, generated = string(view.metadata, "name"), string(view.metadata, "generateName")
    return f"{given}-1" if view.kind == "CronWorkflow" else given or (f"{generated}x" if generated else "")


def _node_names(view: View, name: str, place: Place) -> Iterator[str]:
    """The node or call names of a DAG or step list in a run; the entrypoint has a node name only.

    Source: Argo Workflows, executeTemplate in workflow/controller/operator.go.
    """
    graph, run = place.graph, _run_name(view)
    if graph is None or not run:
        return
    if graph.name and graph.name == view.setting("entrypoint"):
        yield from () if name == "tasks.name" else (run if name == "node.name" else "",)
    for call in view.callers.get(id(graph), ()):
        if call.parent is None and call.owner.calls:
            own = f"{call.name}(0:1)" if call.loop else call.name
            group = f"[{call.group}]" if call.owner.body == "steps" else ""
            yield f"{run}{group}.{own}" if name == "node.name" else own


def _as_text(item: Any, key: str) -> str | None:
    """The text of a loop's item, or of one of its keys; None if it is unknown."""
    if key:
        item = item.get(key) if is_mapping(item) else None
    if isinstance(item, str):
        return None if "{{" in item else item
    return None if item is None else compact(item)
