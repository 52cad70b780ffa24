"""What can be done to a run, in terms of its object. Source: Argo 4.1, workflow/util/util.go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from flowdsl.runtime.cluster.kinds import WORKFLOW

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.runtime.cluster.seam import Json, Kind, Verb


class Objects(Protocol):
    """What the verbs need of a cluster."""

    def get(self, kind: Kind, name: str, *, namespace: str | None = None) -> Json:
        """One object."""
        ...

    def replace(self, kind: Kind, body: Json) -> Json:
        """Put an object in the place of the version that it was made from."""
        ...

    def patch(self, kind: Kind, name: str, patch: Json, *, namespace: str | None = None) -> Json:
        """Merge a patch into an object."""
        ...

    def delete(self, kind: Kind, name: str, *, uid: str = "", namespace: str | None = None) -> None:
        """Delete an object."""
        ...


def act(cluster: Objects, verb: Verb, workflow: Json, options: Mapping[str, Any]) -> Json:
    """Do something to a run that was read before; the Workflow after it. Raises Refusal, Unreachable."""
    metadata = workflow["metadata"]
    shutdown = {"stop": "Stop", "terminate": "Terminate"}.get(verb)
    spec = {"suspend": True} if verb == "suspend" else {"shutdown": shutdown}
    patch = {"metadata": {"uid": metadata["uid"]}, "spec": spec}
    return cluster.patch(WORKFLOW, str(metadata["name"]), patch, namespace=metadata.get("namespace"))
