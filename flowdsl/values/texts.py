"""Conversion between values and texts: of parameters that users type, and of outputs that were passed on.

`encode` converts to text. What is decoded has the declared type: members of an Enum, records, tuples.
"""

from __future__ import annotations

import enum
import json
import math
from typing import TYPE_CHECKING, Any, TypeGuard

from flowdsl.diagnostic import near
from flowdsl.grammar.regex import regex
from flowdsl.values import types as t
from flowdsl.values.textual import Textual

if TYPE_CHECKING:
    from pathlib import Path

    from flowdsl.grammar.space import Value

_WHOLE = regex(r"[+-]?[0-9]+")
_FLAGS = {"true": True, "false": False}


class WrongValue(Exception):
    """A value that does not have its type; the text is the reason."""


def typed(text: str, kind: t.Type, files: Path | None = None) -> Any:
    """The value of a text typed by a user. Raises WrongValue.

    Numbers, bools, members of an Enum and texts are bare, everything else is JSON; `null` is None. `files` is the
    folder that paths in it are relative to; without one, values with files are errors.
    """
    match kind:
        case t.Text():
            return text
        case t.Number("int"):
            if _WHOLE.fullmatch(text.strip()) is None:
                raise WrongValue("it is not a whole number")
            try:
                return int(text)
            except ValueError:  # sys.get_int_max_str_digits()
                raise WrongValue("it has more digits than Python reads") from None
        case t.Number():
            try:
                return float(text)
            except ValueError:
                raise WrongValue("it is not a number") from None
        case t.Flag():
            if text.strip().lower() not in _FLAGS:
                raise WrongValue("it must be true or false")
            return _FLAGS[text.strip().lower()]
        case t.Choice(values):
            for value in values:
                if text == (value if isinstance(value, str) else json.dumps(value)):
                    return value
            raise WrongValue(_one_of([str(value) for value in values], text))
        case t.Enumeration(cls):
            return _member(text, cls)
        case Textual():
            return _textual(text.strip(), kind)
        case t.Maybe(item):
            if text.strip() == "null":
                return None
            try:
                return typed(text, item, files)
            except WrongValue as wrong:
                raise WrongValue(f"{wrong}; None is `null`") from None
        case t.Json():
            try:
                return json.loads(text)
            except (ValueError, RecursionError):
                return text
        case _:
            try:
                value = json.loads(text)
            except (ValueError, RecursionError):
                example = json.dumps(_example(kind), ensure_ascii=False)
                raise WrongValue(f"it is not JSON, such as {example}") from None
            return rebuilt(value, kind, files=files)


def meant(written: Value, kind: t.Type) -> Any:
    """The value of a literal in a space or its condition: a quoted one is always a text.

    Raises WrongValue.
    """
    if written.quoted is None:
        return typed(written.text, kind)
    inner = t.without_none(kind)
    return typed(written.quoted if t.is_text(inner) else written.text, inner)


def _example(kind: t.Type) -> Any:
    """A JSON value of a type, as an example."""
    match kind:
        case t.Number(name):
            return 1 if name == "int" else 0.5
        case t.Flag():
            return True
        case t.Choice(values):
            return values[0]
        case t.Enumeration(cls):
            return next(iter(cls.__members__), "")
        case Textual():
            return kind.example
        case t.Sequence(item):
            return [_example(item)]
        case t.Mapping(item):
            return {"a" if isinstance(kind.key, t.Text) else str(_example(kind.key)): _example(item)}
        case t.Fixed(items):
            return [_example(item) for item in items]
        case t.Record(_, fields) | t.Entries(_, fields):
            return {field.name: _example(field.type) for field in fields}
        case t.Maybe(item):
            return _example(item)
        case t.File():
            return "a.txt"
        case _:
            return "a"


def decoded(text: str, kind: t.Type) -> Any:
    """The value of a passed text, as the receiving step decodes it. Raises WrongValue."""
    if isinstance(kind, Textual):
        return _textual(text, kind)
    if t.is_text(kind):
        return _member(text, kind.cls) if isinstance(kind, t.Enumeration) else text
    return rebuilt(_parsed(text), kind)


def rebuilt(value: Any, kind: t.Type, where: str = "", files: Path | None = None) -> Any:
    """A JSON value converted to the type; `where` is its place in a larger one. Raises WrongValue.

    `files` is the folder in which a file is the name of an entry; without one, values with files are errors.
    """
    place = f"{where}: " if where else ""
    match kind:
        case t.Text() if isinstance(value, str):
            return value
        case t.Number("int") if isinstance(value, int | float) and not isinstance(value, bool):
            if math.isfinite(value) and value == int(value):  # Argo formats whole floats like integers
                return int(value)
        case t.Number("float") if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        case t.Flag() if isinstance(value, bool):
            return value
        case t.Choice(values):
            for one in values:
                if type(one) is type(value) and one == value:
                    return one
            raise WrongValue(place + _one_of([str(one) for one in values], value))
        case t.Enumeration(cls) if isinstance(value, str):
            return _member(value, cls, place)
        case Textual() if isinstance(value, str):
            return _textual(value, kind, place)
        case t.Maybe(item):
            return None if value is None else rebuilt(value, item, where, files)
        case t.Sequence(item) if _is_list(value):
            items = [rebuilt(one, item, f"{where}[{at}]", files) for at, one in enumerate(value)]
            return tuple(items) if kind.tupled else items
        case t.Mapping(item) if _is_dict(value):
            keys = [
                _number(key, place)
                if kind.key == t.INT
                else rebuilt(key, kind.key, f"{place}the key {key!r}")
                for key in value
            ]
            parts = zip(keys, value.values(), strict=True)
            return {key: rebuilt(one, item, f"{where}[{key!r}]", files) for key, one in parts}
        case t.Fixed(items) if _is_list(value):
            if len(value) != len(items):
                raise WrongValue(f"{place}it has {len(items)} parts, not {len(value)}")
            parts = zip(value, items, strict=True)
            return tuple(rebuilt(one, item, f"{where}[{at}]", files) for at, (one, item) in enumerate(parts))
        case t.Record(cls, fields) | t.Entries(cls, fields) if _is_dict(value):
            return _record(value, cls, fields, where, files)
        case t.File() if files is not None and isinstance(value, str):
            return files / value
        case t.Json():
            return value
        case t.Nothing() if value is None:
            return None
        case _:
            pass
    example = f", such as {json.dumps(kind.example)}" if isinstance(kind, Textual) else ""
    raise WrongValue(f"{place}{json.dumps(value, ensure_ascii=False)[:80]} is no {t.spell(kind)}{example}")


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _is_dict(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _record(
    given: dict[str, Any], cls: type[Any], fields: tuple[t.Field, ...], where: str, files: Path | None
) -> Any:
    names = [one.name for one in fields]
    place = f"{where}: " if where else ""
    for name in given:
        if name not in names:
            meant = near(name, names)
            more = f"; did you mean `{meant}`?" if meant else f"; it has {', '.join(names)}"
            raise WrongValue(f"{place}{cls.__name__} has no field `{name}`{more}")
    found: dict[str, Any] = {}
    for one in fields:
        if one.name in given:
            at = f"{where}.{one.name}" if where else one.name
            found[one.name] = rebuilt(given[one.name], one.type, at, files)
        elif one.required:
            raise WrongValue(f"{place}the field `{one.name}` of {cls.__name__} is missing")
    return as_sent(cls, found)


def as_sent(cls: type[Any], fields: dict[str, Any]) -> Any:
    """An object with these fields, to which `__post_init__` is not applied again."""
    made = cls(**fields)
    if hasattr(cls, "__post_init__"):
        for name, value in fields.items():
            object.__setattr__(made, name, value)
    return made


def _member(name: str, cls: type[enum.Enum], place: str = "") -> enum.Enum:
    if name in cls.__members__:
        return cls.__members__[name]
    raise WrongValue(place + _one_of(list(cls.__members__), name))


def _textual(text: str, kind: Textual, place: str = "") -> Any:
    try:
        return kind.value(text)
    except ValueError as error:
        raise WrongValue(f"{place}{error}") from None


def _number(key: object, place: str) -> int:
    """A key of JSON that is an integer."""
    try:
        number = int(str(key))
    except ValueError:
        raise WrongValue(f"{place}the key {key!r} is not a whole number") from None
    if str(number) != str(key):
        raise WrongValue(f"{place}the key {key!r} is not written as {number}")
    return number


def _one_of(names: list[str], value: object) -> str:
    meant = near(value, names) if isinstance(value, str) else None
    return f"it must be one of {', '.join(names)}" + (f"; did you mean `{meant}`?" if meant else "")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WrongValue(f"it is not JSON: {error}") from None
