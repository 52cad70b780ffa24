"""The hooks of a task, a step, or the workflow: tasks that run when an expression about it becomes true, or at its end.

Sources: workflow/controller/{hooks,exit_handler}.go of Argo 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.grammar.error import GrammarError
from flowdsl.runtime.expressions.evaluate import evaluate
from flowdsl.runtime.expressions.values import ExpressionError
from flowdsl.runtime.local.names import any_string
from flowdsl.runtime.local.node import RUNNING, Json, Node
from flowdsl.runtime.local.scope import Scope, Variables
from flowdsl.runtime.local.shapes import part, several
from flowdsl.runtime.local.tags import ArgoError, replaced
from flowdsl.runtime.local.templates import located

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.runtime.local.frame import Frame
    from flowdsl.runtime.local.run import Run

EXIT = "exit"


def exit_hook(holder: Json, arguments: Json) -> Json | None:
    """What runs when a task, a step, or the workflow has ended, with the workflow's arguments where it has none."""
    if holder.get("onExit"):
        return {"template": holder["onExit"], "arguments": arguments}
    hook = part(holder, "hooks").get(EXIT)
    if hook is None:
        return None
    own = part(hook, "arguments")
    return hook if own.get("parameters") or own.get("artifacts") else {**hook, "arguments": arguments}


def truth(expression: str, scope: Scope) -> bool:
    """Whether an expression is true. Raises ArgoError."""
    try:
        value = evaluate(expression, scope.tree)
    except (ExpressionError, GrammarError) as error:
        raise ArgoError(f"failed to evaluate expression: {error}: {expression}") from None
    if not isinstance(value, bool):
        raise ArgoError(f"unable to cast expression result '{value}' to bool: {expression}")
    return value


class Hooks:
    """The hooks of one node. `settled` is called when the node has ended, and each hook that was started.

    `refused` gets the error of a hook that cannot be judged or executed, and whether it is the exit hook.
    """

    def __init__(
        self,
        frame: Frame,
        node: Node,
        holder: Json,
        prefix: str,
        scope: Callable[[], Scope],
        settled: Callable[[Node], None],
        refused: Callable[[str, bool], None],
    ) -> None:
        self.frame = frame
        self.machine: Run = frame.machine
        self.node = node
        self.prefix = prefix
        self.task = str(holder["name"])
        self.others = {name: hook for name, hook in part(holder, "hooks").items() if name != EXIT}
        self.exit = exit_hook(holder, self.machine.arguments)
        self.scope = scope
        self.settled = settled
        self.refused = refused
        self.started: set[str] = set()
        self.open = 0
        self.ended = False
        self.told = False

    def changed(self) -> None:
        """The phase of the node is another: look whether a hook is to run."""
        if not (self.node.fulfilled or self.node.phase == RUNNING):
            return
        for name, hook in self.others.items():
            full = f"{self.node.name}.hooks.{name}"
            if full in self.started:
                continue
            if not hook.get("expression"):
                self.refuse(f"Expression required for hook {full}")
                return
            try:
                wanted = truth(hook["expression"], self._scope())
            except ArgoError as error:
                self.refuse(str(error))
                return
            if wanted:
                self.run(full, hook, on_exit=False)
        if self.node.fulfilled and not self.ended:
            self.ended = True
            self._exit()
        self._tell()

    def refuse(self, message: str) -> None:
        """No hook runs after one that cannot be judged."""
        self.others = {}
        self.exit = None
        self.ended = self.ended or self.node.fulfilled
        self.refused(message, False)
        self.ended = True
        self._tell()

    def _exit(self) -> None:
        hook = self.exit
        if hook is None or not self.node.completed or not self.machine.may_run(on_exit=True):
            return
        try:
            if not hook.get("expression") or truth(hook["expression"], self._scope()):
                self.run(f"{self.node.name}.onExit", hook, on_exit=True)
        except ArgoError as error:
            self.refused(str(error), True)

    def run(self, name: str, hook: Json, *, on_exit: bool) -> None:
        """Run the template of a hook."""
        self.started.add(name)
        self.open += 1
        arguments: Json = part(hook, "arguments")
        scope = self._scope()
        try:
            if arguments and (on_exit or self.node.result().outputs is not None):
                arguments = hook_arguments(self.frame, arguments, scope)
        except ArgoError as error:
            self.open -= 1
            self.refused(str(error), on_exit)
            return
        self.machine.call(
            name,
            hook,
            arguments,
            base=self.frame.base,
            frame=self.frame,
            on_exit=on_exit or self.frame.on_exit,
            hooked=True,
            created=self.node.adopt,
            done=lambda _, error: self._hook_ended(error, on_exit),
        )

    def _hook_ended(self, error: str | None, on_exit: bool) -> None:
        self.open -= 1
        if error is not None:
            self.refused(error, on_exit)
        self._tell()

    def _tell(self) -> None:
        if self.ended and not self.open and not self.told and self.node.fulfilled:
            self.told = True
            self.settled(self.node)

    def _scope(self) -> Scope:
        """What the hooks of a node see: what its task sees, and its own status and outputs."""
        own = Variables({f"{self.prefix}.{self.task}.status": self.node.phase})
        outputs = self.node.result().outputs or {}
        for one in several(outputs, "parameters"):
            own[f"{self.prefix}.{self.task}.outputs.parameters.{one['name']}"] = any_string(one.get("value"))
        for one in several(outputs, "artifacts"):
            own[f"{self.prefix}.{self.task}.outputs.artifacts.{one['name']}"] = one
        return self.scope().with_layer(own)


def hook_arguments(frame: Frame, arguments: Json, scope: Scope) -> Json:
    """The arguments of a hook with their tags replaced; what cannot be is left. Raises ArgoError."""
    made: Json = replaced(arguments, scope, "nothing")
    if made.get("artifacts"):
        brought = [
            one if located(one) else frame.artifact(one, scope, steps=True) for one in made["artifacts"]
        ]
        made = {**made, "artifacts": [one for one in brought if one is not None]}
    return made
