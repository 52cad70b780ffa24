"""PyTorchJobs, TFJobs and MPIJobs: the pods that they have, and their status at the end.

Sources: Kubeflow's training operator 1.8 (pkg/controller.v1) and MPI Operator 0.6 (pkg/controller).
"""

from __future__ import annotations

import copy
import json
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.jobs import TRAININGS
from flowdsl.grammar.labels import TRAINING, TRAINING_INDEX, TRAINING_ROLE, worker
from flowdsl.runtime.local.pods.workload_kind import ENDLESS, Ended, Member, Policy, WorkloadKind, policy
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Json = dict[str, Any]

_TORCH_PORT, _TENSORFLOW_PORT = 23456, 2222
"""The default ports of pods."""
_PAUSE = 10.0
"""The seconds before a pod without a limit is restarted. Source: the kubelet, whose later pauses are longer."""
_MPI_TRIES = 6
"""The default number of retries of a Launcher, which is a Job."""


def _replicas(kind: str, spec: Json) -> dict[str, Json]:
    """The replica spec of each role. The operator ignores the case of role names."""
    field, roles = TRAININGS[kind].replicas, TRAININGS[kind].roles
    written = {role.lower(): one for role, one in part(spec, field).items()}
    return {role: part(written, role.lower()) for role in roles if role.lower() in written}


def _templates(kind: str, spec: Json) -> list[Json]:
    return [part(one, "template") for one in _replicas(kind, spec).values()]


def _policy(kind: str, spec: Json) -> Policy:
    """The policy of pods.

    The limit counts restarts, and with the last of them the job has failed. Without a limit, restarts never end.
    """
    said, again = part(spec, "runPolicy"), _again(kind, spec)
    found = policy(said, 0)
    if True in again and said.get("backoffLimit") is None:
        return found._replace(tries=ENDLESS, pause=_PAUSE)
    return found._replace(tries=max(1, found.tries - 1) if True in again else 1)


def _again(kind: str, spec: Json) -> set[bool]:
    """Whether failed pods are restarted, which may be true of only some of them."""
    return {_restarts(kind, one) != "Never" for one in _replicas(kind, spec).values() if _count(one)}


def _restarts(kind: str, replica: Json) -> str:
    """The restart policy of the pods of a role."""
    return str(replica.get("restartPolicy") or TRAININGS[kind].restarts)


def _unsupported(kind: str, spec: Json) -> str:
    """Why restarted pods cannot be emulated; empty if they can."""
    limit, again = part(spec, "runPolicy").get("backoffLimit"), _again(kind, spec)
    if True not in again:
        return ""
    policies = {_restarts(kind, one) for one in _replicas(kind, spec).values() if _count(one)}
    endless = limit is None and policies <= {"Never", "OnFailure"}
    if not isinstance(limit, int) and not endless:
        return f"starts a {kind} whose pods are tried again without a limit"
    if len(again) > 1 and (limit is None or limit > 1):
        return f"starts a {kind} only some of whose pods are tried again"
    return ""


def _cleans(spec: Json) -> bool:
    """Whether pods that still run are deleted when the job ends."""
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
    """The pods; `variables` takes a role, an index in the role, and a rank among all pods."""
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
    """The host names of the pods: the operator creates a Service for each."""
    return [one.host for one in members]


def _silent(spec: Json, ended: Ended) -> bool:
    """Whether the operator ends a job without counting its pods: at its deadline, or if no retries are allowed."""
    return ended.late or part(spec, "runPolicy").get("backoffLimit") == 0


def _status(
    kind: str,
    replicas: dict[str, Json],
    ended: Ended,
    leads: Sequence[str],
    *,
    silent: bool = False,
) -> Json:
    """The status of a job: how many pods of each role have ended, and whether the job has succeeded.

    Pods that have reached the limit of restarts still run when the operator deletes them, so it counts none as
    failed; nor does it if it is `silent`.
    """
    counts: dict[str, Json] = {}
    for role, one in replicas.items():
        succeeded, failed = ended.counts(role.lower())
        if _restarts(kind, one) != "Never" or silent:
            failed = 0
        numbers = {"succeeded": succeeded, "failed": failed}
        counts[role] = {name: number for name, number in numbers.items() if number}
    done = "Succeeded" if all(name in ended.succeeded for name in leads) else "Failed"
    condition = {"type": done, "status": "True", "reason": f"{kind}{done}"}
    return {"completionTime": rfc3339(time.time()), "conditions": [condition], "replicaStatuses": counts}


# --- PyTorchJob ------------------------------------------------------------------------------------


def _torch_unsupported(spec: Json) -> str:
    if "Master" not in _replicas("PyTorchJob", spec) or spec.get("elasticPolicy"):
        return "starts a PyTorchJob whose workers find each other without a Master"
    return _unsupported("PyTorchJob", spec)


def _torch_members(found: Json) -> list[Member]:
    spec, name = part(found, "spec"), found["metadata"]["name"]
    replicas = _replicas("PyTorchJob", spec)
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
    spec = part(found, "spec")
    replicas = _replicas("PyTorchJob", spec)
    return _status("PyTorchJob", replicas, ended, ["master-0"], silent=_silent(spec, ended))


PYTORCH_JOB = WorkloadKind(
    "pytorchjobs.kubeflow.org",
    partial(_templates, "PyTorchJob"),
    _torch_unsupported,
    partial(_policy, "PyTorchJob"),
    _torch_members,
    _torch_status,
    _torch_leads,
    _names,
)


# --- TFJob -----------------------------------------------------------------------------------------


def _tf_unsupported(spec: Json) -> str:
    if spec.get("enableDynamicWorker"):
        return "starts a TFJob whose workers come and go"
    if why := _unsupported("TFJob", spec):
        return why
    if "PS" in _replicas("TFJob", spec) and not _cleans(spec):
        return "starts a TFJob whose parameter servers nothing ends (`cleanPodPolicy`)"
    return ""


def _tf_members(found: Json) -> list[Member]:
    spec, metadata = part(found, "spec"), found["metadata"]
    replicas = _replicas("TFJob", spec)
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
    """The members whose success decides that of a TFJob."""
    first = [one.name for one in members if one.role in ("chief", "master")]
    workers = [one.name for one in members if one.role == "worker"]
    return first or (workers if spec.get("successPolicy") == "AllWorkers" else workers[:1])


def _tf_leads(found: Json, members: Sequence[Member]) -> list[str]:
    spec = part(found, "spec")
    return _deciding(spec, members) if _cleans(spec) else []


def _tf_status(found: Json, ended: Ended) -> Json:
    spec = part(found, "spec")
    leads, silent = _deciding(spec, ended.members), _silent(spec, ended)
    return _status("TFJob", _replicas("TFJob", spec), ended, leads, silent=silent)


TF_JOB = WorkloadKind(
    "tfjobs.kubeflow.org",
    partial(_templates, "TFJob"),
    _tf_unsupported,
    partial(_policy, "TFJob"),
    _tf_members,
    _tf_status,
    _tf_leads,
    _names,
)


# --- MPIJob ----------------------------------------------------------------------------------------


_HERE = {
    "OMPI_MCA_rmaps_base_oversubscribe": "true",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""Variables that make `mpirun` start all processes on this machine: before Open MPI 5, and from 5 on."""


def _mpi_unsupported(spec: Json) -> str:
    if spec.get("mpiImplementation", "OpenMPI") != "OpenMPI":
        return "starts an MPIJob of another implementation than Open MPI"
    if "Launcher" not in _replicas("MPIJob", spec):
        return "starts an MPIJob without a Launcher"
    return ""


def _mpi_policy(spec: Json) -> Policy:
    return policy(part(spec, "runPolicy"), _MPI_TRIES)


def _mpi_members(found: Json) -> list[Member]:
    """Only the Launcher: on this machine it starts the processes itself, with the volumes and GPUs of the Workers."""
    name, replicas = found["metadata"]["name"], _replicas("MPIJob", part(found, "spec"))
    launcher = _beside(replicas["Launcher"], replicas.get("Worker", {}))
    made = _members(name, {"Launcher": launcher}, lambda role, index, rank: {**_HERE, "K_MPI_JOB_ROLE": role})
    return [one._replace(fresh=launcher.get("restartPolicy") == "Never") for one in made]


def _beside(launcher: Json, worker: Json) -> Json:
    """The Launcher with the volumes and GPUs of the Workers."""
    found, other = copy.deepcopy(launcher), part(part(worker, "template"), "spec")
    pod = found["template"]["spec"]
    pod["volumes"] = _joined(several(pod, "volumes"), several(other, "volumes"), "name")
    for container, theirs in zip(several(pod, "containers"), several(other, "containers"), strict=False):
        mounts = several(container, "volumeMounts"), several(theirs, "volumeMounts")
        container["volumeMounts"] = _joined(*mounts, "mountPath")
        limits = part(part(container, "resources"), "limits")
        more = part(part(theirs, "resources"), "limits")
        gpus = {key: int(value) * _count(worker) for key, value in more.items() if "/" in key}
        container["resources"] = {**part(container, "resources"), "limits": {**limits, **gpus}}
    return {**found, "replicas": 1}


def _joined(own: list[Json], more: list[Json], key: str) -> list[Json]:
    known = {one[key] for one in own}
    return [*own, *(one for one in more if one[key] not in known)]


def _mpi_status(found: Json, ended: Ended) -> Json:
    launcher = {"Launcher": {"restartPolicy": "Never"}}  # its Job, which has restarted it, has ended
    return _status("MPIJob", launcher, ended, [one.name for one in ended.members])


MPI_JOB = WorkloadKind(
    "mpijobs.kubeflow.org",
    partial(_templates, "MPIJob"),
    _mpi_unsupported,
    _mpi_policy,
    _mpi_members,
    _mpi_status,
)
