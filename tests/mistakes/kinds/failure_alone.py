"""A failure condition alone."""

from flowdsl import manifest, pipeline, resource


@resource("apply", failure="status.failed > 0")
def train() -> None:
    manifest({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}})


@pipeline
def nightly() -> None:
    train()
