"""Executes templates that run something themselves: requests their pods, or suspends their nodes.

Sources: workflow/controller/workflowpod.go, and executeSuspend in operator.go, of Argo 4.1.
"""

from __future__ import annotations

import json
import math
from functools import partial
from typing import TYPE_CHECKING

from flowdsl.compiler.evaluation import go_json
from flowdsl.compiler.kinds import kind
from flowdsl.grammar.duration import duration
from flowdsl.runtime.local.controller import events, retry
from flowdsl.runtime.local.controller.names import any_string, pod_name
from flowdsl.runtime.local.controller.node import Json, Node
from flowdsl.runtime.local.controller.run import STEP_TOO_LATE
from flowdsl.runtime.local.controller.scope import Scope, Variables
from flowdsl.runtime.local.controller.tags import ESCAPES, ArgoError, replaced, tagged
from flowdsl.runtime.parts import part, several, texts
from flowdsl.runtime.phases import FAILED, PENDING, RUNNING, SUCCEEDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.runtime.local.controller.protocols import Leaf
    from flowdsl.runtime.local.controller.run import Run

TOO_LATE = "Pod was active on the node longer than the specified deadline"

_WITH_ITS_POD = (FAILED, "Pod Failed whilst container running")
"""The phase and message of a container without its own status, if its pod has failed."""


# --- pods ------------------------------------------------------------------------------------------


def start_pod(run: Run, execution: Leaf, node: Node, template: Json) -> None:
    """Start a pod, or an HTTP request. Raises ArgoError, and GrammarError."""
    if kind(template) == "http":
        _start_request(run, execution, node, template)
        return
    call = execution.call
    if not run.may_run(call.on_exit):
        run.mark(node, FAILED, f"workflow shutdown with strategy: {run.strategy}")
        _note_containers(run, execution, node, template)
        execution.body_ended(node)
        return
    action = _action(run, execution, node, template)
    fault, seconds = run.patched(action)
    if fault := _unmounted(action) or fault:
        raise ArgoError(fault)
    deadline = _deadline(run, execution, node, template, seconds)
    run.running[node.id] = execution
    _note_containers(run, execution, node, action.template)
    late = run.deadline is not None and run.now >= run.deadline
    if late and not node.in_exit_handler():
        if call.on_exit:  # of an exit handler with retries: only its node fails
            run.act(action)
            run.agenda.in_next_pass(partial(_fail, run, node, STEP_TOO_LATE))
        else:
            _never_begins(run, execution, node)
        return
    if _seconds_left(run, execution) == 0:  # there is no pod
        del run.running[node.id]
        fails = partial(_never_begins, run, execution, node)
        run.agenda.at(run.deadline or run.now, fails, lambda: node.phase == PENDING)
        return
    run.act(action)
    if deadline is not None:
        _stop_at(run, node, *deadline)
    pending = action.template.get("pendingTimeout")
    if pending:
        latest = int(node.started) + duration(any_string(pending))
        run.agenda.at(latest, lambda: _still_pending(run, node), lambda: node.phase == PENDING)


def _start_request(run: Run, execution: Leaf, node: Node, template: Json) -> None:
    """Start a request, which is pending until it is answered; an attempt has no time limit. Raises ArgoError."""
    action = _action(run, execution, node, template)
    limits = [_timeout(template[field]) for field in ("timeout", "pendingTimeout") if template.get(field)]
    run.running[node.id] = execution
    if refusal := run.refusal(node):
        run.agenda.in_next_pass(partial(_never_begins, run, execution, node, refusal))
        return
    run.act(action)
    if limits and not node.retried:
        latest = int(node.started) + min(limits)
        run.agenda.at(latest, execution.waited_too_long, lambda: node.phase == PENDING)


def fail_requests(run: Run, message: str, wanted: Callable[[Node], bool]) -> None:
    """Fail requests that wait for their responses."""
    for node in [run.by_id[identity] for identity in run.running]:
        if node.type == "HTTP" and not node.fulfilled and wanted(node):
            _fail(run, node, message)


def _timeout(text: object) -> float:
    """The seconds of a timeout. Raises ArgoError."""
    try:
        return retry.seconds(text)
    except ArgoError as error:
        raise ArgoError(f"invalid timeout format {error}") from None


def _note_containers(run: Run, execution: Leaf, node: Node, template: Json) -> None:
    """Create the nodes of a containerSet's containers, which Argo also does without a pod (executeContainerSet)."""
    call = execution.call
    for name, before in _containers(template):
        child = run.new_node(f"{node.name}.{name}", "Container", PENDING, node, call.holder, call.base)
        child.hooked, child.retried = node.hooked, node.retried
        node.composed = True
        for parent in [run.nodes[f"{node.name}.{one}"] for one in before] or [node]:
            parent.adopt(child)


def _container_nodes(run: Run, node: Node, template: Json) -> list[tuple[str, Node]]:
    """The nodes of a containerSet's containers, each with its name."""
    containers: list[Json] = several(part(template, "containerSet"), "containers")
    return [(one["name"], run.nodes[f"{node.name}.{one['name']}"]) for one in containers]


def _never_begins(run: Run, execution: Leaf, node: Node, message: str = STEP_TOO_LATE) -> None:
    """Fail the node of a pod that is never created."""
    run.running[node.id] = execution
    _fail(run, node, message)
    del run.running[node.id]
    run.parallelism.begin_pass()


def _stop_at(run: Run, node: Node, deadline: float, message: str) -> None:
    """Stop a pod at its deadline, unless that has changed until then."""
    node.deadline = made = (deadline, message)

    def holds() -> bool:
        return node.deadline is made and node.id in run.running

    run.agenda.at(deadline, lambda: _stop(run, node, message) if holds() else None, holds)


def taken_up(run: Run, lost: float) -> None:
    """Resume after an interruption of so many seconds, which count nowhere. Pods start anew, with all of their time."""
    run.interruptions.append((run.now - lost, lost))
    run.agenda.put_off(lost)
    if run.deadline is not None:
        run.deadline += lost
    for node in [run.by_id[one] for one in run.running]:
        if node.finished is None:
            if node.deadline is not None:
                deadline, message = node.deadline
                _stop_at(run, node, deadline + run.now - node.started, message)
            node.started = run.now


def _seconds_left(run: Run, execution: Leaf) -> int | None:
    """The whole seconds until the deadline of the run, which limit a pod that starts now."""
    if run.deadline is None or execution.call.on_exit:
        return None
    return int(run.deadline - run.now)


def _deadline(
    run: Run, execution: Leaf, node: Node, template: Json, patched: int | None
) -> tuple[float, str] | None:
    """When to stop the pod, and the message that replaces its own. Raises ArgoError.

    `patched`: the seconds from a patch of the pod, which replace all other limits that the kubelet knows.

    The kubelet stops the whole pod, but at the end of all attempts Argo's executor stops its containers, and saves
    their outputs (monitorDeadline).
    """
    found: list[float] = []
    seconds = template.get("activeDeadlineSeconds")
    if seconds is not None:
        whole = retry.whole(seconds)
        if whole is None:
            raise ArgoError(f"activeDeadlineSeconds is not a number: {seconds}")
        found.append(run.now + whole)
    left = _seconds_left(run, execution)
    if left is not None:
        found.append(run.now + left)
    if template.get("timeout"):
        began = node.started if node.started == run.now else int(node.started)  # as stored by the API server
        latest = began + _timeout(template["timeout"])
        # A pod is created a moment after its node, and gets the remaining whole seconds instead of its own.
        if math.ceil(latest - run.now) - 1 <= 1:
            raise ArgoError(f"{node.name} exceeded its deadline")
        found = [latest]
    if patched is not None:
        found = [run.now + patched]
    ends = [(at, TOO_LATE) for at in found]
    longest = part(execution.retry or {}, "backoff").get("maxDuration")
    if node.retried and longest and execution.node is not None:
        attempts = execution.node.attempts()
        if len(attempts) > 1:
            ends.append((run.after(int(attempts[0].started), retry.seconds(longest)), ""))
    return min(ends, default=None)


def _action(run: Run, execution: Leaf, node: Node, template: Json) -> events.StartPod:
    """The pod to start. Raises ArgoError."""
    frame = execution.call.frame
    pod = pod_name(run.name, node.name, template.get("name", ""))
    own = Variables(
        {
            f"inputs.parameters.{one['name']}": any_string(one.get("value"))
            for one in several(node.inputs, "parameters")
        }
    )
    own["pod.name"] = pod
    scope = Scope(own, run.globals)
    if kind(template) != "http":
        _read_by_executor(template, scope)
    template = replaced(template, scope, "nothing")
    if run.spec.get("archiveLogs") and "archiveLocation" not in template:
        template = {**template, "archiveLocation": {"archiveLogs": True}}
    asked = frame is not None and run.templates.keeps_result(frame.template, _task_of(node.name))
    patch = run.spec.get("podSpecPatch")
    return events.StartPod(
        node=node.id,
        name=node.name,
        pod=pod,
        template=template,
        volumes=replaced(run.volumes, scope, "nothing"),
        keeps_result=kind(template) in ("data", "http") or asked,
        patches=() if not patch else (any_string(replaced(patch, scope, "nothing")),),
    )


def _read_by_executor(template: Json, scope: Scope) -> None:
    """Raise ArgoError if the executor could not parse its template, which its pod has in an environment variable.

    A value that is replaced this late, such as an input that another input refers to, is put into JSON within JSON,
    where quotes and newlines break it. So do Go's escapes of `<`, `>` and `&` in an expression that could not be
    evaluated before. Source: substitutePodParams in workflowpod.go.
    """
    if not tagged(template):
        return
    inputs = {name: files for name, files in part(template, "inputs").items() if name == "artifacts"}
    text = json.dumps({**template, "inputs": inputs}, ensure_ascii=False, separators=(",", ":"))
    for escape, sign in ESCAPES.items():
        text = text.replace(sign, escape)
    try:
        go_json.loads(replaced(text, scope, "nothing"))
    except go_json.JsonError as error:
        raise ArgoError(str(error)) from None


def _unmounted(pod: events.StartPod) -> str:
    """Argo's message about a mount without a volume, or empty (addVolumeReferences); the API server checks the rest."""
    template = pod.template
    known = {str(one.get("name")) for one in (*several(template, "volumes"), *pod.volumes)}
    containers = [*several(template, "initContainers"), *several(template, "sidecars")]
    for body in (part(template, kind(template)), *containers):
        for mount in several(body, "volumeMounts"):
            if str(mount.get("name")) not in known:
                return f"volume '{mount.get('name')}' not found in workflow spec"
    return ""


def _task_of(name: str) -> str:
    """The name of the task or step that a node belongs to (getStepOrDAGTaskName)."""
    while name.endswith((")", "]")):
        name = name.rpartition("(" if name[-1] == ")" else "[")[0]
    return name.rpartition(".")[2]


def _containers(template: Json) -> list[tuple[str, list[str]]]:
    """The containers of a containerSet in topological order, with their dependencies. Raises ArgoError."""
    containers: list[Json] = several(part(template, "containerSet"), "containers")
    if not containers:
        return []
    names = [str(one["name"]) for one in containers]
    before = {str(one["name"]): [str(name) for name in texts(one, "dependencies")] for one in containers}
    done: dict[str, None] = {}
    while len(done) < len(names):
        ready = [name for name in names if name not in done and all(one in done for one in before[name])]
        if not ready:
            raise ArgoError("the containers of a containerSet wait for each other")
        done |= dict.fromkeys(ready)
    return [(name, before[name]) for name in done]


def _still_pending(run: Run, node: Node) -> None:
    if node.phase == PENDING:
        _stop(run, node, "timeout")


def _stop(run: Run, node: Node, message: str) -> None:
    if node.id in run.running and not node.completed:
        run.act(events.StopPod(node.id, message))


def fail_pod(run: Run, node: Node, message: str) -> None:
    """Fail a pod at once, while it is being stopped (handleExecutionControlError)."""
    run.act(events.StopPod(node.id))
    _fail(run, node, message)


def _fail(run: Run, node: Node, message: str) -> None:
    """Fail the node of a pod, and those of its containers."""
    run.mark(node, FAILED, message)
    for _, child in _container_nodes(run, node, run.running[node.id].template):
        if not child.fulfilled:
            run.mark(child, FAILED, message)
    if not node.runs:
        run.running[node.id].body_ended(node)


def pod_runs(run: Run, node: Node, ip: str) -> None:
    """A pod has started, or is ready as a daemon."""
    if node.fulfilled:
        return
    execution = run.running[node.id]
    daemon = execution.template.get("daemon") is True and bool(ip)
    if daemon:
        node.ip = ip
        frame = execution.call.frame
        if frame is not None:
            frame.daemons.append(node)
        attempts = execution.node
        if attempts is not None and attempts is not node:
            if frame is not None and not attempts.daemoned:
                frame.daemons.append(attempts)
            run.mark(attempts, RUNNING, daemon=True)
    run.mark(node, RUNNING, daemon=daemon, runs=not daemon)
    if daemon:
        run.release(execution.call.name)
    for _, child in _container_nodes(run, node, execution.template):
        run.mark(child, RUNNING)


def pod_ended(run: Run, node: Node, outcome: events.Outcome, *, over: bool) -> None:
    """A pod has ended; `over`: whether the run had already ended."""
    execution = run.running.pop(node.id)
    if node.phase == SUCCEEDED:
        # A daemon that was ended: Argo does not look at its pod any more (queuePodsForCleanup).
        handed = {key: value for key, value in (outcome.outputs or {}).items() if key != "exitCode"}
        if handed and not over:
            node.outputs = handed
        return
    containers = outcome.containers or {}
    for name, child in _container_nodes(run, node, execution.template):
        if name in containers or (outcome.phase != SUCCEEDED and not child.fulfilled):
            run.mark(child, *containers.get(name, _WITH_ITS_POD))
    if node.type == "HTTP" and node.fulfilled:  # it has failed meanwhile, but its response still counts
        if not over:
            node.outputs = outcome.outputs or None
            run.mark(node, outcome.phase, outcome.message)
        return
    if node.failed and not node.runs:
        return  # it was stopped before it started
    node.outputs = outcome.outputs or None
    node.daemoned = False
    if outcome.outputs:
        run.remember(outcome.outputs)
    phase = outcome.phase
    if execution.template.get("daemon") is True and phase == SUCCEEDED:
        phase = "Failed"
    message = outcome.message
    if node.failed:  # it was stopped, or a hook of it could not be evaluated
        node.finished = None
        message = message or node.message
    run.mark(node, phase, message, runs=False)
    execution.body_ended(node)


# --- suspended nodes -------------------------------------------------------------------------------


def suspend(run: Run, execution: Leaf, node: Node, template: Json) -> None:
    """Suspend a node until it is resumed, or for a duration. Raises ArgoError."""
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
    until = _suspended_until(node, template)
    run.suspended[node.id] = (execution, until)
    if until is not None:
        run.agenda.at(until, lambda: _time_is_over(run, node), lambda: run.is_timed(node))
    if refusal := run.refusal(node):
        run.agenda.in_next_pass(lambda: end_suspension(run, node, refusal))


def _time_is_over(run: Run, node: Node) -> None:
    """Resume a suspended node when Argo visits it, after its duration."""

    def end() -> None:
        node.timed_out = node.id in run.suspended
        resume(run, node, {})

    if run.is_timed(node):
        frame = run.suspended[node.id][0].call.frame
        if not run.parallelism.postpones(frame, lambda: _time_is_over(run, node)):
            run.within(node, end)


def _suspended_until(node: Node, template: Json) -> float | None:
    """When a suspension ends by itself: Argo counts from the whole second in which it started. Raises ArgoError."""
    wait = any_string(template["suspend"].get("duration") or "")
    return math.floor(node.started) + retry.seconds(wait) if wait else None


def _with_default(parameter: Json, defaults: Json) -> Json:
    source = parameter["valueFrom"]
    if source.get("default") is None and parameter["name"] in defaults:
        return {**parameter, "valueFrom": {**source, "default": defaults[parameter["name"]]}}
    return parameter


def end_suspension(run: Run, node: Node, message: str) -> None:
    """Fail a node that is still suspended."""
    if node.id not in run.suspended:
        return
    execution, _ = run.suspended.pop(node.id)
    run.mark(node, FAILED, message)
    execution.body_ended(node)


def resume(run: Run, node: Node, given: dict[str, str]) -> None:
    """Resume a suspended node, with values for its supplied outputs."""
    if node.id not in run.suspended:
        return
    execution, _ = run.suspended.pop(node.id)
    made: list[Json] = []
    for one in several(node.outputs, "parameters"):
        name, default = one["name"], one["valueFrom"].get("default")
        value = given.get(name, None if default is None else any_string(default))
        if value is None:
            execution.body_ended(
                node, f"raw output parameter '{name}' has not been set and does not have a default value"
            )
            return
        made.append({**{key: one[key] for key in one if key != "valueFrom"}, "value": value})
    if made:
        node.outputs = {"parameters": made}
    run.remember({"parameters": [one for one in made if one["name"] in given]})
    run.mark(node, SUCCEEDED)
    execution.body_ended(node)
