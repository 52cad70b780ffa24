"""The dependencies of the tasks of a DAG, and its target."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.manifest.dag import cycle_in_words, cycles
from flowdsl.compiler.lint.manifest.template import Template
from flowdsl.compiler.lint.workflow.passed_values import composed, never_filled
from flowdsl.compiler.problem import Problem
from flowdsl.diagnostic import Finding, Unknown, suggest
from flowdsl.grammar.depends import LOOP_RESULTS, RESULTS, depends
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.names import is_argo_name, is_depended_upon
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import TAG, is_filled

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Path


class UndefinedTask(Unknown):
    """A dependency or target that is not a task of the DAG."""

    code = "FD516"
    title = "there is no task `{name}` in this DAG"
    help = "{way}"

    def words(self) -> dict[str, str]:
        """The name, what was probably meant, and the fix."""
        way = "name a task of the same DAG, or add this one"
        if "{{" in self.name:
            way = "write the name itself: Argo looks for the task before this tag has a value"
        return super().words() | {"way": way}


class EmptyTarget(Finding):
    """A `target` with an extra space, after which Argo looks for a task without a name."""

    code = "FD805"
    title = "`target` has an extra space, where Argo looks for a task without a name"
    help = "put one space between two names, and none around them"


class Cycle(Finding):
    """Tasks or containers that wait for each other."""

    code = "FD517"
    title = "{what} wait for each other: {cycle}"
    label = "waits for itself"
    help = "remove one of these dependencies"
    what: str
    cycle: str


class BadDepends(Finding):
    """A `depends` text that Argo cannot read."""

    code = "FD518"
    title = "`depends` cannot be read: expected {expected}, found {found}"
    label = "at character {column}"
    help = "write task names, `&&`, `||`, `!` and parentheses, such as `a && (b.Failed || c)`"
    expected: str
    found: str
    column: int


class UnknownResult(Finding):
    """A word after a task's name that Argo does not know."""

    code = "FD519"
    title = "`{result}` is not a result of task `{task}`"
    label = "{suggestion}"
    help = "use one of {results}"
    result: str
    task: str

    def words(self) -> dict[str, str]:
        """The word and what was probably meant."""
        return {
            "result": self.result,
            "task": self.task,
            "suggestion": suggest(self.result, RESULTS),
            "results": ", ".join(RESULTS),
        }


class LoopResult(Finding):
    """A result of all items, asked of a task without items."""

    code = "FD520"
    title = "`{task}.{result}` needs a task with a loop, and `{task}` has none"
    label = "`{task}` has no items"
    help = "use `{task}.{instead}`, or give `{task}` a loop"
    task: str
    result: str
    instead: str


class DigitFirst(Finding):
    """A task's name that cannot be used in `depends`."""

    code = "FD521"
    title = "task `{name}` begins with a digit in a DAG with dependencies"
    label = "begins with a digit"
    help = "begin the name with a letter: Argo computes with names when `depends` or `dependencies` is used"
    name: str


class WordOfExpressions(Finding):
    """A task's name that Argo reads as something else where another task depends on it."""

    code = "FD695"
    title = "no task can depend on `{name}`: to Argo, the name is a keyword of expressions"
    label = "not usable in an expression"
    help = "use another name, such as `{instead}`: Argo turns `depends` and `dependencies` into an expression"
    name: str
    instead: str


class MixedDependencies(Finding):
    """Two ways of giving the order, in one DAG."""

    code = "FD522"
    title = "`{field}` cannot be used in a DAG that uses `depends`"
    label = "refused beside `depends`"
    help = "{way}"
    field: str
    way: str


def dependencies(view: View) -> Iterator[Problem]:
    """Tasks depend on other existing tasks, and on results that Argo knows."""
    told: set[tuple[Path, str]] = set()
    for template in view.templates:
        if template.body != "dag":
            continue
        filled = _filled(view, template)
        yield from _with_values(view, template, filled, told)
        yield from _as_written(template, filled)
        yield from _results(template)
        yield from _cycles(template)
        yield from _one_way(template)
        yield from _readable(template)
        yield from _target(view, template)


def _as_written(template: Template, filled: Collection[int]) -> Iterator[Problem]:
    """The texts of dependencies can be read, and name tasks that exist; those of `filled` tasks have tags."""
    calls, dag = template.calls, template.dag
    for position, error in dag.malformed:
        if position not in filled:
            finding = BadDepends(error.expected, error.shown, error.start + 1)
            yield Problem((*calls[position].path, "depends"), finding, part=(error.start, error.end))
    for missing in dag.missing:
        if missing.task not in filled or "{{" not in missing.name:
            path = (*calls[missing.task].path, *missing.place)
            yield Problem(path, UndefinedTask(missing.name, dag.index), part=missing.part)


def _results(template: Template) -> Iterator[Problem]:
    """The results that dependencies ask for are ones that the task can have."""
    calls, dag = template.calls, template.dag
    for position, operand in dag.results:
        result = operand.result or ""
        path = (*calls[position].path, "depends")
        if result not in RESULTS:
            part = operand.end - len(result), operand.end
            yield Problem(path, UnknownResult(result, operand.task), part=part)
        elif result not in LOOP_RESULTS or operand.task not in dag.index:
            continue
        elif not calls[dag.index[operand.task]].loop:
            instead = "Succeeded" if result == "AnySucceeded" else "Failed"
            part = operand.start, operand.end
            yield Problem(path, LoopResult(operand.task, result, instead), part=part)


def _cycles(template: Template) -> Iterator[Problem]:
    """No tasks wait for each other."""
    for cycle in cycles(template.dag.needs):
        calls = [template.calls[position] for position in cycle]
        field = "depends" if calls[0].data.get("depends") else "dependencies"
        yield Problem((*calls[0].path, field), Cycle("tasks", cycle_in_words([call.name for call in calls])))


def _filled(view: View, template: Template) -> dict[int, list[tuple[Path, str]]]:
    """The dependency texts with tags that Argo replaces before it parses them, by task."""
    found: dict[int, list[tuple[Path, str]]] = {}
    for position, call in enumerate(template.calls if template.dag.is_tagged else ()):
        texts: list[tuple[Path, object]] = [(("depends",), call.data.get("depends"))]
        texts += [
            (("dependencies", index), name) for index, name in enumerate(call.data.get("dependencies") or ())
        ]
        for place, text in texts:
            if isinstance(text, str) and is_filled(text) and not never_filled(view, template, text):
                found.setdefault(position, []).append(((*call.path, *place), text))
    return found


def _with_values(
    view: View, template: Template, filled: dict[int, list[tuple[Path, str]]], told: set[tuple[Path, str]]
) -> Iterator[Problem]:
    """The findings about dependencies after replacing tags, as far as their values are known."""
    index = template.dag.index
    for path, text in (each for some in filled.values() for each in some):
        for place, value in composed(view, template, text, path):
            if value in index or (place, value) in told:
                continue
            told.add((place, value))
            if path[-1] != "depends":
                yield Problem(place, UndefinedTask(value, index))
                continue
            try:
                operands = list(depends(value))
            except GrammarError as error:
                yield Problem(place, BadDepends(error.expected, error.shown, error.start + 1))
                continue
            for each in operands:
                if each.task not in index:
                    yield Problem(place, UndefinedTask(each.task, index))
                elif each.result and each.result not in RESULTS:
                    yield Problem(place, UnknownResult(each.result, each.task))


_WORD = regex(rf"(?:{TAG.pattern}|\S)+", re.DOTALL)
"""A word of a target; a tag may have spaces."""


def _target(view: View, template: Template) -> Iterator[Problem]:
    """The target of a DAG names tasks that exist."""
    index = template.dag.index
    for path, text in _targets(view, template):
        for word in _WORD.finditer(text):
            waits = "{{" in word[0] and not (is_filled(word[0]) and never_filled(view, template, word[0]))
            if word[0] not in index and not waits:
                yield Problem(path, UndefinedTask(word[0], index), part=word.span())
        if text and "" in TAG.sub("tag", text).split(" "):
            yield Problem(path, EmptyTarget())


def _targets(view: View, template: Template) -> Iterator[tuple[Path, str]]:
    """The texts for the targets of a DAG: its own, and the known values of their tags."""
    target: str = template.data["dag"].get("target") or ""
    path = (*template.path, "dag", "target")
    yield path, target
    for word in _WORD.finditer(target):
        if "{{" in word[0] and not never_filled(view, template, word[0]):
            yield from composed(view, template, word[0], path)


def _readable(template: Template) -> Iterator[Problem]:
    """The names of tasks are valid in the `depends` expressions that Argo generates.

    If a name begins with a digit, the API server also rejects empty dependency fields.
    """
    calls, needed = template.calls, template.dag.needed
    uses_depends = any(call.data.get("depends") for call in calls)
    for position, call in enumerate(calls):
        if call.name[:1].isdecimal():
            own = any(call.data.get(field) is not None for field in ("depends", "dependencies"))
            if uses_depends or own or position in needed:
                yield Problem((*call.path, "name"), DigitFirst(call.name))
        elif position in needed and not is_depended_upon(call.name) and is_argo_name(call.name):
            yield Problem((*call.path, "name"), WordOfExpressions(call.name, f"{call.name}-1"))


def _one_way(template: Template) -> Iterator[Problem]:
    """A DAG uses either `depends` or `dependencies`; the API server rejects both in one task, even if empty."""
    if all(call.data.get("depends") is None for call in template.calls):
        return
    used = any(call.data.get("depends") for call in template.calls)
    for call in template.outlines:
        data = call.data
        names = data.get("dependencies")
        if names is not None and ((used and names) or data.get("depends") is not None):
            way = "write `depends: " + " && ".join(map(str, names)) + "`" if names else "remove it"
            yield Problem((*call.path, "dependencies"), MixedDependencies("dependencies", way), on_key=True)
        if not (used or data.get("depends") is not None):
            continue
        if data.get("continueOn") is not None:
            way = (
                f"ask for results where they are used, such as `{call.name}.Succeeded || {call.name}.Failed`"
            )
            yield Problem((*call.path, "continueOn"), MixedDependencies("continueOn", way), on_key=True)
