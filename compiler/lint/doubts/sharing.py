"""ReadWriteOnce claims of a run that pods on different nodes may mount at the same time."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import GRAPH_BODIES
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, inside, string
from flowdsl.diagnostic import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Call, Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Path

_MOST = 64
"""The most calls of one template that are compared with each other."""


class SharedClaim(Finding):
    """Pods that mount one ReadWriteOnce claim at the same time: on another node, the second one waits for it."""

    code = "FD801"
    severity = "warning"
    title = "{who} may run at the same time, and mount `{claim}`, which is ReadWriteOnce"
    label = "waits for `{claim}` on any other node"
    help = (
        "let one run after the other, or use ReadWriteMany in `volumeClaimTemplates`, or ReadWriteOncePod, "
        "for which pods wait"
    )
    who: str
    claim: str


def sharing(view: View) -> Iterator[Problem]:
    """ReadWriteOnce claims of the run are mounted by one pod at a time, or on one node."""
    yield from (Problem(path, finding) for path, finding in shared(view))


def shared(view: View) -> Iterator[tuple[Path, SharedClaim]]:
    """Places where pods mount such a claim at the same time."""
    single = {
        string(claim, "metadata", "name")
        for claim in entries(view.spec, "volumeClaimTemplates")
        if inside(claim, "spec").get("accessModes") == ["ReadWriteOnce"]
    }
    if not single or view.spec.get("parallelism") == 1 or _placed(view.spec):
        return
    mounted: dict[int, frozenset[str]] = {}
    for template in view.all:
        if template.body in GRAPH_BODIES and template.data.get("parallelism") != 1:
            calls = [(call, _mounted(call.callee, mounted) & single) for call in template.calls]
            yield from _of_graph(template, [each for each in calls if each[1]][:_MOST])


def _of_graph(
    template: Template, calls: list[tuple[Call, frozenset[str]]]
) -> Iterator[tuple[Path, SharedClaim]]:
    """The finding about each claim that calls of one template share, at the first such call."""
    told: set[str] = set()
    for call, claims in calls:
        items: list[object] = call.data.get("withItems") or []
        if call.loop and len(items) != 1:
            yield from _told(call, f"items of `{call.name}`", claims, told)
    for (one, first), (other, second) in combinations(calls, 2):
        apart = "when" in one.data and "when" in other.data
        if first & second and not apart and _together(template, one, other):
            yield from _told(other, f"`{one.name}` and `{other.name}`", first & second, told)


def _told(call: Call, who: str, claims: frozenset[str], told: set[str]) -> Iterator[tuple[Path, SharedClaim]]:
    for claim in sorted(claims - told):
        told.add(claim)
        yield call.path, SharedClaim(who, claim)


def _together(template: Template, one: Call, other: Call) -> bool:
    """Whether two calls of a template may run at the same time."""
    if template.body == "steps":
        return one.group == other.group
    dag = template.dag
    first, second = template.call_index[one.name], template.call_index[other.name]
    return dag.is_sound and not dag.reached([(first, second), (second, first)])


def _mounted(template: Template | None, known: dict[int, frozenset[str]]) -> frozenset[str]:
    """The volumes that the pods of a template mount, if they may run on any node and wait for no lock."""
    if template is None:
        return frozenset()
    if id(template) not in known:
        known[id(template)] = frozenset()  # for recursion
        if not (_placed(template.data) or template.data.get("synchronization")):
            own = (string(mount, "name") for _, mount in template.mounts if not mount.get("readOnly"))
            inner = (_mounted(each.callee, known) for each in template.calls)
            known[id(template)] = frozenset(own).union(*inner)
    return known[id(template)]


def _placed(owner: dict[str, object]) -> bool:
    """Whether pods are bound to one node."""
    selector = owner.get("nodeSelector")
    return "podAffinity" in str(owner.get("affinity")) or "kubernetes.io/hostname" in str(selector)
