"""How often and how long a template may run, in Argo's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Field, Json


def fields(control: ir.Control, *, spot: bool = False) -> tuple[Field, ...]:
    """The fields of a template, each with the options that decide it; `spot`: its node may be taken away."""
    retries = _spot() if spot and control.retries is None else _retries(control.retries)
    return (
        ("retryStrategy", retries, ("retries", "spot")),
        ("timeout", control.timeout, ("timeout",)),
    )


def _spot() -> Json:
    """Retries of pods whose node was taken away, and of nothing that the program did wrong.

    A pod that is told to stop ends with 143, or is gone before it ends. Without a limit Argo skips the pauses.
    Sources: docs/retries.md, "Conditional retries"; argo-workflows #9880, #2881, #13200.
    """
    taken = "imminent node shutdown|pod deleted|[Ee]vict|[Pp]reempt|node was low"
    stopped = "lastRetry.exitCode == '143' && not (lastRetry.message matches 'deadline')"
    return {
        "limit": 20,
        "retryPolicy": "Always",
        "expression": f"lastRetry.message matches '{taken}' || ({stopped})",
        "backoff": {"duration": "1m"},
    }


def _retries(limit: int | None) -> Json | None:
    """Retries also of pods that were evicted, preempted or deleted: those are errors, not failures, to Argo."""
    return {"limit": limit, "retryPolicy": "Always"} if limit else None
