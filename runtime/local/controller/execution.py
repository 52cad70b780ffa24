"""Executes one template for a task, step, hook or workflow: arguments, limits, locks, cache, attempts, body.

Source: executeTemplate in workflow/controller/operator.go of Argo 4.1.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import POD_BODIES, kind
from flowdsl.compiler.limits import DEEPEST
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.labels import DISPLAY_NAME
from flowdsl.grammar.names import DISPLAYED_NAME
from flowdsl.runtime.local.controller import leaves, retry
from flowdsl.runtime.local.controller.attempts import Attempts
from flowdsl.runtime.local.controller.dag import Dag
from flowdsl.runtime.local.controller.hooks import hooked
from flowdsl.runtime.local.controller.names import any_string, pod_name
from flowdsl.runtime.local.controller.node import Json, Node, Type
from flowdsl.runtime.local.controller.run import TIMEOUT
from flowdsl.runtime.local.controller.scope import Variables
from flowdsl.runtime.local.controller.steps import Steps
from flowdsl.runtime.local.controller.tags import ArgoError
from flowdsl.runtime.local.controller.templates import Origin, supplied
from flowdsl.runtime.parts import part
from flowdsl.runtime.phases import ERROR, FAILED, PENDING, RUNNING, SUCCEEDED

if TYPE_CHECKING:
    from flowdsl.runtime.local.controller.protocols import Call
    from flowdsl.runtime.local.controller.run import Run

_TOO_DEEP = (
    "Maximum recursion depth exceeded. See "
    "https://argo-workflows.readthedocs.io/en/release-4.1/scaling/#maximum-recursion-depth"
)
_TYPES: dict[str, Type] = {
    "steps": "Steps",
    "dag": "DAG",
    "suspend": "Suspend",
    "http": "HTTP",
    "plugin": "Plugin",
}
_RUN_AT_ONCE = ("steps", "dag", "suspend")
_BEGIN_PENDING = ("script", "resource", "data")
"""Bodies that only begin as a new node, or a pending one: not as that of a loop (executeScript)."""


class Execution:
    """The execution of one template."""

    def __init__(self, run: Run, call: Call) -> None:
        self.run = run
        self.call = call
        self.base = call.base
        self.template: Json = {}
        self.origin: Origin
        self.retry: Json | None = None
        self.node: Node | None = call.node
        self.attempts: Attempts | None = None
        self.stopped_waiting = False
        self._waits = False
        """Whether it waits for a free place: then everything is resolved again."""

    # --- before it runs ----------------------------------------------------------------------------

    def begin(self) -> None:
        """Resolve the template and its arguments, and continue with the gate."""
        if len(self.call.turn) >= DEEPEST:
            self._refuse(_TOO_DEEP, told=False)
        elif self._found():
            self.gate()

    def _found(self) -> bool:
        """Resolve the template and its arguments; return whether that succeeded."""
        run, call = self.run, self.call
        try:
            self.base, template = run.templates.resolve(call.base, call.holder)
            self.retry = self._strategy(template)
            # For Argo, the entrypoint and hooks are steps without a name.
            named = call.holder.get("name", "") if call.kind else ""
            local = Variables({"node.name": call.name, f"{call.kind or 'steps'}.name": named})
            if kind(template) in POD_BODIES and self.retry is None:
                local["pod.name"] = pod_name(run.name, call.name, template.get("name", ""))
            template = supplied(template, call.arguments, run.config, run.globals)
            self.origin = Origin(template, run.globals, run.settled, local)
            template = self.origin.template()
            label = part(template, "annotations").get(DISPLAY_NAME)
            if label and not DISPLAYED_NAME.fullmatch(label):
                self.run.agenda.in_next_pass(self._misnamed)
            self.template = template
            self.retry = self._strategy(template)
        except ArgoError as error:
            self._refuse(str(error))
            if self.node is not None:
                self.node.refused = True
            return False
        return True

    def _misnamed(self) -> None:
        """Refuse a template that does not exist when Argo visits it again; a pod that it has started continues."""
        if self.node is not None and not self.node.fulfilled:
            self._refuse(f"displayName must match the regex ^{DISPLAYED_NAME.pattern}$")

    def _strategy(self, template: Json) -> Json | None:
        """Its retryStrategy; an empty one is a strategy without a limit."""
        own: Json | None = template.get("retryStrategy")
        return own if own is not None else self.run.spec.get("retryStrategy")

    def _refuse(self, message: str, *, told: bool = True) -> None:
        """Fail before the body is executed; the caller may learn it from the phase of the node alone."""
        if self.node is None:
            node = self._new(self.call.name, "Skipped", ERROR)
            node.message = message
            node.told = self.run.agenda.passes
            self.node = node
            self.call.created(node)
            if told:
                self.run.agenda.soon(lambda: self.call.failed(node, message))
        else:
            self.run.mark(self.node, ERROR, message)
            self.over(self.node, message)

    def gate(self) -> None:
        """Wait for a free place if `parallelism` requires it (checkParallelism)."""
        frame = self.call.frame
        if self.call.kept is not None and self.call.kept(self.gate):
            return
        waited, self._waits = self._waits, True
        if self.run.parallelism.waits(self.call, self.gate):
            return
        if frame is not None:
            if frame.turns_down(self.call):
                return
            if frame.blocked() or frame.places.waits_before(self.call):
                frame.places.wait(self.call, self.gate)
                return
        if not waited or self.renewed():
            self.lock()

    def renewed(self) -> bool:
        """Resolve everything again, as Argo does in each pass: after waiting for a place, and for a further attempt.

        Returns whether that succeeded.
        """
        if self.call.now is None:
            return True
        try:
            holder = self.call.now()
        except ArgoError as error:
            self._refuse(str(error))
            return False
        if holder is self.call.holder:
            return True
        self.call = self.call._replace(holder=holder, arguments=part(holder, "arguments"))
        return self._found()

    def lock(self) -> None:
        """Acquire the locks of the template, and look it up in the cache."""
        run = self.run
        wanted = self.template.get("synchronization")
        if self.stopped_waiting or (self.call.frame is not None and self.call.frame.over):
            if wanted and self.node is not None:  # it got its turn, but does not need the lock any more
                run.decline(wanted)
            return
        if wanted and self._visited_later():
            run.decline(wanted, self.call.name, self.stop_waiting)
            return
        try:
            if wanted:
                waits = run.acquire(self.call.name, wanted, self.lock, self.stop_waiting)
                if waits is not None:
                    self._wait_for_lock(*waits)
                    return
                if self.node is not None:
                    run.lock_taken(self.node)
            if self.template.get("memoize") is not None:
                run.agenda.soon(self._cached)
                return
        except ArgoError as error:
            self._refuse(str(error))
            return
        self.enter()

    def _visited_later(self) -> bool:
        """Whether Argo does not come to its locks now: a hook holds its task, or it waited and there is no place."""
        if self.call.kept is not None and self.call.kept(self.lock):
            return True
        return self.node is not None and self.run.parallelism.waits(self.call, self.lock)

    def _wait_for_lock(self, name: str, message: str) -> None:
        node = self.node or self._pending(waits=True)
        node.lock = name
        node.message = message
        if refusal := self.run.refusal(node):
            self.run.agenda.in_next_pass(lambda: self.stop_waiting(refusal))

    def _pending(self, *, waits: bool = False) -> Node:
        """Create the node before it runs. That of a template with retries stays pending, which has a time limit."""
        node = self.node = self._new(self.call.name, self._type(), PENDING, waits=waits)
        self.call.created(node)
        if self.template.get("timeout"):
            deadline = int(node.started) + retry.seconds(self.template["timeout"])
            self.run.agenda.at(
                deadline,
                self.waited_too_long,
                lambda: bool(node.lock) or (node.type == "Retry" and node.phase == PENDING),
            )
        return node

    def waited_too_long(self) -> None:
        """Fail while the node is pending."""
        node = self.node
        if node is None or node.phase != PENDING:
            return
        if node.lock:
            self._forget_lock(node)
        node.told = self.run.agenda.passes
        self.run.mark(node, FAILED, TIMEOUT)
        self.over(node, TIMEOUT)

    def stop_waiting(self, message: str) -> None:
        """Fail while waiting for a lock."""
        node = self.node
        if node is None or not node.lock:
            return
        self._forget_lock(node)
        self.run.mark(node, FAILED, message)
        self.over(node, None)

    def _forget_lock(self, node: Node) -> None:
        self.stopped_waiting = True
        self.run.locks.forget(self.call.name)
        node.lock = ""

    def _cached(self) -> None:
        """Use the outputs of an earlier execution, if the cache has them (memoize)."""
        memo: Json = self.template["memoize"]
        cache = str((part(part(memo, "cache"), "configMap")).get("name", ""))
        key = any_string(memo.get("key"))
        try:
            outputs = self.run.cache.find(cache, key, memo.get("maxAge"), self.run.now)
        except ArgoError as error:
            self._refuse(str(error))
            return
        hit = outputs is not None
        node = self.node or self._pending()
        node.memo = {"hit": hit, "key": key, "cacheName": cache}
        if hit:
            node.outputs = outputs or None
            self.run.mark(node, SUCCEEDED)
            self.over(node, None)
            return
        if self.template.get("synchronization"):
            again = partial(self.run.within, node, self._cached_meanwhile, soon=True)
            self.run.lookups.setdefault((cache, key), []).append(again)
        self.enter()

    def _cached_meanwhile(self) -> None:
        """Use the outputs that another execution has cached since this one began.

        A pod goes on, as it ends with its own result.
        """
        node = self.node
        if node is None or node.fulfilled:
            return
        outputs = self._look_again(node)
        if outputs is None or node.type == "Pod":
            return
        body = node if self.attempts is None else self.attempts.latest
        frame = None if body is None else self.run.frames.get(body.name)
        if frame is not None:
            frame.abandon()
        node.outputs = outputs or None
        self.run.mark(node, SUCCEEDED)
        self.over(node, None)

    def _look_again(self, node: Node) -> Json | None:
        """What the cache has meanwhile: with a lock, Argo looks it up in each pass (executeTemplate)."""
        memo: Json = node.memo or {}
        oldest = self.template["memoize"].get("maxAge")
        outputs = self.run.cache.find(memo["cacheName"], memo["key"], oldest, self.run.now)
        if outputs is not None:
            node.memo = {**memo, "hit": True}
        return outputs

    def enter(self) -> None:
        """Run the body, or its first attempt."""
        try:
            self.template = self.origin.template()
        except ArgoError as error:
            self._refuse(str(error))
            return
        if self.retry is None:
            self.body(self.call.name, self.template, self.node)
            return
        if self.node is None:
            self.node = self._new(self.call.name, "Retry", RUNNING)
            # It shares the flags of its attempts, and counts as an attempt of its task.
            self.node.retried = self.node.hooked
            self.call.created(self.node)
        self.attempts = Attempts(self, self.retry, self.node)
        self.attempts.begin()

    # --- the body ----------------------------------------------------------------------------------

    def body(self, name: str, template: Json, node: Node | None) -> None:
        """Execute the body of the template, as an existing node or a new one."""
        run, body = self.run, kind(template)
        fresh = node is None
        if node is None:
            node = self._new(name, _TYPES.get(body, "Pod"), RUNNING if body in _RUN_AT_ONCE else PENDING)
            if self.attempts is not None:
                self.attempts.adopt(node)
            else:
                self.node = node
        elif body == "suspend":
            run.mark(node, RUNNING, "")
        elif body in _BEGIN_PENDING and node.phase != PENDING:
            return
        inputs: Json = part(template, "inputs")
        if fresh and (inputs.get("parameters") or inputs.get("artifacts")):
            node.inputs = inputs
        if (
            template.get("memoize") is not None
            and node.memo is None
            and self.node is not None
            and self.node.memo
        ):
            node.memo = {**self.node.memo, "hit": False}
        if fresh and node is self.node:
            self.call.created(node)
        try:
            if body == "dag":
                run.begin_frame(Dag(run, self, node, template, self.base))
            elif body == "steps":
                run.begin_frame(Steps(run, self, node, template, self.base))
            elif body == "suspend":
                leaves.suspend(run, self, node, template)
            else:
                leaves.start_pod(run, self, node, template)
        except (ArgoError, GrammarError) as error:
            self.body_ended(node, str(error))

    def body_ended(self, node: Node, error: str | None = None) -> None:
        """Handle the end of the body of the template, or of one attempt."""
        if error is not None:
            node.told = self.run.agenda.passes
            self.run.mark(node, ERROR, error)
        if node.memo and not node.memo.get("hit") and node.phase == SUCCEEDED:
            self.run.keep(node)
            if self.node is not None and node is not self.node and self.template.get("synchronization"):
                self._look_again(self.node)  # it finds what its own attempt has kept
        if self.attempts is not None and node is self.attempts.latest:
            self.attempts.ended(node, error)
        else:
            self.over(node, error)

    def over(self, node: Node, error: str | None) -> None:
        """End the template: release its locks, and report an error to the caller."""
        self.run.retries.pop(node.id, None)
        self._release(node, error)
        if error is not None:  # the caller is notified before those that watch the node's phase
            node.told = self.run.agenda.passes
            self.run.agenda.soon(lambda: self.call.failed(node, error))

    def _release(self, node: Node, error: str | None) -> None:
        """Release its locks.

        After a failed graph, a suspension that has timed out, an error after retries, and while an attempt runs, Argo
        does so in the next pass. If it does not visit the node then, or `failFast` ends what contains it, they are
        never released. Argo first visits a task whose pod has ended, unless a hook of it runs.
        """
        frame = self.call.frame
        if node.type == "Retry":
            late = error is not None or not node.at_rest()
        elif error is not None:
            late = False
        elif node.type == "DAG":
            late = node.failed
        else:
            late = node.timed_out
        if late:
            self.run.agenda.in_next_pass(lambda: self._release_late(node))
        elif frame is None or not frame.fail_fast():
            release = partial(self.run.release, self.call.name)
            if error is not None or node.ends_on_visits:
                release()
            elif hooked(self.call.holder):
                self.run.agenda.later(partial(self.run.within, node, release))
            else:
                self.run.within(node, release, soon=True)

    def _release_late(self, node: Node) -> None:
        frame = self.call.frame
        if frame is None or frame.comes_to(node):
            self.run.release(self.call.name)

    # --- nodes -------------------------------------------------------------------------------------

    def _type(self) -> Type:
        """The type of a node created before it runs: not that of the workflow's retryStrategy (GetNodeType)."""
        tried = self.template.get("retryStrategy") is not None
        return "Retry" if tried else _TYPES.get(kind(self.template), "Pod")

    def _new(self, name: str, type: Type, phase: str, *, waits: bool = False) -> Node:
        call = self.call
        boundary = call.frame.node if call.frame is not None else None
        node = self.run.new_node(name, type, phase, boundary, call.holder, call.base, waits=waits)
        node.hooked = call.hooked
        label = part(self.template, "annotations").get(DISPLAY_NAME)
        if label and name == call.name and DISPLAYED_NAME.fullmatch(label):
            node.display = label
        inputs: Json = part(self.template, "inputs")
        if type != "Skipped" and (inputs.get("parameters") or inputs.get("artifacts")):
            node.inputs = inputs
        return node
