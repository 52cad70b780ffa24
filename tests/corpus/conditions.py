"""Conditions of Argo in one form: `when` in either of its languages, `depends`, and expressions.

Texts and numbers are compared as Argo's values are, which are texts; what casts them adds nothing to the meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from flowdsl.compiler.tree import is_list
from flowdsl.grammar import expression as grammar
from flowdsl.grammar import expression_tree as t

Resolve = Callable[[str], Any]

_TOKEN = re.compile(
    r"""\s*(?:(?P<tag>\{\{(?:[^}]|\}(?!\}))*\}\})|(?P<text>'[^']*'|"[^"]*")
    |(?P<operator>&&|\|\||==|!=|<=|>=|=~|[<>!()])|(?P<word>[^\s&|=!<>()'"{]+))""",
    re.VERBOSE,
)
_LEVELS = (("||",), ("&&",), ("==", "!=", "<", "<=", ">", ">=", "=~"))
_OF_TWO = tuple(operator for level in _LEVELS for operator in level)
_CASTS = ("asInt", "asFloat", "int", "float", "string")
_ORDER: Mapping[str, Callable[[float, float], bool]] = {
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


class Tree(NamedTuple):
    """An operator with its operands; a `value`, a `path` of a variable, or a `call` with arguments."""

    kind: str
    operands: tuple[Any, ...]

    def shown(self, known: Resolve | Mapping[str, Any]) -> Any:
        """The tree with variables replaced; what is known already is decided."""
        resolve: Resolve = known if callable(known) else lambda path: _task(path, known)
        match self.kind:
            case "value":
                return self.operands[0]
            case "path":
                return resolve(self.operands[0])
            case "at":
                of, key = (one.shown(resolve) for one in self.operands)
                decoded = is_list(of) and of[:1] == ["fromJSON"]
                return key if decoded and key == ["item", of[1]] else ["at", of, key]
            case "call":
                name, *arguments = self.operands
                inner = [one.shown(resolve) for one in arguments]
                if name == "jsonpath" and re.fullmatch(r"\$(\.\w+)+", str(inner[1])):
                    return _field(inner[0], inner[1].split(".")[1:])
                match [name, *inner]:
                    case [
                        "split",
                        ["trim", ["trim", text], "[]"],
                        ",",
                    ]:  # the pieces of a list of whole numbers
                        return ["fromJSON", text]
                    case ["trim", ["item", *_] as item]:
                        return item
                    case [cast, value, *_] if cast in _CASTS:
                        return value
                    case found:
                        return found
            case operator:
                return _decided(operator, [one.shown(resolve) for one in self.operands])

    def names(self) -> list[str]:
        """The tasks that a `depends` names."""
        if self.kind == "path":
            return [self.operands[0].partition(".")[0]]
        if self.kind == "value":
            return [str(self.operands[0]).partition(".")[0]]
        return [name for one in self.operands for name in one.names()]

    def is_conjunction(self) -> bool:
        """Whether a `depends` waits for tasks to end as they do when nothing fails."""
        if self.kind in ("path", "value"):
            return "." not in str(self.operands[0])
        return self.kind == "&&" and all(one.is_conjunction() for one in self.operands)


def _field(text: Any, keys: list[str]) -> Any:
    """A field of what a text is the JSON of."""
    found = ["fromJSON", text]
    for key in keys:
        found = ["at", found, key]
    return found


def _task(path: str, known: Mapping[str, Any]) -> Any:
    name, _, result = path.partition(".")
    return ["ended", known[name], result]


def _decided(operator: str, operands: list[Any]) -> Any:
    if operator == "!":
        (one,) = operands
        return not one if isinstance(one, bool) else _opposite(one)
    if operator not in _OF_TWO:
        return [operator, *operands]
    if operator in ("&&", "||"):
        stops = operator == "||"
        if stops in operands:
            return stops
        left = [one for one in operands if not isinstance(one, bool)]
        flat = [inner for one in left for inner in (one[1:] if one[:1] == [operator] else [one])]
        return not stops if not flat else flat[0] if len(flat) == 1 else [operator, *sorted(flat, key=str)]
    one, other = operands
    if isinstance(one, str) and isinstance(other, str):
        if operator in ("==", "!="):
            return (one == other) is (operator == "==")
        if operator in _ORDER:
            return _ORDER[operator](float(one), float(other))
    if operator in ("==", "!="):
        one, other = sorted(operands, key=str)
    return [operator, one, other]


def _opposite(shown: Any) -> Any:
    swapped = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
    if is_list(shown) and shown and shown[0] in swapped:
        return [swapped[shown[0]], *shown[1:]]
    return ["!", shown]


def condition(text: str) -> Tree:
    """A `when` or a `depends` as a tree; raises `ValueError` for what it cannot read."""
    whole = re.fullmatch(r"\s*\{\{=((?:[^}]|\}(?!\}))*)\}\}\s*", text, re.DOTALL)
    if whole:
        return expression(whole[1])
    tokens: list[tuple[str, str]] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"{text[at:]!r} in {text!r}")
        assert match.lastgroup is not None
        tokens.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    tree = _level(tokens, 0)
    if tokens:
        raise ValueError(f"{tokens} are left of {text!r}")
    return tree


def depends(text: str) -> Tree:
    """A `depends` as a tree, in which words are tasks and how they end."""
    return _named(condition(text))


def _named(tree: Tree) -> Tree:
    if tree.kind == "value":
        return Tree("path", tree.operands)
    return Tree(tree.kind, tuple(map(_named, tree.operands))) if tree.kind != "path" else tree


def _level(tokens: list[tuple[str, str]], level: int) -> Tree:
    if level == len(_LEVELS):
        return _operand(tokens)
    left = _level(tokens, level + 1)
    while tokens and tokens[0][0] == "operator" and tokens[0][1] in _LEVELS[level]:
        operator = tokens.pop(0)[1]
        left = Tree(operator, (left, _level(tokens, level + 1)))
    return left


def _operand(tokens: list[tuple[str, str]]) -> Tree:
    kind, text = tokens.pop(0)
    if text == "!":
        return Tree("!", (_operand(tokens),))
    if text == "(":
        inner = _level(tokens, 0)
        tokens.pop(0)
        return inner
    if kind == "tag":
        body = text[2:-2].strip()
        return expression(body[1:]) if body.startswith("=") else Tree("path", (body,))
    if kind == "text":
        tag = re.fullmatch(r"\{\{([^=}][^}]*)\}\}", text[1:-1])
        return Tree("path", (tag[1].strip(),)) if tag else Tree("value", (text[1:-1],))
    if kind != "word":
        raise ValueError(f"{text!r} begins no operand")
    return Tree("value", (text,))


def expression(text: str) -> Tree:
    """An expression of expr-lang as a tree."""
    return _tree(grammar.parse(text))


def _tree(node: t.Node) -> Tree:
    path = t.path(node)
    if path is not None:
        return Tree("path", (".".join(path),))
    match node:
        case t.Literal(bool() as value):
            return Tree("value", ("true" if value else "false",))
        case t.Literal(value):
            return Tree("value", (str(value),))
        case t.Call(function, arguments):
            return Tree("call", (function, *map(_tree, arguments)))
        case t.Unary(operator, operand):
            return Tree(operator, (_tree(operand),))
        case t.Binary(operator, left, right):
            return Tree(operator, (_tree(left), _tree(right)))
        case t.Conditional(asked, yes, no):
            return Tree("?:", (_tree(asked), _tree(yes), _tree(no)))
        case t.Member(of, key):
            return Tree("at", (_tree(of), _tree(key)))
        case _:
            raise ValueError(f"{node} has no form here")
