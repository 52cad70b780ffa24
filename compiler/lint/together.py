"""Parts of a pod that are right by themselves and wrong together: Kubernetes refuses the pod, or never starts it.

Source: Kubernetes 1.35, pkg/apis/core/validation/validation.go and pkg/kubelet/kuberuntime/security_context.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.pods import Alternatives, Incomplete, NotForPods
from flowdsl.compiler.lint.tree import entries, inside, string
from flowdsl.compiler.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.tree import Object, Path
    from flowdsl.compiler.lint.view import View


def users(view: View) -> Iterator[Problem]:
    """No container runs as root that says it does not: its node starts none such, and the pod waits for ever."""
    apart = [bool(each.data.get("securityContext")) for each in view.templates if each.is_pod]
    for owner, path in view.owners:
        if owner is view.spec and apart and all(apart):  # which no pod takes
            continue
        yield from _root(inside(owner, "securityContext"), {}, (*path, "securityContext"))
    none: Object = {}
    for template in view.templates:
        levels = (template.data, view.defaults, view.spec)
        around: Object = next(
            (each["securityContext"] for each in levels if each.get("securityContext")), none
        )
        if _is_root(around):  # which is told there
            continue
        for place, container in template.containers:
            own = inside(container, "securityContext")
            yield from _root(own, around, (*template.path, *place, "securityContext"))


def _is_root(context: Object) -> bool:
    return context.get("runAsUser") == 0 and context.get("runAsNonRoot") is True


def _root(context: Object, around: Object, path: Path) -> Iterator[Problem]:
    """The finding about a context, within that of the pod."""
    given = {field: value for field, value in context.items() if value is not None}
    if given and _is_root({**around, **given}):
        both = "a container with `runAsNonRoot: true` has `runAsUser: 0`, which is root"
        yield Problem(
            path, Alternatives(both, "write the number of another user, or take one of the two out")
        )


def accounts(view: View) -> Iterator[Problem]:
    """Where pods get no token, Argo's containers in them have an account of their own.

    Source: Argo Workflows, setupServiceAccount.
    """
    if view.kind not in ("Workflow", "CronWorkflow") or view.external:
        return
    field = "automountServiceAccountToken"
    above = [(view.defaults, (*view.path, "templateDefaults")), (view.spec, view.path)]
    told: set[Path] = set()
    for template in view.templates:
        owners = [(template.data, template.path), *above]
        accounts = [string(owner, "executor", "serviceAccountName") for owner, _ in owners]
        if not template.is_pod or any(accounts) or (view.base and inside(view.base.spec, "executor")):
            continue
        owner, path = next((each for each in owners if each[0].get(field) is not None), owners[0])
        if owner.get(field) is False and path not in told:
            told.add(path)
            way = "add `executor: {serviceAccountName: NAME}`, with the account that reports results"
            finding = Incomplete(f"`{field}: false`", "`executor.serviceAccountName`", way)
            yield Problem((*path, field), finding)


def ports(view: View) -> Iterator[Problem]:
    """A port of the node belongs to one container, and is that of the container in the network of the node."""
    for template in view.templates:
        taken: set[tuple[object, ...]] = set()
        for place, container in template.containers:
            listed = enumerate(entries(container, "ports") if place[0] != "initContainers" else ())
            for index, port in listed:
                given, own = port.get("hostPort") or 0, port.get("containerPort")
                path = (*template.path, *place, "ports", index, "hostPort")
                key = given, port.get("protocol") or "TCP", port.get("hostIP") or ""
                if given not in (0, own) and view.spec.get("hostNetwork"):
                    reason = "not the `containerPort`, and the pod is in the network of its node"
                    finding = NotForPods("`hostPort`", str(given), reason, f"write `{own}`, or take it out")
                    yield Problem(path, finding)
                elif given and key in taken:
                    reason, way = "already a port of the pod", "give each container a port of its own"
                    yield Problem(path, NotForPods("`hostPort`", str(given), reason, way))
                taken.add(key)


def pages(view: View) -> Iterator[Problem]:
    """Containers with huge pages ask for cpu or memory too."""
    for template in view.templates:
        for place, container in template.containers:
            resources = inside(container, "resources")
            asked = [str(name) for field in ("limits", "requests") for name in inside(resources, field)]
            if any(name.startswith("hugepages-") for name in asked) and not {"cpu", "memory"} & set(asked):
                what, way = "a container with huge pages", "add `cpu` or `memory` to its limits"
                finding = Incomplete(what, "`cpu` or `memory`", way)
                yield Problem((*template.path, *place, "resources"), finding)
