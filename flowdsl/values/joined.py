"""Texts with values of the run in them, as expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.tracing.trace import DAMAGED, current, parts
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Expr, Join, Poison

if TYPE_CHECKING:
    from collections.abc import Iterable

# Argo quotes a substituted value in a way that JSON cannot parse for these (argo-workflows #15512).
CONTROL = {chr(code) for code in range(32)} - {"\t", "\n", "\r"} | {"\x7f"}


def text(value: str) -> Expr:
    """A text as an expression: a constant, or the values of its tokens joined with the literal parts.

    A value whose text differs from Python's is reported where it was inserted.
    """
    value = str.__str__(value)  # a member of a StrEnum becomes its text
    return join(parts(value, current())) if "{{" in value else Const(value, t.TEXT)


def join(pieces: Iterable[str | Expr]) -> Expr:
    """The concatenation of texts and values; adjacent literals are merged."""
    flat: list[str | Expr] = []
    for piece in pieces:
        if isinstance(piece, Poison):
            return piece
        for part in piece.parts if isinstance(piece, Join) else (piece,):
            one: str | Expr = part.value if isinstance(part, Const) else part
            if isinstance(one, str) and flat and isinstance(flat[-1], str):
                flat[-1] += one
            elif one != "":
                flat.append(one)
    match flat:
        case []:
            return Const("", t.TEXT)
        case [str() as literal]:
            return Const(literal, t.TEXT)
        case [only] if not isinstance(only, str) and isinstance(only.type, t.Text):
            return only
        case _:
            return Join(tuple(flat))


def literals(made: Expr) -> list[str]:
    """The literal parts of a text."""
    if isinstance(made, Join):
        return [part for part in made.parts if isinstance(part, str)]
    return [made.value] if isinstance(made, Const) else []


def flaw_of(made: Expr, nested: bool) -> tuple[str, dict[str, str]] | None:
    """The mistake in the literal parts of a text: its kind and data."""
    for literal in literals(made):
        if DAMAGED.search(literal):
            return "DamagedText", {}
        if nested and isinstance(made, Const):
            continue
        if "{{" in literal:
            from flowdsl.grammar.template import is_filled

            if is_filled(literal):
                return "LiteralBraces", {"text": literal}
        if not CONTROL.isdisjoint(literal):
            return "ControlCharacter", {"text": repr(literal)}
    return None
