"""Known values as the text that travels: texts as they are, everything else as JSON."""

from __future__ import annotations

import enum
import json
from math import isfinite
from typing import Any, cast

from flowdsl.grammar.regex import regex
from flowdsl.values import types as t
from flowdsl.values.textual import Textual, textual

_STRING = regex(r'"(?:[^"\\]|\\.)*"')


def encode(value: Any, kind: t.Type) -> str:
    """The text of a value of the type, as the step that receives it will read it.

    JSON is escaped so that Argo and the kubelet see no `{`, `$` or control character of a string: both
    would substitute what follows.
    """
    if type(value) is int or (type(value) is float and isfinite(value)):
        return repr(value)
    if isinstance(kind, Textual):
        return kind.text(value)
    if t.is_text(kind):
        return value.name if isinstance(value, enum.Enum) else str(value)
    text = json.dumps(plain(value, kind), ensure_ascii=False)
    if "{" in text or "$" in text or "\x7f" in text:
        text = _STRING.sub(lambda found: found[0].replace("{", "\\u007b").replace("$", "\\u0024"), text)
    return text.replace("\x7f", "\\u007f")


def choices(kind: t.Type) -> tuple[str, ...]:
    """The texts of all values of a type that has few; empty if Argo would evaluate one of them."""
    match kind:
        case t.Choice(values):
            texts = tuple(encode(value, kind) for value in values)
            return () if any("{{" in text for text in texts) else texts
        case t.Enumeration(cls):
            return tuple(member.name for member in cls)
        case t.Flag():
            return ("true", "false")
        case _:
            return ()


def plain(value: Any, kind: t.Type) -> Any:
    """A value as JSON data: members of an Enum by name, records as objects, tuples as lists."""
    if isinstance(value, enum.Enum):
        return value.name
    if (row := textual(value)) is not None:
        return row.text(value)
    match kind:
        case t.Maybe(item):
            return None if value is None else plain(value, item)
        case t.Sequence(item):
            return [plain(one, item) for one in value]
        case t.Mapping(item, key):
            # Keys of what was lifted are texts already.
            texts = ((name, t.key_text(name, key)) for name in value)
            return {name if text is None else text: plain(value[name], item) for name, text in texts}
        case t.Entries(_, fields):
            return {one.name: plain(value[one.name], one.type) for one in fields if one.name in value}
        case t.Fixed(items):
            return [plain(field(value, str(at)), item) for at, item in enumerate(items)]
        case t.Record(_, fields):
            return {one.name: plain(field(value, one.name), one.type) for one in fields}
        case _:
            return value


EXACT = 2**53
"""Below it, integers are exact in JSON as Argo parses it, as floats."""


def too_large(value: Any) -> int | None:
    """An integer in JSON data that Argo rounds when it extracts it; None if there is none."""
    if isinstance(value, int):
        return int(value) if abs(value) > EXACT else None
    inside: list[Any] = []
    if isinstance(value, dict):
        inside = [*cast("dict[str, Any]", value).values()]
    elif isinstance(value, list):
        inside = cast("list[object]", value)
    return next((found for one in inside if (found := too_large(one)) is not None), None)


def field(value: Any, name: str) -> Any:
    """A field of a record, or of the dict or tuple that stands for one."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)[name]
    return value[int(name)] if name.isdecimal() else getattr(value, name)


def placeholder(kind: t.Type) -> str:
    """A harmless text of the type, for an output of a task that did not run."""
    match kind:
        case t.Number("int"):
            return "0"
        case t.Number():
            return "NaN"
        case t.Flag():
            return "false"
        case _:
            return "" if t.is_text(kind) or t.holds_file(kind) else "null"
