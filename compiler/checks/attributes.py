"""Attributes that records, members of an Enum, classes of a file and modules of Python do not have."""

from __future__ import annotations

import ast
import sys
from enum import Enum
from functools import lru_cache
from types import FunctionType
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.carry.scan import all_names
from flowdsl.compiler.checks.unsupported import article, closest
from flowdsl.grammar.named import NamedTuple
from flowdsl.values.annotations import annotations_of, signature_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from inspect import Signature
    from types import ModuleType

# Modules with the same names on every system; in others a name may exist on another system only.
_EVERYWHERE = frozenset(
    (
        *("base64", "bisect", "collections", "copy", "csv", "dataclasses", "datetime", "functools", "glob"),
        *("hashlib", "heapq", "itertools", "json", "math", "operator", "pickle", "random", "re"),
        *("statistics", "string", "textwrap", "uuid"),
    )
)
_OF_SYSTEMS = frozenset(("os", "posixpath", "shutil", "time"))
KNOWN = _EVERYWHERE | _OF_SYSTEMS
"""Modules of the standard library whose names are known."""
_PYTHONS = ("builtins", "enum", "typing")


class Fault(NamedTuple):
    """The reason of a failure, the error that it raises, and what to write instead."""

    why: str
    error: str
    way: str


def object_lacks(cls: type[Any], attr: str, fields: list[str]) -> Fault | None:
    """The fault of an attribute of an object, whose class has these fields."""
    if _may_have(cls, attr):
        return None
    way = _meant(attr, fields) or f"its fields are {', '.join(fields)}"
    return Fault(f"{article(cls.__name__)} has no `{attr}`", "AttributeError", way)


def member_lacks(cls: type[Enum], attr: str) -> Fault | None:
    """The fault of an attribute of an Enum member."""
    if any(hasattr(one, attr) for one in cls) or _may_have(cls, attr):
        return None
    way = _meant(attr, ["name", "value"]) or "a member has `.name` and `.value`"
    return Fault(f"a member of {cls.__name__} has no `{attr}`", "AttributeError", way)


def class_lacks(cls: type[Any], attr: str) -> Fault | None:
    """The fault of an attribute of a class."""
    if hasattr(cls, attr) or not _is_plain(cls):
        return None
    if issubclass(cls, Enum):
        names = [*cls.__members__]
        way = _meant(attr, names) or f"its members are {', '.join(names)}"
        return Fault(f"{cls.__name__} has no member `{attr}`", "AttributeError", way)
    names = [one for one in dir(cls) if not one.startswith("_")]
    way = _meant(attr, names) or "define it in the class, or ask one of its objects"
    return Fault(f"the class {cls.__name__} has no `{attr}`", "AttributeError", way)


def module_lacks(module: ModuleType, attr: str) -> Fault | None:
    """The fault of an attribute of a standard module. A name unlike all of its names may be new in a later Python."""
    name = module.__name__
    known = name in _EVERYWHERE or (name in _OF_SYSTEMS and sys.platform == "linux")
    if not known or hasattr(module, attr):
        return None
    close = closest(attr, dir(module), 0.7)
    spelled = "os.path" if name == "posixpath" else name
    why = f"the module {spelled} has no `{attr}`"
    return Fault(why, "AttributeError", f"did you mean `{close}`?") if close is not None else None


@lru_cache(maxsize=256)
def _signature(function: Callable[..., object]) -> Signature | None:
    """The signature of a function, if it is known."""
    try:
        return signature_of(function)
    except (TypeError, ValueError):
        return None


def unbound(function: object, node: ast.Call, bound: int = 0) -> str:
    """Why a call does not fit the signature, as far as it is written; `bound`: the number of bound arguments."""
    named = [one.arg for one in node.keywords if one.arg is not None]
    unpacked = len(named) < len(node.keywords) or any(isinstance(one, ast.Starred) for one in node.args)
    if unpacked or hasattr(function, "__wrapped__") or not callable(function):
        return ""
    return _unbound(function, len(node.args) + bound, *named)


@lru_cache(maxsize=1024)
def _unbound(function: Callable[..., object], count: int, *named: str) -> str:
    """Why a callable does not accept so many positional arguments and these keywords; or nothing.

    Cached, since most steps call the same functions of Python in the same way, and binding is slow.
    """
    found = _signature(function)
    if found is None:
        return ""
    try:
        found.bind(*[None] * count, **dict.fromkeys(named))
    except TypeError as error:
        return str(error).replace("'", "`")
    return ""


def form_of(function: Callable[..., object]) -> str:
    """The parameters of a function or class as source text."""
    return str(signature_of(function))


def _is_plain(cls: type[Any]) -> bool:
    """Whether neither a class nor its metaclass defines `__getattr__` or the like."""
    maker: type[Any] = type(cls)
    asked = [one for one in (*cls.__mro__, *maker.__mro__) if one.__module__ not in _PYTHONS]
    return not any({"__getattr__", "__getattribute__"} & vars(one).keys() for one in asked)


def _may_have(cls: type[Any], attr: str) -> bool:
    """Whether objects of a class have an attribute, or one of its methods may set it."""
    if hasattr(cls, attr) or attr in annotations_of(cls) or not _is_plain(cls):
        return True
    codes = (one.__code__ for base in cls.__mro__ for one in vars(base).values() if type(one) is FunctionType)
    return any({attr, "setattr"} & all_names(code).keys() for code in codes)


def _meant(attr: str, names: list[str]) -> str:
    close = closest(attr, names)
    return f"did you mean `{close}`?" if close is not None else ""
