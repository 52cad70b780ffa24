"""LALR parsers made by lark from the grammar files of this package: built once, with errors of one form."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.error import GrammarError

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    from lark import Token, Tree


class Lalr:
    """The parser of a grammar file.

    `instead` says what is allowed in place of the invalid part, given the names of the terminals that the grammar
    would accept there; the part is a token, or what `junk` matches. An `unreadable`, if given, is called
    instead for text that is not a token, with the rest of the text. With `contextual`, only terminals are matched
    that the grammar would accept.
    """

    def __init__(
        self,
        file: str,
        instead: Callable[[str, frozenset[str]], str],
        unreadable: Callable[[str, frozenset[str]], str] | None = None,
        *,
        junk: re.Pattern[str] | None = None,
        contextual: bool = False,
    ) -> None:
        from lark import Lark

        grammar = Path(__file__).with_name(file).read_text(encoding="utf-8")
        self._parser: Any = Lark(
            grammar,
            parser="lalr",
            lexer="contextual" if contextual else "basic",
            maybe_placeholders=True,
            propagate_positions=True,
        )
        self._instead = instead
        self._unreadable = unreadable
        self._junk = junk
        self._contextual = contextual

    def parse(self, text: str) -> Tree[Token]:
        """Parse a text. Raises GrammarError."""
        from lark.exceptions import UnexpectedCharacters, UnexpectedToken

        try:
            tree: Tree[Token] = self._parser.parse(text)
        except UnexpectedCharacters as error:
            unknown: Any = error
            start: int = unknown.pos_in_stream or 0
            allowed = frozenset[str](unknown.interactive_parser.accepts())
            end = self._end(text, start, start + 1)
            if self._unreadable is None:
                expected = self._instead(text[start:end], allowed)
            else:
                expected = self._unreadable(text[start:], allowed)
            raise GrammarError(text, start, end, expected) from None
        except UnexpectedToken as error:
            token: Token = error.token
            start = len(text) if token.type == "$END" else token.start_pos or 0
            end = len(text) if token.type == "$END" else start + len(token)
            if self._contextual:  # the token belongs to another context
                end = self._end(text, start, end)
            expected = self._instead(text[start:end], frozenset(error.accepts or ()))
            raise GrammarError(text, start, end, expected) from None
        return tree

    def _end(self, text: str, start: int, otherwise: int) -> int:
        found = None if self._junk is None else self._junk.match(text, start)
        return otherwise if found is None else found.end()


MEANT = {"=": "`==`", "&": "`and`", "|": "`or`", "!": "`not` or `!=`", "{": "`(`"}
"""What stands in conditions for signs that other languages have."""


def behind(terminals: frozenset[str]) -> str:
    """What may follow in a condition, given the terminals that the grammar would accept."""
    if "COMMA" in terminals:
        return "`,` or `]`" if "RSQB" in terminals else "`,` or `)`"
    comparison = "`==`, `!=`, `<`, `<=`, `>`, `>=`, `in`, `not in`, " if "EQ" in terminals else ""
    return f"{comparison}`and` or `or`" + (" or `)`" if "RPAR" in terminals else "")


def kind_of(item: Any) -> str:
    """The rule of a tree, or the terminal of a token."""
    return str(item.data if hasattr(item, "data") else item.type)


def span(item: Any) -> tuple[int, int]:
    """The offsets of a tree or a token."""
    place = item.meta if hasattr(item, "data") else item
    return place.start_pos, place.end_pos
