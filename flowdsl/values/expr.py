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
    """A constant; it fits the type."""

    value: Any
    type: Type


class Out(Node):
    """One output of a task; `variable` is its name in Argo, empty for the parameter of that name."""

    task: Call | str
    name: str
    type: Type
    variable: str = ""


class Param(Node):
    """A parameter of the graph (a pipeline, or the template of a loop) by the name of its port, or of the run."""

    name: str
    type: Type
    of_run: bool = False


class Item(Node):
    """A field of the item of the current loop; `name` empty: the item itself, or its number.

    `within`: in the number of a combination of lists, the number of the element of the first one; the others are
    those that vary faster.
    """

    name: str
    type: Type
    within: tuple[Expr, ...] = ()


class RunField(Node):
    """A field of the run: `name`, `namespace`, `status` ..."""

    name: str
    type: Type = TEXT


class Attempt(Node):
    """The number of the attempt of the graph that passes this on, from 0."""

    type: Type = TEXT


class Op(Node):
    """An operator on expressions: in Python's notation, with Python's result."""

    op: str
    args: tuple[Expr, ...]
    type: Type


class Join(Node):
    """A text of literal parts and values: an f-string or `+` on text."""

    parts: tuple[str | Expr, ...]
    type: Type = TEXT


class Get(Node):
    """The element at a key or index of a JSON value; an `Item` as index is the number of the loop's item."""

    of: Expr
    key: str | int | Item
    type: Type


class Cell(Node):
    """One output of one item of an earlier loop: text, encoded as by the step; no `index`: `rows` is the item."""

    rows: Expr
    index: Item | int | None
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
    """Something that exists only in a pod, such as a Secret: it has no text, and cannot be part of one."""

    word: str
    type: Type = JSON


class Stored(Node):
    """A file outside of the run; `texts` are its arguments that may contain values of the run."""

    artifact: Artifact
    names: tuple[str, ...]
    texts: tuple[Expr, ...]
    type: Type = FILE


class Either(Node):
    """The first of the choices that exists; for a `part` of a record, also None if the task of that record ran."""

    choices: tuple[Expr, ...]
    type: Type
    part: bool = False


class Rows(Node):
    """The outputs of all items of a loop; with a name, what is in a list or dict of files, an output of a step."""

    task: Call | str
    item: Type
    type: Type
    name: str = ""


class Best(Node):
    """One output of the best trial of a sweep; in the IR it is an output of the task that picks the trial."""

    task: Call
    name: str
    type: Type


class BestRow(Node):
    """The outputs of the best trial of a sweep, only in the IR: one of its rows, as JSON."""

    rows: Expr
    loop: str
    metric: str
    goal: str
    minimum: int
    type: Type


class Ran(Node):
    """Whether a task ran and succeeded."""

    task: str
    type: Type = BOOL


class Status(Node):
    """The outcome of a task that has ended: "Succeeded", "Failed" or "Error"."""

    task: Call | str
    type: Type


class InPod(Node):
    """An input, or the path of an output, in the command line of a container."""

    name: str
    type: Type
    output: bool = False


class Checkpoint(Node):
    """The folder for the checkpoints of the task that gets it."""

    type: Type = FILE


class Poison(Node):
    """The result of a mistake: it accepts any operation, so that a mistake is reported once."""

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
    | BestRow
    | Ran
    | Status
    | InPod
    | Checkpoint
    | Poison
)

_LEAVES = frozenset(
    {Const, Held, Out, Param, Item, RunField, Attempt, Rows, Best, Ran, Status, InPod, Checkpoint, Poison}
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
        case BestRow(rows):
            return (rows,)
        case Either(choices):
            return choices
        case _:
            return ()


MOST_NESTED = 95
"""The maximal nesting of operations: an expression of Argo is parsed to a depth of 100 here."""
MOST_PARTS = 10_000
"""The maximal number of values and operations in an expression: Argo reads no more."""


def nested(expr: Expr) -> int:
    """The nesting depth of operations and choices in an expression; those of nested choices are tried in turn."""
    known: int | None = expr.__dict__.get("_nested")
    if known is None:
        if isinstance(expr, Either):
            tried = flat(expr.choices)
            known = max(min(place, len(tried) - 1) + nested(one) for place, one in enumerate(tried, 1))
        else:
            known = max(map(nested, children(expr)), default=0) + isinstance(expr, Op)
        expr.__dict__["_nested"] = known
    return known


def size(expr: Expr) -> int:
    """The number of values and operations in an expression, counted at each place."""
    known: int | None = expr.__dict__.get("_size")
    if known is None:
        known = expr.__dict__["_size"] = 1 + sum(map(size, children(expr)))
    return known


def flat(choices: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Nested choices, flattened in order."""
    return tuple(
        inner
        for choice in choices
        for inner in (flat(choice.choices) if isinstance(choice, Either) else (choice,))
    )


def leaves(expr: Expr) -> list[Expr]:
    """The leaves of an expression, left to right."""
    if type(expr) in _LEAVES:
        return [expr]
    inside = children(expr)
    if not inside:
        return [expr]
    return [leaf for child in inside for leaf in leaves(child)]


def substitute(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """The expression with each part replaced for which `change` returns one; parts inside of those are kept."""
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
        case BestRow():
            return expr.changed(rows=new[0])
        case _:
            return expr


def negate(condition: Expr) -> Expr:
    """The opposite of a condition."""
    return condition if isinstance(condition, Poison) else Op("not", (condition,), BOOL)
