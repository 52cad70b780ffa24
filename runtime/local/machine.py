"""What the controller decides, as a pure machine: events in, actions out.

It has no clock, no process and no file: times come with the events, and the same events give the same run, which is
how a run is taken up again. Each event costs what it changes, not the size of the run.
Source: operate in workflow/controller/operator.go of Argo 4.1.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from flowdsl.runtime.expressions.values import json_of
from flowdsl.runtime.local import events
from flowdsl.runtime.local.cache import Cache
from flowdsl.runtime.local.execution import Execution
from flowdsl.runtime.local.hooks import EXIT, exit_hook, truth
from flowdsl.runtime.local.names import any_string, pod_name, quoted, rfc3339
from flowdsl.runtime.local.node import ERROR, FAILED, PENDING, RUNNING, SUCCEEDED, Json, Node
from flowdsl.runtime.local.run import FULL, STEP_TOO_LATE, Call, Leaf, Run
from flowdsl.runtime.local.scope import Scope
from flowdsl.runtime.local.shapes import part, several
from flowdsl.runtime.local.tags import ArgoError
from flowdsl.runtime.local.templates import Templates
from flowdsl.runtime.local.workflow import settled, spec_of, variables, whole_marks

if TYPE_CHECKING:
    from collections.abc import Callable


_WITH_ITS_POD = (FAILED, "Pod Failed whilst container running")
"""How a container ended of which nothing is known but that its pod has failed."""


class Machine:
    """A run of one workflow. `handle` takes an event and gives what is to be done.

    `references` are WorkflowTemplates and ClusterWorkflowTemplates that it may name, `config` the ConfigMaps that are
    known, `cache` what earlier runs kept for `memoize`.
    """

    def __init__(
        self,
        manifest: Json,
        references: list[Json] | None = None,
        config: dict[str, dict[str, str]] | None = None,
        cache: Cache | None = None,
    ) -> None:
        self.manifest = manifest
        self.references = references or []
        self.run = run = Run(manifest, config or {}, cache or Cache())
        self.phase = ""
        self.message = ""
        self.started = 0.0
        self.finished: float | None = None
        self._entry: Node | None = None
        self._hooks: dict[str, Json] = {}
        self._hook_nodes: list[Node] = []
        self._exit: Node | None = None
        texts = [json_of(document, escape=False) for document in (manifest, *self.references)]
        self._asks_duration = any("workflow.duration" in text for text in texts)
        self._failures_noted = -1
        self._asked_wake: float | None = None
        self._ended = False

        def execute(call: Call) -> None:
            Execution(run, call).begin()

        run.execute = execute

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes of the run, by name."""
        return self.run.nodes

    # --- events ------------------------------------------------------------------------------------

    def handle(self, event: events.Event) -> list[events.Action]:
        """What is to be done after an event."""
        if self._ended:
            return []
        self.run.now = max(self.run.now, event.now)
        if self._asks_duration and self.started:
            self.run.globals["workflow.duration"] = f"{self.run.now - self.started:f}"
        match event:
            case events.Started():
                self._start()
            case events.PodRunning(_, node, ip):
                self._pod_running(self.run.by_id[node], ip)
            case events.PodEnded(_, node, outcome):
                self._pod_ended(self.run.by_id[node], outcome)
            case events.Woken():
                pass
            case events.Resumed(_, node, given):
                self._resumed(node, given)
            case events.ShutDown(_, strategy):
                self._shut_down(strategy)
        self._give_up()
        self._tick()
        if self._exit is not None:
            self._note_failures()
        self.run.settle()
        full = self.run.full
        self.run.drain()
        if self.run.saturated() and not full:
            self.run.ask_again()
            self.run.drain()
        self._advance(full)
        actions, self.run.actions = self.run.actions, []
        return actions

    def _tick(self) -> None:
        while self.run.timers and self.run.timers[0][0] <= self.run.now:
            self.run.queue.append(heapq.heappop(self.run.timers).action)
        if self._asked_wake is not None and self._asked_wake <= self.run.now:
            self._asked_wake = None

    # --- the run -----------------------------------------------------------------------------------

    def _start(self) -> None:
        self.started = self.run.now
        self.phase = RUNNING
        try:
            spec = spec_of(self.manifest, self.references)
            self.run.globals = variables(self.manifest, spec, self.run.config, self.run.now)
            self.run.spec = settled(spec, self.run.globals)
            self.run.globals |= {"workflow.status": "", "workflow.duration": "0.000000"}
            self.run.settled |= self.run.globals
        except ArgoError as error:
            self._finish(ERROR if "label" in str(error) else FAILED, str(error))
            return
        self.run.hindmost.append(self._second_pass)
        self.run.strategy = self.run.spec.get("shutdown") or None
        self.run.templates = Templates(self.run.name, spec, self.references)
        self.run.arguments = part(self.run.spec, "arguments")
        claims = several(self.run.spec, "volumeClaimTemplates")
        self.run.volumes = [
            *(several(self.run.spec, "volumes")),
            *(_claim(self.run.name, one) for one in claims),
        ]
        self.run.limit = int(self.run.spec.get("parallelism") or 0)
        self._hooks = {name: hook for name, hook in part(self.run.spec, "hooks").items() if name != EXIT}
        seconds = self.run.spec.get("activeDeadlineSeconds")
        if seconds is not None:
            self.run.deadline = float(int(self.started) + int(any_string(seconds)))
            self.run.at(self.run.deadline, self._too_late, self._something_may_end)
        if self.run.spec.get("suspend"):
            self.message = "Workflow is suspended"
            return
        self._enter()

    def _second_pass(self) -> None:
        """What has begun is looked at again, by a controller that knows what it has written of the run."""
        for name, text in whole_marks(self.manifest, self.run.spec).items():
            self.run.globals[name] = text
        self.run.globals["workflow.status"] = RUNNING
        self.run.settle()
        for node in self.run.nodes.values():
            self.run.changed(node)

    def _enter(self) -> None:
        """Take the locks of the workflow, and execute its entrypoint."""
        wanted = self.run.spec.get("synchronization")
        if wanted:
            try:
                waits = self.run.acquire("", wanted, self._enter, lambda _: None)
            except ArgoError as error:
                self._finish(FAILED, f"Failed to acquire the synchronization lock. {error}")
                return
            if waits is not None:
                self.phase, self.message = PENDING, waits[1]
                return
        self.phase, self.message = RUNNING, ""
        self.run.call(
            self.run.name,
            {"template": self.run.spec.get("entrypoint")},
            self.run.arguments,
            base=self.run.templates.local,
            frame=None,
            created=self._entered,
            done=self._entry_ended,
        )

    def _entered(self, node: Node) -> None:
        self._entry = node

    def _entry_ended(self, node: Node, error: str | None) -> None:
        if error is not None and self.run.goes_on():
            self.run.mark(node, ERROR, error)
        elif error is not None:
            self.run.mark(node, ERROR, "Workflow operation error" if node.type == "Retry" else error)
            self._finish(ERROR, f"error in entry template execution: {error}")

    def _advance(self, full: bool) -> None:
        """What follows when the entrypoint has ended, and whether something can still happen.

        `full`: whether this pass began without a free place. Then it ends where the entrypoint is to go on.
        """
        entry = self._entry
        if entry is not None and self.phase == RUNNING and (entry.fulfilled or not full):
            ran = self._hooks_run()
            if self._hooks:
                self._note_status(entry)
                self._run_hooks()
                self.run.drain()
            hooked = self._hooks_run()
            again = ran or (hooked and entry.fulfilled)
            if again and self.run.saturated():  # a hook that runs is asked for a free place in each pass
                if entry.fulfilled and self._on_exit() is None:
                    self._exit = entry
                    self._note_end()
                self._spoil(FULL)
                self.run.drain()
            elif entry.fulfilled and self._exit is None and not hooked:
                self._note_status(entry)
                self._run_exit(entry)
                self.run.drain()
        self._note_end()
        if not self._ended:
            self._look_ahead()

    def _note_status(self, entry: Node) -> None:
        phase = {"Skipped": SUCCEEDED, "Omitted": SUCCEEDED}.get(entry.phase, entry.phase)
        self.run.globals["workflow.status"] = phase
        self._note_failures()

    def _note_failures(self) -> None:
        """What has failed so far, also of an exit handler, which sees it too."""
        if self._failures_noted != self.run.failures:
            self._failures_noted = self.run.failures
            self.run.globals["workflow.failures"] = f'"{quoted(self._failures())}"'

    def _failures(self) -> str:
        found = [
            {
                "displayName": node.display,
                "message": node.message,
                "templateName": node.template,
                "phase": node.phase,
                "podName": pod_name(self.run.name, node.name, node.template),
                "finishedAt": None if node.finished is None else rfc3339(node.finished),
            }
            for node in self.run.nodes.values()
            if node.failed
        ]
        return f"[{','.join(_object(one) for one in found)}]" if found else "null"

    def _run_hooks(self) -> None:
        """The hooks of the workflow that are no exit hook (executeWfLifeCycleHook)."""
        for name, hook in list(self._hooks.items()):
            full = f"{self.run.name}.hooks.{name}"
            try:
                if not hook.get("expression"):
                    raise ArgoError(f"Expression required for hook {full}")
                if not truth(hook["expression"], Scope(self.run.globals)):
                    continue
                if self.run.saturated():
                    raise ArgoError(FULL)
            except ArgoError as error:
                del self._hooks[name]
                self._spoil(str(error))
                continue
            del self._hooks[name]
            self.run.call(
                full,
                hook,
                part(hook, "arguments"),
                base=self.run.templates.local,
                frame=None,
                hooked=True,
                created=self._hooked,
            )

    def _spoil(self, message: str) -> None:
        """The entrypoint ends in Error, whatever it has begun."""
        entry = self._entry
        if entry is not None and (frame := self.run.frames.get(entry.name)) is not None:
            frame.finish(ERROR, message)
        elif entry is not None:
            self.run.mark(entry, ERROR, message)

    def _hooked(self, node: Node) -> None:
        self._hook_nodes.append(node)
        if self._entry is not None:
            self._entry.adopt(node)

    def _hooks_run(self) -> bool:
        return any(not node.fulfilled for node in self._hook_nodes)

    def _on_exit(self) -> Json | None:
        """What runs at the end, or nothing."""
        return exit_hook(self.run.spec, self.run.arguments) if self.run.may_run(on_exit=True) else None

    def _run_exit(self, entry: Node) -> None:
        hook = self._on_exit()
        if hook is None:
            self._exit = entry
            return
        self.run.call(
            f"{self.run.name}.onExit",
            hook,
            part(hook, "arguments"),
            base=self.run.templates.local,
            frame=None,
            on_exit=True,
            hooked=True,
            created=self._exiting,
            done=self._exit_ended,
        )

    def _exiting(self, node: Node) -> None:
        self._exit = node

    def _exit_ended(self, node: Node, error: str | None) -> None:
        if error is not None:
            self.run.mark(node, ERROR, error)
            if not self.run.goes_on():
                self._finish(ERROR, f"error in exit template execution : {error}")

    def _note_end(self) -> None:
        """The phase of the workflow, when the entrypoint and the exit handler have ended."""
        entry, last = self._entry, self._exit
        if self.phase == RUNNING and entry is not None and last is not None and last.fulfilled:
            if daemons := [
                one for one in self.run.nodes.values() if one.daemoned and one.boundary is not None
            ]:
                self._never_ended(daemons)
            elif entry.failed:
                stopped = f"Stopped with strategy '{self.run.strategy}'"
                self._finish(entry.phase, stopped if self.run.strategy else entry.message)
            elif last is not entry and last.failed:
                self._finish(last.phase, last.message)
            else:
                self._finish(SUCCEEDED, "")
        if self.finished is not None and not self.run.running and not self._ended:
            self._ended = True
            ended: events.Phase = (
                "Succeeded" if self.phase == SUCCEEDED else "Failed" if self.phase == FAILED else "Error"
            )
            self.run.actions.append(events.Ended(ended, self.message))

    def _never_ended(self, daemons: list[Node]) -> None:
        """What a template began that ended in an error of its own, Argo does not end, nor the run with it."""
        if not self.run.awaits_pods():
            reason = f"{', '.join(node.name for node in daemons)}: a daemon whose template ended in an error"
            self._finish(ERROR, f"Argo would wait for ever: {reason}")

    def _finish(self, phase: str, message: str) -> None:
        if self.finished is None:
            self.phase, self.message, self.finished = phase, message, self.run.now
            self.run.globals["workflow.status"] = phase
            if self._entry is not None and self._entry.name != self.run.name:  # a group of it stands for it
                self.run.mark(self.run.nodes[self.run.name], ERROR, "Workflow operation error")
            for node in list(self.run.nodes.values()):
                if node.daemoned:
                    self.run.end_daemon(node)

    def _look_ahead(self) -> None:
        """Ask to be woken for the next timer; where nothing can come any more, say what is waited for."""
        soonest = self.run.next_timer()
        if soonest is not None:
            if self._asked_wake is None or soonest < self._asked_wake:
                self._asked_wake = soonest
                self.run.actions.append(events.WakeAt(soonest))
        elif not self._something_may_end() and not self.run.spec.get("suspend"):
            self._finish(ERROR, f"Argo would wait for ever: {'; '.join(self._stuck())}")
            self._note_end()

    def _something_may_end(self) -> bool:
        """Whether something runs, is suspended, or is to be tried again."""
        return bool(self.run.running or self.run.suspended or self.run.backing_off)

    def _stuck(self) -> list[str]:
        """What is waited for, where nothing can come any more."""
        found = [reason for frame in self.run.frames.values() for reason in frame.stuck()]
        found += [f"{node.name}: {node.message}" for node in self.run.nodes.values() if node.lock]
        if not self._entry and self.phase == PENDING:
            found.append(self.message)
        inner = {
            node.boundary.name for node in self.run.nodes.values() if node.boundary and not node.fulfilled
        }
        return found or [
            f"{name}: a graph whose tasks have all ended" for name in self.run.frames if name not in inner
        ]

    # --- pods --------------------------------------------------------------------------------------

    def _fail_pod(self, node: Node, message: str) -> None:
        """Fail a pod at once, while it is being stopped (handleExecutionControlError)."""
        self.run.actions.append(events.StopPod(node.id))
        self.run.mark(node, FAILED, message)
        for child in node.children.values():
            if child.type == "Container" and not child.fulfilled:
                self.run.mark(child, FAILED, message)
        if not node.runs:
            self.run.running[node.id].body_ended(node)

    def _pod_running(self, node: Node, ip: str) -> None:
        if node.fulfilled:
            return
        execution = self.run.running[node.id]
        daemon = execution.template.get("daemon") is True and bool(ip)
        if daemon:
            node.ip = ip
            frame = execution.call.frame
            if frame is not None:
                frame.daemons.append(node)
            retry = execution.node
            if retry is not None and retry is not node:
                if frame is not None and not retry.daemoned:
                    frame.daemons.append(retry)
                self.run.mark(retry, RUNNING, daemon=True)
        self.run.mark(node, RUNNING, daemon=daemon, runs=not daemon)
        for one in several(part(execution.template, "containerSet"), "containers"):
            self.run.mark(self.run.nodes[f"{node.name}.{one['name']}"], RUNNING)

    def _pod_ended(self, node: Node, outcome: events.Outcome) -> None:
        execution = self.run.running.pop(node.id)
        daemon = node.daemoned
        containers = outcome.containers or {}
        for one in several(part(execution.template, "containerSet"), "containers"):
            child = self.run.nodes[f"{node.name}.{one['name']}"]
            if not child.fulfilled and (one["name"] in containers or outcome.phase != SUCCEEDED):
                self.run.mark(child, *containers.get(one["name"], _WITH_ITS_POD))
        needless = node.phase == SUCCEEDED  # a daemon that was ended
        if needless and self.finished is not None:
            return  # nobody looks at its pod any more
        if node.failed and not node.runs:
            return  # it was stopped before it began
        node.outputs = outcome.outputs or None
        node.daemoned = False
        if outcome.outputs:
            self.run.remember(outcome.outputs)
        phase = outcome.phase
        if execution.template.get("daemon") is True and phase == SUCCEEDED:
            phase = "Failed"
        message = outcome.message
        if node.failed:  # it was stopped, or a hook of it could not be judged
            node.finished = None
            message = message or node.message
        self.run.mark(node, phase, message, runs=False)
        if needless:
            return
        if not daemon or execution.node is not node:  # with a strategy, a daemon that ends is started again
            execution.body_ended(node)

    # --- suspension, shutdown, deadline ------------------------------------------------------------

    def waits_for_somebody(self) -> list[Node]:
        """The suspended nodes, when nothing else can go on before somebody lets them; deadlines may pass meanwhile."""
        at_work = any(not self.run.by_id[name].daemoned for name in self.run.running)
        timed = any(until is not None for _, until in self.run.suspended.values())
        if at_work or timed or self.run.backing_off:
            return []
        return [self.run.by_id[name] for name in self.run.suspended]

    def _resumed(self, node: str, given: dict[str, str]) -> None:
        if self.run.spec.get("suspend") and self._entry is None:
            self.run.spec = {**self.run.spec, "suspend": False}
            self._enter()
        elif node in self.run.suspended:
            self.run.resume(self.run.by_id[node], given)

    def _shut_down(self, strategy: events.Strategy) -> None:
        self.run.strategy = strategy
        self.run.spec = {**self.run.spec, "shutdown": strategy}
        if self._entry is None:
            self._finish(FAILED, f"Stopped with strategy '{strategy}'")
            return
        message = f"Stopped with strategy '{strategy}'"
        # First those that wait: what ends gives its locks back.
        self._fail_waiting(message, lambda node: not self.run.may_run(node.in_exit_handler()))
        for node, execution in self._still_running():
            if not self.run.may_run(execution.call.on_exit):
                self._fail_pod(node, f"workflow shutdown with strategy:  {strategy}")
        self.run.hurry(lambda on_exit: not self.run.may_run(on_exit))
        self.run.drain()
        for frame in reversed(list(self.run.frames.values())):
            if not frame.over and not self.run.may_run(frame.on_exit):
                frame.shut_down()

    def _too_late(self) -> None:
        """The deadline of the workflow: what is no exit handler fails, and is not tried again."""
        self._fail_waiting(STEP_TOO_LATE, lambda node: not node.in_exit_handler())
        for node, execution in self._still_running():
            if not execution.call.on_exit:
                self._fail_pod(node, STEP_TOO_LATE)
        self.run.hurry(lambda on_exit: not on_exit)

    def _fail_waiting(self, message: str, wanted: Callable[[Node], bool]) -> None:
        for identity in list(self.run.suspended):
            node = self.run.by_id[identity]
            if wanted(node):
                self.run.end_suspension(node, message)
        for holder, stop in self.run.locks.waiting():
            waiting = self.run.nodes.get(holder)
            if waiting is not None and wanted(waiting):
                stop(message)

    def _give_up(self) -> None:
        """What is tried again fails as soon as nothing of it is at work, where the run is told to stop.

        Source: failNodesWithoutCreatedPodsAfterDeadlineOrShutdown, which looks before anything goes on.
        """
        if self.run.strategy is not None:
            for identity, one in list(self.run.retries.items()):
                node = self.run.by_id[identity]
                if not self.run.may_run(node.in_exit_handler()) and node.at_rest():
                    one.give_up()

    def _still_running(self) -> list[tuple[Node, Leaf]]:
        found = [(self.run.by_id[name], execution) for name, execution in self.run.running.items()]
        return [(node, execution) for node, execution in found if not node.completed]


def _object(fields: Json) -> str:
    """The JSON of an object whose keys keep their order, as those of Go's structs do."""
    return "{" + ",".join(f"{json_of(name)}:{json_of(value)}" for name, value in fields.items()) + "}"


def _claim(run: str, template: Json) -> Json:
    name = str(part(template, "metadata").get("name", ""))
    return {"name": name, "persistentVolumeClaim": {"claimName": f"{run}-{name}"}}
