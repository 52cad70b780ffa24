"""Optional artifacts that are passed on to templates that require them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, entries_at, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.compiler.lint.manifest.template import Call, Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Path

Input = tuple[int, str]
"""An input artifact: the identity of its template, and its name."""
_SOURCE = "inputs.artifacts."


class MayBeAbsent(Finding):
    """An artifact that a template may lack, passed on to one that requires it."""

    code = "FD834"
    title = "`{callee}` needs the artifact `{name}`, but `{owner}` has no `{source}` to pass on"
    label = "{giver} gives `{first}` none"
    help = "give it there, or also write `optional: true` at the input of `{callee}`"
    callee: str
    name: str
    owner: str
    source: str
    giver: str
    first: str


def absent(view: View) -> Iterator[Problem]:
    """No artifact that a template may lack is passed on as a required one, whatever the values of parameters are.

    It makes no difference that it is optional for the call; a call with a condition may run only if it is
    given.

    Source: ProcessArgs in workflow/common/util.go of Argo 4.1, and a real controller.
    """
    calls = [(call, call.callee) for call in (*view.outlines, *view.hooks) if call.callee is not None]
    if not any(callee.artifacts for _, callee in calls):
        return
    lacking: dict[Input, tuple[str, str]] = {}
    for giver, template, given in _given(view, calls):
        for name in template.optional_artifacts.difference(given):
            lacking.setdefault((id(template), name), (giver, template.title))
    handed = [(call, callee, *each) for call, callee in calls for each in _handed(call)]
    further: dict[Input, list[Input]] = defaultdict(list)
    for call, callee, _, source, name in handed:
        if name in callee.optional_artifacts:
            further[id(call.owner), source].append((id(callee), name))
    left = list(lacking)
    for at in left:  # grows during the loop
        for one in further[at]:
            if one not in lacking:
                lacking[one] = lacking[at]
                left.append(one)
    for call, callee, path, source, name in handed:
        found = lacking.get((id(call.owner), source))
        if found is None or "{{" in string(call.data, "when"):
            continue
        if name in callee.required_artifacts:
            finding = MayBeAbsent(callee.title, name, call.owner.title, source, *found)
            yield Problem((*path, "from"), finding)


def _given(
    view: View, calls: list[tuple[Call, Template]]
) -> Iterator[tuple[str, Template, Iterable[object]]]:
    """The callers, the templates that they call, and the names of the artifacts that they pass."""
    if view.runs:
        for template in filter(None, (view.first, view.last)):
            yield "the workflow", template, view.given_artifacts
    for call, callee in calls:
        names = [each.get("name") for each in entries(call.data, "arguments", "artifacts")]
        yield f"`{call.title}`", callee, names
        if (last := view.last_of(call)) is not None:
            yield f"`onExit` of `{call.title}`", last, ()


def _handed(call: Call) -> Iterator[tuple[Path, str, str]]:
    """The input artifacts of its own template that a call passes on: the path, the name there, and its name here."""
    for path, argument in entries_at(call.data, call.path, "arguments", "artifacts"):
        for tag in tags(string(argument, "from")):
            body = tag.body.strip()
            if tag.kind != "expression" and body.startswith(_SOURCE):
                yield path, body.removeprefix(_SOURCE), string(argument, "name")
