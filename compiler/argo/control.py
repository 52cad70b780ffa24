"""How often and how long a template may run, in Argo's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Field, Json


def fields(control: ir.Control) -> tuple[Field, ...]:
    """The fields of a template, each with the options that decide it."""
    return (
        ("retryStrategy", _retries(control.retries), ("retries",)),
        ("timeout", control.timeout, ("timeout",)),
    )


def _retries(limit: int | None) -> Json | None:
    """Retries also of pods that were evicted, preempted or deleted: those are errors, not failures, to Argo."""
    return {"limit": limit, "retryPolicy": "Always"} if limit else None
