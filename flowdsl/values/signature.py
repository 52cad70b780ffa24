"""The parameters and results of a step or pipeline, read once from the function's annotations."""

from __future__ import annotations

import typing
from types import CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.named import NamedTuple
from flowdsl.values import types as t
from flowdsl.values.annotations import annotations_of
from flowdsl.values.lift import as_written

if TYPE_CHECKING:
    from collections.abc import Iterator

MISSING: Any = object()


class Parameter(NamedTuple):
    """One parameter of a function; `about` is its description, a text in `Annotated`."""

    name: str
    type: t.Type
    default: Any
    annotated: bool
    positional: bool
    keyword: bool
    about: str

    @property
    def spelled(self) -> str:
        """The parameter with its type, where its annotation can be read."""
        kind = t.spell(self.type) if self.annotated else ""
        return f"{self.name}: {kind}" if kind else self.name


class Signature(NamedTuple):
    """The parameters of a function in order, and its result."""

    parameters: tuple[Parameter, ...]
    by_name: dict[str, Parameter]
    returns: t.Type
    annotated: bool
    variadic: tuple[str, ...]
    unreadable: tuple[tuple[str, str], ...]  # annotations by parameter or "return", and the error

    def spell(self, name: str) -> str:
        """The signature as its author would write it, for a message."""
        parts: list[str] = []
        for index, parameter in enumerate(self.parameters):
            before = self.parameters[index - 1] if index else None
            if before is not None and parameter.keyword and not before.keyword:
                parts.append("/")
            if not parameter.positional and (before is None or before.positional):
                parts.append("*")
            text, default = parameter.spelled, parameter.default
            parts.append(text if default is MISSING else f"{text} = {as_written(default)}")
        if self.parameters and not self.parameters[-1].keyword:
            parts.append("/")
        return f"{name}({', '.join(parts)})"


def innermost(function: FunctionType) -> FunctionType:
    """The function inside decorators that use `functools.wraps`."""
    seen: set[int] = set()
    while (inner := getattr(function, "__wrapped__", None)) is not None and id(function) not in seen:
        seen.add(id(function))
        function = inner
    return function


def is_function(thing: object) -> bool:
    """Whether a thing was created by `def` or `lambda`, and is no method: only then its parameters are inputs."""
    return isinstance(getattr(thing, "__code__", None), CodeType) and not is_method(thing)


def is_method(thing: object) -> bool:
    """Whether a thing is a function of a class that takes the object as its first argument, or is bound to it."""
    if isinstance(thing, MethodType):
        return True
    if not isinstance(thing, FunctionType) or "." not in thing.__qualname__.rpartition("<locals>.")[2]:
        return False
    code = thing.__code__
    return code.co_argcount > 0 and code.co_varnames[0] not in annotations_of(thing)


def read(function: FunctionType) -> Signature:
    """The signature of a function; annotations that cannot be evaluated are listed in `unreadable`."""
    if not is_function(function):
        return Signature((), {}, _UNREAD, False, (), (("", "it is not a function"),))
    code = function.__code__
    flags, names = code.co_flags, code.co_varnames
    total = code.co_argcount + code.co_kwonlyargcount
    unreadable: tuple[tuple[str, str], ...] = ()
    written = annotations_of(function)
    hints: dict[str, Any] = {}
    try:
        # Classes and None are used directly; strings, and types that may contain some, have to be evaluated.
        evaluated = {*map(type, written.values())} <= {type, type(None)}
        hints = written if evaluated else typing.get_type_hints(function, include_extras=True)
    except Exception as error:
        unreadable = tuple(_unreadable(function)) or (("", _said(error)),)
    given = function.__defaults__ or ()
    defaults = dict(zip(names[code.co_argcount - len(given) : code.co_argcount], given, strict=True))
    defaults.update(function.__kwdefaults__ or {})
    parameters = tuple(
        Parameter(
            name,
            t.describe(hints[name]) if name in hints else t.Unsupported(name, "it has no annotation"),
            defaults.get(name, MISSING),
            name in written,
            index < code.co_argcount,
            index >= code.co_posonlyargcount,
            _about(hints.get(name)),
        )
        for index, name in enumerate(names[:total])
    )
    stars = [star for star, flag in (("*", 4), ("**", 8)) if flags & flag]
    variadic = tuple(star + name for star, name in zip(stars, names[total:], strict=False))
    returns = t.describe(hints["return"]) if "return" in hints else t.NONE
    if unreadable and "return" in written:
        returns = _UNREAD
    return Signature(
        parameters,
        {parameter.name: parameter for parameter in parameters},
        returns,
        "return" in written,
        variadic,
        unreadable,
    )


def _about(annotation: object) -> str:
    """The first text beside the type in `Annotated[type, ...]`, which may have a name by `type X = ...`."""
    try:
        meant = getattr(annotation, "__value__", annotation)
    except Exception:
        return ""  # what the name stands for cannot be read, which its type says
    beside: tuple[object, ...] = getattr(meant, "__metadata__", ())
    return next((one for one in beside if isinstance(one, str)), "")


_UNREAD = t.Unsupported("", "it cannot be read")


def _unreadable(function: FunctionType) -> Iterator[tuple[str, str]]:
    """The annotations that cannot be evaluated, each with the reason."""
    for name, written in annotations_of(function).items():
        alone = FunctionType(_nothing.__code__, function.__globals__)
        alone.__annotations__ = {name: written}
        try:
            typing.get_type_hints(alone)
        except Exception as error:
            yield name, _said(error)


def _nothing() -> None: ...


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
