"""Facts about a manifest that the compiler knows because it wrote it, and that the YAML does not show."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flowdsl.compiler.tree import inside
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from flowdsl.compiler.argo import Manifest
    from flowdsl.compiler.problem import Problem
    from flowdsl.compiler.tree import Object

_TASK = regex(r"tasks(?:\['|\.)([\w-]+)")


def typed(problem: Problem, manifest: Manifest) -> bool:
    """Whether a problem is that an output of a graph fails if a text is not JSON, which Python steps always write."""
    if problem.finding.code != "FD578" or "outputs" not in problem.path:
        return False
    at = problem.path.index("templates")
    templates: list[Object] = inside(manifest.body, *map(str, problem.path[:at])).get("templates", [])
    named: dict[str, Object] = {one["name"]: one for one in templates}
    tasks = _TASK.findall(problem.finding.words()["found"])
    return all(_typed(templates[int(problem.path[at + 1])], task, named, manifest.typed) for task in tasks)


def _typed(graph: Object, name: str, templates: dict[str, Object], known: frozenset[str]) -> bool:
    """Whether all sources of the outputs of a task are known to write what their types require."""
    tasks: list[Object] = [one for one in graph["dag"]["tasks"] if one["name"] == name]
    called = templates.get(tasks[0].get("template", "")) if tasks else None
    if called is None:
        return False
    if "dag" in called:
        inner = _TASK.findall(json.dumps(called.get("outputs", {})))
        return all(_typed(called, one, templates, known) for one in inner)
    return called["name"] in known
