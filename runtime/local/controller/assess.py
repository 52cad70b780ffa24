"""Computes the phase of a DAG from the phases of its nodes.

The nodes are walked from the beginning of the DAG. Source: assessDAGPhase in workflow/controller/dag.go of Argo 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.runtime.local.controller.node import Json, Node
from flowdsl.runtime.parts import part
from flowdsl.runtime.phases import ERROR, FAILED, FAILURES, RUNNING, SUCCEEDED

if TYPE_CHECKING:
    from collections.abc import Callable


def walked(
    graph: Node, targets: dict[str, str], complete: Callable[[Node, list[Node]], None]
) -> dict[str, str] | Node:
    """The phases of the targets, by name, or the first node that has not ended.

    `targets` has their names by the ids of their nodes. Such a node may belong to a template that has failed: it is
    waited for. `complete` is called with loops all of whose rounds have ended.
    """
    found: dict[str, str] = {}
    queue = [(child, SUCCEEDED) for child in graph.children.values()]
    seen = {(child.id, phase) for child, phase in queue}
    for node, phase in queue:
        children = _begun(node)
        rounds = children if node.type == "TaskGroup" else []
        if rounds and not node.fulfilled and not node.announced and all(child.fulfilled for child in rounds):
            complete(node, rounds)
        if not node.fulfilled or node.announced:
            return node
        branch = node.phase if node.completed else phase
        name = targets.get(node.id)
        if name is not None and found.get(name) not in FAILURES:
            found[name] = branch
        if node.type == "Retry":
            children = [
                below
                for child in reversed(children)
                for below in ([child] if child.hooked else child.children.values())
            ]
        for child in children:
            if (child.id, branch) not in seen:
                seen.add((child.id, branch))
                queue.append((child, branch))
    return found


def _begun(node: Node) -> list[Node]:
    """The children of a node, except those that Argo never starts: the steps after one with an immediate error."""
    children = list(node.children.values())
    if node.type != "StepGroup" or node.phase != ERROR:
        return children
    at_once = (one.phase == ERROR and one.finished == node.finished for one in children)
    last = next((place for place, wrong in enumerate(at_once) if wrong), len(children))
    return [one for place, one in enumerate(children) if place <= last or one.started != node.finished]


def assessed(phases: dict[str, str], targets: dict[str, Json], *, fails_fast: bool) -> str:
    """The phase of a graph: that of its targets, where omitted ones count as the branches that led to them.

    `targets` has their tasks by name.
    """
    result = SUCCEEDED
    for name, holder in targets.items():
        phase = phases.get(name, "")
        if not phase:
            result = RUNNING
            if not fails_fast:
                break
        elif phase in FAILURES:
            goes_on = part(holder, "continueOn")
            if goes_on.get("failed" if phase == FAILED else "error"):
                continue
            result = phase
            if fails_fast:
                break
    return result
