"""The items of a loop: their values, and the names of their nodes.

Source: processItem and expandSequence in workflow/controller/operator.go, and item.go in pkg/apis/workflow/v1alpha1,
of Argo 4.1.2. Argo keeps the JSON text of an item: the strings in a map keep their escapes.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

from flowdsl.compiler.evaluation import go_json
from flowdsl.compiler.evaluation.go_quote import quoted
from flowdsl.compiler.evaluation.values import ExpressionError, from_json, json_of
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.runtime.local.controller.names import any_string
from flowdsl.runtime.local.controller.scope import Variables
from flowdsl.runtime.local.controller.sprintf import sprintf
from flowdsl.runtime.local.controller.tags import ArgoError

_HTML = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
_KINDS: dict[type, str] = {str: "string", bool: "bool", dict: "object"}
_PARENTHESES = {ord("("): None, ord(")"): None}
_LONE = regex("[\ud800-\udfff]")
"""A lone surrogate, which Go replaces."""
_SPACES = regex(r'"(?:[^"\\]|\\.)*"|\s+')


class Item(NamedTuple):
    """One round of a loop."""

    label: str
    """The suffix in the name of its node: `index:value`."""

    variables: Variables


def of_list(items: list[Any]) -> list[Item]:
    """The items of a `withItems`. Raises ArgoError."""
    return [_item(position, json_of(item)) for position, item in enumerate(items)]


def of_text(text: str) -> list[Item]:
    """The items of a `withParam` with its tags replaced. Raises ArgoError."""
    try:
        value: Any = go_json.loads(text)
        if value is None:
            return []
        if not isinstance(value, list):
            kind = _KINDS.get(type(cast("object", value)), "number")
            raise go_json.JsonError(f"json: cannot unmarshal {kind} into Go value of type []v1alpha1.Item")
    except go_json.JsonError as error:
        raise ArgoError(
            f"withParam value could not be parsed as a JSON list: {text.strip()}: {error}"
        ) from None
    return [_item(position, raw) for position, (_, raw) in enumerate(_parts(text))]


def of_sequence(sequence: dict[str, Any]) -> list[Item]:
    """The items of a `withSequence` with its tags replaced. Raises ArgoError."""
    first = _whole(sequence.get("start", "0"))
    if sequence.get("end") is not None:
        last = _whole(sequence["end"])
    elif sequence.get("count") is not None:
        count = _whole(sequence["count"])
        if count == 0:
            return []
        last = first + count - 1
    else:
        raise ArgoError("neither end nor count was specified in withSequence")
    numbers = range(first, last + 1) if first <= last else range(first, last - 1, -1)
    form = sequence.get("format") or "%d"
    return [_item(position, f'"{sprintf(form, number)}"') for position, number in enumerate(numbers)]


def _whole(value: Any) -> int:
    text = any_string(value)
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise ArgoError(f"strconv.Atoi: parsing {quoted(text)}: invalid syntax")
    if not -(2**63) <= int(text) < 2**63:
        raise ArgoError(f'strconv.Atoi: parsing "{text}": value out of range')
    return int(text)


def _item(position: int, raw: str) -> Item:
    try:
        value = json.loads(raw)
    except ValueError as error:
        raise ArgoError(f"withItems[{position}]: {error}") from None
    match value:
        case str():
            variables, shown = Variables({"item": _LONE.sub("\ufffd", value)}), _bare(raw)
        case dict():
            parts = sorted(dict(_parts(raw)).items())
            text = ",".join(f"{json_of(key)}:{_compact(part)}" for key, part in parts)
            variables = Variables(
                {"item": f"{{{text}}}", **{f"item.{key}": _bare(part) for key, part in parts}}
            )
            shown = ",".join(sorted(f"{key}:{_bare(part)}" for key, part in parts))
        case list():
            variables = Variables({"item": _compact(raw)})
            shown = f"[{' '.join(_bare(part) for _, part in _parts(raw))}]"
        case None:
            variables, shown = Variables({"item": "null"}), "[]"
        case _:
            variables = Variables({"item": _bare(raw)})
            shown = _bare(raw)
    return Item(f"{position}:{shown.translate(_PARENTHESES)}", variables)


def _parts(text: str) -> list[tuple[str, str]]:
    """The source texts of the elements of a JSON list or object, with their keys."""
    text = text.strip()
    decoder = json.JSONDecoder()
    found: list[tuple[str, str]] = []
    keyed = text.startswith("{")
    at, key = 1, ""
    end = len(text) - 1
    while True:
        while at < end and text[at] in " \n\t\r,:":
            at += 1
        if at >= end:
            return found
        value, after = decoder.raw_decode(text, at)
        if keyed and not key:
            key = value or "\0"
        else:
            found.append(("" if key == "\0" else key, text[at:after]))
            key = ""
        at = after


def _compact(raw: str) -> str:
    """json.Marshal of a raw message: no spaces, `<`, `>` and `&` escaped."""
    return _SPACES.sub(lambda part: part[0] if part[0].startswith('"') else "", raw).translate(_HTML)


def _bare(raw: str) -> str:
    """The text of an item: its JSON, without the quotes around a string."""
    raw = _compact(raw)
    for one, other in (("\\u003c", "<"), ("\\u003e", ">"), ("\\u0026", "&")):
        raw = raw.replace(one, other)
    return raw[1:-1] if raw.startswith('"') else raw


def loops(holder: dict[str, Any]) -> bool:
    """Whether a task or step has a loop (ShouldExpand)."""
    return (
        bool(holder.get("withItems"))
        or bool(holder.get("withParam"))
        or holder.get("withSequence") is not None
    )


def rows(outputs: list[list[tuple[str, str]]]) -> tuple[str, dict[str, str]]:
    """The outputs of a loop: the rows of the rounds that succeeded, and a list for each output.

    A list whose texts all are JSON objects or lists holds those instead. Source: processAggregateNodeOutputs.
    """
    lists: dict[str, list[str]] = {}
    for row in outputs:
        for name, value in row:
            lists.setdefault(name, []).append(value)
    return json_of([dict(row) for row in outputs]), {
        name: json_of(_decoded(texts)) for name, texts in lists.items()
    }


def _decoded(texts: list[str]) -> list[Any]:
    found: list[Any] = []
    for text in texts:
        try:
            value = from_json(text)
        except ExpressionError:
            return texts
        if not isinstance(value, (list, dict)):
            return texts
        found.append(value)
    return found


def results(texts: list[str]) -> str:
    """The standard outputs of the rounds as one JSON list. Raises ArgoError if one is not JSON."""
    try:
        for text in texts:
            go_json.loads(text)
    except go_json.JsonError as error:
        raise ArgoError(str(error)) from None
    try:
        return f"[{','.join(_compact(text) for text in texts)}]"
    except ExpressionError as error:
        raise ArgoError(str(error)) from None
