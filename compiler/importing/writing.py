"""Writes the text of the Python file."""

from __future__ import annotations

import ast
from itertools import groupby
from typing import TYPE_CHECKING

import flowdsl
from flowdsl.compiler.importing.layout import WIDTH, call, function, laid, listed, mapped, quoted
from flowdsl.compiler.importing.names import Names, identifier
from flowdsl.compiler.importing.spec import HEADS, pipeline_options
from flowdsl.compiler.naming import slug
from flowdsl.grammar.names import dns_name, is_depended_upon

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flowdsl.compiler.importing.file_head import Shelf
    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.model import Block, Call, Function
    from flowdsl.compiler.importing.ports import Record
    from flowdsl.compiler.importing.reading import Reading

_STANDARD = {"Path": "pathlib", "Annotated": "typing", "Literal": "typing", "NamedTuple": "typing"}


Part = tuple[str, "Reading", "Function"]
"""The text of a class or function, and its origin."""


def written(readers: Sequence[Reading], shelf: Shelf) -> tuple[str, list[tuple[int, Reading, Function]]]:
    """The text of a file, and the first lines of the functions of the documents in it."""
    parts = [part for reader in readers for part in _parts(reader)]
    records = [_items(one) for one in shelf.records if not one.loose]
    below = "\n\n\n".join([*records, *(text for text, _, _ in parts)])
    head = [_docstring(readers), "", *_imports("\n".join([*shelf.lines, below]))]
    if shelf.lines:
        head += ["", *shelf.lines]
    text = "\n".join(head) + "\n\n\n"
    places: list[tuple[int, Reading, Function]] = []
    line = text.count("\n") + 1 + sum(one.count("\n") + 3 for one in records)
    for part, reader, target in parts:
        places.append((line, reader, target))
        line += part.count("\n") + 3
    return text + below + "\n", places


def _parts(reader: Reading) -> Iterator[Part]:
    """The classes and functions of a document, each after those that it uses."""
    records: set[str] = set()
    for one in reader.order:
        if len(one.outputs) > 1 and one.record not in records:
            records.add(one.record)
            yield _record(one), reader, one
        yield "\n".join(_function(reader, one)), reader, one


def _docstring(readers: Sequence[Reading]) -> str:
    made = [one for one in readers if one.main in one.order]
    if not made:
        names = ", ".join(f"`{one.metadata.get('name')}`" for one in readers)
        return f'"""Steps for other pipelines: {names}."""'
    names = ", ".join(f"`{one.main.name}`" for one in made)
    kind = "The pipeline" if len(made) == 1 else "The pipelines"
    heads = {one.main.name: HEADS.get(one.kind, "") for one in made}
    if not any(heads.values()):
        return f'"""{kind} {names}."""'
    if len({*heads.values()}) == 1:
        ways = [
            f"Compile {'it' if len(made) == 1 else 'them'} with `flowdsl compile FILE{heads.popitem()[1]}`."
        ]
    else:
        ways = [f"Compile `{name}` with `flowdsl compile FILE:{name}{head}`." for name, head in heads.items()]
    return f'"""{kind} {names}.\n\n{chr(10).join(ways)}\n"""'


def _imports(text: str) -> list[str]:
    """The imports that a text needs."""
    tree = ast.parse(text)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    lines: list[str] = []
    for module in dict.fromkeys(_STANDARD.values()):
        wanted = sorted(name for name, home in _STANDARD.items() if home == module and name in names)
        if wanted:
            lines.append(f"from {module} import {', '.join(wanted)}")
    words = sorted(
        names & {*flowdsl.__all__},
        key=lambda name: (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2, name),
    )
    line = f"from flowdsl import {', '.join(words)}"
    if len(line) > WIDTH:
        line = "from flowdsl import (\n" + "".join(f"    {name},\n" for name in words) + ")"
    return [*lines, *([""] if lines else []), line]


def _record(target: Function) -> str:
    fields = "\n".join(f"    {one.name}: {one.annotation}" for one in target.outputs.values())
    return f"class {target.record}(NamedTuple):\n{fields}"


def _items(record: Record) -> str:
    return "\n".join(
        (
            f"class {record.name}(NamedTuple):",
            *(f"    {name}: {port.kind}" for name, port in record.fields.items()),
        )
    )


def _function(reader: Reading, target: Function) -> list[str]:
    if target.written is not None:
        return target.written()
    head = "@pipeline"
    if target is reader.main and (options := pipeline_options(reader)):
        head = laid("@", call("pipeline", **options))
    names = Names(reader.shelf.names.taken | {one.name for one in target.inputs.values()})
    ending = reader.ending if target is reader.main else []
    return [head, *_body(target, ending, names)]


def _body(target: Function, ending: Sequence[Call], names: Names) -> list[str]:
    """The function of a pipeline."""
    first = target.graph.calls if target.graph else []
    prepared([*first, *ending], names)
    lines = [function(target.name, target.parameters, target.returns)]
    end = [_returned(target)] if target.outputs else []
    if len(first) == 1 and not ending and end == [f"    return {first[0].variable}"]:
        (only,) = first
        if not only.blocks and slug(only.target.name) == dns_name(only.task):
            only.variable = ""
            return [*lines, _statement(only, "    ", "return ")]
    lines += _statements(first, 0, "    ")
    if ending:
        lines += ["    with on_exit():", *_statements(ending, 0, "        ")]
    return [*lines, *end] if lines[1:] or end else [*lines, "    pass"]


def prepared(calls: Sequence[Call], names: Names) -> None:
    """Assign variables to calls: those whose results are used, or that others wait for."""
    for one in calls:
        waits = {id(other): other for other in one.after if id(other) not in one.taken}
        one.after = list(waits.values())
        for other in one.after:
            other.used = True
    for one in calls:
        if one.used:
            one.variable = _variable(one.task, names)


def _variable(task: str, names: Names) -> str:
    wish = identifier(task)
    if wish in names.taken and not wish.endswith("_"):
        wish = f"{wish}_"
    return names.free(wish)


def _statements(calls: Sequence[Call], depth: int, indent: str) -> Iterator[str]:
    """Calls as statements; those in the same block are grouped."""

    def opened(one: Call) -> str:
        return one.blocks[depth].line if len(one.blocks) > depth else ""

    before: Block | None = None
    for word, group in groupby(calls, opened):
        some = list(group)
        if not word:
            before = None
            for one in some:
                yield _statement(one, indent)
            continue
        block = some[0].blocks[depth]
        asked = block.asked
        if (
            before is not None
            and before.asked is not None
            and asked is not None
            and (before.asked.negated().code() == asked.code())
        ):
            yield f"{indent}with otherwise():"
            before = None
        else:
            yield _opening(block, indent)
            before = block if block.word == "when" else None
        yield from _statements(some, depth + 1, f"{indent}    ")


def _opening(block: Block, indent: str) -> str:
    return laid("with ", call(block.word, block.code()), f"{block.name}:", indent)


def _statement(one: Call, indent: str, before: str = "") -> str:
    """A call as a statement, assigned to its variable if there is one."""
    options: dict[str, Code] = {}
    wanted = dns_name(one.task)
    natural = slug(one.variable) if one.variable else slug(one.target.name)
    if natural != wanted and is_depended_upon(wanted):
        options["name"] = quoted(wanted if wanted == one.task.lower() else one.task)
    if one.after:
        options["after"] = listed(other.variable for other in one.after)
    options |= {name: code() for name, code in one.options.items()}
    body = call(f"{one.target.name}.options", **options) if options else one.target.name
    given = {name: code() for name, code in one.arguments.items()}
    before = f"{one.variable} = " if one.variable else before
    if one.looped:
        over = mapped({name: code() for name, code in one.over.items()})
        made = call("fan_out", body, over=over, parallel=one.parallel or None, **given)
    else:
        made = call(body, **given)
    return laid(before, made, "", indent)


def _returned(target: Function) -> str:
    values = {
        one.name: one.value.code() if one.value is not None else "None" for one in target.outputs.values()
    }
    if len(values) == 1:
        return laid("return ", next(iter(values.values())), "", "    ")
    for one in target.graph.calls if target.graph is not None else ():
        handed = {name: f"{one.variable}.{name}" for name in values}
        if values == handed and one.target.record == target.record:
            return f"    return {one.variable}"
    return laid("return ", call(target.record, **values), "", "    ")
