"""What stands between reading manifests and writing Python: functions, what they take and give, and their calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from flowdsl.compiler.importing.layout import Parts, flat
from flowdsl.compiler.importing.ports import Port
from flowdsl.compiler.problem import Problem

if TYPE_CHECKING:
    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.shelf import Shelf
    from flowdsl.compiler.lint.tree import Path
    from flowdsl.diagnostic import Finding

Json = dict[str, Any]
Key = tuple[str, str]
"""A kind of input or output and its name: `("parameters", "a")`, `("artifacts", "b")`, `("workflow", "status")`."""

Render = Callable[[], "Code"]
"""A piece of code that is known when all has been read: types are found by then."""


OTHER = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
SIGNS = {"&&": "&", "||": "|", "&": "|", "|": "&"}


@dataclass
class Value:
    """A value as code, and the port it comes from; without a port a file."""

    code: Render
    port: Port | None = None
    exact: str | None = None  # the text, where it is written down


@dataclass
class Input:
    """A parameter of a function."""

    name: str
    port: Port | None  # of a file there is none
    default: Render | None = None
    optional: bool = False
    doc: str = ""

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
        return (
            f"{before}{value}"
            if isinstance(value, str)
            else Parts(
                before + (flat(value.head) if value.head else "") + value.before, value.items, value.after
            )
        )


@dataclass
class Output:
    """One of the results of a function."""

    name: str
    port: Port | None
    optional: bool = False
    value: Value | None = None  # what a pipeline gives

    @property
    def annotation(self) -> str:
        """The type, as it is written."""
        return ("Path | None" if self.optional else "Path") if self.port is None else self.port.kind


@dataclass
class Function:
    """A template as a function."""

    name: str
    template: Json
    path: Path
    inputs: dict[Key, Input] = field(default_factory=dict[Key, Input])
    outputs: dict[Key, Output] = field(default_factory=dict[Key, Output])
    record: str = ""  # the class of its results, if there are several
    lookups: set[Key] = field(default_factory=set["Key"])  # inputs that the template finds by itself
    lines: Callable[[], list[str]] = list  # the function as text, when all has been read
    pipeline: bool = False

    @property
    def returns(self) -> str:
        """The annotation of the result."""
        if len(self.outputs) > 1:
            return self.record
        return next((one.annotation for one in self.outputs.values()), "None")


@dataclass
class Asked:
    """A condition: a comparison of two sides, or several conditions that are joined."""

    sign: str
    parts: tuple[Asked, ...] = ()
    sides: tuple[Value, ...] = ()

    def negated(self) -> Asked:
        """What holds where this one does not."""
        if self.parts:
            return Asked(SIGNS[self.sign], tuple(part.negated() for part in self.parts))
        return Asked(OTHER[self.sign], (), self.sides)

    def code(self, inside: bool = False) -> str:
        """The condition as Python."""
        if self.parts:
            text = f" {self.sign} ".join(part.code(True) for part in self.parts)
        else:
            text = f" {self.sign} ".join(flat(side.code()) for side in self.sides)
        return f"({text})" if inside else text


@dataclass
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


@dataclass
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
    caught: bool = False  # whether another task goes on from its failure
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

        return Value(code, found.port)


class Problems(list[Problem]):
    """What is found while reading."""

    def add(self, path: Path, finding: Finding, part: tuple[int, int] | None = None) -> None:
        """Record a finding at a path, or at a part of the text there."""
        problem = Problem(path, finding, part=part)
        if all((one.path, one.finding.message) != (path, finding.message) for one in self):
            self.append(problem)


class Reading(Protocol):
    """What the readers of templates ask the reader of their document."""

    shelf: Shelf
    problems: Problems

    def refuse(self, path: Path, what: str, way: str = "") -> None:
        """Record that something has no word."""
        ...

    def hook(self, hook: Json) -> Json:
        """A hook that is left to Argo."""
        ...

    def rounds(self, graph: Any, task: Json, path: Path, loop: Any) -> Call:
        """The call of a pipeline for each item of a task."""
        ...

    def made(self, target: Function, graph: Any) -> None:
        """A pipeline that no template is."""
        ...

    def add(self, path: Path, finding: Finding, words: str = "") -> None:
        """Record a finding at a path, or at the words of the text there that it is about."""
        ...

    def called(self, task: Json, path: Path) -> Function:
        """The function of what a task calls."""
        ...

    def grow(self, target: Function, key: Key) -> None:
        """A result of a function that its template does not name."""
        ...

    def input_of(self, target: Function, key: Key) -> Input | None:
        """An input of what is called."""
        ...

    def filled(self, target: Function, key: Key) -> tuple[Path, Any] | None:
        """What an input says about itself with tags."""
        ...

    def counter(self, target: Function) -> Input:
        """A parameter of a function that counts the items of a loop."""
        ...

    def called_options(self, target: Function) -> dict[str, Code]:
        """What a call of a graph says about it."""
        ...

    def graph_options(self, target: Function, fields: Json) -> None:
        """Say what a graph has beside its tasks, and take it out of the fields."""
        ...

    def names_in(self, target: Function) -> Callable[[tuple[str, ...]], tuple[str, ...] | None]:
        """How tags in a template name things now."""
        ...

    def rest_of(self, target: Function, side: str, kind: str, one: Json) -> Json:
        """What an input or output says besides what a function does."""
        ...
