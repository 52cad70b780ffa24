"""How often and how long a template may run, and what it waits for, in Argo's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl import types as t
from flowdsl.compiler.argo.origins import filled
from flowdsl.compiler.expressions import text_of

if TYPE_CHECKING:
    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Field, Json


def fields(control: ir.Control) -> tuple[Field, ...]:
    """The fields of a template, each with the options that decide it."""
    return (
        ("retryStrategy", _retries(control.retries), ("retries",)),
        ("timeout", control.timeout, ("timeout",)),
        ("pendingTimeout", control.queue_timeout, ("queue_timeout",)),
        ("synchronization", locked(control.locks), ("locks",)),
    )


def _retries(retry: ir.Retry | None) -> Json | None:
    """Without a policy also of pods that were evicted, preempted or deleted: to Argo those are errors."""
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
