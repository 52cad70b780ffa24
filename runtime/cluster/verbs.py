"""Actions on a run, as changes of its object. Source: Argo 4.1, workflow/util/util.go.

Each action is idempotent: a merge patch states the desired values, and an object that is read, changed and replaced is
replaced only in the version that was read. When a response is lost, the run is read again, and its state decides.
"""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any, Protocol, cast

from flowdsl.grammar.labels import NODE_ID, RUN
from flowdsl.runtime.cluster import gates, made
from flowdsl.runtime.cluster.kinds import POD, WORKFLOW
from flowdsl.runtime.cluster.retrying import retried
from flowdsl.runtime.cluster.seam import Cluster
from flowdsl.runtime.cluster.trouble import (
    CONFLICT,
    NOT_FOUND,
    Overdue,
    Refusal,
    Uncertain,
    Unfit,
    Unreachable,
    Vanished,
)
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.phases import over, phase
from flowdsl.runtime.status.compressed import opened, packed
from flowdsl.runtime.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from flowdsl.runtime.cluster.seam import Json, Kind, Verb

CHANGE_ID = "flowdsl.dev/change-id"
"""The annotation by which a change that was sent is recognized."""

_SHUTDOWNS = {"stop": "Stop", "terminate": "Terminate"}
_DONE = {"stop": "stopped", "terminate": "terminated", "suspend": "suspended", "resume": "resumed"}


class Editable(Cluster, Protocol):
    """A cluster whose objects can be changed: actions on a run are changes of its object."""

    def replace(self, kind: Kind, body: Json) -> Json:
        """Replace an object in the version that was read. Raises Refusal (409 if it has changed)."""
        ...

    def patch(self, kind: Kind, name: str, patch: Json, *, namespace: str | None = None) -> Json:
        """Apply a merge patch (RFC 7396) to an object. Raises Refusal and Unreachable."""
        ...


def act(cluster: Editable, verb: Verb, workflow: Json, options: Mapping[str, Any]) -> Json:
    """Perform an action on a run that was read before; returns the Workflow after it.

    Options: `parameters`, texts by their names, for `resume` and `retry`; `gate`, the id of a suspended node, for
    `resume`; `nodes`, the ids of nodes that run again even if they succeeded, for `retry`. Raises Unfit when the
    state of the run does not allow it, Vanished, Refusal, Unreachable, and Uncertain when nobody can tell whether
    it was done.
    """
    parameters = cast("Mapping[str, str]", options.get("parameters") or {})
    if verb == "retry":
        return _retry(cluster, workflow, cast("Collection[str]", options.get("nodes") or ()), parameters)
    check(verb, workflow)
    if verb == "resume":
        gate = str(options.get("gate") or "")
        return change(
            cluster, workflow, lambda found: gates.resume(found, gate, parameters, rfc3339(time.time()))
        )
    if done(verb, workflow):
        return workflow
    metadata = workflow["metadata"]
    ending = "Terminate" if workflow["spec"].get("shutdown") == "Terminate" else _SHUTDOWNS.get(verb)
    # The controller does not look at a suspended run, so that it would never end.
    spec = {"suspend": True} if verb == "suspend" else {"shutdown": ending, "suspend": None}
    patch = {"metadata": {"uid": metadata["uid"]}, "spec": spec}
    name, namespace = str(metadata["name"]), metadata.get("namespace")
    return settled(
        cluster,
        workflow,
        lambda: cluster.patch(WORKFLOW, name, patch, namespace=namespace),
        lambda found: done(verb, found),
    )


def check(verb: Verb, workflow: Json) -> None:
    """Raise Unfit for a run that has ended: it can only be retried, or deleted."""
    if over(workflow):
        name = workflow["metadata"]["name"]
        raise Unfit(f"`{name}` has ended ({phase(workflow)}): it cannot be {_DONE[verb]}")


def done(verb: Verb, workflow: Json) -> bool:
    """Whether a run already is as `stop`, `terminate` or `suspend` make it. One that is terminated is not stopped."""
    spec = workflow["spec"]
    if verb == "suspend":
        return bool(spec.get("suspend"))
    return spec.get("shutdown") in ("Terminate", _SHUTDOWNS[verb]) and not spec.get("suspend")


def again(cluster: Cluster, workflow: Json) -> Json:
    """The current state of a run. Raises Vanished when it is gone, or another one has its name."""
    metadata = workflow["metadata"]
    gone = f"`{metadata['name']}` is gone"
    try:
        found = cluster.get(WORKFLOW, str(metadata["name"]), namespace=metadata.get("namespace"))
    except Refusal as refusal:
        if not refusal.absent:
            raise
        raise Vanished(gone) from None
    if found["metadata"]["uid"] != metadata["uid"]:
        raise Vanished(f"{gone}: another run has its name")
    return found


def settled(cluster: Cluster, workflow: Json, send: Callable[[], Json], made: Callable[[Json], bool]) -> Json:
    """The result of a change: the response to `send`, or, when there was none, the run as it is read then.

    A refusal counts only if the run does not show that the change was `made`: an earlier attempt may have made it.
    """
    try:
        return send()
    except Unreachable as error:
        if not error.sent:
            raise
        problem: Refusal | Unreachable = error
    except Refusal as refusal:
        if not may_be_done(refusal):
            raise
        problem = refusal
    try:
        found = again(cluster, workflow)
    except (Refusal, Unreachable):
        raise uncertain(workflow, problem) from None
    if made(found):
        return found
    raise problem


def may_be_done(refusal: Refusal) -> bool:
    """Whether a change may have been made although its last attempt was refused: by an earlier one, or halfway."""
    return refusal.doubtful or refusal.code in (CONFLICT, NOT_FOUND)


def uncertain(workflow: Json, problem: Exception) -> Uncertain:
    """The error for when nobody can tell whether a run was changed."""
    name = workflow["metadata"]["name"]
    return Uncertain(f"it is not known whether `{name}` was changed: {problem}; the command may be repeated")


def change(cluster: Editable, workflow: Json, edit: Callable[[Json], bool]) -> Json:
    """Read a run, change it in place, and replace it, again after a conflict; returns the Workflow after it.

    `edit` sees its nodes even if they were compressed, and returns whether it changed anything. Raises what it
    raises.
    """
    mark = uuid.uuid4().hex
    pauses = cluster.policy.pauses()
    problem: Refusal | Unreachable | None = None
    while True:
        try:
            found = again(cluster, workflow)
        except (Refusal, Unreachable):
            if problem is None:
                raise
            raise uncertain(workflow, problem) from None
        annotations: dict[str, str] = found["metadata"].setdefault("annotations", {})
        if annotations.get(CHANGE_ID) == mark:
            return found
        if problem is not None:
            pauses.again(problem)
        stored, found = found, opened(found)
        if not edit(found):
            return found
        found["metadata"].setdefault("annotations", {})[CHANGE_ID] = mark
        try:
            return cluster.replace(WORKFLOW, found if found is stored else packed(found))
        except Unreachable as error:
            if not error.sent:
                raise
            problem = error
        except Refusal as refusal:
            if not may_be_done(refusal):
                raise
            problem = refusal


def _retry(cluster: Editable, workflow: Json, nodes: Collection[str], parameters: Mapping[str, str]) -> Json:
    """Retry a run that has ended.

    The pods and jobs are listed before the run is read, so that those of a concurrent retry are never among the
    deleted ones. They are deleted before the run is replaced: the controller would take them for the new ones.
    """
    metadata = workflow["metadata"]
    name, namespace = str(metadata["name"]), metadata.get("namespace")
    pods: list[Json] = []
    jobs = made.Made([], [])

    def look() -> None:
        nonlocal jobs
        pods[:] = cluster.list(POD, labels=f"{RUN}={name}", namespace=namespace).items
        jobs = made.jobs(cluster, workflow)

    def edit(found: Json) -> bool:
        after = retried(found, nodes, parameters, rfc3339(time.time()))
        if after.objects and jobs.problems:
            raise Unfit(f"the jobs of `{name}` that have ended cannot be deleted: {jobs.problems[0]}")
        ended = [(kind, one) for kind, one in made.named(jobs, after.objects) if made.has_ended(one)]
        for kind in dict.fromkeys(kind for kind, _ in ended):
            _away(cluster, name, kind, [one for of, one in ended if of == kind], namespace)
        _away(cluster, name, POD, [one for one in pods if _node_of(one) in after.gone], namespace)
        found.clear()
        found.update(after.workflow)
        look()  # before another attempt
        return True

    look()
    return change(cluster, workflow, edit)


def _node_of(pod: Json) -> str:
    return str(part(pod["metadata"], "annotations").get(NODE_ID) or "")


def _away(cluster: Editable, run: str, kind: Kind, old: list[Json], namespace: str | None) -> None:
    """Delete pods or jobs, and wait until they and the jobs that these have created are gone. Raises Overdue."""
    left = {str(one["metadata"]["uid"]): str(one["metadata"]["name"]) for one in old}
    for uid, name in left.items():
        try:
            cluster.delete(kind, name, uid=uid, namespace=namespace)
        except Refusal as refusal:
            if refusal.code != CONFLICT:  # with another uid, it is a new object, and the old one is gone
                raise
    labels = f"{RUN}={run}" if kind == POD else ""
    pauses = cluster.policy.pauses()
    while left:
        there = [
            one["metadata"]
            for each in made.below(kind)
            for one in cluster.list(each, labels=labels, namespace=namespace).items
        ]
        uids = {str(one["uid"]) for one in there}
        uids.update(str(owner.get("uid")) for one in there for owner in several(one, "ownerReferences"))
        left = {uid: name for uid, name in left.items() if uid in uids}
        if left:
            ending = f"{kind.plural} of `{run}` are still ending ({', '.join(sorted(left.values())[:3])})"
            try:
                pauses.again(Unreachable(ending, sent=False))
            except Unreachable:
                raise Overdue(f"{ending}: nothing else was changed; repeat the command") from None
