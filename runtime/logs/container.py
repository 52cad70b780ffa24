"""Reads the log of one container, with requests repeated until it is complete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.runtime.cluster.kinds import POD
from flowdsl.runtime.cluster.seam import Excerpt
from flowdsl.runtime.cluster.trouble import (
    NOT_FOUND,
    Refusal,
    Unreachable,
    Unread,
    Unsupported,
)
from flowdsl.runtime.logs.join import Joined
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.phases import POD_ENDED

if TYPE_CHECKING:
    from collections.abc import Generator

    from flowdsl.runtime.cluster.seam import Cluster
    from flowdsl.runtime.logs.join import Part
    from flowdsl.runtime.logs.source import Source

Json = dict[str, Any]
State = Literal["waiting", "running", "ended", "gone"]

QUIET = 60.0
"""Seconds without a byte after which a followed log is requested again: the connection may be half-open."""
_PAUSE = 1.0
_TRIES = 5
"""The most requests for a log that does not come to an end: its container prints on, or its file is gone."""
_NO_LOG = regex(
    r"is waiting to start|is not available|is terminated|previous terminated container|does not have a host assigned"
)
"""The kubelet's messages, with code 400, for a container without a log: not started, never started, or gone.

Source: validateContainerLogStatus of pkg/kubelet/kubelet_pods.go, and pkg/registry/core/pod/strategy.go for a pod
without a node.
"""


class Extent(NamedTuple):
    """The requested part of a log. `since` is in nanoseconds since 1970, `tail` a number of lines."""

    follow: bool = False
    since: int | None = None
    tail: int | None = None


def status_of(pod: Json, container: str) -> Json:
    """The status of a container of any kind; empty if there is none yet."""
    for kind in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        for each in several(part(pod, "status"), kind):
            if each["name"] == container:
                return each
    return {}


def state_of(pod: Json, container: str) -> State:
    """The state of a container."""
    state = part(status_of(pod, container), "state")
    if "running" in state:
        return "running"
    over = part(pod, "status").get("phase") in POD_ENDED
    return "ended" if "terminated" in state or over else "waiting"


def read(
    cluster: Cluster,
    source: Source,
    extent: Extent,
    namespace: str | None = None,
    lost: set[str] | None = None,
) -> Generator[list[Part], None, bool]:
    """Reads the parts of a container's log, with `follow` until it has ended; returns whether the log is complete.

    A kubelet that breaks looks like the end of a log. So the end is accepted when the container has ended, or
    nothing is to be followed, and another request brings nothing new. Raises Refusal, Unread when there was no log
    for as long as the policy allows, though the cluster answers, and Unreachable when it does not. A node that had
    no log for so long is added to `lost`; for it the next log gets one attempt.
    """
    policy = cluster.policy
    patience = policy.contact if extent.follow else policy.patience
    pauses = policy.pauses(0 if lost is not None and source.node in lost else patience)
    joined = Joined(extent.since)
    state: State = "running"
    answers = unmoved = 0
    while True:
        last = not extent.follow or state == "ended"
        began = policy.now()
        problem = yield from _asked(cluster, source, joined, extent.tail, namespace, follow=not last)
        answers += problem is None
        if joined.fresh or policy.now() - began >= QUIET:
            pauses.begin()
        state = _look(cluster, source, namespace)
        refused = problem if isinstance(problem, Refusal) else None
        none = refused is not None and _has_none(refused)
        if state == "gone" or (last and none):
            forgotten = refused is not None and refused.code == NOT_FOUND
            return state != "gone" and not joined.begun and not forgotten
        if problem is not None and not none:
            try:
                pauses.again(problem, problem.wait)
            except (Refusal, Unreachable) as error:  # `_look` got a response, so the cluster is reachable
                if lost is not None and source.node:
                    lost.add(source.node)
                raise Unread(str(error)) from error
        elif last:
            unmoved = 0 if joined.fresh else unmoved + 1
            if answers > 1 and unmoved and (joined.reached or unmoved == _TRIES):
                return True
            if state == "running" and answers > _TRIES:
                return True
            if unmoved > 1:
                policy.sleep(_PAUSE)
        elif not joined.fresh and state != "ended":
            policy.sleep(_PAUSE)


def _asked(
    cluster: Cluster,
    source: Source,
    joined: Joined,
    tail: int | None,
    namespace: str | None,
    *,
    follow: bool,
) -> Generator[list[Part], None, Refusal | Unreachable | None]:
    """Yields what one more request brings. Returns why it is incomplete, if it is; raises Refusal if none will be."""
    joined.begin()
    try:
        for piece in cluster.log(
            source.pod,
            source.container,
            Excerpt(joined.since, None if joined.begun else tail, follow),
            run=source.run,
            seconds=QUIET if follow else cluster.policy.request,
            namespace=namespace,
        ):
            if parts := joined.feed(piece):
                yield parts
    except Unreachable as error:
        return error
    except Refusal as refusal:
        if refusal.for_good and not _has_none(refusal):
            raise
        return refusal
    return None


def _has_none(refusal: Refusal) -> bool:
    """Whether a refusal says that there is no log, rather than that access is denied."""
    return refusal.code == NOT_FOUND or (refusal.code == 400 and bool(_NO_LOG.search(refusal.message)))


def _look(cluster: Cluster, source: Source, namespace: str | None) -> State:
    """The current state of a container. Raises Refusal, Unreachable."""
    pauses = cluster.policy.pauses(cluster.policy.contact)
    while True:
        try:
            pod = cluster.get(POD, source.pod, namespace=namespace)
        except Unsupported:
            return "ended"  # unknown; followed logs are not read in this way
        except Unreachable as error:
            pauses.again(error)
        except Refusal as refusal:
            if refusal.absent:
                return "gone"
            if refusal.for_good:
                raise
            pauses.again(refusal, refusal.wait)
        else:
            same = source.uid in ("", pod["metadata"]["uid"])
            return state_of(pod, source.container) if same else "gone"
