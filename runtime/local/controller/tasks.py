"""The tasks of a DAG during execution, and the dependencies of each.

Sources: workflow/common/ancestry.go, and evaluateDependsLogic in workflow/controller/dag.go, of Argo 4.1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flowdsl.compiler.evaluation.evaluate import truth
from flowdsl.compiler.evaluation.values import ExpressionError
from flowdsl.grammar.depends import CONTENT
from flowdsl.grammar.names import is_depended_upon
from flowdsl.grammar.regex import regex
from flowdsl.runtime.local.controller.tags import ArgoError
from flowdsl.runtime.parts import part, texts
from flowdsl.runtime.phases import ERROR, FAILED, OMITTED, SKIPPED, SUCCEEDED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flowdsl.runtime.local.controller.hooks import Hooks
    from flowdsl.runtime.local.controller.loop import Loop
    from flowdsl.runtime.local.controller.node import Json, Node
    from flowdsl.runtime.local.controller.scope import Record

_OPERAND = regex(r"([a-zA-Z0-9][-a-zA-Z0-9]*?)\.([A-Z][a-zA-Z]+)|([a-zA-Z0-9][-a-zA-Z0-9]*)")
_PLAIN = regex(r"[a-zA-Z0-9][-a-zA-Z0-9]*(?:\s*&&\s*[a-zA-Z0-9][-a-zA-Z0-9]*)*")


class Task:
    """A task of a DAG in execution."""

    def __init__(self, holder: Json, raw: Json) -> None:
        self.holder = holder
        self.raw = raw
        """The task with its tags."""
        self.name: str = holder["name"]
        self.before: tuple[str, ...] = ()
        self.logic = ""
        """The expression of `depends`, with the results of each operand; empty for plain names joined with `&&`."""
        self.after: list[Task] = []
        self.rank = 0
        """Its position in the order in which tasks are visited."""
        self.missing = 0
        """How many of its dependencies have not settled yet."""
        self.node: Node | None = None
        self.loop: Loop | None = None
        self.hooks: Hooks | None = None
        self.settled = False
        self.stuck = ""
        self.record: Record | None = None
        self.spoilt = ""
        """Why the outputs of its loop, or of a loop before it, cannot be read."""
        self.ancestors = 0
        self.bit = 0


def depend(tasks: dict[str, Task]) -> None:
    """Find the dependencies of each task, and the results required of them (GetTaskDependencies)."""
    may_go_on = any(task.holder.get("continueOn") for task in tasks.values())

    def plain(names: Iterable[str]) -> bool:
        """Whether names only require that each task ended well, and Argo can parse them."""
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
    words = [*CONTENT]
    words += ["Errored"] if goes_on.get("error") else []
    words += ["Failed"] if goes_on.get("failed") else []
    return "(" + " || ".join(f"{name}.{word}" for word in words) + ")"


def wanted(tasks: dict[str, Task], targets: list[str]) -> list[Task]:
    """The tasks that the targets need, dependencies first. Raises ArgoError."""
    order: list[Task] = []
    seen: set[str] = set()
    for target in targets:
        waiting: list[tuple[str, bool]] = [(target, False)]
        while waiting:
            name, ready = waiting.pop()
            if name not in tasks:
                raise ArgoError(f"target {name} does not exist")
            task = tasks[name]
            if ready:
                order.append(task)
            elif name not in seen:
                seen.add(name)
                waiting.append((name, True))
                waiting.extend((one, False) for one in reversed(task.before))
    for rank, task in enumerate(order):
        task.rank = rank
        task.missing = len(task.before)
        for name in task.before:
            tasks[name].after.append(task)
            task.ancestors |= tasks[name].ancestors | tasks[name].bit
    return order


def may_run(task: Task, tasks: dict[str, Task]) -> bool:
    """Whether the results of its dependencies let a task run (evaluateDependsLogic). Raises ArgoError."""
    nodes = {name: tasks[name].node for name in task.before}
    if not task.logic:
        return all(
            node is not None and (node.phase in (SUCCEEDED, SKIPPED) or node.daemoned)
            for node in nodes.values()
        )
    scope: Json = {}
    for name, node in nodes.items():
        if node is None:
            return False
        phases = [child.phase for child in node.children.values()] if node.type == "TaskGroup" else []
        scope[name.replace("-", "_")] = {
            "Succeeded": node.phase == SUCCEEDED,
            "Failed": node.phase == FAILED,
            "Errored": node.phase == ERROR,
            "Skipped": node.phase == SKIPPED,
            "Omitted": node.phase == OMITTED,
            "Daemoned": node.daemoned,
            "AnySucceeded": SUCCEEDED in phases,
            "AllFailed": bool(phases) and all(phase == FAILED for phase in phases),
        }
    logic = task.logic.replace("-", "_")
    try:
        return truth(logic, scope)
    except ExpressionError as error:
        raise ArgoError(f"unable to evaluate expression '{logic}': {error}") from None
