"""Parsing of expressions and conditions: errors of syntax and type, and the variables that they name."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.variables import conditions, typing
from flowdsl.compiler.lint.variables.failures import needed, passed_on
from flowdsl.compiler.lint.variables.findings import BrokenExpression
from flowdsl.compiler.lint.variables.hyphens import as_keys, hyphenated
from flowdsl.compiler.lint.variables.kinds import text_length
from flowdsl.compiler.problem import Fault
from flowdsl.compiler.schema.findings import short
from flowdsl.grammar import expression_tree as t
from flowdsl.grammar import jq, kube_path
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.expression import parse
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import ROOTS, TAG, masked, unbalanced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.problem import Part
    from flowdsl.grammar.template import Reference


class Read(NamedTuple):
    """The findings about an expression, and the variables that it names.

    `bound` are the `let` bindings at its start, `needed` the parts that may not be nil, `node` the syntax
    tree, if it could be parsed.
    """

    found: tuple[Fault, ...]
    named: tuple[Reference, ...] = ()
    bound: tuple[t.Let, ...] = ()
    needed: frozenset[Part] = frozenset()
    node: t.Node | None = None


@lru_cache(maxsize=8192)
def expression(text: str, extra: typing.Extra, tag: bool = False, braces: bool = False) -> Read:
    """Check an expression, in a `tag` or alone in its field; `braces` says that `}}` follows after its tag.

    The simple tags in one alone in its field may become any word, unless `extra` says that Argo fills in none:
    it replaces them before it parses the expression.
    """
    way = "close what is open: brackets and quotes come in pairs"
    if braces and text.count("{") > text.count("}"):
        way = "the first two closing braces end the tag: write a space between them"
    tags = () if tag or not extra.filled else tuple(TAG.finditer(text))
    read = masked(text) if tags else text
    if (broken := balance(read, text, way)) is not None:
        return Read((broken,))
    if hyphens := tuple(hyphenated(read, extra.names)):
        return Read(hyphens)
    try:
        node = parse(read)
    except GrammarError as error:
        if error.start != error.end and any(
            one.start() < error.end and error.start < one.end() for one in tags
        ):
            return Read(())  # depends on the value of the tag
        way = _way(error, read)
        if not extra.filled and "{{" in text:
            way = "write the names of variables without braces"
        return Read((_broken(text, error, way),))
    named = t.variables(node)
    filled = {
        each for each in named if any(each.start < one.end() and one.start() < each.end for one in tags)
    }
    known = extra.names.union(each.path[0] for each in filled)
    found = typing.kinds(text, node, extra._replace(names=known))
    others = tuple(
        each._replace(path=each.path[: text_length(each.path)]) for each in named if each not in filled
    )
    every = (*found, *(passed_on(text, node) if tag else ()))
    return Read(every, others, tuple(_bound(node)), needed(node), node)


def _way(error: GrammarError, read: str) -> str:
    """How to mend an expression that cannot be read."""
    if error.expected.startswith("at most"):
        return "let a step make a part of it"
    if (meant := _OTHER_WORDS.get(read[error.start : error.end])) is not None:
        return f"write `{meant}`"
    if error.expected == "`:`":
        return "add `:` and the other value, as in `a ? b : c`"
    if _ONE_SIGN.fullmatch(error.expected):
        return f"write {error.expected}"
    return "write the expression as expr-lang has it"


_OTHER_WORDS = {"AND": "and", "OR": "or", "NOT": "not"}
_ONE_SIGN = regex(r"`[^`]+`")


def _bound(node: t.Node) -> Iterator[t.Let]:
    while isinstance(node, t.Let):
        yield node
        node = node.body


def condition(text: str) -> tuple[Fault, ...]:
    """The findings about the whole of a `when`, whatever its tags become."""
    if not text or conditions.is_usual(text):
        return ()
    way = "write comparisons such as `'{{...}}' == 'yes'` with && and ||"
    if _CALLS.search(text) and (written := _as_expression(text)):
        way = f"functions need an expression: `{{{{={written}}}}}`"
    if (broken := balance(masked(text), text, way)) is not None:
        return (broken,)
    found = conditions.condition(text)
    if not isinstance(found, GrammarError):
        return found
    if found.found.partition(".")[0] in ROOTS:
        way = f"put the variable into double braces: `{{{{{found.found}}}}}`"
    elif found.found in _WORDS:
        way = f"write `{_WORDS[found.found]}`"
    elif text[: found.start].split()[-1:] == ["not"]:
        way = "write `!` in place of `not`"
    return (_broken(text, found, way),)


_WORDS = {"and": "&&", "or": "||"}
_CALLS = regex(r"\w\(|\b(?:contains|matches|startsWith|endsWith)\b")
_SIMPLE = regex(r"(['\"]?)\{\{([^{}=][^{}]*)\}\}\1")


def _as_expression(text: str) -> str:
    """A condition as an expression, if it is one with its simple tags as variables; else empty."""
    written = as_keys(_SIMPLE.sub(lambda tag: tag[2].strip(), text))
    try:
        parse(written)
    except GrammarError:
        return ""
    return written


def query(text: str, field: str) -> Fault | None:
    """The finding about a `jsonPath` or a `jqFilter`; with tags, only its brackets and quotes are checked."""
    read = text.replace("//", "  ") if field == "jqFilter" else text  # an operator there, not a comment
    if "{{" in text:
        return balance(read, text, _PAIRS)
    grammar, form = _QUERIES[field]
    try:
        grammar(text)
    except GrammarError as error:
        open_one = balance(read, text, _PAIRS) if field == "jqFilter" else None
        return open_one or _broken(text, error, _PAIRS if "clos" in error.expected else form)
    return None


_PAIRS = "close what is open: brackets and quotes come in pairs"
_QUERIES = {
    "jqFilter": (jq.check, "write the filter as jq has it, as in `.status.phase`"),
    "jsonPath": (kube_path.check, "write the path as kubectl has it, as in `{.status.phase}`"),
}


def balance(read: str, text: str, way: str) -> Fault | None:
    """The finding about text that cannot be parsed; `read` is `text` with its tags masked."""
    if (fault := unbalanced(read)) is None:
        return None
    return _broken(text, GrammarError(text, fault[0], fault[0] + 1, fault[1]), way)


def _broken(text: str, error: GrammarError, way: str) -> Fault:
    finding = BrokenExpression(short(text), error.expected, error.start + 1, way)
    return Fault(finding, (error.start, error.end))
