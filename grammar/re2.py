"""Translates regular expressions of Go (RE2) to patterns of Python's `re`.

Source: regexp/syntax of Go 1.25, with the flags of `regexp.Compile`. Go has no lookaround and no backreferences; its
character classes are ASCII; `$` matches only at the very end of the text.
"""

from __future__ import annotations

import re
import string
import sys
from functools import lru_cache
from typing import TYPE_CHECKING

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator


class RegexError(ValueError):
    """A pattern that Go rejects, in its words: `code` says what is wrong, `part` where."""

    def __init__(self, code: str, part: str) -> None:
        super().__init__(f"error parsing regexp: {code}: `{part}`")
        self.code = code
        self.part = part


class UnknownClass(ValueError):
    """A character class by the name of a script, for which Python has no table."""


Range = tuple[int, int]
_MOST = 1000
"""The highest repeat count."""
_DIGIT: tuple[Range, ...] = ((0x30, 0x39),)
_SPACE: tuple[Range, ...] = ((0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20))
_UPPER, _LOWER = (0x41, 0x5A), (0x61, 0x7A)
_WORD: tuple[Range, ...] = (*_DIGIT, _UPPER, (0x5F, 0x5F), _LOWER)
_PERL = {"d": _DIGIT, "s": _SPACE, "w": _WORD}
_POSIX: dict[str, tuple[Range, ...]] = {
    "alnum": (*_DIGIT, _UPPER, _LOWER),
    "alpha": (_UPPER, _LOWER),
    "ascii": ((0x00, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0x00, 0x1F), (0x7F, 0x7F)),
    "digit": _DIGIT,
    "graph": ((0x21, 0x7E),),
    "lower": (_LOWER,),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "upper": (_UPPER,),
    "word": _WORD,
    "xdigit": (*_DIGIT, (0x41, 0x46), (0x61, 0x66)),
}
_ASSERTIONS = {"A": r"\A", "b": r"(?a:\b)", "B": r"(?:(?a:\B)|\A\Z)", "z": r"\Z"}
_CONTROL = {"a": 0x07, "f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_REPEAT = regex(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_FLAGS = regex(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
_NAME = regex(r"\w+", re.ASCII)
_CATEGORY = regex(r"\\[pP](?:\{(\^?)([^}]*)\}|([^{]))")
_OCTAL = regex(r"\\(0[0-7]{0,2}|[1-7][0-7]{1,2})")
_HEXADECIMAL = regex(r"\\x(?:\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2}))")


class _Atom(NamedTuple):
    """An operand of a repetition: its pattern, and where it begins in the text."""

    pattern: str
    at: int
    repeated: bool = False


@lru_cache(256)
def pattern_of(text: str) -> re.Pattern[str]:
    """A Python pattern that matches what Go's expression matches. Raises RegexError and UnknownClass."""
    return re.compile(_Reader(text).pattern())


class _Reader:
    """A parser of a pattern."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at: int = 0
        self.flags = frozenset[str]()
        self.outer: list[frozenset[str]] = []
        self.atoms: list[list[_Atom]] = [[]]  # of each open group
        self.heads: list[tuple[str, int]] = []
        self.names: set[str] = set()

    def pattern(self) -> str:
        """Parse the whole pattern."""
        while self.at < len(self.text):
            self._next()
        if self.heads:
            raise RegexError("missing closing )", self.text)
        return _joined(self.atoms[0])

    def _next(self) -> None:
        sign, start = self.text[self.at], self.at
        if sign == "(":
            self._open()
        elif sign == ")":
            self._close()
        elif sign in "*+?":
            self.at += 1
            self._repeat(sign, start)
        elif sign == "{" and (match := _REPEAT.match(self.text, self.at)):
            self.at = match.end()
            least, most = int(match[1]), int(match[3]) if match[3] else -1 if match[2] else int(match[1])
            if max(least, most) > _MOST or 0 <= most < least:
                raise RegexError("invalid repeat count", match[0])
            self._repeat(match[0], start)
        elif sign == "|":
            self.at += 1
            self.atoms[-1].append(_Atom("|", start))
        elif sign == "[":
            self._add(self._class(), start)
        elif sign == "\\":
            self._escape()
        else:
            self.at += 1
            several = "m" in self.flags
            signs = {
                ".": "(?s:.)" if "s" in self.flags else ".",
                "^": "(?m:^)" if several else r"\A",
                "$": "(?m:$)" if several else r"\Z",
            }
            self._add(signs.get(sign) or self._literal(sign), start)

    def _add(self, pattern: str, start: int) -> None:
        self.atoms[-1].append(_Atom(pattern, start))

    def _literal(self, sign: str) -> str:
        return self._folding(re.escape(sign)) if sign.isalpha() else re.escape(sign)

    def _folding(self, pattern: str) -> str:
        return f"(?i:{pattern})" if "i" in self.flags else pattern

    # --- groups and repetition --------------------------------------------------------------------

    def _open(self) -> None:
        start = self.at
        head, flags = "(", self.flags
        rest = self.text[start:]
        if (rest.startswith("(?P<") and len(rest) > 4) or (rest.startswith("(?<") and len(rest) > 3):
            whole, closed, _ = rest.partition(">")
            name = whole.partition("<")[2]
            if not closed or not _NAME.fullmatch(name):
                raise RegexError("invalid named capture", whole + closed)
            if name.isidentifier() and name not in self.names:
                head = f"(?P<{name}>"
            self.names.add(name)
            self.at += len(whole) + 1
        elif match := _FLAGS.match(self.text, start):
            self.at = match.end()
            flags = flags.union(match[1]).difference(match[2] or "")
            if match[3] == ")":
                self.flags = flags
                if self.atoms[-1]:  # the next operator repeats once more
                    self.atoms[-1][-1] = self.atoms[-1][-1]._replace(repeated=False)
                return
            head = "(?:"
        elif rest.startswith("(?"):
            known = re.match(r"\(\?[imsU]*(?:-[imsU]*)?.?", rest, re.DOTALL)
            raise RegexError("invalid or unsupported Perl syntax", known[0] if known else rest)
        else:
            self.at += 1
        self._deeper(head, start, flags)

    def _deeper(self, head: str, start: int, flags: frozenset[str]) -> None:
        self.outer.append(self.flags)
        self.flags = flags
        self.heads.append((head, start))
        self.atoms.append([])

    def _close(self) -> None:
        if not self.heads:
            raise RegexError("unexpected )", self.text)
        self.at += 1
        head, start = self.heads.pop()
        self.flags = self.outer.pop()
        inner = _joined(self.atoms.pop())
        self._add(f"{head}{inner})", start)

    def _repeat(self, sign: str, start: int) -> None:
        before = self.atoms[-1][-1] if self.atoms[-1] else None
        lazy = self.text.startswith("?", self.at)
        self.at += lazy
        if before is None or before.pattern == "|":
            raise RegexError("missing argument to repetition operator", self.text[start : self.at])
        if before.repeated:
            raise RegexError("invalid nested repetition operator", self.text[before.at : self.at])
        if "U" in self.flags:
            lazy = not lazy
        whole = f"(?:{before.pattern}){sign}{'?' if lazy else ''}"
        self.atoms[-1][-1] = _Atom(whole, start, repeated=True)

    # --- characters and classes -------------------------------------------------------------------

    def _escape(self) -> None:
        start = self.at
        sign = self.text[start + 1 : start + 2]
        if sign in _ASSERTIONS:
            self.at += 2
            self._add(_ASSERTIONS[sign], start)
        elif sign == "Q":
            literal, _, _ = self.text[start + 2 :].partition("\\E")
            self.at = min(len(self.text), start + 4 + len(literal))
            for offset, one in enumerate(literal):
                self._add(self._literal(one), start + 2 + offset)
        elif (ranges := self._named_class()) is not None:
            self._add(self._of(ranges, inverted=False), start)
        else:
            self._add(self._literal(chr(self._code())), start)

    def _named_class(self) -> list[Range] | None:
        r"""The class of an escape such as `\d` or `\pL`, if it is one."""
        sign = self.text[self.at + 1 : self.at + 2]
        if sign.lower() in _PERL:
            self.at += 2
            ranges = [*_PERL[sign.lower()]]
            return _inverted(ranges) if sign.isupper() else ranges
        if sign not in ("p", "P"):
            return None
        match = _CATEGORY.match(self.text, self.at)
        if match is None:
            raise RegexError("invalid character class range", self.text[self.at :])
        self.at = match.end()
        ranges = _category(match[2] or match[3], match[0])
        return _inverted(ranges) if (sign == "P") != bool(match[1]) else ranges

    def _code(self) -> int:
        """The character of an escape."""
        text, start = self.text, self.at
        if start + 1 >= len(text):
            raise RegexError("trailing backslash at end of expression", "")
        sign = text[start + 1]
        if sign in _CONTROL:
            self.at += 2
            return _CONTROL[sign]
        if match := _OCTAL.match(text, start):
            self.at = match.end()
            return int(match[1], 8)
        if sign == "x":
            return self._hexadecimal()
        if ord(sign) < 0x80 and not sign.isalnum():
            self.at += 2
            return ord(sign)
        raise RegexError("invalid escape sequence", text[start : start + 2])

    def _hexadecimal(self) -> int:
        r"""The character of an escape such as `\x41` or `\x{1f600}`."""
        text, start = self.text, self.at
        match = _HEXADECIMAL.match(text, start)
        if match is not None and (code := int(match[1] or match[2], 16)) <= sys.maxunicode:
            self.at = match.end()
            return code
        at, code = start + 2, 0
        while at < len(text):
            at += 1
            if (at == start + 3 and text[at - 1] == "{") or text[at - 1] in string.hexdigits:
                code = code * 16 + int(text[at - 1].replace("{", "0"), 16)
                if code <= sys.maxunicode:
                    continue
            break
        raise RegexError("invalid escape sequence", text[start:at])

    def _class(self) -> str:
        text, start = self.text, self.at
        self.at += 1
        inverted = text.startswith("^", self.at)
        self.at += inverted
        ranges: list[Range] = []
        first = True
        while first or not text.startswith("]", self.at):
            if self.at >= len(text):
                raise RegexError("missing closing ]", text[start:])
            first = False
            if text.startswith("[:", self.at) and (end := text.find(":]", self.at + 2)) >= 0:
                name = text[self.at + 2 : end]
                known = _POSIX.get(name.removeprefix("^"))
                if known is None:
                    raise RegexError("invalid character class range", text[self.at : end + 2])
                self.at = end + 2
                ranges += _inverted([*known]) if name.startswith("^") else known
            elif text[self.at] == "\\" and (named := self._named_class()) is not None:
                ranges += named
            else:
                ranges.append(self._range(start))
        self.at += 1
        return self._of(ranges, inverted=inverted)

    def _range(self, start: int) -> Range:
        begin = self.at
        low = high = self._one(start)
        if self.text.startswith("-", self.at) and self.text[self.at + 1 : self.at + 2] not in ("", "]"):
            self.at += 1
            high = self._one(start)
        if high < low:
            raise RegexError("invalid character class range", self.text[begin : self.at])
        return low, high

    def _one(self, start: int) -> int:
        if self.at >= len(self.text):
            raise RegexError("missing closing ]", self.text[start:])
        if self.text[self.at] == "\\":
            return self._code()
        self.at += 1
        return ord(self.text[self.at - 1])

    def _of(self, ranges: list[Range], *, inverted: bool) -> str:
        body = "".join(
            _shown(low) if low == high else f"{_shown(low)}-{_shown(high)}" for low, high in ranges
        )
        if not body:
            return "(?s:.)" if inverted else "(?!)"
        return self._folding(f"[{'^' if inverted else ''}{body}]")


def _joined(atoms: list[_Atom]) -> str:
    return "".join(atom.pattern for atom in atoms)


def _shown(code: int) -> str:
    return f"\\U{code:08x}"


def _inverted(ranges: list[Range]) -> list[Range]:
    """All other characters."""
    found: list[Range] = []
    begin = 0
    for low, high in sorted(ranges):
        if low > begin:
            found.append((begin, low - 1))
        begin = max(begin, high + 1)
    if begin <= sys.maxunicode:
        found.append((begin, sys.maxunicode))
    return found


@lru_cache(32)
def _ranges(category: str) -> tuple[Range, ...]:
    """The characters of a Unicode category, such as `L` or `Lu`."""
    import unicodedata

    found: list[Range] = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)).startswith(category):
            if found and found[-1][1] == code - 1:
                found[-1] = (found[-1][0], code)
            else:
                found.append((code, code))
    return tuple(found)


def _category(name: str, whole: str) -> list[Range]:
    if name == "Any":
        return [(0, sys.maxunicode)]
    if re.fullmatch("[CLMNPSZ][a-z]?", name) and (ranges := _ranges(name)):
        return [*ranges]
    if re.fullmatch("[A-Z][a-z_A-Z]{2,}", name):
        raise UnknownClass(f"the signs of {name} are not known here")
    raise RegexError("invalid character class range", whole)


def matches(pattern: str, text: str) -> Iterator[re.Match[str]]:
    """The matches of a pattern in a text, in order; no empty match directly follows another match.

    Raises RegexError and UnknownClass.
    """
    made = pattern_of(pattern)
    at, last = 0, -1
    while at <= len(text) and (match := made.search(text, at)) is not None:
        empty = match.end() == match.start()
        if not empty or match.end() != last:
            yield match
        last = match.end()
        at = last + empty
