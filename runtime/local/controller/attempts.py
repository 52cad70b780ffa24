"""Executes a template with a retryStrategy: its attempts one after the other, until none is left.

Source: processNodeRetries in workflow/controller/operator.go of Argo 4.1.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol

from flowdsl.compiler.kinds import POD_BODIES, kind
from flowdsl.runtime.local.controller import retry
from flowdsl.runtime.local.controller.names import pod_name
from flowdsl.runtime.local.controller.node import Json, Node
from flowdsl.runtime.local.controller.tags import ArgoError
from flowdsl.runtime.local.controller.templates import Origin
from flowdsl.runtime.phases import ERROR, FAILED, SUCCEEDED

if TYPE_CHECKING:
    from flowdsl.runtime.local.controller.protocols import Call
    from flowdsl.runtime.local.controller.run import Run


class Tried(Protocol):
    """The execution of a template with a retry strategy."""

    run: Run
    call: Call
    template: Json
    origin: Origin

    def renewed(self) -> bool:
        """Resolve the template and its arguments again; return whether that succeeded."""
        ...

    def body(self, name: str, template: Json, node: Node | None) -> None:
        """Execute the body of the template once more."""

    def over(self, node: Node, error: str | None) -> None:
        """End the template, after which its caller continues."""


class Attempts:
    """The attempts of a template, below a node that ends like the last of them."""

    def __init__(self, execution: Tried, strategy: Json, node: Node) -> None:
        self.latest: Node | None = None
        self._execution = execution
        self._run = execution.run
        self._call = execution.call
        self._strategy = strategy
        self._policy = retry.policy_of(strategy)
        self._node = node
        self._origin = execution.origin
        self._run.retries[node.id] = self

    def begin(self) -> None:
        """Start the next attempt, unless the template has ended meanwhile."""
        if not self._node.completed:
            self._begin()

    def _begin(self) -> None:
        execution = self._execution
        made = self._node.attempts()
        before = execution.origin
        if made and not execution.renewed():
            return
        if execution.origin is not before:
            self._origin = execution.origin
        self._run_body(f"{self._call.name}({len(made)})", made, None)

    def _run_body(self, name: str, made: list[Node], node: Node | None) -> None:
        """Execute the body of the template after other attempts, as an existing node or a new one."""
        execution, run = self._execution, self._run
        local = retry.variables(made, run.now)
        if kind(execution.template) in POD_BODIES:
            local["pod.name"] = pod_name(run.name, name, execution.template.get("name", ""))
        execution.origin = Origin(self._origin, run.globals, run.settled, local)
        try:
            template = execution.origin.template()
        except ArgoError as error:
            self._refuse(str(error))
            return
        execution.body(name, template, node)

    def overtaken(self, hook: Node) -> None:
        """Go on in the node of a hook that is retried itself, which Argo takes for the latest attempt."""
        self._run.when_fulfilled(hook, partial(self._overtaken_by, hook))
        if kind(self._execution.template) in ("dag", "steps"):
            self._run.agenda.in_next_pass(partial(self._go_on_in, hook))

    def _go_on_in(self, hook: Node) -> None:
        if not (hook.fulfilled or self._node.completed):
            self._abandon()
            self.latest = hook
            self._run_body(hook.name, self._node.attempts(), hook)

    def _overtaken_by(self, hook: Node) -> None:
        if not self._node.completed:
            self._abandon()
            self.latest = hook
            self.ended(hook, None)

    def _abandon(self) -> None:
        """Start nothing more in the latest attempt."""
        frame = None if self.latest is None else self._run.frames.get(self.latest.name)
        if frame is not None:
            frame.abandon()

    def adopt(self, attempt: Node) -> None:
        """Add the node of an attempt."""
        attempt.retried = True
        self._node.adopt(attempt)
        self.latest = attempt
        if self._node.id in self._run.held:
            self._run.held[attempt.id] = self._run.held[self._node.id]

    def ended(self, attempt: Node, error: str | None) -> None:
        """Decide whether to retry, when Argo visits the template.

        Argo checks the last attempt, or a hook that was started after it and is itself retried.
        """
        attempt = self._node.attempts()[-1]
        if not attempt.completed:
            return
        held = self._run.held.get(self._node.id)
        if held is None or not held(self._node, lambda: self._ended(attempt, error)):
            self._ended(attempt, error)

    def _ended(self, attempt: Node, error: str | None) -> None:
        node, run, frame = self._node, self._run, self._call.frame
        if node.completed or node.id not in run.retries:
            return
        if frame is not None and (frame.over or frame.frozen()):
            if run.strategy is not None:
                self._stopped(attempt)
            return  # Argo does not visit it any more
        if error is not None and self._policy == "OnFailure":
            self._execution.over(node, error)
            return
        self._decide(attempt)

    def _decide(self, attempt: Node) -> None:
        """Decide whether and when to retry (processNodeRetries), once there is a free place.

        Argo does not visit the template without one (checkParallelism).
        """
        node, run = self._node, self._run
        if node.completed:
            return
        if run.parallelism.waits(self._call, partial(run.within, node, partial(self._decide, attempt))):
            return
        if not attempt.failed:
            self._end(SUCCEEDED, None)
            return
        if self._stopped(attempt):
            return
        try:
            wait = retry.begins(self._strategy, node.attempts(), run.now, run.after)
            if isinstance(wait, str):
                self._end(attempt.phase, wait)
                return
            if wait:
                node.message = f"Backoff for {retry.humanized(wait - (attempt.finished or run.now))}"
                run.back_off(node, self._call.on_exit, wait, lambda: self._decide(attempt))
                return
            node.message = ""
            reason = retry.no_more(self._strategy, self._policy, node.attempts(), run.now)
        except ArgoError as failure:
            self._refuse(str(failure))
            return
        if reason is not None:
            self._end(attempt.phase, reason)
        elif node.daemoned and node.at_rest():  # nothing needs it now; a successor may
            node.outputs = attempt.outputs
            run.unneeded[attempt.id] = partial(self._needed, attempt)
        else:
            run.agenda.soon(self._gate)  # before another is decided on, which could take its place

    def _needed(self, attempt: Node) -> None:
        """Decide again, because a successor of the ended daemon has started."""
        self._node.outputs = None
        self._decide(attempt)

    def _gate(self) -> None:
        """Start another attempt, which needs no free place in its frame, unless failFast there prevents it.

        In a frame that is itself an attempt, only `fail_fast` is checked.
        """
        frame = self._call.frame
        if frame is None or not (frame.fail_fast() or (frame.gives_up() and not frame.node.retried)):
            self.begin()

    def _stopped(self, attempt: Node) -> bool:
        """End the template if the run does not allow retries any more; returns whether that is so."""
        message = self._run.no_more_retries()
        if message and not self._run.may_run(self._node.in_exit_handler()):
            self.give_up(message)
            self._begin_needlessly()
        elif message:
            self._end(attempt.phase, message)
        return bool(message)

    def give_up(self, message: str) -> None:
        """Fail the template without the outputs of the last attempt, which may never end."""
        if self._node.completed:
            return
        self._abandon()
        self._run.mark(self._node, FAILED, message)
        self._execution.over(self._node, None)

    def _refuse(self, message: str) -> None:
        """End with an error in the strategy, or in the next attempt."""
        attempt = self.latest
        if attempt is not None and retry.ended_now(attempt, self._run.now):
            self._run.mark(attempt, ERROR, message)
        self._run.mark(self._node, ERROR, message)
        self._execution.over(self._node, message)

    def _end(self, phase: str, message: str | None) -> None:
        """End like the last attempt, with its outputs."""
        node = self._node
        daemon = node.daemoned and phase != SUCCEEDED  # its graph ends it as succeeded
        if daemon or phase == SUCCEEDED or node.at_rest():
            node.outputs = node.attempts()[-1].outputs
        node.daemoned = daemon
        self._run.mark(node, phase, message)
        if not daemon:
            self._begin_needlessly()
        self._execution.over(node, None)

    def _begin_needlessly(self) -> None:
        """Start another attempt although the template has ended, as Argo does while something below it runs.

        That is a hook, most often. Argo never visits this attempt again, but passes on its outputs.
        """
        within = self._call.frame
        if self._node.at_rest() or (within is not None and within.over):
            return
        self._begin()
        frame = None if self.latest is None else self._run.frames.get(self.latest.name)
        if frame is not None:
            self._run.agenda.in_next_pass(frame.abandon)
