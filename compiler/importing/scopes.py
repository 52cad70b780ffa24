"""What the tags in a graph stand for: its inputs, the outputs of its tasks, the items of loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.findings.importing import Otherwise
from flowdsl.compiler.importing.dependencies import PLAIN, Order
from flowdsl.compiler.importing.layout import listed
from flowdsl.compiler.importing.library import Library
from flowdsl.compiler.importing.model import Asked, Slot, Value, ports
from flowdsl.compiler.importing.names import Names, class_name, is_field, parameter
from flowdsl.compiler.importing.ports import Port, Record
from flowdsl.compiler.importing.reading import Scope
from flowdsl.compiler.importing.tagged import value_of
from flowdsl.compiler.kinds import EXIT_BODIES, RESULT_BODIES
from flowdsl.compiler.naming import slug

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.model import Call, Function, Json, Key
    from flowdsl.compiler.importing.reading import Reading
    from flowdsl.compiler.tree import Path


class OfRun(Scope):
    """What is known of a run before its tasks begin, by the words of `run`."""

    def __init__(self, reader: Reading) -> None:
        super().__init__(reader)
        self._scheduled = reader.kind == "CronWorkflow"

    def variable(self, name: tuple[str, ...]) -> Value | None:
        """A variable by its path."""
        match name:
            case ("workflow", ("name" | "namespace") as of):
                return Value(lambda: f"run.{of}", Port(unknown=True, text=True))
            case ("workflow", "scheduledTime") if self._scheduled:  # other runs do not have it
                return Value(lambda: "run.scheduled_time", Port(unknown=True, text=True))
            case _:
                return None


class Graph(Scope):
    """A graph that becomes a pipeline."""

    def __init__(self, reader: Reading, target: Function, template: Json, path: Path) -> None:
        super().__init__(reader)
        self.reader = reader
        self.target = target
        self.template = template
        self.path = path
        self.calls: list[Call] = []
        self.tasks: dict[str, Call] = {}
        self.current: Call | None = None
        self.ended = False  # whether the run has ended: calls of `on_exit`
        self.patched: list[Json] = []
        self.left: set[str] = set()  # tasks whose conditions are left to Argo
        self.order = Order({}, {})

    def name_of(self, task: Json) -> str:
        """The name of a task."""
        return str(task.get("name") or self.template.get("name"))

    def patch_task(self, call: Call, fields: Json) -> None:
        """Leave fields of a task to Argo."""
        said = self.reader.raw(fields, self.target)
        self.patched.append({"dag": {"tasks": [{"name": slug(call.task), **said}]}})

    def is_named(self, name: tuple[str, ...]) -> bool:
        """Whether parts that are left to Argo can refer to a variable."""
        root, task, *_ = (*name, "")
        if root == "workflow":
            return True
        call = self.tasks.get(task) if root in ("steps", "tasks") else None
        if call is not None and not call.looped and "may_fail" not in call.options:
            prints = call.target.body in RESULT_BODIES or isinstance(call.target, Library)
            if prints and name[2:] == ("outputs", "result"):
                return True
            if name[2:] == ("exitCode",) and call.target.body in EXIT_BODIES:
                return True
        return self.variable(name) is not None

    def spelled(self, name: tuple[str, ...]) -> tuple[str, ...] | None:
        """The path by which Argo refers to a variable that the pipeline expresses otherwise."""

    def variable(self, name: tuple[str, ...]) -> Value | None:
        """A variable by its path."""
        inputs = self.target.inputs
        match name:
            case ("inputs", ("parameters" | "artifacts") as kind, of):
                if (fixed := self.target.fixed.get((kind, of))) is not None:
                    return value_of(fixed.text or "", self, fixed.at)
                return _input(inputs.get((kind, of)))
            case ("workflow", "parameters", of):
                return _input(inputs.get(("workflow", of)))
            case ("workflow", "name" | "namespace" | "scheduledTime"):
                return OfRun(self.reader).variable(name)
            case ("workflow", ("status" | "duration") as of):
                if not self.ended:
                    return _input(inputs.get(("workflow", f".{of}")))
                number = of == "duration"
                return Value(lambda: f"run.{of}", Port(unknown=True, number=number, text=not number))
            case (("steps" | "tasks"), task, "status") if task in self.tasks and self.current is not None:
                return self.status(self.tasks[task], self.current)
            case (("steps" | "tasks"), task, *rest) if task in self.tasks:
                return self._result(self.tasks[task], tuple(rest))
            case _:
                return None

    def _result(self, call: Call, rest: tuple[str, ...]) -> Value | None:
        """An output of a task, by the path after its name."""
        if rest == ("outputs", "parameters") and call.looped:
            return self._table(call)
        key = ("ip", "") if rest == ("ip",) else _key(rest)
        if key is None:
            return None
        if key not in call.target.outputs:
            if (known := self._known(call, key)) is not None:
                return known
            grow(call.target, key)
        found = call.output(key)
        if found is not None and self.current is not None:
            self.current.taken.add(id(call))
        if found is None or not call.looped:
            return found
        several = call.count is None and len(call.target.outputs) > 1
        if key[0] == "artifacts" or several or (found.port is not None and found.port.root.items):
            return None  # nor can a list of lists be passed to a program
        return self._gathered(call, key, call.count, found)

    def _table(self, call: Call) -> Value | None:
        """All outputs of a loop, as a list of records of texts; None if they are renamed."""
        target = call.target
        inner = target.graph.calls[0].target if isinstance(target.graph, Round) else target
        for key in [*inner.outputs]:
            grow(target, key)
        target.outputs = dict(sorted(target.outputs.items()))  # Go sorts the keys of JSON
        fields: dict[str, Port] = {}
        for (kind, name), slot in target.outputs.items():
            if slot.port is None or kind != "parameters" or name != slot.name:
                return None
            slot.port.asked(text=True)
            fields[name] = slot.port
        if len(fields) < 2:
            return None
        call.used = True
        if self.current is not None:
            self.current.taken.add(id(call))
        made = Port(unknown=True, items=True)
        made.record = Record(target.record, fields)
        return Value(lambda: call.variable, made)

    def _gathered(self, call: Call, key: tuple[str, str], count: int | None, found: Value) -> Value:
        """An output of all items of a loop, as a list of texts."""
        if found.port is not None:
            found.port.asked(text=True)
        if self.current is not None:
            printed = key[0] == "result"  # numbers in parameters remain texts, also in the manifest
            others = "numbers, flags, objects and lists" if printed else "objects and lists"
            kinds = "`int`, `float` or `dict[str, str]`" if printed else "`dict[str, str]` or `list[str]`"
            what = (
                f"the results of `{call.task}` are a list of texts; in the manifest it has {others} as such"
            )
            way = (
                f"where they are no texts, let `{call.target.name}` return {kinds}, and take a list of these"
            )
            self.reader.add(self.current.path, Otherwise(what, way))

        def items() -> Code:
            name, dot, field = str(found.code()).partition(".")
            if count is None or not dot:
                return name
            return listed(f"{name}[{index}].{field}" for index in range(count))

        return Value(items, Port(items=True, text=True))

    def _known(self, call: Call, key: Key) -> Value | None:
        """An output of a step that its template computes from the inputs."""
        for one in ports(call.target.template, "outputs", call.target.path):
            if one.key == key and "value" in one.said and not call.looped:
                return value_of(one.text or "", Inside(self, call), one.at)
        return None

    def results(self, name: tuple[str, ...]) -> Value | None:
        """The list of the results of a loop's items, by path; its port is that of each item."""
        call = self.tasks.get(name[1]) if name[0] in ("steps", "tasks") and len(name) > 1 else None
        key = _key(name[2:])
        if call is None or not call.looped or key is None or key[0] == "artifacts":
            return None
        grow(call.target, key)
        found = call.output(key) if len(call.target.outputs) == 1 else None
        if found is not None and self.current is not None:
            self.current.taken.add(id(call))
        return found

    def status(self, of: Call, current: Call) -> Value | None:
        """The outcome of a task: from a block at its end, or that it succeeded if that is certain."""
        block = next((one for one in current.blocks if one.of is of), None)
        wanted = self.order.awaited(current.task, of.task)
        certain = wanted is not None and wanted <= PLAIN
        skipped = "Skipped" in wanted if wanted else True
        if block is None and skipped and of.task in self.left:
            return None  # no block runs at the end of a skipped task
        if block is None and skipped and of.blocks and (not of.looped or of.omitted or not certain):
            # Likewise, but the condition under which it runs is known.
            held = conjunction([one.asked for one in of.blocks]) if certain and not of.looped else None
            return None if held is None else Value(lambda: "", None, None, held)
        if block is None and (of.task in self.order.asked or (certain and of.target.template.get("daemon"))):
            return None
        if block is None and of.looped and "may_fail" in of.options:
            return None  # it succeeds even if its items fail
        if block is None and certain:
            return Value(lambda: '"Succeeded"', Port(), "Succeeded")
        if block is None:
            block = current.at_end(self.order.word(current.task, of.task), of)
        block.named = True
        return Value(lambda: f"{block.name.removeprefix(' as ')}.status", Port(unknown=True, text=True))

    def runs_if(self, task: str, asked: Asked) -> bool:
        """Whether a task is known to run exactly under a condition."""
        call = self.tasks.get(task)
        held = [block.asked for block in call.blocks if block.asked is not None] if call else []
        return len(held) == 1 and held[0].code() == asked.code()


class Inside(Scope):
    """The variables within a template, as seen from one of its calls."""

    def __init__(self, graph: Graph, call: Call) -> None:
        super().__init__(graph.reader)
        self._graph = graph
        self._call = call

    def variable(self, name: tuple[str, ...]) -> Value | None:
        """A variable by its path: an input of the template is an argument of the call."""
        if name[:2] == ("inputs", "parameters") and len(name) == 3:
            taken = self._call.target.inputs.get(("parameters", name[2]))
            if taken is None or taken.name not in self._call.arguments:
                return None
            return Value(self._call.arguments[taken.name], taken.port)
        return self._graph.variable(name) if name[0] == "workflow" else None


class Round(Graph):
    """The pipeline that is called for each item of a task: values of the outer graph are passed to it."""

    def __init__(self, outer: Graph, call: Call, template: Json) -> None:
        super().__init__(outer.reader, call.target, template, call.path)
        self._outer = outer
        self._call = call
        self._names = Names(["item"], shadowing=True)
        self.item = Port(unknown=True)
        self.first = 0  # is added to the item
        call.target.inputs["item", ""] = Slot("item", self.item)

    def variable(self, name: tuple[str, ...]) -> Value | None:
        """A variable by its path: the item or a field of it, or a value that is passed from outside."""
        if name == ("item",):
            sign = "+" if self.first > 0 else "-"
            return Value(lambda: f"item {sign} {abs(self.first)}" if self.first else "item", self.item)
        if name[0] == "item":
            return self._field(name[1]) if len(name) == 2 else None
        key = "outer", ".".join(name)
        if key not in self.target.inputs:
            before, self._outer.current = self._outer.current, self._call
            value = self._outer.variable(name)
            self._outer.current = before
            if value is None or value.held is not None:
                return None
            if name[:2] in (("workflow", "name"), ("workflow", "namespace")):
                return value
            wish = name[1] if name[-1] == "result" else name[-1]
            made = self.target.inputs[key] = Slot(self._names.free(parameter(wish)), value.port)
            self._call.arguments[made.name] = value.code
            if value.file is not None:
                value.file.hand(made)
        return _input(self.target.inputs[key])

    def give(self, key: Key) -> None:
        """Let it return an output of its task."""
        (call,) = self.calls
        grow(call.target, key)
        if (found := call.output(key)) is not None and found.port is not None:
            named = call.target.outputs[key].name
            self.target.outputs[key] = Slot(named, found.port, value=found)
            if len(self.target.outputs) > 1 and not self.target.record:
                self.target.record = self.reader.shelf.names.free(f"{class_name(self.target.name)}Outputs")

    def is_named(self, name: tuple[str, ...]) -> bool:
        """Whether parts left to Argo can refer to a variable: a field of the item is inside of a JSON."""
        return (name[0] != "item" or (len(name) == 1 and not self.first)) and super().is_named(name)

    def spelled(self, name: tuple[str, ...]) -> tuple[str, ...] | None:
        """The path of a variable: a value that is passed from outside is an input."""
        if name[0] not in ("item", "inputs", "steps", "tasks") or (name == ("item",) and self.first):
            return None
        found = self.variable(name)
        return None if found is None else ("inputs", "parameters", str(found.code()))

    def results(self, name: tuple[str, ...]) -> Value | None:
        """A loop over such a list belongs to the graph that has it."""

    def apart(self, path: Path, given: Port, taken: Port) -> bool:
        """Whether a passed value keeps its own type."""
        if self.first and given is self.item:
            self.counted(path, taken)
        return super().apart(path, given, taken)

    def _field(self, name: str) -> Value | None:
        """A field of the item."""
        record = self.item.root.record
        if record is None:
            wish = class_name(f"{self._call.task}-item")
            record = self.item.root.record = Record(self.reader.shelf.names.free(wish))
            self.reader.shelf.records.append(record)
        if not is_field(name):
            return None
        return Value(lambda: record.part("item", name), record.field(name))


def grow(target: Function, key: Key) -> None:
    """Add an output that needs no declaration to a function, if possible."""
    if isinstance(target.graph, Round):
        target.graph.give(key)
    else:
        target.grow(key)


def conjunction(asked: Sequence[Asked | None]) -> Asked | None:
    """The conjunction of conditions; None if one of them is unknown."""
    known = [one for one in asked if one is not None]
    if len(known) < len(asked) or not known:
        return None
    return known[0] if len(known) == 1 else Asked("&", tuple(known))


def _key(rest: tuple[str, ...]) -> Key | None:
    """The output that a path refers to, after the task's name."""
    match rest:
        case ("outputs", ("parameters" | "artifacts") as kind, name):
            return kind, name
        case ("outputs", "result"):
            return "result", ""
        case _:
            return None


def _input(found: Slot | None) -> Value | None:
    if found is None:
        return None
    return Value(lambda: found.name, found.port, file=found if found.port is None else None)
