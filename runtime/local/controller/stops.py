"""Ends a run that is stopped or terminated, or that has exceeded its deadline.

Sources: handleExecutionControlError in workflow/controller/exec_control.go, and
failNodesWithoutCreatedPodsAfterDeadlineOrShutdown in operator.go, of Argo 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.runtime.local.controller.leaves import end_suspension, fail_pod, fail_requests
from flowdsl.runtime.local.controller.run import STEP_TOO_LATE
from flowdsl.runtime.phases import FAILED, PENDING

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.runtime.local.controller import events
    from flowdsl.runtime.local.controller.node import Node
    from flowdsl.runtime.local.controller.protocols import Leaf
    from flowdsl.runtime.local.controller.run import Run


def shut_down(run: Run, strategy: events.Strategy) -> None:
    """Somebody stops or terminates the run: what may not run any more fails."""
    # First those that wait: what ends gives its locks back.
    message = f"workflow shutdown with strategy:  {strategy}"
    pods = [node for node, one in _still_running(run) if not run.may_run(one.call.on_exit)]
    _fail_below(run, pods, message)
    _fail_waiting(
        run, f"Stopped with strategy '{strategy}'", lambda node: not run.may_run(node.in_exit_handler())
    )
    for node in pods:
        fail_pod(run, node, message)
    if not run.may_run(on_exit=True):
        _leave_exit_hooks(run)
    give_up(run)
    _hurry(run, lambda on_exit: not run.may_run(on_exit))
    run.end_pass()


def _leave_exit_hooks(run: Run) -> None:
    """Go on without exit hooks that have begun: Argo looks at none of them any more, nor whether it has ended."""
    for name in run.leaving:
        if (frame := run.frames.get(name)) is not None:
            frame.abandon()
    run.agenda.later(*run.leaving.values())


def too_late(run: Run) -> None:
    """The deadline of the workflow: what is no exit handler fails, and is not tried again."""
    pods = [node for node, one in _still_running(run) if not one.call.on_exit]
    _fail_below(run, pods, STEP_TOO_LATE)
    _fail_waiting(run, STEP_TOO_LATE, lambda node: not node.in_exit_handler())
    for node in pods:
        fail_pod(run, node, STEP_TOO_LATE)
    _fail_pending(run)
    run.parallelism.begin_pass()  # these places are free before Argo looks at anything
    _hurry(run, lambda on_exit: not on_exit)


def give_up(run: Run) -> None:
    """What is tried again fails as soon as nothing of it is at work, where the run is told to stop.

    Argo looks at that before anything goes on.
    """
    if run.strategy is not None:
        for identity, one in list(run.retries.items()):
            node = run.by_id[identity]
            if not run.may_run(node.in_exit_handler()) and node.at_rest():
                one.give_up(run.no_more_retries())


def _fail_below(run: Run, pods: list[Node], message: str) -> None:
    """Fail what goes on below pods, their hooks: it ends as they do (handleExecutionControlError)."""
    below = {child.id: child for node in pods for child in node.below() if not child.fulfilled}
    _fail_waiting(run, message, lambda node: node.id in below)
    for node in below.values():
        if node.type in ("StepGroup", "TaskGroup"):
            run.mark(node, FAILED, message)
    for frame in reversed([one for one in run.frames.values() if one.node.id in below]):
        frame.finish(FAILED, message)
    for one in [one for identity, one in run.retries.items() if identity in below]:
        one.give_up(message)


def _fail_waiting(run: Run, message: str, wanted: Callable[[Node], bool]) -> None:
    fail_requests(run, message, wanted)
    for identity in list(run.suspended):
        node = run.by_id[identity]
        if wanted(node):
            end_suspension(run, node, message)
    for holder, stop in run.locks.waiting():
        waiting = run.nodes.get(holder)
        if waiting is not None and wanted(waiting):
            stop(message)


def _fail_pending(run: Run) -> None:
    """To Argo, what has looked into a cache is pending until it ends, and at the deadline nothing stays pending."""
    for frame in list(run.frames.values()):
        if frame.node.phase == PENDING and not frame.node.in_exit_handler():
            frame.finish(FAILED, STEP_TOO_LATE)
    for identity, one in list(run.retries.items()):
        node = run.by_id[identity]
        if node.phase == PENDING and not node.in_exit_handler():
            one.give_up(STEP_TOO_LATE)


def _hurry(run: Run, wanted: Callable[[bool], bool]) -> None:
    """Judge retries now that wait for their time, of what is an exit handler or is not."""
    for on_exit, begin in list(run.backing_off.values()):
        if wanted(on_exit):
            begin()


def _still_running(run: Run) -> list[tuple[Node, Leaf]]:
    """The pods that have not ended; a daemon that serves counts as one that has: its graph ends it."""
    found = [(run.by_id[name], execution) for name, execution in run.running.items()]
    return [
        (node, execution)
        for node, execution in found
        if not (node.completed or node.daemoned or node.type == "HTTP")
    ]
