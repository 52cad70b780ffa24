"""Files from outside of the run as items of a loop: what differs between them is text, and texts can be items."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from flowdsl.expr import Const, Expr, Stored
from flowdsl.volume import Secret

if TYPE_CHECKING:
    from collections.abc import Callable

    Row = dict[str, Expr]


class Unfolded(NamedTuple):
    """The items of a loop with texts in the place of files.

    `made` gives, by parameter, the file from the texts of an item. `flaws`: parameters whose files do not
    lie in the same kind of place, and two of these places.
    """

    rows: list[Row]
    made: dict[str, Callable[[Row], Stored]]
    flaws: list[tuple[str, str, str]]


def unfolded(rows: list[Row]) -> Unfolded:
    """The items of a loop, its files taken apart."""
    names = [name for name in rows[0] if any(isinstance(row[name], Stored) for row in rows)]
    if not names:
        return Unfolded(rows, {}, [])
    rows = [dict(row) for row in rows]
    made: dict[str, Callable[[Row], Stored]] = {}
    flaws: list[tuple[str, str, str]] = []
    for name in names:
        files = [file for row in rows if isinstance(file := row.pop(name), Stored)]
        first = files[0]
        odd = next((file for file in files if _shape(file) != _shape(first)), None)
        if odd is not None or len(files) < len(rows):
            flaws.append((name, _said(first), _said(odd) if odd is not None else "a file of another kind"))
            made[name] = partial(_filled, first, {})
            continue
        apart = [at for at in range(len(first.texts)) if not _same([file.texts[at] for file in files])]
        ports = {at: name if at == apart[0] else f"{name}-{first.names[at]}" for at in apart}
        for row, file in zip(rows, files, strict=True):
            row.update({port: file.texts[at] for at, port in ports.items()})
        made[name] = partial(_filled, first, ports)
    return Unfolded(rows, made, flaws)


def _same(texts: list[Expr]) -> bool:
    """Whether a text is known now, and the same in all items."""
    return all(isinstance(text, Const) and text == texts[0] for text in texts)


def _shape(file: Stored) -> tuple[object, ...]:
    """What no item of a loop can change: the kind of place, and the words that are no texts."""
    words = file.artifact.words.items()
    rest = [
        (name, (value.name, value.key) if isinstance(value, Secret) else value)
        for name, value in words
        if name not in file.names and name != "headers"
    ]
    return file.artifact.kind, file.names, rest


def _said(file: Stored) -> str:
    """The kind of a place, in words: which word made it, and with what."""
    given = [name for name, value in file.artifact.words.items() if value not in (None, False)]
    return f"{file.artifact.kind}({', '.join(given)})"


def _filled(file: Stored, ports: dict[int, str], given: Row) -> Stored:
    texts = (given[ports[at]] if at in ports else text for at, text in enumerate(file.texts))
    return file.changed(texts=tuple(texts))
