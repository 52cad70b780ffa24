"""Mutexes and semaphores, which a template acquires before it runs.

Source: workflow/sync of Argo 4.1. Locks of other workflows are not seen: a lock exists as long as the run.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from flowdsl.runtime.local.controller.tags import ArgoError
from flowdsl.runtime.parts import several

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Json = dict[str, Any]


class Locks:
    """The locks of a run by name, with their holders and the queue of those that wait."""

    def __init__(self, namespace: str, config: dict[str, dict[str, str]]) -> None:
        self._namespace = namespace
        self._config = config
        self._holders: dict[str, set[str]] = {}
        self._limits: dict[str, int] = {}
        self._waiting: dict[str, deque[tuple[str, Callable[[], None], Callable[[str], None]]]] = {}
        self._next: list[Callable[[], None]] = []
        self._held: dict[str, list[str]] = {}
        self._late: dict[str, Callable[[str], None]] = {}
        """The holders that wait, and may not retry yet."""

    def acquire(
        self, holder: str, wanted: Json, again: Callable[[], None], stop: Callable[[str], None]
    ) -> tuple[str, str] | None:
        """Acquire all locks of a template, or none: then the name of one that is taken, and a message.

        `again` is called when that one is free, `stop` with a message when the waiting is given up. Raises
        ArgoError.
        """
        names = self._names(wanted)
        self._late.pop(holder, None)
        if holder in self._held:
            return None
        for name in names:
            taken = self._holders.setdefault(name, set())
            limit = self._limits[name]
            if len(taken) >= limit:
                self._waiting.setdefault(name, deque()).append((holder, again, stop))
                self._pass_on([one for one in names if one != name])
                return name, f"Waiting for {name} lock. Lock status: {limit - len(taken)}/{limit}"
        for name in names:
            self._holders[name].add(holder)
        self._held[holder] = names
        return None

    def release(self, holder: str) -> list[Callable[[], None]]:
        """Release the locks of a holder; returns the actions to retry now."""
        names = self._held.pop(holder, ())
        for name in names:
            self._holders[name].discard(holder)
        self._pass_on(names)
        return self.woken()

    def _pass_on(self, names: Iterable[str]) -> None:
        """Let the first that waits for a free lock retry; if it still waits for another one, the next one retries."""
        for name in names:
            waiting = self._waiting.get(name)
            if waiting and len(self._holders.get(name, ())) < self._limits[name]:
                self._next.append(waiting.popleft()[1])

    def decline(self, wanted: Json, holder: str = "", stop: Callable[[str], None] | None = None) -> None:
        """Decline locks whose turn has come, as no longer wanted, or with `stop` not yet. Raises ArgoError."""
        if stop is not None:
            self._late[holder] = stop
        self._pass_on(self._names(wanted))

    def woken(self) -> list[Callable[[], None]]:
        """The actions to retry now, because another one could not acquire all its locks."""
        found, self._next = self._next, []
        return found

    def forget(self, holder: str) -> None:
        """Remove a waiting holder."""
        self._late.pop(holder, None)
        for name, waiting in self._waiting.items():
            self._waiting[name] = deque(one for one in waiting if one[0] != holder)

    def waiting(self) -> list[tuple[str, Callable[[str], None]]]:
        """The holders that wait for a lock, each with the action that makes it stop."""
        waiting = [(holder, stop) for waiting in self._waiting.values() for holder, _, stop in waiting]
        return [*waiting, *self._late.items()]

    def _names(self, wanted: Json) -> list[str]:
        names = [self._semaphore(one) for one in _all(wanted, "semaphores", "semaphore")]
        for one in _all(wanted, "mutexes", "mutex"):
            kind = "Database" if one.get("database") else "Mutex"
            name = f"{one.get('namespace') or self._namespace}/{kind}/{one.get('name')}"
            self._limits[name] = 1
            names.append(name)
        if len(set(names)) < len(names):
            raise ArgoError("requested configuration is invalid: duplicate synchronization item found")
        return names

    def _semaphore(self, one: Json) -> str:
        namespace = one.get("namespace") or self._namespace
        reference, database = one.get("configMapKeyRef"), one.get("database")
        if reference is None or database is not None:
            raise ArgoError(
                "requested configuration is invalid: "
                + (
                    "the limit of a semaphore in a database is not known here"
                    if database is not None
                    else "cannot get LockName for a Semaphore without a ConfigMapRef or Database"
                )
            )
        name, key = str(reference.get("name")), str(reference.get("key"))
        full = f"{namespace}/ConfigMap/{name}/{key}"
        value = self._config.get(name, {}).get(key)
        try:
            limit = int(value or "")
        except ValueError:
            limit = 0
        if limit < 1:
            raise ArgoError(f"failed to initialize semaphore {full} with limit")
        self._limits[full] = limit
        return full


def _all(wanted: Json, names: str, name: str) -> list[Json]:
    """The requested locks, also in the form of Argo before 4.0."""
    return [*several(wanted, names), *([wanted[name]] if wanted.get(name) else [])]
