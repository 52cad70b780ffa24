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
    """Stop or terminate the run: fail all nodes that may not run any more."""
    # First those that wait: ended nodes release their locks.
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
    run.parallelism.begin_pass()  # these places are free before Argo visits any node
    _hurry(run, lambda on_exit: not run.may_run(on_exit))
    run.end_pass()


def _leave_exit_hooks(run: Run) -> None:
    """Continue without the exit hooks that have started: Argo does not check any more whether they have ended."""
    for name in run.leaving:
        if (frame := run.frames.get(name)) is not None:
            frame.abandon()
    run.agenda.later(*run.leaving.values())


def too_late(run: Run) -> None:
    """Handle the deadline of the workflow: all but the exit handler fails, and is not retried."""
    pods = [node for node, one in _still_running(run) if not one.call.on_exit]
    _fail_below(run, pods, STEP_TOO_LATE)
    _fail_waiting(run, STEP_TOO_LATE, lambda node: not node.in_exit_handler())
    for node in pods:
        fail_pod(run, node, STEP_TOO_LATE)
    _fail_pending(run)
    run.parallelism.begin_pass()  # these places are free before Argo visits any node
    _hurry(run, lambda on_exit: not on_exit)


def give_up(run: Run) -> None:
    """Fail templates with retries as soon as nothing of them runs, if the run is being stopped.

    Argo checks that before anything continues.
    """
    if run.strategy is not None:
        for identity, one in list(run.retries.items()):
            node = run.by_id[identity]
            if not run.may_run(node.in_exit_handler()) and node.at_rest():
                one.give_up(run.no_more_retries())


def _fail_below(run: Run, pods: list[Node], message: str) -> None:
    """Fail what still runs below pods, which are their hooks: it ends with them (handleExecutionControlError)."""
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
    """Fail pending nodes: in Argo, a node that has looked into a cache is pending until it ends."""
    for frame in list(run.frames.values()):
        if frame.node.phase == PENDING and not frame.node.in_exit_handler():
            frame.finish(FAILED, STEP_TOO_LATE)
    for identity, one in list(run.retries.items()):
        node = run.by_id[identity]
        if node.phase == PENDING and not node.in_exit_handler():
            one.give_up(STEP_TOO_LATE)


def _hurry(run: Run, wanted: Callable[[bool], bool]) -> None:
    """Decide now about retries that are backing off; `wanted` takes whether they are in the exit handler."""
    for on_exit, begin in list(run.backing_off.values()):
        if wanted(on_exit):
            begin()


def _still_running(run: Run) -> list[tuple[Node, Leaf]]:
    """The pods that have not ended; a ready daemon counts as ended, because its graph ends it."""
    found = [(run.by_id[name], execution) for name, execution in run.running.items()]
    return [
        (node, execution)
        for node, execution in found
        if not (node.completed or node.daemoned or node.type == "HTTP")
    ]
