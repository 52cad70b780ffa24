"""Finds Argo's template tags, `{{inputs.parameters.x}}` and `{{=expression}}`, as Argo finds them.

Argo scans the JSON text of a whole template with fasttemplate: a tag runs from `{{` to the first `}}` after it,
whatever is in between. Here each string is scanned separately. Expressions are not evaluated here, only the variables
that they name are found.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from flowdsl.grammar.lalr import Lalr, kind_of, span
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.names import EXPRESSION_WORDS
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Kind = Literal["simple", "expression", "unclosed"]

ROOTS = frozenset(
    (
        "cronworkflow",
        "inputs",
        "item",
        "lastRetry",
        "node",
        "outputs",
        "pod",
        "retries",
        "steps",
        "tasks",
        "workflow",
    )
)
"""The first words of Argo's variables; a simple tag with another one stays in the text as it is."""

TAG = regex(r"\{\{(.*?)\}\}", re.DOTALL)
"""A closed tag; group 1 is its body."""


def _closed(text: str) -> Iterator[re.Match[str]]:
    """The closed tags of a text. The search ends at the last `}}`: without one, each `{{` searches the whole rest."""
    return TAG.finditer(text, 0, text.rfind("}}") + 2)


def only_tag(text: str) -> re.Match[str] | None:
    """The closed tag if it is the whole text; group 1 is its body."""
    found = TAG.match(text)
    return found if found is not None and found.end() == len(text) else None


class Tag(NamedTuple):
    """One tag of a text: offsets in code points with the braces, the text between them, and its kind.

    The body of an expression is without its `=`. An unclosed tag runs to the end of the text.
    """

    start: int
    end: int
    body: str
    kind: Kind

    @property
    def inside(self) -> int:
        """The offset of its body."""
        return self.start + (3 if self.kind == "expression" else 2)

    @property
    def path(self) -> tuple[str, ...]:
        """The parts of the variable that a simple tag names: those of `inputs.parameters.a`."""
        return tuple(self.body.strip().split("."))

    @property
    def variables(self) -> tuple[Reference, ...]:
        """The variables in its expression, with their offsets in the text of the tag."""
        offset = self.inside
        return tuple(
            each._replace(start=each.start + offset, end=each.end + offset) for each in variables(self.body)
        )

    @property
    def names(self) -> list[str]:
        """The names in it, in the notation of a simple tag: the variables of its expression, or its whole body."""
        if self.kind == "expression":
            return [each.dotted for each in variables(self.body)]
        return [self.body.strip()]


class Reference(NamedTuple):
    """A variable in a tag or an expression, as its parts, with its offsets.

    `guarded` says that an expression has a fallback for a missing variable (`??`, `?.`).
    """

    path: tuple[str, ...]
    start: int
    end: int
    guarded: bool = False

    @property
    def dotted(self) -> str:
        """The path in the notation of a simple tag."""
        return ".".join(self.path)


def tags(text: str) -> tuple[Tag, ...]:
    """The tags of a text in order; an unclosed `{{` is the last of them, as kind `unclosed`."""
    closed = [_tag(match[0], match.start()) for match in _closed(text)]
    if text.find("{{", closed[-1].end if closed else 0) < 0:
        return tuple(closed)
    tokens: list[Any] = _lalr().parse(text).children
    return tuple(_tag(str(token), span(token)[0]) for token in tokens if kind_of(token) != "TEXT")


def may_be_variable(name: str) -> bool:
    """Whether Argo may have a variable of this name: with one word, only `item` and `retries`."""
    root, dot, _ = name.partition(".")
    return root in ROOTS and (bool(dot) or name in ("item", "retries"))


def is_filled(text: str) -> bool:
    """Whether Argo may replace a tag in a text: braces around other words stay as they are."""
    return bool(first_filled(text))


def first_filled(text: str) -> str:
    """The first tag in a text that Argo may replace; unclosed braces extend to closing ones in a following text."""
    if "{{" not in text:
        return ""
    end = 0
    for found in _closed(text):
        body, end = found[1], found.end()
        if body.startswith("=") or body.strip().partition(".")[0] in ROOTS or "{{" in body:
            return found[0]
    opened = text.find("{{", end)
    return text[opened:] if opened >= 0 else ""


def may_be(judge: Callable[[str], bool], text: str) -> bool:
    """Whether a text is valid as `judge` says, or may be once its tags are filled, with nothing or letters."""
    if not is_filled(text):
        return judge(text)
    return any("{{" in filled or judge(filled) for filled in (TAG.sub("", text), TAG.sub("x", text)))


def masked(text: str) -> str:
    """A text with each tag replaced by a word of the same length, so that the rest can be parsed, and offsets stay."""
    return TAG.sub(lambda tag: "x" * len(tag[0]), text)


def _tag(written: str, start: int) -> Tag:
    end = start + len(written)
    if not written.endswith("}}") or len(written) < 4:
        return Tag(start, end, written[2:], "unclosed")
    if written.startswith("{{="):
        return Tag(start, end, written[3:-2], "expression")
    return Tag(start, end, written[2:-2], "simple")


@cache
def _lalr() -> Lalr:
    return Lalr("template.lark", lambda _, __: "text")  # any text is valid


def references(text: str) -> tuple[Reference, ...]:
    """The variables in the tags of a text, with their offsets in the text.

    A simple tag is one reference, trimmed and split at its dots; one that contains another `{{` is
    resolved in two passes and has no name yet.
    """
    found: list[Reference] = []
    for tag in tags(text):
        if tag.kind == "expression":
            found += tag.variables
        elif tag.kind == "simple" and "{{" not in tag.body and (name := tag.body.strip()):
            start = tag.inside + tag.body.index(name)
            found.append(Reference(tuple(name.split(".")), start, start + len(name)))
    return tuple(found)


_TOKEN = regex(
    r"""
      (?P<string> "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | `[^`]*` )
    | (?P<comment> //[^\n]* | /\*.*?\*/ )
    | (?P<number> [0-9](?:[\w.]*\w)? )
    | (?P<name> [^\W\d][\w$]* | \$[\w$]* )
    | (?P<operator> \?\?|\?\.|\|\||&&|\.\.|[^\s\w] )
    """,
    re.VERBOSE | re.DOTALL,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def _tokens(expression: str) -> list[_Token]:
    """The tokens of an expr-lang expression, without comments."""
    return [
        _Token(str(match.lastgroup), match[0], match.start(), match.end())
        for match in _TOKEN.finditer(expression)
        if match.lastgroup != "comment"
    ]


def variables(expression: str) -> tuple[Reference, ...]:
    """The variables in an expr-lang expression: `inputs.parameters['a-b']` as three parts.

    Functions, keys of maps, names bound by `let` and members of computed values are not variables. A
    path ends before a computed part. For invalid text, the result is what can be parsed.
    """
    tokens = _tokens(expression)
    found: list[Reference] = []
    bound: set[str] = set()
    brackets: list[str] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        before = tokens[index - 1].text if index else ""
        if token.text in _CLOSING and token.kind == "operator":
            brackets.append(token.text)
        elif token.text in (")", "]", "}") and token.kind == "operator" and brackets:
            brackets.pop()
        if token.kind != "name" or before in (".", "?.", "#") or token.text in EXPRESSION_WORDS:
            index += 1
            continue
        if before == "let":
            bound.add(token.text)
            index += 1
            continue
        path, after, optional = _path(tokens, index)
        follows = tokens[after].text if after < len(tokens) else ""
        key = follows == ":" and before in ("{", ",") and brackets[-1:] == ["{"]
        if follows != "(" and not key and token.text not in bound:
            behind = after
            while behind < len(tokens) and tokens[behind].text in (")", "]"):
                behind += 1
            guarded = optional or (behind < len(tokens) and tokens[behind].text == "??")
            found.append(Reference(path, token.start, tokens[after - 1].end, guarded))
        index = after
    return tuple(found)


def _path(tokens: list[_Token], index: int) -> tuple[tuple[str, ...], int, bool]:
    """The path that begins at a name, the index after it, and whether it contains a `?.`."""
    parts = [tokens[index].text]
    optional = False
    index += 1
    while index < len(tokens):
        step = tokens[index].text
        if step in (".", "?.") and index + 1 < len(tokens) and tokens[index + 1].kind == "name":
            parts.append(tokens[index + 1].text)
            optional |= step == "?."
            index += 2
            continue
        bracket = index + (step == "?.")
        inside = tokens[bracket + 1 : bracket + 3]
        if (
            tokens[bracket : bracket + 1] == []
            or tokens[bracket].text != "["
            or [part.kind for part in inside] != ["string", "operator"]
            or inside[1].text != "]"
        ):
            break
        parts.append(_unquoted(inside[0].text))
        optional |= step == "?."
        index = bracket + 3
    return tuple(parts), index, optional


def _unquoted(literal: str) -> str:
    """The text of a string literal; escapes other than of quotes and backslashes stay as they are."""
    inner = literal[1:-1]
    return inner if literal[0] == "`" else re.sub(r"\\([\\'\"])", r"\1", inner)


def unbalanced(expression: str) -> tuple[int, str] | None:
    """Where an expression is certainly invalid, and what is expected there, or None.

    Finds an unbalanced bracket and an unterminated string; both apply to expr-lang and to
    the language of `when`. The offset is that of the bracket or quote, in code points.
    """
    open_brackets: list[_Token] = []
    for token in _tokens(expression):
        if token.kind != "operator":
            continue
        if token.text in ('"', "'", "`"):
            return token.start, f"a second {token.text} after this one"
        if token.text in _CLOSING:
            open_brackets.append(token)
        elif token.text in (")", "]", "}"):
            if not open_brackets or _CLOSING[open_brackets[-1].text] != token.text:
                return token.start, f"an opening bracket before this `{token.text}`"
            open_brackets.pop()
    if open_brackets:
        last = open_brackets[-1]
        return last.start, f"a closing `{_CLOSING[last.text]}`"
    return None
