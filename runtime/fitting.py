"""Whether the pods of a workflow can ever be scheduled: quotas of the namespace, and nodes of the cluster."""

from __future__ import annotations

import shlex
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.amounts import amounts, asked
from flowdsl.compiler.taints import notation, tolerates
from flowdsl.grammar.devices import is_gpu
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.quantity import spelled
from flowdsl.runtime.cluster.kinds import NODE, QUOTA
from flowdsl.runtime.cluster.trouble import FORBIDDEN, NOT_FOUND, Refusal, Unsupported
from flowdsl.runtime.parts import name_of, part, several, texts
from flowdsl.runtime.problem import Problem, wanted_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flowdsl.runtime.cluster.seam import Cluster, Kind

Json = dict[str, Any]


class Pod(NamedTuple):
    """A pod that a workflow will have: its step, and its spec as far as the manifest determines it.

    `certain`: the step runs unconditionally.
    """

    step: str
    spec: Json
    certain: bool = True


def unfitting(cluster: Cluster, namespace: str, pods: Sequence[Pod]) -> list[Problem]:
    """Pods that can never run, and pods for which there is no node yet. Raises Unreachable and Refusal."""
    found: list[Problem] = []
    quotas = _list(cluster, QUOTA, namespace, f"the quotas of namespace `{namespace}`", found)
    found += over_quota(quotas or (), namespace, pods)
    placed = [pod for pod in pods if pod.spec.get("nodeSelector") or _terms(pod.spec) or _devices(pod)]
    if placed:
        nodes = _list(cluster, NODE, None, "the nodes", found)
        if nodes is not None:
            found += without_node(nodes, placed)
    return found


def _list(
    cluster: Cluster, kind: Kind, namespace: str | None, what: str, found: list[Problem]
) -> list[Json] | None:
    """The objects of a kind; None, and a remark, if they cannot be read."""
    try:
        return cluster.list(kind, namespace=namespace).items
    except Unsupported as error:
        found.append(Problem(f"{what} cannot be read: {error}", "", "unchecked"))
    except Refusal as refusal:
        if refusal.code not in (FORBIDDEN, NOT_FOUND):
            raise
        within = f" -n {shlex.quote(namespace)}" if namespace else ""
        may = f"kubectl auth can-i list {kind.resource}{within}"
        found.append(Problem(f"{what} may not be read", may, "unchecked"))
    return None


# --- quotas ----------------------------------------------------------------------------------------------


_RUNS = "count/workflows.argoproj.io"
_PODS = ("pods", "count/pods")


def over_quota(quotas: Iterable[Json], namespace: str, pods: Sequence[Pod]) -> list[Problem]:
    """Violations of quotas: more runs than allowed, or a pod that requests more than the total for all pods.

    A quota with scopes applies to some pods only, and is left out. Source: Kubernetes, "Resource Quotas".
    """
    found: list[Problem] = []
    for quota in quotas:
        spec, status = part(quota, "spec"), part(quota, "status")
        if spec.get("scopes") or spec.get("scopeSelector"):
            continue
        hard, used = amounts(part(spec, "hard")), amounts(part(status, "used"))
        name = name_of(quota)
        within = f"ResourceQuota `{name}` of namespace `{namespace}`"
        remedy = f"kubectl describe resourcequota {shlex.quote(name)} -n {shlex.quote(namespace)}"
        if _RUNS in hard and used.get(_RUNS, Decimal(0)) >= hard[_RUNS]:
            text = f"{within} allows {spelled(hard[_RUNS])} Workflows, and that many are there"
            found.append(Problem(text, "delete some: flowdsl list shows them"))
        if any(pod.certain for pod in pods) and any(hard.get(word) == 0 for word in _PODS):
            found.append(Problem(f"{within} allows no pod", remedy))
        over: dict[tuple[str, Decimal], list[Pod]] = {}
        for pod in pods:
            for resource, number in _counted(pod.spec).items():
                if resource in hard and number > hard[resource]:
                    over.setdefault((resource, number), []).append(pod)
        for (resource, number), wanting in over.items():
            text = f"{within} allows {spelled(hard[resource])} of `{resource}` in all, less than the {spelled(number)}"
            problem = Problem(f"{text} {wanted_by([pod.step for pod in wanting])}", remedy)
            certain = any(pod.certain for pod in wanting)
            found.append(problem if certain else problem._replace(weight="note"))
    return found


def _counted(spec: Json) -> dict[str, Decimal]:
    """The amounts of a pod by their names in quotas."""
    requests, limits = asked(spec, "requests"), asked(spec, "limits")
    return {
        **{name: requests[name] for name in ("cpu", "memory") if name in requests},
        **{f"requests.{name}": number for name, number in requests.items()},
        **{f"limits.{name}": number for name, number in limits.items() if "/" not in name},
    }


# --- nodes -----------------------------------------------------------------------------------------------


def without_node(nodes: Sequence[Json], pods: Iterable[Pod]) -> list[Problem]:
    """Pods that no existing node can take: only a note, since an autoscaler may add nodes.

    Checked are required labels, devices and taints, in this order, but not what is in use at the moment.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for pod in pods:
        why = _against(nodes, pod)
        if why is not None:
            found.setdefault(why, []).append(pod.step)
    return [Problem(f"{text}, {wanted_by(steps)}", remedy, "note") for (text, remedy), steps in found.items()]


_LABELS = "kubectl get nodes --show-labels shows what there is; a pod waits until such a node is added"
_GPUS = "flowdsl top node shows what there is; a pod waits until such a node is added"


def _against(nodes: Sequence[Json], pod: Pod) -> tuple[str, str] | None:
    """Why no node takes a pod, and the remedy."""
    labelled = [node for node in nodes if _matches(node, pod.spec)]
    if not labelled:
        return f"no node has the labels {_labels(pod.spec)}" if _labels(
            pod.spec
        ) else "there is no node", _LABELS
    wanted = _devices(pod)
    able = labelled
    for resource, number in wanted.items():
        has = [(amounts(_allocatable(node)).get(resource, Decimal(0)), node) for node in able]
        able = [node for count, node in has if count >= number]
        if not able:
            most = max(count for count, _ in has)
            those = "no node" if len(labelled) == len(nodes) else "no node with the labels"
            return f"{those} has {spelled(number)} of `{resource}` (the most is {spelled(most)})", _GPUS
    if any(not repelling(node, pod.spec) for node in able):
        return None
    word = notation(repelling(able[0], pod.spec)[0])
    remedy = f'tolerations=["{word}"] lets the step run there'
    return f"all nodes that fit have a taint like `{word}`, which is not tolerated", remedy


def _devices(pod: Pod) -> dict[str, Decimal]:
    return {name: number for name, number in asked(pod.spec).items() if is_gpu(name) and number}


def _allocatable(node: Json) -> Json:
    return part(part(node, "status"), "allocatable")


def _terms(spec: Json) -> list[Json]:
    required = part(part(spec, "affinity"), "nodeAffinity")
    return several(part(required, "requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms")


def _labels(spec: Json) -> str:
    """The labels that a pod requires, as its manifest writes them."""
    words = [f"{key}={value}" for key, value in part(spec, "nodeSelector").items()]
    for term in _terms(spec)[:1]:
        for one in (*several(term, "matchExpressions"), *several(term, "matchFields")):
            values = ", ".join(map(str, texts(one, "values")))
            words.append(f"{one.get('key')} {one.get('operator')}" + (f" ({values})" if values else ""))
    return "`" + "` and `".join(words) + "`" if words else ""


def _matches(node: Json, spec: Json) -> bool:
    """Whether a node has the labels that a pod requires; one that depends on the run counts as present."""
    metadata = part(node, "metadata")
    labels: dict[str, str] = metadata.get("labels") or {}
    selector = part(spec, "nodeSelector")
    if any(labels.get(key) != str(value) for key, value in selector.items() if "{{" not in f"{key}{value}"):
        return False
    terms = _terms(spec)
    name = {"metadata.name": str(metadata.get("name"))}
    return not terms or any(
        all(_holds(one, labels) for one in several(term, "matchExpressions"))
        and all(_holds(one, name) for one in several(term, "matchFields"))
        for term in terms
    )


def _holds(expression: Json, labels: dict[str, str]) -> bool:
    """Evaluate one label requirement. Source: k8s.io/apimachinery, pkg/labels, Requirement.Matches."""
    key, values = str(expression.get("key")), [str(one) for one in texts(expression, "values")]
    if "{{" in key or any("{{" in value for value in values):
        return True
    has = labels.get(key)
    match expression.get("operator"):
        case "In":
            return has in values
        case "NotIn":
            return has not in values
        case "Exists":
            return has is not None
        case "DoesNotExist":
            return has is None
        case "Gt" | "Lt" as sign:
            try:
                number, bound = int(has or ""), int(values[0])
            except (ValueError, IndexError):
                return False
            return number > bound if sign == "Gt" else number < bound
        case _:
            return True


def repelling(node: Json, spec: Json) -> list[Json]:
    """The taints of a node that keep a pod away. A node that is only cordoned for now counts as untainted."""
    return [
        taint
        for taint in several(part(node, "spec"), "taints")
        if taint.get("effect") in ("NoSchedule", "NoExecute")
        and not str(taint.get("key")).startswith("node.kubernetes.io/")
        and not any(tolerates(one, taint) for one in several(spec, "tolerations"))
    ]
