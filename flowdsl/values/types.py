"""The types of values that are passed between steps, described from their Python annotations.

A `Path` is a file or folder, `str` is text, and everything else is JSON from which the step rebuilds a value of the
type (design: types decide how values are passed). `describe` never raises: an annotation that is not supported is
described as `Unsupported`, and the checks report it at its line.
"""

from __future__ import annotations

import enum
import pathlib
import re
import types
import typing
from typing import TYPE_CHECKING, Any, TypeVar, cast

from flowdsl.values.annotations import annotations_of
from flowdsl.values.node import Node
from flowdsl.values.textual import BY_CLASS, Textual, textual

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")


class Text(Node):
    """`str`: passed unchanged."""

    name: str = "str"


class Number(Node):
    """`int` or `float`."""

    name: str


class Flag(Node):
    """`bool`: passed as `true` or `false`."""

    name: str = "bool"


class Nothing(Node):
    """`None`, as the result of a step that returns nothing."""

    name: str = "None"


class Choice(Node):
    """A `Literal[...]` of strings, numbers or bools."""

    values: tuple[Any, ...]

    def __eq__(self, other: object) -> bool:
        # 1 == True in Python, but their texts differ.
        if not isinstance(other, Choice):
            return False
        return self.values == other.values and [*map(type, self.values)] == [*map(type, other.values)]

    __hash__ = Node.__hash__


class Enumeration(Node):
    """A subclass of `enum.Enum`: passed as the name of its member."""

    cls: type[enum.Enum]


class Sequence(Node):
    """`list[T]`; or `tuple[T, ...]`, which is passed as a list."""

    item: Type
    tupled: bool = False


class Mapping(Node):
    """`dict[str, T]`; or a dict whose keys are integers, or anything else that is passed as one text.

    All keys are passed as texts, since JSON has no others.
    """

    item: Type
    key: Type = Text()


class Fixed(Node):
    """`tuple[A, B, ...]` of a fixed length; `listed`: as a list, as in JSON."""

    items: tuple[Type, ...]
    listed: bool = False


class Field(Node):
    """One field of a record."""

    name: str
    type: Type
    required: bool


class Record(Node):
    """A NamedTuple or a dataclass, or a `dict` of these fields; `arguments` are those of a generic class."""

    cls: type[Any]
    fields: tuple[Field, ...]
    arguments: tuple[Type, ...] = ()


class Entries(Node):
    """A TypedDict: a dict with these keys, of which some may be optional."""

    cls: type[Any]
    fields: tuple[Field, ...]


class Maybe(Node):
    """`T | None`."""

    item: Type


class Json(Node):
    """`Any`, `object`, bare `list` or `dict`: any JSON value."""

    name: str = "Any"


class File(Node):
    """`pathlib.Path`: a file or a folder."""

    name: str = "Path"


class Unsupported(Node):
    """An annotation whose values cannot be passed, and the reason."""

    annotation: str
    reason: str
    whole: str = ""  # the annotation and, for a record, the offending field


Type = (
    Text
    | Number
    | Flag
    | Nothing
    | Choice
    | Enumeration
    | Textual
    | Sequence
    | Mapping
    | Fixed
    | Record
    | Entries
    | Maybe
    | Json
    | File
    | Unsupported
)

TEXT = Text()
INT = Number("int")
FLOAT = Number("float")
BOOL = Flag()
NONE = Nothing()
JSON = Json()
FILE = File()

_PLAIN: dict[object, Type] = {
    str: TEXT,
    int: INT,
    float: FLOAT,
    bool: BOOL,
    None: NONE,
    type(None): NONE,
    pathlib.Path: FILE,
    pathlib.PurePath: FILE,
    Any: JSON,
    object: JSON,
    list: Sequence(JSON),
    dict: Mapping(JSON),
}
_INSTEAD = {
    "set frozenset Set": "JSON has no sets: use list[...], and convert it to a set in the step",
    "Fraction complex": "use str, and convert it in the step",
    "bytes bytearray memoryview": "write it to a file, and annotate that as Path",
    "Sequence MutableSequence Iterable Iterator Collection Generator": "say what it is: list[...]",
    "Mapping MutableMapping": "say what it is: dict[str, ...]",
}
_LIBRARY = ("builtins", "collections.abc", "fractions")
_named: dict[object, Type] = {}
_MODULES = re.compile(r"\b(?:typing|collections\.abc|pathlib(?:\._local)?)\.|<file [^<>\n]+>\.")


def describe(annotation: object) -> Type:
    """The kind of an annotation that has been evaluated (no strings inside)."""
    try:
        plain = _PLAIN.get(annotation)
    except TypeError:
        plain = None
    if plain is not None:
        return plain
    if isinstance(annotation, typing.NewType):
        return describe(annotation.__supertype__)
    if type(annotation).__name__ == "TypeAliasType":  # `type X = ...`, from Python 3.12
        return _known(annotation, _aliased)
    if type(annotation) is typing.TypeVar:
        return Unsupported(_name(annotation), "it may stand for any type: say which one, as in `Box[int]`")
    origin = typing.get_origin(annotation)
    if origin is not None:
        return _generic(annotation, origin, typing.get_args(annotation))
    if isinstance(annotation, type):
        return _class(annotation)
    if isinstance(annotation, (tuple, list)):
        parts = ", ".join(map(_name, cast("tuple[object, ...] | list[object]", annotation)))
        form, kind = ("({})", "tuple") if isinstance(annotation, tuple) else ("[{}]", "list")
        return Unsupported(form.format(parts), f"it is a value and no type: write {kind}[{parts}]")
    return Unsupported(_name(annotation), _ALIEN)


def _generic(annotation: object, origin: object, arguments: tuple[Any, ...]) -> Type:
    if origin is typing.Annotated:
        return describe(arguments[0])
    if origin is typing.Literal:
        values = tuple(value for value in arguments if value is not None)
        if values and all(type(value) in (str, int, bool) for value in values):
            return Choice(values) if len(values) == len(arguments) else Maybe(Choice(values))
        return Unsupported(_name(annotation), "a Literal of strings, whole numbers and flags travels")
    if origin is typing.Union or origin is types.UnionType:
        rest = [item for item in arguments if item is not type(None)]
        if len(rest) == 1 and len(rest) < len(arguments):
            inner = describe(rest[0])
            return inner if isinstance(inner, Unsupported) else Maybe(inner)
        return Unsupported(_name(annotation), "of unions only `T | None` travels")
    if origin is list and len(arguments) == 1:
        return _wrap(Sequence, describe(arguments[0]))
    if origin is dict and len(arguments) == 2:
        key = describe(arguments[0])
        if not is_text(key) and key != INT:
            return Unsupported(_name(annotation), _NO_KEYS)
        found = _wrap(Mapping, describe(arguments[1]))
        if isinstance(key, Text) or not isinstance(found, Mapping):
            return found
        if not isinstance(key, Choice) and holds_file(found):
            return Unsupported(_name(annotation), "files have names: use dict[str, ...]")
        return found.changed(key=key)
    if origin is tuple and Ellipsis not in arguments:
        items = tuple(describe(item) for item in arguments)
        for item in items:
            if isinstance(item, Unsupported):
                return item
        return Fixed(items)
    if origin is tuple:
        found = _wrap(Sequence, describe(arguments[0]))
        if not isinstance(found, Sequence):
            return found
        if holds_file(found):
            return Unsupported(_name(annotation), "files of unknown number are a list: use list[...]")
        return found.changed(tupled=True)
    if type(origin).__name__ == "TypeAliasType":  # `type X[T] = ...`
        return _known(annotation, _aliased)
    cls: Any = origin
    if isinstance(origin, type) and _is_record(cls):
        return _known(annotation, _record)
    return Unsupported(_name(annotation), _instead(cls) or _ALIEN)


_NO_KEYS = "keys are texts, whole numbers, dates or members of an Enum: use dict[str, ...]"
_ALIEN = "it is not a type whose values travel as JSON or as a file"


def _instead(cls: object) -> str:
    """The replacement for a class of the standard library that is often used; nothing for others."""
    if getattr(cls, "__module__", "") not in _LIBRARY:
        return ""
    name = getattr(cls, "__name__", "")
    return next((way for names, way in _INSTEAD.items() if name in names.split()), "")


def _wrap(kind: type[Sequence] | type[Mapping], item: Type) -> Type:
    return item if isinstance(item, Unsupported) else kind(item)


def _class(cls: type[Any]) -> Type:
    if issubclass(cls, enum.Enum):
        return Enumeration(cls)
    if issubclass(cls, pathlib.PurePath):
        return FILE
    if (row := BY_CLASS.get((cls.__module__, cls.__name__))) is not None:
        return row
    if typing.is_typeddict(cls):
        return _known(cls, _entries)
    if not _is_record(cls):
        way = "use a NamedTuple or a dataclass for several values, or write it to a file"
        whole: object = cls
        return Unsupported(cls.__name__, _instead(whole) or way)
    return _known(cls, _record)


def _is_named_tuple(cls: Any) -> bool:
    return issubclass(cls, tuple) and hasattr(cls, "_fields")  # pyright: ignore[reportUnknownArgumentType] -- any class


def _is_record(cls: Any) -> bool:
    return _is_named_tuple(cls) or "__dataclass_fields__" in cls.__dict__


def record_of(value: object) -> Record | None:
    """The type of a constant record; None for any other value."""
    kind = describe(type(value)) if _is_record(type(value)) else None
    return kind if isinstance(kind, Record) else None


def _known(annotation: object, read: Callable[[Any], Type]) -> Type:
    """The type for an annotation that may name itself: a record or an alias, or a generic one with arguments."""
    found = _named.get(annotation)
    if found is None:
        _named[annotation] = Unsupported(_name(annotation), "it contains itself")
        found = _named[annotation] = read(annotation)
    return found


def _aliased(annotation: Any) -> Type:
    whole = typing.get_origin(annotation) or annotation
    try:
        meant = dict(zip(whole.__type_params__, typing.get_args(annotation), strict=False))
        return describe(_bound(whole.__value__, meant))
    except Exception as error:
        return Unsupported(_name(annotation), f"what it stands for cannot be read: {error}")


def _hints(annotation: object) -> dict[str, object]:
    """The annotations of a class and its bases, with type variables substituted. May raise anything."""
    cls: Any = typing.get_origin(annotation) or annotation
    if not isinstance(cls, type) or cls is object:
        return {}
    meant: dict[object, object] = dict(
        zip(getattr(cls, "__parameters__", ()), typing.get_args(annotation), strict=False)
    )
    found: dict[str, object] = {}
    for base in reversed(cls.__dict__.get("__orig_bases__", cls.__bases__)):
        if typing.get_origin(base) is not typing.Generic:
            found.update(_hints(_bound(base, meant)))
    hints = typing.get_type_hints(cls)
    own = annotations_of(cls)
    found.update({name: _bound(hints[name], meant) for name in own if name in hints})
    return found


def _bound(hint: Any, meant: dict[object, object]) -> object:
    """An annotation with type variables substituted."""
    if type(hint) is typing.TypeVar:
        return meant.get(hint, hint)
    variables = getattr(hint, "__parameters__", ()) if typing.get_origin(hint) is not None else ()
    return hint[tuple(meant.get(one, one) for one in variables)] if variables else hint


def _record(annotation: Any) -> Type:
    cls = typing.get_origin(annotation) or annotation
    try:
        hints = _hints(annotation)
    except Exception as error:
        return Unsupported(cls.__name__, f"its annotations cannot be read: {error}")
    if _is_named_tuple(cls):
        optional = set(cls._field_defaults)
        names = list(cls._fields)
    else:
        if not cls.__dataclass_params__.init:
            return Unsupported(cls.__name__, "it has an `__init__` of its own: let the dataclass make one")
        if getattr(cls, "__abstractmethods__", ()):
            return Unsupported(cls.__name__, "it is abstract: annotate a concrete subclass")
        kinds = {field._field_type.name for field in cls.__dataclass_fields__.values()}
        known = [field for field in cls.__dataclass_fields__.values() if field._field_type.name == "_FIELD"]
        apart = [field.name for field in known if not field.init]
        if apart or "_FIELD_INITVAR" in kinds:
            what = f"its field `{apart[0]}` has init=False" if apart else "it has an InitVar"
            return Unsupported(cls.__name__, f"{what}: make it a property, or a field that is given")
        names = [field.name for field in known]
        optional = {
            field.name for field in known if not (_missing(field.default) and _missing(field.default_factory))
        }
    fields: list[Field] = []
    for name in names:
        kind = describe(hints.get(name, object))
        if isinstance(kind, Unsupported):
            whole = f"{cls.__name__}, whose field `{name}` is {kind.whole or kind.annotation}"
            return Unsupported(cls.__name__, kind.reason, whole)
        fields.append(Field(name, kind, name not in optional))
    return Record(cls, tuple(fields), tuple(map(describe, typing.get_args(annotation))))


def _entries(cls: type[Any]) -> Type:
    """The type of a TypedDict; files in it are refused, since they would not be outputs of their own."""
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except Exception as error:
        return Unsupported(cls.__name__, f"its annotations cannot be read: {error}")
    fields: list[Field] = []
    for name, hint in hints.items():
        said = typing.get_origin(hint)
        about = said in (typing.Required, typing.NotRequired)
        required = said is typing.Required if about else name in cls.__required_keys__
        kind = describe(typing.get_args(hint)[0] if about else hint)
        if isinstance(kind, Unsupported):
            whole = f"{cls.__name__}, whose key `{name}` is {kind.whole or kind.annotation}"
            return Unsupported(cls.__name__, kind.reason, whole)
        if holds_file(kind):
            return Unsupported(cls.__name__, "a record with files is a NamedTuple or a dataclass")
        fields.append(Field(name, kind, required))
    return Entries(cls, tuple(fields))


def _missing(value: object) -> bool:
    return type(value).__name__ == "_MISSING_TYPE"


def _name(annotation: object) -> str:
    text = _MODULES.sub("", str(annotation))
    named = isinstance(annotation, type) or " at 0x" in text
    return str(getattr(annotation, "__name__", type(annotation).__name__)) if named else text


def told_apart(one: Type, other: Type) -> tuple[str, str]:
    """Two types as their authors would write them; with their modules if they would look the same."""
    found = spell(one), spell(other)
    if found[0] != found[1]:
        return found
    first, second = (
        f"{kind.cls.__module__}.{spelled}" if isinstance(kind, (Record, Entries, Enumeration)) else spelled
        for kind, spelled in zip((one, other), found, strict=True)
    )
    return first, second


def spell(kind: Type) -> str:
    """The type as its author would write it."""
    match kind:
        case Choice(values):
            return f"Literal[{', '.join(map(repr, values))}]"
        case Enumeration(cls) | Record(cls, _, ()) | Entries(cls):
            return cls.__name__
        case Record(cls, _, arguments):
            return f"{cls.__name__}[{', '.join(map(spell, arguments))}]"
        case Sequence(item, tupled):
            return f"tuple[{spell(item)}, ...]" if tupled else f"list[{spell(item)}]"
        case Mapping(item, key):
            return f"dict[{spell(key)}, {spell(item)}]"
        case Fixed(items):
            return f"tuple[{', '.join(map(spell, items))}]"
        case Maybe(item):
            return f"{spell(item)} | None"
        case Unsupported(annotation):
            return annotation
        case _:
            return kind.name


def members(want: Type) -> tuple[str, ...]:
    """The values of a type that has only a few, as source text."""
    match want:
        case Enumeration(cls):
            return tuple(f"{cls.__name__}.{name}" for name in cls.__members__)
        case Choice(values):
            return tuple(map(repr, values))
        case _:
            return ()


def is_text(kind: Type) -> bool:
    """Whether values are passed as bare text: `str`, members of an Enum, Literals of text, what is textual."""
    match kind:
        case Text() | Enumeration() | Textual():
            return True
        case Choice(values):
            return all(isinstance(value, str) for value in values)
        case _:
            return False


def key_text(key: Any, kind: Type) -> str | None:
    """The text that represents the key of a dict; None if it does not have the type."""
    match kind:
        case Enumeration(cls):
            return key.name if isinstance(key, cls) and key.name in cls.__members__ else None
        case Textual():
            return kind.text(key) if textual(key) == kind else None
        case Choice(values):
            return key if isinstance(key, str) and key in values else None
        case Number():
            return str(key) if isinstance(key, int) and not isinstance(key, bool) else None
        case _:
            return key if isinstance(key, str) else None


def without_none(kind: Type) -> Type:
    """The type of the values other than None."""
    return kind.item if isinstance(kind, Maybe) else kind


def base(kind: Type) -> Type:
    """The type for operators: for a Literal the common type of its values, if there is one."""
    if isinstance(kind, Choice):
        for cls, plain in ((bool, BOOL), (int, INT), (str, TEXT)):
            if all(type(value) is cls for value in kind.values):
                return plain
    return kind


_SCALARS = frozenset({Text, Number, Flag, Nothing, Choice, Enumeration, Textual, Json})


def without_default(kind: Type) -> bool:
    """Whether `either` cannot give values of a type a default.

    The output of a task is the path of a file, whether it exists or not: of several, Argo knows none to be missing.
    """
    return isinstance(kind, Maybe) and holds_file(kind) and not isinstance(kind.item, File)


def holds_file(kind: Type) -> bool:
    """Whether a value of the type contains a file anywhere."""
    if type(kind) in _SCALARS:
        return False
    match kind:
        case File():
            return True
        case Sequence(item) | Mapping(item) | Maybe(item):
            return holds_file(item)
        case Fixed(items):
            return any(map(holds_file, items))
        case Record(_, fields):
            return any(holds_file(field.type) for field in fields)
        case _:
            return False


def listed(kind: Type) -> bool:
    """Whether a row describes an item of a list with files completely: each file is known by a name."""
    match kind:
        case File() | Maybe(File()):
            return True
        case Record() | Fixed() if holds_file(kind):
            return all(listed(part) for _, part in keyed(kind))
        case _:
            return not holds_file(kind)


def holds_whole(kind: Type) -> bool:
    """Whether a value of the type may contain an integer anywhere."""
    return any(
        isinstance(one, Json)
        or one == INT
        or (isinstance(one, Choice) and any(type(value) is int for value in one.values))
        for one in scalars(kind)
    )


def holds_float(kind: Type) -> bool:
    """Whether a value of the type may contain a float anywhere."""
    return any(isinstance(one, Json) or one == FLOAT for one in scalars(kind))


def scalars(kind: Type) -> Iterator[Type]:
    """The types of the scalars in a value of the type."""
    match kind:
        case Sequence(item) | Mapping(item) | Maybe(item):
            yield from scalars(item)
        case Fixed(items):
            for item in items:
                yield from scalars(item)
        case Record(_, fields) | Entries(_, fields):
            for field in fields:
                yield from scalars(field.type)
        case _:
            yield kind


def parts(kind: Type, count: int) -> list[Type] | None:
    """The types of the parts of a value with this number of parts; None for a type that does not determine them."""
    match kind:
        case Record(_, fields):
            return [field.type for field in fields]
        case Fixed(items):
            return list(items)
        case Sequence(item) | Mapping(item):
            return [item] * count
        case Maybe(item):
            return parts(item, count)
        case _:
            return None


Keys = tuple[str | int, ...]
"""Fields and positions on the way into a value; none for the value itself."""


class Output(Node):
    """An output of a step: its name in Argo, its path in the result, its type."""

    name: str
    keys: Keys
    type: Type


def outputs(returns: Type) -> tuple[Output, ...]:
    """The outputs of a function with this return type: the parts of a record or tuple, else one `return`.

    A part that is a record or tuple with files is split into its parts, too.
    """
    match returns:
        case Nothing():
            return ()
        case Record() | Fixed():
            return tuple(_outputs(returns, "", ()))
        case _:
            return (Output("return", (), returns),)


def _outputs(kind: Record | Fixed, name: str, keys: Keys) -> Iterator[Output]:
    for key, part in keyed(kind):
        own = f"{name}-{key}" if name else f"item-{key}" if isinstance(key, int) else key
        if isinstance(part, (Record, Fixed)) and holds_file(part):
            yield from _outputs(part, own, (*keys, key))
        else:
            yield Output(own, (*keys, key), part)


def keyed(kind: Record | Fixed) -> list[tuple[str | int, Type]]:
    """The types of the parts of a record or tuple, by field or position."""
    if isinstance(kind, Fixed):
        return [*enumerate(kind.items)]
    return [(field.name, field.type) for field in kind.fields]


def assembled(
    kind: Type, made: dict[Keys, T], join: Callable[[Record | Fixed, list[T]], T], *keys: str | int
) -> T:
    """The result composed of its outputs, by their keys; `join` builds a record or tuple of its parts."""
    if keys in made:
        return made[keys]
    assert isinstance(kind, (Record, Fixed))
    return join(kind, [assembled(part, made, join, *keys, key) for key, part in keyed(kind)])
