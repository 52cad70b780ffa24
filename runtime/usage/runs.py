"""Devices of runs: how many their pods request, and how many they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.grammar.labels import COMPLETED, RUN
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.parts import part
from flowdsl.runtime.status.run import Run
from flowdsl.runtime.times import seconds
from flowdsl.runtime.usage.nodes import PodUse, pod_uses

if TYPE_CHECKING:
    from collections.abc import Iterable

Json = dict[str, Any]

ACTIVE = f"{COMPLETED}!=true"
"""Selects runs that have not ended. Source: Argo labels them when they do."""


class RunUse(NamedTuple):
    """A run that has not ended, with the pods that request devices; `created` in seconds since 1970."""

    namespace: str
    name: str
    status: str
    created: float | None
    pods: tuple[PodUse, ...]

    @property
    def requested(self) -> int:
        """The devices that its pods request, including unscheduled ones."""
        return sum(one.devices for one in self.pods)

    @property
    def allocated(self) -> int:
        """The devices that its pods hold."""
        return sum(one.devices for one in self.pods if one.node)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes of the scheduled pods."""
        return tuple(dict.fromkeys(one.node for one in self.pods if one.node))


def run_uses(workflows: Iterable[Json], pods: Iterable[Json]) -> list[RunUse]:
    """The runs, newest first, with their pods. Pods of other runs are left out."""
    mine: dict[tuple[str, str], list[Json]] = {}
    for pod in pods:
        metadata = part(pod, "metadata")
        run = str(part(metadata, "labels").get(RUN) or "")
        mine.setdefault((str(metadata.get("namespace") or ""), run), []).append(pod)
    found: list[RunUse] = []
    for workflow in workflows:
        metadata = part(workflow, "metadata")
        names = str(metadata.get("namespace") or ""), str(metadata.get("name") or "")
        created = seconds(metadata.get("creationTimestamp"))
        found.append(RunUse(*names, _status(workflow), created, tuple(pod_uses(mine.get(names, ())))))
    return sorted(found, key=lambda one: (one.created or 0, one.name), reverse=True)


def _status(workflow: Json) -> str:
    """The phase, and the action of a user on the run; its nodes, which may be compressed, are not read."""
    status: Json = {**part(workflow, "status"), "nodes": {}}
    return Run({**workflow, "status": status}, readable=False).status
