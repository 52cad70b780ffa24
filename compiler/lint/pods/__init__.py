"""Rules about what templates run: pods and containers, objects of the cluster, HTTP requests, artifacts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.pods import (
    amounts,
    bodies,
    combinations,
    leaves,
    limits,
    mounts,
    nodes,
    objects,
    overwritten,
    patches,
    pods,
    programs,
    resources,
    stores,
    text,
    waits,
)

if TYPE_CHECKING:
    from flowdsl.compiler.lint.manifest.view import Rule

RULES: tuple[Rule, ...] = (
    bodies.images,
    mounts.mounts,
    mounts.files_of_variables,
    mounts.written,
    mounts.below_files,
    bodies.artifacts,
    stores.stores,
    stores.sources,
    stores.parts_of,
    stores.addresses,
    stores.forms,
    stores.logins,
    bodies.output_parameters,
    bodies.container_sets,
    objects.resource_manifests,
    objects.owners,
    waits.object_conditions,
    leaves.requests,
    patches.patches,
    patches.patched,
    patches.arriving_patches,
    resources.resources,
    resources.whole,
    nodes.placement,
    nodes.demands,
    amounts.amounts,
    pods.fields,
    pods.claims,
    pods.resource_claims,
    combinations.users,
    combinations.accounts,
    combinations.propagation,
    combinations.devices,
    combinations.blocks,
    combinations.expanded,
    combinations.kept,
    combinations.windows,
    combinations.sysctls,
    combinations.ports,
    combinations.pages,
    bodies.programs,
    programs.executable,
    programs.seen,
    waits.endless,
    combinations.probed,
    combinations.told,
    combinations.sleeps,
    text.characters,
    text.sources,
    limits.object_size,
    limits.values,
    limits.texts,
)

OF_YAML: tuple[Rule, ...] = (
    amounts.in_memory,
    leaves.gates,
    waits.at_once,
    overwritten.overwritten,
    text.texts,
)
"""Rules for hand-written YAML only: for Python, the options report the same at their places."""
