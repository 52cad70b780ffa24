"""Requirements of Python packages: `numpy==2.1`, `torch[cuda]>=2,<3; python_version >= "3.10"`."""

from __future__ import annotations

import re
from typing import NamedTuple

from flowdsl.grammar.error import GrammarError

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_EXTRAS = re.compile(rf"\s*\[\s*(?:{_NAME.pattern}(?:\s*,\s*{_NAME.pattern})*)?\s*\]")
_VERSION = (
    r"[vV]?(?:[0-9]+!)?[0-9]+(?:\.[0-9]+)*(?:[-_.]?[A-Za-z]+(?:[-_.]?[0-9]+)?|-[0-9]+)*"
    r"(?:\+[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*)?"
)
_CLAUSE = re.compile(rf"\s*(?:(===)\s*([^\s,;)]+)|(~=|==|!=|<=|>=|<|>)\s*({_VERSION})(\.\*)?)\s*")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\s)[^\s;]+")
_TOKEN = re.compile(
    r"""\s*(?:(?P<variable>python_version|python_full_version|os_name|sys_platform|platform_release|platform_system
    |platform_version|platform_machine|platform_python_implementation|implementation_name|implementation_version|extra)\b
    |(?P<text>'[^']*'|"[^"]*")|(?P<compare>===|~=|==|!=|<=|>=|<|>|in\b|not\s+in\b)
    |(?P<join>and\b|or\b)|(?P<open>\()|(?P<close>\)))""",
    re.VERBOSE,
)


class Requirement(NamedTuple):
    """What is asked of one package; `pinned`: one version, or a file or commit, and no other."""

    name: str
    pinned: bool


def normalized(name: str) -> str:
    """A name as indexes compare it. Source: PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement(text: str) -> Requirement:
    """Read one requirement; raises GrammarError. Source: PEP 508, and PEP 440 for versions."""
    start = len(text) - len(text.lstrip())
    name = _NAME.match(text, start)
    if name is None:
        raise GrammarError(text, start, len(text), "the name of a package, as in `numpy==2.1`")
    at = name.end()
    extras = _EXTRAS.match(text, at)
    at = _blank(text, extras.end() if extras else at)
    if text.startswith("@", at):
        at, pinned = _url(text, _blank(text, at + 1))
        if text[at:].strip() and not text[at].isspace():
            raise GrammarError(text, at, len(text), "a blank before `;`")
        at = _blank(text, at)
    else:
        at, pinned = _versions(text, at)
    if at < len(text):
        if text[at] != ";":
            raise GrammarError(text, at, len(text), "a version, as in `numpy==2.1`")
        _marker(text, at + 1)
    return Requirement(name[0], pinned)


def _blank(text: str, at: int) -> int:
    return at + len(text[at:]) - len(text[at:].lstrip())


def _url(text: str, at: int) -> tuple[int, bool]:
    found = _URL.match(text, at)
    if found is None:
        raise GrammarError(text, at, len(text), "an address, as in `tools @ https://example.com/tools.whl`")
    scheme, _, rest = found[0].partition(":")
    path = rest.partition("#")[0].removeprefix("//").partition("/")[2]
    return found.end(), "+" not in scheme or "@" in path


def _versions(text: str, at: int) -> tuple[int, bool]:
    """The end of the versions, and whether they allow a single one."""
    closing = text.startswith("(", at)
    at += closing
    pinned = False
    while (clause := _CLAUSE.match(text, at)) is not None:
        arbitrary, _, operator, version, wild = clause.groups()
        if wild and operator not in ("==", "!="):
            raise GrammarError(
                text, clause.start(5), clause.end(5), f"a version without `.*` after `{operator}`"
            )
        if operator == "~=" and "." not in version:
            raise GrammarError(text, clause.start(4), clause.end(4), "two numbers after `~=`, as in `~=2.1`")
        pinned = pinned or bool(arbitrary) or (operator == "==" and not wild)
        at = clause.end()
        if not text.startswith(",", at):
            break
        at = _blank(text, at + 1)
    if text[at : at + 1] in ("~", "=", "!", "<", ">"):
        raise GrammarError(text, at, len(text), "a version such as `==2.1` or `>=2,<3`")
    if closing:
        if not text.startswith(")", at):
            raise GrammarError(text, at, len(text), "`)`")
        at = _blank(text, at + 1)
    return at, pinned


def _marker(text: str, at: int) -> None:
    """Check the condition behind `;`: comparisons joined by `and` and `or`, with parentheses."""
    depth, want = 0, "value"
    usual = "a condition such as `python_version >= '3.10'`"
    compared = False
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        kind = found.lastgroup if found is not None else None
        match want, kind:
            case "value", "open":
                depth += 1
            case "value", "variable" | "text":
                want = "end" if compared else "compare"
                compared = not compared
            case "compare", "compare":
                want = "value"
            case "end", "join":
                want = "value"
            case "end", "close" if depth:
                depth -= 1
            case _:
                raise GrammarError(text, _blank(text, at), len(text), usual)
        assert found is not None
        at = found.end()
    if want != "end" or depth:
        raise GrammarError(text, at, len(text), usual)
