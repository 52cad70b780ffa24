"""TrainJobs of Kubeflow Trainer: the JobSet made from one and its runtime, and its status at the end.

A TrainJob names a TrainingRuntime, which describes the pods, and the Trainer makes a JobSet of both. Its pods are
emulated when a step waits for it.
Source: Kubeflow Trainer 2.0 to 2.2 (pkg/webhooks, pkg/runtime/core and its plugins).
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.labels import WORKER
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.parts import name_of, part, several

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

VERSION = "trainer.kubeflow.org/v1alpha1"
RUNTIME, TRAINING, JOB_SET = "TrainingRuntime", "TrainJob", "JobSet"
_SET_VERSION = "jobset.x-k8s.io/v1alpha2"
_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
_NODE = "node"
_PORT = "29500"
_CHANGES = ("podSpecOverrides", "podTemplateOverrides", "runtimePatches")
"""Fields by which a TrainJob may change the pods of its runtime, in different versions."""
_KNOWN = {"numNodes", "torch"}
"""Fields of a runtime's `mlPolicy` that are emulated."""


def kind_of(found: Json) -> str:
    """Which of the three kinds an object has; empty if none."""
    known = {RUNTIME: VERSION, TRAINING: VERSION, JOB_SET: _SET_VERSION}
    kind = str(found.get("kind"))
    return kind if kind in known and known[kind] == found.get("apiVersion") else ""


def unsupported_runtime(found: Json) -> str:
    """Why the pods of a runtime cannot be emulated; empty if they can."""
    for word in part(part(found, "spec"), "mlPolicy"):
        if word not in _KNOWN:
            return f"makes a TrainingRuntime of `{word}`, whose processes the Trainer starts"
    return ""


def unsupported_training(found: Json) -> str:
    """Why a TrainJob cannot be emulated, whatever its runtime is; empty if it can."""
    spec = part(found, "spec")
    if part(spec, "runtimeRef").get("kind", "ClusterTrainingRuntime") != RUNTIME:
        return "starts a TrainJob whose pods are described in a cluster"
    if spec.get("suspend"):
        return "makes a TrainJob that does not begin"
    if spec.get("initializer"):
        return "starts a TrainJob that fetches data or a model first (`initializer`)"
    changes = next((field for field in _CHANGES if spec.get(field)), "")
    return f"starts a TrainJob that changes the pods of its runtime (`{changes}`)" if changes else ""


def job_set(training: Json, runtime: Json) -> Json:
    """The JobSet that the Trainer creates."""
    said, template = part(runtime, "spec"), part(part(runtime, "spec"), "template")
    spec: Json = copy.deepcopy(part(template, "spec"))
    for one in several(spec, "replicatedJobs"):
        job = part(one, "template")
        if part(part(job, "metadata"), "labels").get(_STEP) == "trainer":
            _train(one, training, part(said, "mlPolicy"))
    metadata = part(training, "metadata")
    kept = {field: metadata[field] for field in ("name", "namespace") if field in metadata}
    return {"apiVersion": _SET_VERSION, "kind": JOB_SET, "metadata": kept, "spec": spec}


def _train(one: Json, training: Json, policy: Json) -> None:
    """Apply the number of nodes, and the container settings of the TrainJob, to the Job that trains."""
    trainer = part(part(training, "spec"), "trainer")
    given = trainer.get("numNodes", policy.get("numNodes", 1))
    count = given if isinstance(given, int) else 1  # a tag counts as one
    one["replicas"] = 1
    job = one["template"]["spec"]
    job |= {"parallelism": count, "completions": count}
    for container in several(part(part(job, "template"), "spec"), "containers"):
        if container.get("name") != _NODE or not trainer:
            continue
        container |= {field: trainer[field] for field in ("image", "command", "args") if field in trainer}
        if "resourcesPerNode" in trainer:
            container["resources"] = trainer["resourcesPerNode"]
        env = {str(each["name"]): each for each in several(container, "env")}
        env |= {str(each["name"]): each for each in several(trainer, "env")}
        if "torch" in policy:
            name = name_of(training)
            each = trainer.get("numProcPerNode", part(policy, "torch").get("numProcPerNode", "auto"))
            env |= {found["name"]: found for found in _met(name, count, str(each))}
        container["env"] = list(env.values())


def _met(name: str, count: int, each: str) -> Iterator[Json]:
    """The variables of torchrun."""
    yield {"name": "PET_NNODES", "value": str(count)}
    yield {"name": "PET_NPROC_PER_NODE", "value": each}
    number = {"fieldRef": {"fieldPath": f"metadata.annotations['{WORKER}']"}}
    yield {"name": "PET_NODE_RANK", "valueFrom": number}
    yield {"name": "PET_MASTER_ADDR", "value": f"{name}-{_NODE}-0-0.{name}"}
    yield {"name": "PET_MASTER_PORT", "value": _PORT}


def ended(training: Json, found: Json) -> Json:
    """The TrainJob with its status, after its JobSet has ended."""
    status = part(found, "status")
    done = {"Completed": "Complete"}.get(str(status.get("terminalState")), "Failed")
    conditions = [{**one, "type": done} for one in several(status, "conditions")]
    jobs = [
        {"name": one.get("name"), "ready": 0, "succeeded": 0, "failed": 0, "active": 0, "suspended": 0}
        | {"succeeded" if done == "Complete" else "failed": 1}
        for one in several(part(found, "spec"), "replicatedJobs")
    ]
    return {**training, "status": {"conditions": conditions, "jobsStatus": jobs}}


class Wanted(NamedTuple):
    """A JobSet whose pods are to be emulated, and the TrainJob whose conditions are evaluated instead, if any."""

    job_set: Json
    training: Json | None


class Trainings:
    """The runtimes and TrainJobs that a run has created."""

    def __init__(self) -> None:
        self._runtimes: dict[str, Json] = {}
        self._made: dict[str, tuple[Json, Json]] = {}

    def asked(self, resource: Json, found: Json) -> Wanted | str | None:
        """What a `resource` refers to: pods to be emulated, or why it fails; None if there is nothing to do."""
        action, kind = str(resource["action"]), kind_of(found)
        name = name_of(found)
        if action == "delete":
            (self._runtimes if kind == RUNTIME else self._made).pop(name, None)
            return None
        if kind == RUNTIME:
            if action == "create" and name in self._runtimes:
                return _there(RUNTIME, name)
            self._runtimes[name] = found
            return None
        if action != "get":
            if action == "create" and name in self._made:
                return _there(TRAINING, name)
            runtime = str(part(part(found, "spec"), "runtimeRef").get("name"))
            if runtime not in self._runtimes:
                return (
                    "Error from server (Forbidden): admission webhook"
                    ' "validator.trainjob.trainer.kubeflow.org" denied the request: spec.runtimeRef: Invalid value:'
                    f" {runtime}: specified trainingRuntime must be created before the TrainJob is created"
                )
            self._made.setdefault(name, (found, job_set(found, self._runtimes[runtime])))
        if name not in self._made:
            return f'Error from server (NotFound): {_plural(kind)} "{name}" not found'
        if not (resource.get("successCondition") or resource.get("failureCondition")):
            return None
        training, pods = self._made[name]
        return Wanted(pods, training if kind == TRAINING else None)


def _plural(kind: str) -> str:
    group = (_SET_VERSION if kind == JOB_SET else VERSION).partition("/")[0]
    return f"{kind.lower()}s.{group}"


def _there(kind: str, name: str) -> str:
    return f'Error from server (AlreadyExists): {_plural(kind)} "{name}" already exists'
