"""The pods of a distributed step, in the fields of Kubernetes: an Indexed Job, and a Service by which they meet.

The Job is made of what an ordinary template of the step would be, so each option is written by its own concern.
Its pods have stable names, `JOB-0.SERVICE` is the first, and each knows its number. When one fails, the others are
ended. Source: Kubernetes, Indexed Jobs and their pod hostnames; run on a real scheduler.

An operator makes the same pods out of an object of its own, and tells them itself how they meet. Source: PyTorchJob of
Kubeflow's training operator 1.8.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from flowdsl.compiler.argo.document import OWNER, Source, Tagged, plain_data, yaml_text
from flowdsl.compiler.argo.origins import filled
from flowdsl.compiler.argo.volumes import volume
from flowdsl.compiler.ports import WORKERS
from flowdsl.grammar.duration import seconds_in
from flowdsl.grammar.labels import ATTEMPT, RUN, WORKER_OF
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Json

NAME = f"{{{{inputs.parameters.{WORKERS}}}}}"
SCRIPT = "FLOWDSL_SCRIPT"
MEMBER = "flowdsl/workers"
"""The label of the pods of one step, by which the Service finds those of each attempt."""

_INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
_BEGIN = f"""\
import os, sys, tempfile
{{}}path = os.path.join(tempfile.mkdtemp(), "step.py")
with open(path, "wb") as file:
    file.write(os.environb.pop(b"{SCRIPT}"))
os.execv(sys.executable, [sys.executable, path])
"""
"""The pods of a Job get no script from Argo: it is in a variable, and becomes a file."""

_RANKED = 'os.environ["NODE_RANK"] = os.environ.pop("RANK")\n'
"""The operator calls the number of a pod its rank, which is that of a process here."""

_EXPANDED = regex(r"\$(?=[$(])")
#: What Argo's template and the pods of a Job call alike.
_POD = (
    *("nodeSelector", "affinity", "tolerations", "priorityClassName", "serviceAccountName", "schedulerName"),
    *("securityContext", "hostAliases", "automountServiceAccountToken"),
)
#: What holds for all pods of a run, and how a pod calls it.
_RUN = {
    "serviceAccountName": "serviceAccountName",
    "podPriorityClassName": "priorityClassName",
    "imagePullSecrets": "imagePullSecrets",
    "securityContext": "securityContext",
}
_QUEUE = "kueue.x-k8s.io/queue-name"


def service() -> Json:
    """The `resource` that gives the pods of a step names, before they are ready."""
    body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": NAME, "ownerReferences": [OWNER]},
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {MEMBER: NAME}},
    }
    return {"action": "apply", "manifest": _text(body)}


def job(found: Json, template: ir.Template, spec: Json, claims: Sequence[ir.PodVolume]) -> Json:
    """The template of a Job, or of what an operator has for one, in a workflow of that `spec`.

    Its pods are what the template `found` is.
    """
    asked = template.settings.distributed
    container: Json = found.pop("container", None) or found.pop("script")
    attempt = "-{{retries}}" if "retryStrategy" in found else ""
    pod: Json = {theirs: spec[ours] for ours, theirs in _RUN.items() if ours in spec}
    pod |= {field: found.pop(field) for field in _POD if field in found}
    labels, annotations = _marks(spec.get("podMetadata", {}), found.pop("metadata", {}))
    queue = labels.pop(_QUEUE, None)
    mounted = {mount["name"] for mount in container.get("volumeMounts", ())}
    volumes = [_claim(one) for one in claims if one.name in mounted] + found.pop("volumes", [])
    made = _FORMS[asked.operator]
    pod = {
        **made.pod,
        "containers": [{"name": made.container, **_container(container, asked, f"{NAME}{attempt}")}],
        **filled({"volumes": volumes}),
        **pod,
    }
    marks = {RUN: "{{workflow.name}}", **made.labels, **labels}
    notes = {WORKER_OF: "{{node.name}}", **({ATTEMPT: "{{retries}}"} if attempt else {}), **annotations}
    ends = filled({"activeDeadlineSeconds": _limit(found.get("timeout"), spec.get("activeDeadlineSeconds"))})
    body = {
        "apiVersion": made.version,
        "kind": made.kind,
        "metadata": {
            "name": f"{NAME}{attempt}",
            **filled({"labels": filled({_QUEUE: queue})}),
            "ownerReferences": [OWNER],
        },
        "spec": made.spec(asked, ends, {"metadata": {"labels": marks, "annotations": notes}, "spec": pod}),
    }
    resource = {
        "action": "apply",
        "successCondition": made.success.format(workers=asked.workers),
        "failureCondition": made.failure,
        "manifest": _text(body),
    }
    return {**found, "resource": resource}


def _indexed(asked: ir.Distributed, ends: Json, template: Json) -> Json:
    return {
        "completionMode": "Indexed",
        "completions": asked.workers,
        "parallelism": asked.workers,
        "backoffLimit": 0,
        **ends,
        "template": template,
    }


def _pytorch(asked: ir.Distributed, ends: Json, template: Json) -> Json:
    """Of the pods the first is the Master; when that has ended, the others are ended too."""
    replicas = {"Master": 1, "Worker": asked.workers - 1}
    return {
        "nprocPerNode": str(asked.processes),
        "runPolicy": {"cleanPodPolicy": "Running", **ends},
        "pytorchReplicaSpecs": {
            role: {"replicas": count, "restartPolicy": "Never", "template": template}
            for role, count in replicas.items()
            if count
        },
    }


class _Form(NamedTuple):
    """An object that makes the pods of a step: what it is, and when it has ended.

    `container`: the name that the one of the step must have. `pod`, `labels`: what its pods have besides. `spec`: of
    the ends of a step and the template of its pods.
    """

    version: str
    kind: str
    container: str
    pod: Json
    labels: Json
    spec: Callable[[ir.Distributed, Json, Json], Json]
    success: str
    failure: str


_FORMS: dict[str, _Form] = {
    "": _Form(
        "batch/v1",
        "Job",
        "main",
        {"subdomain": NAME, "restartPolicy": "Never"},
        {MEMBER: NAME},
        _indexed,
        "status.succeeded == {workers}",
        "status.failed > 0",
    ),
    "pytorchjob": _Form(
        "kubeflow.org/v1",
        "PyTorchJob",
        "pytorch",
        {},
        {},
        _pytorch,
        "status.replicaStatuses.Master.succeeded == 1",
        "status.replicaStatuses.Master.failed > 0, status.replicaStatuses.Worker.failed > 0",
    ),
}


def _container(found: Json, asked: ir.Distributed, job_name: str) -> Json:
    """A container of a Job, with the variables by which it finds the others."""
    env = [*_meeting(asked, job_name, python="source" in found), *found.pop("env", [])]
    if "source" in found:
        source = _EXPANDED.sub("$$", found.pop("source"))
        env.append({"name": SCRIPT, "value": Source(source)})
        begin = _BEGIN.format(_RANKED if asked.operator else "")
        found |= {"command": ["python3"], "args": ["-c", begin]}
    if asked.operator:
        found["ports"] = [{"name": f"{asked.operator}-port", "containerPort": asked.port}]
    return {
        **{field: found[field] for field in ("image", "command", "args") if field in found},
        "env": env,
        **found,
    }


def _meeting(asked: ir.Distributed, job_name: str, *, python: bool) -> list[Json]:
    if asked.operator:
        return [{"name": "LOCAL_WORLD_SIZE", "value": str(asked.processes)}]
    first, port = f"{job_name}-0.{NAME}", str(asked.port)
    number: Json = {"valueFrom": {"fieldRef": {"fieldPath": _INDEX}}}
    found: dict[str, Json] = {
        "NODE_RANK": number,
        "MASTER_ADDR": {"value": first},
        "MASTER_PORT": {"value": port},
        "WORLD_SIZE": {"value": str(asked.workers * asked.processes)},
        "LOCAL_WORLD_SIZE": {"value": str(asked.processes)},
    }
    if asked.framework == "torch" and not python:  # the program is torchrun, or calls it
        found |= {
            "PET_NODE_RANK": number,
            "PET_MASTER_ADDR": {"value": first},
            "PET_MASTER_PORT": {"value": port},
            "PET_NNODES": {"value": str(asked.workers)},
            "PET_NPROC_PER_NODE": {"value": str(asked.processes)},
        }
    if asked.framework == "tensorflow":
        hosts = [f"{job_name}-{worker}.{NAME}:{port}" for worker in range(asked.workers)]
        cluster = json.dumps({"worker": hosts})
        found["TF_CONFIG"] = {
            "value": f'{{"cluster": {cluster}, "task": {{"type": "worker", "index": $(NODE_RANK)}} }}'
        }
    return [{"name": name, **value} for name, value in found.items()]


def _claim(found: ir.PodVolume) -> Json:
    """A claim as a pod declares it. Argo names one that it makes for a run after that."""
    if found.kind == "new":
        return {
            "name": found.name,
            "persistentVolumeClaim": {"claimName": "{{workflow.name}}-" + found.name},
        }
    return volume(found)


def _limit(timeout: str | None, deadline: int | None) -> int | None:
    """The seconds after which the pods are ended: Argo ends its own ones only."""
    limits = [] if timeout is None else [max(1, round(seconds_in(timeout)))]
    return min([*limits, deadline] if deadline is not None else limits, default=None)


def _marks(*several: Json) -> tuple[dict[str, str], dict[str, str]]:
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    for one in several:
        labels |= one.get("labels", {})
        annotations |= one.get("annotations", {})
    return labels, annotations


def _text(body: Json) -> str:
    """An object as YAML, whose texts may hold tags."""
    data, marks = plain_data(_tagged(body))
    return yaml_text(data, marks)


def _tagged(thing: object) -> Any:
    match thing:
        case dict():
            return {key: _tagged(value) for key, value in cast("Mapping[str, object]", thing).items()}
        case list():
            return [_tagged(one) for one in cast("list[object]", thing)]
        case str() if not isinstance(thing, Source) and "{{" in thing:
            return Tagged(thing)
        case _:
            return thing
