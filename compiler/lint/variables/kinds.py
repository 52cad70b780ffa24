"""The types of values in expressions: their names, and which variables and literals have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.grammar import expression_tree as t
from flowdsl.grammar import re2
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from flowdsl.grammar.functions import Kind

WORDS: dict[str, str] = {
    "text": "text",
    "whole": "a number",
    "long": "an int64",
    "number": "a number",
    "flag": "true or false",
    "list": "a list",
    "map": "an object",
    "time": "a time",
    "numbers": "numbers, or lists of numbers",
    "nil": "nil",
    "any": "anything",
}


_GROUPS = {"whole": "number", "long": "number", "number": "number"}


NUMERIC = regex(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*")

GO_NUMBER = regex(
    r"(?i)[+-]?(?:[0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?|\.[0-9]+(?:e[+-]?[0-9]+)?|inf|infinity|nan|0x[0-9a-f.p+-]+)"
)
"""A number as accepted by Go's ParseFloat."""


def of_path(parts: tuple[str, ...]) -> Kind:
    """The kind of an Argo variable by its path: text, wherever Argo only has text."""
    match parts:
        case ("workflow", word) if word in _MAPS:
            return "any"
        case ("inputs", "parameters", _) | ("workflow", _) | ("item", *_) | ("retries",) | ("lastRetry", _):
            return "text"
        case ("workflow", "parameters" | "labels" | "annotations" | "creationTimestamp", _) | (
            "pod" | "node",
            "name",
        ):
            return "text"
        case ("workflow", "outputs", "parameters", _) | ("outputs", "parameters", _) | ("outputs", "result"):
            return "text"
        case ("tasks" | "steps", _, "outputs", "parameters", _) | ("tasks" | "steps", _, "outputs", "result"):
            return "text"
        case ("tasks" | "steps", _, word) if word in _OF_CALLS:
            return "text"
        case ("inputs", "parameters") | ("inputs",):
            return "map"
        case ("cronworkflow", "failed" | "succeeded") | ("response", "statusCode"):
            return "whole"
        case ("cronworkflow", "name" | "namespace"):
            return "text"
        case ("response", "body") | ("request", "body" | "method" | "url"):
            return "text"
        case ("response" | "request", "headers", _) | ("metadata", _):
            return "list"
        case _:
            return "any"


_OF_CALLS = frozenset(("exitCode", "finishedAt", "hostNodeName", "id", "ip", "startedAt", "status"))
"""What every task or step may have, besides its outputs. Source: Argo Workflows, buildLocalScope."""

STATUSES = ("Succeeded", "Failed", "Error", "Skipped", "Omitted", "Running", "Pending")
"""The phases of nodes and workflows. Source: Argo Workflows, NodePhase and WorkflowPhase."""


_RETRIED = ("Failed", "Error")
"""The phases of an attempt that is retried. Source: Argo Workflows, processNodeRetries."""


def statuses(parts: tuple[str, ...]) -> tuple[str, ...]:
    """The possible values if the path of a variable leads to the status of a node or the workflow; else none."""
    match parts:
        case ("tasks" | "steps", _, "status") | ("workflow", "status" | "mainStatus") | ("status",):
            return STATUSES
        case ("lastRetry", "status"):
            return _RETRIED
        case _:
            return ()


def text_length(parts: tuple[str, ...]) -> int:
    """The number of parts of a variable's path that lead to a text, which has no fields; else that of all parts."""
    if parts[0] == "item" or parts[1:2] in (("labels",), ("annotations",)):
        return len(parts)  # the keys may have dots
    return next((length for length in range(1, len(parts)) if of_path(parts[:length]) == "text"), len(parts))


_MAPS = frozenset(("parameters", "labels", "annotations", "outputs", "creationTimestamp"))


_LACKING = {
    "missing closing ]": "a closing `]`",
    "missing closing )": "a closing `)`",
    "unexpected )": "an opening `(`",
    "missing argument to repetition operator": "something before the sign that repeats it",
}


def pattern_fault(pattern: str) -> str:
    """The reason why Go rejects a regular expression; empty for a valid one."""
    try:
        re2.pattern_of(pattern)
    except re2.RegexError as error:
        lacking = _LACKING.get(error.code)
        return (
            f"a pattern without {lacking}" if lacking else f"a pattern with `{error.part}`, which Go refuses"
        )
    except re2.UnknownClass:
        pass
    return ""


def group(kind: Kind) -> str:
    """A key that is equal for kinds whose values can be equal; empty for unknown kinds."""
    return "" if kind in ("any", "nil", "numbers") else _GROUPS.get(kind, kind)


def of_value(value: object) -> Kind:
    """The kind of a literal."""
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int):
        return "whole"
    if isinstance(value, float):
        return "number"
    return "text" if isinstance(value, str) else "any"


def fits(kind: Kind, wanted: Kind) -> bool:
    """Whether a function accepts a value of a kind."""
    if not group(kind) or wanted == "any":
        return True
    if wanted == "numbers":
        return group(kind) in ("number", "list")
    return group(kind) == group(wanted)


def way_to(node: t.Node, kind: Kind, wanted: Kind, shown: str) -> str:
    """How to convert a value to what a function accepts."""
    if isinstance(node, t.Literal) and not (isinstance(node.value, str) and NUMERIC.fullmatch(node.value)):
        return f"give it {WORDS[wanted]}"
    if kind == "text" and wanted in ("list", "map"):
        return f"read it by `fromJSON({shown})`"
    if kind in ("text", "long") and wanted in ("whole", "number", "numbers"):
        return f"write `asInt({shown})`" if wanted == "whole" else f"write `asFloat({shown})`"
    if wanted == "text":
        return (
            f"write `string({shown})`"
            if kind in ("whole", "long", "number", "flag")
            else f"write `toJSON({shown})`"
        )
    if wanted == "flag":
        return f"compare it, as in `{shown} == 'true'`"
    return f"give it {WORDS[wanted]}"
