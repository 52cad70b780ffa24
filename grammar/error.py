"""The exception that all parsers of this package raise."""

from __future__ import annotations


class GrammarError(ValueError):
    """Text that a grammar does not accept.

    `start` and `end` bound the invalid part, in code points of `text` from 0, the end exclusive;
    both equal the length of the text if it ends too early. `expected` is a phrase that says what
    is allowed there, and completes "expected ...".
    """

    def __init__(self, text: str, start: int, end: int, expected: str) -> None:
        super().__init__(text, start, end, expected)
        self.text = text
        self.start = start
        self.end = end
        self.expected = expected

    @property
    def found(self) -> str:
        """The invalid part; empty at the end of the text."""
        return self.text[self.start : self.end]

    @property
    def shown(self) -> str:
        """The invalid part for a message."""
        return f"`{self.found}`" if self.found else "the end"

    def __str__(self) -> str:
        return f"expected {self.expected}, found {self.shown}"
