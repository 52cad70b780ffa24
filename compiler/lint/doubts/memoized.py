"""Cached results that are taken for other inputs: memoization keys that lack an input of their template.

Source: Argo Workflows, executeTemplate, which asks the cache before it looks at anything but the key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.workflow.passed_values import named
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import compact, entries, is_mapping, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View

    Values = dict[str, str]


class SameResult(Finding):
    """A memoization key without an input that differs: what was computed from one value is taken for all."""

    code = "FD798"
    severity = "warning"
    title = "one cached result of `{template}` is taken for every `{name}`, which the key lacks"
    label = "the same for every `{name}`"
    help = "add `{{{{inputs.parameters.{name}}}}}` to the key"
    template: str
    name: str


def memoized(view: View) -> Iterator[Problem]:
    """A memoization key has the inputs of its template that differ between calls or runs."""
    for template in view.templates:
        key = string(template.data, "memoize", "key")
        asked = named(key)
        if not key or _EVERY in asked or not template.parameters:
            continue
        used = {f"{match[1]}.{match[2]}" for match in _USED.finditer(_run(template))}
        if any(each.startswith(_PARAMETERS) and each not in used for each in asked):
            continue  # made for the key, and changed when the result is to be another
        left = [name for name in template.parameters if f"{_INPUT}{name}" in used - asked]
        if left and (lacking := _lacking(view, template, asked, left)) is not None:
            yield Problem((*template.path, "memoize", "key"), SameResult(template.title, lacking))


_USED = regex(r"((?:inputs|workflow)\.parameters)(?:\.|\[\\?['\"])([-\w]+)")
_EVERY = "inputs.parameters"
_INPUT = f"{_EVERY}."
_PARAMETERS = ("workflow.parameters.", _INPUT)
_OF_RUNS = ("workflow.parameters", "inputs.parameters", "item")
"""The beginnings of variables that differ between runs, calls or items."""


def _lacking(view: View, template: Template, asked: frozenset[str], left: list[str]) -> str | None:
    """The first of the inputs that the key lacks which may differ where the key is the same, or None."""
    keyed = [name for name in template.parameters if f"{_INPUT}{name}" in asked]
    of_key = frozenset(each for each in asked if not each.startswith(_INPUT))
    seen: dict[tuple[str, ...], Values] = {}
    for given in _given(view, template):
        key = tuple(given.get(name, "") for name in keyed)
        first = seen.setdefault(key, given)
        known = of_key.union(*map(named, key))
        is_computed = any(not each.startswith(_OF_RUNS) for each in known)
        for name in left:
            value = given.get(name, "")
            if value != first.get(name, ""):
                return name
            if not is_computed and any(each.startswith(_OF_RUNS) for each in named(value) - known):
                return name
    return None


def _given(view: View, template: Template) -> Iterator[Values]:
    """The values of the inputs of a template in each of its calls."""
    defaults: Values = {
        name: str(value)
        for name, each in template.parameters.items()
        if (value := each.get("value", each.get("default"))) is not None
    }
    for call in view.callers.get(id(template), ()):
        listed = entries(call.data, "arguments", "parameters")
        yield defaults | {string(each, "name"): str(each.get("value")) for each in listed}
    if view.begins_or_ends_with(template):
        yield defaults | {name: f"{{{{workflow.parameters.{name}}}}}" for name in view.arguments}


def _run(template: Template) -> str:
    """What a template runs, without where its volumes are mounted."""
    body = template.data.get(template.body)
    return compact({**body, "volumeMounts": None} if is_mapping(body) else body)
