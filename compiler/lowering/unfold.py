"""Takes the items of a loop apart: records with files into their parts, external files into texts.

What differs between such files is text, and texts can be items.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flowdsl.compiler.forms import (
    PLAIN,
    Absent,
    Carried,
    File,
    Form,
    Mounted,
    Parts,
    part_types,
    port_names,
    volumes,
)
from flowdsl.grammar.named import NamedTuple
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Expr, Many, OnVolume, Stored
from flowdsl.volume import Secret

if TYPE_CHECKING:
    from collections.abc import Callable

    Row = dict[str, Expr]


class Tree(NamedTuple):
    """A record, tuple or list in its parts: each a column of the loop, or split again."""

    form: Parts
    parts: tuple[Tree | str, ...]


class Parted(NamedTuple):
    """The items of a loop without records that contain files, the types of their parts, and their trees."""

    rows: list[Row]
    kinds: dict[str, t.Type]
    trees: dict[str, Tree]


def parted(rows: list[Row], kinds: dict[str, t.Type]) -> Parted:
    """The items of a loop, with records that contain files split; those whose parts differ are kept."""
    wanted = [name for name in rows[0] if t.holds_file(kinds[name]) and isinstance(rows[0][name], Many)]
    if not wanted:
        return Parted(rows, kinds, {})
    rows, kinds = [dict(row) for row in rows], dict(kinds)
    found = {name: _apart(name, rows, kinds) for name in wanted}
    return Parted(rows, kinds, {name: tree for name, tree in found.items() if not isinstance(tree, str)})


def _apart(name: str, rows: list[Row], kinds: dict[str, t.Type]) -> Tree | str:
    whole = [one for row in rows if isinstance(one := row[name], Many)]
    if len(whole) < len(rows) or len({(one.names, len(one.items)) for one in whole}) > 1:
        return name
    form = Parts(whole[0].names, (PLAIN,) * len(whole[0].items))
    ports = [f"{name}-{part}" for part in port_names(form)]
    kinds.update(zip(ports, part_types(kinds[name], form), strict=True))
    for row, one in zip(rows, whole, strict=True):
        del row[name]
        row.update(zip(ports, one.items, strict=True))
    parts = tuple(_apart(port, rows, kinds) if t.holds_file(kinds[port]) else port for port in ports)
    return Tree(form, parts)


def together(tree: Tree, given: dict[str, Carried], kind: t.Type) -> Carried:
    """The value of a parameter from those of its parts."""
    kinds = part_types(kind, tree.form)
    parts = [
        given[one] if isinstance(one, str) else together(one, given, part)
        for one, part in zip(tree.parts, kinds, strict=True)
    ]
    form = Parts(tree.form.names, tuple(part.form for part in parts))
    return Carried(form, [value for part in parts for value in part.values], kind)


class Unfolded(NamedTuple):
    """The items of a loop with texts in the place of files.

    `made` has, by parameter, the file as an expression over the texts of an item. `flaws`: parameters whose files
    are not in the same kind of place, and two of these places.
    """

    rows: list[Row]
    made: dict[str, Callable[[Row], Stored]]
    flaws: list[tuple[str, str, str]]


def unfolded(rows: list[Row]) -> Unfolded:
    """The items of a loop, with files replaced by their texts."""
    names = [name for name in rows[0] if Stored in {type(row[name]) for row in rows}]
    if not names:
        return Unfolded(rows, {}, [])
    rows = [dict(row) for row in rows]
    made: dict[str, Callable[[Row], Stored]] = {}
    flaws: list[tuple[str, str, str]] = []
    for name in names:
        column = [row.pop(name) for row in rows]
        files = [file for file in column if isinstance(file, Stored)]
        first = files[0]
        odd = next(
            (one for one in column if not isinstance(one, Stored) or _shape(one) != _shape(first)), None
        )
        if odd is not None:
            flaws.append((name, _said(first), _said(odd)))
            made[name] = partial(_filled, first, {})
            continue
        apart = [at for at in range(len(first.texts)) if not _same([file.texts[at] for file in files])]
        ports = {at: name if at == apart[0] else f"{name}-{first.names[at]}" for at in apart}
        for row, file in zip(rows, files, strict=True):
            row.update({port: file.texts[at] for at, port in ports.items()})
        made[name] = partial(_filled, first, ports)
    return Unfolded(rows, made, flaws)


def _same(texts: list[Expr]) -> bool:
    """Whether a text is known at compile time, and the same in all items."""
    return all(isinstance(text, Const) and text == texts[0] for text in texts)


def _shape(file: Stored) -> tuple[object, ...]:
    """What all items of a loop must have in common: the kind of place, and the arguments that are not texts."""
    words = file.artifact.words.items()
    rest = [
        (name, (value.name, value.key) if isinstance(value, Secret) else value)
        for name, value in words
        if name not in file.names and name != "headers"
    ]
    return file.artifact.kind, file.names, rest


def _said(file: Expr) -> str:
    """The kind of a place, for a message: the word that made it, and its arguments."""
    if isinstance(file, OnVolume):
        return said(Mounted(()))
    if not isinstance(file, Stored):
        return said(Absent()) if isinstance(file, Const) and file.value is None else "something else"
    given = [name for name, value in file.artifact.words.items() if value not in (None, False)]
    return f"{file.artifact.kind}({', '.join(given)})"


def _filled(file: Stored, ports: dict[int, str], given: Row) -> Stored:
    texts = (given[ports[at]] if at in ports else text for at, text in enumerate(file.texts))
    return file.changed(texts=tuple(texts))


def common(forms: tuple[Form, ...]) -> Form | None:
    """The common form of all items of a list, if there is one; an empty text is None."""
    forms = tuple(form for form in forms if not isinstance(form, Absent)) or (Absent(),)
    if isinstance(forms[0], Absent):
        return forms[0]
    if all(isinstance(form, Mounted) for form in forms):
        return Mounted(tuple(dict.fromkeys(name for form in forms for name in volumes(form))))
    return forms[0] if forms.count(forms[0]) == len(forms) and forms[0] == File(True) else None


def said(form: Form) -> str:
    """The form of an item, for a message."""
    match form:
        case File():
            return "a file in the artifact repository"
        case Mounted():
            return "a path on a volume"
        case Absent():
            return "None"
        case Parts(names, forms) if names:
            shown = [f"`{name}`" for name in names[:3]] + ["..."] * (len(names) > 3)
            return ", ".join(shown)
        case Parts(_, forms):
            return {0: "no file", 1: "1 file"}.get(len(forms), f"{len(forms)} files")
        case _:
            return "several files"
