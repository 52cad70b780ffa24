from flowdsl import manifest, pipeline, resource


@resource("apply", success="status.succeeded == 1")
def train() -> None:
    manifest({"apiVersion": "example.com/v1", "kind": "Training", "metadata": {"name": "train"}})


@pipeline
def nightly() -> None:
    train()
