"""The description of a workload kind whose pods are emulated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.parts import part

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

Json = dict[str, Any]


class Member(NamedTuple):
    """One of the pods of a workload.

    `name`: its unique name among the members, with its `role` if it has one. `host`: the name of the pod.
    `variables`: environment variables of its containers. `fields`: the values of their `fieldRef`s. `fresh`: whether
    each attempt is a new pod, which is counted if it fails.
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
        """The spec of the pod."""
        return part(self.template, "spec")


class Ended(NamedTuple):
    """How the pods have ended: all members, those that succeeded, and whether the deadline ended the rest (`late`).

    `tried`: how often each was started, if known.
    """

    members: Sequence[Member]
    succeeded: Collection[str]
    late: bool
    tried: Mapping[str, int] = {}

    def counts(self, role: str) -> tuple[int, int]:
        """How many members of a role succeeded, and how many of their pods failed."""
        found = [one for one in self.members if one.role == role]
        return sum(one.name in self.succeeded for one in found), sum(map(self._failed, found))

    def _failed(self, one: Member) -> int:
        done = one.name in self.succeeded
        again = self.tried.get(one.name, 1) - 1 if one.fresh else 0
        return max(0, again) + (0 if done else 1)


ENDLESS = 1_000_000_000
"""The number of attempts of a pod that is restarted until it succeeds."""


class Policy(NamedTuple):
    """Whether pods are suspended, how often one is started at most, and the seconds after which they are stopped.

    `pause`: the seconds before one is restarted.
    """

    suspended: bool
    tries: int
    deadline: float | None
    pause: float = 0.0


def _none(found: Json, members: Sequence[Member]) -> list[str]:
    return []


class WorkloadKind(NamedTuple):
    """A kind of object whose pods can be emulated.

    `plural`: its name in messages of a cluster. `templates`: the pod templates of a spec. `unsupported`: why a
    spec cannot be emulated; empty if it can. `policy`: that of a spec. `members`: the pods of an object. `status`:
    that of an object whose pods have ended. `leads`: the members whose success ends the others; if there are none,
    all are waited for. `names`: the host names of the pods.
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
    """The policy of an object or run policy; by default a failed pod is retried `again` times."""
    deadline = found.get("activeDeadlineSeconds")
    tries = int(found.get("backoffLimit", again)) + 1
    begins = found.get("suspend") if suspended is None else suspended
    return Policy(bool(begins), tries, None if deadline is None else float(deadline))
