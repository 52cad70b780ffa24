from flowdsl import manifest, pipeline, resource


@resource("delete")
def drop() -> None:
    manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}})


@pipeline
def nightly() -> None:
    drop()
