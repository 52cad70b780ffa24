"""Executes a template of steps: its groups one after the other, the steps of a group in parallel.

Source: workflow/controller/steps.go of Argo 4.1.
"""

from __future__ import annotations

import heapq
from functools import partial
from typing import TYPE_CHECKING

from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.local.controller.arguments import holds, of_step, outputs_of, resolved
from flowdsl.runtime.local.controller.expansion import expanded
from flowdsl.runtime.local.controller.frame import FAIL_FAST, Frame
from flowdsl.runtime.local.controller.hooks import Hooks, Names, Order, hooked
from flowdsl.runtime.local.controller.items import loops
from flowdsl.runtime.local.controller.node import Json, Node, ends
from flowdsl.runtime.local.controller.parallelism import FULL
from flowdsl.runtime.local.controller.protocols import Call
from flowdsl.runtime.local.controller.run import TIMEOUT
from flowdsl.runtime.local.controller.scope import Record, Results, Scope
from flowdsl.runtime.local.controller.tags import ArgoError, Missing
from flowdsl.runtime.parts import part
from flowdsl.runtime.phases import ERROR, FAILED, RUNNING, SKIPPED, SUCCEEDED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flowdsl.runtime.local.controller.protocols import Leaf
    from flowdsl.runtime.local.controller.run import Run
    from flowdsl.runtime.local.controller.templates import Base


_LAST = 1
"""The rank of exit hooks, which come after all steps of a group; that of steps is 0."""


class _Leaving(NamedTuple):
    """An exit hook that has not started, and what is called when it has no place."""

    place: int
    asked: int
    begin: Callable[[], None]
    missed: Callable[[], None]


class Steps(Frame):
    """The execution of a template of type steps."""

    def __init__(self, run: Run, execution: Leaf, node: Node, template: Json, base: Base) -> None:
        super().__init__(run, execution, node, template, base)
        self.groups: list[list[Json]] = list(template["steps"])
        self.raw: dict[str, Json] = {}
        """The steps of the group with their tags."""
        self.position = -1
        self.group = node
        self.order = Order()
        self.open = 0
        self.goes_on: dict[str, Json] = {}
        self.records: dict[str, Record] = {}
        self.current: dict[str, Node] = {}
        self.missing = ""
        self.unchecked: list[Callable[[], None]] | None = None
        """The checks of hooks that Argo leaves to its next visit, after one could not be evaluated or started."""
        self.judged = -1.0
        """When these hooks were judged again; one that is refused once more at that time ends the group."""
        self.refusal = ""
        self.exits: list[_Leaving] = []
        """The exit hooks of ended steps that have not started: a heap by the positions of the steps."""
        self.placeless = False
        """Whether the first of them had no free place when last requested: meanwhile, the group is an error."""
        self.asked = 0
        """How many of them have been requested."""
        self.held = 0
        """How many exit hooks of daemons in earlier groups run: Argo waits for these first."""

    def start(self) -> None:
        """Start the first group."""
        self._next()

    def _next(self) -> None:
        if self.over:
            return
        before, self.position = self.group, self.position + 1
        if self.position == len(self.groups):
            self._succeed()
            return
        name = f"{self.node.name}[{self.position}]"
        self.order = Order()
        self.group = group = self.run.new_node(name, "StepGroup", RUNNING, self.node, {}, self.base)
        group.plain = True
        if not self.position:
            self.node.adopt(group)
        elif not before.children:
            before.adopt(group)
        else:
            for child in before.children.values():
                for end in ends(child):
                    end.adopt(group)
        self._begin()

    def _begin(self) -> None:
        """Resolve, expand and start the steps of the group."""
        self.current = {}
        self.open = 1
        try:
            steps = self._resolved()
        except Missing as error:
            self.missing = f"{self.group.name}: {error}"
            return
        except ArgoError as error:
            self._fail_group(ERROR, f"failed to resolve references: {error}")
            return
        try:
            made = [one for step, holder in steps for one in self._expanded(step, holder)]
        except ArgoError as error:
            self._fail_group(ERROR, str(error))
            return
        self.open += len(made)
        self.run.agenda.soon(*[partial(self._step, step, holder, self.position) for step, holder in made])
        self.one_settled()

    def _resolved(self) -> list[tuple[Json, Json]]:
        """The steps of the group, each with itself after its tags are replaced. Raises ArgoError, and Missing."""
        raw = self.origin.raw["steps"][self.position]
        pairs = list(zip(self.groups[self.position], raw, strict=True))
        steps = self.groups[self.position] = [self.renewed(step, one) for step, one in pairs]
        self.raw = {step["name"]: one for step, one in pairs}
        scope = self.scope()
        return [(step, resolved(step, scope, of_step)) for step in steps]

    def _expanded(self, step: Json, holder: Json) -> list[tuple[Json, Json]]:
        """A step, or its rounds, each with the step as written except for its hooks. Raises ArgoError."""
        if not loops(holder):
            return [(step, holder)]
        made = expanded(holder, self.scope())
        if not made:
            self.open += 1
            self._skipped(step, step["name"], SKIPPED, "Skipped, empty params")
        return [({**step, "hooks": one.get("hooks")}, one) for one in made]

    def _step(self, original: Json, holder: Json, position: int) -> None:
        if self.over or position != self.position or self.group.fulfilled:
            return
        try:
            proceed = holds(holder.get("when") or "")
        except ArgoError as error:
            self._skipped(original, holder["name"], ERROR, str(error))
            self._fail_group(ERROR, str(error))
            return
        if not proceed:
            self._skipped(original, holder["name"], SKIPPED, f"when '{holder['when']}' evaluated false")
            return
        name = f"{self.group.name}.{holder['name']}"
        group = self.group
        now = self.read_again(original["name"], holder, partial(self._now, original))

        def created(node: Node) -> None:
            group.adopt(node)
            self._note(original, holder["name"], node)
            self._watch(original, holder["name"], node, now)

        def failed(node: Node, error: str) -> None:
            if group is not self.group or self.over:
                return
            if error == TIMEOUT:
                self._fail_group(FAILED, error)
            else:
                self._fail_group(ERROR, f"step group deemed errored due to child {name} error: {error}")

        self.run.call(
            Call(
                name,
                holder,
                part(holder, "arguments"),
                self.base,
                self,
                self.on_exit,
                kind="steps",
                created=created,
                failed=failed,
                now=now,
            )
        )

    def _now(self, original: Json) -> list[Json]:
        """A step, or its rounds, with the current variables of the workflow. Raises ArgoError."""
        scope = self.scope()
        found = resolved(self.step_now(original["name"], original), scope, of_step)
        return expanded(found, scope) if loops(found) else [found]

    def _skipped(self, original: Json, name: str, phase: str, message: str) -> None:
        node = self.run.new_node(
            f"{self.group.name}.{name}", "Skipped", phase, self.node, original, self.base
        )
        node.message = message
        node.plain = True
        self.group.adopt(node)
        self._note(original, name, node)
        self.run.when_fulfilled(node, self.one_settled)

    def _note(self, original: Json, name: str, node: Node) -> None:
        self.goes_on[node.id] = part(original, "continueOn")
        self.current[name] = node

    def _watch(self, original: Json, name: str, node: Node, now: Callable[[], Json]) -> None:
        """Follow a node until it and its hooks have ended; `now` resolves its step or round again."""
        if not hooked(original):
            self.run.when_fulfilled(node, self.one_settled)
            return
        hooks = _StepHooks(self, original, name, node, now)
        self.run.when_changed(node, hooks.changed)

    def step_now(self, name: str, original: Json) -> Json:
        """A step with the current variables of the workflow."""
        raw = self.raw.get(name)
        return original if raw is None else self.renewed(original, raw)

    def turns_away(self, again: Callable[[], None], missed: Callable[[], None]) -> bool:
        """An exit hook that lost its place is first in line."""
        self.leave(-1, again, missed)
        return True

    def leave(self, place: int, begin: Callable[[], None], missed: Callable[[], None]) -> None:
        """Start the exit hook of a step in its turn: in the order of the steps, and after all of them."""
        self.asked += 1
        heapq.heappush(self.exits, _Leaving(place, self.asked, begin, missed))
        self._ask()

    def _ask(self) -> None:
        begin = partial(self.run.parallelism.after_those_within, self, _LAST, self._begin_exits)
        self.run.agenda.at_last(begin)

    def _begin_exits(self) -> None:
        """Start the exit hooks that have a place; without one the group is an error, until there is a free place."""
        if self.starved() or self.group.fulfilled:
            return
        self.placeless = False
        while self.exits and not self.over:
            if not (self.run.parallelism.saturated() or self.blocked()):
                heapq.heappop(self.exits).begin()
                continue
            self.placeless = True
            self.exits[0].missed()
            if self._stands_for_itself():
                self.exit_hook_refused(FULL)
            elif not self.starved():
                self.group.message = FULL
                # Argo keeps the time of the first error.
                self.group.finished = self.group.finished or self.run.now
                places = self.run.parallelism if self.run.parallelism.saturated() else self.places
                places.postponed.append(self._ask)
            return

    def starved(self) -> bool:
        """Whether the group has ended, since nothing in it is running while an exit hook has no place.

        Whatever waits for a place does not start any more (executeStepGroup). A graph around it then waits for the
        node of the hook, which is never created (assessDAGPhase).
        """
        if not self.over and self.placeless and self.exits and self.group.at_rest():
            self.misses(f"an exit hook in {self.group.name}: {FULL}")
            self._fail_group(ERROR, FULL)
        return self.over

    def exit_hook_refused(self, message: str) -> None:
        """An exit hook that cannot be evaluated or executed makes the group an error when its steps have ended.

        A template that only the run itself called ends with the group, which represents it then (executeSteps), but
        waits for running pods (markWorkflowPhase). One with retries is represented by the node of these.
        """
        if self.over:
            return
        if self._stands_for_itself():
            self.run.mark(self.group, ERROR, message)
            self.abandon()
            self.execution.call.created(self.group)
        else:
            self.refusal = message

    def hook_refused(self, hooks: _StepHooks, message: str) -> None:
        """Another hook that cannot be evaluated or started makes the group an error, which counts on the next visit.

        By then the hook may be fine, and the group goes on.
        """
        if self.over:
            return
        if self.group.phase == ERROR or self.judged == self.run.now:
            self._fail_group(ERROR, message)
            return
        self.unchecked = []
        self.run.mark(self.group, ERROR, message)
        self.run.agenda.in_next_pass(partial(self._visit_error, hooks))

    def _visit_error(self, hooks: _StepHooks) -> None:
        """Visit a group that is an error because of hooks (executeStepGroup)."""
        if not self.over and not self.run.parallelism.postpones(self, partial(self._visit_error, hooks)):
            self.run.parallelism.after_those_within(self, _LAST, partial(self._judge_again, hooks))

    def _judge_again(self, hooks: _StepHooks) -> None:
        if self.over:
            return
        if self.group.at_rest():
            self._fail_group(ERROR, self.group.message)
            return
        self.judged = self.run.now
        unchecked, self.unchecked = self.unchecked or [], None
        self.open += hooks.reset()
        hooks.check()
        if not self.over:
            self.run.mark(self.group, RUNNING)
            self.run.agenda.later(*unchecked)
            self._ask()
            self._maybe_go_on()

    def _stands_for_itself(self) -> bool:
        """Whether the run ends with it now, as the run itself called it, without retries."""
        return self.execution.call.frame is None and not self.node.retried and not self.run.awaits_pods()

    def one_settled(self) -> None:
        """Handle the end of a step and its hooks."""
        if self.over or self.fails() or self.starved():
            return
        if self.frozen():  # by a running daemon: Argo does not check the list again before it has ended
            return
        if self.exits:
            self._ask()
        self.open -= 1
        self._maybe_go_on()

    def _maybe_go_on(self) -> None:
        """End the group with its phase once all of it has ended."""
        if self.open or self.held or self.group.fulfilled:
            return
        if self.refusal:
            self._fail_group(ERROR, self.refusal)
            return
        for child in self.group.children.values():
            if message := self._failure(child):
                self._fail_group(FAILED, message)
                return
        self.run.mark(self.group, SUCCEEDED)
        for child in self.group.children.values():
            if child.daemoned:
                self._watch_daemon(child)
        try:
            for step in self.groups[self.position]:
                self._remember(step)
        except ArgoError as error:
            self.refuse(str(error))
            return
        self.run.agenda.soon(self._next)

    def _failure(self, child: Node) -> str:
        """The message with which a group ends because a step of it has failed, or empty."""
        goes_on = self.goes_on.get(child.id, {})
        if not child.failed or goes_on.get("failed" if child.phase == FAILED else "error"):
            return ""
        return f"child '{child.id}' failed"

    def _watch_daemon(self, child: Node) -> None:
        """A daemon that ends while later groups run fails its own group, which Argo checks as long as anything runs.

        Its exit hook runs before.
        """
        group, position = self.group, self.position

        def ended() -> None:
            if not self.over and not self.frozen() and (message := self._failure(child)):
                self._fail_group(FAILED, message, group)

        def hook_ended() -> None:
            self.held -= 1
            ended()
            if not self.over:
                self._maybe_go_on()

        def changed() -> None:
            if after := self.run.nodes.get(f"{self.node.name}[{position + 1}]"):
                for end in ends(child):
                    end.adopt(after)
            hook = self.run.nodes.get(f"{child.name}.onExit")
            if hook is None or hook.fulfilled:
                ended()
            else:
                self.held += 1
                self.run.when_fulfilled(hook, hook_ended)

        self.run.when_changed(child, changed)

    def _fail_group(self, phase: str, message: str, group: Node | None = None) -> None:
        """End with a group that has failed, the current or an earlier one."""
        self.node.outbound = self._outbound()
        self.group = group or self.group
        self.run.mark(self.group, phase, message)
        self.finish(FAILED, message)

    def turns_down(self, call: Call) -> bool:
        """A step does not start after one has failed, but Argo continues its group without it if no other is running.

        The template may succeed in this way, with the message of its failure.
        """
        ended = all(child.fulfilled for child in self.group.children.values())
        if self.over or call.hooked or self.places.active_pods or not ended or not self.lets_none_begin():
            return super().turns_down(call)
        last = _last_group(self.node)
        if last is None or last is self.group:
            self.group.message = FAIL_FAST
        else:
            self.run.mark(last, FAILED, FAIL_FAST)
        self.node.message = FAIL_FAST
        self.open -= 1
        self._maybe_go_on()
        return True

    def abort(self) -> None:
        """Fail immediately, and with it the last group, here or further down."""
        self.run.mark(_last_group(self.node) or self.group, FAILED, FAIL_FAST)
        super().abort()

    def shut_down(self) -> None:
        """After a stop of the run: start nothing more, and fail the group with the message of a stopped step."""

    def _remember(self, step: Json) -> None:
        """Record the outputs of a step for later steps. Raises ArgoError."""
        name = step["name"]
        if name in self.current:
            node = self.current[name]
            self.records[name] = self.record(node, lambda: self.declared(step), artifacts=True)
            return
        prefix = f"{name}("
        children = [
            node
            for label, node in self.current.items()
            if label.startswith(prefix) and node.type != "Skipped"
        ]
        if children:
            kept = {"template": children[0].template, "templateRef": children[0].template_ref}
            self.run.templates.named(self.base, kept)
        group = self.record(self.group, lambda: None, artifacts=False)
        self.records[name] = {**self.aggregate(children), **group}

    # --- variables ---------------------------------------------------------------------------------

    def scope(self) -> Scope:
        """The variables of a group: the inputs, the outputs of earlier groups, and the workflow's variables."""
        return Scope(
            self.inputs,
            self.run.shared,
            self.run.globals,
            prefix="steps",
            results=self._results() if self.records else None,
        )

    def _results(self) -> Results:
        def names() -> Iterator[str]:
            return iter(list(self.records))

        return Results(names, self.records.get)

    # --- the end -----------------------------------------------------------------------------------

    def stuck(self) -> list[str]:
        """The group that refers to an output that never appears."""
        return [self.missing] if self.missing else []

    def _outbound(self) -> list[Node]:
        return [end for child in self.group.children.values() for end in ends(child)]

    def _succeed(self) -> None:
        self.node.outbound = self._outbound()
        try:
            outputs = outputs_of(
                self.declared_outputs(),
                Scope(self.inputs, self.run.known_to(self.node), prefix="steps", results=self._results()),
            )
        except ArgoError as error:
            self.refuse(str(error))
            return
        if outputs is not None:
            self.node.outputs = outputs
            self.run.remember(outputs, self.node)
        self.finish(SUCCEEDED)


class _StepHooks(Hooks):
    """The hooks of a step or round; `original` is the step as it was at its start, `now` resolves it again."""

    def __init__(self, graph: Steps, original: Json, name: str, node: Node, now: Callable[[], Json]) -> None:
        self.graph = graph
        self.original = original
        self.name = name
        self.now = now
        names = Names(f"steps.{node.display}", f"steps.{name}")
        place = len(graph.current)
        super().__init__(graph, node, names, waits=False, rank=_LAST, order=graph.order, place=place)

    def holder(self) -> Json:
        if self.name == self.original["name"]:
            return self.graph.step_now(self.name, self.original)
        return {**self.original, "hooks": self.now().get("hooks")}

    def scope(self) -> Scope:
        return self.graph.scope()

    def changed(self) -> None:
        if self.graph.unchecked is not None:
            self.graph.unchecked.append(self.changed)
        elif not self.graph.starved():
            super().changed()

    def turn(self, begin: Callable[[], None]) -> None:
        if self.order is self.graph.order:
            self.graph.leave(self.place, begin, self.misses)
        else:  # of a daemon in an earlier group
            begin()

    def settled(self) -> None:
        self.graph.one_settled()

    def refused(self, message: str, on_exit: bool) -> None:
        if on_exit:
            self.graph.exit_hook_refused(message)
        else:
            self.graph.hook_refused(self, message)

    def reset(self) -> bool:
        """Judge the hooks anew; returns whether they were done with."""
        self.started &= {name for name in self.started if name in self.run.nodes}
        done, self.told = self.told, False
        self.spoilt = self.ended = self.left = False
        return done


def _last_group(node: Node) -> Node | None:
    """The last group of steps among the descendants of a node (findLeafNodeWithType)."""
    waiting = [(node, iter(reversed(node.children.values())))]
    seen: set[str] = set()
    while waiting:
        at, below = waiting[-1]
        child = next((one for one in below if one.id not in seen), None)
        if child is not None:
            seen.add(child.id)
            waiting.append((child, iter(reversed(child.children.values()))))
        elif at.type == "StepGroup":
            return at
        else:
            waiting.pop()
    return None
