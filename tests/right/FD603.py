from flowdsl import manifest, pipeline, resource


@resource("apply")
def settings() -> None:
    manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}})


@pipeline
def nightly() -> None:
    settings()
