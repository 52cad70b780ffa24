"""What a run on this machine shows while it goes on, and at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.cli.process import err

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from flowdsl.runtime.local.events import Event
    from flowdsl.runtime.local.machine import Machine


def watcher(*, quiet: bool) -> Callable[[Machine, list[Event]], None] | None:
    """What is called after each batch of events."""
    if quiet:
        return None
    seen: dict[str, str] = {}

    def watch(machine: Machine, _batch: list[Event]) -> None:
        for node in list(machine.nodes.values()):
            if seen.get(node.id) != node.phase:
                seen[node.id] = node.phase
                if node.type in ("Pod", "Skipped", "Suspend", "HTTP"):
                    err(f"{node.phase:<10} {node.name} {node.message}\n")

    return watch


def summary(machine: Machine, folder: Path) -> str:
    """The table of steps, and where their outputs are."""
    lines = [f"{node.phase:<10} {node.display}" for node in machine.nodes.values() if node.type == "Pod"]
    return "\n".join([*lines, f"{machine.run.name}: {machine.phase} {machine.message}", str(folder), ""])
