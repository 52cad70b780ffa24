"""Expressions over values that exist only at run time: a closed set of immutable nodes, shared by trace and IR.

A leaf names the origin of a value; the other nodes compute. The stand-in that a user holds wraps one of these together
with its type (`flowdsl.values.value`). In a trace `Out.task` is the call itself, in the IR the name of the task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.values.node import Node
from flowdsl.values.types import BOOL, FILE, JSON, TEXT, Type

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.artifact import Artifact
    from flowdsl.tracing.trace import Call
    from flowdsl.volume import Volume


class Const(Node):
    """A value known now; it fits the type."""

    value: Any
    type: Type


class Out(Node):
    """One output of a task; `variable` is where Argo has it, empty for the parameter of that name."""

    task: Call | str
    name: str
    type: Type
    variable: str = ""


class Param(Node):
    """A parameter of the graph (a pipeline, or the template of a loop) by the name of its port."""

    name: str
    type: Type


class Item(Node):
    """A field of the item of the loop that is being written; `name` empty: the item itself."""

    name: str
    type: Type


class RunField(Node):
    """A field of the run: `name`, `namespace`, `status` ..."""

    name: str
    type: Type = TEXT


class Attempt(Node):
    """Which attempt it is of the graph that hands this on, from 0."""

    type: Type = TEXT


class Op(Node):
    """An operator on expressions: Python's spelling, with Python's result."""

    op: str
    args: tuple[Expr, ...]
    type: Type


class Join(Node):
    """Text made of literal parts and values: an f-string or `+` on text."""

    parts: tuple[str | Expr, ...]
    type: Type = TEXT


class Get(Node):
    """A key or an index into a JSON value; an `Item` as index is the number of the loop's item."""

    of: Expr
    key: str | int | Item
    type: Type


class Cell(Node):
    """One output of one item of an earlier loop: text, encoded as the step wrote it."""

    rows: Expr
    index: Item | int
    name: str
    type: Type


class Many(Node):
    """A list, dict, tuple or record that Python built from values; `names` empty: a list."""

    items: tuple[Expr, ...]
    names: tuple[str, ...]
    type: Type


class OnVolume(Node):
    """A path on a volume."""

    volume: Volume
    path: Expr
    type: Type = FILE


class Held(Node):
    """What a pod has for itself, such as a Secret: it has no text, and comes into none."""

    word: str
    type: Type = JSON


class Stored(Node):
    """A file that lies outside of the run; `texts` are those of its words that may hold values of the run."""

    artifact: Artifact
    names: tuple[str, ...]
    texts: tuple[Expr, ...]
    type: Type = FILE


class Either(Node):
    """The first of the choices that exists; of a `part` of a record, None exists too where its task ran."""

    choices: tuple[Expr, ...]
    type: Type
    part: bool = False


class Rows(Node):
    """Everything that the items of a loop handed on."""

    task: Call | str
    item: Type
    type: Type


class Best(Node):
    """One output of the best trial of a sweep; the IR also has its rows and what makes it the best."""

    task: Call | str
    name: str
    type: Type
    rows: Expr | None = None
    metric: str = ""
    goal: str = ""
    minimum: int = 1


class Ran(Node):
    """Whether a task ran and succeeded."""

    task: str
    type: Type = BOOL


class Status(Node):
    """How a task that has ended did so: "Succeeded", "Failed" or "Error"."""

    task: Call | str
    type: Type


class InPod(Node):
    """An input, or the path of an output, as the command line of a container sees it."""

    name: str
    type: Type
    output: bool = False


class Checkpoint(Node):
    """The folder for the checkpoints of the task that is given it."""

    type: Type = FILE


class Poison(Node):
    """What a mistake answers: it swallows everything, so that one mistake is reported once."""

    type: Type = JSON


Expr = (
    Const
    | Out
    | Param
    | Item
    | RunField
    | Attempt
    | Op
    | Join
    | Get
    | Cell
    | Many
    | OnVolume
    | Held
    | Stored
    | Either
    | Rows
    | Best
    | Ran
    | Status
    | InPod
    | Checkpoint
    | Poison
)

_LEAVES = frozenset(
    {Const, Held, Out, Param, Item, RunField, Attempt, Rows, Ran, Status, InPod, Checkpoint, Poison}
)
COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})


def children(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside one."""
    if type(expr) in _LEAVES:
        return ()
    match expr:
        case Op(_, args):
            return args
        case Join(parts):
            return tuple(part for part in parts if not isinstance(part, str))
        case Get(of) | Cell(of):
            return (of,)
        case Many(items):
            return items
        case OnVolume(_, path):
            return (path,)
        case Stored(_, _, texts):
            return texts
        case Best(_, _, _, rows) if rows is not None:
            return (rows,)
        case Either(choices):
            return choices
        case _:
            return ()


MOST_NESTED = 95
"""How many operations may be inside each other: an expression of Argo is read to a depth of 100 here."""


def nested(expr: Expr) -> int:
    """How many operations and choices are inside each other in an expression."""
    known: int | None = expr.__dict__.get("_nested")
    if known is None:
        known = max(map(nested, children(expr)), default=0) + isinstance(expr, (Op, Either))
        expr.__dict__["_nested"] = known
    return known


def leaves(expr: Expr) -> list[Expr]:
    """The leaves of an expression, left to right."""
    if type(expr) in _LEAVES:
        return [expr]
    inside = children(expr)
    if not inside:
        return [expr]
    return [leaf for child in inside for leaf in leaves(child)]


def substitute(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """The expression with every part for which `change` answers replaced; parts inside those stay."""
    replaced = change(expr)
    if replaced is not None:
        return replaced
    if type(expr) in _LEAVES:
        return expr
    inside = children(expr)
    if not inside:
        return expr
    new = tuple(substitute(child, change) for child in inside)
    if all(one is other for one, other in zip(new, inside, strict=True)):
        return expr
    match expr:
        case Op(op, _, kind):
            return Op(op, new, kind)
        case Join(parts):
            pending = iter(new)
            return Join(tuple(part if isinstance(part, str) else next(pending) for part in parts))
        case Get(_, key, kind):
            return Get(new[0], key, kind)
        case Cell(_, index, name, kind):
            return Cell(new[0], index, name, kind)
        case Many(_, names, kind):
            return Many(new, names, kind)
        case OnVolume(volume):
            return OnVolume(volume, new[0])
        case Stored():
            return expr.changed(texts=new)
        case Either():
            return expr.changed(choices=new)
        case Best():
            return expr.changed(rows=new[0])
        case _:
            return expr


def negate(condition: Expr) -> Expr:
    """The opposite of a condition."""
    return condition if isinstance(condition, Poison) else Op("not", (condition,), BOOL)
