"""The hooks of a workflow and its exit handler.

They run when the entrypoint has reached a state, or has ended.
Sources: executeWfLifeCycleHook and operate in workflow/controller/{hooks,operator}.go of Argo 4.1.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flowdsl.compiler.evaluation.go_quote import quoted
from flowdsl.compiler.evaluation.values import json_of
from flowdsl.runtime.local.controller.hooks import EXIT, exit_hook, truth
from flowdsl.runtime.local.controller.names import pod_name
from flowdsl.runtime.local.controller.node import Json, Node
from flowdsl.runtime.local.controller.parallelism import FULL
from flowdsl.runtime.local.controller.protocols import Call
from flowdsl.runtime.local.controller.scope import Scope
from flowdsl.runtime.local.controller.tags import ArgoError, replaced
from flowdsl.runtime.parts import part
from flowdsl.runtime.phases import ERROR, SUCCEEDED
from flowdsl.runtime.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.runtime.local.controller.run import Run


class WorkflowHooks:
    """The hooks of a workflow. `ended` checks whether it has ended, `finish` ends it with a phase and a message."""

    def __init__(self, run: Run, ended: Callable[[], None], finish: Callable[[str, str], None]) -> None:
        self._run = run
        self._ended = ended
        self._finish = finish
        self._waiting: dict[str, Json] = {}
        """The hooks that have not started."""
        self._begun: list[Node] = []
        self.exit: Node | None = None
        """The exit handler once it has started, or the entrypoint if nothing runs after that."""
        self._leaves = False
        """Whether the exit handler was requested, which may wait for a free place."""
        self._failures_noted = -1

    def read(self) -> None:
        """Read the hooks from the spec of the run."""
        self._waiting = {name: hook for name, hook in part(self._run.spec, "hooks").items() if name != EXIT}

    def go_on(self, entry: Node) -> None:
        """Start the hooks that are due, after a change of the entrypoint."""
        ran = self._at_work()
        if self._waiting:
            self._note_status(entry)
            self._begin(entry)
            self._run.drain()
            if not entry.fulfilled:  # the next pass starts without them
                self._forget_failures()
        hooked = self._at_work()
        again = ran or (hooked and entry.fulfilled)
        if again and self._run.parallelism.saturated():  # a running hook requires a free place in each pass
            if entry.fulfilled and self._on_exit() is None:
                self.exit = entry
                self._ended()
            self._spoil(entry, FULL)
            self._run.drain()
        elif entry.fulfilled and self.exit is None and not hooked and not self._leaves:
            self._note_status(entry)
            self._leave(entry)
            self._run.drain()

    # --- hooks -------------------------------------------------------------------------------------

    def _begin(self, entry: Node) -> None:
        """Start the hooks of the workflow, except the exit hook (executeWfLifeCycleHook)."""
        for name, hook in list(self._waiting.items()):
            full = f"{self._run.name}.hooks.{name}"
            try:
                if not hook.get("expression"):
                    raise ArgoError(f"Expression required for hook {full}")
                if not truth(hook["expression"], Scope(self._run.globals)):
                    continue
                if self._run.parallelism.saturated():
                    raise ArgoError(FULL)
            except ArgoError as error:
                del self._waiting[name]
                self._spoil(entry, str(error))
                continue
            del self._waiting[name]
            self._run.call(
                Call(
                    full,
                    hook,
                    self._arguments(hook),
                    self._run.templates.local,
                    None,
                    hooked=True,
                    created=partial(self._adopt, entry),
                )
            )

    def _spoil(self, entry: Node, message: str) -> None:
        """End the entrypoint in Error, whatever it has started."""
        if (frame := self._run.frames.get(entry.name)) is not None:
            frame.finish(ERROR, message)
            return
        self._run.mark(entry, ERROR, message)
        for node in (entry, *entry.attempts()):
            self._run.leave(node)

    def _adopt(self, entry: Node, node: Node) -> None:
        self._begun.append(node)
        entry.adopt(node)
        tried = self._run.retries.get(entry.id)
        if node.retried and tried is not None:
            tried.overtaken(node)

    def _at_work(self) -> bool:
        return any(not node.fulfilled for node in self._begun)

    # --- the exit handler --------------------------------------------------------------------------

    def _on_exit(self) -> Json | None:
        """The exit hook, or None."""
        return exit_hook(self._run.spec, self._run.arguments) if self._run.may_run(on_exit=True) else None

    def _leave(self, entry: Node) -> None:
        hook = self._on_exit()
        if hook is None:
            self.exit = entry
            return
        self._leaves = True
        self._run.call(
            Call(
                f"{self._run.name}.onExit",
                hook,
                self._arguments(hook),
                self._run.templates.local,
                None,
                on_exit=True,
                hooked=True,
                created=self._exiting,
                failed=self._exit_failed,
            )
        )

    def leave_exit(self, entry: Node) -> None:
        """Abandon an exit handler that has started."""
        if self.exit is not None and not self.exit.fulfilled:
            self._run.leave(self.exit)
            self.exit = entry

    def _exiting(self, node: Node) -> None:
        self.exit = node

    def _exit_failed(self, node: Node, error: str) -> None:
        if not node.completed:
            self._run.mark(node, ERROR, error)
        if not self._run.goes_on():
            self._finish(ERROR, f"error in exit template execution : {error}")

    # --- their variables ----------------------------------------------------------------------------

    def _arguments(self, hook: Json) -> Json:
        """The arguments of a hook: Argo replaces tags in the spec when a pass begins, those of new outputs later."""
        made: Json = replaced(part(hook, "arguments"), Scope(self._run.overwritten), "nothing")
        return made

    def _note_status(self, entry: Node) -> None:
        phase = {"Skipped": SUCCEEDED, "Omitted": SUCCEEDED}.get(entry.phase, entry.phase)
        self._run.globals["workflow.status"] = phase
        self.note_failures()

    def note_failures(self) -> None:
        """Set `workflow.failures` to the failed nodes so far, including those of a running exit handler."""
        if self._failures_noted != self._run.failures:
            self._failures_noted = self._run.failures
            self._run.globals["workflow.failures"] = quoted(self._failures())

    def _forget_failures(self) -> None:
        self._failures_noted = -1
        del self._run.globals["workflow.failures"]

    def _failures(self) -> str:
        found = [
            {
                "displayName": node.display,
                "message": node.message,
                "templateName": node.template,
                "phase": node.phase,
                "podName": pod_name(self._run.name, node.name, node.template),
                "finishedAt": None if node.finished is None else rfc3339(node.finished),
            }
            for node in self._run.nodes.values()
            if node.failed
        ]
        return f"[{','.join(_object(one) for one in found)}]" if found else "null"


def _object(fields: Json) -> str:
    """The JSON of an object whose keys keep their order, like those of Go's structs."""
    return "{" + ",".join(f"{json_of(name)}:{json_of(value)}" for name, value in fields.items()) + "}"
