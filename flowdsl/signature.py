"""What a step or pipeline takes and gives: read once from the function's annotations."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any, NamedTuple

from flowdsl import types as t

if TYPE_CHECKING:
    from types import FunctionType

MISSING: Any = object()


class Parameter(NamedTuple):
    """One parameter of a function."""

    name: str
    type: t.Type
    default: Any
    annotated: bool
    positional: bool
    keyword: bool


class Signature(NamedTuple):
    """The parameters of a function in order, and what it returns."""

    parameters: tuple[Parameter, ...]
    by_name: dict[str, Parameter]
    returns: t.Type
    annotated: bool
    variadic: tuple[str, ...]
    unreadable: str | None

    def spell(self, name: str) -> str:
        """The signature as its author would write it, for a message."""
        shown: list[str] = []
        for parameter in self.parameters:
            text = f"{parameter.name}: {t.spell(parameter.type)}"
            shown.append(text if parameter.default is MISSING else f"{text} = {parameter.default!r}")
        return f"{name}({', '.join(shown)})"


def innermost(function: FunctionType) -> FunctionType:
    """The function that decorators with `functools.wraps` were put around."""
    seen: set[int] = set()
    while (inner := getattr(function, "__wrapped__", None)) is not None and id(function) not in seen:
        seen.add(id(function))
        function = inner
    return function


def read(function: FunctionType) -> Signature:
    """The signature of a function; annotations that cannot be read are said in `unreadable`."""
    code = function.__code__
    flags, names = code.co_flags, code.co_varnames
    total = code.co_argcount + code.co_kwonlyargcount
    unreadable = None
    hints: dict[str, Any] = {}
    try:
        hints = typing.get_type_hints(function)
    except Exception as error:
        unreadable = f"{type(error).__name__}: {error}"
    given = function.__defaults__ or ()
    defaults = dict(zip(names[code.co_argcount - len(given) : code.co_argcount], given, strict=True))
    defaults.update(function.__kwdefaults__ or {})
    written = function.__annotations__
    parameters = tuple(
        Parameter(
            name,
            t.describe(hints[name]) if name in hints else t.Unsupported(name, "it has no annotation"),
            defaults.get(name, MISSING),
            name in written,
            index < code.co_argcount,
            index >= code.co_posonlyargcount,
        )
        for index, name in enumerate(names[:total])
    )
    stars = [star for star, flag in (("*", 4), ("**", 8)) if flags & flag]
    variadic = tuple(star + name for star, name in zip(stars, names[total:], strict=False))
    returns = t.describe(hints["return"]) if "return" in hints else t.NONE
    return Signature(
        parameters,
        {parameter.name: parameter for parameter in parameters},
        returns,
        "return" in written,
        variadic,
        unreadable,
    )
