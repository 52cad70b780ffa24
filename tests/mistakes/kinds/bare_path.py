"""Paths to results without the dot that they begin with."""

from flowdsl import manifest, pipeline, resource

SETTINGS = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}


@resource("get")
def uid() -> str:
    return manifest(SETTINGS, "metadata.uid")


@resource("get")
def name() -> str:
    return manifest(SETTINGS, "{metadata.name}")


@resource("get")
def version() -> str:
    return manifest(SETTINGS, "$.metadata.resourceVersion")


@resource("get")
def fields() -> list[str]:
    return manifest(SETTINGS, "keys")


@resource("get")
def chosen(number: int) -> str:
    return manifest({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}, number)


@pipeline
def nightly() -> None:
    uid()
    name()
    version()
    fields()
    chosen(1)
