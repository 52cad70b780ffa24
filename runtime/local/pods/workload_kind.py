"""The description of a workload kind whose pods are emulated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.parts import part

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

Json = dict[str, Any]


class Member(NamedTuple):
    """One of the pods.

    `name`: what it is called among the others, after its `role` if it has one. `host`: the name of the pod.
    `variables`: what its containers are given. `fields`: what a `fieldRef` of one may mean. `fresh`: whether each time
    that it is tried is a pod of its own, which counts where it fails.
    """

    name: str
    role: str
    host: str
    template: Json
    variables: dict[str, str]
    fields: dict[str, str]
    fresh: bool = False

    @property
    def spec(self) -> Json:
        """What runs in it."""
        return part(self.template, "spec")


class Ended(NamedTuple):
    """How the pods have ended: the members that succeeded, of all; and whether the rest is `late`.

    `tried`: how often each was begun, where that is known.
    """

    members: Sequence[Member]
    succeeded: Collection[str]
    late: bool
    tried: Mapping[str, int] = {}

    def counts(self, role: str) -> tuple[int, int]:
        """How many of those of a role succeeded, and how many pods of them did not."""
        found = [one for one in self.members if one.role == role]
        return sum(one.name in self.succeeded for one in found), sum(map(self._failed, found))

    def _failed(self, one: Member) -> int:
        done = one.name in self.succeeded
        again = self.tried.get(one.name, 1) - 1 if one.fresh else 0
        return max(0, again) + (0 if done else 1)


ENDLESS = 1_000_000_000
"""How often a pod is begun that is begun again until it succeeds."""


class Policy(NamedTuple):
    """Whether pods do not begin by themselves, how often one is begun, and the seconds after which they are ended.

    `pause`: the seconds before one is begun again.
    """

    suspended: bool
    tries: int
    deadline: float | None
    pause: float = 0.0


def _none(found: Json, members: Sequence[Member]) -> list[str]:
    return []


class WorkloadKind(NamedTuple):
    """A kind of object whose pods can be emulated.

    `plural`: its name in messages of a cluster. `templates`: those of its pods, of its spec. `unsupported`: why its
    spec cannot be emulated, or nothing. `policy`: of its spec. `members`: its pods, of the object. `status`: of how its
    pods ended. `leads`: with the success of which of them the others are ended; none of them: these are waited for.
    `names`: those by which they are found there.
    """

    plural: str
    templates: Callable[[Json], list[Json]]
    unsupported: Callable[[Json], str]
    policy: Callable[[Json], Policy]
    members: Callable[[Json], list[Member]]
    status: Callable[[Json, Ended], Json]
    leads: Callable[[Json, Sequence[Member]], list[str]] = _none
    names: Callable[[Json, Sequence[Member]], list[str]] = _none


def policy(found: Json, again: int, suspended: object = None) -> Policy:
    """What stands in an object about how its pods are run; without a word a pod is tried `again` times."""
    deadline = found.get("activeDeadlineSeconds")
    tries = int(found.get("backoffLimit", again)) + 1
    begins = found.get("suspend") if suspended is None else suspended
    return Policy(bool(begins), tries, None if deadline is None else float(deadline))
