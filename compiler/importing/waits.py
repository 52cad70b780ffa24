"""What tasks wait for."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.tree import entries
from flowdsl.grammar.depends import depends, holds

if TYPE_CHECKING:
    from flowdsl.compiler.importing.model import Json

STATES = ("Succeeded", "Failed", "Errored", "Skipped", "Omitted", "Daemoned")
PLAIN = frozenset(("Succeeded", "Skipped", "Daemoned"))
MOST = 5  # tasks of one `depends` whose outcomes are gone through


def needed(task: Json) -> set[str]:
    """The tasks that must stand before a task."""
    found = {str(one) for one in entries(task, "dependencies")}
    if task.get("depends"):
        found |= {one.task for one in depends(str(task["depends"]))}
    return found


def conjunction(text: str, names: list[str]) -> dict[str, frozenset[str]] | None:
    """How each of some tasks has to have ended, if that can be said of each by itself."""
    if len(names) > MOST:
        return None
    operands = depends(text)

    def held(states: dict[str, str]) -> bool:
        answers = (
            states[one.task] in PLAIN if one.result is None else states[one.task] == one.result
            for one in operands
        )
        return holds(text, answers)

    right = [
        states
        for chosen in product(STATES, repeat=len(names))
        if held(states := dict(zip(names, chosen, strict=True)))
    ]
    each = {name: frozenset(states[name] for states in right) for name in names}
    size = 1
    for possible in each.values():
        size *= len(possible)
    return each if size == len(right) > 0 else None
