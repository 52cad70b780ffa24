"""Findings about the variables of a manifest."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.lint.variables.hyphens import as_dotted, as_keys
from flowdsl.diagnostic import Finding, near, suggest
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Collection


class UnknownVariable(Finding):
    """A tag with a variable that does not exist in that place."""

    code = "FD540"
    title = "`{name}` does not exist here"
    label = "{hint}"
    help = "{way}"
    name: str
    known: Collection[str]
    reason: str = ""
    expression: bool = False

    def words(self) -> dict[str, str]:
        """The variable, what was probably meant, and the fix."""
        close, beside = _nearest(self.name, self.known)
        if self.expression:
            close, beside = as_keys(close), [as_keys(each) for each in beside]
        reason = self.reason or _key_in_text(self.name, self.known)
        if not self.expression and (dotted := as_dotted(self.name)) in self.known:
            close = dotted
        way = reason or (f"write `{close}`" if close else suggest("", beside)) or "remove it"
        hint = f"did you mean `{close}`?" if close and not reason else ""
        return {"name": self.name, "hint": hint, "way": way}


def in_expression(finding: Finding) -> Finding:
    """A finding whose help spells variables as in expressions."""
    if not isinstance(finding, (UnknownVariable, UnknownOutput)):
        return finding
    values: dict[str, Any] = {**vars(finding), "expression": True}
    return type(finding)(**values)


def _key_in_text(name: str, known: Collection[str]) -> str:
    """The fix for a name that continues after that of a text value, as if it were an object; empty for others."""
    owner = name.rpartition(".")[0]
    while owner:
        if owner in known and _VALUE.search(owner):
            keys = name[len(owner) + 1 :].split(".")
            steps = "".join(f".{each}" if each.isidentifier() else f"['{each}']" for each in keys)
            return f"`{owner}` is text: `{{{{=fromJSON(...){steps}}}}}` reads JSON in it"
        owner = owner.rpartition(".")[0]
    return ""


_VALUE = regex(r"(?:^|\.)(?:parameters\.[-\w]+|outputs\.result)$")


def _nearest(name: str, known: Collection[str]) -> tuple[str, list[str]]:
    """The dotted name that was probably meant, or nothing, and those that differ in the last part only."""
    below = _below(tuple(known))
    parent, _, last = name.rpartition(".")
    siblings = below.get(parent if parent in below else near(parent, below, 0.75) or "", {})
    return siblings.get(near(last, siblings) or "", ""), [*siblings.values()]


@lru_cache(16)
def _below(known: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """The dotted names by their parent, and by their last part."""
    found: dict[str, dict[str, str]] = {}
    for each in known:
        parent, _, last = each.rpartition(".")
        found.setdefault(parent, {})[last] = each
    return found


class UnknownOutput(Finding):
    """An output that the task or step does not have."""

    code = "FD541"
    title = "`{call}` has no `{name}`"
    label = "{hint}"
    help = "{way}"
    call: str
    name: str
    known: Collection[str]
    reason: str = ""
    expression: bool = False

    def words(self) -> dict[str, str]:
        """The output, what was probably meant, and the fix."""
        reason = self.reason or _key_in_text(self.name, self.known)
        close = "" if reason else _nearest(self.name, self.known)[0]
        close, known = (as_keys(close), map(as_keys, self.known)) if self.expression else (close, self.known)
        way = reason or (f"write `{close}`" if close else suggest("", sorted(known)))
        hint = f"did you mean `{close}`?" if close else ""
        return {"call": self.call, "name": self.name, "hint": hint, "way": way}


class NeverThere(Finding):
    """A value that is never there, in an expression that goes on without it: nothing tells of a misspelt name."""

    code = "FD889"
    severity = "warning"
    title = "there is no `{name}`, and the expression goes on without it"
    label = "{hint}"
    help = "{way}"
    name: str
    known: Collection[str]
    way: str = "correct the name, or remove it"

    def words(self) -> dict[str, str]:
        """The variable, and what was probably meant."""
        close, beside = _nearest(self.name, self.known)
        hint = f"did you mean `{as_keys(close)}`?" if close else suggest("", map(as_keys, beside))
        return {"name": as_keys(self.name), "hint": hint or "always missing", "way": self.way}


class NotAncestor(Finding):
    """A task that uses another without waiting for it: Argo refuses it, or waits forever."""

    code = "FD542"
    title = "`{task}` uses {what}"
    label = "`{task}` {when}"
    help = "{way}"
    task: str
    producer: str

    def words(self) -> dict[str, str]:
        """What is used, when it would be available, and the fix."""
        if self.task == self.producer:
            what, when = "its own results", "has not ended when it begins"
            way = f"let a task after `{self.task}` use them, or one of its hooks"
            return {"task": self.task, "what": what, "when": when, "way": way}
        what, when = (
            f"`{self.producer}` without depending on it",
            f"may run before `{self.producer}` has ended",
        )
        way = f"add `{self.producer}` to the `depends` of `{self.task}`"
        return {"task": self.task, "what": what, "when": when, "way": way}


class NotEarlier(Finding):
    """A step that uses one of its own group or a later one: Argo refuses it, or waits forever."""

    code = "FD543"
    title = "`{step}` uses `{producer}`, which {when}"
    label = "`{producer}` has not ended by then"
    help = "{way}"
    step: str
    producer: str
    when: str

    def words(self) -> dict[str, str]:
        """The two steps and the fix."""
        own = self.step == self.producer
        way = f"move `{self.producer}` to a group before that of `{self.step}`"
        return super().words() | {"way": "a step cannot use its own outputs; its hooks can" if own else way}


class LoopArtifact(Finding):
    """The artifact of a looped task or step: Argo does not collect these."""

    code = "FD544"
    title = "`{call}` is a loop, and the artifacts of a loop cannot be passed on"
    label = "one artifact per item"
    help = "store the artifacts under keys with a common prefix, and read that prefix as a folder"
    call: str


class ItemKey(Finding):
    """A key that not all items of the loop have."""

    code = "FD545"
    title = "{which} a value for `{key}`"
    label = "{hint}"
    help = "give every item a value for `{key}`"
    which: str
    key: str
    known: Collection[str]

    def words(self) -> dict[str, str]:
        """The key and what was probably meant."""
        return {"which": self.which, "key": self.key, "hint": suggest(self.key, sorted(self.known))}


class LiteralTag(Finding):
    """A tag that Argo leaves in the text as it is."""

    code = "FD546"
    severity = "warning"
    title = "`{name}` in braces stays in the text as it is: {reason}"
    label = "{hint}"
    help = "{way}"
    name: str
    reason: str
    way: str
    meant: str = ""

    def words(self) -> dict[str, str]:
        """The variable and what was probably meant."""
        hint = f"did you mean `{self.meant}`?" if self.meant else "not replaced"
        return super().words() | {"hint": hint}


class NotDeclared(Finding):
    """A parameter that a template for workflows does not have, whose name is nearly that of one."""

    code = "FD840"
    severity = "warning"
    title = "`{name}` is not among the parameters of this template"
    label = "did you mean `{meant}`?"
    help = "write `{meant}`; or add the parameter to `arguments`, since a run without it fails"
    name: str
    meant: str


class BrokenExpression(Finding):
    """An expression or condition that cannot be read, whatever it means."""

    code = "FD547"
    title = "`{found}` cannot be read: expected {expected}"
    label = "at character {column}"
    help = "{way}"
    found: str
    expected: str
    column: int
    way: str


class Overlooked(Finding):
    """A result that is read in a way that Argo does not look for: it keeps only those that it finds named."""

    # Source: Argo Workflows, hasOutputResultRef in workflow/controller/operator.go.
    code = "FD845"
    title = "Argo does not see that `{name}` is read here, and keeps no result of it"
    label = "the run waits for it forever, or continues without it"
    help = "write `{spelled}`"
    name: str
    spelled: str


class OtherSort(Finding):
    """An artifact where a parameter is needed, or the reverse: the run stops when it gets there."""

    code = "FD549"
    title = "`{name}` is {found}, but {wanted} is needed here"
    label = "{found}"
    help = "{way}"
    name: str
    found: str
    wanted: str
    way: str


class UnclosedTag(Finding):
    """A tag without its closing braces."""

    code = "FD548"
    title = "the tag `{found}` has no closing braces"
    label = "no closing braces after this"
    help = "close the tag with two braces"
    found: str
