"""How often and how long a template may run, and what it waits for, in Argo's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.argo.origins import filled
from flowdsl.compiler.expressions import text_of
from flowdsl.values import types as t

if TYPE_CHECKING:
    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Field, Json


def fields(control: ir.Control, *, spot: bool = False) -> tuple[Field, ...]:
    """The fields of a template, with the options that determine each; `spot`: its node may be preempted."""
    retries = _spot() if spot and control.retries is None else _retries(control.retries)
    return (
        ("retryStrategy", retries, ("retries", "spot")),
        ("timeout", control.timeout, ("timeout",)),
        ("pendingTimeout", control.queue_timeout, ("queue_timeout",)),
        ("synchronization", locked(control.locks), ("locks",)),
    )


def _spot() -> Json:
    """Retries of pods whose node was preempted, but not of failures of the program itself.

    A pod that is told to stop ends with 143, or is gone before it ends. Without a limit Argo skips the backoff.
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


def _retries(retry: ir.Retry | None) -> Json | None:
    """Without a policy also of pods that were evicted, preempted or deleted: Argo counts those as errors."""
    if retry is None or not retry.limit:
        return None
    times = {
        "duration": retry.wait,
        "factor": retry.factor,
        "cap": retry.longest,
        "maxDuration": retry.within,
    }
    return {
        "limit": retry.limit,
        "retryPolicy": retry.policy,
        **filled({"expression": retry.expression, "backoff": filled(times)}),
        **({"affinity": {"nodeAntiAffinity": {}}} if retry.elsewhere else {}),
    }


def locked(locks: tuple[ir.Lock, ...]) -> Json:
    """The `synchronization` of a template or workflow."""
    mutexes: list[Json] = []
    semaphores: list[Json] = []
    for lock in locks:
        namespace = filled({"namespace": lock.namespace})
        name = text_of(lock.name, t.TEXT)
        if lock.key is None:
            mutexes.append({"name": name, **namespace})
        else:
            semaphores.append({"configMapKeyRef": {"name": name, "key": lock.key}, **namespace})
    return filled({"mutexes": mutexes, "semaphores": semaphores})
