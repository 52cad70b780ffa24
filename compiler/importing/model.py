"""The intermediate form between manifests and Python: functions, their inputs and outputs, and their calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.importing.layout import Parts, flat
from flowdsl.compiler.importing.names import Names
from flowdsl.compiler.importing.ports import Port, as_text
from flowdsl.compiler.kinds import BODIES, GRAPH_BODIES
from flowdsl.compiler.tree import entries, inside
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.scopes import Graph
    from flowdsl.compiler.tree import Path

Json = dict[str, Any]
Key = tuple[str, str]
"""A kind of input or output and its name: `("parameters", "a")`, `("artifacts", "b")`, `("workflow", "status")`."""

Render = Callable[[], "Code"]
"""A piece of code that is known when all has been read: types are found by then."""

OTHER = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
SIGNS = {"&&": "&", "||": "|", "&": "|", "|": "&"}


class Entry(NamedTuple):
    """A parameter or artifact among inputs, outputs or arguments, as it is written there."""

    kind: str
    name: str
    said: Json
    path: Path

    @property
    def key(self) -> Key:
        """Its kind and name."""
        return self.kind, self.name

    @property
    def text(self) -> str | None:
        """The value that it has, or has where none is handed over."""
        found = self.said.get("value", self.said.get("default"))
        return None if found is None else as_text(found)


def ports(holder: Json, side: str, path: Path = ()) -> Iterator[Entry]:
    """The parameters and artifacts of one side of something, which is at a path."""
    for kind in ("parameters", "artifacts"):
        for index, one in enumerate(entries(inside(holder, side), kind)):
            yield Entry(kind, str(one.get("name")), one, (*path, side, kind, index))


@dataclass
class Value:
    """A value as code, and the port it comes from; without a port a file."""

    code: Render
    port: Port | None = None
    exact: str | None = None  # the text, where it is written down
    held: Asked | None = None  # of the status of what succeeded or was skipped: the condition
    file: Slot | None = None  # that it stands for


@dataclass
class Slot:
    """A parameter of a function, or one of its results."""

    name: str
    port: Port | None  # of a file there is none
    optional: bool = False
    default: Render | None = None  # of a parameter
    value: Value | None = None  # what a pipeline returns
    handed: list[Slot] = field(default_factory=list["Slot"])  # what takes the file

    def hand(self, taken: Slot) -> None:
        """Let something take the file, and with it that it may be missing."""
        self.handed.append(taken)
        if self.optional:
            taken.miss()

    def miss(self) -> None:
        """The file may be missing."""
        if not self.optional:
            self.optional = True
            for taken in self.handed:
                taken.miss()

    @property
    def annotation(self) -> str:
        """The type, as it is written."""
        return ("Path | None" if self.optional else "Path") if self.port is None else self.port.kind

    @property
    def declared(self) -> Code:
        """The parameter, as it is written."""
        if self.default is None:
            return f"{self.name}: {self.annotation}"
        value = self.default()
        before = f"{self.name}: {self.annotation} = "
        if isinstance(value, str):
            return before + value
        head = flat(value.head) if value.head else ""
        return Parts(before + head + value.before, value.items, value.after)


@dataclass
class Function:
    """A template as a function."""

    name: str
    template: Json
    path: Path
    inputs: dict[Key, Slot] = field(default_factory=dict[Key, Slot])
    outputs: dict[Key, Slot] = field(default_factory=dict[Key, Slot])
    record: str = ""  # the class of its results, if there are several
    fixed: dict[Key, Entry] = field(default_factory=dict["Key", Entry])  # inputs made of what the run is
    lookups: set[Key] = field(default_factory=set["Key"])  # inputs that the template finds by itself
    left: set[Key] = field(default_factory=set["Key"])  # outputs that nobody takes, beside what it prints
    graph: Graph | None = None  # of a pipeline
    options: dict[str, Code] = field(default_factory=dict[str, "Code"])  # what its calls say about a graph
    written: Callable[[], list[str]] | None = None  # a step as text, when all has been read

    @property
    def body(self) -> str | None:
        """The field of what it runs, if it is no graph."""
        return next((one for one in BODIES if one in self.template and one not in GRAPH_BODIES), None)

    @property
    def parameters(self) -> list[Code]:
        """What it takes, as it is written: what need not be handed over at last."""
        once = {id(one): one for one in self.inputs.values()}.values()
        return [one.declared for one in sorted(once, key=lambda one: one.default is not None)]

    @property
    def returns(self) -> str:
        """The annotation of the result."""
        if len(self.outputs) > 1:
            return self.record
        return next((one.annotation for one in self.outputs.values()), "None")

    def named(self, key: Key) -> str:
        """What an output is called where it is named in a text."""
        return "return" if len(self.outputs) == 1 else self.outputs[key].name

    def taken(self, key: Key) -> Slot | None:
        """What it takes under a name."""
        return self.inputs.get(key)

    def makes(self, key: Key) -> bool:
        """Whether it has a result that nothing is said about: what a program prints, or the address of a daemon."""
        if key[0] == "ip":
            return bool(self.template.get("daemon"))
        return key[0] == "result" and self.body in ("container", "script", "containerSet", "data", "http")

    def grow(self, key: Key) -> None:
        """A result that nothing is said about, where it has no other one."""
        if self.makes(key) and not self.outputs:
            self.outputs[key] = Slot("return", Port(unknown=True, text=key[0] == "ip"))

    def counter(self) -> Slot:
        """A parameter that counts the items of a loop."""
        key: Key = ("item", "")
        if key not in self.inputs:
            names = Names(one.name for one in self.inputs.values())
            self.inputs[key] = Slot(names.free("item"), Port(), default=lambda: "0")
        return self.inputs[key]


@dataclass
class Asked:
    """A condition: a comparison of two sides, or several conditions that are joined."""

    sign: str
    parts: tuple[Asked, ...] = ()
    sides: tuple[Value, ...] = ()
    numbers: bool = False  # whether the sides are compared as numbers

    @property
    def texts(self) -> list[Port]:
        """What is compared as a number, and is none."""
        ports = [side.port for side in self.sides if side.port is not None] if self.numbers else []
        return [port for port in ports if not port.counts] + [
            one for part in self.parts for one in part.texts
        ]

    def negated(self) -> Asked:
        """What holds where this one does not."""
        if self.parts:
            return Asked(SIGNS[self.sign], tuple(part.negated() for part in self.parts))
        return Asked(OTHER[self.sign], (), self.sides, self.numbers)

    def code(self, inside: bool = False) -> str:
        """The condition as Python."""
        if self.parts:
            text = f" {self.sign} ".join(part.code(True) for part in self.parts)
        else:
            text = f" {self.sign} ".join(flat(side.code()) for side in self.sides)
        return f"({text})" if inside else text


@dataclass(eq=False)
class Block:
    """A `with` around a call: `when`, `on_exit`, `on_failure`."""

    word: str
    code: Render
    asked: Asked | None = None
    of: Call | None = None  # the task at whose end it is
    named: bool = False  # whether it is asked how that has ended

    @property
    def line(self) -> str:
        """What the block is, to tell blocks apart."""
        return f"{self.word}({flat(self.code())}){self.name}"

    @property
    def name(self) -> str:
        """What says how the task has ended."""
        return f" as {self.of.variable.rstrip('_')}_ended" if self.named and self.of is not None else ""


@dataclass(eq=False)
class Call:
    """A task: what is called with what, and when."""

    task: str
    target: Function
    path: Path
    arguments: dict[str, Render] = field(default_factory=dict[str, Render])
    over: dict[str, Render] = field(default_factory=dict[str, Render])
    options: dict[str, Render] = field(default_factory=dict[str, Render])
    blocks: list[Block] = field(default_factory=list[Block])
    after: list[Call] = field(default_factory=list["Call"])
    taken: set[int] = field(default_factory=set[int])  # the calls whose results it is given, by their ids
    count: int | None = None  # of items, if they are written down
    looped: bool = False
    parallel: str = ""
    omitted: list[Block] = field(default_factory=list[Block])  # those without which Argo omits it
    exits: list[Call] = field(default_factory=list["Call"])  # what runs at its end
    variable: str = ""
    used: bool = False

    def output(self, key: Key) -> Value | None:
        """One of its results, if there is such a one."""
        found = self.target.outputs.get(key)
        if found is None:
            return None
        self.used = True

        def code() -> Code:
            return self.variable if len(self.target.outputs) == 1 else f"{self.variable}.{found.name}"

        return Value(code, found.port, file=found if found.port is None else None)

    def at_end(self, word: str, other: Call) -> Block:
        """Let it run at the end of another one."""
        other.used = True
        self.taken.add(id(other))
        self.blocks.append(Block(word, lambda: other.variable, None, other))
        return self.blocks[-1]
