"""Rules about a workflow as a whole: names, calls, their order, loops, settings of templates, values that arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.workflow import (
    bodies,
    calls,
    dependencies,
    exported,
    labels,
    loops,
    names,
    omitted,
    passed_values,
    printed,
    recursion,
    schedules,
    settings,
)

if TYPE_CHECKING:
    from flowdsl.compiler.lint.manifest.view import Rule

RULES: tuple[Rule, ...] = (
    names.object_name,
    names.given_names,
    names.pod_names,
    names.unique_names,
    names.artifact_names,
    labels.labels,
    exported.own_labels,
    exported.over,
    names.containers,
    names.volumes,
    calls.entrypoint,
    bodies.bodies,
    bodies.plugins,
    calls.targets,
    calls.scopes,
    calls.hooks,
    dependencies.dependencies,
    loops.loops,
    printed.results,
    printed.lists,
    printed.numbers,
    omitted.omitted,
    recursion.recursion,
    recursion.depth,
    settings.times,
    passed_values.arriving_labels,
    passed_values.arriving_made_labels,
    passed_values.arriving_loops,
    passed_values.empty_images,
    settings.retries,
    settings.memoization,
    settings.locks,
    settings.pod_resources,
    schedules.schedules,
)
