"""Converts Python values to expressions of the expected type."""

from __future__ import annotations

import enum
import math
import pathlib
from functools import partial
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from flowdsl.artifact import Artifact
from flowdsl.diagnostic import is_long
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.tracing.trace import TOKEN
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Expr, Many, OnVolume, Op, Poison, Stored
from flowdsl.values.joined import flaw_of, text
from flowdsl.values.textual import Textual, textual
from flowdsl.values.value import RunTimeValue, expr_of, is_value, maker_of
from flowdsl.volume import Volume, VolumePath

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flowdsl.values.signature import Parameter

_SMALL = 2**63
_SHOWN = 40
_ADDRESS = regex(r"(\w+)>? (?:object )?at 0x[0-9a-f]{6,}>")
_LONGEST = 14_000  # bits: Python formats no integer of more than 4300 digits; others are passed as text


def lift(
    value: object, want: t.Type, complain: Callable[..., None], *, nested: bool = False, apart: bool = False
) -> Expr:
    """The expression for a value that should be of the type.

    `complain(kind, **data)` is called for each mistake; the result is then poison. `nested`: inside a JSON
    value, whose texts are encoded so that they may contain anything. `apart`: the parts of a record or tuple
    are separate outputs, like the results of a pipeline.
    """
    inner = t.without_none(want)
    if is_value(value):
        return _lift_value(expr_of(value), want, inner, complain)
    if type(value) is VolumePath:
        if isinstance(inner, t.File) and isinstance(value.volume, Volume):
            path = lift(value.text, t.TEXT, complain)
            return path if isinstance(path, Poison) else OnVolume(value.volume, path)
        have = "a path on a volume" if isinstance(value.volume, Volume) else f"a path in {value.volume!r}"
        complain("WrongType", want=t.spell(want), have=have)
        return Poison()
    if type(value) is Artifact:
        return _stored(value, want, complain)
    if is_dict(value) and any(map(is_value, value)):
        return Poison()  # reported when the key was hashed
    by_itself = (
        isinstance(want, t.Text) or t.holds_file(want) or (apart and isinstance(want, (t.Record, t.Fixed)))
    )
    nested = nested or not by_itself
    if (parts := parts_of(value, want)) is not None:
        return _many(parts, want, type(value).__name__, complain, nested)
    match want:
        case t.Text() | t.Json() if isinstance(value, str):
            made = text(value)
            if (flaw := flaw_of(made, nested)) is not None:
                complain(flaw[0], **flaw[1])
                return Poison()
            if " at 0x" in value and (found := _ADDRESS.search(value)) is not None:
                complain("ObjectText", what=f"`{found[1]}`")
            return Const(made.value, want) if isinstance(made, Const) else made
        case t.Maybe():
            return Const(None, want) if value is None else lift(value, inner, complain, nested=nested)
        case t.File() if isinstance(value, (str, pathlib.PurePath)):
            complain("LocalFile", path=TOKEN.sub("...", str(value)))
            return Poison()
        case t.Number("float") | t.Json() if _is_float(value, want) and not _finite(value):
            complain("NotFinite", value=value)
            return Poison()
        case t.Number("int") | t.Json() if isinstance(value, int) and value.bit_length() > _LONGEST:
            complain("HugeNumber", value=value)
            return Poison()
        case _:
            pass
    plain = _scalar(value, want)
    if plain is not None:
        return plain
    complain("WrongType", want=t.spell(want), have=spelled(value, inner), members=t.members(inner))
    return Poison()


def default_of(parameter: Parameter) -> Expr:
    """The default of a parameter, which is known to be of its type."""
    return lift(parameter.default, parameter.type, lambda *args, **data: None)


def lift_plain(value: object, want: t.Type) -> Expr | None:
    """The expression for most values, which obviously fit; None for all others.

    A run-time value of exactly the type; a number, a bool or a text without anything special.
    """
    kind = type(value)
    if kind is RunTimeValue:
        expr = expr_of(cast("RunTimeValue", value))
        return expr if expr.type is want and want is not t.NONE else None
    if (want is t.INT and kind is int) or (want is t.FLOAT and kind is float):
        return Const(value, want) if -_SMALL < cast("float", value) < _SMALL else None
    if want is t.TEXT and kind is str:
        literal = cast("str", value)
        plain = literal.isprintable() and not any(part in literal for part in ("{{", "}}", " at 0x"))
        return Const(literal, want) if plain else None
    return Const(value, want) if want is t.BOOL and kind is bool else None


def _stored(value: Artifact, want: t.Type, complain: Callable[..., None]) -> Expr:
    """A file outside of the run; arguments that are no texts are checked where they were written."""
    if not isinstance(t.without_none(want), t.File):
        complain("WrongType", want=t.spell(want), have=repr(value))
        return Poison()
    given = {name: one for name, one in value.texts.items() if is_value(one) or isinstance(one, str)}

    def report(name: str, **data: Any) -> None:
        if name == "WrongType":
            data = {"want": t.spell(want), "have": f"{value.kind}({data['have']})"}
        complain(name, **data)

    texts = tuple(lift(one, t.TEXT, report) for one in given.values())
    if any(isinstance(one, Poison) for one in texts):
        return Poison()
    return Stored(value, tuple(given), texts)


class Parts(NamedTuple):
    """A list (without names), dict, tuple or record in its parts."""

    names: tuple[str, ...] | None
    values: Sequence[Any]
    types: Sequence[t.Type]

    @property
    def steps(self) -> Sequence[str | int]:
        """The keys or positions of the parts."""
        return range(len(self.values)) if self.names is None else self.names


def _adds_nothing(value: object, fields: Sequence[t.Field]) -> bool:
    """Whether a record has only the fields of the required class."""
    own = t.record_of(value)
    return own is None or len(own.fields) == len(fields)


def _has_keys(value: dict[Any, Any], fields: Sequence[t.Field]) -> bool:
    """Whether a dict has all required keys, and only those of the TypedDict."""
    needed = {field.name for field in fields if field.required}
    return needed <= value.keys() <= {field.name for field in fields}


def parts_of(value: object, want: t.Type) -> Parts | None:
    """The parts of a composite value, if its type is composite in the same way; None for any other."""
    match want:
        case t.Record(cls, fields) if isinstance(value, cls) and _adds_nothing(value, fields):
            names = tuple(field.name for field in fields)
            return Parts(names, [getattr(value, name) for name in names], [field.type for field in fields])
        case t.Json() if (record := t.record_of(value)) is not None:
            names = tuple(field.name for field in record.fields)
            return Parts(names, [getattr(value, name) for name in names], [want] * len(names))
        case t.Entries(_, fields) if is_dict(value) and _has_keys(value, fields):
            kinds = {field.name: field.type for field in fields if field.name in value}
            return Parts(tuple(kinds), [value[name] for name in kinds], [*kinds.values()])
        case t.Mapping() | t.Json() if (entries := _entries_of(value, want)) is not None:
            kind = want.item if isinstance(want, t.Mapping) else t.JSON
            return Parts(tuple(entries), list(entries.values()), [kind] * len(entries))
        case t.Sequence() | t.Json() if (items := items_of(value)) is not None:
            kind = want.item if isinstance(want, t.Sequence) else t.JSON
            return Parts(None, items, [kind] * len(items))
        case t.Fixed(kinds) if (items := items_of(value)) is not None and len(items) == len(kinds):
            return Parts(tuple(map(str, range(len(kinds)))), items, kinds)
        case _:
            return None


def _many(parts: Parts, want: t.Type, holder: str, complain: Callable[..., None], nested: bool) -> Expr:
    """The expression of a composite value; a constant if all parts are, and none could be a file."""
    wrong: list[dict[str, Any]] = []

    def report(step: str | int, name: str, **data: Any) -> None:
        data["inside"] = (step, *data.get("inside", ()))
        if name == "WrongType":
            wrong.append(data)
        else:
            complain(name, **data)

    lifted = zip(parts.steps, parts.values, parts.types, strict=True)
    items = tuple(lift(value, kind, partial(report, step), nested=nested) for step, value, kind in lifted)
    if wrong:
        first = wrong[0]
        other = "a JSON value" if first["want"] == "Any" else first["want"]
        part = first.get("part") or f"{first['have']} is not {other}"
        have = f"{holder} with {first['have']}"
        complain("WrongType", want=t.spell(want), have=have, part=part, inside=first["inside"])
    if any(isinstance(item, Poison) for item in items):
        return Poison()
    found = [item.value for item in items if isinstance(item, Const)]
    if len(found) < len(items) or (items and t.holds_file(want)):  # each part may be passed in another way
        return Many(items, parts.names or (), want)
    return Const(found if parts.names is None else dict(zip(parts.names, found, strict=True)), want)


def items_of(value: object) -> Sequence[Any] | None:
    """The items of a list or tuple; None for anything else."""
    return cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else None


def is_dict(value: object) -> TypeGuard[dict[Any, Any]]:
    """Whether a value is a dict."""
    return isinstance(value, dict)


def _entries_of(value: object, want: t.Type) -> dict[str, Any] | None:
    """The entries of a dict whose keys fit the type, with texts as keys; None for anything else."""
    if not is_dict(value):
        return None
    kind = want.key if isinstance(want, t.Mapping) else t.TEXT
    entries = {text: one for key, one in value.items() if (text := t.key_text(key, kind)) is not None}
    return entries if len(entries) == len(value) else None


def _lift_value(expr: Expr, want: t.Type, inner: t.Type, complain: Callable[..., None]) -> Expr:
    if isinstance(expr, Poison):
        return expr
    if isinstance(expr.type, t.Flag) and isinstance(inner, t.Number):
        # Python accepts a bool as a number, but its text differs.
        return Op("?:", (expr, Const(1, t.INT), Const(0, t.INT)), t.INT)
    if fits(expr.type, want):
        if not (nobody := maker_of(expr)):
            return expr
        complain("NothingMade", maker=nobody)
        return Poison()
    fields = (
        [field for field in expr.type.fields if fits(field.type, want)]
        if isinstance(expr.type, t.Record)
        else []
    )
    taken = tuple(field.name for field in fields)
    have, wanted = t.told_apart(expr.type, want)
    complain("WrongType", want=wanted, have=have, fields=taken, files=t.without_default(expr.type))
    return Poison()


def _is_float(value: object, want: t.Type) -> TypeGuard[float]:
    """Whether a value is converted to float on the way: an integer in JSON stays one."""
    return isinstance(value, float) or (isinstance(value, int) and want == t.FLOAT)


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def _scalar(value: Any, want: t.Type) -> Expr | None:
    match want:
        case t.Number("int") if isinstance(value, int):
            return Const(int(value), want)
        case t.Number("float") if isinstance(value, (int, float)):
            return Const(float(value), want)
        case t.Flag() if isinstance(value, bool):
            return Const(value, want)
        case t.Nothing() if value is None:
            return Const(None, want)
        case t.Choice(values) if _is_among(value, values):
            return Const(value, want)
        case t.Enumeration(cls) if isinstance(value, cls) and value.name in cls.__members__:
            return Const(value, want)
        case Textual() if textual(value) == want:
            return Const(value, want)
        case t.Json() if value is None or isinstance(value, bool):
            return Const(value, want)
        case t.Json() if isinstance(value, (int, float)):
            return Const(int(value) if isinstance(value, int) else float(value), want)
        case _:
            return None


def fits(have: t.Type, want: t.Type) -> bool:
    """Whether a value of one type may be used where the other is wanted."""
    if have == want or isinstance(want, t.Json):
        return not t.holds_file(have) or have == want
    match have, want:
        case t.Number("int"), t.Number("float"):
            return True
        case t.Maybe(one), t.Maybe(two):
            return fits(one, two)
        case _, t.Maybe(item):
            return isinstance(have, t.Nothing) or fits(have, item)
        case t.Sequence(one, tupled), t.Sequence(two, wanted):
            return tupled == wanted and fits(one, two)
        case t.Mapping(one, key), t.Mapping(two, wanted):
            return fits(key, wanted) and fits(one, two)
        case t.Fixed(ones), t.Fixed(twos):
            return len(ones) == len(twos) and all(map(fits, ones, twos))
        case t.Choice(values), t.Choice(allowed):
            return all(_is_among(value, allowed) for value in values)
        case t.Choice(values), _:
            return all(_scalar(value, want) is not None or _is_str(value, want) for value in values)
        case t.Record(one, ones), t.Record(two, twos):
            has = {field.name: field.type for field in ones}
            # The additional fields of a subclass would be lost.
            same = issubclass(one, two) and len(ones) == len(twos)
            return same and all(fits(has[field.name], field.type) for field in twos)
        case t.Record(_, fields), t.Fixed(items):
            return len(fields) == len(items) and all(map(fits, (f.type for f in fields), items))
        case t.Json(), _:
            return not t.is_text(want) and not t.holds_file(want)
        case _:
            return False


def _is_among(value: object, values: Iterable[object]) -> bool:
    # 1 == True in Python, but their texts differ.
    return any(value == one and type(value) is type(one) for one in values)


def _is_str(value: object, want: t.Type) -> bool:
    return isinstance(value, str) and isinstance(want, t.Text)


def as_written(value: object) -> str:
    """A value as Python source for a message; `...` if its text is long or contains an address."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, int) and is_long(value):
        return "..."
    text = TOKEN.sub("...", repr(value))
    return "..." if len(text) > _SHOWN or " at 0x" in text else text


def spelled(value: object, want: t.Type = t.JSON) -> str:
    """A constant, or its type, for a message about an expected value."""
    if value is None or is_value(value):
        return "None" if value is None else t.spell(expr_of(value).type)
    name = type(value).__name__
    if name.startswith("_") and type(value).__module__.startswith("flowdsl."):
        return f"`{name[1:].lower()}`"
    if is_dict(value) and isinstance(want, t.Entries):
        names = [field.name for field in want.fields]
        lacking = [field.name for field in want.fields if field.required and field.name not in value]
        other = next((key for key in value if key not in names), None)
        return f"{name} without {lacking[0]!r}" if lacking else f"{name} with the key {other!r}"
    if is_dict(value):
        right = want.key if isinstance(want, t.Mapping) else t.TEXT
        other = next((key for key in value if t.key_text(key, right) is None), None)
        return name if other is None else f"{name} with the key {spelled(other)}"
    if isinstance(value, enum.Enum):
        return as_written(value)
    if hasattr(value, "tolist"):  # the `bool` of numpy is a different class
        return f"{type(value).__module__.partition('.')[0]}.{name}"
    if type(value) not in (str, int, float, bool):
        return name
    text = as_written(value)
    return name if text == "..." else f"{name} {text}"


def annotation(value: object) -> str:
    """The annotation for a function's result, for a message; `...` if a value does not determine it."""
    if value is None or is_value(value):
        return spelled(value)
    if is_dict(value):
        return f"dict[str, {_common(value.values())}]"
    if isinstance(value, (Artifact, VolumePath, pathlib.PurePath)):
        return "Path"
    kind = type(value)
    items = items_of(value)
    if items is not None and kind in (list, tuple):
        return f"{kind.__name__}[{_common(items) if kind is list else ', '.join(map(annotation, items))}]"
    travels = items is not None or isinstance(value, (str, int, float, enum.Enum))
    return kind.__name__ if travels or hasattr(kind, "__dataclass_fields__") else "..."


def _common(values: Iterable[object]) -> str:
    kinds = {annotation(one) for one in values}
    return kinds.pop() if len(kinds) == 1 else "..."
