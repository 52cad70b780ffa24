"""The common base of DAGs and steps during execution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.runtime.local.controller import items
from flowdsl.runtime.local.controller.names import any_string
from flowdsl.runtime.local.controller.node import Json, Node, read
from flowdsl.runtime.local.controller.parallelism import Places
from flowdsl.runtime.local.controller.scope import Record
from flowdsl.runtime.local.controller.tags import ArgoError, tagged
from flowdsl.runtime.local.controller.templates import Base, input_variables
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.phases import ERROR, FAILED, OMITTED, SKIPPED, SUCCEEDED
from flowdsl.runtime.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.runtime.local.controller.protocols import Boundary, Call, Leaf
    from flowdsl.runtime.local.controller.run import Run

FAIL_FAST = "template has failed or errored children and failFast enabled"


class Frame:
    """A template of type steps or dag in execution: the boundary of its children."""

    def __init__(self, run: Run, execution: Leaf, node: Node, template: Json, base: Base) -> None:
        self.execution = execution
        self.run = run
        self.node = node
        self.template = template
        self.base = base
        call = execution.call
        self.written = (
            run.templates.written(call.base, call.holder)[1] if run.templates.defaults else template
        )
        """The template as children see it: without the defaults, which Argo ignores there (GetTemplateByBoundaryID)."""
        self.on_exit = call.on_exit
        self.origin = execution.origin
        self.inputs = input_variables(template)
        if template.get("parallelism"):
            run.parallelism.narrow = True
        self._made_at = self._seen = run.globals.changes
        self._again: dict[str, tuple[int, dict[str, Json]]] = {}
        """Tasks and steps by name: after how many changes each was resolved again, and the results by name."""
        self.over = False
        self.inside: dict[str, Boundary] = {}
        """The templates that are executed in this one, by the names of their nodes."""
        self.places = Places()
        self.daemons: list[Node] = []
        self.lost = ""
        """What is missing below it, so that a graph never ends."""

    def start(self) -> None:
        """Start the children without dependencies."""
        raise NotImplementedError

    def stuck(self) -> list[str]:
        """The children that wait for something that never happens, a sentence each."""
        return []

    def blocked(self) -> bool:
        """Whether no child may start now. Source: checkParallelism."""
        limit = int(self.written.get("parallelism") or 0)
        return self.lets_none_begin() or (bool(limit) and self.places.active >= limit) or self.full()

    def full(self) -> bool:
        """Whether its limit of pods was reached when this pass began: then Argo does not visit it."""
        limit = int(self.template.get("parallelism") or 0)
        return (
            bool(limit)
            and self.places.active_pods >= limit
            and self.places.grown != self.run.agenda.passes
            and not self.node.retried
        )

    def turns_away(self, again: Callable[[], None], missed: Callable[[], None]) -> bool:
        """Whether the exit hook of a child does not wait for a missing place.

        `again` requests one again, and `missed` is called when there is still none.
        """
        return False

    def go_on(self) -> None:
        """Continue after an exit hook that only the end of the frame waited for."""

    def gives_up(self) -> bool:
        """Whether a child has failed, and `failFast` of the template prevents any further start."""
        return self.template.get("failFast") is True and self.places.unsuccessful > 0

    def lets_none_begin(self) -> bool:
        """Whether a child has failed, and `failFast` of the template as written prevents others from starting."""
        return self.written.get("failFast") is True and self.places.unsuccessful > 0

    def turns_down(self, call: Call) -> bool:
        """Whether `failFast` of the template prevents the requested start, which may end the frame."""
        ended = self.fail_fast(begins=True)
        if ended and call.hooked:
            self.misses(f"the hook {call.name}, which had not begun when {self.node.name} failed")
        return ended

    def misses(self, reason: str) -> None:
        """Keep all graphs around it from ending: Argo waits for a node that it recorded here and never creates."""
        frame = self.execution.call.frame
        while frame is not None:
            frame.lost = f"{frame.node.name} waits for {reason}"
            frame = frame.execution.call.frame

    def fail_fast(self, *, begins: bool = False) -> bool:
        """End the frame if `failFast` of the template requires it, and return whether it has ended.

        For an attempt of a template with retries this is checked only when a child starts (checkParallelism).
        """
        asked = self.lets_none_begin() if begins else self.frozen()
        if not self.over and asked and not self.places.active_pods:
            self.daemons.clear()  # Argo never stops those that are retried
            if not begins:  # detected before the template is executed: for its caller it has not ended
                self.node.told = self.run.agenda.passes
            self.abort()
        return self.over

    def fails(self) -> bool:
        """Whether `failFast` has ended it, here or for a child that waits for a place, which Argo visits too."""
        if not self.fail_fast():
            self.places.turn_down(self)
        return self.over

    def comes_to(self, node: Node) -> bool:
        """Whether it is unfinished, and visits a node in it that has ended."""
        return not self.over

    def frozen(self) -> bool:
        """Whether, because of `failFast`, only its running pods continue: when they have ended, it fails."""
        return self.template.get("failFast") is True and self.places.failures > 0 and not self.node.retried

    def abort(self) -> None:
        """Fail immediately, with children that have not started, or not ended."""
        self.finish(FAILED, FAIL_FAST)

    def finish(self, phase: str, message: str | None = None, error: str | None = None) -> None:
        """End with a phase, stop daemons (but not after an error), and let the caller continue."""
        if self.over:
            return
        self.abandon()
        if error is None:
            for daemon in self.daemons:
                self.run.end_daemon(daemon)
            self.run.mark(self.node, phase, message)
        self.execution.body_ended(self.node, error)

    def abandon(self) -> None:
        """Start nothing more, here and in nested frames."""
        self.over = True
        self.places.waiting.clear()
        self.run.end_frame(self)
        for frame in list(self.inside.values()):
            frame.abandon()

    def refuse(self, error: str) -> None:
        """End with an error of the template itself, such as an output that cannot be computed."""
        self.finish(ERROR, error=error)

    def shut_down(self) -> None:
        """End because the run was stopped, and this is not part of an exit handler."""
        raise NotImplementedError

    # --- variables ---------------------------------------------------------------------------------

    def renewed(self, made: Json, raw: Json) -> Json:
        """A part of the template with the current variables of the workflow; `raw` is the part with its tags.

        Raises ArgoError.
        """
        changes = self.run.settled_at
        if changes <= self._made_at:
            return made
        if changes != self._seen:
            self._seen = changes
            inputs = {"inputs": part(self.origin.raw, "inputs")}
            if tagged(inputs):
                self.inputs = input_variables(self.origin.part(inputs))
        return self.origin.part(raw)

    def read_again(self, name: str, holder: Json, read: Callable[[], list[Json]]) -> Callable[[], Json]:
        """A function that resolves a task, step or round again; rounds are read once per change of variables."""
        made_at = self.run.settled_at

        def now() -> Json:
            changes = self.run.settled_at
            if changes == made_at:
                return holder
            if self._again.get(name, (0, {}))[0] != changes:
                self._again[name] = changes, {one["name"]: one for one in read()}
            return self._again[name][1].get(holder["name"], holder)

        return now

    def record(self, node: Node, declared: Callable[[], Json | None], artifacts: bool) -> Record:
        """Record the outputs of a task. Sources: buildLocalScope and addSkippedNodeOutputsToScope."""
        found: Record = {}
        own = node
        node = read(node)
        found["id"] = node.id
        found["startedAt"] = rfc3339(node.started)
        if node.finished is not None:
            found["finishedAt"] = rfc3339(node.finished)
        if node.ip:
            found["ip"] = node.ip
        found["status"] = node.phase
        if node.type == "Pod":
            found["hostNodeName"] = self.run.host
        outputs: Json = node.outputs or {}
        if outputs.get("result") is not None:
            found["outputs.result"] = outputs["result"]
        if outputs.get("exitCode") is not None:
            found["exitCode"] = outputs["exitCode"]
        for one in several(outputs, "parameters"):
            if one.get("value") is not None:
                found[f"outputs.parameters.{one['name']}"] = any_string(one["value"])
        for one in several(outputs, "artifacts"):
            found[f"outputs.artifacts.{one['name']}"] = one
        if own.outputs is None and own.phase in (SKIPPED, OMITTED):
            template = declared()
            promised = part(template, "outputs")
            for one in several(promised, "parameters"):
                default = part(one, "valueFrom").get("default")
                found[f"outputs.parameters.{one['name']}"] = None if default is None else any_string(default)
            if artifacts:
                for one in several(promised, "artifacts"):
                    found[f"outputs.artifacts.{one['name']}"] = {}
        return found

    def declared(self, holder: Json) -> Json | None:
        """The template of a task, or None if it cannot be found."""
        try:
            return self.run.templates.resolve(self.base, holder)[1]
        except ArgoError:
            return None

    def aggregate(self, children: list[Node]) -> Record:
        """The outputs of a loop, from its rounds in order. Source: processAggregateNodeOutputs. Raises ArgoError."""
        rounds = [child for child in children if not child.hooked and not child.retried]
        if not children:
            return {}
        good = [child.outputs for child in rounds if child.outputs and child.phase == SUCCEEDED]
        found: Record = {
            "outputs.result": items.results([one["result"] for one in good if one.get("result") is not None])
        }
        lists = [
            [(one["name"], any_string(one.get("value"))) for one in outputs["parameters"]]
            for outputs in good
            if outputs.get("parameters")
        ]
        found["outputs.parameters"], by_name = items.rows(lists)
        found |= {f"outputs.parameters.{name}": text for name, text in by_name.items()}
        return found

    def declared_outputs(self) -> Json:
        """The outputs that the template declares. Raises ArgoError."""
        raw = {"outputs": part(self.origin.raw, "outputs")}
        return part(self.renewed(self.template, raw), "outputs")
