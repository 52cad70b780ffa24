"""One template that a task, a step, a hook or the workflow asks for: arguments, limits, locks, cache, attempts, body.

Source: executeTemplate and processNodeRetries in workflow/controller/operator.go of Argo 4.1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.labels import DISPLAY_NAME
from flowdsl.grammar.regex import regex
from flowdsl.runtime.local import events, retry
from flowdsl.runtime.local.dag import Dag
from flowdsl.runtime.local.names import any_string, pod_name
from flowdsl.runtime.local.node import ERROR, FAILED, PENDING, RUNNING, SUCCEEDED, Json, Node, Type
from flowdsl.runtime.local.scope import Scope, Variables
from flowdsl.runtime.local.shapes import part, several
from flowdsl.runtime.local.steps import Steps
from flowdsl.runtime.local.tags import ArgoError, replaced
from flowdsl.runtime.local.templates import PODS, Origin, kind, supplied

if TYPE_CHECKING:
    from flowdsl.runtime.local.run import Call, Run

DEEPEST = 100
"""How many templates may be in one another. Source: maxStackDepth in workflow/controller/controller.go."""

_TOO_DEEP = (
    "Maximum recursion depth exceeded. See "
    "https://argo-workflows.readthedocs.io/en/release-4.1/scaling/#maximum-recursion-depth"
)
_LABEL = regex("[a-zA-Z0-9][a-zA-Z0-9-.]{0,61}[a-zA-Z0-9]")
_TYPES: dict[str, Type] = {
    "steps": "Steps",
    "dag": "DAG",
    "suspend": "Suspend",
    "http": "HTTP",
    "plugin": "Plugin",
}


class Execution:
    """A template that is executed."""

    def __init__(self, machine: Run, call: Call) -> None:
        self.machine = machine
        self.call = call
        self.base = call.base
        self.template: Json = {}
        self.origin: Origin
        self._first: Origin
        self.retry: Json | None = None
        self.node: Node | None = call.node
        self.attempt: Node | None = None
        self.stopped_waiting = False

    # --- before it runs ----------------------------------------------------------------------------

    def begin(self) -> None:
        """Find the template, and give it its arguments."""
        machine, call = self.machine, self.call
        if call.depth >= DEEPEST:
            self._refuse(_TOO_DEEP, told=False)
            return
        try:
            self.base, template = machine.templates.resolve(call.base, call.holder)
            self.retry = self._strategy(template)
            local = Variables({"node.name": call.name})
            if kind(template) in PODS and self.retry is None:
                local["pod.name"] = pod_name(machine.name, call.name, template.get("name", ""))
            # To Argo the entrypoint and hooks are steps without a name.
            local[f"{call.kind or 'steps'}.name"] = call.holder.get("name", "") if call.kind else ""
            template = supplied(template, call.arguments, machine.config, machine.globals)
            self.origin = self._first = Origin(template, machine.globals, machine.settled, local)
            template = self.origin.template()
            label = part(template, "annotations").get(DISPLAY_NAME)
            if label and not _LABEL.fullmatch(label):
                self.machine.hindmost.append(self._misnamed)
            self.template = template
            self.retry = self._strategy(template)
        except ArgoError as error:
            self._refuse(str(error))
            if self.node is not None:
                self.node.refused = True
            return
        self.gate()

    def _misnamed(self) -> None:
        """What is called by no name is refused when Argo comes to it again; a pod that it has begun goes on."""
        if self.node is not None and not self.node.fulfilled:
            self._refuse(f"displayName must match the regex ^{_LABEL.pattern}$")

    def _strategy(self, template: Json) -> Json | None:
        """How it is tried again; an empty strategy is one, without a limit."""
        own: Json | None = template.get("retryStrategy")
        return own if own is not None else self.machine.spec.get("retryStrategy")

    def _refuse(self, message: str, *, told: bool = True) -> None:
        """An error before there is a body; the caller may be told of it by the phase of the node alone."""
        if self.node is None:
            node = self._new(self.call.name, "Skipped", ERROR)
            node.message = message
            node.told = self.machine.passes
            self.node = node
            self.call.created(node)
            self.machine.soon(lambda: self.call.done(node, message if told else None))
        else:
            self.machine.mark(self.node, ERROR, message)
            self._over(self.node, message)

    def gate(self) -> None:
        """Wait for a place where `parallelism` has none (checkParallelism)."""
        frame = self.call.frame
        if self.machine.saturated():
            self.machine.wait_for_place(frame, self.call.rank, self.gate)
            return
        if frame is not None:
            if frame.fail_fast(begins=True):
                return
            if frame.blocked():
                self.machine.wait_within(frame, self.call.rank, self.gate)
                return
        self.lock()

    def lock(self) -> None:
        """Wait for the locks that the template asks for, and look into the cache."""
        machine = self.machine
        wanted = self.template.get("synchronization")
        if self.stopped_waiting or (self.call.frame is not None and self.call.frame.over):
            if wanted and self.node is not None:  # it was its turn, and it does not want it any more
                machine.decline(wanted)
            return
        try:
            if wanted:
                waits = machine.acquire(self.call.name, wanted, self.lock, self.stop_waiting)
                if waits is not None:
                    self._wait_for_lock(*waits)
                    return
                if self.node is not None:
                    machine.lock_taken(self.node)
            if self.template.get("memoize") is not None:
                machine.soon(self._cached)
                return
        except ArgoError as error:
            self._refuse(str(error))
            return
        self.run()

    def _wait_for_lock(self, name: str, message: str) -> None:
        node = self.node or self._pending(waits=True)
        node.lock = name
        node.message = message
        if refusal := self.machine.refusal(node):
            self.machine.hindmost.append(lambda: self.stop_waiting(refusal))

    def _pending(self, *, waits: bool = False) -> Node:
        """Make the node before it runs. As a node of attempts it stays pending, for which there is a time."""
        node = self.node = self._new(self.call.name, self._type(), PENDING, waits=waits)
        self.call.created(node)
        if self.template.get("timeout"):
            deadline = node.started + retry.seconds(self.template["timeout"])
            self.machine.at(
                deadline,
                self._waited_too_long,
                lambda: bool(node.lock) or (node.type == "Retry" and node.phase == PENDING),
            )
        return node

    def _waited_too_long(self) -> None:
        node = self.node
        if node is None or node.phase != PENDING:
            return
        if node.lock:
            self.stop_waiting("timeout")
        else:
            self.machine.mark(node, FAILED, "timeout")
            self._over(node, None)
        if self.call.frame is not None and not self.call.hooked:
            self.call.frame.timed_out(node, "timeout")

    def stop_waiting(self, message: str) -> None:
        """Fail while a lock is waited for."""
        node = self.node
        if node is None or not node.lock:
            return
        self.stopped_waiting = True
        self.machine.locks.forget(self.call.name)
        self.machine.mark(node, FAILED, message)
        node.lock = ""
        self._over(node, None)

    def _cached(self) -> None:
        """Take the outputs of an earlier execution where the cache has them (memoize)."""
        memo: Json = self.template["memoize"]
        cache = str((part(part(memo, "cache"), "configMap")).get("name", ""))
        key = any_string(memo.get("key"))
        try:
            outputs = self.machine.cache.find(cache, key, memo.get("maxAge"), self.machine.now)
        except ArgoError as error:
            self._refuse(str(error))
            return
        hit = outputs is not None
        node = self.node or self._pending()
        node.memo = {"hit": hit, "key": key, "cacheName": cache}
        if hit:
            node.outputs = outputs or None
            self.machine.mark(node, SUCCEEDED)
            self._over(node, None)
            return
        self.run()

    # --- attempts ----------------------------------------------------------------------------------

    def run(self) -> None:
        """Run the body, or its first attempt."""
        try:
            self.template = self.origin.template()
        except ArgoError as error:
            self._refuse(str(error))
            return
        if self.retry is None:
            self._body(self.call.name, self.template, self.node)
            return
        if self.node is None:
            self.node = self._new(self.call.name, "Retry", RUNNING)
            self.call.created(self.node)
        self.machine.retries[self.node.id] = self
        self._attempt()

    def _attempt(self) -> None:
        node = self.node
        if node is None or node.completed:
            return
        made = node.attempts()
        name = f"{self.call.name}({len(made)})"
        local = retry.variables(made)
        if kind(self.template) in PODS:
            local["pod.name"] = pod_name(self.machine.name, name, self.template.get("name", ""))
        self.origin = Origin(self._first, self.machine.globals, self.machine.settled, local)
        try:
            template = self.origin.template()
        except ArgoError as error:
            self.machine.mark(node, ERROR, str(error))
            self._over(node, str(error))
            return
        self._body(name, template, None)

    def _attempt_ended(self, attempt: Node, error: str | None) -> None:
        """Whether there is to be another attempt (processNodeRetries)."""
        node, strategy = self.node, self.retry
        if node is None or strategy is None or node.completed or node.id not in self.machine.retries:
            return
        if self.call.frame is not None and (self.call.frame.over or self.call.frame.frozen()):
            if self.machine.strategy is not None:
                self._stopped(attempt)
            return  # nobody else looks at it any more
        policy = retry.policy_of(strategy)
        if error is not None and policy == "OnFailure":
            self._over(node, error)
            return
        if not attempt.failed:
            self._retried(SUCCEEDED, None)
            return
        if self._stopped(attempt):
            return
        try:
            wait = retry.begins(strategy, node.attempts(), self.machine.now)
        except ArgoError as failure:
            self.machine.mark(node, ERROR, str(failure))
            self._over(node, str(failure))
            return
        if isinstance(wait, str):
            self._retried(attempt.phase, wait)
        elif wait:
            node.message = f"Backoff for {retry.humanized(wait - (attempt.finished or self.machine.now))}"
            self.machine.back_off(node, self.call.on_exit, wait, lambda: self._again(attempt, policy))
        else:
            self._again(attempt, policy)

    def _again(self, attempt: Node, policy: str) -> None:
        node, strategy = self.node, self.retry
        if node is None or strategy is None or node.completed:
            return
        if self._stopped(attempt):
            return
        node.message = ""
        try:
            reason = retry.no_more(strategy, policy, node.attempts())
        except ArgoError as error:
            self.machine.mark(node, ERROR, str(error))
            self._over(node, str(error))
            return
        if reason is None:
            self.machine.later(self._attempt_gate)
        else:
            self._retried(attempt.phase, reason)

    def _stopped(self, attempt: Node) -> bool:
        """End where nothing is tried again any more."""
        message = self.machine.no_more_retries()
        if message and self.node is not None and not self.machine.may_run(self.node.in_exit_handler()):
            self.give_up()
        elif message:
            self._retried(attempt.phase, message)
        return bool(message)

    def give_up(self) -> None:
        """Fail without the outputs of the last attempt, which may never end: the run is to stop."""
        node, attempt = self.node, self.attempt
        if node is None or node.completed:
            return
        frame = None if attempt is None else self.machine.frames.get(attempt.name)
        if frame is not None:
            frame.abandon()
        self.machine.mark(node, FAILED, self.machine.no_more_retries())
        self._over(node, None)

    def _attempt_gate(self) -> None:
        """A further attempt needs a place too, but none in its frame; failFast there lets none begin.

        An attempt of a template that is itself tried again is not asked.
        """
        frame = self.call.frame
        if frame is not None and (frame.fail_fast() or (frame.gives_up() and not frame.node.retried)):
            return
        if self.machine.saturated():
            self.machine.wait_for_place(frame, self.call.rank, self._attempt_gate)
        else:
            self._attempt()

    def _retried(self, phase: str, message: str | None) -> None:
        node = self.node
        if node is None:
            return
        last = node.attempts()[-1]
        node.outputs = last.outputs
        node.daemoned = False
        self.machine.mark(node, phase, message)
        self._over(node, None)

    # --- the body ----------------------------------------------------------------------------------

    def _body(self, name: str, template: Json, node: Node | None) -> None:
        machine, body = self.machine, kind(template)
        fresh = node is None
        if node is None:
            node = self._new(name, _TYPES.get(body, "Pod"), PENDING if body in PODS else RUNNING)
            if self.retry is not None and self.node is not None:
                node.retried = True
                self.node.adopt(node)
                self.attempt = node
            else:
                self.node = node
        elif body == "suspend":
            machine.mark(node, RUNNING, "")
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
                machine.begin_frame(Dag(machine, self, node, template, self.base))
            elif body == "steps":
                machine.begin_frame(Steps(machine, self, node, template, self.base))
            elif body == "suspend":
                self._suspend(node, template)
            else:
                self._pod(node, template)
        except (ArgoError, GrammarError) as error:
            self.body_ended(node, str(error))

    def body_ended(self, node: Node, error: str | None = None) -> None:
        """The body of the template, or of one attempt, has ended."""
        if error is not None:
            self.machine.mark(node, ERROR, error)
        if node.memo and not node.memo.get("hit") and node.phase == SUCCEEDED:
            self.machine.keep(node)
        if node is self.attempt:
            self._attempt_ended(node, error)
        else:
            self._over(node, error)

    def _over(self, node: Node, error: str | None) -> None:
        self.machine.retries.pop(node.id, None)
        self._release(node, error)
        if error is not None:  # the caller has its say before those that see the node's phase
            node.told = self.machine.passes
            self.machine.soon(lambda: self.call.done(node, error))
        else:
            self.machine.later(lambda: self.call.done(node, error))

    def _release(self, node: Node, error: str | None) -> None:
        """Give its locks back.

        Argo does so of a graph that failed, and after an error behind attempts, in the next pass. Where nobody comes to
        it then, or `failFast` ends what it is part of, nobody ever gives them back.
        """
        frame = self.call.frame
        if node.type == "Retry" if error is not None else node.type == "DAG" and node.failed:
            self.machine.hindmost.append(lambda: self._release_late(node))
        elif frame is None or not frame.fail_fast():
            self.machine.release(self.call.name)

    def _release_late(self, node: Node) -> None:
        frame = self.call.frame
        if frame is None or frame.comes_to(node):
            self.machine.release(self.call.name)

    def _suspend(self, node: Node, template: Json) -> None:
        supplied_later = [
            one
            for one in several(part(template, "outputs"), "parameters")
            if "supplied" in part(one, "valueFrom")
        ]
        if supplied_later:
            defaults = {
                one["name"]: one["default"]
                for one in several(part(template, "inputs"), "parameters")
                if one.get("default") is not None
            }
            node.outputs = {"parameters": [_with_default(one, defaults) for one in supplied_later]}
        wait = any_string(template["suspend"].get("duration") or "")
        self.machine.suspend(self, node, retry.seconds(wait) if wait else None)

    def _pod(self, node: Node, template: Json) -> None:
        """Ask for a pod, or for an HTTP request."""
        machine, call = self.machine, self.call
        if not machine.may_run(call.on_exit):
            machine.mark(node, FAILED, f"workflow shutdown with strategy: {machine.strategy}")
            self.body_ended(node)
            return
        deadline = self._deadline(node, template)
        pod = pod_name(machine.name, node.name, template.get("name", ""))
        parameters = several(node.inputs, "parameters")
        own = Variables(
            {f"inputs.parameters.{one['name']}": any_string(one.get("value")) for one in parameters}
        )
        own["pod.name"] = pod
        scope = Scope(own, machine.globals)
        template = replaced(template, scope, "nothing")
        if machine.spec.get("archiveLogs") and "archiveLocation" not in template:
            template = {**template, "archiveLocation": {"archiveLogs": True}}
        task = _task_of(node.name)
        parent = call.frame.template if call.frame is not None else None
        patch = machine.spec.get("podSpecPatch")
        machine.start_pod(
            self,
            node,
            events.StartPod(
                node=node.id,
                name=node.name,
                pod=pod,
                template=template,
                volumes=replaced(machine.volumes, scope, "nothing"),
                keeps_result=kind(template) in ("data", "http")
                or (parent is not None and machine.templates.keeps_result(parent, task)),
                patches=() if not patch else (any_string(replaced(patch, scope, "nothing")),),
            ),
            deadline,
        )

    def _deadline(self, node: Node, template: Json) -> float | None:
        """When the pod is to be stopped. Raises ArgoError. Source: workflow/controller/workflowpod.go."""
        found: list[float] = []
        now = self.machine.now
        seconds = template.get("activeDeadlineSeconds")
        if seconds is not None:
            whole = retry.whole(seconds)
            if whole is None:
                raise ArgoError(f"activeDeadlineSeconds is not a number: {seconds}")
            found.append(now + whole)
        if template.get("timeout"):
            try:
                latest = node.started + retry.seconds(template["timeout"])
            except ArgoError as error:
                raise ArgoError(f"invalid timeout format {error}") from None
            # A pod is made a moment after its node, and gets the whole seconds that are left instead of its own.
            if kind(template) != "http" and math.ceil(latest - now) - 1 <= 1:
                raise ArgoError(f"{node.name} exceeded its deadline")
            found = [latest]
        strategy: Json = self.retry or {}
        backoff = part(strategy, "backoff")
        if (
            node.retried
            and backoff.get("maxDuration")
            and self.node is not None
            and len(self.node.attempts()) > 1
        ):
            found.append(self.node.attempts()[0].started + retry.seconds(backoff["maxDuration"]))
        return min(found) if found else None

    # --- nodes -------------------------------------------------------------------------------------

    def _type(self) -> Type:
        """The type of a node that is made before it runs: not that of the strategy of the workflow (GetNodeType)."""
        tried = self.template.get("retryStrategy") is not None
        return "Retry" if tried else _TYPES.get(kind(self.template), "Pod")

    def _new(self, name: str, type: Type, phase: str, *, waits: bool = False) -> Node:
        call = self.call
        boundary = call.frame.node if call.frame is not None else None
        node = self.machine.new_node(name, type, phase, boundary, call.holder, call.base, waits=waits)
        node.hooked = call.hooked
        label = part(self.template, "annotations").get(DISPLAY_NAME)
        if label and name == call.name and _LABEL.fullmatch(label):
            node.display = label
        inputs: Json = part(self.template, "inputs")
        if type != "Skipped" and (inputs.get("parameters") or inputs.get("artifacts")):
            node.inputs = inputs
        return node


def _with_default(parameter: Json, defaults: Json) -> Json:
    source = parameter["valueFrom"]
    if source.get("default") is None and parameter["name"] in defaults:
        return {**parameter, "valueFrom": {**source, "default": defaults[parameter["name"]]}}
    return parameter


def _task_of(name: str) -> str:
    """The name of the task or step that a node belongs to (getStepOrDAGTaskName)."""
    end = len(name)
    opener = ""
    while end:
        sign = name[end - 1]
        if opener:
            opener = "" if sign == opener else opener
        elif sign in ")]":
            opener = "(" if sign == ")" else "["
        else:
            break
        end -= 1
    return name[:end].rpartition(".")[2]
