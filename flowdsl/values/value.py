"""The stand-in for a run-time value.

It is one class with one slot and no public attributes: every attribute name belongs to the user's type. An operation
that Argo can compute builds an expression. Any other is recorded at its line, and the body of the pipeline goes on, so
that one run finds all mistakes.
"""

from __future__ import annotations

import enum
import pathlib
from functools import partial
from typing import TYPE_CHECKING, Any, Never, TypeGuard

from flowdsl.places.place import falls_back, here, operation, through_library, unpacked, words
from flowdsl.tracing.trace import DAMAGED, TOKEN, Call, complain, current, hidden, token
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Expr, Get, Many, Out, Poison, Rows
from flowdsl.values.joined import text
from flowdsl.values.operators import operate
from flowdsl.values.textual import Textual, textual

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_COUNTERS = {"range", "chr", "bytearray"}
_PYTHON: dict[type, Any] = {t.Text: str, t.Flag: bool, t.Nothing: type(None), t.File: pathlib.Path}


class RunTimeValue:
    """The stand-in for a value that will exist when the pipeline runs."""

    __slots__ = ("_flowdsl_expr",)
    __array_ufunc__ = None  # numpy delegates `array * value` to the value

    def __new__(cls, *args: object, **named: object) -> RunTimeValue:
        """Refuse `type(x)(...)` and subclasses of a value."""
        complain("RunTimeConversion", what="used as a class")
        return value(Poison())

    # `__class__` returns the declared type, so that `isinstance` and `match` work as at run time;
    # flowdsl itself asks `type(value) is RunTimeValue`.
    @property
    def __class__(self) -> Any:
        kind = expr_of(self).type
        match kind:
            case t.Number(name):
                return int if name == "int" else float
            case t.Record(cls) | t.Enumeration(cls):
                return cls
            case Textual():
                # UUID compares in Python: it leaves to the value what it does not take for a UUID.
                return RunTimeValue if through_library() else kind.cls
            case t.Sequence():
                return tuple if kind.tupled else list
            case t.Mapping() | t.Entries():
                return dict
            case t.Fixed():
                return tuple
            case _:
                return _PYTHON.get(type(kind), RunTimeValue)

    @__class__.setter
    def __class__(self, value: Any) -> Never:
        raise TypeError("the type of a run-time value is that of the output it stands for")

    # Attributes that debuggers and notebooks look up begin with an underscore, and are no mistakes.
    def __getattr__(self, name: str) -> Any:
        expr = expr_of(self)
        if name == "_replace" and isinstance(expr.type, t.Record) and issubclass(expr.type.cls, tuple):
            return partial(_replaced, self, expr.type)
        if name.startswith("_") and not _has_field(expr.type, name):
            raise AttributeError(f"'{RunTimeValue.__name__}' object has no attribute '{name}'")
        if name == "keys" and operation(here())[0] not in ("LOAD_ATTR", "LOAD_METHOD"):
            complain("RunTimeLoop", what="looped over")  # by `f(**x)` or `dict(x)`
            return list
        if isinstance(expr.type, t.Nothing) and not _of_tasks(name):
            expr = used(self)
        return value(attribute(expr, name))

    def __dir__(self) -> list[str]:
        kind = expr_of(self).type
        return [field.name for field in kind.fields] if isinstance(kind, t.Record) else []

    def __getitem__(self, key: Any) -> Any:
        expr = used(self)
        parts = _parts_of(expr) if type(key) is slice else None
        if parts is None:
            return value(item(expr, key))
        cut: list[Any] = [*map(value, parts)][key]
        return cut if isinstance(expr.type, t.Sequence) else tuple(cut)

    def __iter__(self) -> Iterator[Any]:
        expr = used(self)
        wanted = unpacked(here())
        parts = _parts_of(expr)
        if parts is None:
            if not _is_mistake(expr):
                what = "looped over" if wanted is None else "unpacked"
                complain("RunTimeLoop", what=what, type=t.spell(expr.type))
            parts = []
        elif wanted is not None and not wanted[0] <= len(parts) <= (wanted[1] or len(parts)):
            complain("WrongUnpacking", of=t.spell(expr.type), given=len(parts), wanted=wanted[0])
            parts = parts[: wanted[1]]
        fill = (wanted[0] if wanted is not None else 0 if parts else 1) - len(parts)
        return iter([value(part) for part in (*parts, *[Poison()] * fill)])

    def __len__(self) -> int:
        expr = used(self)
        if size := _size(expr, complete=True):
            return size
        parts = _parts_of(expr)
        if parts is None and not _is_mistake(expr):
            complain("RunTimeLoop", what="counted")
        return 1 if parts is None else len(parts)

    def __reversed__(self) -> Iterator[Any]:
        parts = _parts_of(used(self))
        return _refused("reversed()")(self) if parts is None else map(value, reversed(parts))

    def __contains__(self, item: object) -> bool:
        return bool(_refuse(self, "RunTimeLoop", what="searched"))

    def __bool__(self) -> bool:
        expr = used(self)
        if not isinstance(expr, Poison):
            complain("RunTimeCondition", always=t.spell(expr.type) if _is_true(expr.type) else "")
        trace = current()
        if isinstance(expr.type, t.Maybe) and falls_back(here()):
            return False  # the default is used, and checked like any other value
        return trace is None or trace.truth(here())

    def __hash__(self) -> int:
        if not isinstance(expr_of(self), Poison):
            complain("RunTimeKey")
        return id(self)

    def __copy__(self) -> RunTimeValue:
        return self

    def __deepcopy__(self, memo: object) -> RunTimeValue:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        _refuse(self, "RunTimeConversion", what="pickled")
        return type(None), ()

    # Text: a token that is recognised in every string that reaches flowdsl.
    def __format__(self, spec: str) -> str:
        expr = used(self)
        if spec and not isinstance(expr, Poison):
            complain("TextFormat", spec=TOKEN.sub("...", spec))
            expr = Poison()
        return token(expr)

    def __str__(self) -> str:
        return token(used(self))

    def __repr__(self) -> str:
        return token(expr_of(self), shown=True)

    def __fspath__(self) -> str:
        return token(expr_of(self))

    def __int__(self) -> int:
        _refuse(self, "RunTimeConversion", what="converted by int()")
        return 1

    # No file descriptor: 1 is the standard output. But a loop has to run once.
    def __index__(self) -> int:
        read = words(here())
        called = operation(here())[0].startswith("CALL")
        what = "passed to a Python function" if called else "used as an index or a count"
        what = "counted to by range()" if "range" in read else what
        _refuse(self, "RunTimeConversion", what=what)
        return 1 if _COUNTERS & read else -1

    def __float__(self) -> float:
        _refuse(self, "RunTimeConversion", what="converted by float()")
        return 1.0

    def __complex__(self) -> complex:
        _refuse(self, "RunTimeConversion", what="converted by complex()")
        return 1j

    def __bytes__(self) -> bytes:
        _refuse(self, "RunTimeConversion", what="converted by bytes()")
        return b""

    def __call__(self, *args: object, **named: object) -> Any:
        """Refuse a call."""
        if (data := hidden(expr_of(self))) is not None:
            return _refuse(self, "HiddenFunction", **data)
        return _refuse(self, "UnsupportedOperator", operator="a call")

    def __neg__(self) -> Any:
        """A number with the other sign; `0 - value` would lose that of a zero."""
        if isinstance(t.base(expr_of(self).type), t.Number):
            return _operate("*", self, -1)
        return _refuse(self, "UnsupportedOperator", operator="unary -", number=False)

    def __setitem__(self, key: object, new: object) -> None:
        _refuse(self, "UnsupportedOperator", operator="an assignment to an item")

    def __delitem__(self, key: object) -> None:
        _refuse(self, "UnsupportedOperator", operator="del")

    def __enter__(self) -> Any:
        return _refuse(self, "UnsupportedOperator", operator="with")

    def __exit__(self, *details: object) -> None:
        return None

    def __setattr__(self, name: str, new: object) -> None:
        _refuse(self, "UnsupportedOperator", operator="an assignment to an attribute")

    def __delattr__(self, name: str) -> None:
        _refuse(self, "UnsupportedOperator", operator="del")


class FewFields:
    """A word with a few fields: any other one is recorded at its line, and the body of the pipeline goes on."""

    __slots__ = ()
    _said = ""  # what messages call it

    if not TYPE_CHECKING:  # for type checkers there are no others

        def __getattr__(self, name: str) -> object:
            taken = current() is not None and operation(here())[0] in ("LOAD_ATTR", "LOAD_METHOD")
            if name.startswith("_") or not taken:
                kind = type(self).__name__
                raise AttributeError(f"'{kind}' object has no attribute '{name}'", name=name, obj=self)
            known = tuple(one for one in dir(type(self)) if not one.startswith("_"))
            complain("UnknownField", word=self._said, name=name, known=known)
            return value(Poison())


def _is_true(kind: t.Type) -> bool:
    """Whether all values of a type are true."""
    if isinstance(kind, t.Record) and not hasattr(kind.cls, "__bool__"):
        return issubclass(kind.cls, tuple) or not hasattr(kind.cls, "__len__")
    return isinstance(kind, t.File)


_set = RunTimeValue.__dict__["_flowdsl_expr"].__set__
_get = RunTimeValue.__dict__["_flowdsl_expr"].__get__


def value(expr: Expr) -> RunTimeValue:
    """The stand-in for an expression."""
    made = object.__new__(RunTimeValue)
    _set(made, expr)
    return made


def expr_of(stand_in: RunTimeValue) -> Expr:
    """The expression of a stand-in."""
    found: Expr = _get(stand_in)
    return found


def used(stand_in: RunTimeValue) -> Expr:
    """The expression of a stand-in whose value is used.

    If its task returns nothing, that is recorded, and the result is poison.
    """
    expr = expr_of(stand_in)
    if isinstance(expr.type, t.Nothing) and (name := maker(stand_in)):
        complain("NothingMade", maker=name)
        return Poison()
    return expr


def maker(thing: object) -> str:
    """The step or pipeline that a value comes from and that returns nothing; empty for any other thing."""
    made = expr_of(thing) if is_value(thing) else None
    return maker_of(made) if made is not None else ""


def maker_of(made: Expr) -> str:
    """The same for the result of a call, for the results of a loop, or for one of those."""
    while isinstance(made, Get):
        made = made.of
    if isinstance(made, Rows):
        kind, task = made.item, made.task
    elif isinstance(made, Out) and not made.name:
        kind, task = made.type, made.task
    else:
        return ""
    return task.target.name if isinstance(kind, t.Nothing) and isinstance(task, Call) else ""


def is_value(thing: object) -> TypeGuard[RunTimeValue]:
    """Whether a thing is a stand-in (its `__class__` says otherwise on purpose)."""
    return type(thing) is RunTimeValue


def _refuse(stand_in: RunTimeValue, kind: str, **data: str | bool) -> Any:
    """Report an unsupported use of a run-time value; the result is poison, also for poison."""
    if not isinstance(expr_of(stand_in), Poison):
        complain(kind, **data)
    return value(Poison())


def _of_tasks(name: str) -> bool:
    """Whether an attribute says something about tasks in other tools, not about a value."""
    from flowdsl.mistakes.words import said_before

    return bool(said_before(name))


def _replaced(record: Any, kind: t.Record, /, **changes: Any) -> Any:
    """The result of `_replace` of a NamedTuple: an object of its class, with the other fields unchanged."""
    names = [field.name for field in kind.fields]
    unknown = [name for name in changes if name not in names]
    if unknown:
        raise ValueError(f"Got unexpected field names: {unknown!r}")  # Python's message
    return kind.cls(**{name: changes[name] if name in changes else getattr(record, name) for name in names})


def _has_field(kind: t.Type, name: str) -> bool:
    return isinstance(kind, t.Record) and any(field.name == name for field in kind.fields)


def _parts_of(expr: Expr) -> list[Expr] | None:
    """The values that Python would unpack: those of a tuple or NamedTuple, or the results of all items of a loop."""
    kind = expr.type
    if size := _size(expr, complete=True):
        return [item(expr, number) for number in range(size)]
    ordered = isinstance(kind, t.Fixed) or (isinstance(kind, t.Record) and issubclass(kind.cls, tuple))
    return fields_of(expr) if ordered else None


def attribute(expr: Expr, name: str) -> Expr:
    """The field `name` of a record; a mistake is recorded and results in poison."""
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
        complain("OptionalUse", what=f"`.{name}`", type=t.spell(kind), files=t.without_default(kind))
        return Poison()
    if name == "options" and (data := hidden(expr)) is not None:
        complain("HiddenFunction", **data)
        return Poison()
    member = next(iter(t.members(kind)), "")
    keyed = isinstance(kind, t.Entries)
    complain("NoFields", name=name, type=t.spell(kind), member=member, keyed=keyed)
    return Poison()


def item(expr: Expr, index: object) -> Expr:
    """The element of a list, dict, tuple or record at a constant key."""
    if isinstance(expr, Poison):
        return expr
    expr = _listed(expr) or expr
    kind = expr.type
    if (known := _key(index, _keys(kind))) is None:
        return Poison()
    key, shown = known
    match kind:
        case t.Fixed() | t.Record() if (
            isinstance(key, int)
            and (parts := _parts_of(expr)) is not None
            and -len(parts) <= key < len(parts)
        ):
            return parts[key]
        case t.Sequence() if isinstance(key, int) and (size := _size(expr)) and not -size <= key < size:
            complain("NoItem", key=f"[{key}]", type=t.spell(kind), size=size)
        case t.Sequence(inner) if isinstance(key, int) and isinstance(expr, Rows):
            row = Get(expr, key, inner)
            if not isinstance(inner, (t.Record, t.Fixed)):
                return row
            return outputs_of(inner, lambda name, out: Get(row, name, out))
        case t.Mapping(inner, of) if (
            isinstance(expr, Rows) and (name := _name_of(index, key, of)) is not None
        ):
            return Get(expr, name, inner)
        case t.Sequence(inner) if isinstance(key, int) and not t.holds_file(inner):
            return expr.items[key] if isinstance(expr, Many) else Get(expr, key, inner)
        case t.Mapping(inner, of) if (
            not t.holds_file(inner) and (name := _name_of(index, key, of)) is not None
        ):
            return Get(expr, name, inner)
        case t.Entries(_, fields) if one := next((each for each in fields if each.name == key), None):
            if one.required:
                return (
                    expr.items[expr.names.index(one.name)]
                    if isinstance(expr, Many)
                    else Get(expr, key, one.type)
                )
            complain("UnsupportedOperator", operator=f"the key {key!r}, which may be missing,")
        case t.Json():
            return Get(expr, key, t.JSON)
        case t.Maybe():
            complain("OptionalUse", what=f"`[{key!r}]`", type=t.spell(kind), files=t.without_default(kind))
        case _:
            _has_no_item(expr, key, shown)
    return Poison()


def _key(index: object, of: t.Type) -> tuple[int | str, str] | None:
    """The constant that an index is, for keys of a type, and how it is shown; None after a mistake."""
    if isinstance(index, enum.Enum) and isinstance(of, t.Enumeration):
        named = f"{type(index).__name__}.{index.name}"
        return named, named
    if isinstance(of, Textual) and (text := t.key_text(index, of)):
        if of.canonical:
            return text, text
        complain("UnsupportedOperator", operator=f"an index that is a {of.name}")
        return None
    if is_value(index) and isinstance(expr_of(index), Poison):
        return None
    if (key := _known_index(index)) is not None:
        return key, repr(key)
    operator = "an index that is not a number or a text known now"
    complain("UnsupportedOperator", operator="a slice" if isinstance(index, slice) else operator)
    return None


def _has_no_item(expr: Expr, key: int | str, shown: str) -> None:
    """Report that a value has nothing at a constant key."""
    kind = expr.type
    together = isinstance(kind, (t.Sequence, t.Mapping)) and not isinstance(expr, Rows)
    keys = t.members(_keys(kind))
    if isinstance(kind, t.Entries):
        keys = tuple(repr(each.name) for each in kind.fields if each.required)
    size = len(kind.items) if isinstance(kind, t.Fixed) and isinstance(key, int) else 0
    files = together and t.holds_file(kind)
    complain("NoItem", key=f"[{shown}]", type=t.spell(kind), files=files, keys=keys, size=size)


def _listed(expr: Expr) -> Rows | None:
    """What is in a list or dict of files, if a Python step returned it: only such a step tells that."""
    if not isinstance(expr, Out) or getattr(getattr(expr.task, "target", None), "kind", "") != "python":
        return None
    match expr.type:
        case t.Sequence(item) if t.holds_file(item) and t.listed(item):
            return Rows(expr.task, item, expr.type, expr.name)
        case t.Mapping(t.File() as item):
            return Rows(expr.task, item, expr.type, expr.name)
        case _:
            return None


def _keys(kind: t.Type) -> t.Type:
    return kind.key if isinstance(kind, t.Mapping) else t.NONE


def _name_of(index: object, key: int | str, kind: t.Type) -> str | None:
    """The text of an index that is a key of this type, `key` if it is a text or a number; None for any other."""
    return t.key_text(index if isinstance(kind, (t.Enumeration, Textual)) else key, kind)


def _size(expr: Expr, *, complete: bool = False) -> int | None:
    """The number of items of a loop, if it is known; `complete`: and if each of them has a result."""
    loop = expr.task.loop if isinstance(expr, Rows) and isinstance(expr.task, Call) else None
    if loop is None or loop.rows is None or loop.learnt is not None or (complete and loop.keep_going):
        return None
    return len(loop.rows)


def _is_mistake(expr: Expr) -> bool:
    """Whether a mistake has been reported in what a value is made of; a loop without items is one."""
    return isinstance(expr, Poison) or _size(expr) == 0


def _known_index(index: object) -> int | str | None:
    if is_value(index) or isinstance(index, bool):
        return None
    if isinstance(index, int):
        return int(index)
    return str.__str__(index) if isinstance(index, str) and not DAMAGED.search(index) else None


def fields_of(expr: Expr) -> list[Expr]:
    """The parts of a record or tuple, in order."""
    kind = expr.type
    if isinstance(expr, Many):
        return list(expr.items)
    assert isinstance(kind, (t.Record, t.Fixed))
    if isinstance(expr, Const):
        return [Const(expr.value[str(key)], part) for key, part in t.keyed(kind)]
    return [Get(expr, key, part) for key, part in t.keyed(kind)]


def outputs_of(returns: t.Type, leaf: Callable[[str, t.Type], Expr]) -> Expr:
    """The expression for a result whose outputs are created by `leaf(name, type)`."""
    if isinstance(returns, t.Unsupported):
        return Poison()
    if isinstance(returns, t.Nothing):
        return leaf("", t.NONE)
    if not isinstance(returns, (t.Record, t.Fixed)):
        return leaf("return", returns)
    made = {out.keys: leaf(out.name, out.type) for out in t.outputs(returns)}
    return t.assembled(returns, made, _record)


def _record(kind: t.Record | t.Fixed, parts: list[Expr]) -> Expr:
    return Many(tuple(parts), tuple(str(key) for key, _ in t.keyed(kind)), kind)


def part_of(expr: Expr, keys: t.Keys) -> Expr:
    """The part of a record or tuple at a path of keys."""
    for key in keys:
        assert isinstance(expr.type, (t.Record, t.Fixed))
        at = [one for one, _ in t.keyed(expr.type)].index(key)
        expr = fields_of(expr)[at]
    return expr


# --- operators ------------------------------------------------------------------------------------


def _known(thing: object, beside: object) -> Expr | None:
    """An operand as an expression: a stand-in, or a constant that operators support."""
    if is_value(thing):
        return used(thing)
    if isinstance(thing, enum.Enum):
        # A member of an IntEnum or StrEnum is a number or a text, unless the other operand has the same type.
        kind = t.describe(type(thing))
        if not isinstance(thing, (int, str)) or (is_value(beside) and expr_of(beside).type == kind):
            return Const(thing, kind)
    if (row := textual(thing)) is not None:
        return Const(thing, row)
    if isinstance(thing, bool):
        return Const(thing, t.BOOL)
    if isinstance(thing, int):
        return Const(int(thing), t.INT)
    if isinstance(thing, float):
        return Const(float(thing), t.FLOAT)
    if isinstance(thing, str):
        return text(thing)
    return Const(None, t.NONE) if thing is None else None


def _operate(operator: str, left: object, right: object) -> Any:
    one, two = _known(left, right), _known(right, left)
    made: Expr | None = None
    if one is not None and two is not None:
        made = operate(operator, one, two)
    elif isinstance(one or two, Poison):
        made = Poison()
    if made is None:
        names = [
            t.spell(side.type) if side else type(raw).__name__ for side, raw in ((one, left), (two, right))
        ]
        kind = "CannotCompare" if operator in ("<", "<=", ">", ">=") else "CannotOperate"
        members = tuple(name for side in (one, two) if side is not None for name in t.members(side.type))
        files = any(isinstance(side.type, t.Maybe) and t.holds_file(side.type) for side in (one, two) if side)
        complain(kind, operator=operator, left=names[0], right=names[1], members=members, files=files)
    return value(Poison() if made is None else made)


def _forward(operator: str) -> Callable[[object, object], Any]:
    return lambda self, other: _operate(operator, self, other)


def _backward(operator: str) -> Callable[[object, object], Any]:
    return lambda self, other: _operate(operator, other, self)


def _refused(operator: str) -> Callable[..., Any]:
    def refuse(self: RunTimeValue, *rest: object) -> Any:
        number = isinstance(t.base(expr_of(self).type), t.Number)
        return _refuse(self, "UnsupportedOperator", operator=operator, number=number)

    return refuse


def _install() -> None:
    for name, operator in {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "and": "&", "or": "|"}.items():
        setattr(RunTimeValue, f"__{name}__", _forward(operator))
        setattr(RunTimeValue, f"__r{name}__", _backward(operator))
    for name, operator in {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
        setattr(RunTimeValue, f"__{name}__", _forward(operator))
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
        setattr(RunTimeValue, f"__{name}__", _refused(operator))
        setattr(RunTimeValue, f"__r{name}__", _refused(operator))
    unary = {
        "pos": "unary +",
        "abs": "abs()",
        "invert": "~",
        "trunc": "trunc()",
        "floor": "floor()",
        "ceil": "ceil()",
        "round": "round()",
    }
    for name, operator in unary.items():
        setattr(RunTimeValue, f"__{name}__", _refused(operator))


_install()
