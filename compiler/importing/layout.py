"""Formats Python code: on one line where it fits, otherwise one part per line.

A part on a line of its own ends in a comma, which formatters leave alone.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flowdsl.compiler.tree import is_list, is_mapping
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

WIDTH = 88
"""The maximal line length, the default of ruff and black."""

_STEP = "    "
_ESCAPED = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_PLAIN = regex(r"[^\\\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]*")


class Parts(NamedTuple):
    """A bracketed expression: `f(a, b=c)`, `[a, b]`, `{"a": b}`; each item has the text before it.

    `head` is the expression before the bracket, if that has brackets too: `f.options(name="a")(b)`.
    """

    before: str
    items: tuple[tuple[str, Code], ...]
    after: str
    head: Parts | None = None


class Chain(NamedTuple):
    """Operands of an operator, within the brackets of a call."""

    operands: tuple[str, ...]
    sign: str


Code = str | Parts | Chain


class Named(str):
    """The name of a constant, among values of JSON."""

    __slots__ = ()


def call(function: str | Parts, *arguments: Code, **named: Code | None) -> Parts:
    """A call; arguments that are None are left out."""
    given = [("", one) for one in arguments]
    given += [(f"{name}=", one) for name, one in named.items() if one is not None]
    if isinstance(function, Parts):
        return Parts("(", tuple(given), ")", function)
    return Parts(f"{function}(", tuple(given), ")")


def between(before: str, code: Code, after: str = "") -> Code:
    """Code between other text of the same item."""
    if not isinstance(code, Parts):
        return f"{before}{flat(code)}{after}"
    head = flat(code.head) if code.head else ""
    return Parts(f"{before}{head}{code.before}", code.items, f"{code.after}{after}")


def listed(items: Iterable[Code]) -> Parts:
    """A list."""
    return Parts("[", tuple(("", one) for one in items), "]")


def mapped(items: Mapping[str, Code]) -> Parts:
    """A dict with texts as its keys."""
    return Parts("{", tuple((f"{quoted(key)}: ", one) for key, one in items.items()), "}")


def literal(value: object) -> Code:
    """A value of JSON, or the name of a constant, as code."""
    if isinstance(value, Named):
        return str(value)
    if is_mapping(value):
        return mapped({str(key): literal(one) for key, one in value.items()})
    if is_list(value):
        return listed(literal(one) for one in value)
    return quoted(value) if isinstance(value, str) else repr(value)


def quoted(text: str, prefix: str = "") -> str:
    """A string literal with the quotes that need fewer escapes; double ones if both need the same."""
    quote = "'" if '"' in text and text.count('"') > text.count("'") else '"'
    return f"{prefix}{quote}{_escaped(text, quote)}{quote}"


def _escaped(text: str, quote: str) -> str:
    found = (_ESCAPED.get(sign) or (sign if _shown(sign) else json.dumps(sign)[1:-1]) for sign in text)
    return "".join(found).replace(quote, f"\\{quote}")


def _shown(sign: str) -> bool:
    return sign.isprintable() or sign == " "


def block(text: str, indent: str, prefix: str = "") -> str:
    """A text of several lines as a triple-quoted string, indented like the code around it."""
    inner = f"{indent}{_STEP}"
    lines = "".join(f"{inner}{line}\n" if line.strip() else "\n" for line in text.split("\n"))
    quotes = _quotes(lines)
    if not prefix and "\\" in lines and quotes not in lines and _PLAIN.fullmatch(lines.replace("\\", "")):
        return f"r{quotes}\n{lines}{indent}{quotes}"
    return f"{prefix}{quotes}\n{_in_lines(lines, quotes)}{indent}{quotes}"


def exactly(text: str) -> str:
    """A text of several lines as a triple-quoted string without added indentation."""
    quotes = _quotes(text)
    return f"{quotes}\\\n{_in_lines(text, quotes)}{quotes}"


def _quotes(text: str) -> str:
    """The quotes around a text of several lines: those that it does not contain, if it contains only one kind."""
    return "'''" if '"""' in text and "'''" not in text else '"""'


def _in_lines(text: str, quotes: str) -> str:
    escaped = "".join(sign if sign in "\n\t" else _ESCAPED.get(sign, sign) for sign in text)
    quote = quotes[0]
    escaped = escaped.replace(quotes, f"\\{quote}" * 3)
    return f"{escaped[:-1]}\\{quote}" if escaped.endswith(quote) else escaped


def flat(code: Code) -> str:
    """A piece of code on one line."""
    if isinstance(code, str):
        return code
    if isinstance(code, Chain):
        return f" {code.sign} ".join(code.operands)
    head = "" if code.head is None else flat(code.head)
    return f"{head}{code.before}{', '.join(before + flat(one) for before, one in code.items)}{code.after}"


def laid(before: str, code: Code, after: str = "", indent: str = "") -> str:
    """Code between other text, on one line or, if it is too long, on several."""
    line = f"{indent}{before}{flat(code)}{after}"
    if isinstance(code, str) or len(line) <= WIDTH:
        return line
    if isinstance(code, Chain):
        below = f"\n{indent}{code.sign} "
        return f"{indent}{before}{below.join(code.operands)}{after}"
    if code.head is not None:
        start = f"{before}{flat(code.head)}{code.before}"
        if not code.items or len(indent + start) > WIDTH:
            rest = code._replace(head=None)
            first = laid(before, code.head, code.before, indent).removesuffix(code.before)
            end = f"{flat(rest)}{after}"
            fits = len(first) - first.rfind("\n") - 1 + len(end) <= WIDTH
            return first + (end if fits else laid("", rest, after, indent).removeprefix(indent))
    else:
        start = f"{before}{code.before}"
    if not code.items:
        return line
    inner = "\n".join(laid(name, one, ",", indent + _STEP) for name, one in code.items)
    return f"{indent}{start}\n{inner}\n{indent}{code.after}{after}"


def function(name: str, parameters: Iterable[Code], returns: str, indent: str = "") -> str:
    """The signature of a function, on one line or several."""
    signature = Parts(f"def {name}(", tuple(("", one) for one in parameters), ")")
    return laid("", signature, f" -> {returns}:", indent)
