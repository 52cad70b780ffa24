"""The progress of a run on this machine: a tree on a terminal, elsewhere a line for each change."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol

from flowdsl.cli.display.lengths import duration
from flowdsl.cli.display.pace import Pace
from flowdsl.cli.display.signs import verb
from flowdsl.cli.display.texts import line as one_line
from flowdsl.cli.process import err, note, on_terminal
from flowdsl.runtime.local.controller.events import PodRunning
from flowdsl.runtime.logs.source import Place, place
from flowdsl.runtime.phases import OMITTED, PENDING, RUNNING, SKIPPED
from flowdsl.runtime.status.tree import RunNode, idle, plain, question

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence
    from pathlib import Path

    from flowdsl.runtime.local.controller.events import Event
    from flowdsl.runtime.local.controller.machine import Machine


class Shown(RunNode, Protocol):
    """The part of a node that the lines about a run need."""

    @property
    def daemoned(self) -> bool:
        """Whether it serves others until the end."""
        ...


class View(Protocol):
    """Displays the progress of a run."""

    def begin(self, sentences: Sequence[str], *, resumed: bool) -> None:
        """Show the notices before the run begins; for a resumed run, the old changes are not repeated."""

    def __call__(self, machine: Machine, batch: list[Event]) -> None:
        """Update the display after some events, or without events when nothing has happened for a while."""

    def notice(self, sentences: Sequence[str]) -> None:
        """Show notices."""

    def pause(self) -> None:
        """Free the terminal for a question."""

    def close(self) -> None:
        """Stop the display."""


def view(folder: Path, stood_in: Mapping[str, str], *, quiet: bool) -> View:
    """The display for the run in a folder, depending on standard error.

    `stood_in` names the substitute of a pod, by node.
    """
    if quiet:
        return Silent()
    if on_terminal(sys.stderr):
        from flowdsl.cli.display.live import Live

        return Live(folder, stood_in)
    return Lines(stood_in)


class Silent:
    """Displays nothing."""

    def begin(self, sentences: Sequence[str], *, resumed: bool) -> None:
        """Does nothing."""

    def __call__(self, machine: Machine, batch: list[Event]) -> None:
        """Does nothing."""

    def notice(self, sentences: Sequence[str]) -> None:
        """Does nothing."""

    def pause(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


class Changes:
    """Formats the changes of a run since the previous update.

    `stood_in` names the substitute of a pod, by node; `took` formats a duration.
    """

    def __init__(
        self, stood_in: Mapping[str, str] | None = None, took: Callable[[float], str] = duration
    ) -> None:
        self._seen: dict[str, str] = {}
        self._took = took
        self._stood_in: Mapping[str, str] = {} if stood_in is None else stood_in

    def __call__(self, run: str, nodes: Iterable[Shown], began: Container[str] = ()) -> list[str]:
        """What has changed in the run of a name; `began`: the nodes of which it is known that they have, since."""
        found: list[str] = []
        for node in nodes:
            before = self._seen.get(node.id)
            now = f"{PENDING}: {node.message}" if node.phase == PENDING else node.phase
            if before == now:
                continue
            self._seen[node.id] = now
            if node.id in began and before != RUNNING and node.fulfilled:
                found.append(one_line(f"{_name(node, run)}: started"))
            line = _line(node, before, run, self._stood_in.get(node.id, ""), self._took)
            if line:
                found.append(one_line(line))
        return found

    def skip(self, nodes: Sequence[Shown]) -> str:
        """Take what has ended as reported; returns how much that is."""
        self._seen = {node.id: node.phase for node in nodes if node.fulfilled}
        pods = sum(node.type == "Pod" and node.fulfilled for node in nodes)
        done = "1 step is done" if pods == 1 else f"{pods or 'no'} steps are done"
        return f"going on: {done}"


class Lines:
    """One line for each change of a step."""

    def __init__(self, stood_in: Mapping[str, str]) -> None:
        self._changes = Changes(stood_in)
        self._began: set[str] = set()
        self._resumed = False
        self._pace = Pace()
        self._machine: Machine | None = None

    def begin(self, sentences: Sequence[str], *, resumed: bool) -> None:
        """Write the sentences."""
        self._resumed = resumed
        self.notice(sentences)

    def notice(self, sentences: Sequence[str]) -> None:
        """Write the sentences."""
        for sentence in sentences:
            note(sentence)

    def __call__(self, machine: Machine, batch: list[Event]) -> None:
        """Write the changes, if it is time."""
        self._machine = machine
        self._began.update(one.node for one in batch if isinstance(one, PodRunning))
        if self._pace.due():
            with self._pace.look():
                self._look(machine)

    def _look(self, machine: Machine) -> None:
        found: list[str] = []
        nodes = list(machine.nodes.values())
        if self._resumed:
            self._resumed = False
            found.append(f"{self._changes.skip(nodes)}\n")
        found.extend(f"{line}\n" for line in self._changes(machine.run.name, nodes, self._began))
        self._began.clear()
        if found:
            err("".join(found))

    def pause(self) -> None:
        """Does nothing: lines do not obstruct a question."""

    def close(self) -> None:
        """Write the changes since the last update."""
        if self._machine is not None:
            self._look(self._machine)


def _line(node: Shown, before: str | None, run: str, instead: str, took: Callable[[float], str]) -> str:
    """The line about a node with a new phase; empty for a node that is no step."""
    name, phase = _name(node, run), node.phase
    if idle(node):
        return ""
    if node.type in ("Skipped", "Pod", "HTTP", "Suspend", "Plugin") and phase in (SKIPPED, OMITTED):
        return f"{name}: {phase.lower()}{_because(node.message.removeprefix('omitted: '))}"
    if node.type == "Suspend":
        if phase == RUNNING:
            return ": ".join(filter(None, (f"{name}: waits", plain(node.message), question(node))))
        return f"{name}: {verb(phase)}{_because(node.message)}" if before else ""
    if node.type not in ("Pod", "HTTP", "Plugin"):
        return ""
    if phase == PENDING:
        return f"{name}: waits: {node.message}" if node.message else ""
    if phase == RUNNING:
        return f"{name}: started" if not node.daemoned else f"{name}: serves"
    if not node.fulfilled:
        return ""
    if instead:
        return f"{name}: {instead}"
    if (node.memo or {}).get("hit"):
        return f"{name}: from the cache"
    ended = node.started if node.finished is None else node.finished
    return f"{name}: {verb(phase)} after {took(ended - node.started)}{_because(node.message)}"


def _name(node: Shown, run: str) -> str:
    """The name of a step in a line."""
    found = place(run, node.name)
    name = Place(found.path).called(node.template or run)
    again = found.attempts[-1] if node.retried and found.attempts else 0
    return f"{name}, attempt {again + 1}" if again else name


def _because(message: str) -> str:
    return f": {plain(message)}" if message else ""
