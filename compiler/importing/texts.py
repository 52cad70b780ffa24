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
    """Pieces as the text of an f-string."""
    parts = [*_opened(parts)]
    if all(isinstance(part, str) for part in parts):
        return write("".join(part for part in parts if isinstance(part, str)), "")
    written: list[str] = []
    codes: list[str] = []
    for part in parts:
        if isinstance(part, str):
            written.append(part.replace("{", "{{").replace("}", "}}"))
        else:
            code = in_text(part.code)
            codes.append(code if "'" in code else code.replace('"', "'"))
            written.append(f"\0{len(codes) - 1}\0")
    text = write("".join(written).replace("\0", "\uf8ff"), "f")
    for index, code in enumerate(codes):
        text = text.replace(f"\uf8ff{index}\uf8ff", f"{{{code}}}", 1).replace(
            f"\\uf8ff{index}\\uf8ff", f"{{{code}}}", 1
        )
    return text


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
