"""Which logs a run has, and which of them were requested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.grammar.labels import NODE_ID, NODE_NAME, RUN, maker, worker
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.names import is_argo_container
from flowdsl.runtime.cluster.kinds import POD
from flowdsl.runtime.cluster.trouble import Unsupported
from flowdsl.runtime.documents import called
from flowdsl.runtime.local.controller.names import pod_name
from flowdsl.runtime.logs.container import status_of
from flowdsl.runtime.logs.source import Place, Source, place
from flowdsl.runtime.names import hyphened, is_log
from flowdsl.runtime.parts import name_of, part, several
from flowdsl.runtime.phases import ENDED, FAILURES, RUNNING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flowdsl.runtime.cluster.seam import Cluster

Json = dict[str, Any]

MAIN = "main"


class Wanted(NamedTuple):
    """The requested logs: those of one step or of all, of one container, of those named, or of all."""

    step: str | None = None
    container: str | None = None
    all_containers: bool = False
    failed: bool = False

    @property
    def as_stored(self) -> bool:
        """Whether the raw logs of containers are requested, and not only the output of the steps."""
        return self.all_containers or self.container is not None


class Gone(NamedTuple):
    """A step whose pod no longer exists. `kept` is the artifact with its log, if any."""

    called: str
    kept: str


def pods_of(cluster: Cluster, workflow: Json) -> list[Json]:
    """The pods of a run; if they cannot be listed, those that its nodes describe. Raises Refusal, Unreachable."""
    namespace = part(workflow, "metadata").get("namespace")
    try:
        return cluster.list(POD, labels=f"{RUN}={name_of(workflow)}", namespace=namespace).items
    except Unsupported:
        return [_as_pod(workflow, node) for node in nodes_of(workflow).values() if node.get("type") == "Pod"]


def _as_pod(workflow: Json, node: Json) -> Json:
    """The part of a node's pod that its logs need, derived from the node."""
    name, template = str(node["name"]), str(node.get("templateName") or "")
    times = {"startedAt": node.get("startedAt")}
    over = node.get("phase") in ENDED
    began: Json = {"name": MAIN, "state": {"terminated" if over else "running": times}}
    return {
        "metadata": {
            "name": pod_name(name_of(workflow), name, template),
            "uid": "",
            "annotations": {NODE_ID: node["id"], NODE_NAME: name},
        },
        "spec": {"containers": [{"name": MAIN}]},
        "status": {
            "phase": node.get("phase"),
            "containerStatuses": [began] if node.get("phase") in (RUNNING, *ENDED) else [],
        },
    }


def _specs(workflow: Json) -> tuple[Json, Json]:
    """The spec that a run was submitted with, and what the controller made of it if that refers to a template."""
    return part(workflow, "spec"), part(part(workflow, "status"), "storedWorkflowTemplateSpec")


def entry_of(workflow: Json) -> str:
    """The entrypoint template of a run."""
    return next(
        (str(one["entrypoint"]) for one in _specs(workflow) if one.get("entrypoint")), name_of(workflow)
    )


def of_one_step(workflow: Json) -> bool:
    """Whether a run has one step only: its entrypoint is no graph, and is not retried."""
    return any(
        template.get("name") == entry_of(workflow)
        and not any(key in template for key in ("dag", "steps", "retryStrategy"))
        for spec in _specs(workflow)
        for template in several(spec, "templates")
    )


def nodes_of(workflow: Json) -> dict[str, Json]:
    """The pod nodes of a run by name, in the order in which they began."""
    nodes = [node for node in part(part(workflow, "status"), "nodes").values() if node.get("type") == "Pod"]
    nodes.sort(key=lambda one: str(one.get("startedAt") or ""))
    return {str(node["name"]): node for node in nodes}


def names(workflow: Json) -> list[str]:
    """The names of steps of a run, begun or not: those that began, and the tasks of its templates."""
    known = [Place(place(name_of(workflow), name).path) for name in nodes_of(workflow)]
    found = [one.called(entry_of(workflow)) for one in known]
    for spec in _specs(workflow):
        for template in several(spec, "templates"):
            found.extend(str(one["name"]) for one in called(template))
    return list(dict.fromkeys(found))


def callers(workflow: Json, function: str) -> list[str]:
    """The tasks that run the template of a function."""
    template = hyphened(function)
    tasks = (one for spec in _specs(workflow) for each in several(spec, "templates") for one in called(each))
    return list(dict.fromkeys(str(one["name"]) for one in tasks if one.get("template") == template))


def means(workflow: Json, wanted: str, where: Place, pod: str = "", node: str = "") -> bool:
    """Whether a name refers to a step: by its name or that of what contains it, its pod or its node."""
    return wanted in (pod, node, entry_of(workflow) if not where.path else "") or where.within(wanted)


def knows(workflow: Json, wanted: str, pods: Sequence[Json] = ()) -> bool:
    """Whether a run has, or may come to have, a step of that name."""
    run = name_of(workflow)
    for node in part(part(workflow, "status"), "nodes").values():
        if means(workflow, wanted, place(run, str(node["name"])), node=str(node["id"])):
            return True
    for pod in pods:
        if means(workflow, wanted, place(run, _node_of(pod)), str(pod["metadata"]["name"])):
            return True
    last = Place((wanted.rpartition(".")[2].partition("(")[0],))
    return any(last.within(name) for name in names(workflow))


def requested(workflow: Json, wanted: Wanted, pods: Sequence[Json] = ()) -> Callable[[str, str, str], bool]:
    """Whether the logs of a step are requested, by the name of its node, its pod and the id of its node."""
    failed = last_failures(workflow, pods) if wanted.failed else None

    def has(name: str, pod: str, node: str) -> bool:
        if failed is not None and name not in failed:
            return False
        return wanted.step is None or means(workflow, wanted.step, place(name_of(workflow), name), pod, node)

    return has


def sources(workflow: Json, pods: Sequence[Json], wanted: Wanted) -> list[Source]:
    """The requested logs that exist so far, in the order in which they began."""
    found: list[Source] = []
    has = requested(workflow, wanted, pods)
    for pod in pods:
        name, node = str(pod["metadata"]["name"]), _node_of(pod)
        if has(node, name, str(part(pod["metadata"], "annotations").get(NODE_ID, ""))):
            found.extend(_containers(workflow, pod, place(name_of(workflow), node), wanted))
    return sorted(found, key=lambda one: (one.started, one.pod, one.container))


def _node_of(pod: Json) -> str:
    metadata: Json = pod["metadata"]
    notes = part(metadata, "annotations")
    return str(notes.get(NODE_NAME) or maker(notes) or metadata["name"])


def _containers(workflow: Json, pod: Json, where: Place, wanted: Wanted) -> Iterator[Source]:
    own = [str(each["name"]) for each in several(pod["spec"], "containers")]
    every = [*(str(each["name"]) for each in several(pod["spec"], "initContainers")), *own]
    chosen = chosen_containers(every, own, wanted)
    for container in chosen:
        started = _began(pod, container)
        if started:
            called = where.called(entry_of(workflow))
            if number := worker(part(pod["metadata"], "labels")):
                called = f"{called}/{number}"
            yield Source(
                where,
                f"{called}/{container}" if len(chosen) > 1 else called,
                ".".join(where.path),
                str(pod["metadata"]["name"]),
                container,
                started,
                str(pod["metadata"]["uid"]),
                str(pod["spec"].get("nodeName") or ""),
                name_of(workflow),
            )


def chosen_containers(every: Sequence[str], own: Sequence[str], wanted: Wanted) -> list[str]:
    """The requested containers of a pod: `main`, or if there is none, those of the template."""
    if wanted.all_containers:
        return list(every)
    if wanted.container is not None:
        return [wanted.container] if wanted.container in every else []
    return [MAIN] if MAIN in own else [one for one in own if not is_argo_container(one)]


def _began(pod: Json, container: str) -> str:
    """When a container began; empty if it has not."""
    status = status_of(pod, container)
    state = part(status, "state")
    for now in (part(status, "lastState").get("terminated"), state.get("running"), state.get("terminated")):
        if now is not None:
            begun = now.get("startedAt") or pod["metadata"].get("creationTimestamp") or "1970-01-01T00:00:00Z"
            return str(begun)
    return ""


def last_failures(workflow: Json, pods: Sequence[Json] = ()) -> set[str]:
    """The nodes of the steps that failed, each with its last attempt."""
    phases = {name: str(node.get("phase")) for name, node in nodes_of(workflow).items()}
    for pod in pods:
        phases.setdefault(_node_of(pod), str(part(pod, "status").get("phase")))
    last: dict[tuple[str, ...], tuple[tuple[int, ...], str]] = {}
    for name in phases:
        where = place(name_of(workflow), name)
        last[where.path] = max(last.get(where.path, ((), "")), (where.attempts, name))
    return {name for _, name in last.values() if phases[name] in FAILURES}


def gone(workflow: Json, pods: Sequence[Json], wanted: Wanted) -> list[Gone]:
    """The requested steps that ran in pods which no longer exist, in the order in which they began."""
    there = {_node_of(pod) for pod in pods}
    has = requested(workflow, wanted, pods)
    found: list[Gone] = []
    for name, node in nodes_of(workflow).items():
        cached = part(node, "memoizationStatus").get("hit")
        if name in there or cached or node.get("phase") not in ENDED or not has(name, "", str(node["id"])):
            continue
        artifacts = [str(one["name"]) for one in several(part(node, "outputs"), "artifacts")]
        kept = next(filter(is_log, artifacts), "")
        found.append(Gone(place(name_of(workflow), name).called(entry_of(workflow)), kept))
    return found
