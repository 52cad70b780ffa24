"""Schedules programs by their requests for resources. Part of the supervisor, so it imports nothing."""

from __future__ import annotations

Amount = dict[str, int]
"""The amount of each resource; one that is missing is not requested."""


class Slots:
    """A FIFO queue: no request passes one that waits, so that large requests are granted, too."""

    def __init__(self) -> None:
        self.free: Amount = {}
        self.running: dict[str, Amount] = {}
        self.waiting: dict[str, Amount] = {}

    def offer(self, total: Amount) -> None:
        """Add the total of resources that were not known before."""
        self.free.update(total)

    def ask(self, name: str, wanted: Amount) -> list[str]:
        """Request resources, no more than the total; returns those that may run from now on."""
        self.waiting[name] = wanted
        return self._next()

    def leave(self, name: str) -> list[str]:
        """Release or withdraw a request; returns those that may run from now on."""
        self.waiting.pop(name, None)
        for resource, amount in self.running.pop(name, {}).items():
            self.free[resource] += amount
        return self._next()

    def _next(self) -> list[str]:
        found: list[str] = []
        free = self.free
        while self.waiting:
            name, wanted = next(iter(self.waiting.items()))
            if any(amount > free[resource] for resource, amount in wanted.items()):
                break
            for resource, amount in wanted.items():
                free[resource] -= amount
            self.running[name] = self.waiting.pop(name)
            found.append(name)
        return found
