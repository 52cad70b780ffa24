"""The parsers that lark makes from the grammar files here: built once, and their errors in the one form."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from flowdsl.grammar.error import GrammarError

if TYPE_CHECKING:
    from collections.abc import Callable

    from lark import Token, Tree


class Lalr:
    """The parser of a grammar file.

    `instead` says what may stand in place of a token, given the names of the terminals that the grammar would
    accept; `unreadable` the same of a text that begins with no token, of which `junk` is the part at fault.
    With `lexer="contextual"` only terminals are looked for that the grammar would accept.
    """

    def __init__(
        self,
        file: str,
        unreadable: Callable[[str, frozenset[str]], str],
        instead: Callable[[str, frozenset[str]], str],
        *,
        junk: re.Pattern[str] = re.compile(".", re.DOTALL),
        lexer: Literal["basic", "contextual"] = "basic",
    ) -> None:
        from lark import Lark

        grammar = Path(__file__).with_name(file).read_text(encoding="utf-8")
        self._parser: Any = Lark(
            grammar, parser="lalr", lexer=lexer, maybe_placeholders=True, propagate_positions=True
        )
        self._unreadable = unreadable
        self._instead = instead
        self._junk = junk

    def parse(self, text: str) -> Tree[Token]:
        """The tree of a text. Raises GrammarError."""
        from lark.exceptions import UnexpectedCharacters, UnexpectedToken

        try:
            tree: Tree[Token] = self._parser.parse(text)
        except UnexpectedCharacters as error:
            unknown: Any = error
            start: int = unknown.pos_in_stream or 0
            junk = self._junk.match(text, start)
            end = start + 1 if junk is None else junk.end()
            allowed = frozenset[str](unknown.interactive_parser.accepts())
            raise GrammarError(text, start, end, self._unreadable(text[start:], allowed)) from None
        except UnexpectedToken as error:
            token: Token = error.token
            at_end = token.type == "$END"
            start = len(text) if at_end else token.start_pos or 0
            found = "" if at_end else str(token)
            expected = self._instead(found, frozenset(error.accepts or ()))
            raise GrammarError(text, start, start + len(found), expected) from None
        return tree


def kind_of(item: Any) -> str:
    """The rule of a tree, or the terminal of a token."""
    return str(item.data if hasattr(item, "data") else item.type)


def span(item: Any) -> tuple[int, int]:
    """The offsets of a tree or a token."""
    place = item.meta if hasattr(item, "data") else item
    return place.start_pos, place.end_pos
