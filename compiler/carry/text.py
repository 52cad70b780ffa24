"""What Argo, Kubernetes and YAML do to the text of a script on its way to Python, and how that is prevented.

Measured on Argo 4.1.2: a tag in the source is replaced or refused; the template travels in an
environment variable, in which the kubelet turns `$$` into `$` and replaces `$(NAME)`, unless it is
larger than 128 KiB.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import warnings
from typing import TYPE_CHECKING

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

OLDEST = 7  # `from __future__ import annotations` begins with Python 3.7

# Syntax that the oldest Python lacks: a substring that must occur, and a pattern.
# Where one matches, the parser determines the required version.
_NEWER = (
    (":=", regex(":=")),
    ("/", regex(r"/\s*[,)]")),
    ("match", regex(r"(?m)^[ \t]*match\s")),
    ("type", regex(r"(?m)^[ \t]*type\s")),
    ("except", regex(r"except\s*\*|except\b[^:(\n]*,")),
    ("with", regex(r"with\s*\(")),
    ("[", regex(r"(?:def|class)\s+\w+\s*\[")),
    ('t"', regex(r'\b[tT][rR]?"')),
    ("t'", regex(r"\b[tT][rR]?'")),
)
_IN_BRACES = regex(r"\{[^{}\"'\\#\n]*[\"'\\#\n]")
_CONTROL = regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# White space that Go trims; tabs and line breaks are two characters there, because the template is JSON.
_BLANK = r"[^\S\t\n\r\f\v]*"
# Roots: common.GlobalVarValidWorkflowVariablePrefix, and what is replaced in templates with retries.
_NAME = (
    r"(?:(?:inputs|outputs|workflow|tasks|steps|item|pod|lastRetry|cronworkflow)\."
    rf"|(?:retries|node\.name){_BLANK}\Z)"
)
_TAG = regex(rf"=|{_BLANK}{_NAME}")
_NESTED = regex(_NAME)
# Variables that a container may define before ARGO_TEMPLATE: of Argo, of tracing, of the namespace's services.
_VARIABLE = (
    r"\((?:ARGO_\w+|GODEBUG|TRACEPARENT|TRACESTATE|KUBERNETES_\w+"
    r"|[A-Z]\w*_(?:SERVICE_HOST|SERVICE_PORT|PORT)\w*)\)"
)
_DOUBLED = regex(r"(?<=\$)\$")
_NAMED = regex(rf"\$(?={_VARIABLE})", re.ASCII)
_DOLLAR = regex(rf"{_DOUBLED.pattern}|{_NAMED.pattern}", re.ASCII)
_PREFIX = regex(r"([A-Za-z]*)(\"\"\"|'''|\"|')")
_FSTRING_START = getattr(tokenize, "FSTRING_START", -1)
_FSTRING_END = getattr(tokenize, "FSTRING_END", -1)


class Tag(NamedTuple):
    """A tag that Argo would evaluate: its offset, and its content."""

    offset: int
    text: str


def lowest_python(text: str) -> int:
    """The lowest 3.x whose grammar supports all the syntax of a text, as `ast.parse` can tell."""
    oldest = OLDEST if not newer_fstrings(text) else 12
    if not any(pattern.search(text) for part, pattern in _NEWER if part in text):
        return oldest
    for minor in range(oldest, sys.version_info.minor):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(text, feature_version=(3, minor))
        except SyntaxError:
            continue
        return minor
    return sys.version_info.minor


def newer_fstrings(text: str) -> dict[tuple[int, int], str]:
    """The f-strings of a text that require Python 3.12, by line and column: the new syntax in their braces.

    Older versions end an f-string at the next quote of its kind, also within braces (PEP 701).
    """
    found: dict[tuple[int, int], str] = {}
    if _FSTRING_START < 0 or not _IN_BRACES.search(text):
        return found
    opened: list[tuple[tuple[int, int], str]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        new = ""
        if opened and token.type in (tokenize.STRING, _FSTRING_START):
            if any(quotes in token.string for _, quotes in opened):
                new = "a text in the quotes of the f-string that it is in"
            elif "\\" in token.string:
                new = "a backslash in the braces of an f-string"
        elif opened and token.type == tokenize.COMMENT:
            new = "a comment in the braces of an f-string"
        elif opened and token.type == tokenize.NL and any(len(quotes) == 1 for _, quotes in opened):
            new = "a line break in the braces of an f-string"
        if new:
            found.setdefault(opened[0][0], new)
        if token.type == _FSTRING_START:
            opened.append((token.start, token.string.lstrip("fFrR")))
        elif token.type == _FSTRING_END:
            opened.pop()
    return found


def control_characters(text: str) -> Iterator[tuple[int, str]]:
    """Each character that is a control character other than tab and line break: its offset and its name."""
    for found in _CONTROL.finditer(text):
        yield found.start(), f"U+{ord(found[0]):04X}"


def argo_tags(text: str) -> Iterator[Tag]:
    """The tags that Argo finds in a text.

    A tag extends from the first two braces to the next two closing ones (valyala/fasttemplate); if that
    is no name Argo knows, the last two opening ones within it are tried (util/template/simple_template.go).
    """
    at = text.find("{{")
    while at >= 0:
        end = text.find("}}", at + 2)
        inside = text[at + 2 : end if end >= 0 else None]
        nested = inside.rfind("{{")
        if _TAG.match(inside):
            yield Tag(at, _shown(inside))
        elif nested > 0 and _NESTED.match(inside, nested + 2):
            yield Tag(at + 2 + nested, _shown(inside[nested + 2 :]))
        at = text.find("{{", end + 2) if end >= 0 else -1


def _shown(inside: str) -> str:
    line, more, _ = inside.partition("\n")
    return "{{" + line[:40] + (" ..." if more or len(line) > 40 else "}}")


def loses_dollar(text: str) -> str | None:
    """The first substring that the kubelet replaces: `$$` or `$(NAME)`; None if there is none."""
    found = re.search(rf"\$(?:\$|{_VARIABLE})", text, re.ASCII)
    return found[0] if found else None


def keep_dollars(text: str) -> tuple[str, int | None]:
    r"""An equivalent statement in which the kubelet finds no `$$` and no `$(NAME)` to replace.

    `"$$"` becomes `"$\x24"`, `r"$$"` becomes `r"$" r"$"`, and a comment gets `$ $`. The offset is that of a
    `$` that cannot be protected, in the braces of an f-string.
    """
    if not _DOLLAR.search(text):
        return text, None
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    parts: list[str] = []
    done = 0
    for start, end, nested in _literals(text, starts):
        literal = text[start:end]
        if found := _DOLLAR.search(literal):
            parts += text[done:start], _rewritten(literal)
            done = end
            if nested or not _same(text, text[:start] + parts[-1] + text[end:]):
                return text, start + found.start()
    return "".join(parts) + text[done:], None


def replaced_dollar(text: str) -> int | None:
    """The offset of the first `$` of a text that the kubelet would replace, or that precedes one."""
    found = _DOLLAR.search(text)
    return (
        None if found is None else max(0, found.start() - (1 if text[: found.start()].endswith("$") else 0))
    )


def _literals(text: str, starts: list[int]) -> Iterator[tuple[int, int, bool]]:
    """The strings and comments of a text, and whether each is inside an f-string, which comes after it.

    Before Python 3.12 an f-string is one token, and strings inside it are not visible.
    """
    opened: list[int] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        start = starts[token.start[0] - 1] + token.start[1]
        end = starts[token.end[0] - 1] + token.end[1]
        if token.type == _FSTRING_START:
            opened.append(start)
        elif token.type == _FSTRING_END:
            begun = opened.pop()
            yield begun, end, bool(opened)
        elif token.type in (tokenize.STRING, tokenize.COMMENT):
            yield start, end, bool(opened)


def _rewritten(literal: str) -> str:
    if literal.startswith("#"):
        return _NAMED.sub("$ ", _DOUBLED.sub(" $", literal))
    found = _PREFIX.match(literal)
    assert found is not None, "a string literal begins with its quotes"
    prefix, quotes = found.groups()
    if "r" not in prefix.lower():
        return _DOLLAR.sub(r"\\x24", literal)
    again = f"{quotes} {prefix}{quotes}"
    return _NAMED.sub("$" + again, _DOUBLED.sub(again + "$", literal))


def _same(text: str, other: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.dump(ast.parse(text)) == ast.dump(ast.parse(other))
    except SyntaxError:
        return False
