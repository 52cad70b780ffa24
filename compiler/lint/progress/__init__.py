"""Rules about runs that fail or hang although every pod succeeds: hooks, parallelism, locks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.progress import crowded, daemons, failing, hooks, leaving, locking, lost

if TYPE_CHECKING:
    from flowdsl.compiler.lint.manifest.view import Rule

RULES: tuple[Rule, ...] = (
    locking.held,
    locking.kept,
    hooks.places,
    hooks.attempts,
    hooks.ends,
    crowded.deadly,
    crowded.daemons,
    crowded.endless,
    daemons.waited_for,
    crowded.sought,
    crowded.left_out,
    failing.in_spite,
    failing.behind,
    hooks.own_outputs,
    hooks.outputs_of_hooks,
    leaving.left,
    lost.lost,
)
