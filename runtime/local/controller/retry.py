"""Decides whether and when a template is retried.

Source: processNodeRetries in workflow/controller/operator.go of Argo 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.grammar.duration import complaint, duration
from flowdsl.grammar.error import GrammarError
from flowdsl.runtime.local.controller.hooks import truth
from flowdsl.runtime.local.controller.names import any_string
from flowdsl.runtime.local.controller.node import Json, Node
from flowdsl.runtime.local.controller.scope import Scope, Variables
from flowdsl.runtime.local.controller.tags import ArgoError
from flowdsl.runtime.parts import part
from flowdsl.runtime.phases import ERROR, FAILED

if TYPE_CHECKING:
    from collections.abc import Callable

_TRANSIENT = (
    "i/o timeout",
    "connection reset by peer",
    "connection refused",
    "TLS handshake timeout",
    "pod deleted",
)

_UNITS = (
    ("year", 360 * 86400),
    ("month", 30 * 86400),
    ("week", 7 * 86400),
    ("day", 86400),
    ("hour", 3600),
    ("minute", 60),
    ("second", 1),
)


def policy_of(strategy: Json) -> str:
    """Which phases are retried; all of them if an expression decides."""
    return strategy.get("retryPolicy") or ("Always" if strategy.get("expression") else "OnFailure")


def variables(made: list[Node], now: float) -> Variables:
    """The `lastRetry` variables of the next attempt, which begins now."""
    if not made:
        last = dict.fromkeys(("status", "message"), "") | dict.fromkeys(("exitCode", "duration"), "0")
    else:
        last = _last(made[-1], "0", now)
    return Variables(
        {"retries": str(len(made)), **{f"lastRetry.{name}": text for name, text in last.items()}}
    )


def _last(node: Node, code: str, now: float) -> dict[str, str]:
    """The results of an attempt so far; `code` if it had no exit code."""
    return {
        "exitCode": part({"outputs": node.outputs}, "outputs").get("exitCode", code),
        "status": node.phase,
        "duration": _took(node, now),
        "message": node.message,
    }


def begins(
    strategy: Json, made: list[Node], now: float, after: Callable[[float, float], float]
) -> float | str:
    """When the next attempt begins, 0 for immediately, or why there is none. Raises ArgoError.

    `after` returns the time so many seconds after another one.
    """
    backoff = strategy.get("backoff")
    if not backoff:
        return 0.0
    latest = 0.0
    if backoff.get("maxDuration"):
        latest = after(int(made[0].started), seconds(backoff["maxDuration"]))
        if now >= latest:
            return "Max duration limit exceeded"
    if not backoff.get("duration"):
        raise ArgoError("no base duration specified for retryStrategy")
    wait = seconds(backoff["duration"])
    factor = whole(backoff.get("factor"))
    if factor is not None and factor > 0:
        wait = min(wait * float(factor) ** (len(made) - 1), 2.0**63 / 1e9)
    if backoff.get("cap"):
        wait = min(wait, seconds(backoff["cap"]))
    last = made[-1]
    if latest and _known_end(last, now) + wait > latest:
        return "Backoff would exceed max duration limit"
    found = (last.finished or now) + wait
    limit = whole(strategy.get("limit"))
    waits = limit is not None and len(made) <= limit
    return found if waits and found > now else 0.0


def no_more(strategy: Json, policy: str, made: list[Node], now: float) -> str | None:
    """Why there is no further attempt after a failed one, or None. Raises ArgoError."""
    last = made[-1]
    wanted = {
        "Always": True,
        "OnError": last.phase == ERROR,
        "OnFailure": last.phase == FAILED,
        "OnTransientError": any(text in last.message for text in _TRANSIENT),
    }
    if policy not in wanted:
        raise ArgoError(f"{policy} is not a valid RetryPolicy")
    limit = whole(strategy.get("limit"))
    if not wanted[policy]:
        return last.message
    if limit is not None and len(made) > limit:
        return "No more retries left"
    if strategy.get("expression"):
        found = {f"lastRetry.{name}": text for name, text in _last(last, "-1", now).items()}
        scope = Scope(Variables({"retries": str(len(made) - 1), **found}))
        if not truth(strategy["expression"], scope):
            return "retryStrategy.expression evaluated to false"
    return None


def _took(node: Node, now: float) -> str:
    """The duration of an attempt in whole seconds, the resolution of times in Kubernetes.

    A DAG or template of steps ends by the clock of the controller, which has fractions of seconds until the end of
    the pass.
    """
    return "0" if node.finished is None else any_string(round(_known_end(node, now) - int(node.started), 6))


def _known_end(attempt: Node, now: float) -> float:
    """The end of an attempt, as far as Argo knows it now."""
    finished = now if attempt.finished is None else attempt.finished
    return finished if ended_now(attempt, now) else int(finished)


def ended_now(attempt: Node, now: float) -> bool:
    """Whether Argo ends an attempt while it executes the template, unlike that of a pod or of its agent."""
    return attempt.type not in ("Pod", "HTTP", "Plugin") and attempt.finished == now


def seconds(text: object) -> float:
    """Parse a duration to seconds. Raises ArgoError."""
    try:
        return duration(any_string(text))
    except GrammarError:
        raise ArgoError(f"unable to parse {text} as a duration: {complaint(any_string(text))}") from None


def whole(value: object) -> int | None:
    """Parse an integer; None if there is none. Raises ArgoError."""
    if value is None:
        return None
    try:
        return int(any_string(value))
    except ValueError:
        raise ArgoError(f"value '{any_string(value)}' cannot be resolved to an int") from None


def humanized(seconds: float) -> str:
    """A duration as in Argo's messages, in up to two units: `1 minute 30 seconds` (util/humanize)."""
    for name, size in _UNITS:
        if seconds >= size:
            number = int(seconds // size)
            rest = f" {int(seconds // 3600) % 24} hours"
            if size < 86400:
                below = {3600: "minutes", 60: "seconds"}.get(size)
                rest = f" {int(seconds // (size // 60)) % 60} {below}" if below else ""
            return f"{number} {name}{'s' * (number != 1)}{rest}"
    return "0 seconds"
