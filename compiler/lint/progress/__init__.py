"""Rules about runs that fail or hang although every pod succeeds: hooks, parallelism, locks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.progress import (
    after_cache_hits,
    daemons,
    deadlocks,
    fail_fast,
    hooks,
    loop_exit_hooks,
    parallelism,
)

if TYPE_CHECKING:
    from flowdsl.compiler.lint.manifest.view import Rule

RULES: tuple[Rule, ...] = (
    deadlocks.held,
    deadlocks.handed_on,
    deadlocks.hooked,
    deadlocks.kept,
    hooks.places,
    hooks.attempts,
    hooks.ends,
    parallelism.deadly,
    parallelism.daemons,
    parallelism.endless,
    daemons.waited_for,
    parallelism.sought,
    parallelism.left_out,
    fail_fast.in_spite,
    fail_fast.behind,
    hooks.own_outputs,
    hooks.outputs_of_hooks,
    loop_exit_hooks.left,
    after_cache_hits.lost,
)
