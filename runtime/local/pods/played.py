"""The kinds of objects whose pods are played: which pods these are, and what the object says when they have ended.

Sources: Kubernetes, Indexed Jobs (variables, labels and host names of their pods); PyTorchJob of Kubeflow's training
operator 1.8 (pkg/controller.v1/pytorch).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.tree import inside
from flowdsl.grammar.labels import TRAINING, TRAINING_INDEX, TRAINING_ROLE, WORKER
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

Json = dict[str, Any]

_ROLES = ("Master", "Worker")
_PORT = 23456
"""At which the Master of a PyTorchJob listens that does not say it."""


class Member(NamedTuple):
    """One of the pods.

    `name`: what it is called among the others. `host`: the name of the pod. `variables`: what its containers are
    given. `fields`: what a `fieldRef` of one may mean.
    """

    name: str
    host: str
    template: Json
    variables: dict[str, str]
    fields: dict[str, str]

    @property
    def spec(self) -> Json:
        """What runs in it."""
        return part(self.template, "spec")


class Ended(NamedTuple):
    """How the pods have ended: the members that succeeded, of all; and whether the rest is `late`."""

    members: Sequence[Member]
    succeeded: Collection[str]
    late: bool

    def succeeded_of(self, role: str) -> int:
        """How many of those of a role succeeded."""
        return sum(one.name in self.succeeded for one in self.members if _is(one, role))

    def failed_of(self, role: str) -> int:
        """How many of those of a role did not."""
        return sum(one.name not in self.succeeded for one in self.members if _is(one, role))


class Sort(NamedTuple):
    """A kind of object.

    `plural`: its name in messages of a cluster. `templates`: those of its pods, of its spec. `unplayed`: why its spec
    cannot be played, or nothing. `members`: its pods, of the object. `names`: those by which they are found there.
    `policy`: where in the spec it stands how often pods are tried again, by default `again` times, the deadline, and
    whether they begin.
    `status`: of how its pods ended.
    """

    plural: str
    templates: Callable[[Json], list[Json]]
    unplayed: Callable[[Json], str]
    members: Callable[[Json], list[Member]]
    names: Callable[[Json, Sequence[Member]], list[str]]
    policy: tuple[str, ...]
    again: int
    status: Callable[[Json, Ended], Json]

    def suspended(self, spec: Json) -> bool:
        """Whether an object of that spec does not begin before somebody lets it."""
        return bool(inside(spec, *self.policy).get("suspend"))

    def limits(self, spec: Json) -> tuple[int, float | None]:
        """How often a pod of an object of that spec is tried, and the seconds after which they are ended."""
        policy = inside(spec, *self.policy)
        deadline = policy.get("activeDeadlineSeconds")
        tries = int(policy.get("backoffLimit", self.again)) + 1
        return tries, None if deadline is None else float(deadline)


# --- Job -------------------------------------------------------------------------------------------


def _count(spec: Json, field: str) -> int:
    """How many pods; without a number as many as the other field says, or one. A tag counts as one."""
    other = {"completions": "parallelism", "parallelism": "completions"}[field]
    given = spec.get(field, spec.get(other, 1))
    return given if isinstance(given, int) else 1


def _job_templates(spec: Json) -> list[Json]:
    return [part(spec, "template")]


def _job_unplayed(spec: Json) -> str:
    if _count(spec, "completions") > _count(spec, "parallelism"):
        return "starts a Job whose pods run one after the other"
    return ""


def _job_members(found: Json) -> list[Member]:
    spec = part(found, "spec")
    indexed = spec.get("completionMode") == "Indexed"
    members: list[Member] = []
    for number in map(str, range(_count(spec, "completions"))):
        host = f"{found['metadata']['name']}-{number}"
        fields = {
            "metadata.name": host,
            f"metadata.annotations['{WORKER}']": number,
            f"metadata.labels['{WORKER}']": number,
        }
        variables = {"HOSTNAME": host, **({"JOB_COMPLETION_INDEX": number} if indexed else {})}
        members.append(Member(number, host, part(spec, "template"), variables, fields))
    return members


def _job_names(found: Json, members: Sequence[Member]) -> list[str]:
    """Those behind the Service, and that of the Service."""
    service = str(part(part(part(found, "spec"), "template"), "spec").get("subdomain") or "")
    return [*(f"{one.host}.{service}" for one in members), service] if service else []


def _job_status(found: Json, ended: Ended) -> Json:
    done = sorted(int(name) for name in ended.succeeded)
    status: Json = {"succeeded": len(done)} if done else {}
    if failed := len(ended.members) - len(done):
        reason = "DeadlineExceeded" if ended.late else "BackoffLimitExceeded"
        status |= {"failed": failed, "conditions": [{"type": "Failed", "status": "True", "reason": reason}]}
    else:
        status |= {
            "completionTime": rfc3339(time.time()),
            "conditions": [{"type": "Complete", "status": "True"}],
        }
    if part(found, "spec").get("completionMode") == "Indexed":
        status["completedIndexes"] = ",".join(map(str, done))
    return status


# --- PyTorchJob ------------------------------------------------------------------------------------


def _replicas(spec: Json) -> dict[str, Json]:
    """What is said of each role. The operator takes the names of roles however they are written."""
    written = {role.lower(): one for role, one in part(spec, "pytorchReplicaSpecs").items()}
    return {role: part(written, role.lower()) for role in _ROLES if role.lower() in written}


def _torch_templates(spec: Json) -> list[Json]:
    return [part(one, "template") for one in _replicas(spec).values()]


def _torch_unplayed(spec: Json) -> str:
    policy = part(spec, "runPolicy")
    replicas = _replicas(spec)
    if "Master" not in replicas or spec.get("elasticPolicy"):
        return "starts a PyTorchJob whose workers find each other without a Master"
    restarts = any(one.get("restartPolicy") != "Never" for one in replicas.values())
    if restarts and not isinstance(policy.get("backoffLimit"), int):
        return "starts a PyTorchJob whose pods are tried again without a limit"
    return ""


def _torch_members(found: Json) -> list[Member]:
    spec, name = part(found, "spec"), found["metadata"]["name"]
    replicas = _replicas(spec)
    counts = {role: int(one.get("replicas") or 1) for role, one in replicas.items()}
    each = str(spec.get("nprocPerNode") or "auto")
    first, port = f"{name}-master-0", str(_port(replicas["Master"]))
    common = {
        "PYTHONUNBUFFERED": "1",
        "MASTER_PORT": port,
        "PET_MASTER_PORT": port,
        "MASTER_ADDR": first,
        "PET_MASTER_ADDR": first,
        "WORLD_SIZE": str(sum(counts.values()) * (int(each) if each.isdecimal() else 1)),
        "PET_NPROC_PER_NODE": each,
        "PET_NNODES": str(sum(counts.values())),
    }
    members: list[Member] = []
    for role, count in counts.items():
        for index in range(count):
            kind, rank = role.lower(), str(len(members))
            host = f"{name}-{kind}-{index}"
            fields = {
                "metadata.name": host,
                f"metadata.labels['{TRAINING}job-name']": name,
                f"metadata.labels['{TRAINING_ROLE}']": kind,
                f"metadata.labels['{TRAINING_INDEX}']": str(index),
            }
            variables = {"HOSTNAME": host, **common, "RANK": rank, "PET_NODE_RANK": rank}
            members.append(
                Member(f"{kind}-{index}", host, part(replicas[role], "template"), variables, fields)
            )
    return members


def _torch_names(_: Json, members: Sequence[Member]) -> list[str]:
    """The operator makes a Service for each pod."""
    return [one.host for one in members]


def _port(replica: Json) -> int:
    containers = several(part(part(replica, "template"), "spec"), "containers")
    ports = [one for container in containers for one in several(container, "ports")]
    return next((int(one["containerPort"]) for one in ports if one.get("name") == "pytorchjob-port"), _PORT)


def _is(member: Member, role: str) -> bool:
    return member.name.startswith(f"{role.lower()}-")


def _torch_status(found: Json, ended: Ended) -> Json:
    roles = _replicas(part(found, "spec"))
    counts: dict[str, Json] = {}
    for role in roles:
        numbers = {"succeeded": ended.succeeded_of(role), "failed": ended.failed_of(role)}
        counts[role] = {name: number for name, number in numbers.items() if number}
    done = "Succeeded" if ended.succeeded_of("Master") else "Failed"
    condition = {"type": done, "status": "True", "reason": f"PyTorchJob{done}"}
    return {"completionTime": rfc3339(time.time()), "conditions": [condition], "replicaStatuses": counts}


SORTS = {
    ("batch/v1", "Job"): Sort(
        "jobs.batch", _job_templates, _job_unplayed, _job_members, _job_names, (), 6, _job_status
    ),
    ("kubeflow.org/v1", "PyTorchJob"): Sort(
        "pytorchjobs.kubeflow.org",
        _torch_templates,
        _torch_unplayed,
        _torch_members,
        _torch_names,
        ("runPolicy",),
        0,
        _torch_status,
    ),
}


def sort(found: Json) -> Sort | None:
    """What kind of object one is, where its pods can be played."""
    return SORTS.get((str(found.get("apiVersion")), str(found.get("kind"))))
