"""Collects what a cluster knows about a run besides its Workflow: pods, their nodes, and Events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from flowdsl.grammar.labels import RUN, maker
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.cluster.kinds import EVENT, NODE, POD
from flowdsl.runtime.cluster.trouble import NOT_FOUND, Refusal
from flowdsl.runtime.parts import name_of, part, several, text
from flowdsl.runtime.phases import PENDING
from flowdsl.runtime.status.reasons import seen, why
from flowdsl.runtime.status.run import Run

if TYPE_CHECKING:
    from flowdsl.runtime.cluster.seam import Kind, Listing

Json = dict[str, Any]

_ASKED = 5
"""The most pods whose Events are requested by default."""


class Reader(Protocol):
    """The part of a cluster that is used here: see `flowdsl.runtime.cluster.seam.Cluster`."""

    def get(self, kind: Kind, name: str, *, namespace: str | None = None) -> Json:
        """One object."""
        ...

    def list(
        self, kind: Kind, *, labels: str = "", fields: str = "", namespace: str | None = None
    ) -> Listing:
        """The objects that match selectors."""
        ...


class Gathered(NamedTuple):
    """A run with what its cluster knows about it, and what could not be read, a sentence each."""

    run: Run
    events: list[Json]
    notes: list[str]


def gathered(cluster: Reader, workflow: Json, *, events: bool = False) -> Gathered:
    """A run of a cluster, with readable nodes; with all of its Events, or those that say why pods wait.

    Without permission to read pods, nodes or Events, these are missing. Raises Unreachable, and Refusal for Events
    that were requested.
    """
    metadata = part(workflow, "metadata")
    name, uid, namespace = (text(metadata, key) for key in ("name", "uid", "namespace"))
    notes: list[str] = []
    pods: list[Json] = []
    try:
        listed = cluster.list(POD, labels=f"{RUN}={name}", namespace=namespace or None).items
        pods = [one for one in listed if _owned(one, uid)]
    except Refusal as refusal:
        notes.append(str(refusal))
    run = Run(workflow, pods)
    hosts = _hosts(cluster, run)
    found = _all(cluster, run) if events else _waiting(cluster, pods, namespace)
    return Gathered(Run(workflow, pods, hosts, found), found, notes)


def _owned(pod: Json, uid: str) -> bool:
    """Whether a pod is of this run, and not of an earlier one of the same name; that of a Job does not tell."""
    metadata = part(pod, "metadata")
    owners = several(metadata, "ownerReferences")
    worker = bool(maker(part(metadata, "annotations")))
    return not owners or worker or any(text(one, "uid") == uid for one in owners)


def _hosts(cluster: Reader, run: Run) -> dict[str, Json]:
    """The nodes on which pods with GPUs are, as far as they can be read."""
    found: dict[str, Json] = {}
    used = (host for node in run.pods_of() if run.gpus(node) for host in run.hosts(node))
    for name in dict.fromkeys(used):
        try:
            found[name] = cluster.get(NODE, name)
        except Refusal as refusal:
            if refusal.code != NOT_FOUND:
                break
    return found


def _waiting(cluster: Reader, pods: list[Json], namespace: str) -> list[Json]:
    """The Events of pods that wait and whose status does not say why."""
    found: list[Json] = []
    silent = [one for one in pods if text(part(one, "status"), "phase") == PENDING and not why(one)]
    for pod in silent[:_ASKED]:
        name = name_of(pod)
        fields = f"involvedObject.kind=Pod,involvedObject.name={name}"
        try:
            found.extend(cluster.list(EVENT, fields=fields, namespace=namespace or None).items)
        except Refusal:
            break
    return found


def _all(cluster: Reader, run: Run) -> list[Json]:
    """The Events of a run and of its pods, including deleted ones; the oldest first."""
    names = {"Workflow": {run.name}, "Pod": {run.pod_name(node) for node in run.pods_of()}}
    listed = cluster.list(EVENT, namespace=run.namespace or None).items
    found = [one for one in listed if _about(one) in names.get(_about_kind(one), ())]
    return sorted(found, key=seen)


def _about(event: Json) -> str:
    return text(part(event, "involvedObject"), "name")


def _about_kind(event: Json) -> str:
    return text(part(event, "involvedObject"), "kind")
