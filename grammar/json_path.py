"""Parses the JSONPath of Argo's `jsonpath()`, in the parts that workflows use, to a sequence of steps.

Source: github.com/evilmonkeyinc/jsonpath 0.8.1: keys, indices, slices, wildcards, recursive descent, unions and
filters. Filters compare paths from `@` with literals; expressions in a subscript are not supported.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from flowdsl.grammar.lalr import Lalr, kind_of
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex


class Key(NamedTuple):
    """`.name`, `['name']`."""

    name: str


class Index(NamedTuple):
    """`[3]`, `[-1]`."""

    number: int


class Range(NamedTuple):
    """`[start:stop:step]`."""

    start: int | None
    stop: int | None
    step: int | None


class Several(NamedTuple):
    """`['a','b']`, `[0,2]`."""

    parts: tuple[Key | Index, ...]


class Every(NamedTuple):
    """`*`, `[*]`."""


class Deep(NamedTuple):
    """`..`: the next step applies to all descendants, too."""


class Where(NamedTuple):
    """`[?(test)]`."""

    test: Test


class Constant(NamedTuple):
    """A literal in a test."""

    value: str | float | bool | None


class Current(NamedTuple):
    """`@` and the steps after it."""

    path: tuple[Step, ...]


class Compared(NamedTuple):
    """Two operands of a test."""

    operator: str
    left: Operand
    right: Operand


class Joined(NamedTuple):
    """Tests that must all be true (`&&`), or one of them."""

    every: bool
    tests: tuple[Test, ...]


class Not(NamedTuple):
    """`!test`."""

    test: Test


Step = Key | Index | Range | Several | Every | Deep | Where
Operand = Constant | Current
Test = Compared | Joined | Not | Operand

_USUAL = regex(r"\$(?:\.[A-Za-z_]\w*|\[[0-9]+\])*")
_USUAL_STEP = regex(r"\.(\w+)|\[([0-9]+)\]")
_CONSTANTS = {"true": True, "false": False, "null": None, "nil": None}


@lru_cache(maxsize=1024)
def parse(text: str) -> tuple[Step, ...]:
    """The steps of a path from `$`. Raises GrammarError."""
    if _USUAL.fullmatch(text):
        steps = _USUAL_STEP.finditer(text)
        return tuple(Index(int(step[2])) if step[1] is None else Key(step[1]) for step in steps)
    return tuple(map(_step, _lalr().parse(text).children[1:]))


@cache
def _lalr() -> Lalr:
    return Lalr(
        "json_path.lark", _instead, junk=re.compile(r"\w+|'[^']*|\"[^\"]*|&&?|\|\|?"), contextual=True
    )


def _instead(found: str, allowed: frozenset[str]) -> str:
    """What is allowed in place of `found`, given the terminals that the grammar would accept."""
    if "ROOT" in allowed:
        return "`$`, then `.` or `[`" if found == "$" else "`$`"
    if found[:1] in ("'", '"') and "STRING" in allowed:
        return f"a second {found[0]} after this one"
    if "NUMBER" in allowed:
        return "a path such as `@.name`, or a value"
    if "NAME" in allowed:
        return "a name or `*`"
    if "INDEX" in allowed:
        return "a number, a range such as `0:2`, a key such as `'name'`, `*` or a filter such as `?(@.a > 1)`"
    if found in ("=", "&", "|"):
        return f"`{found * 2}`"
    closing = " or ".join(sign for name, sign in (("RPAR", "`)`"), ("RSQB", "`]`")) if name in allowed)
    return closing or "`.` or `[`"


def _step(item: Any) -> Step:
    match kind_of(item):
        case "NAME":
            return Key(str(item))
        case "STRING":
            return Key(str(item)[1:-1])
        case "INDEX":
            return Index(int(item))
        case "EVERY":
            return Every()
        case "DEEP":
            return Deep()
        case "range":
            start, stop, step = (None if each is None else int(each) for each in item.children)
            return Range(start, stop, step)
        case "where":
            return Where(_test(item.children[0]))
        case _:
            parts = tuple(_part(part) for part in item.children)
            return parts[0] if len(parts) == 1 else Several(parts)


def _part(token: Any) -> Key | Index:
    return Index(int(token)) if kind_of(token) == "INDEX" else Key(str(token)[1:-1])


def _test(item: Any) -> Test:
    match kind_of(item):
        case "either" | "both":
            return Joined(kind_of(item) == "both", tuple(map(_test, item.children)))
        case "negated":
            return Not(_test(item.children[0]))
        case "compared":
            left, operator, right = item.children
            return Compared(str(operator), _operand(left), _operand(right))
        case _:
            return _operand(item)


def _operand(item: Any) -> Operand:
    match kind_of(item):
        case "path":
            return Current(tuple(map(_step, item.children)))
        case "STRING":
            return Constant(str(item)[1:-1])
        case "NUMBER":
            return Constant(float(item))
        case _:
            return Constant(_CONSTANTS[str(item)])
