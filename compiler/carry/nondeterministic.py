"""Nondeterministic calls: clocks, random numbers, unique names."""

from __future__ import annotations

import ast
from types import ModuleType
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.carry.tree import value_of
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_ANEW = frozenset(
    f"{home}.{name}"
    for home, names in (
        ("time", "time time_ns strftime localtime gmtime ctime asctime"),
        ("datetime", "now today utcnow"),
        ("uuid", "uuid1 uuid4"),
        ("os", "getpid urandom"),
        ("posix", "getpid urandom"),
        ("secrets", "choice randbelow token_bytes token_hex token_urlsafe"),
        ("random", "choice choices gauss getrandbits randbytes randint random randrange sample uniform"),
        ("random", "Random SystemRandom"),
    )
    for name in names.split()
)
_HOMES = frozenset(one.partition(".")[0] for one in _ANEW)
_NOW = {"time.strftime": 1}
_NOW.update(
    dict.fromkeys(("time.localtime", "time.gmtime", "time.ctime", "time.asctime", "random.Random"), 0)
)
"""The number of arguments with which these use the current time or randomness; one more is a time or a seed."""
_SEED = regex(r"\bseed\s*\(")


def leads_to_them(value: object) -> bool:
    """Whether this value may be the start of such a call: a module, or a member of one."""
    own = type(getattr(value, "__self__", None)).__module__
    return isinstance(value, ModuleType) or not _HOMES.isdisjoint((getattr(value, "__module__", None), own))


def anew(calls: Iterable[ast.Call], namespace: Mapping[str, Any], text: str) -> Iterator[ast.Call]:
    """The calls in a text that return another value each time; a seed in the text makes random numbers deterministic.

    The names are resolved in the namespace.
    """
    for call in calls:
        name = _called(call.func, namespace)
        if name not in _ANEW or (name.startswith("random.") and _SEED.search(text)):
            continue
        given = len(call.args) + len(call.keywords)
        if given <= _NOW.get(name, given):
            yield call


def _called(function: ast.expr, namespace: Mapping[str, Any]) -> str:
    """The module and name of the called function; nothing for a method of an object."""
    value = value_of(function, namespace)
    if not hasattr(value, "__name__"):  # such as a random number generator with its own seed
        return ""
    owner = value if isinstance(value, type) else getattr(value, "__self__", None)
    home = getattr(value, "__module__", None) or type(owner).__module__
    name = function.attr if isinstance(function, ast.Attribute) else getattr(value, "__name__", "")
    return f"{home}.{name}"
