"""The interface `Cluster`: what the runtime needs of a cluster, whichever API serves it.

Objects are plain dicts as in the Kubernetes API. An implementation of `Cluster` retries requests where that is safe,
and raises the errors of `flowdsl.runtime.cluster.trouble` where it is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Protocol

from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from flowdsl.runtime.cluster.policy import Policy

Json = dict[str, Any]

Verb = Literal["stop", "terminate", "suspend", "resume", "retry"]
"""What can be done to a run. Source: the operations of Argo, workflow/util/util.go."""

EVERYWHERE = ""
"""The namespace that stands for all of them."""


class Kind(NamedTuple):
    """A kind of object, and where the API keeps it. An empty group is the core of Kubernetes."""

    group: str
    version: str
    plural: str
    name: str
    namespaced: bool = True

    @property
    def resource(self) -> str:
        """Its name in rules of access, as `kubectl auth can-i` takes it: `workflows.argoproj.io`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        """What stands under `apiVersion`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def said(self) -> str:
        """What it is called in a sentence: `Workflow`."""
        return self.name


Keep = Callable[[Json], Json]
"""What is kept of an object."""


def whole(found: Json) -> Json:
    """All of it."""
    return found


def metadata_of(found: Json) -> Json:
    """Its metadata alone."""
    return {"metadata": found["metadata"]}


class Listing(NamedTuple):
    """Objects as they were at one moment; a watch goes on from its version."""

    items: list[Json]
    version: str


class Change(NamedTuple):
    """What happened to an object, and the object after it; of one that is deleted, its last state."""

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    object: Json


class Cluster(Protocol):
    """A way to a cluster, as one user. A namespace that is not named is that of the user's settings."""

    namespace: str
    called: str
    """What the cluster is called in a sentence."""
    policy: Policy
    """How long and how often it is asked; may be replaced, as to set an end."""
    warnings: list[str]
    """What it said beside its answers, each once, as policies do that warn and refuse nothing."""

    def version(self) -> str:
        """What the server calls itself: `Kubernetes v1.35.4`. Raises Refusal and Unreachable."""
        ...

    def get(self, kind: Kind, name: str, *, namespace: str | None = None) -> Json:
        """One object. Raises Refusal (404 if there is none) and Unreachable."""
        ...

    def list(
        self,
        kind: Kind,
        *,
        labels: str = "",
        fields: str = "",
        namespace: str | None = None,
        keep: Keep = whole,
    ) -> Listing:
        """The objects that selectors match. Raises Refusal and Unreachable.

        There may be thousands, each with all of its nodes: `keep` says what is kept of one as it comes. For
        `metadata_of` the rest is not even asked for, where that can be said.
        """
        ...

    def watch(
        self,
        kind: Kind,
        version: str,
        *,
        seconds: float,
        labels: str = "",
        fields: str = "",
        namespace: str | None = None,
    ) -> Generator[Change, None, None]:
        """What happens after a version, for so many seconds at most.

        Nothing is asked again here: `flowdsl.runtime.cluster.follow` does. Raises Expired for a version that
        the server has forgotten, Refusal, and Unreachable when the answer breaks off.
        """
        ...

    def create(self, kind: Kind, body: Json, *, dry_run: bool = False) -> Json:
        """Create an object, once, however often the answer is lost; the object as the server has it.

        Its name must be given. An object of that name with the same `flowdsl.dev/submit-id` counts as created by
        this call. Raises Refusal when nothing was created, Unreachable whose `sent` says whether something may
        have been.
        """
        ...

    def delete(self, kind: Kind, name: str, *, uid: str = "", namespace: str | None = None) -> None:
        """Delete an object, of a `uid` only that one. One that is gone is no error. Raises Refusal, Unreachable."""
        ...

    def act(self, verb: Verb, workflow: Json, options: Mapping[str, Any] | None = None) -> Json:
        """Do something to a run that was read before; the Workflow after it. Raises Refusal, Unreachable."""
        ...

    def log(
        self,
        pod: str,
        container: str,
        *,
        run: str,
        since: str = "",
        tail: int | None = None,
        follow: bool = False,
        seconds: float = 30,
        namespace: str | None = None,
    ) -> Generator[bytes, None, None]:
        """What a container printed, as pieces of bytes; each line begins with its time and a blank.

        `run` is the name of the run whose pod it is. `since` is a time in RFC 3339, of which the server reads whole
        seconds only. `tail` is a number of lines, from the end, that an answer begins with. `seconds` is how long
        nothing may come before the stream counts as broken. Nothing is asked again here. Raises Refusal, and
        Unreachable when the answer breaks off.
        """
        ...

    def proxy(self, pod: str, port: int, path: str, *, namespace: str | None = None) -> bytes:
        """What a pod's own HTTP server answers at a path. Raises Refusal and Unreachable."""
        ...
