from flowdsl import manifest, pipeline, resource


@resource("apply", success="status.phase == Done")
def train() -> None:
    manifest({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}})


@pipeline
def nightly() -> None:
    train()
