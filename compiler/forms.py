"""The forms in which a value travels: a property of the call, not of its type.

One parameter may be a file that Argo passes on in one call, an object's key in the next, and a path on
a volume in a third. A form says which; two calls with different forms need two templates of one step.
A value becomes *ports*: one text or file each, named after the parameter.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from flowdsl.compiler.ir import Argument, Input, Kind
from flowdsl.compiler.naming import hexadecimal
from flowdsl.compiler.ports import (
    IN,
    Below,
    FromEnv,
    FromEnvPath,
    FromFile,
    FromFirst,
    FromParts,
    FromRow,
    FromRows,
    Reader,
    file_reader,
)
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.names import parameter_names
from flowdsl.grammar.regex import regex
from flowdsl.values import types as t
from flowdsl.values.changes import arriving
from flowdsl.values.expr import Cell, Const, Expr, Get, Item, Join, Param, leaves
from flowdsl.values.node import Node

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flowdsl.tracing.trace import Loop
    from flowdsl.values.signature import Signature


def tagged(loop: Loop) -> bool:
    """Whether known items of a loop have tags, which Argo replaces in a manifest, or fails, but not in an argument.

    The points of a search that learns come from a script in any case.
    """
    texts = (leaf for row in loop.rows or () for item in row.values() for leaf in leaves(item))
    return loop.learnt is None and any(
        isinstance(leaf, Const) and isinstance(leaf.value, str) and "{{" in leaf.value for leaf in texts
    )


class Plain(Node):
    """One parameter that holds the value as text."""


#: What distinguishes a file from others: the digest of its content; its location outside of the run, whose content is
#: immutable or may change; or an identifier unique to this run.
Mark = Literal["", "digest", "fixed", "place", "run"]


class File(Node):
    """A file that Argo passes on (an artifact), or that is stored under a key of the artifact repository.

    `mark`: what is passed with it, as a parameter, for the cache keys of results.
    """

    keyed: bool
    mark: Mark = ""


class Mounted(Node):
    """A parameter that holds a path on one of these volumes."""

    volumes: tuple[str, ...]


class Gathered(Node):
    """The results of a loop: rows in one parameter, and the keys of the folders that hold their files.

    Each output of `files` has a folder of its own, whose entries are the items. `scattered`: there are this many
    folders instead, and a file is found in them by its key, which is in the rows.
    A step gets the rows in a file, since they may exceed the size of a variable; `variable`: in a variable anyway.
    `others`: the forms of outputs that a pipeline returns as the results of a loop, or in parts; the rows contain
    their ports.
    """

    item: t.Type
    files: tuple[str, ...]
    volumes: tuple[str, ...]
    others: tuple[tuple[str, Form], ...] = ()
    digests: tuple[str, ...] = ()  # the outputs whose digests are in the rows
    variable: bool = False
    scattered: int = 0

    @property
    def folders(self) -> tuple[str, ...]:
        """The names of the folders: those of the outputs, or numbers."""
        return tuple(map(str, range(self.scattered))) or self.files


class Absent(Node):
    """None in the place of an optional file."""


class Parts(Node):
    """A record (with names) or a list, each part with its own form.

    `choice`: several files, of which the first that exists is the value. `maybe`: those before the last may be
    None, too.
    """

    names: tuple[str, ...]
    forms: tuple[Form, ...]
    choice: bool = False
    maybe: bool = False


Form = Plain | File | Mounted | Gathered | Absent | Parts

PLAIN = Plain()

DIGEST = "flowdsl-digest-"
"""The prefix of the port that holds the mark of a file, before the name of the file's port."""

ROWS = "flowdsl-rows-"
"""The prefix of the port that lists the content of the folder of a list with files, before the folder's port.

As in the results of a loop, a row for each item: the texts of its values, and its file names in the folder.
"""


def told(name: str, form: Form) -> frozenset[str]:
    """The ports of keys that a step needs as texts, too: of the folders in which it finds files by their keys."""
    match form:
        case Gathered(scattered=count):
            return frozenset(f"{name}-{folder}" for folder in form.folders) if count else frozenset()
        case Parts(_, forms):
            inner = zip(port_names(form), forms, strict=True)
            return frozenset[str]().union(*(told(f"{name}-{part}", one) for part, one in inner))
        case _:
            return frozenset()


def spelled(form: Form) -> str:
    """A form as text that names of templates are derived from: it must be the same in every version."""
    match form:
        case Plain():
            return "text"
        case File(keyed, mark):
            return ("key" if keyed else "file") + (f"+{mark}" if mark else "")
        case Mounted(volumes):
            return f"path on {','.join(volumes)}"
        case Absent():
            return "none"
        case Parts(names, forms, choice, maybe):
            inner = zip(names or [""] * len(forms), forms, strict=True)
            word = ("first there" if maybe else "first") if choice else "parts"
            return f"{word}({' '.join(f'{name}:{spelled(one)}' for name, one in inner)})"
        case Gathered(item, files, volumes, others, digests, in_variable, scattered):
            more = [f"{name}:{spelled(one)}" for name, one in others]
            marks = [*(f"{name}/" for name in files), *(f"on {name}" for name in volumes), *more]
            marks += [*(f"{name}+digest" for name in digests), *(["in a variable"] if in_variable else [])]
            marks += [f"in {scattered} folders"] if scattered else []
            return f"rows({t.spell(item)} {' '.join(marks)})"


def ports(name: str, form: Form) -> list[tuple[str, Kind]]:
    """The ports of a parameter with a form: their names and kinds."""
    match form:
        case File(keyed, mark):
            found: list[tuple[str, Kind]] = [(name, "key" if keyed else "artifact")]
            return [*found, (DIGEST + name, "parameter")] if mark else found
        case Gathered():
            rows: Kind = "parameter" if form.variable else "text"
            return [(name, rows), *((f"{name}-{folder}", "key") for folder in form.folders)]
        case Absent():
            return []
        case Parts():
            return [
                port
                for part, inner in zip(port_names(form), form.forms, strict=True)
                for port in ports(f"{name}-{part}", inner)
            ]
        case _:
            return [(name, "parameter")]


def part_names(form: Parts) -> tuple[str, ...]:
    """The names of the parts of a record, or the numbers of those of a list."""
    return form.names or tuple(map(str, range(len(form.forms))))


def port_names(form: Parts) -> tuple[str, ...]:
    """The suffixes of the ports of the parts: their names, or others where Argo does not accept these."""
    nested = any(isinstance(one, (Parts, Gathered)) for one in form.forms)
    return parameter_names(part_names(form), within=nested)


def in_parts(names: tuple[str, ...], parts: Sequence[tuple[Form, list[Expr]]]) -> tuple[Form, list[Expr]]:
    """The form of a record (with names) or a list with these parts, and the values of all their ports."""
    return Parts(names, tuple(form for form, _ in parts)), [value for _, some in parts for value in some]


def in_variables(form: Form) -> Form:
    """The form, with all rows in variables instead of files."""
    match form:
        case Gathered():
            return form.changed(variable=True)
        case Parts(_, forms):
            return form.changed(forms=tuple(map(in_variables, forms)))
        case _:
            return form


def inputs(name: str, form: Form, kind: t.Type, *, in_pod: bool) -> list[Input]:
    """The inputs of a template for a parameter; in a graph a key is an ordinary parameter.

    Object stores do not keep empty folders, so what a key names may be missing: it then is an empty folder.
    """
    if form is PLAIN:
        return [Input(name, "parameter")]
    found: list[Input] = []
    maybe = _optional(name, form, kind)
    for port, how in ports(name, form):
        if not in_pod:
            found.append(Input(port, "artifact" if how == "artifact" else "parameter"))
        elif how == "parameter":
            found.append(Input(port, how))
        else:
            found.append(Input(port, how, f"{IN}/{port}", how == "key" or port in maybe))
    return found


def described(given: Sequence[Input], signature: Signature) -> list[Input]:
    """The inputs with what the author says of the parameters of their names."""
    about = {one.name: one.about for one in signature.parameters}
    return [one if one.kind == "artifact" else one._replace(about=about.get(one.name, "")) for one in given]


def _optional(name: str, form: Form, kind: t.Type) -> frozenset[str]:
    """The ports for files that may be None."""
    if isinstance(form, Parts):
        kinds = part_types(kind, form)
        if form.choice:  # all but the last may be missing
            kinds = [t.Maybe(t.FILE)] * (len(kinds) - 1) + kinds[-1:]
        parts = zip(port_names(form), form.forms, kinds, strict=True)
        return frozenset[str]().union(
            *(_optional(f"{name}-{part}", inner, one) for part, inner, one in parts)
        )
    return frozenset([name] if isinstance(form, File) and isinstance(kind, t.Maybe) else ())


class Carried(NamedTuple):
    """A value as it is passed: its form, the value of each port, and the type of its parameter."""

    form: Form
    values: list[Expr]
    type: t.Type


def handed(name: str, carried: Carried) -> list[Argument]:
    """The arguments for the ports of a parameter."""
    form, values, kind = carried
    if form is PLAIN:
        return [Argument(name, "parameter", values[0], kind)]
    return [
        Argument(port, how, value, typed)
        for (port, how), value, typed in zip(ports(name, form), values, port_types(form, kind), strict=True)
    ]


def port_types(form: Form, kind: t.Type) -> list[t.Type]:
    """The types of the texts in the ports of a parameter."""
    match form:
        case Plain():
            return [kind]
        case File(_, mark) if mark:
            return [t.TEXT, t.TEXT]
        case Gathered():
            return [t.JSON, *(t.TEXT for _ in form.folders)]
        case Absent():
            return []
        case Parts(_, forms):
            kinds = part_types(kind, form)
            return [one for inner, part in zip(forms, kinds, strict=True) for one in port_types(inner, part)]
        case _:
            return [t.TEXT]


def inside(name: str, form: Form, kind: t.Type) -> list[Expr]:
    """The values of a graph's parameter as seen inside the graph: references to its ports."""
    match form:
        case Gathered(item):
            rows = Param(name, t.Sequence(item))
            return [rows, *(Param(f"{name}-{folder}", t.TEXT) for folder in form.folders)]
        case Parts():
            kinds = part_types(kind, form)
            return [
                value
                for part, inner, one in zip(port_names(form), form.forms, kinds, strict=True)
                for value in inside(f"{name}-{part}", inner, one)
            ]
        case Absent():
            return []
        case Plain():
            return [Param(name, kind)]
        case File(_, mark) if mark:
            return [Param(name, t.TEXT), Param(DIGEST + name, t.TEXT)]
        case _:
            return [Param(name, t.TEXT)]


def item_of(kind: t.Type, rows: Expr, number: Item, folder: Expr, file: Form, port: str = "") -> Carried:
    """An item of a list with files, from its row: a file has its name in the folder of the list."""
    if isinstance(kind, (t.Record, t.Fixed)) and t.holds_file(kind):
        parts = {
            str(key): item_of(one, rows, number, folder, file, f"{port}-{key}" if port else str(key))
            for key, one in t.keyed(kind)
        }
        form = Parts((*parts,), tuple(one.form for one in parts.values()))
        return Carried(form, [value for one in parts.values() for value in one.values], kind)
    if not t.holds_file(kind):
        return Carried(PLAIN, [Cell(rows, number, port, kind)], kind)
    return Carried(file, [Join((folder, "/", Cell(rows, number, port or "return", t.TEXT)))], kind)


def undigested(form: Form, values: list[Expr]) -> tuple[Form, list[Expr]]:
    """A form and its values without the digests of files."""
    match form:
        case File():
            return form.changed(mark=""), values[:1]
        case Parts(_, forms):
            found: list[tuple[Form, list[Expr]]] = []
            for inner in forms:
                count = len(ports("", inner))
                found.append(undigested(inner, values[:count]))
                values = values[count:]
            return form.changed(forms=tuple(one for one, _ in found)), [v for _, some in found for v in some]
        case Gathered():
            return form.changed(digests=()), values
        case _:
            return form, values


def part_types(kind: t.Type, form: Parts) -> list[t.Type]:
    """The types of the parts of a value, by its form: all parts of a choice have the same type."""
    count = len(form.forms)
    return [kind] * count if form.choice else part_kinds(kind, count)


def part_kinds(kind: t.Type, count: int) -> list[t.Type]:
    """The types of `count` parts of a value; JSON if its type does not determine them."""
    found = t.parts(kind, count)
    return [t.JSON] * count if found is None else found


def volumes(form: Form) -> tuple[str, ...]:
    """The volumes that must be mounted where the value is read."""
    match form:
        case Mounted(names) | Gathered(_, _, names, _):
            return names
        case Parts(_, forms):
            return tuple(name for inner in forms for name in volumes(inner))
        case _:
            return ()


def reader(name: str, form: Form, kind: t.Type) -> Reader:
    """How the script of a Python step reconstructs a parameter with a form."""
    plain = t.without_none(kind)
    match form:
        case File(keyed):
            made = file_reader(f"{IN}/{name}", kind)
            return made.changed(keyed=keyed) if isinstance(made, FromFile) and made.optional else made
        case Absent():
            return FromFile(f"{IN}/{name}", True)
        case Mounted():
            return file_reader(FromEnvPath(variable(name)), kind)
        case Gathered(item):
            found = tuple((folder, f"{IN}/{name}-{folder}") for folder in form.folders)
            source = variable(name) if form.variable else FromFile(f"{IN}/{name}")
            kept = form.changed(item=arriving(item, part_kinds(plain, 1)[0]))
            if not form.scattered:
                return FromRows(source, kept.item, found, _others(kept, ()))
            below = tuple((path, variable(f"{name}-{folder}")) for folder, path in found)
            return FromRows(source, kept.item, (), _others(kept, below), below)
        case Parts(_, forms, True):
            *others, last = (reader(f"{name}-{at}", one, t.Maybe(t.FILE)) for at, one in enumerate(forms))
            if not form.maybe:
                others = [one.changed(keyed=False) if isinstance(one, FromFile) else one for one in others]
            if not isinstance(kind, t.Maybe):
                last = reader(f"{name}-{len(others)}", forms[-1], kind)
            return FromFirst((*others, last))
        case Parts():
            return _from_parts(name, form, kind, reader)
        case _:
            return FromEnv(variable(name), kind)


def _others(rows: Gathered, below: Below) -> tuple[tuple[str, Reader], ...]:
    kinds = {out.name: out.type for out in t.outputs(rows.item)}
    return tuple((name, _in_row(name, form, kinds[name], below)) for name, form in rows.others)


def _from_parts(name: str, form: Parts, kind: t.Type, read: Callable[[str, Form, t.Type], Reader]) -> Reader:
    """How a value is reconstructed from its parts, each of which is read by `read`."""
    kinds = part_types(kind, form)
    parts = tuple(
        read(f"{name}-{part}", inner, one)
        for part, inner, one in zip(port_names(form), form.forms, kinds, strict=True)
    )
    return FromParts(parts, form.names, t.without_none(kind))


def _in_row(name: str, form: Form, kind: t.Type, below: Below) -> Reader:
    """How an output of an item is reconstructed from its ports in the row."""
    match form:
        case Gathered(item):
            return FromRows(FromRow(name, t.TEXT), item, (), _others(form, below), below)
        case Parts():
            return _from_parts(name, form, kind, partial(_in_row, below=below))
        case _:
            return FromRow(name, kind, below)


def variable(port: str) -> str:
    """The environment variable that passes a parameter to a Python step: a different one for each.

    It has no hyphens: some shells, which images start Python by, drop variables that have.
    """
    apart = f"_{hexadecimal(port)}" if _UNDERLINED.search(port) else ""
    return f"FLOWDSL_{port.replace('-', '__')}{apart}"


_UNDERLINED = regex("__|_-|-_")
"""Where two underscores in place of a hyphen could stand for something else."""


def field_of(expr: Expr) -> tuple[Param, tuple[str, ...]] | None:
    """The parameter and the path of fields behind `param.field.field`, or None."""
    path: list[str] = []
    while isinstance(expr, Get) and not isinstance(expr.key, tuple):
        path.append(str(expr.key))
        expr = expr.of
    return (expr, tuple(reversed(path))) if isinstance(expr, Param) else None
