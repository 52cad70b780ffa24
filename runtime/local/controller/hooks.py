"""Lifecycle hooks of a task, step or workflow, which run when an expression becomes true or at its end.

Sources: workflow/controller/{hooks,exit_handler}.go of Argo 4.1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING

from flowdsl.compiler.evaluation import evaluate
from flowdsl.compiler.evaluation.values import ExpressionError
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.local.controller.arguments import marked, of_step
from flowdsl.runtime.local.controller.names import any_string
from flowdsl.runtime.local.controller.node import Json, Node, read
from flowdsl.runtime.local.controller.parallelism import FULL
from flowdsl.runtime.local.controller.protocols import Call
from flowdsl.runtime.local.controller.run import TIMEOUT
from flowdsl.runtime.local.controller.scope import Scope, Variables
from flowdsl.runtime.local.controller.tags import ArgoError, replaced
from flowdsl.runtime.local.controller.templates import located
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.phases import ERROR, RUNNING

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.runtime.local.controller.frame import Frame
    from flowdsl.runtime.local.controller.run import Run

EXIT = "exit"


def hooked(holder: Json) -> bool:
    """Whether a task or step has hooks."""
    return bool(holder.get("hooks") or holder.get("onExit"))


def exit_hook(holder: Json, arguments: Json) -> Json | None:
    """The exit hook of a task, step or workflow, with the workflow's arguments if it has none."""
    if holder.get("onExit"):
        return {"template": holder["onExit"], "arguments": arguments}
    hook = part(holder, "hooks").get(EXIT)
    if hook is None:
        return None
    own = part(hook, "arguments")
    return hook if own.get("parameters") or own.get("artifacts") else {**hook, "arguments": arguments}


def truth(expression: str, scope: Scope) -> bool:
    """Evaluate an expression to a boolean. Raises ArgoError."""
    try:
        return evaluate.truth(expression, scope.tree)
    except (ExpressionError, GrammarError) as error:
        raise ArgoError(str(error)) from None


class Names(NamedTuple):
    """The names by which the hooks of a node refer to its status, and to its outputs."""

    status: str
    outputs: str


class Order:
    """The order in which Argo checks the hooks of the steps of a group: none after a step with a running hook."""

    def __init__(self) -> None:
        self._running: list[tuple[int, Hooks]] = []

    def begun(self, place: int, hooks: Hooks) -> None:
        """Note that a hook of a step is running."""
        if self.before(place) is None:
            self._running.append((place, hooks))

    def before(self, place: int) -> Hooks | None:
        """The hooks of the first step with a running one, if it precedes a place."""
        while self._running and not self._running[-1][1].running:
            self._running.pop()
        return self._running[-1][1] if self._running and self._running[-1][0] < place else None


class Hooks(ABC):
    """The lifecycle hooks of one node; the graph that contains the node reports its changes.

    `names`: how hooks refer to the node. `waits`: hooks are not checked while the node is pending. `rank`: among
    nodes that wait for a free place, its hooks precede those of a higher rank. `order` and `place`: its position
    among the nodes with which it is checked. `made`: the pass in which it was created.
    """

    again: Callable[[str], None] | None = None
    """Called when the running hooks are checked for a free place again, and there is none."""

    def __init__(
        self,
        frame: Frame,
        node: Node,
        names: Names,
        *,
        waits: bool,
        rank: int,
        order: Order | None = None,
        place: int = 0,
    ) -> None:
        self.order = order
        self.place = place
        self.frame = frame
        self.run: Run = frame.run
        self.made = self.run.agenda.passes
        self.node = node
        self.names = names
        self.waits = waits
        self.rank = rank
        self.others: dict[str, Json] = {}
        self.exit: Json | None = None
        self.started: set[str] = set()
        self.open = 0
        self.running = 0
        """How many of those are not exit hooks."""
        self.kept: list[tuple[Node, Callable[[], None]]] = []
        """The postponed actions in the node, for when none of those runs any more."""
        self.ended = False
        self.left = False
        """Whether its exit hook has had its turn."""
        self.leaving = False
        """Whether its exit hook waits for the other running hooks."""
        self.spoilt = False
        self.told = False

    @abstractmethod
    def holder(self) -> Json:
        """The task or step with its hooks, with the current variables of the workflow. Raises ArgoError."""

    @abstractmethod
    def scope(self) -> Scope:
        """The variables of the task or step."""

    @abstractmethod
    def settled(self) -> None:
        """The node, and each hook that was started, have ended."""

    @abstractmethod
    def refused(self, message: str, on_exit: bool) -> None:
        """A hook, or with `on_exit` the exit hook, cannot be evaluated or executed."""

    def looked(self) -> bool:
        """Whether Argo checks the node again when a daemon, which has settled, ends."""
        return True

    def goes_on_without(self) -> bool:
        """Whether the successors of the node continue while its exit hook, now due, has no place."""
        return False

    def comes_back(self) -> bool:
        """Whether Argo visits the node again, and requests the exit hook that had no place."""
        return True

    def turn(self, begin: Callable[[], None]) -> None:
        """Start the exit hook in its turn, which may never come."""
        begin()

    def changed(self) -> None:
        """The phase of the node has changed: check whether a hook has to run."""
        if self.waits and not (self.node.fulfilled or self.node.phase == RUNNING):
            return
        before = None if self.order is None else self.order.before(self.place)
        if before is not None and before.postpones(self.frame.node, self.changed):
            return
        if not self.run.parallelism.postpones(self.frame, self.changed):
            self.check()

    def check(self) -> None:
        """Check whether a hook has to run, as Argo visits the node."""
        if self.spoilt and self.node.fulfilled and self.node.phase != ERROR and self._looked():
            # Its pod has ended meanwhile: the hooks are judged again, and are an error again.
            self.spoilt = self.ended = False
        if not self.spoilt and not self._read():
            return
        # The exit hook of a node that could not start is left to the next pass.
        late = self.ended or self.node.type == "Skipped"
        self.ended = self.ended or self.node.fulfilled
        at_once = not self.node.late and (self.made == self.run.agenda.passes or (self.waits and not late))
        if self.node.completed and self.node.type == "TaskGroup" and at_once:
            # Argo continues after a loop that ends when it visits it, and checks its hooks if it visits it again.
            if not late:
                self.run.agenda.in_next_pass(self.changed)
            self._tell()
            return
        told = self.node.told == self.run.agenda.passes
        visited = self.order is None and self.node.completed and not late
        if visited and (told or self.node.ends_on_visits):
            # Its exit hook, and successors, start before the other hooks are checked.
            if not told and self.node.type != "TaskGroup":
                self._due(late)
            # The end of a loop is detected last.
            leaves = self.node.type == "TaskGroup" and self.exit is not None
            if not self.waits and not self._judge():
                return
            if self.waits or leaves:
                self.run.agenda.in_next_pass(self.changed)
            if leaves:
                return
        elif (not self.ended or self._looked()) and not self._judge():
            return
        if not told:
            self._due(late)
        elif not self.waits:
            self.run.agenda.in_next_pass(self.changed)
        self._tell()

    def _due(self, late: bool) -> None:
        """Start the exit hook if its node has ended and no other hook is running."""
        if self.node.completed and self.node.fulfilled and not self.left:
            self.left = True
            self.leaving = not late or self._looked()
        self._leave()

    def _looked(self) -> bool:
        return not self.frame.over and self.looked()

    def _judge(self) -> bool:
        """Start the hooks whose expressions are true, except the exit hook; return whether all could be evaluated."""
        for name, hook in self.others.items():
            full = f"{self.node.name}.hooks.{name}"
            if full in self.started:
                continue
            if not hook.get("expression"):
                self.refuse(f"Expression required for hook {full}")
                return False
            try:
                wanted = truth(hook["expression"], self._scope())
            except ArgoError as error:
                self.refuse(str(error))
                return False
            if wanted:
                self.start(full, hook, on_exit=False)
        return True

    def _read(self) -> bool:
        try:
            holder = self.holder()
        except ArgoError as error:
            self.refuse(str(error))
            return False
        self.others = {name: hook for name, hook in part(holder, "hooks").items() if name != EXIT}
        self.exit = exit_hook(holder, self.run.arguments)
        return True

    def postpones(self, within: Node, action: Callable[[], None]) -> bool:
        """Whether work inside of the node waits for its hooks: Argo does not visit a task with a running hook."""
        if self.running and not self.frame.over:
            self.kept.append((within, action))
            return True
        return False

    def refuse(self, message: str) -> None:
        """Start no hook after one that cannot be evaluated."""
        self.spoilt = True
        self.others = {}
        self.exit = None
        self.ended = self.ended or self.node.fulfilled
        self.refused(message, False)
        self.ended = True
        self._tell()

    def wrong(self) -> str:
        """Why a hook cannot be evaluated or started now, or empty: the graph of a target checks again (executeDAG)."""
        try:
            for name, hook in part(self.holder(), "hooks").items():
                if name != EXIT and truth(hook.get("expression") or "", self._scope()) and self._full():
                    return FULL
        except ArgoError as error:
            return str(error)
        return ""

    def _leave(self) -> None:
        if not self.leaving or self.open:
            return
        self.leaving = False
        hook = self.exit
        if hook is None or not self.run.may_run(on_exit=True):
            return
        try:
            if hook.get("expression") and not truth(hook["expression"], self._scope()):
                return
        except ArgoError as error:
            self.refused(str(error), True)
            return
        self.open += 1
        self.turn(partial(self._take_turn, hook))

    def _take_turn(self, hook: Json) -> None:
        self.open -= 1
        self.start(f"{self.node.name}.onExit", hook, on_exit=True)

    def start(self, name: str, hook: Json, *, on_exit: bool) -> None:
        """Execute the template of a hook."""
        self.started.add(name)
        self.open += 1
        try:
            known = on_exit or read(self.node).outputs is not None
            arguments: Json = self._supplied(hook) if known else part(hook, "arguments")
        except ArgoError as error:
            self.open -= 1
            self.refused(str(error), on_exit)
            return
        self.run.parallelism.after_those_within(
            self.frame, self.rank, lambda: self._call(name, hook, arguments, on_exit)
        )

    def _supplied(self, hook: Json) -> Json:
        """The arguments of a hook, with the outputs of its node. Raises ArgoError."""
        arguments: Json = part(hook, "arguments")
        return (
            hook_arguments(arguments, self._scope().with_layer(self._outputs())) if arguments else arguments
        )

    def _now(self, hook: Json, made_at: int) -> Json:
        """An exit hook that has waited for a place, with the current variables. Raises ArgoError."""
        if self.run.settled_at == made_at:
            return hook
        found = exit_hook(self.holder(), self.run.arguments) or hook
        return {**found, "arguments": self._supplied(found)}

    def _call(self, name: str, hook: Json, arguments: Json, on_exit: bool) -> None:
        """Execute the template if there is a free place; most hooks do not wait for one (checkParallelism)."""
        if self.frame.over or self.frame.frozen():
            return
        went_on = False
        if self._full():
            if not on_exit:
                self.hook_ended(FULL, on_exit)
                return
            if self.frame.turns_away(lambda: self._call(name, hook, arguments, on_exit), self.misses):
                return
            self.misses()
            if went_on := self.goes_on_without():
                self.open -= 1
                self._tell()
        execution = _Execution(self, name, on_exit=on_exit, went_on=went_on)
        self.run.call(
            Call(
                name,
                hook,
                arguments,
                self.frame.base,
                self.frame,
                on_exit=on_exit or self.frame.on_exit,
                hooked=True,
                rank=self.rank,
                created=execution.created,
                failed=execution.failed,
                now=partial(self._now, hook, self.run.settled_at) if on_exit else None,
                kept=self._kept if on_exit else None,
            )
        )
        if not on_exit:
            self._count()

    def _count(self) -> None:
        """Count a hook that has begun among the running ones."""
        self.running += 1
        if self.order is not None:
            self.order.begun(self.place, self)
        if self.again is None:
            return
        if self.made == self.run.agenda.passes:  # in which the hooks of the node are checked only once
            self.run.agenda.in_next_pass(self._ask_again)
        else:
            self._ask_again()

    def misses(self) -> None:
        """Note that the exit hook has no place: Argo has recorded a child that does not exist."""
        if not self.node.announced:
            self.node.announced = True
            self.run.agenda.in_next_pass(partial(self.run.within, self.frame.node, self._read_node))

    def _read_node(self) -> None:
        """Read the node, as Argo does on each visit. Raises Panic."""
        if self._looked():
            read(self.node)

    def _kept(self, gate: Callable[[], None]) -> bool:
        """Whether an exit hook that had no place is never requested again."""
        return self.node.announced and not self.frame.over and not self.comes_back()

    def _full(self) -> bool:
        return self.run.parallelism.saturated() or self.frame.blocked()

    def _ask_again(self) -> None:
        if not self.run.parallelism.postpones(None, self._ask_again):
            self.run.parallelism.asked.append(self._asked)

    def _asked(self) -> None:
        if self.running and not self.frame.over and self.again is not None:
            self.again(FULL)

    def hook_ended(self, error: str | None, on_exit: bool) -> None:
        """Go on after the end of a hook, or with an `error` why it did not start."""
        self.open -= 1
        self.running -= not on_exit and error != FULL
        if not self.running:
            kept, self.kept = self.kept, []
            for within, action in kept:
                self.run.within(within, action)
        if error is not None:
            self.refused(error, on_exit)
        self._leave()
        if self.told:
            self.run.agenda.later(self.frame.go_on)
        self._tell()

    def _tell(self) -> None:
        if self.ended and not self.open and not self.told and self.node.fulfilled:
            self.told = True
            self.settled()

    def _scope(self) -> Scope:
        """The variables of hook expressions: those of the task, and the status of the node, but not its outputs."""
        return self.scope().with_layer(Variables({f"{self.names.status}.status": self.node.phase}))

    def _outputs(self) -> Variables:
        """The outputs of the node, which only the arguments of its hooks see (resolveExitTmplArgument)."""
        own = Variables()
        outputs = read(self.node).outputs or {}
        for one in several(outputs, "parameters"):
            own[f"{self.names.outputs}.outputs.parameters.{one['name']}"] = any_string(one.get("value"))
        for one in several(outputs, "artifacts"):
            own[f"{self.names.outputs}.outputs.artifacts.{one['name']}"] = one
        return own


class _Execution:
    """The template of one hook, as it is executed: what follows from its node, and from its end.

    `went_on`: the successors of the hook's node have not waited for it.
    """

    def __init__(self, hooks: Hooks, name: str, *, on_exit: bool, went_on: bool) -> None:
        self._hooks = hooks
        self._name = name
        self._on_exit = on_exit
        self._went_on = went_on
        self._over = False

    def created(self, node: Node) -> None:
        """Adopt the node of the hook."""
        hooks = self._hooks
        if self._on_exit:
            hooks.node.announced = False
            hooks.open += self._went_on
        hooks.node.adopt(node)
        if self._on_exit:
            hooks.run.leaving[self._name] = self._ended
            if hooks.node.id in hooks.run.held:  # Argo visits it with its node
                hooks.run.held[node.id] = hooks.run.held[hooks.node.id]
        hooks.run.when_fulfilled(node, partial(self._fulfilled, node))

    def failed(self, _: Node, error: str) -> None:
        """Note why the hook could not start."""
        # One that has waited too long has ended when Argo checks it again.
        self._ended(None if error == TIMEOUT else error)

    def _fulfilled(self, node: Node) -> None:
        self._ended()
        tried = self._hooks.run.retries.get(self._hooks.node.id)
        if node.retried and tried is not None:
            tried.ended(node, None)

    def _ended(self, error: str | None = None) -> None:
        self._hooks.run.leaving.pop(self._name, None)
        if not self._over:
            self._over = True
            self._hooks.hook_ended(error, self._on_exit)


def hook_arguments(arguments: Json, scope: Scope) -> Json:
    """The arguments of a hook with their tags replaced; unresolvable tags stay. Raises ArgoError."""
    made: Json = replaced(marked(arguments, scope), scope, "nothing")
    if made.get("artifacts"):
        brought = [one if located(one) else of_step(one, scope) for one in made["artifacts"]]
        made = {**made, "artifacts": [one for one in brought if one is not None]}
    return made
