"""The stand-in for a value that exists only at run time.

One class with one slot and no public attribute: every attribute name belongs to the user's type.
What Argo can compute builds an expression; everything else is recorded at its line, and the run of
the pipeline's body goes on, so that one run finds all mistakes.
"""

from __future__ import annotations

import enum
import pathlib
from typing import TYPE_CHECKING, Any, Never

from flowdsl import types as t
from flowdsl.expr import (
    COMPARISONS,
    Const,
    Either,
    Expr,
    Get,
    Join,
    Many,
    Op,
    Poison,
    Rows,
)
from flowdsl.place import here
from flowdsl.trace import complain, current, token

if TYPE_CHECKING:
    from collections.abc import Iterator

_PYTHON: dict[type, Any] = {t.Text: str, t.Flag: bool, t.Nothing: type(None), t.File: pathlib.Path}


class RunTimeValue:
    """Stands for a value that will exist when the pipeline runs."""

    __slots__ = ("_flowdsl_expr",)

    # `__class__` answers the declared type, so that `isinstance` and `match` see what the run will see;
    # flowdsl itself asks `type(value) is RunTimeValue`.
    @property
    def __class__(self) -> Any:
        kind = expr_of(self).type
        match kind:
            case t.Number(name):
                return int if name == "int" else float
            case t.Record(cls) | t.Enumeration(cls):
                return cls
            case t.Sequence():
                return list
            case t.Mapping():
                return dict
            case t.Fixed():
                return tuple
            case _:
                return _PYTHON.get(type(kind), RunTimeValue)

    @__class__.setter
    def __class__(self, value: Any) -> Never:
        raise TypeError("the type of a run-time value is that of the output it stands for")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return value(attribute(expr_of(self), name))

    def __dir__(self) -> list[str]:
        kind = expr_of(self).type
        return [field.name for field in kind.fields] if isinstance(kind, t.Record) else []

    def __getitem__(self, key: Any) -> Any:
        return value(item(expr_of(self), key))

    def __iter__(self) -> Iterator[Any]:
        expr = expr_of(self)
        if isinstance(expr, Many) and expr.names:
            return iter([value(part) for part in expr.items])
        if isinstance(expr.type, (t.Fixed, t.Record)):
            return iter([value(part) for part in _fields(expr)])
        if not isinstance(expr, Poison):
            complain("RunTimeLoop", what="looped over")
        return iter([value(Poison())])

    def __len__(self) -> int:
        expr = expr_of(self)
        match expr.type:
            case t.Fixed(items):
                return len(items)
            case t.Record(_, fields):
                return len(fields)
        if not isinstance(expr, Poison):
            complain("RunTimeLoop", what="counted")
        return 1

    def __contains__(self, item: object) -> bool:
        return bool(self._refuse("in", "RunTimeLoop", what="searched"))

    # Truth answers True the first time and False the second at one place, so that `while` ends.
    def __bool__(self) -> bool:
        if not isinstance(expr_of(self), Poison):
            complain("RunTimeCondition")
        trace = current()
        if trace is None:
            return True
        site = here()
        key = (id(site.code), site.lasti)
        answered = key in trace.truths
        trace.truths.add(key)
        return not answered

    def __hash__(self) -> int:
        if not isinstance(expr_of(self), Poison):
            complain("RunTimeKey")
        return id(self)

    def __copy__(self) -> RunTimeValue:
        return self

    def __deepcopy__(self, memo: object) -> RunTimeValue:
        return self

    def __reduce__(self) -> Never:
        complain("RunTimeConversion", what="pickled")
        raise TypeError("a run-time value cannot be pickled")

    # Text: a token that is found again in every string that reaches flowdsl.
    def __format__(self, spec: str) -> str:
        if spec:
            complain("TextFormat", spec=spec)
        return token(expr_of(self))

    def __str__(self) -> str:
        return token(expr_of(self))

    def __repr__(self) -> str:
        return token(expr_of(self), shown=True)

    def __fspath__(self) -> str:
        return token(expr_of(self))

    def _refuse(self, operator: str, kind: str = "UnsupportedOperator", **data: str) -> RunTimeValue:
        if not isinstance(expr_of(self), Poison):
            complain(kind, **({"operator": operator} if kind == "UnsupportedOperator" else data))
        return value(Poison())

    def __int__(self) -> int:
        self._refuse("int", "RunTimeConversion", what="converted by int()")
        return 1

    def __index__(self) -> int:
        self._refuse("index", "RunTimeConversion", what="used as an index or a count")
        return 1

    def __float__(self) -> float:
        self._refuse("float", "RunTimeConversion", what="converted by float()")
        return 1.0

    def __complex__(self) -> complex:
        self._refuse("complex", "RunTimeConversion", what="converted by complex()")
        return 1j

    def __bytes__(self) -> bytes:
        self._refuse("bytes", "RunTimeConversion", what="converted by bytes()")
        return b""

    def __round__(self, digits: int = 0) -> Any:
        return self._refuse("round()")

    def __call__(self, *args: object, **named: object) -> Any:
        return self._refuse("a call")

    def __setitem__(self, key: object, new: object) -> None:
        self._refuse("an assignment to an item")

    def __delitem__(self, key: object) -> None:
        self._refuse("del")

    def __enter__(self) -> Any:
        return self._refuse("with")

    def __exit__(self, *details: object) -> None:
        return None

    def __setattr__(self, name: str, new: object) -> None:
        self._refuse("an assignment to an attribute")


_set = RunTimeValue.__dict__["_flowdsl_expr"].__set__
_get = RunTimeValue.__dict__["_flowdsl_expr"].__get__


def value(expr: Expr) -> RunTimeValue:
    """The stand-in for an expression."""
    made = object.__new__(RunTimeValue)
    _set(made, expr)
    return made


def expr_of(stand_in: RunTimeValue) -> Expr:
    """The expression a stand-in stands for."""
    found: Expr = _get(stand_in)
    return found


def is_value(thing: object) -> bool:
    """Whether a thing is a stand-in (its `__class__` says otherwise on purpose)."""
    return type(thing) is RunTimeValue


def attribute(expr: Expr, name: str) -> Expr:
    """The field `name` of a record; a mistake is recorded and answers poison."""
    if isinstance(expr, Poison):
        return expr
    kind = expr.type
    if isinstance(kind, t.Record):
        for field in kind.fields:
            if field.name == name:
                if isinstance(expr, Many):
                    return expr.items[expr.names.index(name)]
                return Get(expr, name, field.type)
        complain("UnknownOutput", of=t.spell(kind), name=name, known=tuple(f.name for f in kind.fields))
        return Poison()
    if isinstance(kind, t.Maybe):
        complain("OptionalUse", what=f"`.{name}`", type=t.spell(kind))
        return Poison()
    complain("NoFields", name=name, type=t.spell(kind))
    return Poison()


def item(expr: Expr, key: object) -> Expr:
    """The element of a list, dict, tuple or record under a key known now."""
    if isinstance(expr, Poison):
        return expr
    kind = expr.type
    if is_value(key) or isinstance(key, slice) or type(key) not in (int, str):
        complain("UnsupportedOperator", operator="an index that is not a number or a text known now")
        return Poison()
    match kind:
        case t.Fixed(items) if isinstance(key, int) and -len(items) <= key < len(items):
            return _fields(expr)[key]
        case t.Record(_, fields) if isinstance(key, int) and -len(fields) <= key < len(fields):
            return _fields(expr)[key]
        case t.Sequence(inner) if isinstance(key, int) and isinstance(expr, Rows):
            row = Get(expr, key, inner)
            if not isinstance(inner, (t.Record, t.Fixed)):
                return row
            outs = t.outputs(inner)
            cells = tuple(Get(row, out.name, out.type) for out in outs)
            return Many(cells, tuple(str(out.attribute) for out in outs), inner)
        case t.Sequence(inner) if isinstance(key, int) and not t.holds_file(inner):
            return expr.items[key] if isinstance(expr, Many) else Get(expr, key, inner)
        case t.Mapping(inner) if isinstance(key, str) and not t.holds_file(inner):
            return Get(expr, key, inner)
        case t.Json():
            return Get(expr, key, t.JSON)  # type: ignore[arg-type]  # an int or a str, as asked above
        case t.Maybe():
            complain("OptionalUse", what=f"`[{key!r}]`", type=t.spell(kind))
        case _:
            complain("NoItem", key=repr(key), type=t.spell(kind))
    return Poison()


def _fields(expr: Expr) -> list[Expr]:
    if isinstance(expr, Many):
        return list(expr.items)
    kind = expr.type
    if isinstance(kind, t.Record):
        return [Get(expr, field.name, field.type) for field in kind.fields]
    assert isinstance(kind, t.Fixed)
    return [Get(expr, index, part) for index, part in enumerate(kind.items)]


# --- operators ------------------------------------------------------------------------------------


def _known(thing: object) -> Expr | None:
    """An operand as an expression: a stand-in, or a constant that operators understand."""
    if is_value(thing):
        return expr_of(thing)  # type: ignore[arg-type]
    if isinstance(thing, bool):
        return Const(thing, t.BOOL)
    if isinstance(thing, int):
        return Const(thing, t.INT)
    if isinstance(thing, float):
        return Const(thing, t.FLOAT)
    if isinstance(thing, str):
        from flowdsl.lift import text

        return text(thing)
    if thing is None:
        return Const(None, t.NONE)
    if isinstance(thing, enum.Enum):
        return Const(thing, t.describe(type(thing)))
    return None


def _arithmetic(operator: str, left: Expr, right: Expr) -> Expr | None:
    one, two = left.type, right.type
    if isinstance(one, t.Number) and isinstance(two, t.Number):
        for side in (left, right):
            if isinstance(side, Const) and side.value != side.value:
                return None
        result = t.INT if one == two == t.INT and operator != "/" else t.FLOAT
        return Op(operator, (left, right), result)
    if operator == "+" and isinstance(one, t.Text) and isinstance(two, t.Text):
        return Join((*_parts(left), *_parts(right)))
    return None


def _parts(expr: Expr) -> tuple[str | Expr, ...]:
    if isinstance(expr, Join):
        return expr.parts
    if isinstance(expr, Const):
        return (expr.value,) if expr.value else ()
    return (expr,)


def _comparison(operator: str, left: Expr, right: Expr) -> Expr | None:
    one, two = left.type, right.type
    equality = operator in ("==", "!=")
    if isinstance(one, t.Number) and isinstance(two, t.Number):
        return Op(operator, (left, right), t.BOOL)
    if t.is_text(one) and t.is_text(two):
        if isinstance(one, t.Enumeration) != isinstance(two, t.Enumeration):
            return None
        if equality or (isinstance(one, t.Text) and isinstance(two, t.Text)):
            return Op(operator, (left, right), t.BOOL)
    if equality and isinstance(one, t.Flag) and isinstance(two, t.Flag):
        return Op(operator, (left, right), t.BOOL)
    if equality and isinstance(one, t.Maybe) and isinstance(two, t.Nothing):
        return Op(operator, (left, right), t.BOOL)
    if equality and isinstance(one, t.Choice) and isinstance(two, (t.Text, t.Number, t.Flag)):
        return Op(operator, (left, right), t.BOOL)
    return None


def _logic(operator: str, left: Expr, right: Expr) -> Expr | None:
    if isinstance(left.type, t.Flag) and isinstance(right.type, t.Flag):
        return Op(operator, (left, right), t.BOOL)
    return None


def _operate(operator: str, left: object, right: object) -> Any:
    one, two = _known(left), _known(right)
    if isinstance(one, Poison) or isinstance(two, Poison):
        return value(Poison())
    made: Expr | None = None
    if one is not None and two is not None:
        if operator in "+-*/":
            made = _arithmetic(operator, one, two)
        elif operator in "&|":
            made = _logic(operator, one, two)
        else:
            made = _comparison(operator, one, two)
    if made is not None:
        return value(made)
    kinds = [t.spell(side.type) if side else type(raw).__name__ for side, raw in ((one, left), (two, right))]
    if operator in COMPARISONS and operator not in ("==", "!="):
        complain("CannotCompare", operator=operator, left=kinds[0], right=kinds[1])
    else:
        complain("CannotOperate", operator=operator, left=kinds[0], right=kinds[1])
    return value(Poison())


def _install() -> None:
    def forward(operator: str) -> Any:
        return lambda self, other: _operate(operator, self, other)

    def backward(operator: str) -> Any:
        return lambda self, other: _operate(operator, other, self)

    def refused(operator: str) -> Any:
        return lambda self, *rest: self._refuse(operator)

    for name, operator in {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "and": "&", "or": "|"}.items():
        setattr(RunTimeValue, f"__{name}__", forward(operator))
        setattr(RunTimeValue, f"__r{name}__", backward(operator))
    for name, operator in {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
        setattr(RunTimeValue, f"__{name}__", forward(operator))
    binary = {
        "floordiv": "//",
        "mod": "%",
        "pow": "**",
        "matmul": "@",
        "lshift": "<<",
        "rshift": ">>",
        "xor": "^",
        "divmod": "divmod()",
    }
    for name, operator in binary.items():
        setattr(RunTimeValue, f"__{name}__", refused(operator))
        setattr(RunTimeValue, f"__r{name}__", refused(operator))
    unary = {
        "neg": "unary -",
        "pos": "unary +",
        "abs": "abs()",
        "invert": "~",
        "trunc": "trunc()",
        "floor": "floor()",
        "ceil": "ceil()",
        "reversed": "reversed()",
    }
    for name, operator in unary.items():
        setattr(RunTimeValue, f"__{name}__", refused(operator))


_install()


def either_of(choices: tuple[Expr, ...], kind: t.Type) -> RunTimeValue:
    """The stand-in for the first choice that exists."""
    return value(Either(choices, kind))
