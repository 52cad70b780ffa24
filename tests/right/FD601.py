from flowdsl import manifest, pipeline, resource


@resource("delete")
def drop(name: str) -> None:
    manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})


@pipeline
def nightly(name: str = "settings") -> None:
    drop(name)
