"""A run as a tree on a terminal, redrawn while it changes."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live as Screen
from rich.text import Text

from flowdsl.cli.display.ending import failures, rounds_of, said, took
from flowdsl.cli.display.lengths import duration
from flowdsl.cli.display.pace import Pace
from flowdsl.cli.display.signs import SIGNS, plain, shown
from flowdsl.cli.display.texts import line
from flowdsl.cli.process import err
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.local import logs
from flowdsl.runtime.phases import PENDING, RUNNING
from flowdsl.runtime.status.tree import Entry, question, tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from flowdsl.runtime.local.controller.events import Event
    from flowdsl.runtime.local.controller.machine import Machine

_EVERY = 0.1
"""Seconds between two looks at a run while much happens."""
_TAIL = 10


class Row(NamedTuple):
    """One line of the tree; `since`: when it began, if it goes on."""

    depth: int
    sign: str
    style: str
    name: str
    text: str
    since: float | None
    rank: int
    """How much it is wanted where there is not enough room: 0 most."""


class Tree:
    """The tree of a run on standard error. `stood_in` names the substitute of a pod, by node."""

    def __init__(self, stood_in: Mapping[str, str] | None = None) -> None:
        self._stood_in: Mapping[str, str] = {} if stood_in is None else stood_in
        self._console = Console(stderr=True, highlight=False)
        self._plain = plain(sys.stderr)
        self._screen: Screen | None = None
        self._rows: list[Row] = []
        self._log: list[str] = []
        self._log_of = ""
        self.pace = Pace(_EVERY)
        self._title = ""
        self._started = 0.0
        self._lock = threading.Lock()

    def notice(self, sentences: Sequence[str]) -> None:
        """Write the sentences above the tree."""
        for sentence in sentences:
            if self._screen is None:
                self._console.print(Text(f"note: {sentence}", "dim"))
            else:
                self._screen.console.print(Text(f"note: {sentence}", "dim"))

    def show(
        self, name: str, started: float, entries: list[Entry], log: Sequence[str] = (), log_of: str = ""
    ) -> None:
        """Show a run from now on, with the end of a log below it."""
        rows = [row for one in entries for row in _rows(one, 0, self._stood_in)]
        with self._lock:
            self._rows, self._log, self._log_of = rows, list(log), log_of
            self._title, self._started = name, started
        if self._screen is None:
            self._screen = Screen(
                get_renderable=self._draw,
                console=self._console,
                refresh_per_second=8,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._screen.start(refresh=True)

    def _draw(self) -> RenderableType:
        with self._lock:
            rows, log, title = self._rows, self._log, self._log_of
        height = max(5, self._console.size.height - 1)
        log = log[-max(0, min(len(log), height // 3)) :] if log else []
        room = height - 1 - (len(log) + 1 if log else 0)
        now = time.time()
        lines = [Text.assemble((self._title, "bold"), (f"  {duration(now - self._started)}", "dim"))]
        kept = fitted(rows, room)
        lines.extend(self._line(row, now) for row in kept)
        if len(kept) < len(rows):
            lines[-1] = Text(f"  ... {len(rows) - len(kept) + 1} more lines", "dim")
        if log:
            lines.append(Text(f"log of {title}:", "red"))
            lines.extend(Text.assemble(("  | ", "red"), each) for each in log)
        for each in lines:
            each.no_wrap, each.overflow = True, "ellipsis"
        return Group(*lines)

    def _line(self, row: Row, now: float) -> Text:
        sign = shown(row.sign, self._plain)
        text = row.text
        if row.since is not None:
            text = "  ".join(part for part in (duration(now - row.since), text) if part)
        return Text.assemble(
            "  " * row.depth, (sign, row.style), f" {row.name}", (f"  {text}" if text else "", "dim")
        )

    def pause(self) -> None:
        """Remove the tree; the next update draws it again."""
        if self._screen is not None:
            self._screen.stop()
            self._screen = None

    def close(self) -> None:
        """Remove the tree: the final report replaces it."""
        self.pause()
        err("")


class Live(Tree):
    """Shows a local run as a tree."""

    def __init__(self, folder: Path, stood_in: Mapping[str, str]) -> None:
        super().__init__(stood_in)
        self._folder = folder

    def begin(self, sentences: Sequence[str], *, resumed: bool) -> None:
        """Write the sentences above the tree."""
        self.notice(sentences)

    def __call__(self, machine: Machine, batch: list[Event]) -> None:
        """Update the tree, if it is time."""
        if self.pace.due():
            with self.pace.look():
                entries = tree(machine.run.name, machine.nodes.values())
                self.show(machine.run.name, machine.started, entries, *self._failed_log(entries))

    def _failed_log(self, entries: list[Entry]) -> tuple[list[str], str]:
        failed = failures(entries)
        if not failed:
            return [], ""
        node = failed[-1].node
        assert node is not None
        path = logs.last(self._folder, node)
        return ([], "") if path is None else (logs.tail(path, _TAIL), failed[-1].path)


def _rows(entry: Entry, depth: int, stood_in: Mapping[str, str]) -> list[Row]:
    """The lines of a step: one for what succeeded; for a loop, those rounds that run or failed."""
    sign, style = SIGNS.get(entry.phase, ("?", ""))
    begun, _ = entry.times()
    runs = entry.phase == RUNNING
    rank = 0 if entry.failed else 1 if runs else 2 if entry.phase == PENDING else 3
    text = said(entry, stood_in) if entry.ended else rounds_of(entry) if entry.rounds else _waits(entry)
    if entry.ended:
        text = "  ".join(part for part in (took(entry), text) if part)
    own = Row(depth, sign, style, line(entry.name), line(text), begun if runs else None, rank)
    if entry.ended and not entry.failed:
        return [own]
    inner = [one for one in entry.rounds if one.failed or one.phase == RUNNING]
    below = [row for one in (*inner, *entry.children) for row in _rows(one, depth + 1, stood_in)]
    return [own, *below]


def _waits(entry: Entry) -> str:
    node = entry.node
    if node is None or node.type == "DAG":
        return ""
    again = f"attempt {entry.attempts}" if entry.attempts > 1 else ""
    asked = question(node) if node.type == "Suspend" else ""
    return " ".join(filter(None, (again, node.message, asked)))


def fitted(rows: list[Row], room: int) -> list[Row]:
    """The most important lines, in order, as many as fit."""
    if len(rows) <= room:
        return rows
    wanted = sorted(range(len(rows)), key=lambda at: (rows[at].rank, rows[at].depth, at))[: max(1, room)]
    return [rows[at] for at in sorted(wanted)]
