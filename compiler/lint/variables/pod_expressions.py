"""Expressions in pod templates that Argo cannot evaluate when it makes the pod.

Argo hands the template to the pod as JSON in JSON, where `<`, `>` and `&` are escaped, and reads what it finds there
once more. Source: createWorkflowPod and substitutePodParams in workflow/controller/workflowpod.go, and Fix in
util/json, of Argo 4.1; the same code tells so when it is run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.variables.scope import OF_TRIES
from flowdsl.compiler.lint.variables.texts import strings
from flowdsl.compiler.lint.variables.uses import Spot
from flowdsl.diagnostic import Finding
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.expression import parse
from flowdsl.grammar.expression_tree import variables
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.problem import Problem
    from flowdsl.compiler.tree import Path

_SIGNS = "<>&"
_MEASURED = frozenset(("duration", "status", "exitCode", "resourcesDuration", "outputs"))
"""Variables that metrics may use, and that have a value when the pod has ended."""


class SignInKept(Finding):
    """An expression with `<`, `>` or `&` that Argo can compute only after it has made the pod."""

    code = "FD841"
    title = (
        "`{name}` has no value when the pod is made, and until then Argo cannot keep an expression with "
        "`{sign}`"
    )
    label = "`{sign}` in the template of a pod"
    help = "{way}"
    name: str
    sign: str
    way: str


def kept(view: View) -> Iterator[Problem]:
    """Expressions of pods that use variables known only later do not contain `<`, `>` or `&`."""
    for template in view.templates:
        if not template.is_pod or ("{{=" not in template.text and "{{=" not in template.source):
            continue
        for path, text in strings(template.data, template.path):
            for tag in tags(text):
                if tag.kind != "expression" or (sign := next(filter(_SIGNS.count, tag.body), None)) is None:
                    continue
                place = path[len(template.path) :]
                if (name := _late(tag.body, place, view, template)) is not None:
                    start = tag.start + 3 + tag.body.index(sign)
                    yield Spot(path, (start, start + 1)).problem(SignInKept(name, sign, _way(place, name)))


def _late(expression: str, place: Path, view: View, template: Template) -> str | None:
    """The first variable that has no value yet."""
    try:
        found = variables(parse(expression))
    except GrammarError:
        return None
    for one in found:
        root = one.path[0]
        if (
            (place[0] == "metrics" and root in _MEASURED)
            or (root in OF_TRIES and not view.tries(template))
            or (one.path == ("workflow", "scheduledTime") and view.kind == "Workflow")
        ):
            return ".".join(one.path)
    return None


def _way(place: Path, name: str) -> str:
    if place[0] == "metrics":
        return (
            "compare without these signs, as `max(asFloat(duration), 60.0) != 60.0` does, "
            "or measure it in a template of tasks or steps that calls this one"
        )
    if name.startswith("workflow"):
        return "only a CronWorkflow has a scheduled time: use `workflow.creationTimestamp`"
    return "give the template a `retryStrategy`, or remove it"
