"""A path to a result with one brace."""

from flowdsl import manifest, pipeline, resource


@resource("get")
def uid() -> str:
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
    return manifest(settings, "{.metadata.uid")


@pipeline
def nightly() -> None:
    uid()
