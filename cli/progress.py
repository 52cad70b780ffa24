"""What a run on this machine shows while it goes on: a tree on a terminal, elsewhere a line for each change."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Protocol

from flowdsl.cli.process import err
from flowdsl.runtime.local.node import OMITTED, PENDING, RUNNING, SKIPPED
from flowdsl.runtime.status.tree import duration, idle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from flowdsl.runtime.local.events import Event
    from flowdsl.runtime.local.machine import Machine
    from flowdsl.runtime.local.node import Node


_ROUND = re.compile(r"\((\d+):[^()]*\)")

_GROUP = re.compile(r"\[\d+\]")


class View(Protocol):
    """What shows a run."""

    def begin(self, sentences: Sequence[str], *, resumed: bool) -> None:
        """Say what is to be known before the run begins; of one that is resumed, what was is not said again."""

    def __call__(self, machine: Machine, batch: list[Event]) -> None:
        """Look at the run after some events; without events, when nothing happens for a while."""

    def notice(self, sentences: Sequence[str]) -> None:
        """Say what came up."""

    def pause(self) -> None:
        """Leave the terminal to a question."""

    def close(self) -> None:
        """Show nothing more."""


def view(folder: Path, stood_in: Mapping[str, str], *, quiet: bool) -> View:
    """What shows the run in a folder, by what standard error is.

    `stood_in` says by node what stood in for its pod.
    """
    if quiet:
        return Silent()
    stream = sys.stderr
    if stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb":
        from flowdsl.cli.live import Live

        return Live(folder, stood_in)
    return Lines(stood_in)


class Silent:
    """Shows nothing."""

    def begin(self, sentences: Sequence[str], *, resumed: bool) -> None:
        """Say nothing."""

    def __call__(self, machine: Machine, batch: list[Event]) -> None:
        """Show nothing."""

    def notice(self, sentences: Sequence[str]) -> None:
        """Say nothing."""

    def pause(self) -> None:
        """There is nothing to leave."""

    def close(self) -> None:
        """There is nothing to end."""


class Lines:
    """One line for each change of a step."""

    def __init__(self, stood_in: Mapping[str, str]) -> None:
        self._seen: dict[str, str] = {}
        self._stood_in = stood_in
        self._resumed = False

    def begin(self, sentences: Sequence[str], *, resumed: bool) -> None:
        """Write the sentences."""
        self._resumed = resumed
        self.notice(sentences)

    def notice(self, sentences: Sequence[str]) -> None:
        """Write the sentences."""
        for sentence in sentences:
            err(f"note: {sentence}\n")

    def __call__(self, machine: Machine, batch: list[Event]) -> None:
        """Write what has changed."""
        run = machine.run.name
        found: list[str] = []
        if self._resumed:
            self._resumed = False
            self._seen = {node.id: node.phase for node in machine.nodes.values() if node.fulfilled}
            pods = [node for node in machine.nodes.values() if node.type == "Pod" and node.fulfilled]
            found.append(f"{len(pods)} {'step has' if len(pods) == 1 else 'steps have'} ended before\n")
        for node in list(machine.nodes.values()):
            before = self._seen.get(node.id)
            if before == node.phase:
                continue
            self._seen[node.id] = node.phase
            line = _line(node, before, run, self._stood_in.get(node.id, ""))
            if line:
                found.append(f"{line}\n")
        if found:
            err("".join(found))

    def pause(self) -> None:
        """Lines do not stand in the way."""

    def close(self) -> None:
        """There is nothing to end."""


def _line(node: Node, before: str | None, run: str, instead: str) -> str:
    """The line about a node that is in a new phase; empty for what is no step."""
    name = node.name.removeprefix(run) or node.template or run
    name = _GROUP.sub("", _ROUND.sub(r"(\1)", name)).removeprefix(".")
    if node.retried:
        name = _attempt(name)
    phase = node.phase
    if idle(node):
        return ""
    if node.type in ("Skipped", "Pod", "HTTP", "Suspend", "Plugin") and phase in (SKIPPED, OMITTED):
        return f"{name}: {phase.lower()}{_because(node.message.removeprefix('omitted: '))}"
    if node.type == "Suspend":
        if phase == RUNNING:
            return f"{name}: waits{_because(node.message)}"
        return f"{name}: {phase.lower()}{_because(node.message)}" if before else ""
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
    return f"{name}: {phase.lower()} after {duration(ended - node.started)}{_because(node.message)}"


def _attempt(name: str) -> str:
    """`train(1)` as the second attempt at `train`; the first is not called so."""
    base, _, rest = name.rpartition("(")
    number = rest.rstrip(")")
    return base if number == "0" else f"{base}, attempt {int(number) + 1}" if number.isdigit() else name


def _because(message: str) -> str:
    return f": {' '.join(message.split())}" if message else ""
