"""Writes texts with values in them as Python: literals and f-strings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.importing.layout import flat, quoted
from flowdsl.compiler.importing.model import Value
from flowdsl.compiler.importing.ports import Port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.model import Render

    Piece = str | Value


_QUOTES = {'"': "'", "'": '"'}
"""Each quote, and the other one."""


def joined(parts: list[Piece]) -> Value:
    """Pieces as one value: a text, one variable, or an f-string."""
    if all(isinstance(part, str) for part in parts):
        text = "".join(part for part in parts if isinstance(part, str))
        return Value(lambda: quoted(text), Port(), text)
    if len(parts) == 1 and isinstance(parts[0], Value):
        return parts[0]
    for part in parts:
        if isinstance(part, Value) and part.port is not None:
            part.port.asked(shown=True)
    return Value(lambda: formatted(parts), Port(unknown=True, text=True), pieces=tuple(parts))


def formatted(parts: list[Piece], write: Callable[[str, str], str] = quoted) -> str:
    """Pieces as an f-string, or a call of `format`."""
    parts = [*_opened(parts)]
    if all(isinstance(part, str) for part in parts):
        return write("".join(part for part in parts if isinstance(part, str)), "")
    values = [part for part in parts if isinstance(part, Value)]
    numbers = iter(range(len(values)))
    marked = "".join(
        part.replace("{", "{{").replace("}", "}}")
        if isinstance(part, str)
        else f"\uf8ff{next(numbers)}\uf8ff"
        for part in parts
    )
    text = write(marked, "f")
    around = next(sign for sign in text if sign in _QUOTES)
    codes = [_quoted_apart(in_text(one.code), around) for one in values]
    # Before Python 3.12, the code in an f-string has neither backslashes nor the quotes around it.
    apart = any(around in code or "\\" in code for code in codes)
    if apart:
        text = write(marked, "")
    for index, code in enumerate(codes):
        inner = "{}" if apart else f"{{{code}}}"
        text = text.replace(f"\uf8ff{index}\uf8ff", inner, 1).replace(f"\\uf8ff{index}\\uf8ff", inner, 1)
    return f"{text}.format({', '.join(codes)})" if apart else text


def _quoted_apart(code: str, around: str) -> str:
    """Code with other quotes than those around it, if it has only these."""
    other = _QUOTES[around]
    return code if other in code or "\\" in code else code.replace(around, other)


def _opened(parts: Iterable[Piece]) -> Iterator[Piece]:
    """Pieces, with those of texts among them: an f-string within another is hard to read, and often no Python."""
    for part in parts:
        if isinstance(part, Value) and part.pieces:
            yield from _opened(part.pieces)
        else:
            yield part


def in_text(code: Render) -> str:
    """A piece of code within the braces of an f-string."""
    return flat(code())


def constant(code: Code) -> Render:
    """A constant piece of code."""
    return lambda: code
