"""Rules about variables: arguments of calls, references in tags and expressions, and their types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.variables import (
    absent,
    added,
    arguments,
    early,
    inline,
    kept,
    metrics,
    never,
    outside,
    references,
    unreplaced,
)

if TYPE_CHECKING:
    from flowdsl.compiler.lint.manifest.view import Rule

RULES: tuple[Rule, ...] = (
    arguments.supplied,
    absent.absent,
    arguments.values,
    arguments.defaults,
    arguments.handed_on,
    references.references,
    unreplaced.brought,
    inline.inner_variables,
    inline.overwritten,
    kept.kept,
    added.added,
    outside.cron_references,
    outside.workflow_references,
    outside.circular,
    arguments.given_to_base,
    metrics.metrics,
    early.early,
    early.never_noted,
    never.never,
)

OF_YAML: tuple[Rule, ...] = (arguments.to_be_given,)
"""Those of what somebody wrote in YAML: of Python, the options tell the same at their places."""
