"""Reduces a workflow to the tasks that run unconditionally."""

from __future__ import annotations

from typing import Any

from flowdsl.grammar.depends import depends, follows_success
from flowdsl.grammar.error import GrammarError
from flowdsl.runtime.documents import groups
from flowdsl.runtime.parts import part, several, texts

Json = dict[str, Any]


def unconditional(spec: Json) -> Json:
    """A spec whose templates call only what runs whenever all succeeds, whatever the values are.

    Removed are tasks and steps with `when`, tasks that wait for a failure and those behind them, and hooks with an
    expression.
    """
    found = {**spec, "templates": [_template(one) for one in several(spec, "templates")]}
    return {**found, "hooks": _hooks(spec)} if spec.get("hooks") else found


def _template(template: Json) -> Json:
    if template.get("dag"):
        dag = part(template, "dag")
        return {**template, "dag": {**dag, "tasks": _calls(_reached(several(dag, "tasks")))}}
    if template.get("steps"):
        return {**template, "steps": [_calls(group) for group in groups(template)]}
    return template


def _calls(calls: list[Json]) -> list[Json]:
    return [
        {
            **one,
            **({"inline": _template(one["inline"])} if one.get("inline") else {}),
            **({"hooks": _hooks(one)} if one.get("hooks") else {}),
        }
        for one in calls
        if not one.get("when")
    ]


def _reached(tasks: list[Json]) -> list[Json]:
    """The tasks of a DAG that Argo does not omit whenever all succeed."""
    behind: dict[str, list[str]] = {}
    omitted: list[str] = []
    for task in tasks:
        name, text = str(task.get("name")), str(task.get("depends") or "")
        try:
            before = [one.task for one in depends(text)] if text else texts(task, "dependencies")
            follows = follows_success(text)
        except GrammarError:  # which is reported elsewhere
            before, follows = [], False
        for one in before:
            behind.setdefault(str(one), []).append(name)
        if not follows:
            omitted.append(name)
    gone = set(omitted)
    while omitted:
        new = [name for name in behind.get(omitted.pop(), ()) if name not in gone]
        gone.update(new)
        omitted += new
    return [task for task in tasks if str(task.get("name")) not in gone]


def _hooks(holder: Json) -> Json:
    return {name: hook for name, hook in part(holder, "hooks").items() if not hook.get("expression")}
