"""Types in `when` conditions, which govaluate evaluates after their tags have been replaced."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.manifest.globals import sample
from flowdsl.compiler.lint.variables.hyphens import hyphenated
from flowdsl.compiler.lint.variables.kinds import STATUSES, WORDS, group, pattern_fault, statuses
from flowdsl.compiler.lint.variables.typing import result
from flowdsl.compiler.lint.variables.typing_findings import (
    AsText,
    Findings,
    NeverEqual,
    WrongOperand,
    WrongResult,
    no_status,
)
from flowdsl.compiler.problem import Fault
from flowdsl.grammar import govaluate as g
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.expression import parse
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import TAG, masked, only_tag

if TYPE_CHECKING:
    from flowdsl.grammar.functions import Kind

_NUMBER = regex(r"(?:\d+\.?\d*|\.\d+)")
_BITWISE = frozenset(("&", "|"))
_FLAGS = frozenset(("true", "false"))
_DAY = regex(r"\d{4}-\d\d-\d\d")
_DATE = regex(r"\d{4}-\d\d-\d\d|\d?\d:\d\d[AP]M$|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ")
_TIME = "a date, and so a number"
_STATUS = regex(r"\{\{[^{}']*[sS]tatus\s*\}\}")
_USUAL = regex(
    rf"\{{\{{[^{{}}']*\}}\}} [!=]= (?:{'|'.join(STATUSES)})"
    rf"|(?!{_STATUS.pattern})\{{\{{[^{{}}']*\}}\}} [!=]= [A-Za-z]+(?<!true)(?<!false)"
    r"|\{\{=[^}]*\}\}|true|false"
)


def is_usual(text: str) -> bool:
    """Whether a condition has a common form, in which only its tags can be wrong."""
    return _USUAL.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def condition(text: str) -> tuple[Fault, ...] | GrammarError:
    """The findings about a condition, or the reason why it cannot be parsed. Its tags may become any word."""
    tags = {tag.start(): tag for tag in TAG.finditer(text)}
    try:
        tree = g.parse(masked(text))
    except GrammarError as error:
        beside = any(tag.start() < error.end and error.start < tag.end() for tag in tags.values())
        if beside and error.start != error.end:
            return ()  # depends on the value of the tag
        return GrammarError(text, error.start, error.end, error.expected)
    made = _Kinds(text, tags)
    kind = made.of(tree)
    if not made.found and group(kind) not in ("", "flag"):
        shown = made.shown(tree)
        way = f"compare it, as in `{shown} == 'yes'`"
        if shown.lower() in ("true", "false"):
            way = f"write `{shown.lower()}`"
        made.report(WrongResult(shown, WORDS[kind], "true or false", way), tree)
    return tuple(made.found)


def is_condition(text: str) -> bool:
    """Whether govaluate can parse and evaluate a condition."""
    found = condition(text)
    return not isinstance(found, GrammarError) and not any(isinstance(each.finding, FATAL) for each in found)


FATAL = (WrongOperand, WrongResult)


class _Kinds(Findings):
    def __init__(self, text: str, tags: dict[int, re.Match[str]]) -> None:
        super().__init__(text)
        self.tags = tags

    def word(self, node: g.Condition) -> bool:
        """Whether a node is an unquoted word, or several with operators between them, such as `my-value`."""
        match node:
            case g.Text(_, quoted):
                return not quoted and not self.tagged(node)
            case g.Binary(operator, left, right) if operator in "-/":
                return self.word(left) and (self.word(right) or isinstance(right, g.Number))
            case _:
                return False

    def tagged(self, node: g.Condition) -> bool:
        """Whether the text of a node contains a tag."""
        return any(node.start <= start < node.end for start in self.tags)

    def of(self, node: g.Condition) -> Kind:
        match node:
            case g.Text(value, True) if _DATE.match(value) or self.moment(node):
                return "any"  # govaluate reads it as a date, and thus as a number
            case g.Text(_, quoted):
                return "text" if quoted or not self.tagged(node) else self.tag(node)
            case g.Number():
                return "number"
            case g.Flag():
                return "flag"
            case g.Unary(operator, operand):
                self.need("flag" if operator == "!" else "number", operator, operand, self.of(operand))
                return "flag" if operator == "!" else "number"
            case g.Binary():
                return self.binary(node)
            case g.Choice(asked, yes, no):
                self.need("flag", "?", asked, self.of(asked))
                one, two = self.of(yes), self.of(no) if no is not None else "any"
                return one if one == two else "any"
            case g.Several(items):
                for item in items:
                    self.of(item)
                return "list"

    def moment(self, node: g.Text) -> bool:
        """Whether a quoted text is only the tag of a time."""
        tag = self.tags.get(node.start + 1)
        if tag is None or tag.end() + 1 != node.end:
            return False
        return g.is_time(sample(tuple(tag[1].strip().split("."))) or "")

    def time(self, node: g.Condition) -> bool:
        """Whether a node is a date, which govaluate converts to a number."""
        return isinstance(node, g.Text) and node.quoted and g.is_time(node.value)

    def tag(self, node: g.Text) -> Kind:
        """The kind of an unquoted tag: for an expression that of its result, else any."""
        tag = self.tags.get(node.start)
        if tag is None or tag.end() != node.end or not tag[1].startswith("="):
            return "any"
        text = tag[1][1:]
        try:
            kind = "any" if any(hyphenated(text, frozenset())) else result(text, parse(text))
        except GrammarError:
            return "any"
        return kind if group(kind) in ("flag", "number") else "any"

    def need(self, wanted: Kind, operator: str, node: g.Condition, kind: Kind) -> None:
        """Reports an operand of another kind than an operator requires."""
        if group(kind) not in ("", group(wanted)):
            way = "take the quotes off" if isinstance(node, g.Text) and node.quoted else "compare it"
            way = way if self.tagged(node) or wanted == "flag" else f"write {WORDS[wanted]} there"
            self.report(WrongOperand(operator, self.shown(node), WORDS[kind], way), node)

    def binary(self, node: g.Binary) -> Kind:
        operator, left, right = node.operator, node.left, node.right
        one, two = self.of(left), self.of(right)
        if operator in ("&&", "||"):
            self.need("flag", operator, left, one)
            self.need("flag", operator, right, two)
            return "flag"
        if operator in ("==", "!="):
            self.equal(node, one, two)
            return "flag"
        if operator in ("<", ">", "<=", ">="):
            self.order(node, one, two)
            return "flag"
        if operator == "in":
            self.within(right, two)
            return "flag"
        if operator in ("=~", "!~"):
            self.matches(node, one, two)
            return "flag"
        if operator == "??":
            return one if one == two else "any"
        return self.computed(node, one, two)

    def computed(self, node: g.Binary, one: Kind, two: Kind) -> Kind:
        """The kind of an arithmetic result, or of texts concatenated by `+`."""
        operator, left, right = node.operator, node.left, node.right
        if operator == "+" and "text" in (one, two):
            return "text"
        if operator in _BITWISE and "text" in (one, two):
            side = left if one == "text" else right
            self.report(
                WrongOperand(operator, self.shown(side), WORDS["text"], f"write `{operator * 2}`"), side
            )
            return "any"
        if operator in "-/" and self.word(node):
            shown = self.shown(node)
            way = f"write `'{shown}'`, and what it is compared with in quotes too"
            self.report(WrongOperand(operator, shown, WORDS["text"], way), node)
            return "any"
        if _DAY.fullmatch(self.text[node.start : node.end]):
            way = f"write `'{self.shown(node)}'`, and what it is compared with in quotes too"
            effect = "takes the month and the day from the year"
            self.report(AsText(self.shown(node), way, effect, "numbers"), node)
        self.need("number", operator, left, one)
        self.need("number", operator, right, two)
        return "any" if operator == "+" and "any" in (one, two) else "number"

    def within(self, values: g.Condition, kind: Kind) -> None:
        """Checks that the right side of `in` is a list of at least two values."""
        if kind != "list" and not (kind == "any" and self.tagged(values)):
            shown = self.shown(values)
            listed = shown[1:-1] if shown[:1] == "[" and "," in shown else f"{shown}, ..."
            way = f"write at least two values in parentheses: `({listed})`"
            self.report(WrongOperand("in", shown, WORDS[kind], way), values)

    def matches(self, node: g.Binary, one: Kind, two: Kind) -> None:
        """Checks that a text is matched with a pattern in Go's syntax."""
        operator, left, right = node.operator, node.left, node.right
        for side in (left, right):
            if self.time(side):
                way = "compare in an expression, as in `{{=inputs.parameters.day matches '^2026'}}`"
                self.report(WrongOperand(operator, self.shown(side), _TIME, way), side)
                return
        self.need("text", operator, left, one)
        self.need("text", operator, right, two)
        if isinstance(right, g.Text) and not self.tagged(right) and (fault := pattern_fault(right.value)):
            way = "write a pattern as Go has it"
            self.report(WrongOperand(operator, self.shown(right), fault, way), right)

    def equal(self, node: g.Binary, one: Kind, two: Kind) -> None:
        """Reports comparisons with a constant result: of values of different kinds, or of constants."""
        answer = "false" if node.operator == "==" else "true"
        shown = self.shown(node)
        sides: tuple[tuple[g.Condition, Kind, g.Condition, Kind], ...] = (
            (node.left, one, node.right, two),
            (node.right, two, node.left, one),
        )
        for side, kind, other, beside in sides:
            known = self.statuses(side)
            if known and isinstance(other, g.Text) and not self.tagged(other):
                if (finding := no_status(shown, answer, other.value, known)) is not None:
                    self.report(finding, node)
                return
            fixed = other.value if isinstance(other, g.Text) and other.quoted else ""
            becomes = "a number" if _NUMBER.fullmatch(fixed) else "true or false" if fixed in _FLAGS else ""
            if kind == "any" and becomes and not self.tagged(other):
                reason = f"without quotes `{self.shown(side)}` becomes {becomes} where it could be equal"
                way = f"write `'{self.shown(side)}'` in quotes"
                self.report(NeverEqual(shown, answer, reason, way), node)
                return
            if kind == "text" and group(beside) in ("number", "flag"):
                reason = f"text is compared with {WORDS[beside]}"
                way = "give both quotes, or neither"
                self.report(NeverEqual(shown, answer, reason, way), node)
                return
        if {group(one), group(two)} == {"number", "flag"}:
            reason = "a number is compared with true or false"
            bits = [each for each in g.walk(node) if isinstance(each, g.Binary) and each.operator in _BITWISE]
            way = f"write `{bits[0].operator * 2}`" if bits else "compare values of one kind"
            self.report(NeverEqual(shown, answer, reason, way), node)
        elif not self.tagged(node) and isinstance(node.left, g.Text) and isinstance(node.right, g.Text):
            same = (node.left.value == node.right.value) == (node.operator == "==")
            way = "put a variable into double braces, as in `{{tasks.a.status}}`"
            reason = "there is no variable in it"
            self.report(NeverEqual(shown, "true" if same else "false", reason, way), node)

    def statuses(self, side: g.Condition) -> tuple[str, ...]:
        """The possible values of a side that is only the tag of a status."""
        tag = only_tag(self.text[side.start : side.end].strip("'\""))
        return () if tag is None else statuses(tuple(tag[1].strip().split(".")))

    def order(self, node: g.Binary, one: Kind, two: Kind) -> None:
        """Checks the operands of `<` and others: unquoted numbers, or quoted texts; both together fail."""
        sides: tuple[tuple[g.Condition, Kind, Kind], ...] = ((node.left, one, two), (node.right, two, one))
        for side, kind, _ in sides:
            other = node.right if side is node.left else node.left
            if kind == "text" and not self.tagged(side) and self.time(other):
                way = "write a whole date there, as in `'2026-01-02'`"
                self.report(WrongOperand(node.operator, self.shown(side), "text beside a date", way), side)
                return
        if one == two == "text":
            texts = [side for side in (node.left, node.right) if isinstance(side, g.Text)]
            fixed = [side.value for side in texts if not self.tagged(side)]
            if len(fixed) < 2 and all(_NUMBER.fullmatch(value) for value in fixed):
                self.report(AsText(self.shown(node), "take the quotes off for numbers"), node)
            return
        for side, kind, beside in sides:
            if kind == "flag" or (kind == "text" and group(beside) == "number"):
                quoted = isinstance(side, g.Text) and side.quoted
                way = "take the quotes off" if quoted else "compare numbers"
                self.report(WrongOperand(node.operator, self.shown(side), WORDS[kind], way), side)
