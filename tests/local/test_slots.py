"""Who may run of those that ask for a part of the machine: a pure count, tried without processes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from flowdsl.runtime.local.pods.slots import Amount, Slots

TOTAL: Amount = {"cpu": 4, "memory": 6, "nvidia": 2}
AMOUNTS = some.fixed_dictionaries(
    {}, optional={name: some.integers(1, most) for name, most in TOTAL.items()}
).filter(bool)
LEAVES = some.integers(0, 40)


class Counted:
    """Slots, with a model of their state."""

    def __init__(self) -> None:
        self.slots = Slots()
        self.slots.offer(TOTAL)
        self.asked: list[Amount] = []
        self.waiting: list[int] = []
        self.running: list[int] = []

    def may(self, names: list[str]) -> None:
        """Check requests that were granted: those that waited longest, within the limit, and no more would fit."""
        begun = [int(name) for name in names]
        assert begun == self.waiting[: len(begun)]
        self.waiting = self.waiting[len(begun) :]
        self.running += begun
        free = {
            name: most - sum(self.asked[one].get(name, 0) for one in self.running)
            for name, most in TOTAL.items()
        }
        assert min(free.values()) >= 0
        if self.waiting:
            assert any(amount > free[name] for name, amount in self.asked[self.waiting[0]].items())

    def ask(self, wanted: Amount) -> None:
        """Add a request."""
        self.waiting.append(len(self.asked))
        self.asked.append(wanted)
        self.may(self.slots.ask(str(len(self.asked) - 1), wanted))

    def leave(self, number: int) -> None:
        """Release a request, whether it runs, waits, was released, or never existed."""
        self.running = [one for one in self.running if one != number]
        self.waiting = [one for one in self.waiting if one != number]
        self.may(self.slots.leave(str(number)))


@given(some.lists(AMOUNTS | LEAVES))
def test_they_run_in_their_order_as_many_as_fit_and_all_in_the_end(steps: list[Amount | int]) -> None:
    counted = Counted()
    for step in steps:
        if isinstance(step, int):
            counted.leave(step)
        else:
            counted.ask(step)
    while counted.running:
        counted.leave(counted.running[0])
    assert not counted.waiting
    assert counted.slots.free == TOTAL
