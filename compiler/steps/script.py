"""The script of a Python step: its carried source, and last lines that read, call and write.

The last lines are generated from the types: nothing is looked up in annotations when the script runs.
"""

from __future__ import annotations

import builtins
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.ports import (
    Below,
    FromBundle,
    FromEnv,
    FromEnvPath,
    FromFile,
    FromFirst,
    FromFolder,
    FromParts,
    FromRow,
    FromRows,
    layout,
)
from flowdsl.compiler.steps.script_parts import IMPORTS, PARTS, STEP, assembled, indented, words
from flowdsl.grammar.regex import regex
from flowdsl.values import types as t
from flowdsl.values.texts import WrongValue
from flowdsl.values.textual import Textual

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flowdsl.compiler.carry.carry import Carried
    from flowdsl.compiler.ports import Reader, Taken, Writer

_MAIN = "_flowdsl_main"
_BUILTINS = frozenset(dir(builtins))
_TAKEN = {"result", "row", "index", "file", "value", *PARTS, *IMPORTS, *_BUILTINS}
_BRACE = regex(r"(?<=\{)\{")
_DOLLAR = regex(r"\$(?=[$(])")


def script(
    carried: Carried, inputs: Sequence[tuple[str, Reader]], outputs: Sequence[Writer], *, first: bool = False
) -> str:
    """The source of a step's script.

    `inputs` are the parameters of the function, in order, each with its reader; `outputs` are the writers
    of its result; `first`: only the process of rank 0 writes it. A value that cannot be read or written ends the
    script with exit code 1 and one sentence on standard error, which names the step, the input or output, and its
    type. Runs on Python 3.7 and newer.
    """
    function = carried.function
    ending = _ending(
        function if function in _TAKEN else STEP,
        tuple(inputs),
        tuple(outputs),
        carried.classes,
        carried.names & _BUILTINS,
        carried.positional,
        first,
    )
    return "".join(
        (
            "from __future__ import annotations\n",
            "\n\n" if carried.text.startswith(("def ", "class ", "@", "#", "if ")) else "\n",
            carried.text,
            "# }}: closes for Argo the braces that are open above\n" if _is_open(carried.text) else "",
            "\n\n",
            ending.replace(STEP, function),
        )
    )


def write(step: str, result: object, outputs: Sequence[Writer]) -> None:
    """Write outputs as the script of a step with this result would. Raises WrongValue."""
    names: dict[str, Any] = {"returned": lambda: result}
    code = _Ending("returned", {}, frozenset(), (), False).code((), outputs).replace(STEP, step)
    exec(code, names)  # written by the same code as in steps
    try:
        names[_MAIN]()
    except SystemExit as wrong:
        raise WrongValue(str(wrong).partition("): ")[2]) from None


@lru_cache(maxsize=256)
def _ending(
    function: str,
    inputs: tuple[tuple[str, Reader], ...],
    outputs: tuple[Writer, ...],
    classes: tuple[tuple[type[Any], str], ...],
    shadowed: frozenset[str],
    positional: tuple[str, ...],
    first: bool,
) -> str:
    """The last lines; steps with the same inputs and outputs share them, so STEP stands for most names."""
    return _Ending(function, dict(classes), shadowed, positional, first).code(inputs, outputs)


def _is_open(text: str) -> bool:
    """Whether two braces are unclosed at the end, as Argo pairs them: the template's next tag would close them."""
    at = text.find("{{")
    while at >= 0:
        end = text.find("}}", at + 2)
        if end < 0:
            return True
        at = text.find("{{", end + 2)
    return False


class _Ending:
    """Generates the last lines of one script."""

    def __init__(
        self,
        function: str,
        classes: dict[type[Any], str],
        shadowed: frozenset[str],
        positional: tuple[str, ...],
        first: bool,
    ) -> None:
        self.first = first
        self.function = function
        self.classes = classes
        self.shadowed = shadowed  # built-ins whose names the module redefines
        self.positional = positional
        self.used: set[str] = set()
        self.aliases: dict[str, str] = {}

    def code(self, inputs: Sequence[tuple[str, Reader]], outputs: Sequence[Writer]) -> str:
        """The lines from the definition of the main function on."""
        function = self._user(self.function)
        calling = self._call(function, inputs)
        writing = [line for writer in outputs for line in self._write(writer)]
        checking = self._check(outputs)
        if outputs:
            calling[0] = "result = " + calling[0]
            if self.first:
                calling += [
                    'if os.environ["RANK"] != "0":',
                    "    return  # what the first process returns counts",
                ]
        body = "\n".join((*calling, *checking, *writing))
        parts, known = assembled(frozenset(self.used))
        known |= words(body)
        imports = [name for name in IMPORTS if name in known]
        imports = [f"import {', '.join(imports)}\n"] if imports else []
        shadowed = sorted(known & self.shadowed)
        if shadowed:
            imports.append(f"from builtins import {', '.join(shadowed)}\n")
        if imports:
            imports.append("\n")
        code = indented("".join(imports)) + parts + indented(body + "\n")
        return "".join(
            (
                *(f"{alias} = {name}\n" for name, alias in self.aliases.items()),
                "\n\n" if self.aliases else "",
                f"def {_MAIN}():\n",
                code,
                f'\n\nif __name__ == "__main__":\n    {_MAIN}()\n',
            )
        )

    def _user(self, name: str) -> str:
        """A name of the user's; by an alias if the main function uses it otherwise."""
        first, dot, rest = name.partition(".")
        if first in _TAKEN:
            self.aliases[first] = f"_flowdsl_{first}"
            return self.aliases[first] + dot + rest
        return name

    def _class(self, cls: type) -> str:
        return self._user(self.classes.get(cls, cls.__name__))

    def _maker(self, cls: type) -> str:
        """The constructor of a class from its fields; `__post_init__` has changed them before they were written."""
        made = "dict" if cls is dict else self._class(cls)
        return self._part("as_sent", made) if hasattr(cls, "__post_init__") else made

    def _part(self, name: str, *arguments: str) -> str:
        """A part itself, or a call of it."""
        self.used.add(name)
        return f"{name}({', '.join(arguments)})" if arguments else name

    # The call of the function.

    def _call(self, function: str, inputs: Sequence[tuple[str, Reader]]) -> list[str]:
        if not inputs:
            return [f"{function}()"]
        lines: list[str] = []
        for name, reader in inputs:
            value = self._read(name, reader)
            lines.append(f"    {value}," if name in self.positional else f"    {name}={value},")
        return [f"{function}(", *lines, ")"]

    def _read(self, name: str, reader: Reader) -> str:
        match reader:
            case FromEnv(variable, kind):
                if isinstance(kind, t.Text):
                    return self._env(variable)
                return self._checked(f"input {name}", kind, self._from_text(kind), self._env(variable))
            case FromFile(path, False):
                return f"pathlib.Path({quote(path)})"
            case FromFile(path, _, keyed):
                return self._part("if_brought" if keyed else "if_there", quote(path))
            case FromEnvPath(variable, optional):
                text = self._env(variable)
                return self._part("if_there", text) if optional else f"pathlib.Path({text})"
            case FromFolder(path, named):
                return self._part("by_name" if named else "by_number", self._path(path))
            case FromBundle(path, kind):
                return self._checked(
                    f"input {name}", kind, self._part("bundle"), self._from_bundle(kind), self._path(path)
                )
            case FromRow(port, kind, below):
                return self._cell(port, kind, None, below)
            case FromRows(source, item):
                kind = t.Sequence(item)
                match source:
                    case FromFile(path):
                        text = self._part("content", quote(path))
                    case FromRow(port):
                        text = f"row[{quote(port)}]"
                    case _:
                        text = self._env(source)
                row = self._row(name, reader)
                return self._checked(
                    f"input {name}",
                    kind,
                    self._part("rows"),
                    f"lambda row, index: {row}",
                    text,
                )
            case FromParts():
                return self._read_parts(name, reader)
            case FromFirst(parts):
                return " or ".join(self._read(name, part) for part in parts)

    def _read_parts(self, name: str, reader: FromParts) -> str:
        names = reader.names or tuple(map(str, range(len(reader.parts))))
        values = [self._read(f"{name}.{key}", part) for key, part in zip(names, reader.parts, strict=True)]
        match reader.type:
            case t.Record(cls):
                return f"{self._maker(cls)}({_named(names, values)})"
            case t.Fixed():
                return _tuple(values)
            case t.Sequence(_, tupled):
                return _tuple(values) if tupled else f"[{', '.join(values)}]"
            case kind if reader.names or isinstance(kind, t.Mapping):
                pairs = (f"{quote(key)}: {value}" for key, value in zip(names, values, strict=True))
                return f"{{{', '.join(pairs)}}}"
            case _:
                return f"[{', '.join(values)}]"

    def _row(self, name: str, reader: FromRows) -> str:
        """What one item of a loop returned, from its `row` and its `index`."""
        item, folders, others = reader.item, dict(reader.folders), dict(reader.others)
        if isinstance(item, t.Nothing):
            return "None"
        values = {
            output.keys: self._read(f"{name}.{output.name}", others[output.name])
            if output.name in others
            else self._cell(output.name, output.type, folders.get(output.name), reader.below)
            for output in t.outputs(item)
        }
        return t.assembled(item, values, self._record)

    def _record(self, kind: t.Record | t.Fixed, parts: list[str]) -> str:
        if isinstance(kind, t.Fixed):
            return f"[{', '.join(parts)}]" if kind.listed else _tuple(parts)
        return f"{self._maker(kind.cls)}({_named([field.name for field in kind.fields], parts)})"

    def _cell(self, port: str, kind: t.Type, folder: str | None, below: Below) -> str:
        name = quote(port)
        form = layout(kind)
        if form in ("text", "json"):
            text = f'row.get({name}, "null")' if isinstance(kind, t.Maybe) else f"row[{name}]"
            return text if isinstance(kind, t.Text) else f"{self._from_text(kind)}({text})"
        if folder is not None:
            place = f"os.path.join({quote(folder)}, index)"
        else:
            place = f'row.get({name}, "")' if isinstance(kind, t.Maybe) else f"row[{name}]"
            if below:
                folders = (f"({quote(path)}, {self._env(key)})" for path, key in below)
                place = self._part("below", place, *folders)
        if form == "list":
            return self._part("by_number", place)
        if form == "dict":
            return self._part("by_name", place)
        if form == "bundle":
            return self._part("bundle", self._from_bundle(kind), place)
        return self._part("if_there", place) if isinstance(kind, t.Maybe) else f"pathlib.Path({place})"

    def _env(self, variable: str) -> str:
        return self._part("env", quote(variable))

    def _path(self, path: str | FromEnvPath) -> str:
        return quote(path) if isinstance(path, str) else self._env(path.variable)

    def _checked(self, what: str, kind: t.Type, *call: str) -> str:
        return self._part("checked", quote(f"{what} ({t.spell(kind)})"), *call)

    def _from_text(self, kind: t.Type) -> str:
        """A function from the text of a parameter to its value."""
        match kind:
            case t.Text():
                return "str"
            case t.Number(name):
                return name
            case t.Flag():
                return self._part("truth")
            case t.Enumeration() | Textual():
                return self._decoder(kind)
            case t.Choice() if t.is_text(kind):
                return self._decoder(kind)
            case _:
                return self._part("parsed", self._decoder(kind))

    def _from_bundle(self, kind: t.Type) -> str:
        return f"lambda file: {self._decoder(kind)}"

    def _decoder(self, kind: t.Type) -> str:
        """A function from a JSON value to one of the type; `file` is the one for files."""
        match kind:
            case t.Enumeration(cls):
                return self._part("named", self._class(cls))
            case Textual(name, module, form):
                return self._part(f"from_{form}", f"{module}.{name}")
            case t.Mapping(item, key) if not isinstance(key, t.Text):
                name = "int" if key == t.INT else self._decoder(key)
                return self._part("keyed", name, self._decoder(item))
            case t.Sequence(item, True):
                return self._part("as_tuple", self._decoder(item))
            case t.Record(cls, fields):
                parts = ", ".join(f"{quote(field.name)}: {self._decoder(field.type)}" for field in fields)
                return self._part("record", self._maker(cls), f"{{{parts}}}")
            case _:
                return self._either_way(kind, self._decoder)

    # The results.

    def _check(self, outputs: Sequence[Writer]) -> list[str]:
        """Lines that check the shape of a result, and of a record or tuple in it."""
        parts: dict[t.Keys, dict[str | int, None]] = {}
        for writer in outputs:
            for at, key in enumerate(writer.keys):
                parts.setdefault(writer.keys[:at], {})[key] = None
        lines: list[str] = []
        for keys, found in parts.items():
            names = [quote(key) for key in found if isinstance(key, str)]
            shape = self._part("has_fields" if names else "has_items")
            value = _inside(keys)
            lines.append(self._part("checked", quote(value), shape, value, *(names or [str(len(found))])))
        return lines

    def _write(self, writer: Writer) -> list[str]:
        kind, path = writer.type, self._path(writer.path)
        value = _inside(writer.keys)
        form = layout(kind)
        if form in ("text", "json"):
            encode = self._encode(kind, writer.taken)
            return [self._checked(f"output {writer.name}", kind, self._part("write"), path, encode, value)]
        match form:
            case "list":
                store = self._part("copies")
            case "dict":
                store = self._part("named_copies")
            case "bundle":
                store = self._part("bundled", f"lambda file: {self._encoder(kind)}")
            case "file":
                store = self._part("zipped", self._part("copy")) if writer.zipped else self._part("copy")
        line = self._checked(f"output {writer.name}", kind, self._part("save"), path, store, value)
        lines = [line]
        if form == "file" and isinstance(kind, t.Maybe):
            gone = ["else:", f"    {self._part('discard', path)}"] if writer.kept else []
            lines = [f"if {value} is not None:", f"    {line}", *gone]
        if writer.rows:
            if isinstance(kind, t.Sequence):
                cells = ", ".join(self._cells("", kind.item, "value"))
                entries = self._part("rows_of", f"lambda file, value: {{{cells}}}")
            else:
                entries = self._part("names_of")
            rows = self._part("as_json", entries)
            write = self._part("write"), quote(writer.rows), rows, value
            lines.append(self._checked(f"items of output {writer.name}", kind, *write))
        return [*lines, self._part("fingerprint", path, quote(writer.digest))] if writer.digest else lines

    def _cells(self, port: str, kind: t.Type, value: str) -> list[str]:
        """The ports of an item of a list with files, each with its text in the row; `file` makes that of a file."""
        match kind:
            case t.File() | t.Maybe(t.File()):
                return [f"{quote(port or 'return')}: file({value})"]
            case t.Record(_, fields) if t.holds_file(kind):
                parts = [(one.name, one.type, f"{value}.{one.name}") for one in fields]
            case t.Fixed(items) if t.holds_file(kind):
                parts = [(str(at), one, f"{value}[{at}]") for at, one in enumerate(items)]
            case _:
                return [f"{quote(port or 'return')}: {self._encode(kind)}({value})"]
        return [
            cell
            for name, one, inner in parts
            for cell in self._cells(f"{port}-{name}" if port else name, one, inner)
        ]

    def _encode(self, kind: t.Type, taken: Sequence[Taken] = ()) -> str:
        """A function from a value of the type to the text of a parameter; `taken` as in `Writer`."""
        if t.is_text(kind):
            return self._part("as_text", self._encoder(kind))
        encoder = self._encoder(kind)
        for how in taken:
            encoder = self._part(how, encoder)
        return self._part("as_json" if _has_strings(kind) else "as_number", encoder)

    def _encoder(self, kind: t.Type) -> str:
        """A function from a value of the type to a JSON value; `file` is the one for files."""
        match kind:
            case t.Enumeration(cls):
                return self._part("member", quote(cls.__name__))
            case Textual(name, module, form):
                return self._part(form, f"{module}.{name}")
            case t.Mapping(item, key) if not isinstance(key, t.Text):
                name = self._encoder(key)
                name = f"lambda key: str({name}(key))" if key == t.INT else name
                return self._part("keyed", name, self._encoder(item))
            case t.Record(cls, fields):
                parts = ", ".join(f"{quote(field.name)}: {self._encoder(field.type)}" for field in fields)
                return self._part("fields", quote(cls.__name__), f"{{{parts}}}")
            case _:
                return self._either_way(kind, self._encoder)

    def _either_way(self, kind: t.Type, inner: Callable[[t.Type], str]) -> str:
        """The functions that check values in both directions."""
        match kind:
            case t.Text():
                return self._part("string")
            case t.Number("int"):
                return self._part("scalar", "int")
            case t.Number():
                return self._part("scalar", "float", "int")
            case t.Flag():
                return self._part("scalar", "bool")
            case t.Nothing():
                return self._part("nothing")
            case t.Choice(values):
                return self._part(
                    "one_of", *(quote(one) if isinstance(one, str) else repr(one) for one in values)
                )
            case t.Sequence(item):
                return self._part("list_of", inner(item))
            case t.Entries(_, fields):
                parts = ", ".join(f"{quote(one.name)}: {inner(one.type)}" for one in fields)
                needed = (quote(one.name) for one in fields if one.required)
                return self._part("entries", f"{{{parts}}}", *needed)
            case t.Mapping(item):
                return self._part("dict_of", inner(item))
            case t.Fixed(items, listed):
                checked = self._part("tuple_of", *map(inner, items))
                return f"lambda value: [*{checked}(value)]" if listed else checked
            case t.Maybe(item):
                return self._part("maybe", inner(item))
            case t.File():
                return "file"
            case _:
                return self._part("anything")


def _has_strings(kind: t.Type) -> bool:
    match kind:
        case t.Number() | t.Flag() | t.Nothing():
            return False
        case t.Sequence(item) | t.Maybe(item):
            return _has_strings(item)
        case t.Fixed(items):
            return any(map(_has_strings, items))
        case _:
            return True


def _inside(keys: t.Keys) -> str:
    """A part of the result."""
    return "result" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)


def _named(names: Sequence[str], values: Sequence[str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))


def _tuple(values: Sequence[str]) -> str:
    return f"({', '.join(values)}{',' if len(values) == 1 else ''})"


def quote(text: str) -> str:
    r"""A string literal in which neither Argo nor the kubelet finds anything to replace."""
    plain = text.isprintable() and '"' not in text and "\\" not in text
    shown = f'"{text}"' if plain else repr(text)
    if "{{" in shown:
        shown = _BRACE.sub(r"\\x7b", shown)
    return _DOLLAR.sub(r"\\x24", shown) if "$" in shown else shown
