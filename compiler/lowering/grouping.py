"""Divides a graph that is too large into nested groups, each of at most so many units.

Nodes are grouped so that a group waits for nothing that each of its members does not wait for anyway: parts of a graph
that do not depend on each other are apart, and a part is cut in two only where everything behind the cut waits for
everything before it. What is left of a part of which something is taken off is not read again: loops that hand on a
state lose a task at a time. A graph that has neither and is still too large is cut in topological order, which makes
some nodes wait for others.

Nodes are numbers in topological order; `before` has the nodes that each waits for.
"""

from __future__ import annotations

from collections import Counter, deque
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Unit: TypeAlias = "int | list[Unit]"


def grouped(before: list[list[int]], limit: int) -> tuple[list[Unit], bool]:
    """At most `limit` units in topological order, each a node or a list of units; and whether a node waits for more."""
    after: list[list[int]] = [[] for _ in before]
    for one, needed in enumerate(before):
        for other in needed:
            after[other].append(one)
    grouping = _Grouping(before, after, limit)
    return grouping.units(list(range(len(before)))), grouping.waits


class _Grouping:
    """One graph that is too large. `waits`: some nodes wait for more than they need."""

    def __init__(self, before: list[list[int]], after: list[list[int]], limit: int) -> None:
        self.before, self.after, self.limit = before, after, limit
        self.waits = False

    def units(self, members: list[int]) -> list[Unit]:
        """At most `limit` units in topological order, each a node or a list of units."""
        # First inside the largest part, then inside the largest part of that, and so on.
        around: list[tuple[list[Unit], list[Unit]]] = []
        part = _Part(members, self.before, self.after)
        while len(part) > self.limit:
            bins: list[list[int] | _Part] = []
            for one in self.parts(part):
                last = bins[-1] if bins else None
                if isinstance(last, list) and len(last) + len(one) <= self.limit:
                    last.extend(one)
                else:
                    bins.append(list(one) if len(one) <= self.limit else one)
            at = max(range(len(bins)), key=lambda index: len(bins[index]))
            around.append((self._each(bins[:at]), self._each(bins[at + 1 :])))
            largest = bins[at]
            part = largest if isinstance(largest, _Part) else _Part(sorted(largest), self.before, self.after)
        found: list[Unit] = list(part)
        for before, behind in reversed(around):
            found = [*before, found if len(found) > 1 else found[0], *behind]
            while len(found) > self.limit:
                found = [found[at : at + self.limit] for at in range(0, len(found), self.limit)]
            found = _unfolded(found, self.limit)
        return found

    def _each(self, bins: Sequence[list[int] | _Part]) -> list[Unit]:
        parts = [sorted(one) for one in bins]
        return [one[0] if len(one) == 1 else self.units(one) for one in parts]

    def parts(self, part: _Part) -> list[list[int] | _Part]:
        """The parts of a part in topological order; one that was only trimmed is itself among them."""
        if apart := part.apart():
            return sorted([*apart, part], key=lambda one: next(iter(one)))
        first, last = part.ends()
        if first or last:
            return [*first, part, *last]
        members = list(part)
        cut = self.series(members)
        if len(cut) == 1:
            self.waits = True
            cut = [members[at : at + self.limit] for at in range(0, len(members), self.limit)]
        return [*cut]

    def series(self, members: list[int]) -> list[list[int]]:
        """The pieces between cuts at which everything after waits for everything before.

        Between positions k-1 and k there is such a cut if every last task before it and every first task
        after it are joined by an edge: then the number of edges across the cut is that of such pairs.
        """
        inside = {one: at for at, one in enumerate(members)}
        count = len(members)
        needed = [[inside[other] for other in self.before[one] if other in inside] for one in members]
        begins = [max(needs, default=-1) for needs in needed]
        ends = [count] * count
        for at, needs in enumerate(needed):
            for other in needs:
                ends[other] = min(ends[other], at)
        # The increase compared with the previous position.
        last, first, edges = [0] * (count + 2), [0] * (count + 2), [0] * (count + 2)
        for at, needs in enumerate(needed):
            begin = begins[at] + 1
            last[at + 1] += 1
            last[ends[at] + 1] -= 1
            first[begin] += 1
            first[at + 1] -= 1
            for other in needs:
                if begin <= ends[other]:
                    edges[begin] += 1
                    edges[ends[other] + 1] -= 1
        found = zip(accumulate(last), accumulate(first), accumulate(edges), strict=True)
        joined = [spanning == lasts * firsts for lasts, firsts, spanning in found]
        cuts = [0, *(at for at in range(1, count) if joined[at]), count]
        return [members[start:end] for start, end in pairwise(cuts)]


class _Part:
    """Nodes independent of all others; some can be removed at a cost that depends on those alone."""

    def __init__(self, members: list[int], before: list[list[int]], after: list[list[int]]) -> None:
        self.members, self.before, self.after = members, before, after
        self.first = 0  # where the remaining members begin
        self.inside = set(members)
        self.waits = {one: sum(other in self.inside for other in before[one]) for one in members}
        self.awaited = {one: sum(other in self.inside for other in after[one]) for one in members}
        self.sources = {one for one in members if not self.waits[one]}
        self.sinks = {one for one in members if not self.awaited[one]}

    def __len__(self) -> int:
        return len(self.inside)

    def __iter__(self) -> Iterator[int]:
        while self.members[self.first] not in self.inside:
            self.first += 1
        left = (self.members[at] for at in range(self.first, len(self.members)))
        return (one for one in left if one in self.inside)

    def ends(self) -> tuple[list[list[int]], list[list[int]]]:
        """Remove nodes at both ends, as long as all nodes next to them wait for all of them; in topological order.

        The end with fewer nodes is examined first: the other may be long, and remain.
        """
        first: list[list[int]] = []
        last: list[list[int]] = []
        while True:
            if len(self.sources) <= len(self.sinks) and self._joined(self.sources, self.after, self.waits):
                first.append(self._remove(self.sources))
            elif self._joined(self.sinks, self.before, self.awaited):
                last.append(self._remove(self.sinks))
            else:
                return first, last[::-1]

    def _joined(self, ends: set[int], beyond: list[list[int]], edges: dict[int, int]) -> bool:
        """Whether each node that has only edges to these ends has one to each of them."""
        reached = Counter(other for one in ends for other in beyond[one] if other in self.inside)
        next_to = [count for other, count in reached.items() if count == edges[other]]
        return bool(next_to) and min(next_to) == len(ends)

    def _remove(self, ends: set[int]) -> list[int]:
        removed = sorted(ends)
        for those in (self.inside, self.sources, self.sinks):
            those.difference_update(removed)
        for beyond, edges, beginning in (
            (self.after, self.waits, self.sources),
            (self.before, self.awaited, self.sinks),
        ):
            for other in (other for one in removed for other in beyond[one] if other in self.inside):
                edges[other] -= 1
                if not edges[other]:
                    beginning.add(other)
        return removed

    def apart(self) -> list[list[int]]:
        """Remove the connected components, except one.

        A search starts at each end, and each advances by a node in turn; those that meet are joined. All but the last
        have finished when that one has advanced about as far as they have.
        """
        turns = deque(_Search(one) for one in min(self.sources, self.sinks, key=len))
        reached = {search.found[0]: search for search in turns}
        found: list[list[int]] = []
        running = len(turns)
        while running > 1:
            search = turns.popleft()
            if search.into is not None:
                continue
            if not search.next:
                found.append(sorted(search.found))
                running -= 1
                continue
            one = search.next.pop()
            for other in (*self.before[one], *self.after[one]):
                if other not in reached and other in self.inside:
                    reached[other] = search
                    search.found.append(other)
                    search.next.append(other)
                elif other in reached and (met := reached[other].whole()) is not search:
                    search.join(met)
                    running -= 1
            turns.append(search)
        for those in (self.inside, self.sources, self.sinks):
            those.difference_update(*found)
        return found


class _Search:
    """What a search has found, and where it continues."""

    def __init__(self, first: int) -> None:
        self.found, self.next = [first], [first]
        self.into: _Search | None = None

    def whole(self) -> _Search:
        """The search that this one was joined into."""
        search = self
        while search.into is not None:
            search.into = search.into.into or search.into
            search = search.into
        return search

    def join(self, other: _Search) -> None:
        """Merge another search into this one."""
        if len(other.found) > len(self.found):  # the shorter lists are moved
            self.found, self.next, other.found, other.next = other.found, other.next, self.found, self.next
        self.found += other.found
        self.next += other.next
        other.into = self


def _unfolded(units: list[Unit], limit: int) -> list[Unit]:
    """The units with the smallest lists expanded in place, as long as there are at most `limit`.

    What is not in a group waits for less, and passes nothing through one: a template has at most 500 inputs.
    """
    found = list(units)
    while True:
        lists = [at for at, unit in enumerate(found) if isinstance(unit, list)]
        at = min(lists, key=lambda one: _length(found[one]), default=-1)
        if at < 0 or len(found) - 1 + _length(found[at]) > limit:
            return found
        unit = found[at]
        found[at : at + 1] = unit if isinstance(unit, list) else [unit]


def _length(unit: Unit) -> int:
    return len(unit) if isinstance(unit, list) else 1
