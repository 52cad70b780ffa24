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
"""A number as Go's ParseFloat reads one."""


def of_path(parts: tuple[str, ...]) -> Kind:
    """The kind of a variable of Argo by its path: text, wherever Argo has text only."""
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
        case ("tasks" | "steps", _, word) if word != "outputs":
            return "text"
        case ("inputs", "parameters") | ("inputs",):
            return "map"
        case ("cronworkflow", "failed" | "succeeded") | ("response", "statusCode"):
            return "whole"
        case ("cronworkflow", "name" | "namespace"):
            return "text"
        case ("response", "body") | ("request", "body" | "method" | "url"):
            return "text"
        case ("response" | "request", "headers", _):
            return "list"
        case _:
            return "any"


STATUSES = ("Succeeded", "Failed", "Error", "Skipped", "Omitted", "Running", "Pending")
"""What nodes and workflows may be. Source: Argo Workflows, NodePhase and WorkflowPhase."""


_RETRIED = ("Failed", "Error")
"""What an attempt was that another one follows. Source: Argo Workflows, processNodeRetries."""


def statuses(parts: tuple[str, ...]) -> tuple[str, ...]:
    """What the status may be that the path of a variable leads to: of a node or the workflow; nothing elsewhere."""
    match parts:
        case ("tasks" | "steps", _, "status") | ("workflow", "status" | "mainStatus") | ("status",):
            return STATUSES
        case ("lastRetry", "status"):
            return _RETRIED
        case _:
            return ()


def text_length(parts: tuple[str, ...]) -> int:
    """How many parts of the path of a variable lead to a text, below which there is nothing; else all of them."""
    if parts[0] == "item" or parts[1:2] in (("labels",), ("annotations",)):
        return len(parts)  # whose keys may have dots
    return next((length for length in range(1, len(parts)) if of_path(parts[:length]) == "text"), len(parts))


_MAPS = frozenset(("parameters", "labels", "annotations", "outputs", "creationTimestamp"))


_LACKING = {
    "missing closing ]": "a closing `]`",
    "missing closing )": "a closing `)`",
    "unexpected )": "an opening `(`",
    "missing argument to repetition operator": "something before the sign that repeats it",
}


def pattern_fault(pattern: str) -> str:
    """What a regular expression is that Go refuses; nothing for one that it takes."""
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
    """The kinds that can be equal to each other have one group; none for those that are not known."""
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
    """Whether a function takes a value of a kind."""
    if not group(kind) or wanted == "any":
        return True
    if wanted == "numbers":
        return group(kind) in ("number", "list")
    return group(kind) == group(wanted)


def way_to(node: t.Node, kind: Kind, wanted: Kind, shown: str) -> str:
    """How a value becomes what a function takes."""
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
