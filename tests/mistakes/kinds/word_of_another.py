"""A resource step that describes a request."""

from flowdsl import pipeline, request, resource


@resource("delete")
def drop(name: str) -> None:
    request("DELETE", f"https://kubernetes.default.svc/{name}")


@pipeline
def nightly(name: str = "settings") -> None:
    drop(name)
