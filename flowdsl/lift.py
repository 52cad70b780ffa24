"""Python values into expressions, by the type that is wanted."""

from __future__ import annotations

import enum
import math
import pathlib
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from flowdsl import types as t
from flowdsl.expr import Const, Expr, Join, Many, OnVolume, Op, Poison
from flowdsl.trace import DAMAGED, TOKEN, current, parts
from flowdsl.value import expr_of, is_value
from flowdsl.volume import VolumePath

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# Argo quotes a substituted value in a way JSON does not read for these (argo-workflows #15512).
_CONTROL = {chr(code) for code in range(32)} - {"\t", "\n", "\r"} | {"\x7f"}


def lift(
    value: object, want: t.Type, complain: Callable[..., None], *, nested: bool = False, apart: bool = False
) -> Expr:
    """The expression for a value that should be of the type.

    `complain(kind, **data)` is told of each mistake; the answer is then poison. `nested`: inside a JSON
    value, whose texts are encoded so that they may hold anything. `apart`: the parts of a record or tuple
    are handed on each by itself, as the results of a pipeline are.
    """
    inner = want.item if isinstance(want, t.Maybe) else want
    if is_value(value):
        return _lift_value(expr_of(value), want, inner, complain)
    if type(value) is VolumePath:
        if isinstance(inner, t.File):
            path = lift(value.text, t.TEXT, complain)
            return path if isinstance(path, Poison) else OnVolume(value.volume, path)
        complain("WrongType", want=t.spell(want), have="a path on a volume")
        return Poison()
    nested = nested or not (apart or t.holds_file(want) or isinstance(want, t.Text))
    match want:
        case t.Text() | t.Json() if isinstance(value, str):
            made = text(value)
            if (flaw := flaw_of(made, nested)) is not None:
                complain(flaw[0], **flaw[1])
                return Poison()
            return Const(made.value, want) if isinstance(made, Const) else made
        case t.Maybe():
            if value is None:
                return Const(None, want)
            return lift(value, inner, complain, nested=nested)
        case t.Sequence(item) if (listed := items_of(value)) is not None:
            return _many(listed, None, [item] * len(listed), want, complain, nested)
        case t.Mapping(item) if (entries := _entries_of(value)) is not None:
            return _many(entries.values(), tuple(entries), [item] * len(entries), want, complain, nested)
        case t.Fixed(items) if (listed := items_of(value)) is not None and len(listed) == len(items):
            return _many(listed, tuple(map(str, range(len(items)))), items, want, complain, nested)
        case t.Record(cls, fields) if isinstance(value, cls):
            names = tuple(field.name for field in fields)
            kinds = [field.type for field in fields]
            return _many([getattr(value, name) for name in names], names, kinds, want, complain, nested)
        case t.Json() if (entries := _entries_of(value)) is not None:
            return _many(entries.values(), tuple(entries), [t.JSON] * len(entries), want, complain, nested)
        case t.Json() if (listed := items_of(value)) is not None:
            return _many(listed, None, [t.JSON] * len(listed), want, complain, nested)
        case t.File() if isinstance(value, (str, pathlib.PurePath)):
            complain("LocalFile", path=TOKEN.sub("...", str(value)))
            return Poison()
        case t.Number("float") | t.Json() if isinstance(value, (int, float)) and not _finite(value):
            complain("NotFinite", value=repr(value))
            return Poison()
        case _:
            pass
    plain = _scalar(value, want)
    if plain is not None:
        return plain
    complain("WrongType", want=t.spell(want), have=spelled(value))
    return Poison()


def items_of(value: object) -> Sequence[Any] | None:
    """The items of a list or tuple; None for anything else."""
    return cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else None


def is_dict(value: object) -> TypeGuard[dict[Any, Any]]:
    """Whether a value is a dict."""
    return isinstance(value, dict)


def _entries_of(value: object) -> dict[str, Any] | None:
    """The entries of a dict whose keys are text; None for anything else."""
    return value if is_dict(value) and all(isinstance(key, str) for key in value) else None


def _lift_value(expr: Expr, want: t.Type, inner: t.Type, complain: Callable[..., None]) -> Expr:
    if isinstance(expr, Poison):
        return expr
    if isinstance(expr.type, t.Flag) and isinstance(inner, t.Number):
        # Python takes a bool for a number; its text is another one.
        return Op("?:", (expr, Const(1, t.INT), Const(0, t.INT)), t.INT)
    if not isinstance(expr.type, t.Nothing) and fits(expr.type, want):
        return expr
    complain("WrongType", want=t.spell(want), have=t.spell(expr.type))
    return Poison()


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float can hold
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
        case t.Choice(values) if any(value == one and type(value) is type(one) for one in values):
            return Const(value, want)
        case t.Enumeration(cls) if isinstance(value, cls) and value.name in cls.__members__:
            return Const(value, want)
        case t.Json() if value is None or isinstance(value, bool):
            return Const(value, want)
        case t.Json() if isinstance(value, (int, float)):
            return Const(int(value) if isinstance(value, int) else float(value), want)
        case _:
            return None


def _many(
    values: Iterable[Any],
    names: tuple[str, ...] | None,
    kinds: Sequence[t.Type],
    want: t.Type,
    complain: Callable[..., None],
    nested: bool,
) -> Expr:
    """A list (without names), dict, tuple or record: a constant if all parts are."""
    items = tuple(
        lift(value, kind, complain, nested=nested) for value, kind in zip(values, kinds, strict=True)
    )
    if any(isinstance(item, Poison) for item in items):
        return Poison()
    found = [item.value for item in items if isinstance(item, Const)]
    if len(found) == len(items):
        return Const(found if names is None else dict(zip(names, found, strict=True)), want)
    return Many(items, names or (), want)


# --- text -----------------------------------------------------------------------------------------


def text(value: str) -> Expr:
    """A text as an expression: a constant, or the values whose tokens it holds joined with the rest.

    A value that does not stand in text as Python would write it is reported where it was put there.
    """
    value = str.__str__(value)  # a member of a StrEnum is the text it holds
    return join(parts(value, current())) if "{{" in value else Const(value, t.TEXT)


def join(pieces: Iterable[str | Expr]) -> Expr:
    """Texts and values one after the other; neighbouring literals are one."""
    flat: list[str | Expr] = []
    for piece in pieces:
        if isinstance(piece, Poison):
            return piece
        for part in piece.parts if isinstance(piece, Join) else (piece,):
            one: str | Expr = part.value if isinstance(part, Const) else part
            if isinstance(one, str) and flat and isinstance(flat[-1], str):
                flat[-1] += one
            elif one != "":
                flat.append(one)
    match flat:
        case []:
            return Const("", t.TEXT)
        case [str() as literal]:
            return Const(literal, t.TEXT)
        case [only] if not isinstance(only, str) and isinstance(only.type, t.Text):
            return only
        case _:
            return Join(tuple(flat))


def flaw_of(made: Expr, nested: bool) -> tuple[str, dict[str, str]] | None:
    """What is wrong with the literal parts of a text: the kind of mistake and its data."""
    literals = [made.value] if isinstance(made, Const) else []
    if isinstance(made, Join):
        literals = [part for part in made.parts if isinstance(part, str)]
    for literal in literals:
        if DAMAGED.search(literal):
            return "DamagedText", {}
        if nested and isinstance(made, Const):
            continue
        if "{{" in literal:
            return "LiteralBraces", {}
        if not _CONTROL.isdisjoint(literal):
            return "ControlCharacter", {"text": repr(literal)}
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
        case (t.Sequence(one), t.Sequence(two)) | (t.Mapping(one), t.Mapping(two)):
            return fits(one, two)
        case t.Fixed(ones), t.Fixed(twos):
            return len(ones) == len(twos) and all(map(fits, ones, twos))
        case t.Choice(values), t.Choice(allowed):
            return all(value in allowed for value in values)
        case t.Choice(values), _:
            return all(_scalar(value, want) is not None or _is_str(value, want) for value in values)
        case t.Record(one), t.Record(two):
            return issubclass(one, two)
        case t.Record(_, fields), t.Fixed(items):
            return len(fields) == len(items) and all(map(fits, (f.type for f in fields), items))
        case t.Json(), _:
            return not t.is_text(want) and not t.holds_file(want)
        case _:
            return False


def _is_str(value: object, want: t.Type) -> bool:
    return isinstance(value, str) and isinstance(want, t.Text)


def spelled(value: object) -> str:
    """A value known now, or its type, for a message."""
    if value is None or is_value(value):
        return "None" if value is None else t.spell(expr_of(value).type)
    name = type(value).__name__
    if isinstance(value, enum.Enum):
        return f"{name}.{value.name}"
    if type(value) not in (str, int, float, bool):
        return name
    shown = TOKEN.sub("...", repr(value))
    return f"{name} {shown}" if len(shown) <= 40 else name
