"""Findings about types in expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.variables.kinds import STATUSES
from flowdsl.compiler.problem import Fault
from flowdsl.compiler.schema.findings import short
from flowdsl.diagnostic import Finding, near

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from flowdsl.grammar.expression_tree import Node
    from flowdsl.grammar.govaluate import Condition


class Findings:
    """The findings about the nodes of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Fault] = []

    def report(self, finding: Finding, node: Node | Condition) -> None:
        """Add a finding about a node."""
        self.found.append(Fault(finding, (node.start, node.end)))

    def shown(self, node: Node | Condition) -> str:
        """The text of a node, shortened."""
        return short(self.text[node.start : node.end])


class UnknownName(Finding):
    """A name that expressions do not have: the task fails, or its value is the text of the expression."""

    code = "FD572"
    title = "expressions have no {what} `{name}`"
    label = "{hint}"
    help = "{way}"
    what: str
    name: str
    known: Collection[str]
    key: str = ""
    reason: str = "a hyphen is a minus here"

    def words(self) -> dict[str, str]:
        """The name, what was probably meant, and the fix; `key` is the right spelling, with a reason."""
        if self.key:
            return {"what": self.what, "name": self.name, "hint": self.reason, "way": f"write `{self.key}`"}
        if self.what == "variable":
            root, dot, rest = self.name.partition(".")
            close = _WORDS.get(root) or near(root, self.known)
            meant = f"{close}{dot}{rest}" if close else ""
            shown = "in `inputs.parameters.x`" if "inputs" in self.known else f"`{min(self.known)}`"
            way = f"write `{meant}`" if meant else f"write a text in quotes, and a variable as {shown}"
        else:
            parent, dot, last = self.name.rpartition(".")
            beside = [each.rpartition(".")[2] for each in self.known if each.rpartition(".")[0] == parent]
            close = near(last, beside)
            meant = (
                f"{parent}{dot}{close}"
                if close
                else next((each for each in sorted(self.known) if each.rpartition(".")[2] == self.name), "")
            )
            below = ", or one below `sprig.`" if any("." in each for each in self.known) else ""
            way = f"write `{meant}`" if meant else f"write a function of expr-lang{below}"
        hint = f"did you mean `{meant}`?" if meant else ""
        return {"what": self.what, "name": self.name, "hint": hint, "way": way}


_WORDS = {"False": "false", "None": "nil", "True": "true", "null": "nil"}
"""Words of other languages, and those of expressions instead."""


class WrongArgument(Finding):
    """An argument that a function of expressions does not take."""

    code = "FD573"
    title = "`{function}` takes {wanted}, not {given}"
    help = "{way}"
    function: str
    wanted: str
    given: str
    way: str


class WrappedNumber(Finding):
    """A result of `+`, `-` or `*` that has more than 64 bits, of which Argo keeps the lower ones."""

    code = "FD384"
    severity = "warning"
    title = "the result{given} is {exact}, which does not fit into 64 bits"
    label = "Argo makes it {result}"
    help = "give smaller numbers, or compute with them inside a step"
    given: str
    value: str
    exact: str
    result: str


class WrongOperand(Finding):
    """An operator on a value of a type that it does not work on: the run fails there."""

    code = "FD574"
    title = "`{operator}` does not work on `{operand}`, which is {kind}"
    label = "{kind}"
    help = "{way}"
    operator: str
    operand: str
    kind: str
    way: str


class AsText(Finding):
    """A text where a number or a list is meant: as text, `10` comes before `9`."""

    code = "FD575"
    severity = "warning"
    title = "`{found}` {effect}"
    label = "taken as {taken}"
    help = "{way}"
    found: str
    way: str
    effect: str = "compares texts: as text, 10 comes before 9"
    taken: str = "text"


class NeverEqual(Finding):
    """A comparison that never holds: of two types, or with a word that a status or parameter never is."""

    code = "FD576"
    severity = "warning"
    title = "`{found}` is always {result}: {reason}"
    label = "always {result}"
    help = "{way}"
    found: str
    result: str
    reason: str
    way: str


class NeverSucceeds(Finding):
    """A request, or a wait for an object, whose condition never holds: it fails in every run, or never ends."""

    code = "FD795"
    title = "the {what} never succeeds: `{found}` is always false, since {reason}"
    label = "always false"
    help = "{way}"
    what: str
    found: str
    reason: str
    way: str


def no_status(found: str, result: str, word: str, known: Sequence[str]) -> NeverEqual | None:
    """The finding about a status that is compared with a word, if it is not among the possible ones."""
    if word in known:
        return None
    close = near(word, known)
    way = f"did you mean `{close}`?" if close else f"write one of {', '.join(known)}"
    what = "what is tried again never is" if word in STATUSES else "no status is"
    return NeverEqual(found, result, f"{what} `{word}`", way)


class WrongResult(Finding):
    """An expression or condition whose result Argo cannot use."""

    code = "FD577"
    title = "`{found}` gives {kind}, but Argo needs {wanted}"
    label = "gives {kind}"
    help = "{way}"
    found: str
    kind: str
    wanted: str
    way: str


class Uncomputable(Finding):
    """A part of an expression that fails in every run: all its values are written in the manifest."""

    code = "FD871"
    title = "`{found}` fails{given}: {reason}"
    label = "fails"
    help = "{way}"
    found: str
    given: str
    value: str
    reason: str
    way: str


class FailsByDefault(Finding):
    """A part of an expression that fails with the value of a parameter, unless a run is given another one."""

    code = "FD872"
    severity = "warning"
    title = "`{found}` fails when `{name}` is `{value}`, its default: {reason}"
    label = "fails by default"
    help = "{way}"
    found: str
    value: str
    name: str
    reason: str
    way: str


class PassedOn(Finding):
    """An expression that can fail where nobody notices, so that the run goes on or does not end."""

    code = "FD578"
    severity = "warning"
    title = "when `{found}` fails, {effect}"
    label = "can fail"
    help = "{way}"
    found: str
    effect: str
    way: str


class OnlyDefault(Finding):
    """The expression of an output that always fails, so that the output is always its `default`."""

    code = "FD779"
    severity = "warning"
    title = "the output is always its `default`: {reason}"
    label = "always fails"
    help = "{way}"
    reason: str
    way: str


class MayBeMissing(Finding):
    """An output of a task that may be skipped or fail: the run then fails, or waits for it forever."""

    code = "FD579"
    severity = "warning"
    title = "when `{producer}` {case}, there is no `{found}`, and {effect}"
    label = "may be missing"
    help = "{way}"
    producer: str
    case: str
    found: str
    effect: str
    way: str


class AlwaysMissing(Finding):
    """An output of a loop without items, or of what has not run: the run fails there, or waits for it forever."""

    code = "FD826"
    title = "`{producer}` {case}, so there is no `{found}`, and {effect}"
    label = "always missing"
    help = "{way}"
    producer: str
    case: str
    found: str
    effect: str
    way: str
