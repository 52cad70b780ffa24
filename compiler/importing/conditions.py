"""Converts `when` conditions to expressions of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.importing.expressions import asked, literal, truth
from flowdsl.compiler.importing.ports import is_number
from flowdsl.compiler.importing.tagged import pieces
from flowdsl.compiler.importing.texts import joined
from flowdsl.grammar import govaluate
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.template import masked, tags

if TYPE_CHECKING:
    from flowdsl.compiler.importing.model import Asked, Value
    from flowdsl.compiler.importing.reading import Scope
    from flowdsl.compiler.tree import Path


def condition(text: str, scope: Scope, path: Path) -> Asked | bool | None:
    """The condition of a `when`; a bool if it is constant, None if it cannot be expressed."""
    whole = tags(text.strip())
    try:
        if len(whole) == 1 and whole[0].kind == "expression" and len(text.strip()) == whole[0].end:
            return truth(whole[0].body, scope)
        return asked(govaluate.parse(masked(text)), lambda node: _side(node, text, scope, path))
    except GrammarError:
        return None


def _side(node: object, text: str, scope: Scope, path: Path) -> Value | None:
    """An operand of a comparison of govaluate."""
    match node:
        case govaluate.Text(value, is_quoted, start, end):
            inner = text[start + 1 : end - 1] if is_quoted else text[start:end]
            return _tagged(inner, scope, path) if tags(inner) else literal(value)
        case govaluate.Number(value, start, end):
            written = text[start:end]
            return literal(written if is_number(written) else f"{value:.17g}")
        case govaluate.Unary("-", govaluate.Number() as positive):
            found = _side(positive, text, scope, path)
            return None if found is None else literal(f"-{found.exact}")
        case govaluate.Flag(flag):
            return literal("true" if flag else "false")
        case _:
            return None


def _tagged(text: str, scope: Scope, path: Path) -> Value | None:
    """A text with tags; None if one of them cannot be expressed."""
    found = tags(text)
    if len(found) == 1 and (found[0].start, found[0].end) == (0, len(text)) and found[0].kind == "simple":
        return scope.variable(found[0].path)
    simple = all(tag.kind == "simple" for tag in found)
    return joined(pieces(text, scope, path)) if not simple or scope.sayable(text) else None
