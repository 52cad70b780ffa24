"""Follows objects of a cluster: list, watch, and list again when the resource version has expired.

Watches are short: one that ends at its timeout shows that the connection is alive. One that is silent beyond its
timeout is half-open, and is started anew. Source of the rules: kubernetes.io, "Efficient detection of changes".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.runtime.cluster.seam import Change
from flowdsl.runtime.cluster.trouble import Expired, Overdue, Refusal, Unreachable

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from flowdsl.runtime.cluster.seam import Cluster, Json, Kind

WINDOW = 30.0
"""Seconds of one watch."""
_SHORT = 1.0
"""Seconds below which a watch that brought nothing counts as broken. Source: client-go, tools/cache/reflector.go."""


def follow(
    cluster: Cluster,
    kind: Kind,
    *,
    labels: str = "",
    fields: str = "",
    namespace: str | None = None,
) -> Generator[Change | None, None, None]:
    """The matching objects as ADDED, then None, then all their changes, and None whenever time has passed.

    After a gap its changes are derived from the current list: an object that is gone is DELETED, one of the same
    name with another uid is DELETED and ADDED. Ends by itself only at the end of the cluster's policy. Raises
    Refusal, and Unreachable when there was no answer for as long as the policy allows.
    """
    policy = cluster.policy
    known = _Known()
    version = ""
    listed = False
    pauses = policy.pauses(policy.contact)
    while not policy.over:
        try:
            if not version:
                listing = cluster.list(kind, labels=labels, fields=fields, namespace=namespace)
                pauses.answered()
                version = listing.version
                yield from known.listed(listing.items)
                listed = True
                yield None
            began, brought = policy.now(), False
            window = policy.within(WINDOW)
            for change in cluster.watch(
                kind, version, seconds=window, labels=labels, fields=fields, namespace=namespace
            ):
                version = str(change.object["metadata"]["resourceVersion"])
                brought = True
                pauses.begin()
                if change.type != "BOOKMARK":
                    known.changed(change)
                    yield change
            yield None
            if brought or policy.now() - began >= _SHORT:
                pauses.begin()
                continue
            pauses.answered()
            problem: Refusal | Unreachable = Unreachable("each watch ends at once", sent=True)
        except Expired as expired:
            version = ""
            problem = expired
        except Refusal as refusal:
            if refusal.for_good if listed else refusal.permanent:
                raise
            problem = refusal
        except Unreachable as error:
            problem = error
        except Overdue:
            return
        try:
            pauses.again(problem, problem.wait)
        except Overdue:
            return
        if listed:
            yield None


class _Known:
    """The objects as they were last seen."""

    def __init__(self) -> None:
        self._objects: dict[tuple[str, str], Json] = {}

    def changed(self, change: Change) -> None:
        """Note a change of an object."""
        if change.type == "DELETED":
            self._objects.pop(_key(change.object), None)
        else:
            self._objects[_key(change.object)] = change.object

    def listed(self, items: Sequence[Json]) -> Iterator[Change]:
        """Note the current objects; the changes since they were last seen."""
        there = {_key(item): item for item in items}
        for key, before in list(self._objects.items()):
            now = there.get(key)
            if now is None or now["metadata"]["uid"] != before["metadata"]["uid"]:
                del self._objects[key]
                yield Change("DELETED", before)
        for key, now in there.items():
            seen = self._objects.get(key)
            self._objects[key] = now
            if seen is None:
                yield Change("ADDED", now)
            elif seen["metadata"]["resourceVersion"] != now["metadata"]["resourceVersion"]:
                yield Change("MODIFIED", now)


def _key(found: Json) -> tuple[str, str]:
    metadata = found["metadata"]
    return str(metadata.get("namespace") or ""), str(metadata["name"])
