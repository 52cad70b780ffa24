"""expr-lang as Argo reads it in `{{=...}}` and in fields such as `expression`: text to a tree with positions.

Only the form is judged here. Source: github.com/expr-lang/expr 1.17.8 (parser, lexer), which Argo Workflows 4.1
uses; what Argo refuses later, because of names and types, is not refused here.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.expression_tree import (
    BINARY,
    COMPARISONS,
    PREDICATES,
    SAME,
    UNARY,
    Binary,
    Call,
    Chain,
    Closure,
    Conditional,
    Element,
    Items,
    Let,
    Literal,
    Mapping,
    Member,
    Method,
    Name,
    Sequence,
    Slice,
    Unary,
)
from flowdsl.grammar.lalr import Lalr, kind_of, span
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lark import Token

    from flowdsl.grammar.expression_tree import Node

MOST_DEPTH = 100
"""How many parts may stand inside each other."""


@lru_cache(maxsize=8192)
def parse(text: str) -> Node:
    """The tree of an expression, with offsets in code points. Raises GrammarError."""
    try:
        return _Builder(text).sequence(_lalr().parse(text).children[0])
    except RecursionError:
        raise GrammarError(text, 0, len(text), f"at most {MOST_DEPTH} nested parts") from None


@cache
def _lalr() -> Lalr:
    return Lalr("expression.lark", _instead, _unreadable)


def _unreadable(rest: str, _: frozenset[str]) -> str:
    """What may stand where no token begins."""
    if rest[0] in "'\"`":
        return f"a second {rest[0]} behind this one"
    if rest[0] == "&":
        return "`&&`"
    return "a number" if rest[0].isdigit() else "a value or an operator"


def _instead(found: str, allowed: frozenset[str]) -> str:
    """What may stand in place of `found`, given the terminals that the grammar would accept."""
    if found == "=":
        return "`==`"
    if "NUMBER" in allowed:
        return "a value"
    closing = [f"`{sign}`" for name, sign in _CLOSING if name in allowed]
    if "PIPE" in allowed:
        return " or ".join(["an operator", *(closing or ["the end"])])
    if "NAME" in allowed:
        return "a name"
    return " or ".join(closing) or "the end"


_CLOSING = (("COMMA", ","), ("COLON", ":"), ("RPAR", ")"), ("RSQB", "]"), ("RBRACE", "}"))
_ESCAPE = regex(
    r"\\(?:([^0-7xXuU])|([0-3][0-7]{2})|([xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
    r"|u\{([0-9a-fA-F]{1,6})\}|.)",
    re.DOTALL,
)
_ESCAPED = {**dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True)), "\\": "\\"}


def _start(item: Any) -> int:
    return span(item)[0]


def _end(item: Any) -> int:
    return span(item)[1]


class _Builder:
    """Makes the tree of the language from lark's, in which operators and operands are a flat chain."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.closures = 0  # how many predicates are around
        self.depth = 0

    def fault(self, item: Any, expected: str) -> GrammarError:
        return GrammarError(self.text, _start(item), _end(item), expected)

    def nodes(self, items: Iterable[Any]) -> tuple[Node, ...]:
        """The nodes of what stands between commas; nothing where lark has a placeholder."""
        return tuple(self.node(item) for item in items if item is not None)

    def sequence(self, tree: Any) -> Node:
        children: list[Any] = list(tree.children)
        if kind_of(children[-1]) == "SEMICOLON":
            last = children.pop()
            if rest := self.text[last.end_pos :].strip():
                raise GrammarError(self.text, last.end_pos, last.end_pos + len(rest), "a value")
        parts = [self.node(child) for child in children if kind_of(child) != "SEMICOLON"]
        if len(parts) == 1:
            return parts[0]
        return Sequence(tuple(parts), parts[0].start, parts[-1].end)

    def node(self, item: Any) -> Node:
        """The node of a tree or token of lark."""
        if kind_of(item).isupper():
            return self.token(item)
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise GrammarError(self.text, 0, len(self.text), f"at most {MOST_DEPTH} nested parts")
        made: Node = getattr(self, f"on_{item.data}")(item)
        self.depth -= 1
        return made

    def token(self, token: Token) -> Node:
        start, end, text = token.start_pos or 0, token.end_pos or 0, str(token)
        match token.type:
            case "NUMBER":
                return Literal(self.number(text, start, end), start, end)
            case "STRING":
                return Literal(self.unescaped(text, start), start, end)
            case "RAW":
                return Literal(text[1:-1].replace("``", "`"), start, end)
            case "BYTES":
                return Literal(self.unescaped(text[1:], start + 1).encode("latin-1", "replace"), start, end)
            case "CONSTANT":
                return Literal({"true": True, "false": False, "nil": None}[text], start, end)
            case "POINTER":
                return self.element(text[1:], start, end)
            case _:
                return Name(text, start, end)

    def element(self, name: str, start: int, end: int) -> Element:
        if not self.closures:
            wanted = (
                "a value: `#` and `.name` stand for the element inside the predicate of `filter`, `map` ..."
            )
            raise GrammarError(self.text, start, end, wanted)
        if name not in ("", "index", "acc"):
            raise GrammarError(self.text, start, end, "`#`, `#index`, `#acc`, or `#.` before a key")
        return Element(name, start, end)

    def number(self, text: str, start: int, end: int) -> int | float:
        plain = text.replace("_", "").lower()
        try:
            if plain[:2] in ("0x", "0o", "0b"):
                value: int | float = int(plain, 0)
            elif set(plain) & set(".e"):
                value = float(plain)
            else:
                value = int(plain)
        except ValueError:
            raise GrammarError(self.text, start, end, "a number") from None
        if value >= (2**63 if isinstance(value, int) else float("inf")):
            raise GrammarError(self.text, start, end, "a number of 64 bits")
        return value

    def unescaped(self, literal: str, start: int) -> str:
        def plain(match: re.Match[str]) -> str:
            sign, octal, code, braced = match.groups()
            if sign is not None and (sign in _ESCAPED or sign == literal[0]):
                return _ESCAPED.get(sign, sign)
            number = (
                int(octal, 8) if octal else int(code[1:], 16) if code else int(braced, 16) if braced else -1
            )
            if not 0 <= number <= 0x10FFFF or 0xD800 <= number <= 0xDFFF:
                at = start + 1 + match.start()
                wanted = "an escape such as `\\n`, `\\\\`, `\\x24` or `\\u00e9`"
                raise GrammarError(self.text, at, at + len(match[0]), wanted)
            return chr(number)

        inner = literal[1:-1].replace("\r\n", "\n").replace("\r", "\n")
        return _ESCAPE.sub(plain, inner) if "\\" in inner else inner

    # Each method below makes the node of the rule of its name in expression.lark.

    def on_chain(self, tree: Any) -> Node:
        return _Climb(self, tree.children).whole()

    def on_conditional(self, tree: Any) -> Node:
        condition, yes, no = map(self.node, tree.children)
        return Conditional(condition, yes, no, condition.start, no.end)

    def on_otherwise(self, tree: Any) -> Node:
        value, no = map(self.node, tree.children)
        return Conditional(value, value, no, value.start, no.end)

    def on_let(self, tree: Any) -> Node:
        _, name, value, _, body = tree.children
        return Let(str(name), self.node(value), self.sequence(body), _start(tree), _end(tree))

    def on_branches(self, tree: Any) -> Node:
        _, condition, yes, _, no = tree.children
        otherwise = self.sequence(no) if no.data == "sequence" else self.node(no)
        return Conditional(self.node(condition), self.sequence(yes), otherwise, _start(tree), _end(tree))

    def on_group(self, tree: Any) -> Node:
        return self.sequence(tree.children[0])

    def on_list(self, tree: Any) -> Node:
        return Items(self.nodes(tree.children), _start(tree), _end(tree))

    def on_map(self, tree: Any) -> Node:
        pairs = tuple(self.pair(*child.children) for child in tree.children if child is not None)
        return Mapping(pairs, _start(tree), _end(tree))

    def pair(self, key: Any, value: Any) -> tuple[Node, Node]:
        made = self.node(key)
        if kind_of(key) in ("NAME", "STRING", "RAW", "NUMBER", "CONSTANT"):
            text = made.value if isinstance(made, Literal) and isinstance(made.value, str) else str(key)
            made = Literal(text, made.start, made.end)
        elif self.text[_start(key)] != "(":
            raise self.fault(key, "a key: a name, quoted text, a number, or an expression in parentheses")
        return made, self.node(value)

    def on_member(self, tree: Any, optional: bool = False) -> Node:
        return self.member(self.node(tree.children[0]), tree.children[1].children[0], optional)

    def member(self, of: Node, name: Any, optional: bool) -> Node:
        key = Literal(str(name), _start(name), _end(name))
        inner = Member(of.of if isinstance(of, Chain) else of, key, optional, of.start, key.end)
        return Chain(inner, inner.start, inner.end) if optional or isinstance(of, Chain) else inner

    def on_optional_member(self, tree: Any) -> Node:
        return self.on_member(tree, optional=True)

    def on_element_member(self, tree: Any) -> Node:
        start = _start(tree)
        return self.member(self.element("", start, start + 1), tree.children[0].children[0], False)

    def on_item(self, tree: Any, optional: bool = False) -> Node:
        of, key = map(self.node, tree.children)
        made = Member(of, key, optional, of.start, _end(tree))
        return Chain(made, made.start, made.end) if optional else made

    def on_optional_item(self, tree: Any) -> Node:
        return self.on_item(tree, optional=True)

    def on_slice(self, tree: Any) -> Node:
        of, first, last = (None if child is None else self.node(child) for child in tree.children)
        assert of is not None
        return Slice(of, first, last, of.start, _end(tree))

    def on_method(self, tree: Any, optional: bool = False) -> Node:
        return self.method(self.on_member(tree, optional), tree, tree.children[2:])

    def on_optional_method(self, tree: Any) -> Node:
        return self.on_method(tree, optional=True)

    def on_element_method(self, tree: Any) -> Node:
        return self.method(self.on_element_member(tree), tree, tree.children[1:])

    def method(self, function: Node, tree: Any, arguments: list[Any]) -> Node:
        called: Any = function.of if isinstance(function, Chain) else function
        made = Method(called, self.nodes(arguments), function.start, _end(tree))
        return Chain(made, made.start, made.end) if isinstance(function, Chain) else made

    def on_call(self, tree: Any, piped: Node | None = None) -> Node:
        name, *rest = tree.children
        arguments = (() if piped is None else (piped,)) + self.nodes(rest)
        return Call(str(name), arguments, _start(tree) if piped is None else piped.start, _end(tree))

    def on_predicate(self, tree: Any, piped: Node | None = None) -> Node:
        name, *given = (child for child in tree.children if child is not None)
        least, most = PREDICATES[name]
        arguments: list[Node] = [] if piped is None else [piped]
        for child in given:
            arguments.append(self.closure(child) if len(arguments) == 1 else self.node(child))
        if not least <= len(arguments) <= most:
            several = f"{least}" if least == most else f"{least} or {most}"
            raise self.fault(tree, f"{several} arguments of `{name}`, not {len(arguments)}")
        return Call(str(name), tuple(arguments), _start(tree) if piped is None else piped.start, _end(tree))

    def closure(self, item: Any) -> Closure:
        self.closures += 1
        braces = kind_of(item) == "closure"
        if not braces and self.text[_start(item)] == "{":
            raise self.fault(item, "parentheses around this map: `{` begins a predicate here")
        made = Closure(
            self.sequence(item.children[0]) if braces else self.node(item), _start(item), _end(item)
        )
        self.closures -= 1
        return made

    def on_closure(self, tree: Any) -> Node:
        raise self.fault(tree, "a value")


class _Climb:
    """Gives the operators of a chain their operands, by precedence, as expr-lang's parser does."""

    def __init__(self, builder: _Builder, items: list[Any]) -> None:
        self.builder = builder
        self.items = items
        self.at = 0

    def whole(self) -> Node:
        return self.operation(0)

    def operator(self) -> tuple[str, int]:
        """The operator that comes next, or nothing, and how many tokens it takes."""
        if self.at >= len(self.items):
            return "", 0
        word = str(self.items[self.at])
        if word == "not":
            return str(self.items[self.at + 1]), 2
        return SAME.get(word, word), 1

    def operation(self, least: int) -> Node:
        left = self.operand()
        previous = ""
        while True:
            word, tokens = self.operator()
            if not word or BINARY[word] < least:
                return left
            token = self.items[self.at]
            if previous == "??" and word not in ("??", "|"):
                raise self.builder.fault(token, "parentheses: `??` does not mix with other operators")
            self.at += tokens
            if word == "|":
                left = self.piped(left)
            elif word in COMPARISONS:
                left = self.compared(left, word)
            else:
                right = self.operation(BINARY[word] + (word != "**"))
                left = Binary(word, left, right, left.start, right.end)
                if tokens == 2:
                    left = Unary("!", left, left.start, left.end)
            previous = word

    def compared(self, left: Node, word: str) -> Node:
        """A comparison, or several: `a < b < c` is `a < b && b < c`."""
        made: Node | None = None
        while True:
            right = self.operation(BINARY[word] + 1)
            one = Binary(word, left, right, left.start, right.end)
            made = one if made is None else Binary("&&", made, one, made.start, one.end)
            left = right
            word, tokens = self.operator()
            if word not in COMPARISONS:
                return made
            self.at += tokens

    def piped(self, value: Node) -> Node:
        tree = self.items[self.at]
        self.at += 1
        return (
            self.builder.on_predicate(tree, value)
            if tree.data == "predicate"
            else self.builder.on_call(tree, value)
        )

    def operand(self) -> Node:
        item = self.items[self.at]
        self.at += 1
        if kind_of(item) in ("NOT", "BANG", "PLUS", "MINUS"):
            word = SAME.get(str(item), str(item))
            operand = self.operation(UNARY[word])
            return Unary(word, operand, _start(item), operand.end)
        return self.builder.node(item)
