"""A run as its author sees it: steps, loops over rounds, and graphs of steps, without the nodes in between."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from flowdsl.runtime.local.node import ERROR, FAILED, OMITTED, PENDING, RUNNING, SKIPPED, SUCCEEDED, Node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.runtime.local.machine import Machine

_ROUND = re.compile(r"\((\d+):(.*)\)$", re.DOTALL)
_WORST = (ERROR, FAILED, RUNNING, PENDING, SUCCEEDED, SKIPPED, OMITTED)


class Entry(NamedTuple):
    """A step, a loop with its rounds, or a graph with its steps."""

    name: str
    """What it is called where it stands: a task by its name, a round of a loop by its number."""
    path: str
    """The names on the way to it: `runs.train`, and for a round `runs.train(3)`."""
    node: Node | None
    """Its node, if it has one: a loop among steps has none."""
    children: tuple[Entry, ...] = ()
    rounds: tuple[Entry, ...] = ()

    @property
    def phase(self) -> str:
        """Its phase; of a loop that goes on, that of its rounds."""
        if self.node is not None and (self.node.fulfilled or not self.rounds):
            return self.node.phase
        phases = {one.phase for one in self.rounds}
        if RUNNING in phases or PENDING in phases:
            return RUNNING
        return next((phase for phase in _WORST if phase in phases), PENDING)

    @property
    def message(self) -> str:
        """Why it is in its phase: of a step that was tried several times, what the last attempt says."""
        if self.node is None:
            return next((one.message for one in self.rounds if one.failed and one.message), "")
        return self.node.result().message or self.node.message

    @property
    def failed(self) -> bool:
        """Whether its phase is Failed or Error."""
        return self.phase in (FAILED, ERROR)

    @property
    def ended(self) -> bool:
        """Whether nothing of it is to come."""
        return self.phase not in (RUNNING, PENDING)

    @property
    def attempts(self) -> int:
        """How often it was tried."""
        return len(self.node.attempts()) if self.node is not None and self.node.type == "Retry" else 1

    @property
    def leaf(self) -> bool:
        """Whether it has no parts."""
        return not self.children and not self.rounds

    def times(self) -> tuple[float, float | None]:
        """When it began, and when it ended if it has."""
        if self.node is not None:
            return self.node.started, self.node.finished
        starts, ends = zip(*(one.times() for one in self.rounds), strict=True)
        known = [end for end in ends if end is not None]
        return min(starts), max(known) if len(known) == len(ends) else None

    def walk(self) -> Iterator[Entry]:
        """It, and everything in it."""
        yield self
        for one in (*self.rounds, *self.children):
            yield from one.walk()


def counted(rounds: tuple[Entry, ...]) -> dict[str, int]:
    """How many rounds have ended well, failed, were skipped, and are still to end."""
    found = {"done": 0, "failed": 0, "skipped": 0, "open": 0}
    for one in rounds:
        phase = one.phase
        kind = (
            "failed"
            if phase in (FAILED, ERROR)
            else "done"
            if phase == SUCCEEDED
            else "skipped"
            if phase in (SKIPPED, OMITTED)
            else "open"
        )
        found[kind] += 1
    return found


def tree(machine: Machine) -> list[Entry]:
    """What a run consists of so far, in the order in which it began. A run of one step is that step."""
    run = machine.run.name
    inside: dict[str, list[Node]] = {}
    tops: list[Node] = []
    for node in list(machine.nodes.values()):
        if node.type in ("StepGroup", "Container") or node.retried:
            continue
        if node.boundary is None:
            tops.append(node)
        else:
            inside.setdefault(node.boundary.id, []).append(node)
    found: list[Entry] = []
    for node in tops:
        if node.name == run:
            made = _entry(node, node.template or run, "", inside)
            found.extend(made.children if made.children or node.type in ("DAG", "Steps") else [made])
        else:
            name = node.display.removeprefix(f"{run}.")
            found.append(_entry(node, name, "", inside))
    return found


def idle(node: Node) -> bool:
    """Whether a node stands for a task of no template that never runs: it is there for what waits for it."""
    return node.type == "Skipped" and not node.template and node.message == "when 'false' evaluated false"


def _all_idle(node: Node, inside: dict[str, list[Node]]) -> bool:
    """Whether nothing is done in a node, however the run goes."""
    nodes = inside.get(node.id, []) if node.type == "DAG" else []
    return idle(node) or (bool(nodes) and all(map(idle, nodes)))


def _entry(node: Node, name: str, above: str, inside: dict[str, list[Node]]) -> Entry:
    path = f"{above}.{name}" if above else name
    within = "" if node.boundary is None and not node.hooked else path
    body = node.result() if node.type == "Retry" else node
    nodes = [one for one in inside.get(body.id, []) if not _all_idle(one, inside)]
    children = _entries(nodes, within, inside)
    if len(children) == 1 and children[0].rounds and node.boundary is not None:
        loop = children[0]  # a graph that is there for a loop
        rounds = tuple(one._replace(path=f"{path}{one.name}") for one in loop.rounds)
        return Entry(name, path, node, (), rounds)
    return Entry(name, path, node, children)


def _entries(nodes: list[Node], above: str, inside: dict[str, list[Node]]) -> tuple[Entry, ...]:
    found: dict[str, Entry] = {}
    rounds: dict[str, list[Entry]] = {}
    for node in nodes:
        matched = _ROUND.search(node.display)
        if matched is None:
            made = _entry(node, node.display, above, inside)
            found[made.name] = made
            continue
        base = node.display[: matched.start()]
        path = f"{above}.{base}" if above else base
        found.setdefault(base, Entry(base, path, None))
        one = _entry(node, f"({matched[1]})", "", inside)
        rounds.setdefault(base, []).append(one._replace(path=f"{path}({matched[1]})"))
    for base, several in rounds.items():
        several.sort(key=lambda one: int(one.name[1:-1]))
        found[base] = found[base]._replace(rounds=tuple(several))
    return tuple(found.values())


def duration(seconds: float) -> str:
    """A length of time, as short as it is read: `0.3s`, `12s`, `3m 20s`, `2h 5m`."""
    if seconds < 9.95:
        return f"{max(0.0, seconds):.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60}s"
    return f"{whole // 3600}h {whole % 3600 // 60}m"
