"""The syntax tree of an expr-lang expression: its nodes with their positions, and the variables that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import Reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import dataclass_transform

    @dataclass_transform(frozen_default=True)
    class Tree:
        """A node, for type checkers: they compare named tuples by their fields, and take a minute for a tree."""

else:
    Tree = NamedTuple


class Literal(Tree):
    """`1`, `2.5`, `'text'`, `b'bytes'`, `true`, `nil`."""

    value: bool | int | float | str | bytes | None
    start: int
    end: int


class Name(Tree):
    """A variable: of Argo, or bound by `let`."""

    name: str
    start: int
    end: int


class Element(Tree):
    """`#`, the current element of a predicate; or its `#index`, or the `#acc` of `reduce`."""

    name: str
    start: int
    end: int


class Member(Tree):
    """`of.key`, `of[key]`; `optional` when written with `?.`."""

    of: Node
    key: Node
    optional: bool
    start: int
    end: int


class Chain(Tree):
    """The scope of a `?.` inside: all of it is nil if the part before a `?.` is."""

    of: Node
    start: int
    end: int


class Slice(Tree):
    """`of[first:last]`."""

    of: Node
    first: Node | None
    last: Node | None
    start: int
    end: int


class Call(Tree):
    """`function(...)`; `value | function(...)` has the value as its first argument."""

    function: str
    arguments: tuple[Node, ...]
    start: int
    end: int


class Method(Tree):
    """`of.name(...)`, such as `sprig.trim(x)`."""

    function: Member
    arguments: tuple[Node, ...]
    start: int
    end: int


class Closure(Tree):
    """The predicate of `filter`, `map` and the like, with or without braces."""

    body: Node
    start: int
    end: int


class Unary(Tree):
    """`!`, `-` or `+` before an operand; `not` is `!`."""

    operator: str
    operand: Node
    start: int
    end: int


class Binary(Tree):
    """Two operands; `and`, `or` and `^` are `&&`, `||` and `**`."""

    operator: str
    left: Node
    right: Node
    start: int
    end: int


class Conditional(Tree):
    """`condition ? yes : no`, or `if condition {yes} else {no}`."""

    condition: Node
    yes: Node
    no: Node
    start: int
    end: int


class Items(Tree):
    """`[1, 2]`."""

    items: tuple[Node, ...]
    start: int
    end: int


class Mapping(Tree):
    """`{key: value}`; the keys are string literals, or expressions in parentheses."""

    pairs: tuple[tuple[Node, Node], ...]
    start: int
    end: int


class Let(Tree):
    """`let name = value; body`."""

    name: str
    value: Node
    body: Node
    start: int
    end: int


class Sequence(Tree):
    """`a; b`: the value is that of the last part."""

    parts: tuple[Node, ...]
    start: int
    end: int


Node = (
    Literal
    | Name
    | Element
    | Member
    | Chain
    | Slice
    | Call
    | Method
    | Closure
    | Unary
    | Binary
    | Conditional
    | Items
    | Mapping
    | Let
    | Sequence
)


PREDICATES: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("all", "none", "any", "one", "filter", "map", "find", "findIndex"), (2, 2)),
    **dict.fromkeys(("findLast", "findLastIndex", "groupBy"), (2, 2)),
    **dict.fromkeys(("count", "sum"), (1, 2)),
    **dict.fromkeys(("sortBy", "reduce"), (2, 3)),
}
"""The functions whose second argument is evaluated for each element, and how many arguments they take."""


COMPARISONS = frozenset(("<", ">", "<=", ">="))


SAME = {"and": "&&", "or": "||", "not": "!", "^": "**"}


UNARY = {"!": 50, "-": 90, "+": 90}


BINARY = {
    "|": 0,
    "||": 10,
    "&&": 15,
    "..": 25,
    "+": 30,
    "-": 30,
    "*": 60,
    "/": 60,
    "%": 60,
    "**": 100,
    "??": 500,
    **dict.fromkeys(("==", "!=", *COMPARISONS, "in", "matches", "contains", "startsWith", "endsWith"), 20),
}
"""The operators, and their precedence. Source: parser/operator/operator.go."""


def children(node: Node) -> Iterator[Node]:
    """The children of a node, in source order."""
    if isinstance(node, Mapping):
        for pair in node.pairs:
            yield from pair
        return
    *parts, _start, _end = cast("Iterable[object]", node)
    for part in parts:
        if isinstance(part, _NODES):
            yield part
        elif isinstance(part, tuple):
            yield from cast("tuple[Node, ...]", part)


def walk(node: Node) -> Iterator[Node]:
    """The node and its descendants in pre-order."""
    stack = [node]
    while stack:
        at = stack.pop()
        yield at
        stack.extend(reversed(list(children(at))))


def levels(node: Node) -> int:
    """The depth of a tree."""
    found, row = 0, [node]
    while row:
        found += 1
        row = [inner for one in row for inner in children(one)]
    return found


_IF = regex(r"if\b")


def spot(node: Node, text: str) -> int:
    """The position at which expr-lang reports an error of a node: its operator, function, or last key."""
    match node:
        case Member(of, key):
            bracket = text.rfind("[", of.end, key.start)
            return key.start if bracket < 0 else bracket
        case Slice(of):
            return text.find("[", of.end)
        case Method(function):
            return spot(function, text)
        case Call(function, arguments) if not text.startswith(function, node.start):  # after a `|`
            return text.find(function, arguments[0].end)
        case Conditional(start=start) if _IF.match(text, start):
            return 0
        case Conditional(end=end):  # what follows it
            return len(text) - (len(text[end:].lstrip()) or 1)
        case Binary(_, left):
            return left.end + len(text[left.end :]) - len(text[left.end :].lstrip(" \t\r\n)"))
        case _:
            return node.start


def path(node: Node) -> tuple[str, ...] | None:
    """The parts of `a.b['c']`, or None if the node is anything else."""
    match node:
        case Name(name):
            return (name,)
        case Chain(of):
            return path(of)
        case Member(of, Literal(str() as key)):
            before = path(of)
            return None if before is None else (*before, key)
        case _:
            return None


def variables(node: Node) -> tuple[Reference, ...]:
    """The variables that an expression names, with the longest path of each, in order.

    Not included are names bound by `let`, functions, and keys of computed values. `guarded` says that the expression
    has a fallback for a missing variable: it is to the left of `??`, or has a `?.`.
    """
    found: list[Reference] = []
    _variables(node, False, frozenset(), found)
    return tuple(found)


def _variables(node: Node, guarded: bool, bound: frozenset[str], found: list[Reference]) -> None:
    if isinstance(node, (Name, Member, Chain)) and (parts := path(node)) is not None:
        if parts[0] not in bound:
            optional = any(isinstance(each, Member) and each.optional for each in walk(node))
            found.append(Reference(parts, node.start, node.end, guarded or optional))
    elif isinstance(node, Let):
        _variables(node.value, guarded, bound, found)
        _variables(node.body, guarded, bound | {node.name}, found)
    elif isinstance(node, Binary) and node.operator == "??":
        _variables(node.left, True, bound, found)
        _variables(node.right, guarded, bound, found)
    elif isinstance(node, Method) and path(node.function) is not None:
        for argument in node.arguments:
            _variables(argument, guarded, bound, found)
    else:
        for part in children(node):
            _variables(part, guarded, bound, found)


_NODES = (
    Literal,
    Name,
    Element,
    Member,
    Chain,
    Slice,
    Call,
    Method,
    Closure,
    Unary,
    Binary,
    Conditional,
    Items,
    Mapping,
    Let,
    Sequence,
)


def always(node: Node) -> Iterator[Node]:
    """The parts of a node that are evaluated whenever the node is."""
    match node:
        case Conditional(condition, _, _):
            yield condition
        case Binary("&&" | "||" | "??", first, _):
            yield first
        case Method(function, arguments):
            yield from (function.of, *arguments)
        case Chain():
            pass
        case _:
            yield from (each for each in children(node) if not isinstance(each, Closure))
