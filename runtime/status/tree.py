"""A run as its author sees it: steps, loops over rounds, and graphs, without Argo's intermediate nodes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.runtime.local.controller.names import LEARNING
from flowdsl.runtime.parts import several, text
from flowdsl.runtime.phases import ERROR, FAILED, FAILURES, OMITTED, PENDING, RUNNING, SKIPPED, SUCCEEDED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Json = dict[str, Any]

_ROUND = regex(r"\((\d+):(.*)\)$", re.DOTALL)
_WORST = (ERROR, FAILED, RUNNING, PENDING, SUCCEEDED, SKIPPED, OMITTED)


_SENTENCE = regex(
    r"invalid character '.' in literal (?:null|false) .*fromJSON\('"
    r"((?:no trial|fewer than \d+ trials) of [^']+ returned a usable [^']+)'",
    re.DOTALL,
)


_KILLED = ("137", "143")
_UNEVEN = "the lists that are walked together differ in length"


def plain(message: str) -> str:
    """A message without what Argo adds to the sentence with which a sweep fails that has too few usable trials.

    The sentence is the text of an expression; it is not JSON, and Argo's message says which expression and where.
    Likewise for the sentence with which a loop over several lists fails, which is not a number.
    """
    if f"({_UNEVEN})" in message:
        return _UNEVEN
    found = _SENTENCE.search(message) if "returned a usable" in message else None
    return message if found is None else found[1]


class RunNode(Protocol):
    """The interface of nodes in a tree: those of the local controller, and those of a Workflow object."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    @property
    def name(self) -> str:
        """Its full name: `sweep-x7k2p.runs(3:lr:0.1)`."""
        ...

    @property
    def display(self) -> str:
        """Its display name: `runs(3:lr:0.1)`."""
        ...

    @property
    def type(self) -> str:
        """Its type: `Pod`, `DAG`, `Retry`."""
        ...

    @property
    def phase(self) -> str:
        """Its phase."""
        ...

    @property
    def message(self) -> str:
        """Why it is in its phase."""
        ...

    @property
    def started(self) -> float:
        """When it began, in seconds since 1970."""
        ...

    @property
    def finished(self) -> float | None:
        """When it ended, if it has."""
        ...

    @property
    def template(self) -> str:
        """The name of the template that it executes, if it has one."""
        ...

    @property
    def boundary(self) -> RunNode | None:
        """The graph that it is part of."""
        ...

    @property
    def inputs(self) -> Json | None:
        """Its inputs, in Argo's format."""
        ...

    @property
    def outputs(self) -> Json | None:
        """Its outputs."""
        ...

    @property
    def ip(self) -> str:
        """The address of a daemon that has served."""
        ...

    @property
    def memo(self) -> Json | None:
        """Its memoization status."""
        ...

    @property
    def hooked(self) -> bool:
        """Whether it belongs to a hook or an exit handler."""
        ...

    @property
    def retried(self) -> bool:
        """Whether it is an attempt of a Retry node."""
        ...

    @property
    def fulfilled(self) -> bool:
        """Whether its dependents may continue."""
        ...

    def attempts(self) -> Sequence[RunNode]:
        """Of a Retry node: its attempts."""
        ...

    def result(self) -> RunNode:
        """The node whose outputs count: of a Retry node, its last attempt."""
        ...


class Entry(NamedTuple):
    """A step, a loop with its rounds, or a graph with its steps."""

    name: str
    """Its name at its place: that of a task, or the number of a loop's round."""
    path: str
    """The names on the path to it: `runs.train`, and for a round `runs.train(3)`."""
    node: RunNode | None
    """Its node, if it has one: a loop among steps has none."""
    children: tuple[Entry, ...] = ()
    rounds: tuple[Entry, ...] = ()
    earlier: tuple[Entry, ...] = ()
    """The attempts before the last one; the parts of the last one are its own."""

    @property
    def phase(self) -> str:
        """Its phase; of an unfinished loop, that of its rounds; of a waiting attempt, not that of the step."""
        if self.node is not None and (self.node.fulfilled or not self.rounds):
            waits = not self.node.fulfilled and self.node.result().phase == PENDING
            return PENDING if waits else self.node.phase
        phases = {one.phase for one in self.rounds}
        if RUNNING in phases or PENDING in phases:
            return RUNNING
        return next((phase for phase in _WORST if phase in phases), PENDING)

    @property
    def message(self) -> str:
        """Why it is in its phase: of a step that was retried, the message of the last attempt."""
        if self.node is None:
            return next((one.message for one in self.rounds if one.failed and one.message), "")
        return plain(self.node.result().message or self.node.message)

    @property
    def failed(self) -> bool:
        """Whether its phase is Failed or Error."""
        return self.phase in FAILURES

    @property
    def needless(self) -> bool:
        """Whether it is a daemon that was stopped when it was no longer needed, which Argo may call a failure."""
        node = self.node if self.node is None else self.node.result()
        return node is not None and bool(node.ip) and (node.outputs or {}).get("exitCode") in _KILLED

    @property
    def culprit(self) -> Entry | None:
        """The step that made it fail: itself, or the first within it that failed; None if it did not fail.

        A stopped daemon is one only where nothing else failed.
        """
        if not self.failed or self.leaf:
            return (
                self if self.failed and not (self.node is not None and self.node.type == "Skipped") else None
            )
        inside = (one.culprit for one in (*self.rounds, *self.children))
        return min((one for one in inside if one is not None), key=lambda one: one.needless, default=None)

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen in it."""
        return self.phase not in (RUNNING, PENDING)

    @property
    def attempts(self) -> int:
        """The number of its attempts."""
        return len(self.node.attempts()) if self.node is not None and self.node.type == "Retry" else 1

    @property
    def leaf(self) -> bool:
        """Whether it has no children."""
        return not self.children and not self.rounds

    def times(self) -> tuple[float, float | None]:
        """When it began, and when it ended if it has."""
        if self.node is not None:
            return self.node.started, self.node.finished
        starts, ends = zip(*(one.times() for one in self.rounds), strict=True)
        known = [end for end in ends if end is not None]
        return min(starts), max(known) if len(known) == len(ends) else None

    def walk(self) -> Iterator[Entry]:
        """Yields it, and everything in it."""
        yield self
        for one in (*self.rounds, *self.children):
            yield from one.walk()


_KINDS = {
    **dict.fromkeys(FAILURES, "failed"),
    SUCCEEDED: "done",
    **dict.fromkeys((SKIPPED, OMITTED), "skipped"),
}


def counted(rounds: tuple[Entry, ...]) -> dict[str, int]:
    """The number of rounds that succeeded, failed, were skipped, and have not ended."""
    found = {"done": 0, "failed": 0, "skipped": 0, "open": 0}
    for one in rounds:
        found[_KINDS.get(one.phase, "open")] += 1
    return found


def tree(run: str, nodes: Iterable[RunNode]) -> list[Entry]:
    """The steps of a run so far, in the order of its nodes. A run of a single step is that step.

    One that was retried as a whole is a graph with its attempts.
    """
    inside: dict[str, list[RunNode]] = {}
    tops: list[RunNode] = []
    for node in list(nodes):
        if node.type in ("StepGroup", "Container") or node.retried:
            continue
        if node.boundary is None:
            tops.append(node)
        else:
            inside.setdefault(node.boundary.id, []).append(node)
    found: list[Entry] = []
    for node in tops:
        if node.name == run:
            made = _entry(node, node.template or run, node.template or run, inside)
            parts = bool(made.children) or node.type in ("DAG", "Steps")
            found.extend(made.children if parts and not made.earlier else [made])
        else:
            name = node.display.removeprefix(f"{run}.")
            found.append(_entry(node, name, name, inside))
    return found


def question(node: RunNode) -> str:
    """What a user is asked who resumes a node: the descriptions of the values that it takes."""
    inputs = several(node.inputs or {}, "parameters")
    return " ".join(filter(None, dict.fromkeys(" ".join(text(one, "description").split()) for one in inputs)))


def idle(node: RunNode) -> bool:
    """Whether a node stands for a task without a template that never runs: others depend on it."""
    return node.type == "Skipped" and not node.template and node.message == "when 'false' evaluated false"


def _all_idle(node: RunNode, inside: dict[str, list[RunNode]]) -> bool:
    """Whether no work can ever be done in a node."""
    nodes = inside.get(node.id, []) if node.type == "DAG" else []
    return idle(node) or (bool(nodes) and all(map(idle, nodes)))


def _entry(node: RunNode, name: str, path: str, inside: dict[str, list[RunNode]]) -> Entry:
    body = node.result() if node.type == "Retry" else node
    nodes = [one for one in inside.get(body.id, []) if not _all_idle(one, inside)]
    outermost = node.boundary is None and not (node.hooked or node.retried)
    children = _entries(nodes, "" if outermost else path, inside)
    earlier = tuple(
        _entry(one, f"attempt {number}", _below(path, f"attempt {number}"), inside)
        for number, one in enumerate(node.attempts() if node.type == "Retry" else (), 1)
        if one is not body
    )
    if len(children) == 1 and children[0].rounds and node.boundary is not None:
        loop = children[0]  # a graph that exists only for a loop
        return Entry(name, path, node, (), _moved(loop.rounds, loop.path, path), earlier)
    if children and any(one.rounds for one in children) and all(LEARNING.match(one.name) for one in children):
        return Entry(name, path, node, *_learnt(children, path), earlier)
    return Entry(name, path, node, children, (), earlier)


def _learnt(parts: tuple[Entry, ...], path: str) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """The step that chose the points of a sweep that learns, or another that failed; and its trials, renumbered."""
    others: list[Entry] = []
    trials: list[Entry] = []
    for one in parts:
        before = len(trials)
        for each in one.rounds:
            name = f"({before + int(each.name[1:-1])})"
            trials += (moved._replace(name=name) for moved in _moved((each,), each.path, f"{path}{name}"))
        if not one.rounds or one.failed:
            others.append(one._replace(rounds=()))
    return tuple(others), tuple(trials)


def _entries(nodes: list[RunNode], above: str, inside: dict[str, list[RunNode]]) -> tuple[Entry, ...]:
    found: dict[str, Entry] = {}
    rounds: dict[str, list[Entry]] = {}
    for node in nodes:
        matched = _ROUND.search(node.display)
        if matched is None:
            found[node.display] = _entry(node, node.display, _below(above, node.display), inside)
            continue
        base, name = node.display[: matched.start()], f"({matched[1]})"
        path = _below(above, base)
        found.setdefault(base, Entry(base, path, None))
        rounds.setdefault(base, []).append(_entry(node, name, f"{path}{name}", inside))
    for base, entries in rounds.items():
        entries.sort(key=lambda one: int(one.name[1:-1]))
        found[base] = found[base]._replace(rounds=tuple(entries))
    return tuple(found.values())


def _below(above: str, name: str) -> str:
    return f"{above}.{name}" if above else name


def _moved(entries: tuple[Entry, ...], old: str, new: str) -> tuple[Entry, ...]:
    """The same entries, with another beginning of their paths."""
    return tuple(
        one._replace(
            path=new + one.path.removeprefix(old),
            children=_moved(one.children, old, new),
            rounds=_moved(one.rounds, old, new),
            earlier=_moved(one.earlier, old, new),
        )
        for one in entries
    )
