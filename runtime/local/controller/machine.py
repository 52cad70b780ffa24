"""The state machine of Argo's controller: events in, actions out.

It has no clock, no process and no file: times come with the events, and the same events always give the same run, so
that a run can be resumed by replaying them. The cost of an event depends on what it changes, not on the size of the
run. Source: operate in workflow/controller/operator.go of Argo 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.evaluation.chance import Chance, by
from flowdsl.compiler.evaluation.values import json_of
from flowdsl.runtime.local.controller import events, leaves, stops
from flowdsl.runtime.local.controller.cache import Cache
from flowdsl.runtime.local.controller.execution import Execution
from flowdsl.runtime.local.controller.names import any_string
from flowdsl.runtime.local.controller.node import Json, Node, Panic
from flowdsl.runtime.local.controller.protocols import Call
from flowdsl.runtime.local.controller.run import Run
from flowdsl.runtime.local.controller.tags import ArgoError
from flowdsl.runtime.local.controller.templates import Templates
from flowdsl.runtime.local.controller.workflow import (
    EarlyError,
    marks,
    of_parameters,
    settled,
    spec_of,
    variables,
    whole_marks,
)
from flowdsl.runtime.local.controller.workflow_hooks import WorkflowHooks
from flowdsl.runtime.parts import name_of, part, several
from flowdsl.runtime.phases import ERROR, FAILED, RUNNING, SUCCEEDED

if TYPE_CHECKING:
    from collections.abc import Callable


_FRAMES = ("Steps", "DAG")
OPERATION_ERROR = "Workflow operation error"
"""The message of an entrypoint that is still running when the run ends in an error (markWorkflowPhase)."""


class Machine:
    """The state machine of one run. `handle` takes an event and returns the actions that follow from it.

    With an `act`, each action is passed to it immediately, and `handle` returns none: the first pods of a large
    graph run while the machine still processes the others.

    `references` are the WorkflowTemplates and ClusterWorkflowTemplates that the workflow may name, `config` the
    known ConfigMaps, `cache` the entries that earlier runs stored for `memoize`.
    """

    def __init__(
        self,
        manifest: Json,
        references: list[Json] | None = None,
        config: dict[str, dict[str, str]] | None = None,
        cache: Cache | None = None,
    ) -> None:
        self.manifest = manifest
        self.marks = marks(manifest)
        """The labels and annotations of the run."""
        self.references = references or []
        self.run = run = Run(manifest, config or {}, cache or Cache())
        self.phase = ""
        self.message = ""
        self.started = 0.0
        self._chance = Chance("")
        """The random values of expressions: the same when the events of the run are replayed."""
        self.finished: float | None = None
        self._entry: Node | None = None
        self._hooks = WorkflowHooks(run, self._note_end, self._finish)
        texts = [json_of(document, escape=False) for document in (manifest, *self.references)]
        self._asks_duration = any("workflow.duration" in text for text in texts)
        self._asked_wake: float | None = None
        self._ended = False
        self.act: Callable[[events.Action], None] | None = None
        self._actions: list[events.Action] = []

        def execute(call: Call) -> None:
            Execution(run, call).begin()

        run.execute = execute
        run.act = self._acted

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes of the run, by name."""
        return self.run.nodes

    # --- events ------------------------------------------------------------------------------------

    def handle(self, event: events.Event) -> list[events.Action]:
        """The actions that follow from an event."""
        if self._ended:
            return []
        if isinstance(event, events.Started):
            self._chance = Chance(f"{self.run.name} {event.now!r}")
        try:
            with by(self._chance):
                self._operate(event)
        except Panic as panic:
            if self.run.awaits_pods():  # it cannot end yet, and panics in each pass
                self.run.agenda.stall()
                self._look_ahead()
            else:
                self._give_up(str(panic))
        actions, self._actions = self._actions, []
        return actions

    def _operate(self, event: events.Event) -> None:
        """Process an event. Raises Panic."""
        before = self.run.now
        self.run.count_pass()
        self.run.now = max(self.run.now, event.now)
        if self._asks_duration:
            self.run.globals["workflow.duration"] = f"{self.run.now - self.started:f}"
        match event:
            case events.Started():
                self._start()
            case events.PodRunning(_, node, ip):
                leaves.pod_runs(self.run, self.run.by_id[node], ip)
            case events.PodEnded(_, node, outcome):
                leaves.pod_ended(self.run, self.run.by_id[node], outcome, over=self.finished is not None)
            case events.Woken():
                pass
            case events.Resumed(_, node, given):
                self._resumed(node, given)
            case events.TakenUp(now):
                leaves.taken_up(self.run, max(0.0, now - before))
            case events.ShutDown(_, strategy):
                self._shut_down(strategy)
        stops.give_up(self.run)
        self.run.agenda.resume()
        self._tick()
        if self._hooks.exit is not None:
            self._hooks.note_failures()
        self.run.look()
        full = self.run.parallelism.full
        self.run.drain()
        if self.run.parallelism.saturated() and not full:
            self.run.parallelism.ask_again()
            self.run.drain()
        self._advance(full)

    def _give_up(self, message: str) -> None:
        """End the run with an error of the controller, which stops working on it."""
        node = self.run.nodes[self.run.name]
        if node.phase == RUNNING:
            node.mark(self.run.now, ERROR, OPERATION_ERROR)
        self.run.running.clear()
        self._finish(ERROR, message)
        self._note_end()

    def _acted(self, action: events.Action) -> None:
        if self.act is not None:
            self.act(action)
        else:
            self._actions.append(action)

    def _tick(self) -> None:
        self.run.agenda.tick(self.run.now)
        if self._asked_wake is not None and self._asked_wake <= self.run.now:
            self._asked_wake = None

    # --- the run -----------------------------------------------------------------------------------

    def _start(self) -> None:
        self.started = self.run.now
        self.phase = RUNNING
        try:
            spec = spec_of(self.manifest, self.references)
            self.run.globals, self.marks = variables(self.manifest, spec, self.run.config, self.run.now)
            self.run.spec = settled(spec, self.run.globals)
            self.run.globals |= {"workflow.status": "", "workflow.duration": "0.000000"}
            self.run.settled |= self.run.globals
        except ArgoError as error:
            self._finish(ERROR if isinstance(error, EarlyError) else FAILED, str(error))
            return
        self.run.agenda.in_next_pass(self._second_pass)
        self.run.strategy = self.run.spec.get("shutdown") or None
        named = "" if part(self.manifest, "spec").get("workflowTemplateRef") else self.run.name
        self.run.templates = Templates(named, spec, self.references)
        self.run.arguments = part(self.run.spec, "arguments")
        claims = several(self.run.spec, "volumeClaimTemplates")
        self.run.volumes = [
            *(several(self.run.spec, "volumes")),
            *(_claim(self.run.name, one) for one in claims),
        ]
        self.run.parallelism.limit = int(self.run.spec.get("parallelism") or 0)
        self.run.parallelism.narrow = self.run.parallelism.limit > 0
        self._hooks.read()
        seconds = self.run.spec.get("activeDeadlineSeconds")
        if seconds is not None:
            self.run.deadline = float(int(self.started) + int(any_string(seconds)))
            self.run.agenda.at(
                self.run.deadline, lambda: stops.too_late(self.run), self._deadline_ends_something
            )
        if self.run.spec.get("suspend"):
            self.message = "Workflow is suspended"
            return
        self._enter()

    def _second_pass(self) -> None:
        """Visit again everything that has started, with the variables that the controller has set by then."""
        later = whole_marks(self.marks)
        if not part(self.manifest, "spec").get("workflowTemplateRef"):  # its spec is read as it was stored
            later |= of_parameters(self.run.arguments, self.run.config)
        for name, text in later.items():
            self.run.globals[name] = text
        for key in part(part(self.run.spec, "workflowMetadata"), "labelsFrom"):
            del self.run.globals[f"workflow.labels.{key}"]  # Argo has computed ones in its first pass only
        self.run.globals["workflow.status"] = RUNNING
        self.run.begin_pass()
        for node in self.run.nodes.values():
            self.run.changed(node)

    def _enter(self) -> None:
        """Acquire the locks of the workflow, and execute its entrypoint."""
        wanted = self.run.spec.get("synchronization")
        if wanted:
            try:
                self.run.acquire("", wanted, self._enter, lambda _: None)  # nothing else holds one
            except ArgoError as error:
                self._finish(FAILED, f"Failed to acquire the synchronization lock. {error}")
                return
        self.phase, self.message = RUNNING, ""
        self.run.call(
            Call(
                self.run.name,
                {"template": self.run.spec.get("entrypoint")},
                self.run.arguments,
                self.run.templates.local,
                None,
                created=self._entered,
                failed=self._entry_failed,
            )
        )

    def _entered(self, node: Node) -> None:
        self._entry = node

    def _entry_failed(self, node: Node, error: str) -> None:
        goes_on = self.run.goes_on()
        if not node.completed:
            self.run.mark(node, ERROR, error if goes_on else OPERATION_ERROR)
        if not goes_on:
            self._finish(ERROR, f"error in entry template execution: {error}")

    def _advance(self, full: bool) -> None:
        """Continue after the end of the entrypoint, and check whether anything can still happen.

        `full`: whether this pass began without a free place. Then it ends at an entrypoint that is still running.
        """
        if self._entry is not None and self.phase == RUNNING and (self._entry.fulfilled or not full):
            self._hooks.go_on(self._entry)
        self._note_end()
        if not self._ended:
            self._look_ahead()

    def _note_end(self) -> None:
        """Set the phase of the workflow once the entrypoint and the exit handler have ended."""
        entry, last = self._entry, self._hooks.exit
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
            self.run.act(events.Ended(ended, self.message))

    def _never_ended(self, daemons: list[Node]) -> None:
        """Daemons of a template that ended in an error of its own: Argo never ends them, nor the run."""
        if not self.run.awaits_pods():
            reason = f"{', '.join(node.name for node in daemons)}: a daemon whose template ended in an error"
            self._finish(ERROR, f"Argo would wait for ever: {reason}")

    def _finish(self, phase: str, message: str) -> None:
        if self.finished is None:
            self.phase, self.message, self.finished = phase, message, self.run.now
            self.run.globals["workflow.status"] = phase
            if self._entry is not None and self._entry.name != self.run.name:  # a group of it is the entry
                self.run.mark(self.run.nodes[self.run.name], ERROR, OPERATION_ERROR)
            for node in list(self.run.nodes.values()):
                if node.daemoned:
                    self.run.end_daemon(node)

    def _look_ahead(self) -> None:
        """Request a wake-up for the next timer; if nothing can happen any more, report what the run waits for."""
        soonest = self.run.agenda.next_timer()
        if soonest is not None:
            if self._asked_wake is None or soonest < self._asked_wake:
                self._asked_wake = soonest
                self.run.act(events.WakeAt(soonest))
        elif not self._something_may_end() and not self.run.spec.get("suspend"):
            self._finish(ERROR, f"Argo would wait for ever: {'; '.join(self._stuck())}")
            self._note_end()

    def _something_may_end(self) -> bool:
        """Whether anything runs, is suspended, or waits for a retry."""
        return bool(self.run.running or self.run.suspended or self.run.backing_off)

    def _deadline_ends_something(self) -> bool:
        """Whether the deadline of the run will fail anything, including nodes that wait for a lock."""
        return self._something_may_end() or bool(self.run.locks.waiting())

    def _stuck(self) -> list[str]:
        """What the run waits for, when nothing can happen any more."""
        found = [reason for frame in self.run.frames.values() for reason in frame.stuck()]
        found += [f"{node.name}: {node.message}" for node in self.run.nodes.values() if node.lock]
        found += [
            f"{node.name}: a loop over an empty text, whose template Argo never begins"
            for node in self.run.nodes.values()
            if node.type == "TaskGroup" and not node.fulfilled and not node.children
        ]
        inner = {
            node.boundary.name for node in self.run.nodes.values() if node.boundary and not node.fulfilled
        }
        found = found or [
            f"{name}: a graph whose tasks have all ended" for name in self.run.frames if name not in inner
        ]
        left = [node.name for node in self.run.nodes.values() if node.type in _FRAMES and not node.fulfilled]
        return found or [f"{name}: nothing goes on in it" for name in left if name not in self.run.frames]

    # --- suspension, shutdown, deadline ------------------------------------------------------------

    def waits_for_somebody(self) -> list[Node]:
        """The suspended nodes, if nothing else can continue until they are resumed; deadlines may pass meanwhile."""
        at_work = any(not self.run.by_id[name].daemoned for name in self.run.running)
        timed = any(until is not None for _, until in self.run.suspended.values())
        if at_work or timed or self.run.backing_off:
            return []
        return self.suspended()

    def suspended(self) -> list[Node]:
        """The suspended nodes."""
        return [self.run.by_id[name] for name in self.run.suspended]

    def _resumed(self, node: str, given: dict[str, str]) -> None:
        if self.run.spec.get("suspend") and self._entry is None:
            self.run.spec = {**self.run.spec, "suspend": False}
            self._enter()
        elif node in self.run.suspended:
            leaves.resume(self.run, self.run.by_id[node], given)

    def _shut_down(self, strategy: events.Strategy) -> None:
        self.run.strategy = strategy
        self.run.spec = {**self.run.spec, "shutdown": strategy}
        if self._entry is None:
            self._finish(FAILED, f"Stopped with strategy '{strategy}'")
            return
        if part(self.manifest, "spec").get("workflowTemplateRef") and not self.run.may_run(on_exit=True):
            # Argo looks for the node of the exit handler in the template, which has none.
            self._hooks.leave_exit(self._entry)
        stops.shut_down(self.run, strategy)


def _claim(run: str, template: Json) -> Json:
    name = name_of(template)
    return {"name": name, "persistentVolumeClaim": {"claimName": f"{run}-{name}"}}
