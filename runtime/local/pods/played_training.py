"""PyTorchJobs and TFJobs: which pods they have, and what they say when these have ended.

Source: Kubeflow's training operator 1.8 (pkg/controller.v1).
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.labels import TRAINING, TRAINING_INDEX, TRAINING_ROLE, worker
from flowdsl.runtime.local.pods.sorts import Ended, Member, Policy, Sort, policy
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Json = dict[str, Any]

_TORCH = ("Master", "Worker")
_TENSORFLOW = ("Chief", "Master", "Worker", "PS", "Evaluator")
_TORCH_PORT, _TENSORFLOW_PORT = 23456, 2222
"""At which pods listen that do not say it."""


def _replicas(spec: Json, field: str, roles: Sequence[str]) -> dict[str, Json]:
    """What is said of each role. The operator takes the names of roles however they are written."""
    written = {role.lower(): one for role, one in part(spec, field).items()}
    return {role: part(written, role.lower()) for role in roles if role.lower() in written}


def _torch(spec: Json) -> dict[str, Json]:
    return _replicas(spec, "pytorchReplicaSpecs", _TORCH)


def _tensorflow(spec: Json) -> dict[str, Json]:
    return _replicas(spec, "tfReplicaSpecs", _TENSORFLOW)


def _policy(spec: Json) -> Policy:
    return policy(part(spec, "runPolicy"), 0)


def _restarts(spec: Json, replicas: dict[str, Json]) -> bool:
    """Whether pods are begun again as often as they fail."""
    limited = isinstance(part(spec, "runPolicy").get("backoffLimit"), int)
    return not limited and any(one.get("restartPolicy") != "Never" for one in replicas.values())


def _cleans(spec: Json) -> bool:
    """Whether pods that run still are ended with the job."""
    return part(spec, "runPolicy").get("cleanPodPolicy") in ("Running", "All")


def _count(replica: Json) -> int:
    written = replica.get("replicas")
    return 1 if written is None else int(written)


def _port(replica: Json, name: str, usual: int) -> int:
    containers = several(part(part(replica, "template"), "spec"), "containers")
    ports = [one for container in containers for one in several(container, "ports")]
    return next((int(one["containerPort"]) for one in ports if one.get("name") == name), usual)


def _members(
    name: str, replicas: dict[str, Json], variables: Callable[[str, int, int], dict[str, str]]
) -> list[Member]:
    """The pods; `variables` of a role, a number in it, and a number among all."""
    members: list[Member] = []
    for role, one in replicas.items():
        kind = role.lower()
        for index in range(_count(one)):
            host = f"{name}-{kind}-{index}"
            labels = {
                f"{TRAINING}job-name": name,
                TRAINING_ROLE: kind,
                TRAINING_INDEX: str(index),
            }
            fields = {f"metadata.labels['{key}']": text for key, text in labels.items()}
            given = {"HOSTNAME": host, "PYTHONUNBUFFERED": "1", **variables(kind, index, len(members))}
            found = {"metadata.name": host, **fields}
            members.append(Member(worker(labels), kind, host, part(one, "template"), given, found))
    return members


def _names(found: Json, members: Sequence[Member]) -> list[str]:
    """The operator makes a Service for each pod."""
    return [one.host for one in members]


def _status(kind: str, replicas: dict[str, Json], ended: Ended, leads: Sequence[str]) -> Json:
    """The status of a job: how many pods of each role have ended, and whether it has succeeded with these."""
    counts: dict[str, Json] = {}
    for role in replicas:
        succeeded, failed = ended.counts(role.lower())
        numbers = {"succeeded": succeeded, "failed": failed}
        counts[role] = {name: number for name, number in numbers.items() if number}
    done = "Succeeded" if all(name in ended.succeeded for name in leads) else "Failed"
    condition = {"type": done, "status": "True", "reason": f"{kind}{done}"}
    return {"completionTime": rfc3339(time.time()), "conditions": [condition], "replicaStatuses": counts}


# --- PyTorchJob ------------------------------------------------------------------------------------


def _torch_templates(spec: Json) -> list[Json]:
    return [part(one, "template") for one in _torch(spec).values()]


def _torch_unplayed(spec: Json) -> str:
    replicas = _torch(spec)
    if "Master" not in replicas or spec.get("elasticPolicy"):
        return "starts a PyTorchJob whose workers find each other without a Master"
    if _restarts(spec, replicas):
        return "starts a PyTorchJob whose pods are tried again without a limit"
    return ""


def _torch_members(found: Json) -> list[Member]:
    spec, name = part(found, "spec"), found["metadata"]["name"]
    replicas = _torch(spec)
    pods = sum(map(_count, replicas.values()))
    each = str(spec.get("nprocPerNode") or "auto")
    first, port = f"{name}-master-0", str(_port(replicas["Master"], "pytorchjob-port", _TORCH_PORT))
    common = {
        "MASTER_PORT": port,
        "PET_MASTER_PORT": port,
        "MASTER_ADDR": first,
        "PET_MASTER_ADDR": first,
        "WORLD_SIZE": str(pods * (int(each) if each.isdecimal() else 1)),
        "PET_NPROC_PER_NODE": each,
        "PET_NNODES": str(pods),
    }

    def variables(role: str, index: int, rank: int) -> dict[str, str]:
        return {**common, "RANK": str(rank), "PET_NODE_RANK": str(rank)}

    return _members(name, replicas, variables)


def _torch_leads(found: Json, members: Sequence[Member]) -> list[str]:
    return ["master-0"] if _cleans(part(found, "spec")) else []


def _torch_status(found: Json, ended: Ended) -> Json:
    return _status("PyTorchJob", _torch(part(found, "spec")), ended, ["master-0"])


PYTORCH_JOB = Sort(
    "pytorchjobs.kubeflow.org",
    _torch_templates,
    _torch_unplayed,
    _policy,
    _torch_members,
    _torch_leads,
    _names,
    _torch_status,
)


# --- TFJob -----------------------------------------------------------------------------------------


def _tf_templates(spec: Json) -> list[Json]:
    return [part(one, "template") for one in _tensorflow(spec).values()]


def _tf_unplayed(spec: Json) -> str:
    replicas = _tensorflow(spec)
    if spec.get("enableDynamicWorker"):
        return "starts a TFJob whose workers come and go"
    if _restarts(spec, replicas):
        return "starts a TFJob whose pods are tried again without a limit"
    if "PS" in replicas and not _cleans(spec):
        return "starts a TFJob whose parameter servers nothing ends (`cleanPodPolicy`)"
    return ""


def _tf_members(found: Json) -> list[Member]:
    spec, metadata = part(found, "spec"), found["metadata"]
    replicas = _tensorflow(spec)
    cluster = {
        role.lower(): [
            f"{metadata['name']}-{role.lower()}-{index}.{metadata['namespace']}.svc:"
            f"{_port(one, 'tfjob-port', _TENSORFLOW_PORT)}"
            for index in range(_count(one))
        ]
        for role, one in sorted(replicas.items())
    }

    def variables(role: str, index: int, rank: int) -> dict[str, str]:
        if sum(map(len, cluster.values())) == 1:
            return {}
        task = {"type": role, "index": index}
        return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": task, "environment": "cloud"})}

    return _members(metadata["name"], replicas, variables)


def _deciding(spec: Json, members: Sequence[Member]) -> list[str]:
    """Those with whose success a TFJob has succeeded."""
    first = [one.name for one in members if one.role in ("chief", "master")]
    workers = [one.name for one in members if one.role == "worker"]
    return first or (workers if spec.get("successPolicy") == "AllWorkers" else workers[:1])


def _tf_leads(found: Json, members: Sequence[Member]) -> list[str]:
    spec = part(found, "spec")
    return _deciding(spec, members) if _cleans(spec) else []


def _tf_status(found: Json, ended: Ended) -> Json:
    spec = part(found, "spec")
    return _status("TFJob", _tensorflow(spec), ended, _deciding(spec, ended.members))


TF_JOB = Sort(
    "tfjobs.kubeflow.org",
    _tf_templates,
    _tf_unplayed,
    _policy,
    _tf_members,
    _tf_leads,
    _names,
    _tf_status,
)
