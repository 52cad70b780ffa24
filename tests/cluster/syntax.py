"""The expressions that the compiler writes, parsed as expr-lang does (version 1.17).

The subset: literals, `+ - * /`, comparisons, `&& || not !`, `? :`, `??`, ranges, access to members and items,
and some functions. Everything else raises `Unsupported`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple


class Unsupported(Exception):
    """Something that the compiler does not write."""


class ExprError(Exception):
    """An expression that expr-lang does not compile or cannot evaluate."""


class Literal(NamedTuple):
    """A value."""

    value: Any


class Name(NamedTuple):
    """A variable, or a function that Argo adds."""

    name: str


class Element(NamedTuple):
    """`#`, the element that a predicate is asked about."""


class Member(NamedTuple):
    """`of.key` or `of[key]`."""

    of: Node
    key: Node


class Call(NamedTuple):
    """A function with its arguments; the second of `filter` and `map` is a predicate."""

    function: str
    arguments: tuple[Node, ...]


class Operation(NamedTuple):
    """An operator with its one, two or three operands."""

    operator: str
    operands: tuple[Node, ...]


Node = Literal | Name | Element | Member | Call | Operation

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>[0-9][0-9_]*(?:\.(?!\.)[0-9_]*)?(?:[eE][+-]?[0-9]+)?(?![\w$]))
    |(?P<name>[^\W\d]\w*|\$\w*)
    |(?P<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")
    |(?P<operator>\.\.|\?\?|\?\.|==|!=|<=|>=|&&|\|\||\*\*|[-+*/%<>!?:,.()\[\]{}\#|;=^])
    )""",
    re.VERBOSE,
)
_WORDS = {"in", "or", "and", "not", "matches", "contains", "startsWith", "endsWith", "let", "if", "else"}
_ESCAPE = re.compile(r"\\(?:([abfnrtv\\'\"])|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))")
_ESCAPED = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))
_BINARY = {"||": 10, "&&": 15, "==": 20, "!=": 20, "<": 20, ">": 20, "<=": 20, ">=": 20, "..": 25}
_BINARY.update({"+": 30, "-": 30, "*": 60, "/": 60, "%": 60, "??": 500})
_UNARY = {"not": 50, "!": 50, "-": 90, "+": 90}
PREDICATES = {"filter", "map"}
_BUILTINS = {"string", "toJSON", "fromJSON", "len", "min", "max", "abs", "replace", "int", "float"}
ADDED = {"asInt", "asFloat"}  # Argo's own names for int and float
_FOREIGN = {"jsonpath"}  # read, never evaluated: flowdsl does not write it


def _tokens(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ExprError(f"unrecognized character or literal not terminated: {text[at:]!r}")
        kind = str(match.lastgroup)
        word = match[kind]
        if kind == "name" and word in _WORDS:
            kind = "operator"
        found.append((kind, word))
        at = match.end()
    return [*found, ("end", "")]


def _unescaped(literal: str) -> str:
    def plain(match: re.Match[str]) -> str:
        word, four, two, other = match.groups()
        if other is not None:
            raise ExprError("invalid char escape")
        return _ESCAPED.get(word, word) if word else chr(int(four or two, 16))

    return _ESCAPE.sub(plain, literal[1:-1])


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.at = 0
        self.depth = 0  # of predicates

    def whole(self) -> Node:
        node = self.expression(0)
        if self.tokens[self.at][0] != "end":
            raise self.unexpected()
        return node

    def unexpected(self) -> Exception:
        kind, word = self.tokens[self.at]
        if word in ("let", ";", "|", "?.", "**", "^", "in", "or", "and", "if", "{", "[", "(", "contains"):
            return Unsupported(f"{word} in {self.text}")
        return ExprError(f'unexpected token {kind}("{word}") in {self.text}')

    def take(self, word: str) -> bool:
        if self.tokens[self.at] == ("operator", word):
            self.at += 1
            return True
        return False

    def expect(self, word: str) -> None:
        if not self.take(word):
            raise self.unexpected()

    def expression(self, precedence: int) -> Node:
        left = self.primary()
        previous = ""
        while True:
            kind, word = self.tokens[self.at]
            if kind != "operator" or _BINARY.get(word, -1) < precedence:
                break
            if previous == "??" and word != "??":
                raise ExprError(f"Operator ({word}) and coalesce expressions (??) cannot be mixed")
            if previous in ("<", ">", "<=", ">=") and word in ("<", ">", "<=", ">="):
                raise Unsupported("a chain of comparisons")
            self.at += 1
            left = Operation(word, (left, self.expression(_BINARY[word] + 1)))
            previous = word
        if precedence == 0:
            while self.take("?"):
                one = self.expression(0)
                self.expect(":")
                left = Operation("?:", (left, one, self.expression(0)))
        return left

    def primary(self) -> Node:
        kind, word = self.tokens[self.at]
        if kind == "operator" and word in _UNARY:
            self.at += 1
            return self.postfix(Operation(word, (self.expression(_UNARY[word]),)))
        if self.take("("):
            node = self.expression(0)
            self.expect(")")
            return self.postfix(node)
        if self.depth and self.take("#"):
            if self.tokens[self.at][0] == "name":
                raise Unsupported("#index")
            return self.postfix(Element())
        self.at += 1
        match kind:
            case "number":
                return Literal(self.number(word.replace("_", "")))
            case "string":
                return self.postfix(Literal(_unescaped(word)))
            case "name" if word in ("true", "false", "nil"):
                return Literal({"true": True, "false": False, "nil": None}[word])
            case "name":
                called = self.tokens[self.at] == ("operator", "(")
                return self.postfix(self.call(word) if called else Name(word))
            case _:
                self.at -= 1
                raise self.unexpected()

    def number(self, word: str) -> int | float:
        if not word.isdigit():
            return float(word)
        if int(word) >= 2**63:
            raise ExprError(f"invalid integer literal {word}")
        return int(word)

    def call(self, function: str) -> Node:
        if function not in PREDICATES | _BUILTINS | ADDED | _FOREIGN:
            raise Unsupported(f"the function {function}")
        arguments: list[Node] = []
        self.expect("(")
        while not self.take(")"):
            if arguments:
                self.expect(",")
            predicate = function in PREDICATES and len(arguments) == 1
            self.depth += predicate
            arguments.append(self.expression(0))
            self.depth -= predicate
        return Call(function, tuple(arguments))

    def postfix(self, node: Node) -> Node:
        while True:
            if self.take("."):
                kind, word = self.tokens[self.at]
                if kind != "name" and word not in _WORDS:
                    raise self.unexpected()
                self.at += 1
                node = Member(node, Literal(word))
            elif self.take("["):
                key = self.expression(0)
                if self.take(":"):
                    raise Unsupported("a slice")
                self.expect("]")
                node = Member(node, key)
            else:
                return node


@lru_cache(maxsize=4096)
def parse(text: str) -> Node:
    """The tree of an expression; `ExprError` where expr-lang would not compile it."""
    return _Parser(text).whole()


def names(text: str) -> list[str]:
    """The names and dotted paths that an expression cannot do without, as Argo looks for them.

    Members to the left of `??` may be absent. Source: getIdentifiers in util/template/expression_template.go.
    """
    found: dict[str, None] = {}

    def walk(node: Node, guarded: bool) -> None:
        match node:
            case Name(name):
                found[name] = None
            case Member(of, key):
                path = None if guarded else path_of(node)
                if path is not None:
                    found[path] = None
                walk(of, guarded)
                walk(key, guarded)
            case Call(function, arguments):
                if function in ADDED:
                    found[function] = None
                for argument in arguments:
                    walk(argument, guarded)
            case Operation(operator, operands):
                for position, operand in enumerate(operands):
                    walk(operand, guarded or (operator == "??" and position == 0))
            case _:
                pass

    walk(parse(text), False)
    return list(found)


def path_of(node: Node) -> str | None:
    match node:
        case Name(name):
            return name
        case Member(of, Literal(str() as key)):
            before = path_of(of)
            return None if before is None else f"{before}.{key}"
        case _:
            return None
