"""The log files of a step on this machine."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from flowdsl.grammar.regex import regex
from flowdsl.runtime.logs.terminal import CONTROL, SEQUENCES

if TYPE_CHECKING:
    from pathlib import Path

    from flowdsl.runtime.status.tree import RunNode

_LONGEST = 500  # characters of a line that are shown
_OWN_ERROR = regex(r"Error \(exit code (?:[1-9]|[1-9]\d|1[01]\d|12[0-7])\)$")
"""How Argo tells of a program that ended by itself: codes from 128 on are of one that was killed."""


def of_node(folder: Path, node: str) -> list[Path]:
    """The logs of the containers of a node in the folder of its run, by name."""
    return sorted((folder / "logs" / node).glob("*.log"))


def files(folder: Path, node: RunNode) -> list[Path]:
    """The logs of a step in the folder of its run, that of its main container first; those of its last attempt."""
    found = sorted(of_node(folder, node.result().id), key=lambda one: one.stem != "main")
    return [one for one in found if one.stat().st_size]


def last(folder: Path, node: RunNode) -> Path | None:
    """The log that tells why a step failed: that of its main container, else the one written last."""
    found = files(folder, node)
    return max(found, key=lambda one: (one.stem == "main", one.stat().st_mtime_ns), default=None)


def last_words(folder: Path, node: RunNode) -> str:
    """The last line that a step wrote before it ended with an error of its own; empty if it failed otherwise."""
    path = last(folder, node) if _OWN_ERROR.search(node.result().message) else None
    lines = tail(path, 1) if path is not None else []
    return lines[0].strip() if lines else ""


def text(folder: Path, node: RunNode) -> str:
    """The whole output of a step."""
    return "".join(one.read_text(encoding="utf-8", errors="replace") for one in files(folder, node))


def tail(path: Path, lines: int = 10) -> list[str]:
    """The last lines of a log, without sequences that move the cursor or colour the screen."""
    with path.open("rb") as log:
        log.seek(0, 2)
        log.seek(max(0, log.tell() - lines * 4096))
        last = deque(log, lines)
    return [_clean(line.decode(errors="replace").rstrip("\n")) for line in last]


def _clean(line: str) -> str:
    """A line that is safe to show: text that a carriage return overwrote is removed."""
    line = line.rstrip("\r").rpartition("\r")[2]
    return CONTROL.sub("", SEQUENCES.sub("", line.replace("\t", "    ")))[:_LONGEST]
