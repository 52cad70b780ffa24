"""Parses requirements of Python packages: `numpy==2.1`, `torch[cuda]>=2,<3; python_version >= "3.10"`."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.lalr import Lalr, kind_of, span
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_USUAL = regex(rf"({_NAME})(?:\[{_NAME}\])?(?:(==|>=)[0-9]+(?:\.[0-9]+)*)?")


class Requirement(NamedTuple):
    """The requirement of one package; `pinned`: one version, or a file or commit, and no other."""

    name: str
    pinned: bool


def normalized(name: str) -> str:
    """A normalized package name. Source: PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement(text: str) -> Requirement:
    """Parse one requirement. Raises GrammarError. Source: PEP 508, and PEP 440 for versions."""
    if usual := _USUAL.fullmatch(text):
        return Requirement(usual[1], usual[2] == "==")
    parts: list[Any] = _lalr().parse(text).children
    name, what = str(parts[0]), parts[2]
    if kind_of(what) == "address":
        return Requirement(name, _is_fixed(str(what.children[0])))
    single = [_is_single(text, *clause.children) for clause in what.children if clause is not None]
    return Requirement(name, any(single))


def _is_fixed(url: str) -> bool:
    """Whether a URL is that of a file, or names the commit of a repository."""
    scheme, _, rest = url.partition(":")
    return "+" not in scheme or "@" in rest.partition("#")[0].removeprefix("//").partition("/")[2]


def _is_single(text: str, operator: Any, version: Any) -> bool:
    """Whether a clause allows one version only."""
    end = span(version)[1]
    if kind_of(version) == "WILD" and operator not in ("==", "!="):
        raise GrammarError(text, end - 2, end, f"a version without `.*` after `{operator}`")
    if operator == "~=" and "." not in version:
        raise GrammarError(text, *span(version), "two numbers after `~=`, as in `~=2.1`")
    return operator == "===" or (operator == "==" and kind_of(version) != "WILD")


@cache
def _lalr() -> Lalr:
    return Lalr("requirement.lark", _instead, junk=re.compile(".+", re.DOTALL), contextual=True)


def _instead(found: str, allowed: frozenset[str]) -> str:
    """What is allowed in place of `found`, given the terminals that the grammar would accept."""
    if "NAME" in allowed:
        return "the name of a package, as in `numpy==2.1`"
    if allowed & {"EXTRA", "RSQB"}:
        return "an extra, as in `torch[cuda]`" if "EXTRA" in allowed else "`]`"
    if "URL" in allowed:
        url = re.match(r"[^\s;]+:[^\s;]+;", found)
        return "a blank before `;`" if url else "an address, as in `tools @ https://example.com/tools.whl`"
    if allowed & {"COMPARISON", "VARIABLE", "AND"}:
        return "a condition such as `python_version >= '3.10'`"
    if allowed & {"VERSION", "ARBITRARY"} or found[:1] in ("~", "=", "!", "<", ">"):
        return "a version such as `==2.1` or `>=2,<3`"
    return "`)`" if "RPAR" in allowed else "a version, as in `numpy==2.1`"
