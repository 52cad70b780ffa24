"""Runs that `parallelism` blocks: more tasks at once than it allows, in hooks, after containers, beside daemons."""

from __future__ import annotations

from collections import defaultdict
from itertools import repeat
from math import inf
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.manifest.dag import inner_first
from flowdsl.compiler.lint.manifest.template import Template, callees
from flowdsl.compiler.problem import Problem
from flowdsl.diagnostic import Finding
from flowdsl.grammar.depends import follows_success

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.compiler.lint.manifest.template import Call
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Path


MANY = 2**31
"""More pods than any task starts with."""

_MOST = 100
"""The most tasks of a graph for which concurrent tasks are computed."""


class Deadly(Finding):
    """Tasks without a place in a graph that a hook of the run calls: Argo's controller crashes."""

    code = "FD803"
    title = (
        "Argo's controller crashes when this waits for a place in `{graph}`, which a hook of the run calls"
    )
    label = "has no place beside `{before}`: `parallelism` is {limit}"
    help = (
        "let the tasks of `{graph}` run one after the other, turn it into a list of steps, or raise "
        "`parallelism`"
    )
    graph: str
    before: str
    limit: int


class NoPlaceLeft(Finding):
    """Daemons that hold all places of their graph, so that nothing else in it can run."""

    code = "FD807"
    title = "the run never ends: `parallelism` is {limit}, and daemons of `{graph}` hold all of it"
    label = "holds its place until `{graph}` ends, which waits for a place"
    help = "raise `parallelism` above the number of daemons, or remove it"
    graph: str
    limit: int


class Sought(Finding):
    """Tasks without a place after a containerSet, where Argo looks for their nodes."""

    code = "FD835"
    title = (
        "the run ends in Error: Argo looks for this after the containers of `{before}`, before it has a place"
    )
    label = "waits for a place beside `{beside}`: `parallelism` is {limit}"
    help = (
        "let the tasks after `{before}` run one after the other, raise `parallelism`, or give the template "
        "with the containers a `retryStrategy`: then Argo does not look for them"
    )
    before: str
    beside: str
    limit: int


class PerhapsSought(Finding):
    """A task after a containerSet that may have to wait for a place, while Argo looks for its node."""

    code = "FD836"
    severity = "warning"
    title = "the run ends in Error if this waits for a place after the containers of `{before}`"
    label = "other tasks may have all places that `parallelism: {limit}` leaves"
    help = (
        "give the template with the containers a `retryStrategy`, with which Argo does not look for what "
        "follows, or raise `parallelism`"
    )
    before: str
    limit: int


class LeftOut(Finding):
    """A task without a place in a graph that fails fast, whose node the graph around it waits for."""

    code = "FD869"
    severity = "warning"
    title = "the run never ends if a task of `{graph}` fails while this waits for a place"
    label = (
        "other tasks may have all places that `parallelism: {limit}` leaves, and `failFast` of the template ends "
        "`{graph}` without it"
    )
    help = "remove `failFast` from the template `{graph}`, or raise `parallelism`"
    graph: str
    limit: int


class Endless(Finding):
    """A daemon in a graph with `failFast`, which waits for all its pods when one of them fails."""

    code = "FD875"
    severity = "warning"
    title = "the run never ends if a pod of `{graph}` fails while the daemon `{daemon}` runs"
    label = "lets `{graph}` wait for its other pods then, and only the end of `{graph}` ends the daemon"
    help = "remove `failFast` from the template `{graph}`, or give the daemon a template around `{graph}`"
    graph: str
    daemon: str


def _limits(view: View, template: Template) -> list[tuple[int, int]]:
    """The limits of `parallelism` in a template and in the run, each with the most pods of one call that count."""
    return [
        (limit, most)
        for limit, most in ((template.data.get("parallelism"), 1), (view.spec.get("parallelism"), MANY))
        if limit
    ]


def daemons(view: View) -> Iterator[Problem]:
    """The daemons of a graph leave a slot, without which Argo does not process it. Source: checkParallelism."""
    for template in view.templates:
        limits = _limits(view, template)
        if not (limits and template.calls):
            continue
        limit, count = min(limit for limit, _ in limits), 0
        for call in template.calls:
            count += _kept(call)
            if count >= limit:
                yield Problem(call.path, NoPlaceLeft(template.title, limit), on_key=True)
                break


def _kept(call: Call) -> int:
    """How many slots the daemons of a call certainly hold."""
    callee, depends = call.callee, call.depends
    if callee is None or not (callee.is_pod and callee.data.get("daemon")):
        return 0
    if "when" in call.data or any(sign in depends for sign in ".!|"):
        return 0
    return len(call.data.get("withItems") or ()) if call.loop else 1


def deadly(view: View) -> Iterator[Problem]:
    """All tasks that start together in a graph run by a hook of the workflow have a slot.

    A task in a DAG is recorded as a child before it has one, and the controller exits when it looks up the node of
    a child that does not exist yet; it does so below the hooks of the workflow only.
    Source: connectDependencies and nodeRequiresTaskSetReconciliation in workflow/controller of Argo 4.1.
    """
    begins = [view.last, *(call.callee for call in view.hooks)]
    reached = inner_first(filter(None, begins), lambda each: callees((*each.calls, *each.hooks)))
    if any(template.body in ("http", "plugin") for template in reached):
        return  # if the controller finds one of these, it searches no further
    crowd = _Crowd(reached)
    told: set[Path] = set()
    for template in reached:
        for group in crowd.together[id(template)]:
            for limit, most in _limits(view, template):
                problem = crowd.fault(template, group, limit, most)
                if problem is not None and problem.path not in told:
                    told.add(problem.path)
                    yield problem


def sought(view: View) -> Iterator[Problem]:
    """All tasks after a containerSet have a slot when they are due.

    A task in a DAG is recorded as a child of the ends of its predecessors before it has a slot, and after a container
    Argo looks up the nodes of children: if one is missing, the run fails. It does not do so after the attempts
    of a retry, in steps, and for the items of a loop; and a task that starts with its graph follows none.
    Source: connectDependencies and getOutboundNodes in workflow/controller of Argo 4.1, and a real controller.
    """
    limited = [one for one in view.templates if one.body == "dag" and _limits(view, one)]
    if not limited or not any(one.body == "containerSet" for one in view.templates):
        return
    inner = inner_first(view.templates, Template.called)
    crowd = _Crowd(inner)
    in_containers: set[int] = set()  # templates whose last nodes are containers
    for template in inner:
        if not view.tries(template) and (
            template.body == "containerSet"
            or any(id(call.callee) in in_containers and not _unnamed(call) for call in template.last)
        ):
            in_containers.add(id(template))
    for template in limited:
        looked = 0
        for group in crowd.together[id(template)]:
            needs = template.dag.needs[template.call_index[group[0].name]] if group else ()
            before = [template.calls[one] for one in needs]
            before = [one for one in before if id(one.callee) in in_containers and not _unnamed(one)]
            if not before:
                continue
            found = [(limit, crowd.refused(group, limit, most)) for limit, most in _limits(view, template)]
            sure = next(((limit, pair) for limit, pair in found if pair is not None), None)
            if sure is not None:
                limit, (call, holder) = sure
                yield Problem(call.path, Sought(before[0].title, holder, limit), on_key=True)
                continue
            limit = min(limit for limit, _ in found)
            plain = [call for call in group if not call.loop]
            looked += bool(plain)
            if plain and looked <= _MOST and beside(template, plain[-1]) >= limit:
                yield Problem(plain[-1].path, PerhapsSought(before[0].title, limit), on_key=True)


def left_out(view: View) -> Iterator[Problem]:
    """A nested graph that fails fast has a slot for all tasks that may run at once.

    A task in a DAG is recorded as a child before it has a slot. `failFast` of a template ends it when its pods have
    ended, and a DAG around it, which follows the children, waits for the node of that task, which never exists.
    Source: checkParallelism, connectDependencies and assessDAGPhase in workflow/controller of Argo 4.1.
    """
    fast = [one for one in view.templates if one.body == "dag" and one.data.get("failFast") is True]
    if not fast:
        return
    tasks = [call for one in view.templates if one.body == "dag" for call in one.calls]
    within = {id(each) for each in inner_first(callees(tasks), Template.called)}
    for template in fast:
        limit = min((limit for limit, _ in _limits(view, template)), default=0)
        if not (limit and id(template) in within and template.dag.is_sound):
            continue
        for call in template.calls[:-_MOST:-1]:
            others = _pods(_unordered(template, call))
            if others + (inf if call.loop else 0) >= limit:
                yield Problem(call.path, LeftOut(template.title, limit), on_key=True)
                break


def endless(view: View) -> Iterator[Problem]:
    """No pod fails while a daemon runs if `failFast` of the template waits for all pods.

    A daemon is a running pod that is stopped with its graph. Retried tasks are not checked before another
    task starts, and a deadline ends all. A nested graph that fails is ended before the check.
    Source: checkParallelism in workflow/controller of Argo 4.1.
    """
    if any("activeDeadlineSeconds" in each for each in (view.spec, view.defaults)):
        return
    for template in view.templates:
        if template.data.get("failFast") is not True or view.tries(template):
            continue
        daemon = next((one for one in template.calls if _serves(one) and _fails_beside(template, one)), None)
        if daemon is not None:
            path = (*template.path, "failFast")
            yield Problem(path, Endless(template.title, daemon.name), on_key=True)


def _serves(call: Call) -> bool:
    """Whether a call starts a daemon that ends with its graph."""
    callee = call.callee
    if callee is None or not callee.is_pod or callee.data.get("daemon") is not True:
        return False
    return "activeDeadlineSeconds" not in callee.data


def _fails_beside(template: Template, daemon: Call) -> bool:
    """Whether a pod of another task may fail after a daemon has started."""
    own = template.call_index[daemon.name]
    if template.body == "dag":
        before = template.dag.before([own]) if template.dag.is_sound else set(range(len(template.calls)))
    else:
        before = {at for at, one in enumerate(template.calls) if one.group < daemon.group}
    return any(
        one.callee is not None and one.callee.is_pod
        for at, one in enumerate(template.calls)
        if at != own and at not in before
    )


def _unnamed(call: Call) -> bool:
    """Whether it is an inline containerSet, which Argo cannot look up."""
    return (
        call.data.get("inline") is not None and call.callee is not None and call.callee.body == "containerSet"
    )


def beside(template: Template, call: Call) -> float:
    """How many other tasks of a graph, or items of their loops, may run concurrently with one.

    Not counting those that start with the graph: Argo requests slots in order, and one with a slot requested it later.
    """
    needs = template.dag.needs
    return _pods(one for one in _unordered(template, call) if needs[template.call_index[one.name]])


def _unordered(template: Template, call: Call) -> list[Call]:
    """The other tasks of a graph that neither depend on one nor are dependencies of it."""
    own = template.call_index[call.name]
    after = {own}
    for position in template.dag.order:
        if not after.isdisjoint(template.dag.needs[position]):
            after.add(position)
    ordered = template.dag.before([own]) | after
    return [one for at, one in enumerate(template.calls) if at not in ordered]


def _pods(calls: Iterable[Call]) -> float:
    """How many pods tasks, or items of their loops, may have at once."""
    pods = [one for one in calls if one.callee is None or one.callee.body != "suspend"]
    return sum(inf if one.loop else 1 for one in pods)


class _Crowd:
    """How many pods templates certainly start with; inner templates come first."""

    def __init__(self, templates: list[Template]) -> None:
        self.pods: dict[int, int] = {}
        self.together: dict[int, list[list[Call]]] = {}
        for template in templates:
            groups = self.together[id(template)] = _together(template)
            self.pods[id(template)] = self._begun(template, groups)

    def _begun(self, template: Template, groups: list[list[Call]]) -> int:
        if template.data.get("synchronization") or template.data.get("memoize"):
            return 0
        if template.is_pod:
            return 1
        first = groups[0] if groups else ()
        own: int | None = template.data.get("parallelism")
        if own and own < sum(self._times(call) or 1 for call in first):
            return 0
        return sum(self._times(call) * self.pods[id(call.callee)] for call in first if self._times(call))

    def refused(self, group: list[Call], limit: int, most: int) -> tuple[Call, str] | None:
        """A call, not a loop, of those that start together, that certainly gets no slot; and the one that holds it.

        Holds for any order in which Argo starts them.
        """
        found: list[tuple[Call, str]] = []
        for step in (1, -1):
            left, holder = limit, ""
            for call in group[::step]:
                if left <= 0 and not call.loop and _surely(call):
                    found.append((call, holder))
                    break
                times = self._times(call)
                left -= times * min(self.pods.get(id(call.callee), 0), most)
                holder = call.title if times else holder
        return found[0] if len(found) > 1 else None

    def _times(self, call: Call) -> int:
        """How many times a call certainly starts, if it starts with a pod."""
        if not _surely(call) or not self.pods.get(id(call.callee)):
            return 0
        return len(call.data.get("withItems") or ()) if call.loop else 1

    def fault(self, template: Template, group: list[Call], limit: int, most: int) -> Problem | None:
        """The first task without a slot of those that start together, in any order."""
        found, again = (self._crowded(template, group, limit, most, step) for step in (1, -1))
        return found if again else None

    def _crowded(
        self, template: Template, group: list[Call], limit: int, most: int, step: int
    ) -> Problem | None:
        left, before = limit, ""
        stack = group[::-step]
        while stack:
            call = stack.pop()
            times, callee = self._times(call), call.callee
            if not times or callee is None:
                continue
            pods = min(self.pods[id(callee)], most)
            fit = min(times, left // pods)
            left -= fit * pods
            before = call.title if fit else before
            if fit == times:
                continue
            if left:  # it starts, and something in it has no slot
                template, stack = callee, self.together[id(callee)][0][::-step]
            elif template.body == "dag":
                return Problem(call.path, Deadly(template.title, before, limit), on_key=True)
            else:
                return None  # steps wait
        return None


def _surely(call: Call) -> bool:
    """Whether a call of a valid graph, or of steps, runs if all before it succeeded."""
    return "when" not in call.data and follows_success(call.depends)


def _together(template: Template) -> list[list[Call]]:
    """The calls of a graph in groups that start together, first its initial ones."""
    if template.body == "dag" and not template.dag.is_sound:
        return []
    groups: dict[object, list[Call]] = defaultdict(list)
    if template.body == "dag":
        groups[0, frozenset()] = []
    for call, needs in zip(template.calls, template.dag.needs or repeat(()), strict=False):
        groups[call.group, frozenset(needs)].append(call)
    return [*groups.values()]
