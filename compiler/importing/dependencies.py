"""The dependencies of tasks, and the results that they require."""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING, Literal

from flowdsl.compiler.findings.importing import Otherwise
from flowdsl.compiler.lint.manifest.template import LOOPS
from flowdsl.compiler.naming import slug
from flowdsl.compiler.tree import entries, inside
from flowdsl.grammar.depends import CONTENT, LOOP_RESULTS, RESULTS, depends, holds
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.compiler.importing.model import Block, Call, Json
    from flowdsl.compiler.importing.scopes import Graph
    from flowdsl.compiler.tree import Path

States = frozenset[str]
"""The phases in which a task may have ended."""

_PHASES = [one for one in RESULTS if one not in LOOP_RESULTS]
_FAILED = frozenset(("Failed", "Errored"))
PLAIN = frozenset(CONTENT)
GOING_ON = PLAIN | _FAILED
_MOST = 5  # maximal number of tasks of one `depends` for which all combinations of outcomes are tried

Word = Literal["after", "on_failure", "on_exit"]


def needed(task: Json) -> set[str]:
    """The tasks that must be defined before a task."""
    found = {str(one) for one in entries(task, "dependencies")}
    if task.get("depends"):
        found |= {one.task for one in depends(str(task["depends"]))}
    return found


def states(tasks: Mapping[str, Json]) -> dict[str, States]:
    """The outcomes that `dependencies` and lists of steps require of tasks."""
    return {name: GOING_ON if goes_on(task) else PLAIN for name, task in tasks.items()}


def goes_on(task: Json) -> bool:
    """Whether the run continues after a failure of the task."""
    on = inside(task, "continueOn")
    return bool(on.get("failed") or on.get("error"))


def is_skipped(task: Json) -> bool:
    """Whether a condition skips a task as a whole: of a loop it skips the items, and the loop succeeds."""
    return "when" in task and not is_loop(task)


def is_loop(task: Json) -> bool:
    """Whether a task is run for each of some items."""
    return any(task.get(field) is not None for field in LOOPS)


class Waits(NamedTuple):
    """The dependencies of a task, each with the phases in which it may have ended."""

    of: Mapping[str, States] = {}
    raw: str = ""  # a `depends` that is left to Argo

    def word(self, name: str) -> Word | None:
        """The word of the language for the required outcome of a task; None if there is none."""
        return _word(self.of[name])


def _word(wanted: States) -> Word | None:
    if wanted == GOING_ON or (wanted <= PLAIN and "Succeeded" in wanted):
        return "after"  # `continueOn` is said at the other task
    if wanted <= _FAILED:
        return "on_failure"
    ended = wanted <= _FAILED | {"Succeeded", "Daemoned"}
    return "on_exit" if ended and "Succeeded" in wanted else None


class Order:
    """The dependencies between the tasks of a graph.

    What the language cannot express is left to Argo as the original `depends`. It refers to the phases of tasks
    by name, so the dependencies on these tasks are left to Argo as well, in all tasks that have one.
    """

    def __init__(self, tasks: Mapping[str, Json], waits: Mapping[str, Waits]) -> None:
        self._tasks = tasks
        self.waits = dict(waits)
        self.gaps: dict[str, list[str]] = {}  # by task, the dependencies without which Argo omits it
        self.caught = set[str]()  # after a failure of these the graph continues, and can succeed
        self.asked = set[str]()  # named by a `depends` that is left to Argo
        self.ended = set[str]()  # their phase or end may be referred to
        self.stopping = set[str]()  # a failure of these ends the graph
        before = {name for one in waits.values() for name in one.of}
        self.last = {name for name, one in waits.items() if one.of and name not in before}
        while more := self._unsettled():
            for name in more:
                self.waits[name] = Waits(self.waits[name].of, str(tasks[name].get("depends")))

    @property
    def is_chain(self) -> bool:
        """Whether each task waits for the one before, so that one runs at a time."""
        names = [*self.waits]
        return all(before in self.waits[name].of for before, name in pairwise(names))

    def word(self, name: str, other: str) -> Word:
        """The word for the block in which a task depends on the end of another one."""
        waits = self.waits.get(name, Waits())
        found = waits.word(other) if other in waits.of else None
        return "on_failure" if found == "on_failure" else "on_exit"

    def awaited(self, name: str, other: str) -> States | None:
        """The possible outcomes of another task when this one runs, as far as they are known."""
        waits = self.waits.get(name, Waits())
        found = None if waits.raw else waits.of.get(other)
        return PLAIN if found is None and other in self.stopping and not waits.raw else found

    def _unsettled(self) -> list[str]:
        """The tasks whose dependencies have to be left to Argo because those of others are."""
        self.asked = {one for waits in self.waits.values() if waits.raw for one in waits.of}
        plain, ends = set[str](), set[str]()
        for waits in self.waits.values():
            for name in waits.of if not waits.raw else ():
                (plain if waits.word(name) == "after" else ends).add(name)
        self.caught = ends - plain
        self.ended = ends | self.asked | {name for name, task in self._tasks.items() if goes_on(task)}
        self.stopping = plain - ends - self.asked - {name for name in plain if goes_on(self._tasks[name])}
        self.gaps = self._gaps()
        # Loops whose items may fail, but not they themselves.
        loops = {name for name in self.caught if is_loop(self._tasks[name])}
        wrapped = loops | (self.asked & self.caught)
        return [
            name
            for name, waits in self.waits.items()
            if not waits.raw
            and (
                (name in self.asked and self.gaps[name])
                or any(one in wrapped and waits.word(one) != "after" for one in waits.of)
            )
        ]

    def _gaps(self) -> dict[str, list[str]]:
        """By task, the dependencies without which Argo omits it, while a condition of the language only skips it."""
        found: dict[str, list[str]] = {}
        for name, waits in self.waits.items():
            found[name] = [
                other
                for other, wanted in waits.of.items()
                if not waits.raw
                and (
                    found.get(other)
                    or waits.word(other) == "on_failure"
                    or ("Skipped" not in wanted and is_skipped(self._tasks[other]))
                )
            ]
        return found


def dag_waits(tasks: Mapping[str, Json]) -> dict[str, Waits]:
    """The dependencies of each task of a `dag`."""
    return {name: _waits(task, tasks) for name, task in tasks.items()}


def _waits(task: Json, tasks: Mapping[str, Json]) -> Waits:
    if not task.get("depends"):
        names = [name for one in entries(task, "dependencies") if (name := str(one)) in tasks]
        return Waits(states({name: tasks[name] for name in names}))
    text = str(task["depends"])
    operands = depends(text)
    names = [*dict.fromkeys(one.task for one in operands)]
    wanted = None if any(one.result in LOOP_RESULTS for one in operands) else _conjunction(text, names)
    if wanted is None or any(one == GOING_ON or not _word(one) for one in wanted.values()):
        return Waits(dict.fromkeys(names, frozenset(_PHASES)), text)
    return Waits(wanted)


def _conjunction(text: str, names: list[str]) -> dict[str, States] | None:
    """The required outcomes of each task, if the expression is a conjunction of such requirements."""
    operands = depends(text)
    if not {"|", "!"} & {*text} and not any(one.result for one in operands):
        return dict.fromkeys(names, PLAIN)
    if len(names) > _MOST:
        return None

    def held(phases: dict[str, str]) -> bool:
        answers = (
            phases[one.task] in PLAIN if one.result is None else phases[one.task] == one.result
            for one in operands
        )
        return bool(holds(text, answers))

    right = [
        phases
        for chosen in product(_PHASES, repeat=len(names))
        if held(phases := dict(zip(names, chosen, strict=True)))
    ]
    each = {name: frozenset(phases[name] for phases in right) for name in names}
    size = 1
    for possible in each.values():
        size *= len(possible)
    return each if size == len(right) > 0 else None


def wait(graph: Graph, call: Call, path: Path) -> None:
    """Let a task wait for its dependencies."""
    waits = graph.order.waits.get(call.task, Waits())
    gaps = graph.order.gaps.get(call.task, ())
    if waits.raw:
        _raw(graph, call, waits.raw, (*path, "depends"))
        return
    for name, wanted in waits.of.items():
        other, word = graph.tasks[name], waits.word(name)
        if word == "after":
            call.after.append(other)
        elif word is not None:
            _end(graph, call, word, other, wanted, (*path, "depends"))
        call.after += other.exits
        if name in gaps and name in graph.left:
            what = f"a task that Argo omits where `{name}`, whose condition is left to Argo, is skipped,"
            way = f"let it wait for `{name}.Skipped`, too, or give it the condition"
            graph.refuse((*path, "depends"), what, way)
        elif name in gaps:
            _omit(call, other, "Skipped" in wanted)


def _omit(call: Call, other: Call, skipped: bool) -> None:
    """Give a task the conditions of one without which Argo omits it; `skipped`: that one may be skipped by its own."""
    own = not skipped and not other.looped
    wanted = [one for one in other.blocks if one in other.omitted or (one.word == "when" and own)]
    if wanted:
        wanted = [one for one in other.blocks if one in wanted or one.of is not None]
    call.omitted += [*wanted, *(one for one in call.blocks if one.word == "on_failure" and one.of is other)]
    call.taken |= {id(one.of) for one in wanted if one.of is not None}
    found: dict[tuple[str, int], Block] = {}
    for one in [*wanted, *call.blocks]:
        same = found.setdefault((one.word, id(one if one.of is None else one.of)), one)
        same.named |= one.named
    call.blocks = [*found.values()]


def _raw(graph: Graph, call: Call, text: str, path: Path) -> None:
    """Leave a `depends` to Argo."""
    if any(one.result in LOOP_RESULTS for one in depends(text)):
        way = "let the loop continue when items fail, `keep_going=True`, and ask for what `failed(...)` gives"
        graph.refuse(path, f"`{text}`, which asks for the items of a loop,", way)
        return
    for one in reversed(depends(text)):
        text = f"{text[: one.start]}{slug(one.task)}{text[one.start + len(one.task) :]}"
    graph.patch_task(call, {"depends": text})


def _end(graph: Graph, call: Call, word: Word, other: Call, wanted: States, path: Path) -> None:
    """Run a task at the end of another one."""
    if all(block.of is not other for block in call.blocks):
        call.at_end(word, other)
    usual = _FAILED if word == "on_failure" else _FAILED | {"Succeeded"}
    if (meant := wanted - {"Daemoned"}) != usual:
        here, there = (" or ".join(sorted(one)) for one in (usual, meant))
        what = f"`{word}` runs the task after {here}; the manifest runs it after {there}"
        graph.reader.add(path, Otherwise(what, "look whether the difference matters"))
