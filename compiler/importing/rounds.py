"""Loops whose items are taken apart, or asked about: each of them is given to a pipeline of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.importing.graphs import Graph
from flowdsl.compiler.importing.layout import listed
from flowdsl.compiler.importing.model import Call, Function, Input, Value
from flowdsl.compiler.importing.names import Names, class_name, identifier
from flowdsl.compiler.importing.ports import Port, Record, as_text
from flowdsl.compiler.lint.tree import is_mapping

if TYPE_CHECKING:
    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.loops import Loop
    from flowdsl.compiler.importing.model import Json
    from flowdsl.compiler.lint.tree import Path


class Rounds(Graph):
    """The pipeline that each item is given to: what it knows of the graph around it, it is handed."""

    def __init__(self, outer: Graph, call: Call, template: Json) -> None:
        super().__init__(outer.reader, call.target, template, call.path)
        self.outer = outer
        self.call = call
        self.names = Names()
        self.names.taken.add("item")
        self.item = Input("item", Port(unknown=True))
        call.target.inputs["item", ""] = self.item

    def variable(self, name: tuple[str, ...]) -> Value | None:
        """A variable by its path: the item or a field of it, or what is handed down."""
        port = self.item.port
        assert port is not None
        if name == ("item",):
            port.asked(text=True)
            return Value(lambda: "item", port)
        if name[0] == "item":
            return self.field(port, name[1]) if len(name) == 2 else None
        key = "outer", ".".join(name)
        found = self.target.inputs.get(key)
        if found is None:
            before, self.outer.current = self.outer.current, self.call
            value = self.outer.variable(name)
            self.outer.current = before
            if value is None or name[:2] in (("workflow", "name"), ("workflow", "namespace")):
                return value
            wish = name[1] if name[-1] == "result" else name[-1]
            found = Input(self.names.free(identifier(wish)), value.port)
            self.target.inputs[key] = found
            self.call.arguments[found.name] = value.code
        of = found
        return Value(lambda: of.name, of.port)

    def results(self, name: tuple[str, ...]) -> Value | None:
        """Lists are looped over where they are."""
        return None

    def field(self, port: Port, name: str) -> Value | None:
        """A field of the item."""
        record = port.root.record
        if record is None:
            wish = class_name(f"{self.call.task}-item")
            record = port.root.record = Record(self.reader.shelf.names.free(wish))
            self.reader.shelf.records.append(record)
        if identifier(name) != name:
            return None
        return Value(lambda: f"item.{name}", record.field(name))


def rounds(outer: Graph, task: Json, path: Path, loop: Loop) -> Call:
    """The call of a pipeline for each item of a task."""
    name = str(task.get("name"))
    inner = {key: one for key, one in task.items() if not key.startswith("with")}
    template: Json = {"name": name, "steps": [[]]}
    target = Function(outer.reader.shelf.names.free(f"{identifier(name).rstrip('_')}_each"), template, path)
    target.pipeline = True
    call = Call(name, target, path)
    graph = Rounds(outer, call, template)
    port = graph.item.port
    assert port is not None
    if loop.listing is not None and loop.listing.port is not None:
        port.root.record = loop.listing.port.root.record
    graph.task(inner, path)
    outer.reader.made(target, graph)
    if loop.listing is not None and loop.listing.port is not None:
        if port.root.record is not None:
            loop.listing.port.root.record = port.root.record
        elif loop.each:
            port.join(loop.listing.port)
        call.over["item"] = loop.listing.code
    else:
        items = loop.items or []
        for one in items:
            if is_mapping(one) and port.root.record is not None:
                port.root.record.take(one)
            else:
                port.take(as_text(one))

        def written() -> Code:
            record = port.root.record
            if record is not None:
                return listed(record.value(one) for one in items)
            return listed(port.value(as_text(one)) for one in items)

        call.over["item"] = written
    return call
