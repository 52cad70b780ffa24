"""Rules about variables: arguments of calls, references in tags and expressions, and their types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.variables import (
    argument_values,
    arguments,
    computed_labels,
    default_inputs,
    global_outputs,
    in_volumes,
    inline,
    metrics,
    never_true,
    optional_artifacts,
    outside,
    pod_expressions,
    references,
    unreplaced,
)

if TYPE_CHECKING:
    from flowdsl.compiler.lint.manifest.view import Rule

RULES: tuple[Rule, ...] = (
    arguments.supplied,
    optional_artifacts.absent,
    argument_values.values,
    argument_values.defaults,
    argument_values.handed_on,
    references.references,
    in_volumes.mounted,
    unreplaced.brought,
    inline.inner_variables,
    inline.overwritten,
    pod_expressions.kept,
    default_inputs.added,
    outside.cron_references,
    outside.workflow_references,
    outside.circular,
    arguments.given_to_base,
    metrics.metrics,
    computed_labels.forgotten,
    global_outputs.early,
    global_outputs.never_noted,
    global_outputs.replaced,
    never_true.never,
)

OF_YAML: tuple[Rule, ...] = (arguments.to_be_given,)
"""Rules for hand-written YAML only: for Python, the options report the same where they are given."""
