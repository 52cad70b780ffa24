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
"""An action on a run. Source: the operations of Argo, workflow/util/util.go."""

EVERYWHERE = ""
"""A placeholder for all namespaces."""


class Kind(NamedTuple):
    """A kind of object, and its place in the API. An empty group is the core API of Kubernetes."""

    group: str
    version: str
    plural: str
    name: str
    namespaced: bool = True

    @property
    def resource(self) -> str:
        """Its name in RBAC rules, as `kubectl auth can-i` takes it: `workflows.argoproj.io`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        """The value of `apiVersion`."""
        return f"{self.group}/{self.version}" if self.group else self.version


class Excerpt(NamedTuple):
    """The part of a log that one request asks for.

    `since`: a time in RFC 3339, of which the server reads whole seconds only. `tail`: the number of lines from the end
    that the response begins with. `follow`: also what is printed until the container has ended.
    """

    since: str = ""
    tail: int | None = None
    follow: bool = False

    def query(self) -> dict[str, str]:
        """The fields of PodLogOptions for it, and for timestamps. Source: core/v1 of Kubernetes."""
        found = {"timestamps": "true"}
        if self.since:
            found["sinceTime"] = self.since
        if self.tail is not None:
            found["tailLines"] = str(self.tail)
        if self.follow:
            found["follow"] = "true"
        return found


Keep = Callable[[Json], Json]
"""Reduces an object to the parts that are needed."""


def whole(found: Json) -> Json:
    """Keeps a whole object."""
    return found


def metadata_of(found: Json) -> Json:
    """Keeps only the metadata of an object."""
    return {"metadata": found["metadata"]}


class Listing(NamedTuple):
    """Objects at one moment; a watch continues from its resource version."""

    items: list[Json]
    version: str


class Change(NamedTuple):
    """A change of an object, and the object after it; of a deleted one, its last state."""

    type: Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
    object: Json


class Cluster(Protocol):
    """Access to a cluster as one user. The default namespace is that of the user's settings."""

    namespace: str
    called: str
    """The name of the cluster in a sentence."""
    policy: Policy
    """Its timeouts and retries; may be replaced, such as to set an end."""
    warnings: list[str]
    """The warnings in its responses, each once, such as those of admission policies that only warn."""

    def version(self) -> str:
        """The version that the server reports: `Kubernetes v1.35.4`. Raises Refusal and Unreachable."""
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
        """The objects that match selectors. Raises Refusal and Unreachable.

        There may be thousands, each with all of its nodes: `keep` reduces each object as it arrives. For
        `metadata_of`, the rest is not even requested, if the API allows it.
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
        """The changes after a resource version, for so many seconds at most.

        Nothing is retried here: `flowdsl.runtime.cluster.follow` does. Raises Expired for a version that the server
        no longer has, Refusal, and Unreachable when the response breaks off.
        """
        ...

    def create(self, kind: Kind, body: Json, *, dry_run: bool = False) -> Json:
        """Create an object, once, however often the response is lost; returns the object of the server.

        It must have a name. An existing object of that name with the same `flowdsl.dev/submit-id` counts as created
        by this call. Raises Refusal when nothing was created, Unreachable whose `sent` says whether something may
        have been.
        """
        ...

    def delete(self, kind: Kind, name: str, *, uid: str = "", namespace: str | None = None) -> None:
        """Delete an object; with a `uid` only that one. One that is gone is no error. Raises Refusal, Unreachable."""
        ...

    def act(self, verb: Verb, workflow: Json, options: Mapping[str, Any] | None = None) -> Json:
        """Perform an action on a run that was read; returns the Workflow after it. Raises Refusal, Unreachable."""
        ...

    def log(
        self,
        pod: str,
        container: str,
        excerpt: Excerpt,
        *,
        run: str,
        seconds: float = 30,
        namespace: str | None = None,
    ) -> Generator[bytes, None, None]:
        """The log of a container, in pieces of bytes; each line begins with its timestamp and a space.

        `run` is the name of the run that owns the pod. `seconds` is how long the stream may be silent before it counts
        as broken. Nothing is retried here. Raises Refusal, and Unreachable when the response breaks off.
        """
        ...

    def proxy(self, pod: str, port: int, path: str, *, namespace: str | None = None) -> bytes:
        """The response of a pod's own HTTP server at a path. Raises Refusal and Unreachable."""
        ...
