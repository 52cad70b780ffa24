"""Python values into expressions, by the type that is wanted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flowdsl import types as t
from flowdsl.expr import Const, Expr, Join, Many, OnVolume, Op, Poison
from flowdsl.trace import DAMAGED, current, parts
from flowdsl.volume import VolumePath

if TYPE_CHECKING:
    from collections.abc import Callable

Complain = "Callable[..., None]"

# Argo quotes a substituted value in a way JSON does not read for these (argo-workflows #15512).
_CONTROL = {chr(code) for code in range(32)} - {"\t", "\n", "\r"} | {"\x7f"}


def lift(value: Any, want: t.Type, complain: Callable[..., None], *, nested: bool = False) -> Expr:
    """The expression for a value that should be of the type.

    `complain(kind, **data)` is told of each mistake; the answer is then poison. `nested`: inside a JSON
    value, whose texts are encoded so that they may hold anything.
    """
    from flowdsl.value import expr_of, is_value

    if is_value(value):
        expr = expr_of(value)
        if isinstance(expr, Poison) or fits(expr.type, want):
            return expr
        complain("WrongType", want=t.spell(want), have=t.spell(expr.type))
        return Poison()
    if type(value) is VolumePath:
        if isinstance(want.item if isinstance(want, t.Maybe) else want, t.File):
            return OnVolume(value.volume, text(value.text))
        complain("WrongType", want=t.spell(want), have="a path on a volume")
        return Poison()
    match want:
        case t.Text() if isinstance(value, str):
            return _literal_text(value, complain, nested)
        case t.Maybe(item):
            return Const(None, want) if value is None else lift(value, item, complain, nested=True)
        case t.Sequence(item) if isinstance(value, (list, tuple)):
            return _many(value, (), [item] * len(value), want, complain)
        case t.Mapping(item) if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return _many(value.values(), tuple(value), [item] * len(value), want, complain)
        case t.Fixed(items) if isinstance(value, (list, tuple)) and len(value) == len(items):
            return _many(value, tuple(map(str, range(len(items)))), items, want, complain)
        case t.Record(cls, fields) if isinstance(value, cls):
            names = tuple(field.name for field in fields)
            kinds = [field.type for field in fields]
            return _many([getattr(value, name) for name in names], names, kinds, want, complain)
        case t.Json() if isinstance(value, dict):
            if all(isinstance(key, str) for key in value):
                return _many(value.values(), tuple(value), [t.JSON] * len(value), want, complain)
        case t.Json() if isinstance(value, (list, tuple)):
            return _many(value, (), [t.JSON] * len(value), want, complain)
        case t.Json() if isinstance(value, str):
            found = text(value)
            return Const(value, want) if isinstance(found, Const) else found
        case t.File() if isinstance(value, (str, t.pathlib.PurePath)):
            complain("LocalFile", path=str(value))
            return Poison()
    plain = _scalar(value, want)
    if plain is not None:
        return plain
    if isinstance(value, float) and not math.isfinite(value):
        complain("NotFinite", value=repr(value))
    else:
        complain("WrongType", want=t.spell(want), have=_spell_value(value))
    return Poison()


def _scalar(value: Any, want: t.Type) -> Expr | None:
    match want:
        case t.Number("int") if isinstance(value, int):
            return Const(int(value), want)
        case t.Number("float") if isinstance(value, (int, float)) and math.isfinite(value):
            return Const(float(value), want)
        case t.Flag() if isinstance(value, bool):
            return Const(value, want)
        case t.Nothing() if value is None:
            return Const(None, want)
        case t.Choice(values) if any(value == one and type(value) is type(one) for one in values):
            return Const(value, want)
        case t.Enumeration(cls) if isinstance(value, cls):
            return Const(value, want)
        case t.Json() if value is None or isinstance(value, (bool, int)):
            return Const(value, want)
        case t.Json() if isinstance(value, float) and math.isfinite(value):
            return Const(value, want)
        case _:
            return None


def _many(
    values: Any, names: tuple[str, ...], kinds: Any, want: t.Type, complain: Callable[..., None]
) -> Expr:
    items = tuple(
        lift(value, kind, complain, nested=True) for value, kind in zip(values, kinds, strict=True)
    )
    if any(isinstance(item, Poison) for item in items):
        return Poison()
    if all(isinstance(item, Const) for item in items):
        found = [item.value for item in items if isinstance(item, Const)]
        return Const(dict(zip(names, found, strict=True)) if names else found, want)
    return Many(items, names, want)


def text(value: str) -> Expr:
    """A text as an expression: a constant, or the values whose tokens it holds joined with the rest."""
    if "{{" not in value:
        return Const(value, t.TEXT)
    found = parts(value, current())
    if all(isinstance(part, str) for part in found):
        return Const("".join(part for part in found if isinstance(part, str)), t.TEXT)
    flat: list[str | Expr] = []
    for part in found:
        flat.extend(part.parts if isinstance(part, Join) else (part,))
    if len(flat) == 1 and not isinstance(flat[0], str) and isinstance(flat[0].type, t.Text):
        return flat[0]
    return Join(tuple(flat))


def _literal_text(value: str, complain: Callable[..., None], nested: bool) -> Expr:
    made = text(value)
    if nested and isinstance(made, Const) and not DAMAGED.search(value):
        return made
    literal = [made.value] if isinstance(made, Const) else []
    if isinstance(made, Join):
        literal = [part for part in made.parts if isinstance(part, str)]
        for part in made.parts:
            if not isinstance(part, str) and (why := not_text(part)):
                complain("TextType", type=why)
                return Poison()
    for piece in literal:
        if DAMAGED.search(piece):
            complain("DamagedText")
            return Poison()
        if "{{" in piece:
            complain("LiteralBraces")
            return Poison()
        if any(character in _CONTROL for character in piece):
            complain("ControlCharacter", text=repr(piece))
            return Poison()
    return made


def not_text(expr: Expr) -> str | None:
    """Why a value's text would differ between Python and Argo, or None where both agree."""
    kind = expr.type
    if isinstance(kind, t.Number):
        return "float that Argo computes" if isinstance(expr, Op) and kind == t.FLOAT else None
    if isinstance(kind, t.Text) or (isinstance(kind, t.Choice) and t.is_text(kind)):
        return None
    return t.spell(kind)


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


def _spell_value(value: object) -> str:
    shown = repr(value)
    name = type(value).__name__
    return f"{name} {shown}" if len(shown) <= 40 and name in ("str", "int", "float", "bool") else name
