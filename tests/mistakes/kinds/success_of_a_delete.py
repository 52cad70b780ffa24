"""A condition on an object that is deleted."""

from flowdsl import manifest, pipeline, resource


@resource("delete", success="status.phase == Gone")
def drop() -> None:
    manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}})


@pipeline
def nightly() -> None:
    drop()
