"""Jobs that a run has created on the cluster, which go on when the run is stopped.

An owner reference deletes an object together with the Workflow, but not when the Workflow is stopped.
Source: Argo 4.1, workflow/executor/resource.go, which creates the object of a `resource` template and watches it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.grammar.labels import RUN
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.runtime.cluster.seam import Kind
from flowdsl.runtime.cluster.trouble import CONFLICT, Refusal, Unreachable, Unsupported
from flowdsl.runtime.parts import part, several

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from flowdsl.runtime.cluster.seam import Cluster, Json

JOBS = (
    Kind("batch", "v1", "jobs", "Job"),
    Kind("kubeflow.org", "v1", "pytorchjobs", "PyTorchJob"),
    Kind("kubeflow.org", "v1", "tfjobs", "TFJob"),
    Kind("kubeflow.org", "v2beta1", "mpijobs", "MPIJob"),
    Kind("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet"),
    Kind("trainer.kubeflow.org", "v1alpha1", "trainjobs", "TrainJob"),
)
"""The kinds of jobs that are looked for, each in its usual version."""

_VERSION = regex(r"""["']?apiVersion["']?\s*:\s*["']?([\w.-]+)/(\w+)""")
_KIND = regex(r"""["']?kind["']?\s*:\s*["']?(\w+)""")
_ATTEMPT = regex(r"-\d+\Z")
_ENDS = ("Complete", "Completed", "Succeeded", "Failed")


class Made(NamedTuple):
    """Jobs of a run, each with its kind, and why some could not be listed or deleted."""

    jobs: list[tuple[Kind, Json]]
    problems: list[str]


def kinds(workflow: Json) -> list[Kind]:
    """The kinds of jobs that the templates of a run create, in the API versions that they name."""
    found: dict[Kind, None] = {}
    for template in _templates(workflow):
        resource = part(template, "resource")
        if resource.get("action") not in ("create", "apply"):
            continue
        if "manifestFrom" in resource:  # it is in an artifact
            found.update(dict.fromkeys(JOBS))
        text = str(resource.get("manifest") or "")
        versions = dict(_VERSION.findall(text))
        names = set(_KIND.findall(text))
        for kind in JOBS:
            if kind.name in names:
                found[kind._replace(version=versions.get(kind.group, kind.version))] = None
    return list(found)


def _templates(workflow: Json) -> Iterator[Json]:
    status = part(workflow, "status")
    yield from several(workflow["spec"], "templates")
    yield from several(part(status, "storedWorkflowTemplateSpec"), "templates")
    yield from part(status, "storedTemplates").values()


def jobs(cluster: Cluster, workflow: Json) -> Made:
    """The jobs that a run has created: those that it owns, and those that have its label."""
    metadata = workflow["metadata"]
    made = Made([], [])
    for kind in kinds(workflow):
        try:
            there = cluster.list(kind, namespace=metadata.get("namespace")).items
        except (Refusal, Unreachable, Unsupported) as error:
            if not (isinstance(error, Refusal) and error.no_such_kind):
                made.problems.append(str(error))
            continue
        made.jobs.extend((kind, one) for one in there if _belongs(one, metadata))
    return made


def _belongs(found: Json, run: Json) -> bool:
    owners = several(found["metadata"], "ownerReferences")
    if any(one.get("uid") == run["uid"] for one in owners):
        return True
    # An earlier run may have had the same name.
    young = str(found["metadata"].get("creationTimestamp")) >= str(run.get("creationTimestamp"))
    return young and part(found["metadata"], "labels").get(RUN) == run["name"]


def named(found: Made, names: Collection[str]) -> list[tuple[Kind, Json]]:
    """The jobs that have one of the names, or one with the number of an attempt appended."""
    return [
        (kind, job)
        for kind, job in found.jobs
        if (name := str(job["metadata"]["name"])) in names or _ATTEMPT.sub("", name) in names
    ]


def below(kind: Kind) -> tuple[Kind, ...]:
    """The kind, and the jobs that one of it creates."""
    return (kind, *(one for one in JOBS if kind.name == "TrainJob" and one.name == "JobSet"))


def has_ended(job: Json) -> bool:
    """Whether a job is finished. Source: the conditions of the six kinds."""
    status = part(job, "status")
    return bool(status.get("completionTime")) or any(
        one.get("type") in _ENDS and one.get("status") == "True" for one in several(status, "conditions")
    )


def delete(cluster: Cluster, made: Made, namespace: str | None) -> Made:
    """Delete jobs; returns those that were deleted, and why others could not be."""
    after = Made([], list(made.problems))
    for kind, job in made.jobs:
        metadata = job["metadata"]
        try:
            cluster.delete(kind, str(metadata["name"]), uid=str(metadata["uid"]), namespace=namespace)
        except (Refusal, Unreachable) as error:
            if isinstance(error, Refusal) and error.code == CONFLICT:  # a different job has its name now
                continue
            after.problems.append(str(error))
        else:
            after.jobs.append((kind, job))
    return after
