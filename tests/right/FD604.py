from flowdsl import manifest, pipeline, resource


@resource("apply", success="status.succeeded == 1")
def train() -> None:
    manifest({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}})


@pipeline
def nightly() -> None:
    train()
