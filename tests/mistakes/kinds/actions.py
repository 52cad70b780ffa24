"""An action that does not exist, and options that mean nothing with an action."""

from flowdsl import manifest, pipeline, resource

SETTINGS = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}


@resource("aply")
def settings() -> None:
    manifest(SETTINGS)


@resource("delete", success="status.phase == Gone")
def drop() -> None:
    manifest(SETTINGS)


@resource("get", owner=True)
def read() -> str:
    return manifest(SETTINGS, "{.data}")


@resource("apply", merge="json")
def change() -> None:
    manifest(SETTINGS)


@pipeline
def nightly() -> None:
    settings()
    drop()
    read()
    change()
