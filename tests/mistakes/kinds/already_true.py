"""A condition that holds before anything has happened."""

from flowdsl import manifest, pipeline, resource


@resource("apply", success="status.succeeded != 4", failure="status.failed > 0")
def train() -> None:
    manifest({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}})


@pipeline
def nightly() -> None:
    train()
