"""Tasks that never run, because their `depends` cannot be true."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from flowdsl.compiler.problem import Problem
from flowdsl.diagnostic import Finding
from flowdsl.grammar.depends import CONTENT, LOOP_RESULTS, RESULTS, asks, depends, holds
from flowdsl.grammar.error import GrammarError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flowdsl.compiler.lint.manifest.template import Call
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.grammar.depends import Operand


class NeverDepends(Finding):
    """A `depends` that can never hold: its task is skipped, and what waits for it."""

    code = "FD813"
    severity = "warning"
    title = "`{task}` never runs: its `depends` can never be true"
    label = "{reason}"
    help = "require results that can occur together, such as `a.Succeeded || b.Failed`"
    task: str
    reason: str


class NeverThisResult(Finding):
    """A result in `depends` that its task never has, while it may have the other one of those that did not run."""

    code = "FD808"
    severity = "warning"
    title = "`{task}.{result}` is never true: {reason}"
    label = "`{task}` may be {other} instead"
    help = "write `{task}.{other}`"
    task: str
    result: str
    reason: str
    other: str


_OTHERS = {"Skipped": "Omitted", "Omitted": "Skipped"}
"""The results of a task that did not run: because of its `when` or its items, and because of its `depends`."""

_MOST = 4
"""The most tasks of one text whose results are tried in all combinations."""


def omitted(view: View) -> Iterator[Problem]:
    """Every task of a DAG runs for some results of the tasks that it depends on."""
    for template in view.templates:
        for call in template.calls if template.body == "dag" else ():
            text = call.depends
            if (asked := _asked(call, text)) is None:
                continue
            operands, tasks = asked
            if not any(_answers(text, operands, tasks, _ends)):
                reason = _reason(operands, tasks)
                yield Problem((*call.path, "depends"), NeverDepends(call.name, reason))
                continue
            for operand in operands:
                task = next(each for each in tasks if each.name == operand.task)
                if (finding := _never(operand, task, operands)) is not None:
                    part = operand.start, operand.end
                    yield Problem((*call.path, "depends"), finding, part=part)


def _never(operand: Operand, task: Call, operands: tuple[Operand, ...]) -> NeverThisResult | None:
    """The finding about a result of a task that did not run, for which it has the other one, which is not asked for."""
    other = _OTHERS.get(operand.result or "")
    possible = frozenset[str]().union(*_ends(task))
    if other is None or operand.result in possible or other not in possible:
        return None
    covers = {other, None} if other == "Skipped" else {other}
    if any(each.task == task.name and each.result in covers for each in operands):
        return None
    asked = _asked(task, task.depends) if other == "Omitted" else None
    if asked is not None and all(_answers(task.depends, *asked, _ends)):
        return None
    return NeverThisResult(task.name, operand.result or "", _never_so(task, operand.result), other)


def runs_without(call: Call, producer: Call) -> bool:
    """Whether a task can run if another one, which its `depends` names, was omitted because of its own.

    False if there are more tasks than can be tried, and where one of them waits for the omitted one.
    """
    tried = _tried(call, producer, frozenset(("Omitted",)))
    return any(runs and not begins for begins, runs in tried)


def runs_with(call: Call, producer: Call) -> bool:
    """Whether a task can run if another one, which its `depends` names, has run.

    True for a step, if there are more tasks than can be tried, and where one of them waits for the other one.
    """
    for end in _ends(producer):
        if end.isdisjoint(("Skipped", "Omitted")):
            tried = list(_tried(call, producer, end))
            if not tried or any(begins and runs for begins, runs in tried):
                return True
    return False


def _tried(call: Call, producer: Call, end: frozenset[str]) -> Iterator[tuple[bool, bool]]:
    """Whether a producer begins, and whether a task runs after this end of it, for each combination of other results.

    Nothing if there are more tasks than can be tried, and where one of them waits for the producer.
    """
    graph = call.owner
    texts = [each.depends for each in (producer, call)]
    try:
        made, used = (depends(text) if text else () for text in texts)
    except GrammarError:
        return
    named = {each.task for each in (*made, *used)} - {producer.name}
    if len(named) > _MOST or not named <= graph.call_index.keys() or len(used) == 0:
        return
    tasks = {name: graph.calls[graph.call_index[name]] for name in sorted(named)}
    position = graph.call_index[producer.name]
    after = any(position in graph.dag.before([graph.call_index[name]]) for name in named)
    if after or not any(each.task == producer.name for each in used) or not graph.dag.is_sound:
        return
    if not all(
        _known(each, each.task == producer.name or bool(tasks[each.task].loop)) for each in (*made, *used)
    ):
        return
    for each in product(*map(_ends, tasks.values())):
        ends = {**dict(zip(tasks, each, strict=True)), producer.name: end}
        begins, runs = (
            not text or bool(holds(text, [_answer(one, ends) for one in operands]))
            for text, operands in zip(texts, (made, used), strict=True)
        )
        yield begins, runs


def succeeds_without(producer: Call) -> bool:
    """Whether a DAG can succeed without a task, which its `depends` omits although nothing has failed.

    False if there are more tasks than can be tried.
    """
    text = producer.depends
    asked = _asked(producer, text)
    return asked is not None and not all(_answers(text, *asked, _good_ends))


def _asked(call: Call, text: str) -> tuple[tuple[Operand, ...], list[Call]] | None:
    """The operands and tasks of a `depends`; None if it asks for no results, or for too many tasks to try."""
    try:
        operands = depends(text) if asks(text) else ()
    except GrammarError:
        return None
    names = list(dict.fromkeys(each.task for each in operands))
    tasks = [task for task in map(call.owner.call, names) if task is not None]
    if not names or len(names) > _MOST or len(tasks) < len(names):
        return None
    loops = {task.name for task in tasks if task.loop}
    return (operands, tasks) if all(_known(each, each.task in loops) for each in operands) else None


def _answers(
    text: str,
    operands: tuple[Operand, ...],
    tasks: list[Call],
    ends: Callable[[Call], list[frozenset[str]]],
) -> Iterator[bool]:
    """Whether a `depends` holds, for each combination of the results that its tasks may have."""
    for each in product(*map(ends, tasks)):
        found = {task.name: end for task, end in zip(tasks, each, strict=True)}
        yield bool(holds(text, [_answer(one, found) for one in operands]))


def _good_ends(task: Call) -> list[frozenset[str]]:
    """The possible results of a task if nothing fails; it is not considered that it may be omitted."""
    bad = (
        {"Failed", "Errored", "Omitted"}
        if task.data.get("when")
        else {"Failed", "Errored", "Omitted", "Skipped"}
    )
    return [each for each in _ends(task) if each.isdisjoint(bad)]


def _known(operand: Operand, loop: bool) -> bool:
    """Whether the result of an operand is a possible one of its task."""
    return operand.result is None or (
        operand.result in RESULTS and (loop or operand.result not in LOOP_RESULTS)
    )


def _reason(operands: tuple[Operand, ...], tasks: list[Call]) -> str:
    """Why a single task never has the result that the text asks for."""
    if len(operands) == len(tasks) == 1:
        task, result = tasks[0], operands[0].result
        if result in _OTHERS:
            never = "skipped" if result == "Skipped" else "left out"
            return f"{_never_so(task, result)}, and is never {never}"
        if result == "Daemoned":
            return f"`{task.name}` is not a daemon"
        if result == "Succeeded":
            return f"`{task.name}` is a daemon, which serves or fails: write `{task.name}.Daemoned`"
    return "these results never come together"


def _never_so(task: Call, result: str | None) -> str:
    """Why a task is never skipped, or never omitted."""
    if result == "Omitted":
        return f"`{task.name}` depends on nothing"
    return f"`{task.name}` skips its items one by one" if task.loop else f"`{task.name}` has no `when`"


def _ends(task: Call) -> list[frozenset[str]]:
    """The ways in which a task may end: for each, the results that hold then. Source: evaluateDependsLogic."""
    data, callee = task.data, task.callee
    # The pod of a daemon that ends normally has failed. Source: inferFailedReason and assessNodeStatus.
    serves = callee is not None and callee.is_pod and bool(callee.data.get("daemon")) and not task.loop
    words = ("Daemoned" if serves else "Succeeded", "Failed", "Errored")
    ends: list[frozenset[str]] = [frozenset((word,)) for word in words]
    if task.loop:
        ends += [each | {word} for each in ends for word in sorted(LOOP_RESULTS)]
    if task.loop in ("withParam", "withSequence") or (data.get("when") and not task.loop):
        ends.append(frozenset(("Skipped",)))  # a loop is, if it has no items. Source: executeDAGTask
    if data.get("depends") or data.get("dependencies"):
        ends.append(frozenset(("Omitted",)))
    if callee is None or (callee.data.get("daemon") and not serves):
        ends += [frozenset(("Daemoned",)), *(each | {"Daemoned"} for each in ends)]
    return ends


def _answer(operand: Operand, ends: Mapping[str, frozenset[str]]) -> bool:
    """Whether an operand holds for given results of the tasks."""
    wanted = CONTENT if operand.result is None else {operand.result}
    return not ends[operand.task].isdisjoint(wanted)
