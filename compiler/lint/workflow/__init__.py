"""Rules about a workflow as a whole: names, calls, their order, loops, settings of templates, values that arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.workflow import (
    arriving,
    calls,
    existing,
    graph,
    loops,
    names,
    omitted,
    printed,
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
    names.labels,
    existing.own_labels,
    existing.over,
    names.containers,
    names.volumes,
    calls.entrypoint,
    graph.bodies,
    graph.plugins,
    calls.targets,
    calls.scopes,
    calls.hooks,
    graph.dependencies,
    loops.loops,
    printed.results,
    printed.lists,
    omitted.omitted,
    graph.recursion,
    graph.depth,
    settings.times,
    arriving.arriving_times,
    arriving.arriving_labels,
    arriving.arriving_made_labels,
    arriving.arriving_keys,
    arriving.arriving_loops,
    arriving.arriving_images,
    settings.retries,
    settings.memoization,
    settings.locks,
    settings.pod_resources,
    schedules.schedules,
)
