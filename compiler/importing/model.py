"""The intermediate form between manifests and Python: functions, their inputs and outputs, and their calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.importing.layout import Chain, Parts, between, flat
from flowdsl.compiler.importing.names import Names
from flowdsl.compiler.importing.ports import Port, as_text
from flowdsl.compiler.kinds import BODIES, GRAPH_BODIES, PROGRAM_BODIES
from flowdsl.compiler.tree import entries, inside
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.scopes import Graph
    from flowdsl.compiler.tree import Path

Json = dict[str, Any]
Key = tuple[str, str]
"""The kind and name of an input or output: `("parameters", "a")`, `("artifacts", "b")`, `("workflow", "status")`."""

Render = Callable[[], "Code"]
"""A piece of code that is rendered when all has been read, since types are inferred by then."""

OTHER = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
SIGNS = {"&&": "&", "||": "|", "&": "|", "|": "&"}


class Entry(NamedTuple):
    """A parameter or artifact of inputs, outputs or arguments, as the document has it."""

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
        """The value, or the default."""
        found = self.said.get("value", self.said.get("default"))
        return None if found is None else as_text(found)

    @property
    def at(self) -> Path:
        """The path of that text."""
        return (*self.path, "value" if "value" in self.said else "default")


def ports(holder: Json, side: str, path: Path = ()) -> Iterator[Entry]:
    """The parameters and artifacts of one side of a holder, which is at a path."""
    for kind in ("parameters", "artifacts"):
        for index, one in enumerate(entries(inside(holder, side), kind)):
            yield Entry(kind, str(one.get("name")), one, (*path, side, kind, index))


@dataclass
class Value:
    """A value as code, and the port that it comes from; without a port it is a file."""

    code: Render
    port: Port | None = None
    exact: str | None = None  # the text, if it is a literal
    held: Asked | None = None  # of the status of a task that succeeded or was skipped: the condition
    file: Slot | None = None  # that it refers to
    pieces: tuple[str | Value, ...] = ()  # of a text


@dataclass
class Slot:
    """A parameter of a function, or one of its results."""

    name: str
    port: Port | None  # None for a file
    optional: bool = False
    default: Render | None = None  # of a parameter
    about: Code = ""  # its description
    value: Value | None = None  # returned by a pipeline
    handed: list[Slot] = field(default_factory=list["Slot"])  # the parameters that the file is passed to

    def hand(self, taken: Slot) -> None:
        """Pass the file to a parameter, which becomes optional if the file is."""
        self.handed.append(taken)
        if self.optional:
            taken.miss()

    def miss(self) -> None:
        """Mark the file as optional."""
        if not self.optional:
            self.optional = True
            for taken in self.handed:
                taken.miss()

    @property
    def annotation(self) -> str:
        """The annotation of its type."""
        return ("Path | None" if self.optional else "Path") if self.port is None else self.port.kind

    @property
    def declared(self) -> Code:
        """The declaration of the parameter."""
        annotation = self.annotation if self.port is None else self.port.annotation
        if self.about:
            annotation = Parts("Annotated[", (("", annotation), ("", self.about)), "]")
        if self.default is None:
            return between(f"{self.name}: ", annotation)
        if isinstance(annotation, Parts):
            return between(f"{self.name}: ", annotation, f" = {flat(self.default())}")
        return between(f"{self.name}: {flat(annotation)} = ", self.default())


@dataclass
class Function:
    """A template as a function."""

    name: str
    template: Json
    path: Path
    inputs: dict[Key, Slot] = field(default_factory=dict[Key, Slot])
    outputs: dict[Key, Slot] = field(default_factory=dict[Key, Slot])
    record: str = ""  # the class of its results, if there are several
    fixed: dict[Key, Entry] = field(default_factory=dict["Key", Entry])  # computed from values of the run
    lookups: set[Key] = field(default_factory=set["Key"])  # inputs that the template resolves itself
    left: set[Key] = field(default_factory=set["Key"])  # outputs that nobody uses, besides the printed one
    graph: Graph | None = None  # of a pipeline
    options: dict[str, Code] = field(default_factory=dict[str, "Code"])  # said in calls: those about a graph
    written: Callable[[], list[str]] | None = None  # writes a step, when all has been read

    @property
    def body(self) -> str | None:
        """The field of the template that it runs, unless it is a graph."""
        return next((one for one in BODIES if one in self.template and one not in GRAPH_BODIES), None)

    @property
    def parameters(self) -> list[Code]:
        """Its parameters in the order of the signature: those with defaults last."""
        once = {id(one): one for one in self.inputs.values()}.values()
        return [one.declared for one in sorted(once, key=lambda one: one.default is not None)]

    @property
    def returns(self) -> str:
        """The annotation of the result."""
        if len(self.outputs) > 1:
            return self.record
        return next((one.annotation for one in self.outputs.values()), "None")

    def named(self, key: Key) -> str:
        """The name of an output within texts."""
        return "return" if len(self.outputs) == 1 else self.outputs[key].name

    def taken(self, key: Key) -> Slot | None:
        """The parameter for an input."""
        return self.inputs.get(key)

    def makes(self, key: Key) -> bool:
        """Whether it has an output that needs no declaration: what a program prints, or the address of a daemon."""
        if key[0] == "ip":
            return bool(self.template.get("daemon"))
        return key[0] == "result" and self.body in (*PROGRAM_BODIES, "data", "http")

    def grow(self, key: Key) -> None:
        """Add an output that needs no declaration, if there is none yet."""
        if self.makes(key) and not self.outputs:
            self.outputs[key] = Slot("return", Port(unknown=True, text=key[0] == "ip"))

    def counter(self) -> Slot:
        """The parameter for the index in a loop."""
        key: Key = ("item", "")
        if key not in self.inputs:
            names = Names(one.name for one in self.inputs.values())
            self.inputs[key] = Slot(names.free("item"), Port(), default=lambda: "0")
        return self.inputs[key]


@dataclass
class Asked:
    """A condition: a comparison of two sides, or several conditions joined by an operator."""

    sign: str
    parts: tuple[Asked, ...] = ()
    sides: tuple[Value, ...] = ()
    numbers: bool = False  # whether the sides are compared as numbers

    @property
    def texts(self) -> list[Port]:
        """The ports that are compared as numbers, but hold other texts."""
        ports = [side.port for side in self.sides if side.port is not None] if self.numbers else []
        return [port for port in ports if not port.counts] + [
            one for part in self.parts for one in part.texts
        ]

    def negated(self) -> Asked:
        """The negation."""
        if self.parts:
            return Asked(SIGNS[self.sign], tuple(part.negated() for part in self.parts))
        return Asked(OTHER[self.sign], (), self.sides, self.numbers)

    def code(self, inside: bool = False) -> Code:
        """The condition as Python."""
        parts = [part.code(True) for part in self.parts] or [side.code() for side in self.sides]
        chain = Chain(tuple(map(flat, parts)), self.sign)
        return f"({flat(chain)})" if inside else chain


@dataclass(eq=False)
class Block:
    """A `with` around a call: `when`, `on_exit`, `on_failure`."""

    word: str
    code: Render
    asked: Asked | None = None
    of: Call | None = None  # the task at whose end it runs
    named: bool = False  # whether the outcome of that task is used

    @property
    def line(self) -> str:
        """The text of the `with` statement, which identifies the block."""
        return f"{self.word}({flat(self.code())}){self.name}"

    @property
    def name(self) -> str:
        """The variable for the outcome of the task."""
        return f" as {self.of.variable.rstrip('_')}_ended" if self.named and self.of is not None else ""


@dataclass(eq=False)
class Call:
    """A task: the function that is called, its arguments, and its conditions and dependencies."""

    task: str
    target: Function
    path: Path
    arguments: dict[str, Render] = field(default_factory=dict[str, Render])
    over: dict[str, Render] = field(default_factory=dict[str, Render])
    options: dict[str, Render] = field(default_factory=dict[str, Render])
    blocks: list[Block] = field(default_factory=list[Block])
    after: list[Call] = field(default_factory=list["Call"])
    taken: set[int] = field(default_factory=set[int])  # ids of the calls whose results are passed to it
    count: int | None = None  # of items, if they are literals
    looped: bool = False
    parallel: str = ""
    omitted: list[Block] = field(default_factory=list[Block])  # the blocks without which Argo omits it
    exits: list[Call] = field(default_factory=list["Call"])  # the tasks that run at its end
    variable: str = ""
    used: bool = False

    def output(self, key: Key) -> Value | None:
        """One of its results, if it exists."""
        found = self.target.outputs.get(key)
        if found is None:
            return None
        self.used = True

        def code() -> Code:
            return self.variable if len(self.target.outputs) == 1 else f"{self.variable}.{found.name}"

        return Value(code, found.port, file=found if found.port is None else None)

    def at_end(self, word: str, other: Call) -> Block:
        """Let it run at the end of another task."""
        other.used = True
        self.taken.add(id(other))
        self.blocks.append(Block(word, lambda: other.variable, None, other))
        return self.blocks[-1]
