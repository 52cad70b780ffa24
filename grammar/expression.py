"""Parses expr-lang, the language of `{{=...}}` and of fields such as `expression`, to a tree with positions.

Only the syntax is checked here, not names and types. Source: github.com/expr-lang/expr 1.17.8 (parser, lexer), which
Argo Workflows 4.1 uses.

The parser is written by hand: most pipelines have an expression, and to build the tables of a generated parser takes
as long as the rest of a command.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from flowdsl.grammar.chains import CHAINED, nested
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
    levels,
)
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from flowdsl.grammar.expression_tree import Node

MOST_DEPTH = 100
"""The maximum depth of nested nodes."""
MOST_IN_A_ROW = 200
"""The most consecutive operators but `&&` and `||`: each nests what is before it, and trees are walked by recursion."""

MOST_NODES = 10_000
"""The most nodes of a tree. Source: expr-lang, DefaultMaxNodes."""


@lru_cache(maxsize=8192)
def parse(text: str) -> Node:
    """The tree of an expression, with offsets in code points. Raises GrammarError."""
    reader = _Reader(text)
    try:
        made = reader.whole()
    except RecursionError:
        raise GrammarError(text, 0, len(text), f"at most {MOST_DEPTH} nested parts") from None
    if len(reader.tokens) > MOST_NODES and sum(one.kind in _NODES for one in reader.tokens) > MOST_NODES:
        raise GrammarError(text, 0, len(text), f"at most {MOST_NODES} names, values and operators")
    if len(reader.tokens) > MOST_IN_A_ROW and levels(made) > MOST_IN_A_ROW:
        raise GrammarError(text, 0, len(text), f"at most {MOST_IN_A_ROW} operators in a row")
    return made


# --- tokens ----------------------------------------------------------------------------------------


class _Token(NamedTuple):
    """A token. `kind`: that of a literal or word, or the operator itself; `BAD` for anything else."""

    kind: str
    text: str
    start: int
    end: int


_QUOTED = r"""(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")"""
_TOKEN = regex(
    r"(?P<SPACE>(?:[ \t\f\r\n]|//[^\n]*|/\*(?:.|\n)*?\*/)+)"
    rf"|(?P<BYTES>[bB]{_QUOTED})|(?P<STRING>{_QUOTED})|(?P<RAW>`(?:[^`]|``)*`)"
    r"|(?P<NUMBER>(?:0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+"
    r"|(?:[0-9][0-9_]*(?:\.(?!\.)[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]+)?)(?![\w$]))"
    r"|(?P<POINTER>#[\w$]*)|(?P<NAME>[^\W\d][\w$]*|\$[\w$]*)"
    r"|(?P<SIGN>\|\||&&|==|!=|<=|>=|\.\.|\*\*|\?\?|\?\.|::|[-+*/%^<>!|?:=()\[\]{},.;])"
)
_BEFORE_CALL = regex(r"\s*\(")
_WORDS = {
    **dict.fromkeys(("true", "false", "nil"), "CONSTANT"),
    **dict.fromkeys(("in", "matches", "contains", "startsWith", "endsWith"), "WORD"),
    **{word: word.upper() for word in ("not", "or", "and", "let", "if", "else")},
    **dict.fromkeys(PREDICATES, "PREDICATE"),
}
_NAMES = frozenset(("NAME", *_WORDS.values()))
"""The tokens that may be a name after a dot."""
_CLOSING = frozenset(("END", ",", ":", ";", ")", "]", "{", "}"))
"""The tokens that end an expression: if another one of these is expected, no operator is missing."""
_PREFIXES = frozenset(("NOT", "!", "+", "-"))
_INFIXES = frozenset(("WORD", "OR", "AND", *(sign for sign in BINARY if not sign.isalpha()), "^"))

_NODES = frozenset(
    ("BYTES", "STRING", "RAW", "NUMBER", "POINTER", ".", "?.", "[", *_NAMES, *_PREFIXES, *_INFIXES)
)
"""The tokens for which expr-lang makes a node each; calls of functions that are not built in make another one."""


def _tokens(text: str) -> list[_Token]:
    """The tokens of a text, up to the first invalid one, and its end."""
    found: list[_Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            found.append(_Token("BAD", text[at], at, at + 1))
            break
        start, at = at, match.end()
        kind, word = str(match.lastgroup), match[0]
        if kind == "SPACE":
            continue
        if kind == "SIGN":
            kind = word
        elif kind == "NAME":
            kind = _WORDS.get(word, kind)
            if kind == "PREDICATE" and not _BEFORE_CALL.match(text, at):
                kind = "NAME"
        found.append(_Token(kind, word, start, at))
    found.append(_Token("END", "", len(text), len(text)))
    return found


def _unreadable(rest: str) -> str:
    """What is allowed where no token begins."""
    if rest[0] in "'\"`":
        return f"a second {rest[0]} after this one"
    if rest[0] == "&":
        return "`&&`"
    return "a number" if rest[0].isdecimal() else "a value or an operator"


# --- literals --------------------------------------------------------------------------------------

_ESCAPE = regex(
    r"\\(?:([^0-7xXuU])|([0-3][0-7]{2})|([xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
    r"|u\{([0-9a-fA-F]{1,6})\}|.)",
    re.DOTALL,
)
_ESCAPED = {**dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True)), "\\": "\\"}
_CONSTANTS = {"true": True, "false": False, "nil": None}


def _number(text: str, token: _Token) -> int | float:
    plain = token.text.replace("_", "").lower()
    try:
        if plain[:2] in ("0x", "0o", "0b"):
            value: int | float = int(plain, 0)
        elif set(plain) & set(".e"):
            value = float(plain)
        else:
            value = int(plain)
    except ValueError:
        raise GrammarError(text, token.start, token.end, "a number") from None
    if value >= (2**63 if isinstance(value, int) else float("inf")):
        raise GrammarError(text, token.start, token.end, "a number of 64 bits")
    return value


def _unescaped(text: str, literal: str, start: int) -> str:
    """The value of a string literal that begins at an offset."""

    def plain(match: re.Match[str]) -> str:
        sign, octal, code, braced = match.groups()
        if sign is not None and (sign in _ESCAPED or sign == literal[0]):
            return _ESCAPED.get(sign, sign)
        number = int(octal, 8) if octal else int(code[1:], 16) if code else int(braced, 16) if braced else -1
        if not 0 <= number <= 0x10FFFF or 0xD800 <= number <= 0xDFFF:
            at = start + 1 + match.start()
            wanted = "an escape such as `\\n`, `\\\\`, `\\x24` or `\\u00e9`"
            raise GrammarError(text, at, at + len(match[0]), wanted)
        return chr(number)

    inner = literal[1:-1].replace("\r\n", "\n").replace("\r", "\n")
    return _ESCAPE.sub(plain, inner) if "\\" in inner else inner


# --- the tree --------------------------------------------------------------------------------------


class _Reader:
    """Parses a text from left to right, with operator precedence, as expr-lang's parser does."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.at = 0
        self.closures = 0  # the number of enclosing predicates
        self.depth = -1
        self.open = True  # whether the last expression may continue with an operator

    def peek(self) -> str:
        """The kind of the next token."""
        return self.tokens[self.at].kind

    def take(self) -> _Token:
        """Consume the next token."""
        token = self.tokens[self.at]
        self.at += 1
        return token

    def fault(self, first: int, expected: str) -> GrammarError:
        """The error that the tokens from one on, up to the next, are wrong."""
        start = self.tokens[first].start
        return GrammarError(self.text, start, self.end(), expected)

    def end(self) -> int:
        """The end of the last consumed token."""
        return self.tokens[self.at - 1].end

    def unexpected(self, expected: str) -> GrammarError:
        """The error that the next token is wrong."""
        kind, found, start, end = self.tokens[self.at]
        if kind == "BAD":
            expected = _unreadable(self.text[start:])
        elif found == "=" and self.text[end : end + 1] == ">":
            expected = "a predicate in braces, such as `{# * 2}`, or `>=`"
        elif found == "=":
            expected = "`==`"
        return GrammarError(self.text, start, end, expected)

    def expect(self, *kinds: str) -> _Token:
        """Consume the next token, one of these, after an expression. Raises GrammarError."""
        if self.peek() not in kinds:
            wanted = [f"`{kind}`" if kind != "END" else "the end" for kind in kinds]
            goes_on = self.open and self.peek() not in _CLOSING
            raise self.unexpected(" or ".join(["an operator", *wanted] if goes_on else wanted))
        return self.take()

    def whole(self) -> Node:
        """Parse the whole text."""
        made = self.sequence()
        self.expect("END")
        return made

    def sequence(self) -> Node:
        """Expressions separated by semicolons; a trailing one only at the end of the text."""
        parts = [self.expression()]
        while self.peek() == ";":
            self.at += 1
            if self.peek() == "END":
                break
            if self.peek() == ";":
                raise self.unexpected("the end")
            parts.append(self.expression())
        if len(parts) == 1:
            return parts[0]
        return Sequence(tuple(parts), parts[0].start, parts[-1].end)

    def expression(self) -> Node:
        """An expression of the top level. Raises GrammarError."""
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise GrammarError(self.text, 0, len(self.text), f"at most {MOST_DEPTH} nested parts")
        if self.peek() == "LET":
            made: Node = self.let()
        elif self.peek() == "IF":
            made = self.branches()
        else:
            made = self.operation(0)
            self.open = True
            if self.peek() == "?":
                self.at += 1
                yes = made if self.peek() == ":" else self.expression()
                self.expect(":")
                no = self.expression()
                made = Conditional(made, yes, no, made.start, self.end())
        self.depth -= 1
        return made

    def let(self) -> Let:
        first = self.take()
        if self.peek() != "NAME":
            raise self.unexpected("a name")
        name = self.take().text
        if self.peek() != "=":
            raise self.unexpected("`=`")
        self.at += 1
        value = self.expression()
        self.expect(";")
        return Let(name, value, self.sequence(), first.start, self.end())

    def branches(self) -> Conditional:
        first = self.take()
        condition = self.expression()
        self.expect("{")
        yes = self.sequence()
        self.expect("}")
        if self.peek() != "ELSE":
            raise self.unexpected("`else`")
        self.at += 1
        if self.peek() == "IF":
            no: Node = self.branches()
        elif self.peek() == "{":
            self.at += 1
            no = self.sequence()
            self.expect("}")
        else:
            raise self.unexpected("`{` or `if`")
        self.open = False
        return Conditional(condition, yes, no, first.start, self.end())

    # --- operators -----------------------------------------------------------------------------------

    def operator(self) -> tuple[str, int]:
        """The next operator, or nothing, and how many tokens it takes."""
        kind, text, _, _ = self.tokens[self.at]
        if kind in _INFIXES:
            return SAME.get(text, text), 1
        if kind != "NOT":
            return "", 0
        if self.tokens[self.at + 1].kind != "WORD":
            self.at += 1
            raise self.unexpected("an operator such as `in`")
        return self.tokens[self.at + 1].text, 2

    def operation(self, least: int) -> Node:
        """Operands with operators of at least this precedence."""
        left = self.operand()
        previous = ""
        while True:
            word, tokens = self.operator()
            if not word or BINARY[word] < least:
                return left
            if previous == "??" and word not in ("??", "|"):
                raise self.unexpected("parentheses: `??` does not mix with other operators")
            self.at += tokens
            if word == "|":
                if self.peek() not in ("NAME", "PREDICATE"):
                    raise self.unexpected("a name")
                left = self.call(left)
            elif word in COMPARISONS:
                left = self.compared(left, word)
            elif word in CHAINED:
                left = self.chain(left, word)
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

    def chain(self, left: Node, word: str) -> Node:
        """Operands with `&&` or with `||` between them."""
        parts = [left, self.operation(BINARY[word] + 1)]
        while self.operator()[0] == word:
            self.at += 1
            parts.append(self.operation(BINARY[word] + 1))
        return nested(parts, lambda one, other: Binary(word, one, other, one.start, other.end))

    # --- operands ------------------------------------------------------------------------------------

    def operand(self) -> Node:
        """A value with its postfix accesses, and the unary operators before it."""
        kind, text, start, end = token = self.tokens[self.at]
        if kind in _PREFIXES:
            self.at += 1
            word = SAME.get(text, text)
            operand = self.operation(UNARY[word])
            return Unary(word, operand, start, operand.end)
        if kind == "NUMBER":
            self.at += 1
            return Literal(_number(self.text, token), start, end)
        if kind == "CONSTANT":
            self.at += 1
            return Literal(_CONSTANTS[text], start, end)
        made = self.value(token)
        while True:
            match self.peek():
                case ".":
                    self.at += 1
                    made = self.member(made, optional=False)
                case "?." if self.tokens[self.at + 1].kind == "[":
                    self.at += 1
                    made = self.item(made, optional=True)
                case "?.":
                    self.at += 1
                    made = self.member(made, optional=True)
                case "[":
                    made = self.item(made, optional=False)
                case _:
                    return made

    def value(self, token: _Token) -> Node:
        """The value that begins with a token."""
        kind, text, start, end = token
        match kind:
            case "NAME" if self.tokens[self.at + 1].kind != "(":
                made: Node = Name(text, start, end)
            case "NAME" | "PREDICATE":
                return self.call()
            case "STRING":
                made = Literal(_unescaped(self.text, text, start), start, end)
            case "RAW":
                made = Literal(text[1:-1].replace("``", "`"), start, end)
            case "BYTES":
                plain = _unescaped(self.text, text[1:], start + 1)
                made = Literal(plain.encode("latin-1", "replace"), start, end)
            case "POINTER":
                made = self.element(text[1:], start, end)
            case ".":
                of = self.element("", start, end)
                self.at += 1
                return self.member(of, optional=False)
            case "(":
                self.at += 1
                made = self.sequence()
                self.expect(")")
                return made
            case "[":
                self.at += 1
                return Items(self.several("]"), start, self.end())
            case "{":
                return self.mapping()
            case "::":
                self.at += 1
                if self.peek() not in ("NAME", "PREDICATE"):
                    raise self.unexpected("a name")
                return self.call()
            case _:
                raise self.unexpected("a value")
        self.at += 1
        return made

    def element(self, name: str, start: int, end: int) -> Element:
        if not self.closures:
            wanted = "a value: `#` and `.name` mean the element inside the predicate of `filter`, `map` ..."
            raise GrammarError(self.text, start, end, wanted)
        if name not in ("", "index", "acc"):
            raise GrammarError(self.text, start, end, "`#`, `#index`, `#acc`, or `#.` before a key")
        return Element(name, start, end)

    def several(self, closing: str) -> tuple[Node, ...]:
        """Expressions separated by commas, up to a closing token."""
        found: list[Node] = []
        while self.peek() != closing:
            found.append(self.expression())
            if self.peek() != closing:
                self.expect(",", closing)
        self.at += 1
        return tuple(found)

    def mapping(self) -> Mapping:
        first = self.take()
        pairs: list[tuple[Node, Node]] = []
        while self.peek() != "}":
            key = self.key()
            self.expect(":")
            pairs.append((key, self.expression()))
            if self.peek() != "}":
                self.expect(",", "}")
        self.at += 1
        return Mapping(tuple(pairs), first.start, self.end())

    def key(self) -> Node:
        at, token = self.at, self.tokens[self.at]
        made = self.expression()
        if self.at == at + 1 and token.kind in ("NAME", "STRING", "RAW", "NUMBER", "CONSTANT"):
            text = made.value if isinstance(made, Literal) and isinstance(made.value, str) else token.text
            return Literal(text, made.start, made.end)
        if token.kind != "(":
            raise self.fault(at, "a key: a name, quoted text, a number, or an expression in parentheses")
        return made

    def member(self, of: Node, optional: bool) -> Node:
        """The access after a dot: a key, or a method with its arguments."""
        if self.peek() not in _NAMES:
            raise self.unexpected("a name")
        name = self.take()
        key = Literal(name.text, name.start, name.end)
        chained = optional or isinstance(of, Chain)
        inner = Member(of.of if isinstance(of, Chain) else of, key, optional, of.start, key.end)
        made: Member | Method = inner
        if self.peek() == "(":
            self.at += 1
            made = Method(inner, self.several(")"), of.start, self.end())
        return Chain(made, made.start, made.end) if chained else made

    def item(self, of: Node, optional: bool) -> Node:
        """The access in brackets: a key, or the bounds of a slice."""
        self.at += 1
        first = None if self.peek() == ":" else self.expression()
        if self.peek() == ":":
            self.at += 1
            last = None if self.peek() == "]" else self.expression()
            self.expect("]")
            return Slice(of, first, last, of.start, self.end())
        self.expect(":", "]")
        assert first is not None
        made = Member(of, first, optional, of.start, self.end())
        return Chain(made, made.start, made.end) if optional else made

    # --- calls ---------------------------------------------------------------------------------------

    def call(self, piped: Node | None = None) -> Call:
        """A function call with its arguments in parentheses; the piped value is the first argument."""
        at, name = self.at, self.take()
        if self.peek() != "(":
            raise self.unexpected("`(`")
        self.at += 1
        arguments: tuple[Node, ...] = () if piped is None else (piped,)
        start = name.start if piped is None else piped.start
        if name.kind != "PREDICATE":
            return Call(name.text, arguments + self.several(")"), start, self.end())
        while self.peek() != ")":
            arguments += (self.closure() if len(arguments) == 1 else self.expression(),)
            if self.peek() != ")":
                self.expect(",", ")")
        self.at += 1
        least, most = PREDICATES[name.text]
        if not least <= len(arguments) <= most:
            several = f"{least}" if least == most else f"{least} or {most}"
            raise self.fault(at, f"{several} arguments of `{name.text}`, not {len(arguments)}")
        return Call(name.text, arguments, start, self.end())

    def closure(self) -> Closure:
        """A predicate, with or without braces."""
        self.closures += 1
        at = self.at
        start = self.tokens[at].start
        if self.peek() == "{":
            self.at += 1
            made = None if self.peek() == "}" else self.sequence()
            if made is None or self.peek() in (":", ","):
                self.at = at
                self.expression()
                raise self.fault(at, "parentheses around this map: `{` begins a predicate here")
            self.expect("}")
        else:
            made = self.expression()
        self.closures -= 1
        return Closure(made, start, self.end())
