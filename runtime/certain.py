"""Reduces a workflow to the tasks that run unconditionally."""

from __future__ import annotations

from typing import Any

from flowdsl.grammar.regex import regex
from flowdsl.runtime.documents import groups
from flowdsl.runtime.parts import part, several

Json = dict[str, Any]

_FAILURE = regex(r"\.(?:Failed|Errored|AnyFailed|Daemoned|Skipped|Omitted)\b")


def unconditional(spec: Json) -> Json:
    """A spec whose templates call only what runs whenever all succeeds, whatever the values are.

    Removed are tasks and steps with `when`, tasks that wait for a failure, and hooks with an expression.
    """
    found = {**spec, "templates": [_template(one) for one in several(spec, "templates")]}
    return {**found, "hooks": _hooks(spec)} if spec.get("hooks") else found


def _template(template: Json) -> Json:
    if template.get("dag"):
        dag = part(template, "dag")
        return {**template, "dag": {**dag, "tasks": _calls(several(dag, "tasks"))}}
    if template.get("steps"):
        return {**template, "steps": [_calls(group) for group in groups(template)]}
    return template


def _calls(calls: list[Json]) -> list[Json]:
    kept = [
        one for one in calls if not one.get("when") and not _FAILURE.search(str(one.get("depends") or ""))
    ]
    return [
        {
            **one,
            **({"inline": _template(one["inline"])} if one.get("inline") else {}),
            **({"hooks": _hooks(one)} if one.get("hooks") else {}),
        }
        for one in kept
    ]


def _hooks(holder: Json) -> Json:
    return {name: hook for name, hook in part(holder, "hooks").items() if not hook.get("expression")}
