"""Retries and locks: `Retry`, `Mutex` and `Semaphore`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from flowdsl.places.place import Site, here

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.duration import Duration

Policy = Literal["Always", "OnFailure", "OnError", "OnTransientError"]
"""When Argo retries. Source: the enum of `retryPolicy` in Argo's full CRDs."""


class Retry:
    """How a failed task is retried, for `retries=`.

    `limit`: how often at most. `policy`: "Always", "OnFailure" (the program failed), "OnError" (its pod was
    lost) or "OnTransientError". `wait`: the time before the first retry, "30s", seconds or a timedelta;
    each further wait is `factor` times as long, but no longer than `longest`; no retry begins later than
    `within` after the first attempt began. `exit_codes` and `messages`: only what ended with one of these codes,
    or with a message that contains one of these texts, is retried; `expression` says it in Argo's words instead.
    `elsewhere`: on another node than those that failed. Stored as written; the compiler judges.
    """

    __slots__ = (
        "elsewhere",
        "exit_codes",
        "expression",
        "factor",
        "limit",
        "longest",
        "messages",
        "policy",
        "site",
        "wait",
        "within",
    )

    def __init__(
        self,
        limit: int,
        *,
        policy: Policy = "Always",
        wait: Duration | None = None,
        factor: int | None = None,
        longest: Duration | None = None,
        within: Duration | None = None,
        exit_codes: Sequence[int] = (),
        messages: Sequence[str] = (),
        expression: str | None = None,
        elsewhere: bool = False,
    ) -> None:
        self.limit = limit
        self.policy: str = policy
        self.wait = wait
        self.factor = factor
        self.longest = longest
        self.within = within
        self.exit_codes = exit_codes
        self.messages = messages
        self.expression = expression
        self.elsewhere = elsewhere
        self.site: Site = here()

    def __repr__(self) -> str:
        return f"Retry({self.limit!r})"


class Mutex:
    """A lock that one task or run of the namespace holds at a time, for `locks=`.

    `namespace`: where it is looked for, if not where the run is.
    """

    __slots__ = ("name", "namespace", "site")

    def __init__(self, name: str, *, namespace: str | None = None) -> None:
        self.name = name
        self.namespace = namespace
        self.site: Site = here()

    def __repr__(self) -> str:
        return f"Mutex({self.name!r})"


class Semaphore:
    """A lock that several may hold at a time, for `locks=`.

    The ConfigMap `name` says how many, under `key`. `namespace`: that of the ConfigMap, if not that of
    the run.
    """

    __slots__ = ("key", "name", "namespace", "site")

    def __init__(self, name: str, key: str, *, namespace: str | None = None) -> None:
        self.name = name
        self.key = key
        self.namespace = namespace
        self.site: Site = here()

    def __repr__(self) -> str:
        return f"Semaphore({self.name!r}, {self.key!r})"
