"""Jobs and JobSets of Kubernetes: the pods that they have, and their status at the end.

Sources: Kubernetes, Indexed Jobs (variables, labels and host names of their pods); JobSet 0.8 (pkg/controllers).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.tree import inside
from flowdsl.grammar.labels import JOBSET, WORKER, worker
from flowdsl.runtime.local.pods.workload_kind import Ended, Member, Policy, WorkloadKind, policy
from flowdsl.runtime.parts import part, several, texts
from flowdsl.runtime.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Json = dict[str, Any]

_TRIES = 6
"""The default number of retries (`backoffLimit`) of a Job."""


# --- Job -------------------------------------------------------------------------------------------


def _count(spec: Json, field: str) -> int:
    """The number of pods; the other field, then one, is the default. A tag counts as one."""
    other = {"completions": "parallelism", "parallelism": "completions"}[field]
    given = spec.get(field, spec.get(other, 1))
    return given if isinstance(given, int) else 1


def _templates(spec: Json) -> list[Json]:
    return [part(spec, "template")]


def _unsupported(spec: Json) -> str:
    if _count(spec, "completions") > _count(spec, "parallelism"):
        return "starts a Job whose pods run one after the other"
    return ""


def _policy(spec: Json) -> Policy:
    return policy(spec, _TRIES)


def _pods(name: str, spec: Json) -> Iterator[Member]:
    """The pods of a Job of that name."""
    indexed = spec.get("completionMode") == "Indexed"
    for number in map(str, range(_count(spec, "completions"))):
        host = f"{name}-{number}"
        fields = {
            "metadata.name": host,
            f"metadata.annotations['{WORKER}']": number,
            f"metadata.labels['{WORKER}']": number,
        }
        variables = {"HOSTNAME": host, **({"JOB_COMPLETION_INDEX": number} if indexed else {})}
        template = part(spec, "template")
        fresh = part(template, "spec").get("restartPolicy") == "Never"
        yield Member(number, "", host, template, variables, fields, fresh)


def _members(found: Json) -> list[Member]:
    return list(_pods(found["metadata"]["name"], part(found, "spec")))


def _names(found: Json, members: Sequence[Member]) -> list[str]:
    """The names of the pods in the domain of the Service, and that of the Service."""
    service = str(inside(found, "spec", "template", "spec").get("subdomain") or "")
    return _behind(members, service) if service else []


def _behind(members: Sequence[Member], service: str) -> list[str]:
    return [*(f"{one.host}.{service}" for one in members), service]


def _status(found: Json, ended: Ended) -> Json:
    done = sorted(int(name) for name in ended.succeeded)
    status: Json = {"succeeded": len(done)} if done else {}
    failed = ended.counts("")[1]
    if failed:
        status["failed"] = failed  # including those that were retried
    if len(done) < len(ended.members):
        reason = "DeadlineExceeded" if ended.late else "BackoffLimitExceeded"
        status["conditions"] = [{"type": "Failed", "status": "True", "reason": reason}]
    else:
        status |= {
            "completionTime": rfc3339(time.time()),
            "conditions": [{"type": "Complete", "status": "True"}],
        }
    if part(found, "spec").get("completionMode") == "Indexed":
        status["completedIndexes"] = ",".join(map(str, done))
    return status


JOB = WorkloadKind("jobs.batch", _templates, _unsupported, _policy, _members, _status, names=_names)


# --- JobSet ----------------------------------------------------------------------------------------


def _jobs(spec: Json) -> list[tuple[Json, Json]]:
    """The replicated Jobs, each with the spec of its Jobs; these are Indexed by default."""
    usual = {"completionMode": "Indexed"}
    return [(one, {**usual, **inside(one, "template", "spec")}) for one in several(spec, "replicatedJobs")]


def _set_templates(spec: Json) -> list[Json]:
    return [part(job, "template") for _, job in _jobs(spec)]


def _set_unsupported(spec: Json) -> str:
    if part(spec, "failurePolicy").get("maxRestarts"):
        return "starts a JobSet that begins again when one of its Jobs fails"
    if part(spec, "successPolicy").get("operator") == "Any":
        return "starts a JobSet that ends with the first of its Jobs"
    in_order = part(spec, "startupPolicy").get("startupPolicyOrder") == "InOrder"
    if in_order or any(one.get("dependsOn") for one, _ in _jobs(spec)):
        return "starts a JobSet whose Jobs begin one after the other"
    if len({_policy(job) for _, job in _jobs(spec)}) > 1:
        return "starts a JobSet whose Jobs have limits of their own"
    return next((why for _, job in _jobs(spec) if (why := _unsupported(job))), "")


def _set_policy(spec: Json) -> Policy:
    first: Json = next((job for _, job in _jobs(spec)), Json())
    return policy(first, _TRIES, spec.get("suspend", False))


def _set_members(found: Json) -> list[Member]:
    name, members = found["metadata"]["name"], list[Member]()
    for one, job in _jobs(part(found, "spec")):
        role, count = str(one.get("name")), int(one.get("replicas", 1))
        for index in range(count):
            labels = {
                f"{JOBSET}jobset-name": name,
                f"{JOBSET}replicatedjob-name": role,
                f"{JOBSET}replicatedjob-replicas": str(count),
                f"{JOBSET}job-index": str(index),
            }
            known = {
                f"metadata.{kind}['{key}']": text
                for kind in ("labels", "annotations")
                for key, text in labels.items()
            }
            members += (
                pod._replace(
                    name=worker({**labels, WORKER: pod.name}), role=role, fields={**pod.fields, **known}
                )
                for pod in _pods(f"{name}-{role}-{index}", job)
            )
    return members


def _set_leads(found: Json, members: Sequence[Member]) -> list[str]:
    """The members of the Jobs that decide the success of the JobSet."""
    targets = texts(inside(found, "spec", "successPolicy"), "targetReplicatedJobs")
    return [one.name for one in members if one.role in targets]


def _set_names(found: Json, members: Sequence[Member]) -> list[str]:
    network = inside(found, "spec", "network")
    if not network.get("enableDNSHostnames", True):
        return []
    return _behind(members, str(network.get("subdomain") or found["metadata"]["name"]))


def _set_status(found: Json, ended: Ended) -> Json:
    done = "Completed" if len(ended.succeeded) == len(ended.members) else "Failed"
    reason = {"Completed": "AllJobsCompleted", "Failed": "FailedJobs"}[done]
    condition = {"type": done, "status": "True", "reason": reason}
    return {"terminalState": done, "conditions": [condition]}


JOB_SET = WorkloadKind(
    "jobsets.jobset.x-k8s.io",
    _set_templates,
    _set_unsupported,
    _set_policy,
    _set_members,
    _set_status,
    _set_leads,
    _set_names,
)
