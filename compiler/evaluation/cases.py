"""Conversion of names: `FirstName` to `first_name` and back. Source: github.com/huandu/xstrings 1.5.0, convert.go."""

from __future__ import annotations

import unicodedata

from flowdsl.compiler.evaluation.functions import SPACES, cased
from flowdsl.grammar.named import NamedTuple

_CHINESE = (("\u4e00", "\u9fcc"), ("\u3400", "\u4d85"), ("\U00020000", "\U0002b81d"))
_NONE, _NUMBER, _UPPER, _LETTERS, _CONNECTOR, _POINT, _OTHER = range(7)
_ENDS = (_NONE, _CONNECTOR, _POINT)


class _Word(NamedTuple):
    kind: int
    text: str


def separated(text: str, sign: str) -> str:
    """A name in lower case with a separator between its words (camelCaseToLowerCase)."""
    words = [*_words(text), _Word(_NONE, "")]
    parts: list[str] = []

    def put(word: _Word) -> None:
        parts.append(_small(word, sign))

    def rest_of_number(at: int) -> int:
        while words[at].kind in (_LETTERS, _NUMBER):
            put(words[at])
            at += 1
        return at

    at = 0
    while at < len(words) - 1:
        word, at = words[at], at + 1
        put(word)
        if word.kind == _NUMBER:
            at = rest_of_number(at)
        elif word.kind in (_CONNECTOR, _POINT):
            continue
        elif words[at].kind == _NUMBER:
            if at + 2 == len(words):  # a number at the end belongs to the word before it
                continue
            number, at = words[at], at + 1
            if words[at].kind == _LETTERS:
                parts.append(sign)
            put(number)
            if words[at].kind == _LETTERS:
                at = rest_of_number(at)
        if words[at].kind not in _ENDS:
            parts.append(sign)
    return "".join(parts)


def pascal(text: str) -> str:
    """A name with a capital at the start of each word, and nothing between them (ToPascalCase)."""
    start = next((at for at, sign in enumerate(text) if not _connects(sign)), len(text))
    if start == len(text):
        return text + text[-1:]  # a text of only connectors has its last one twice
    parts, last = [text[:start]], cased(text[start], str.upper)
    capitals = _kind(text[start]) == _UPPER
    for sign in text[start + 1 :]:
        if _connects(sign) and _connects(last):
            parts.append(last)
            continue
        one = sign
        if _connects(last):
            capitals = _kind(sign) == _UPPER
            one = cased(sign, str.upper)
        else:
            if capitals and _kind(sign) == _UPPER:
                one = cased(sign, str.lower)
            elif capitals:
                capitals = False
            parts.append(last)
        last = one
    return "".join([*parts, last])


def _connects(sign: str) -> bool:
    return sign in "-_" or sign in SPACES


def _kind(sign: str) -> int:
    if _connects(sign):
        return _CONNECTOR
    category = unicodedata.category(sign)
    if category == "Lu":
        return _UPPER
    kinds = {"P": _POINT, "N": _NUMBER, "L": _LETTERS}
    found = kinds.get(category[0], _OTHER)
    if found == _LETTERS and any(first <= sign <= last for first, last in _CHINESE):
        return _OTHER
    return found


def _words(text: str) -> list[_Word]:
    """The parts of a name (nextWord)."""
    kinds = [_kind(sign) for sign in text]
    found: list[_Word] = []
    at = 0
    while at < len(text):
        kind, end = kinds[at], at + 1
        following = kinds[end] if end < len(text) else _NONE
        if kind == _UPPER and following == _LETTERS:
            end = _end(kinds, end, _LETTERS)
        elif kind == _UPPER and following == _UPPER:
            end = _end(kinds, end, _UPPER)
            if end < len(text) and kinds[end] == _LETTERS:
                end -= 1
        elif kind == _OTHER:
            while end < len(text) and kinds[end] == _OTHER:
                end += 1
        elif kind != _UPPER:
            end = _end(kinds, end, kind)
        found.append(_Word(kind, text[at:end]))
        at = end
    return found


def _end(kinds: list[int], at: int, kind: int) -> int:
    while at < len(kinds) and kinds[at] == kind:
        at += 1
    return at


def _small(word: _Word, sign: str) -> str:
    if word.kind == _CONNECTOR:
        return sign * len(word.text)
    return cased(word.text, str.lower) if word.kind == _UPPER else word.text
