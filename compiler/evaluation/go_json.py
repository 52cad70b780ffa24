"""The error messages of Go's encoding/json for invalid JSON.

Source: encoding/json/scanner.go of Go 1.25. A text is scanned here only after Python has rejected it.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from flowdsl.compiler.evaluation.go_quote import quoted_rune

_SPACES = " \t\r\n"
_ESCAPED = '"\\\\/bfnrt'
_HEXADECIMAL = "0123456789abcdefABCDEF"


class JsonError(ValueError):
    """A text that is not JSON, with Go's message."""


def loads(text: str, **more: Any) -> Any:
    """Parse a JSON text. Raises JsonError."""
    try:
        return json.loads(text, parse_constant=_refused, **more)
    except ValueError:
        raise JsonError(_Scan(text).fault()) from None


def _refused(name: str) -> Any:
    """Refuse NaN and infinities, which Python accepts as JSON."""
    raise ValueError(name)


class _Fault(Exception):
    """The first syntax error in a text."""


class _Scan:
    """A scanner that stops at the first syntax error."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def fault(self) -> str:
        """The message for the first syntax error."""
        try:
            self._value()
            self._spaces()
            self._wrong("after top-level value")
        except _Fault as fault:
            return str(fault)

    def _wrong(self, context: str, *, inside: bool = False) -> NoReturn:
        """Report an unexpected character; inside a word or a number the end counts as a space."""
        if self.at >= len(self.text) and not inside:
            raise _Fault("unexpected end of JSON input")
        sign = self.text[self.at : self.at + 1] or " "
        first = sign if sign.isascii() else chr(sign.encode()[0])
        raise _Fault(f"invalid character {quoted_rune(first)} {context}")

    def _spaces(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in _SPACES:
            self.at += 1

    def _next(self, wanted: str, context: str, *, inside: bool = True) -> str:
        """Consume the next character, which must be one of those wanted."""
        if self.at >= len(self.text) or self.text[self.at] not in wanted:
            self._wrong(context, inside=inside)
        self.at += 1
        return self.text[self.at - 1]

    def _sees(self, wanted: str) -> bool:
        return self.at < len(self.text) and self.text[self.at] in wanted

    def _value(self) -> None:
        self._spaces()
        if self._sees("{"):
            self._object()
        elif self._sees("["):
            self._list()
        elif self._sees('"'):
            self._string()
        elif self._sees("-0123456789"):
            self._number()
        else:
            word = next((one for one in ("true", "false", "null") if self._sees(one[0])), None)
            if word is None:
                self._wrong("looking for beginning of value")
            self._word(word)

    def _word(self, word: str) -> None:
        self.at += 1
        for sign in word[1:]:
            self._next(sign, f"in literal {word} (expecting {quoted_rune(sign)})")

    def _list(self) -> None:
        self.at += 1
        self._spaces()
        if self._sees("]"):
            self.at += 1
            return
        while True:
            self._value()
            self._spaces()
            if self._next(",]", "after array element", inside=False) == "]":
                return

    def _object(self) -> None:
        self.at += 1
        self._spaces()
        if self._sees("}"):
            self.at += 1
            return
        while True:
            self._spaces()
            if not self._sees('"'):
                self._wrong("looking for beginning of object key string")
            self._string()
            self._spaces()
            self._next(":", "after object key", inside=False)
            self._value()
            self._spaces()
            if self._next(",}", "after object key:value pair", inside=False) == "}":
                return

    def _string(self) -> None:
        self.at += 1
        while not self._sees('"'):
            if self.at >= len(self.text) or self.text[self.at] < " ":
                self._wrong("in string literal")
            self.at += 1
            if self.text[self.at - 1] == "\\" and self._next(f"{_ESCAPED}u", "in string escape code") == "u":
                for _ in range(4):
                    self._next(_HEXADECIMAL, "in \\u hexadecimal character escape")
        self.at += 1

    def _number(self) -> None:
        if self._sees("-"):
            self.at += 1
        if self._next("0123456789", "in numeric literal") != "0":
            self._digits()
        if self._sees("."):
            self.at += 1
            self._next("0123456789", "after decimal point in numeric literal")
            self._digits()
        if self._sees("eE"):
            self.at += 1
            if self._sees("+-"):
                self.at += 1
            self._next("0123456789", "in exponent of numeric literal")
            self._digits()

    def _digits(self) -> None:
        while self._sees("0123456789"):
            self.at += 1
