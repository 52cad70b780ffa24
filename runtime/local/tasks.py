"""The tasks of a graph that is executed, and what each waits for.

Source: workflow/common/ancestry.go of Argo 4.1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flowdsl.grammar.names import is_depended_upon
from flowdsl.grammar.regex import regex
from flowdsl.runtime.local.shapes import part, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flowdsl.runtime.local.node import Json, Node
    from flowdsl.runtime.local.scope import Record

_OPERAND = regex(r"([a-zA-Z0-9][-a-zA-Z0-9]*?)\.([A-Z][a-zA-Z]+)|([a-zA-Z0-9][-a-zA-Z0-9]*)")
_PLAIN = regex(r"[a-zA-Z0-9][-a-zA-Z0-9]*(?:\s*&&\s*[a-zA-Z0-9][-a-zA-Z0-9]*)*")


class Task:
    """A task of a graph that is executed."""

    def __init__(self, holder: Json, raw: Json) -> None:
        self.holder = holder
        self.raw = raw
        """The same with its tags."""
        self.name: str = holder["name"]
        self.before: tuple[str, ...] = ()
        self.logic = ""
        """What `depends` asks, with the results of each operand; nothing for a row of names."""
        self.after: list[Task] = []
        self.rank = 0
        """Where it stands in the order in which tasks are looked at."""
        self.missing = 0
        """How many of those before it have not settled yet."""
        self.node: Node | None = None
        self.children: list[Node] = []
        self.open = 0
        self.refused: Node | None = None
        """A round that could not begin, behind which Argo begins none in the same pass."""
        self.exits: list[tuple[int, str, Callable[[], None]]] = []
        """The exit hooks of its rounds that wait for their turn, a heap: where the round stands, its node, the hook."""
        self.leaving: dict[str, int] = {}
        """The rounds whose exit hooks run, and where they stand; the last has the lowest place."""
        self.settled = False
        self.stuck = ""
        self.record: Record | None = None
        self.spoilt = ""
        """Why nothing can be read of what its loop, or that of one before it, handed on."""
        self.ancestors = 0
        self.bit = 0


def depend(tasks: dict[str, Task]) -> None:
    """Find which tasks each waits for, and what is asked of them (GetTaskDependencies)."""
    may_go_on = any(task.holder.get("continueOn") for task in tasks.values())

    def plain(names: Iterable[str]) -> bool:
        """Whether names ask for nothing but that each task ended well, and Argo can read them."""
        return all(
            is_depended_upon(name)
            and not (may_go_on and name in tasks and tasks[name].holder.get("continueOn"))
            for name in names
        )

    for task in tasks.values():
        text = task.holder.get("depends")
        if not text:
            names = texts(task.holder, "dependencies")
            task.before = tuple(dict.fromkeys(names))
            if not plain(task.before):
                task.logic = " && ".join(_expanded(tasks, name) for name in names)
        elif _PLAIN.fullmatch(text) and plain(names := re.split(r"\s*&&\s*", text)):
            task.before = tuple(dict.fromkeys(names))
        else:
            task.before, task.logic = _read(tasks, text)


def _read(tasks: dict[str, Task], text: str) -> tuple[tuple[str, ...], str]:
    found: dict[str, None] = {}

    def operand(match: re.Match[str]) -> str:
        name = match[1] or match[3]
        found[name] = None
        return match[0] if match[1] else _expanded(tasks, name)

    logic = _OPERAND.sub(operand, text)
    return tuple(found), logic


def _expanded(tasks: dict[str, Task], name: str) -> str:
    goes_on = (part(tasks[name].holder, "continueOn")) if name in tasks else {}
    words = ["Succeeded", "Skipped", "Daemoned"]
    words += ["Errored"] if goes_on.get("error") else []
    words += ["Failed"] if goes_on.get("failed") else []
    return "(" + " || ".join(f"{name}.{word}" for word in words) + ")"
