"""Follows a run to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.grammar.labels import COMPLETED
from flowdsl.runtime.cluster.follow import follow
from flowdsl.runtime.cluster.kinds import WORKFLOW
from flowdsl.runtime.cluster.trouble import Overdue, Vanished
from flowdsl.runtime.phases import over, phase
from flowdsl.runtime.status.compressed import readable

if TYPE_CHECKING:
    from collections.abc import Generator

    from flowdsl.runtime.cluster.seam import Cluster

Json = dict[str, Any]

_GRACE = 60.0


def ended(workflow: Json) -> bool:
    """Whether a run has ended and its status has the outputs of all its steps.

    Source: Argo's controller sets the label when the results of all tasks have arrived; the phase may be final
    before.
    """
    labels: dict[str, str] = workflow["metadata"].get("labels") or {}
    return over(workflow) and labels.get(COMPLETED) == "true"


def states(cluster: Cluster, name: str, uid: str = "") -> Generator[Json | None, None, None]:
    """The states of a run, whenever it changes, until its end, with readable nodes if possible. None: time has passed.

    The last state is one that has `ended`; if the results do not arrive within a minute of its end, it is the state
    as it is then. With a `uid` it is that run alone. Raises Vanished when it is deleted or another has its name,
    Overdue at the end of the cluster's policy, Refusal, and Unreachable when the contact is lost.
    """
    final: float | None = None
    last: Json | None = None
    for change in follow(cluster, WORKFLOW, fields=f"metadata.name={name}"):
        if change is not None:
            found = change.object
            if change.type == "DELETED" or (uid and found["metadata"]["uid"] != uid):
                raise Vanished(_gone(cluster, name, last or found, replaced=change.type != "DELETED"))
            uid = str(found["metadata"]["uid"])
            last = readable(found)
            yield last
            if ended(last):
                return
            if final is None and over(last):
                final = cluster.policy.now()
        elif last is None:
            raise Vanished(f"there is no run `{name}` in namespace `{cluster.namespace}` of {cluster.called}")
        else:
            yield None
        if final is not None and cluster.policy.now() > final + _GRACE:
            return
    where = f" it is {phase(last)}" if last is not None else " it was not seen"
    raise Overdue(f"the run `{name}` has not ended in time:{where}")


def _gone(cluster: Cluster, name: str, last: Json, *, replaced: bool) -> str:
    what = "was replaced by another run of its name" if replaced else "was deleted"
    seen = f"; it was {phase(last)} when it was last seen"
    return f"the run `{name}` in namespace `{cluster.namespace}` {what}{seen}"
