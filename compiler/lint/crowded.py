"""More tasks at once than `parallelism` lets run: in what the hooks of a workflow call, and beside daemons."""

from __future__ import annotations

from collections import defaultdict
from itertools import repeat
from typing import TYPE_CHECKING, ClassVar

from flowdsl.compiler.lint.dag import inner_first
from flowdsl.compiler.problem import Problem
from flowdsl.diagnostic import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.tree import Path
    from flowdsl.compiler.lint.view import Call, Template, View


MANY = 2**31
"""More pods than a task begins with."""


class Deadly(Finding):
    """Tasks without a place in what a hook of the workflow runs: Argo's controller ends itself, with all its runs."""

    code: ClassVar[str] = "FD803"
    title: ClassVar[str] = (
        "Argo's controller dies where this waits for a place in `{graph}`, which a hook of the run calls"
    )
    label: ClassVar[str] = "has no place beside `{before}`: `parallelism` is {limit}"
    help: ClassVar[str] = (
        "let the tasks of `{graph}` run one after the other, make a list of steps of it, or raise `parallelism`"
    )
    graph: str
    before: str
    limit: int


class NoPlaceLeft(Finding):
    """Daemons that keep all places of their graph, in which Argo then does nothing any more."""

    code: ClassVar[str] = "FD807"
    title: ClassVar[str] = (
        "the run never ends: `parallelism` is {limit}, and daemons of `{graph}` keep all of it"
    )
    label: ClassVar[str] = "keeps its place until `{graph}` ends, which waits for a place"
    help: ClassVar[str] = "raise `parallelism` above the number of daemons, or take it out"
    graph: str
    limit: int


def daemons(view: View) -> Iterator[Problem]:
    """The daemons of a graph leave a place, without which Argo does not look at it. Source: checkParallelism."""
    whole: int | None = view.spec.get("parallelism")
    for template in view.templates:
        limits = [limit for limit in (whole, template.data.get("parallelism")) if limit]
        if not (limits and template.calls):
            continue
        limit, count = min(limits), 0
        for call in template.calls:
            count += _kept(call)
            if count >= limit:
                yield Problem(call.path, NoPlaceLeft(template.title, limit), on_key=True)
                break


def _kept(call: Call) -> int:
    """How many places the daemons of a call surely keep."""
    callee, depends = call.callee, str(call.data.get("depends") or "")
    if callee is None or not (callee.is_pod and callee.data.get("daemon")):
        return 0
    if "when" in call.data or any(sign in depends for sign in ".!|"):
        return 0
    return len(call.data.get("withItems") or ()) if call.loop else 1


def deadly(view: View) -> Iterator[Problem]:
    """All tasks that begin together in a graph which a hook of the workflow runs have a place.

    A task in a DAG is noted as a child before it has one, and the controller ends itself where it looks for the node of
    a child that there is not yet; it does so below the hooks of the workflow only.
    Source: connectDependencies and nodeRequiresTaskSetReconciliation in workflow/controller of Argo 4.1.
    """
    begins = [view.named.get(view.setting("onExit")), *(call.callee for call in view.hooks)]

    def called(template: Template | None) -> list[Template | None]:
        calls = (*template.calls, *template.hooks) if template is not None else ()
        return [call.callee for call in calls] if template is not None else begins

    whole_run: Template | None = None
    reached = [each for each in inner_first(whole_run, called) if each is not None]
    if any(template.body in ("http", "plugin") for template in reached):
        return  # where the controller finds one of these, it looks no further
    crowd = _Crowd(reached)
    whole: int | None = view.spec.get("parallelism")
    told: set[Path] = set()
    for template in reached:
        for group in crowd.together[id(template)]:
            for limit, most in ((template.data.get("parallelism"), 1), (whole, MANY)):
                problem = crowd.fault(template, group, limit, most) if limit else None
                if problem is not None and problem.path not in told:
                    told.add(problem.path)
                    yield problem


class _Crowd:
    """How many pods templates surely begin with; inner templates come first."""

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

    def _times(self, call: Call) -> int:
        """How many times a call surely begins, of those that begin with a pod."""
        if "when" in call.data or not self.pods.get(id(call.callee)):
            return 0
        return len(call.data.get("withItems") or ()) if call.loop else 1

    def fault(self, template: Template, group: list[Call], limit: int, most: int) -> Problem | None:
        """The first without a place of the tasks that begin together, in whichever order Argo begins them."""
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
            if left:  # it begins, and something in it has no place
                template, stack = callee, self.together[id(callee)][0][::-step]
            elif template.body == "dag":
                return Problem(call.path, Deadly(template.title, before, limit), on_key=True)
            else:
                return None  # steps wait
        return None


def _together(template: Template) -> list[list[Call]]:
    """The calls of a graph in groups that begin together, first those that it begins with."""
    if template.body == "dag" and not template.dag.is_sound:
        return []
    groups: dict[object, list[Call]] = defaultdict(list)
    if template.body == "dag":
        groups[0, frozenset()] = []
    for call, needs in zip(template.calls, template.dag.needs or repeat(()), strict=False):
        groups[call.group, frozenset(needs)].append(call)
    return [*groups.values()]
