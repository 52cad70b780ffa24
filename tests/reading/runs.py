"""Runs as a cluster has them: Workflow, pods, nodes of the cluster and Events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from flowdsl.runtime.cluster.kinds import EVENT, NODE, POD, WORKFLOW
from flowdsl.runtime.cluster.policy import Policy
from flowdsl.runtime.cluster.seam import Keep, Kind, Listing, whole
from flowdsl.runtime.cluster.trouble import Refusal
from flowdsl.runtime.local.controller.names import node_id, pod_name
from flowdsl.runtime.times import rfc3339

Json = dict[str, Any]

BEGAN = 1_800_000_000.0
"""When each run was created."""
NOW = BEGAN + 5400.0


class There(NamedTuple):
    """A run, and what its cluster has besides."""

    workflow: Json
    pods: Sequence[Json] = ()
    hosts: Sequence[Json] = ()
    events: Sequence[Json] = ()


class Nodes:
    """The nodes of a run, added in any order; the API gives them sorted by id."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.made: dict[str, Json] = {}

    def add(
        self, name: str, type: str, phase: str, begin: float, end: float | None = None, **more: Any
    ) -> str:
        """A node by its full name without that of the run; its id. `within` is the name of its boundary."""
        whole = f"{self.run}{name}"
        identity = node_id(self.run, whole)
        made: Json = {"id": identity, "name": whole, "type": type, "phase": phase}
        made["displayName"] = more.pop("display", name.rpartition(".")[2] if name else self.run)
        made["startedAt"] = rfc3339(BEGAN + begin)
        made["finishedAt"] = None if end is None else rfc3339(BEGAN + end)
        within: str | None = more.pop("within", None)
        if within is not None:
            made["boundaryID"] = node_id(self.run, self.run + within)
        made["children"] = [node_id(self.run, self.run + one) for one in more.pop("children", ())]
        given: Mapping[str, str] = more.pop("inputs", {})
        if given:
            made["inputs"] = {"parameters": [{"name": key, "value": value} for key, value in given.items()]}
        self.made[identity] = {**made, **more}
        return identity

    def pod(self, name: str, gpus: int = 0, status: Json | None = None, **spec: Any) -> Json:
        """The pod of a node that was added."""
        node = self.made[node_id(self.run, self.run + name)]
        limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
        main = {"name": "main", "image": "train", "resources": {"limits": limits}}
        return {
            "metadata": {
                "name": pod_name(self.run, node["name"], node["templateName"]),
                "annotations": {"workflows.argoproj.io/node-id": node["id"]},
                "labels": {"workflows.argoproj.io/workflow": self.run},
                "ownerReferences": [{"kind": "Workflow", "name": self.run, "uid": f"uid-{self.run}"}],
            },
            "spec": {"containers": [{"name": "wait", "image": "argoexec"}, main], **spec},
            "status": status or {"phase": "Running"},
        }


def workflow(
    nodes: Nodes, phase: str, templates: list[Json], end: float | None = None, **status: Any
) -> Json:
    spec = {"entrypoint": "main", "templates": templates, **status.pop("spec", {})}
    pods = [one for one in nodes.made.values() if one["type"] == "Pod"]
    done = sum(one["phase"] == "Succeeded" for one in pods)
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {
            "name": nodes.run,
            "namespace": "team-a",
            "uid": f"uid-{nodes.run}",
            "creationTimestamp": rfc3339(BEGAN),
            "labels": {"workflows.argoproj.io/phase": phase, "team": "vision"},
            "managedFields": [{"manager": "argo"}],
        },
        "spec": spec,
        "status": {
            "phase": phase,
            "startedAt": rfc3339(BEGAN + 1),
            "finishedAt": None if end is None else rfc3339(BEGAN + end),
            "progress": f"{done}/{len(pods)}",
            "nodes": dict(sorted(nodes.made.items())),
            **status,
        },
    }


def on_gpu(name: str, **limits: int) -> Json:
    return {
        "name": name,
        "container": {"image": "train", "resources": {"limits": limits or {"nvidia.com/gpu": 1}}},
    }


def sweep() -> There:
    """Six trials: two succeeded, one failed, one runs, two wait for a GPU."""
    n = Nodes("tune-7mq2x")
    trials = [
        f".trials({at}:id:{at},lr:{lr})"
        for at, lr in enumerate(("1e-4", "3e-4", "1e-3", "3e-3", "1e-2", "3e-2"))
    ]
    n.add("", "DAG", "Running", 1, templateName="main", children=[".prepare"])
    n.add(
        ".prepare", "Pod", "Succeeded", 1, 61, within="", templateName="prepare", hostNodeName="cpu-1",
        children=[".trials"], resourcesDuration={"cpu": 60, "memory": 600},
    )  # fmt: skip
    n.add(".trials", "TaskGroup", "Running", 62, within="", templateName="train", children=trials)
    states: list[tuple[str, float, float | None, str, str]] = [
        ("Succeeded", 62, 3662, "gpu-1", ""),
        ("Succeeded", 62, 3700, "gpu-2", ""),
        (
            "Failed",
            62,
            900,
            "gpu-1",
            "OOMKilled (exit code 137): main: the loss \x1b[31mexploded\x1b[0m\nat step 300",
        ),
        ("Running", 3700, None, "gpu-2", ""),
        ("Pending", 3700, None, "", "Unschedulable"),
        ("Pending", 3701, None, "", ""),
    ]
    for at, (phase, begin, end, host, message) in enumerate(states):
        took = {} if end is None else {"resourcesDuration": {"nvidia.com/gpu": int(end - begin), "cpu": 9}}
        n.add(
            trials[at], "Pod", phase, begin, end, within="", templateName="train", message=message,
            inputs={"id": str(at), "lr": trials[at].partition("lr:")[2].rstrip(")"), "epochs": "10"},
            hostNodeName=host, **took,
        )  # fmt: skip
    why = "0/4 nodes are available: 2 Insufficient nvidia.com/gpu, 2 node(s) had untolerated taint {dedicated: batch}."
    waits = {"phase": "Pending", "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why},
    ]}  # fmt: skip
    card = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"}
    templates: list[Json] = [
        {"name": "main", "dag": {}},
        {"name": "prepare", "container": {"image": "prepare"}},
        on_gpu("train"),
    ]
    arguments = {
        "parameters": [{"name": "epochs", "value": "10"}, {"name": "data", "value": "s3://reviews/2026"}]
    }
    return There(
        workflow(n, "Running", templates, spec={"arguments": arguments}),
        [n.pod(trials[3], 1, nodeName="gpu-2"), *(n.pod(one, 1, waits) for one in trials[4:])],
        [{"metadata": {"name": host, "labels": card}} for host in ("gpu-1", "gpu-2")],
    )


def retry() -> There:
    """A step whose first two attempts failed, and whose third cannot get its image."""
    n = Nodes("nightly-28")
    attempts = [f".train({at})" for at in range(3)]
    n.add("", "Steps", "Running", 1, templateName="main", children=["[0]"])
    n.add("[0]", "StepGroup", "Running", 1, within="", display="[0]", children=[".train"])
    n.add(".train", "Retry", "Running", 1, within="", templateName="train", children=attempts)
    flag: Json = {"within": "", "templateName": "train", "nodeFlag": {"retried": True}}
    n.add(
        attempts[0], "Pod", "Failed", 1, 31, message="main: Error (exit code 1)", hostNodeName="gpu-1", **flag
    )
    n.add(attempts[1], "Pod", "Error", 40, 50, message="pod deleted", hostNodeName="spot-7", **flag)
    n.add(attempts[2], "Pod", "Pending", 60, message="PodInitializing", hostNodeName="gpu-1", **flag)
    image = 'Back-off pulling image "registry.example/train:latset"'
    state = {"waiting": {"reason": "ImagePullBackOff", "message": image}}
    waits = {"phase": "Pending", "containerStatuses": [
        {"name": "wait", "state": {"waiting": {"reason": "PodInitializing"}}}, {"name": "main", "state": state},
    ]}  # fmt: skip
    pod = n.pod(attempts[2], 0, waits, nodeName="gpu-1")
    pod["spec"]["containers"][1]["resources"] = {"limits": {"nvidia.com/mig-1g.5gb": 2}}
    return There(workflow(n, "Running", [on_gpu("train", **{"nvidia.com/mig-1g.5gb": 2})]), [pod])


def gate() -> There:
    """A run that waits for somebody; another task waits for a volume, which only an Event says."""
    n = Nodes("release-3")
    n.add("", "DAG", "Running", 1, templateName="main", children=[".build", ".index"])
    n.add(
        ".build",
        "Pod",
        "Succeeded",
        1,
        20,
        within="",
        templateName="build",
        children=[".approve"],
        hostNodeName="cpu-1",
    )
    asked = {"name": "return", "value": "", "enum": ["true", "false"], "description": "Ship it?"}
    gate = n.add(".approve", "Suspend", "Running", 21, within="", templateName="approve")
    n.made[gate]["inputs"] = {"parameters": [{"name": "accuracy", "value": "0.9"}, asked]}
    n.add(
        ".index",
        "Pod",
        "Pending",
        21,
        within="",
        templateName="index",
        message="ContainerCreating",
        hostNodeName="cpu-1",
    )
    waits = {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}], "containerStatuses": [
        {"name": "main", "state": {"waiting": {"reason": "ContainerCreating"}}},
    ]}  # fmt: skip
    pod = n.pod(".index", 0, waits, nodeName="cpu-1")
    name = pod["metadata"]["name"]

    def event(kind: str, about: str, type: str, reason: str, message: str, at: float, **more: Any) -> Json:
        where = {"kind": kind, "name": about, "namespace": "team-a"}
        return {"involvedObject": where, "type": type, "reason": reason, "message": message,
                "lastTimestamp": rfc3339(BEGAN + at), **more}  # fmt: skip

    events = [
        event(
            "Pod",
            name,
            "Warning",
            "FailedMount",
            'MountVolume.SetUp failed for volume "datasets": not found',
            5000,
            count=7,
        ),
        event("Pod", name, "Normal", "Scheduled", f"Successfully assigned team-a/{name} to cpu-1", 21),
        event("Workflow", n.run, "Normal", "WorkflowRunning", "Workflow Running", 1),
        event("Pod", "another", "Warning", "Failed", "of another run", 2),
    ]
    conditions = [
        {"type": "PodRunning", "status": "False"},
        {"type": "SpecWarning", "status": "True", "message": "the field `x` is deprecated"},
        {"type": "MetricsError", "status": "False", "message": "none"},
    ]
    templates: list[Json] = [{"name": "approve", "suspend": {}}]
    return There(workflow(n, "Running", templates, conditions=conditions), [pod], [], events)


def stopped() -> There:
    """A run that somebody stopped: its exit handler ran, what was left was not begun. Its pods are gone."""
    n = Nodes("nested-9")
    rounds = [f".fold({at}:{at})" for at in range(2)]
    n.add("", "DAG", "Failed", 1, 100, templateName="main", children=[".fold"])
    n.add(".fold", "TaskGroup", "Failed", 1, 90, within="", templateName="fold", children=rounds)
    for at, name in enumerate(rounds):
        n.add(name, "DAG", "Failed", 1, 90, within="", templateName="fold", children=[f"{name}.fit"],
              inputs={"fold": str(at)}, message=f"child '{n.run}-1' failed")  # fmt: skip
        n.add(f"{name}.fit", "Pod", "Failed", 1, 90, within=name, templateName="fit", hostNodeName="gpu-3",
              display="fit", message="workflow shutdown with strategy:  Stop",
              children=[f"{name}.score"])  # fmt: skip
        n.add(f"{name}.score", "Skipped", "Omitted", 90, 90, within=name, templateName="fit", display="score",
              message="omitted: depends condition not met")  # fmt: skip
    n.add(".onExit", "Pod", "Succeeded", 91, 99, templateName="tell", display=f"{n.run}.onExit",
          nodeFlag={"hooked": True}, hostNodeName="cpu-1")  # fmt: skip
    outputs = {"parameters": [{"name": "best", "value": "0.25"}],
               "artifacts": [{"name": "model", "s3": {"key": "nested-9/model"}}]}  # fmt: skip
    return There(
        workflow(
            n, "Failed", [on_gpu("fit", **{"amd.com/gpu": 4})], 100, outputs=outputs,
            message="Stopped with strategy 'Stop'", spec={"shutdown": "Stop"},
        ),
    )  # fmt: skip


RUNS: dict[str, Callable[[], There]] = {"sweep": sweep, "retry": retry, "gate": gate, "stopped": stopped}


class Fake:
    """A cluster that has these runs; kinds in `forbidden` may not be read."""

    namespace = "team-a"
    called = "cluster `fake`"

    def __init__(self, *runs: There, forbidden: tuple[Kind, ...] = ()) -> None:
        self.policy = Policy()
        self.warnings: list[str] = []
        self.runs = runs
        self.forbidden = forbidden
        self.asked: list[tuple[str, str]] = []

    def get(self, kind: Kind, name: str, *, namespace: str | None = None) -> Json:
        for one in self._all(kind, "get"):
            if one["metadata"]["name"] == name:
                return one
        raise Refusal(404, {"message": "not found", "details": {"name": name}}, "get", kind, name, "team-a")

    def list(
        self,
        kind: Kind,
        *,
        labels: str = "",
        fields: str = "",
        namespace: str | None = None,
        keep: Keep = whole,
    ) -> Listing:
        self.asked.append((labels, fields))
        found = self._all(kind, "list")
        key, _, value = labels.partition("=")
        if kind == POD:
            found = [one for one in found if one["metadata"]["labels"].get(key) == value]
        if fields:
            name = fields.rpartition("=")[2]
            found = [one for one in found if one["involvedObject"]["name"] == name]
        return Listing([keep(one) for one in found], "1")

    def _all(self, kind: Kind, verb: str) -> Sequence[Json]:
        if kind in self.forbidden:
            raise Refusal(403, {"message": f"{kind.plural} is forbidden"}, verb, kind, "", "team-a")
        kinds: dict[Kind, Callable[[There], Sequence[Json]]] = {
            WORKFLOW: lambda one: [one.workflow],
            POD: lambda one: one.pods,
            NODE: lambda one: one.hosts,
            EVENT: lambda one: one.events,
        }
        return [found for one in self.runs for found in kinds[kind](one)]
