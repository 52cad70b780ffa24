"""The dependency graph of a DAG, from `depends` and `dependencies`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from flowdsl.grammar.depends import depends
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flowdsl.compiler.problem import Part
    from flowdsl.compiler.tree import Path
    from flowdsl.grammar.depends import Operand

T = TypeVar("T")

BATCH = 4096  # producers per pass of `reached`: bounds the memory on graphs of any size
MOST_CYCLES = 20  # reported for one graph: each is as long as the graph in the worst case


class Missing(NamedTuple):
    """A dependency on a missing task: the dependent task, the place in it, the name, and its part."""

    task: int
    place: Path
    name: str
    part: Part | None = None


class Dag:
    """The tasks by position: the tasks that each one needs, and the mistakes in the texts that declare this.

    `needs` holds positions, without repeats per task. `results` are the operands that refer to a result.
    `is_tagged` says that tags may add further needs.
    """

    def __init__(self, tasks: Sequence[dict[str, Any]]) -> None:
        self.index: dict[str, int] = {}
        for position, task in enumerate(tasks):
            self.index.setdefault(task.get("name") or "", position)
        self.needs: list[Sequence[int]] = []
        self.missing: list[Missing] = []
        self.malformed: list[tuple[int, GrammarError]] = []
        self.results: list[tuple[int, Operand]] = []
        self.is_tagged = False
        index = self.index
        for position, task in enumerate(tasks):
            text = task.get("depends")
            if text in index:
                self.needs.append((index[text],))
            elif text:
                self._read(position, text)
            else:
                names: list[str] = task.get("dependencies") or []
                self.needs.append([index[name] for name in names if name in index])
                if len(self.needs[-1]) < len(names):
                    self.is_tagged |= any("{{" in str(name) for name in names)
                    self.missing += (
                        Missing(position, ("dependencies", i), name)
                        for i, name in enumerate(names)
                        if name not in index
                    )

    @cached_property
    def needed(self) -> frozenset[int]:
        """The tasks that others depend on."""
        return frozenset(need for needs in self.needs for need in needs)

    @cached_property
    def needing(self) -> dict[int, list[int]]:
        """The tasks that depend on each one."""
        found: dict[int, list[int]] = {}
        for position, needs in enumerate(self.needs):
            for need in needs:
                found.setdefault(need, []).append(position)
        return found

    def _read(self, position: int, text: str) -> None:
        """Parse a `depends` text that is more than one name."""
        names = text.split(" && ")
        if self.index.keys() >= set(names):
            self.needs.append([self.index[name] for name in dict.fromkeys(names)])
            return
        known: dict[int, None] = {}
        try:
            operands = depends(text)
        except GrammarError as error:
            operands = ()
            self.is_tagged |= "{{" in text
            self.malformed.append((position, error))
        for operand in operands:
            if operand.result is not None:
                self.results.append((position, operand))
            if (need := self.index.get(operand.task)) is None:
                part = operand.start, operand.start + len(operand.task)
                self.missing.append(Missing(position, ("depends",), operand.task, part))
            else:
                known[need] = None
        self.needs.append(list(known))

    def reached(self, pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
        """Those (producer, consumer) pairs where the consumer runs after the producer in every case.

        Linear in the size of the graph for each BATCH of different producers. Tasks on a cycle have no
        order: pairs that lead through one may be left out.
        """
        wanted: dict[int, list[int]] = {}
        for producer, consumer in pairs:
            wanted.setdefault(producer, []).append(consumer)
        found: set[tuple[int, int]] = set()
        producers = list(wanted)
        order = self.order if producers else ()
        for begin in range(0, len(producers), BATCH):
            batch = producers[begin : begin + BATCH]
            bits = {producer: 1 << bit for bit, producer in enumerate(batch)}
            before = [0] * len(self.needs)
            for task in order:
                reaching = 0
                for need in self.needs[task]:
                    reaching |= before[need] | bits.get(need, 0)
                before[task] = reaching
            for producer in batch:
                bit = bits[producer]
                found.update((producer, each) for each in wanted[producer] if before[each] & bit)
        return found

    def before(self, tasks: Iterable[int]) -> set[int]:
        """The given tasks, and all that they need, transitively."""
        return _reached(tasks, lambda task: self.needs[task])

    def after(self, tasks: Iterable[int]) -> set[int]:
        """The given tasks, and all that need them, transitively."""
        return _reached(tasks, lambda task: self.needing.get(task, ()))

    def may_reach(self, producer: int, consumer: int) -> bool:
        """Whether a task may run after another, as far as can be told if the graph has mistakes."""
        unread = {task for task, _ in self.malformed} | {each.task for each in self.missing}
        seen, left = {consumer}, [consumer]
        for task in left:  # grows during the loop
            if task in unread or producer in self.needs[task]:
                return True
            left += (need for need in self.needs[task] if need not in seen)
            seen.update(self.needs[task])
        return False

    @cached_property
    def is_sound(self) -> bool:
        """Whether the order can be read: nothing malformed or missing, no cycle."""
        return not (self.malformed or self.missing or cycles(self.needs))

    @cached_property
    def order(self) -> list[int]:
        """The tasks in topological order; tasks on a cycle are last, in their given order."""
        return self.sorted()

    def sorted(self, reverse: bool = False) -> list[int]:
        """The tasks in topological order; `reverse` reverses those that need none.

        Source: TopologicalSorting in util/sorting of Argo, which starts with these in any order.
        """
        waiting = [len(needs) for needs in self.needs]
        users: list[list[int]] = [[] for _ in self.needs]
        for task, needs in enumerate(self.needs):
            for need in needs:
                users[need].append(task)
        ready = [task for task, count in enumerate(waiting) if not count]
        if reverse:
            ready.reverse()
        for task in ready:  # grows during the loop
            for user in users[task]:
                waiting[user] -= 1
                if not waiting[user]:
                    ready.append(user)
        return ready + [task for task, count in enumerate(waiting) if count]


def _reached(tasks: Iterable[int], following: Callable[[int], Iterable[int]]) -> set[int]:
    left = list(tasks)
    seen = set(left)
    for task in left:  # grows during the loop
        new = [each for each in following(task) if each not in seen]
        seen.update(new)
        left += new
    return seen


def cycles(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Cycles of a graph, each as its members in order: one for every back edge of a depth-first search.

    Empty exactly when there is none. No two of them close at the same edge; at most MOST_CYCLES are returned.
    """
    if all(not some or max(some) < at for at, some in enumerate(successors)):
        return []  # each leads to earlier ones only, as most graphs are written
    state = [0] * len(successors)  # 0 new, 1 on the path, 2 done
    found: list[list[int]] = []
    for root in range(len(successors)):
        if state[root]:
            continue
        path = [root]
        rests = [iter(successors[root])]
        state[root] = 1
        while rests:
            for successor in rests[-1]:
                if state[successor] == 1 and len(found) < MOST_CYCLES:
                    found.append(path[path.index(successor) :])
                elif not state[successor]:
                    state[successor] = 1
                    path.append(successor)
                    rests.append(iter(successors[successor]))
                    break
            else:
                state[path.pop()] = 2
                rests.pop()
    return found


def cycle_in_words(names: Sequence[str]) -> str:
    """A cycle in words, abbreviated if it is long."""
    shown = names if len(names) <= 8 else [*names[:4], "...", *names[-3:]]
    return " -> ".join([*shown, names[0]])


def inner_first(roots: Iterable[T], successors: Callable[[T], Iterable[T]]) -> list[T]:
    """All reachable nodes in postorder: each after its successors; back edges are not followed."""
    found: list[T] = []
    seen = set[int]()
    path: list[T] = []
    rests = [iter(roots)]
    while rests:
        following = next((each for each in rests[-1] if id(each) not in seen), None)
        if following is not None:
            seen.add(id(following))
            path.append(following)
            rests.append(iter(successors(following)))
        else:
            rests.pop()
            if path:
                found.append(path.pop())
    return found
