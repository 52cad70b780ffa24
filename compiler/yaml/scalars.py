"""Where each character of a YAML scalar stands in the source: behind escapes, indentation and folded lines."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Made = tuple[str, int]
"""The value of a piece of the source, and the offset of the piece."""

_BREAK = r"(?:\r\n|[\n\r\x85\u2028\u2029])"
_FOLD = regex(rf"[ \t]*({_BREAK}(?:[ \t]*{_BREAK})*)[ \t]*")
_JOIN = regex(rf"{_BREAK}[ \t]*")
_LINES = regex(rf"([^\n\r\x85\u2028\u2029]*)({_BREAK}|\Z)")
_PROPERTIES = regex(r"(?:[&!]\S*\s+)+")
_HEADER = regex(r"[|>][-+]?([1-9])?[-+]?[ \t]*(?:#[^\n]*)?\n")
_ESCAPE = regex(
    r"\\(?:[uU][dD][89abAB][0-9a-fA-F]{2}\\[uU][dD][c-fC-F][0-9a-fA-F]{2}|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})"
    r"|U([0-9a-fA-F]{8})|.)",
    re.DOTALL,
)


@lru_cache(maxsize=1)  # many findings may be in one long text
def positions(source: str, style: str | None, value: str) -> list[int] | None:
    """The offset in `source` of each character of a scalar's value, and of the end of the value.

    `source` is the scalar with its anchor and tag, `style` is its indicator: a quote, `|`, `>` or none.
    None if the characters are not in the source as they are in the value.
    """
    properties = _PROPERTIES.match(source)
    start = properties.end() if properties is not None else 0
    if style in ("|", ">"):
        return _block(source, start, value)
    if style in ("'", '"'):
        return _flow(source, start + 1, len(source) - 1, style, value)
    return _flow(source, start, len(source), "", value)


def _flow(source: str, at: int, end: int, quote: str, value: str) -> list[int] | None:
    made = list(_QUOTED.get(quote, _plain)(source, at, end))
    found: list[int] = []
    for text, offset in made:
        found += [offset] * len(text)
    found.append(end)
    return found if "".join(text for text, _ in made) == value else None


def _read(source: str, at: int, end: int) -> tuple[str, int]:
    """The next character, and its end: a line break and the blanks around it are a space, or the line ends after it."""
    if source[at] in " \t\n\r\x85\u2028\u2029" and (fold := _FOLD.match(source, at, end)) is not None:
        return "\n" * (len(re.findall(_BREAK, fold[1])) - 1) or " ", fold.end()
    return source[at], at + 1


def _plain(source: str, at: int, end: int) -> Iterator[Made]:
    while at < end:
        text, behind = _read(source, at, end)
        yield text, at
        at = behind


def _single(source: str, at: int, end: int) -> Iterator[Made]:
    skipped = -1
    for made in _plain(source, at, end):
        if made[1] == skipped:
            continue
        yield made
        if made[0] == "'":  # a doubled quote
            skipped = made[1] + 1


def _double(source: str, at: int, end: int) -> Iterator[Made]:
    while at < end:
        if source[at] == "\\":
            if (join := _JOIN.match(source, at + 1, end)) is not None:
                at = join.end()
            elif (escape := _ESCAPE.match(source, at, end)) is not None:
                yield _unescaped(escape), at
                at = escape.end()
            else:
                return
        else:
            text, behind = _read(source, at, end)
            yield text, at
            at = behind


_QUOTED: dict[str, Callable[[str, int, int], Iterator[Made]]] = {"'": _single, '"': _double}


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    if code is not None:
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else ""
    if len(escape[0]) > 2:  # a surrogate pair of JSON
        high, low = int(escape[0][2:6], 16), int(escape[0][8:12], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    return _ESCAPED.get(escape[0][1], escape[0][1])


_ESCAPED = {
    **dict(zip("0abtnvfre", "\0\a\b\t\n\v\f\r\x1b", strict=True)),
    "\t": "\t",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}


def _block(source: str, start: int, value: str) -> list[int] | None:
    header = _HEADER.match(source, start)
    if header is None:
        return None
    lines = [(match[1], match.start()) for match in _LINES.finditer(source, header.end())]
    first = next((text for text, _ in lines if text.strip(" ")), "")
    indent = len(first) - len(first.lstrip(" "))
    if header[1] is None:
        return _aligned(lines, indent, value)
    # The indicator is relative to the parent's indentation, which is unknown here: any that fits is right.
    tries = (_aligned(lines, each, value) for each in range(indent, -1, -1))
    return next((found for found in tries if found is not None), None)


def _aligned(lines: list[tuple[str, int]], indent: int, value: str) -> list[int] | None:
    """Each line of the source is a literal part of the value, separated by line breaks, or one space."""
    found: list[int] = []
    last = lines[0][1]
    for text, offset in lines:
        if text[:indent].strip(" "):
            break  # a comment after the block
        kept = text[indent:]
        if not kept:
            continue
        gap = len(found)
        while value.startswith("\n", gap):
            gap += 1
        if gap == len(found) and found and not value.startswith(kept, gap):
            gap += 1
        if not value.startswith(kept, gap):
            return None
        found += [last] * (gap - len(found))
        found += range(offset + indent, offset + len(text))
        last = offset + len(text)
    if value[len(found) :].strip("\n"):
        return None
    return found + [last] * (len(value) - len(found) + 1)
