"""What tasks wait for."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from flowdsl.compiler.findings.importing import Otherwise
from flowdsl.compiler.importing.model import Asked, Block, Value
from flowdsl.compiler.importing.ports import Port
from flowdsl.compiler.importing.texts import constant
from flowdsl.compiler.naming import slug
from flowdsl.compiler.tree import entries
from flowdsl.grammar.depends import LOOP_RESULTS, depends, holds

if TYPE_CHECKING:
    from flowdsl.compiler.importing.model import Call, Json
    from flowdsl.compiler.importing.scopes import Graph
    from flowdsl.compiler.tree import Path

STATES = ("Succeeded", "Failed", "Errored", "Skipped", "Omitted", "Daemoned")
_FAILED = frozenset(("Failed", "Errored"))
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
        return bool(holds(text, answers))

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


def wait(graph: Graph, call: Call, task: Json, path: Path) -> None:
    """Let a task wait for what it names."""
    call.after += [
        graph.tasks[name] for name in map(str, entries(task, "dependencies")) if name in graph.tasks
    ]
    if not task.get("depends"):
        return
    text, path = str(task["depends"]), (*path, "depends")
    operands = depends(text)
    names = [*dict.fromkeys(one.task for one in operands)]
    wanted = conjunction(text, names)
    if wanted is None and not {"|", "!"} & {*text} and not any(one.result for one in operands):
        wanted = dict.fromkeys(names, PLAIN)
    looped = any(one.result in LOOP_RESULTS for one in operands)
    if wanted is None or looped or not graph.tasks.keys() >= {*names}:
        _odd(graph, call, text, path)
        return
    for name, states in wanted.items():
        other = graph.tasks[name]
        if states <= PLAIN:
            call.after.append(other)
            if "Skipped" not in states and any(block.word == "when" for block in other.blocks):
                call.blocks[:0] = [one for one in other.blocks if one not in call.blocks]
        elif not states & PLAIN:
            _end(graph, call, "on_failure", other, states, _FAILED, path)
        elif "Succeeded" in states:
            _end(graph, call, "on_exit", other, states - {"Daemoned"}, _FAILED | {"Succeeded"}, path)
        else:
            _odd(graph, call, text, path)


def _odd(graph: Graph, call: Call, text: str, path: Path) -> None:
    """A `depends` that is left to Argo."""
    if call.taken or call.after:
        graph.refuse(path, f"`{text}`", "let the task wait for all of them: `after=[...]`")
        return
    for one in reversed(depends(text)):
        text = f"{text[: one.start]}{slug(one.task)}{text[one.start + len(one.task) :]}"
    graph.patch_task(call, {"depends": text})


def _end(
    graph: Graph,
    call: Call,
    word: str,
    other: Call,
    states: frozenset[str],
    usual: frozenset[str],
    path: Path,
) -> None:
    """A task at the end of another one."""
    call.at_end(word, other)
    other.caught = True
    if states != usual:
        here, there = (" or ".join(sorted(one)) for one in (usual, states))
        what = f"`{word}` runs the task after {here}; the manifest runs it after {there}"
        graph.reader.add(path, Otherwise(what, "look whether the difference matters"))


def failing(graph: Graph) -> None:
    """Who asks whether a task has failed takes its failure on: then it may fail, and others ask, too."""
    for call in (one for one in graph.calls if one.caught):
        call.options["may_fail"] = constant("True")
        for other in graph.calls:
            if call not in other.after or other is call:
                continue
            other.after.remove(call)
            if all(block.of is not call for block in other.blocks):
                sides = graph.status(call, other), Value(lambda: '"Succeeded"', Port())
                asked = Asked("==", (), sides)
                other.blocks.append(Block("when", asked.code, asked))
