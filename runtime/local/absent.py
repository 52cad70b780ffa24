"""Explains errors of Argo that do not name their cause: missing keys of objects, results that are not JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.evaluation import go_json
from flowdsl.compiler.evaluation.evaluate import absent
from flowdsl.diagnostic import suggest
from flowdsl.grammar import expression_tree as t
from flowdsl.grammar.regex import regex
from flowdsl.runtime.parts import several
from flowdsl.runtime.phases import SUCCEEDED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from flowdsl.runtime.status.tree import RunNode

Json = dict[str, Any]

_LONGEST = 40
_FAILED = regex(r'failed to evaluate expression(?: "(?P<nil>.*)"$|: .*\n \| (?P<quoted>.*)\n)')


def absent_key(node: RunNode, nodes: Iterable[RunNode]) -> str:
    """The key that is missing in a value for a step, and the keys that it has; empty if that is not the cause."""
    found = _FAILED.search(node.message)
    if found is None:
        return ""
    scope = _scope(node, nodes)
    text = found["quoted"]
    if text is None:
        try:
            text = json.loads(f'"{found["nil"]}"')
        except ValueError:
            return ""
    if (key := absent(text, scope)) is None:
        return ""
    more = suggest(key.key, key.known) or "it is empty"
    return f"{_spelled(key.of)} has no key `{key.key}`: {more}"


def no_json(node: RunNode, messages: Collection[str]) -> str:
    """The output of a loop's round that is not JSON, if one of the messages is about that; else empty."""
    text = (node.result().outputs or {}).get("result")
    if text is None or node.phase != SUCCEEDED:
        return ""
    try:
        go_json.loads(text)
    except go_json.JsonError as error:
        if any(one.endswith(str(error)) for one in messages):
            start = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
            return (
                f"it printed {json.dumps(start, ensure_ascii=False)}, and Argo reads each result of a loop as JSON: "
                "print JSON, or pass the value on as an output parameter"
            )
    return ""


def _scope(node: RunNode, nodes: Iterable[RunNode]) -> Json:
    """The variables of a task: the inputs of its graph, and the outputs of its siblings."""
    graph = node.boundary
    beside = {one.display: {"outputs": _outputs(one)} for one in nodes if one.boundary is graph}
    inputs = {} if graph is None else _values(graph.inputs)
    return {"inputs": {"parameters": inputs}, "tasks": beside, "steps": beside}


def _outputs(node: RunNode) -> Json:
    outputs = node.result().outputs
    return {"parameters": _values(outputs), "result": (outputs or {}).get("result")}


def _values(side: Json | None) -> Json:
    return {one["name"]: one.get("value") for one in several(side, "parameters")}


def _spelled(node: t.Node) -> str:
    """The origin of a value, as the author of the pipeline would name it."""
    match node:
        case t.Member(of, t.Literal(str(key))):
            way = _way(node)
            if way[:2] == ["inputs", "parameters"]:
                return f"the parameter `{key}`"
            if way[:1] in (["tasks"], ["steps"]) and len(way) > 1:
                return f"the result of `{way[1]}`"
            return f"`{key}` of {_spelled(of)}"
        case t.Call(_, (first, *_)):
            return _spelled(first)
        case _:
            return "the value"


def _way(node: t.Node) -> list[str]:
    """The names on the path to a variable."""
    match node:
        case t.Name(name):
            return [name]
        case t.Member(of, t.Literal(str(key))) if way := _way(of):
            return [*way, key]
        case _:
            return []
