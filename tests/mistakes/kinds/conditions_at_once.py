"""Conditions that hold before anything has happened, and one that nobody waits for."""

from flowdsl import manifest, pipeline, resource


@resource("apply", success="status.succeeded == 4", failure="status.failed != 0, status.phase notin (Running)")
def train() -> None:
    manifest({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}})


@resource("apply", failure="status.failed > 0")
def forget() -> None:
    manifest({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "forget"}})


@resource("create", success="status.succeeded == 1", retries=3)
def create() -> None:
    manifest({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "train-"}})


@pipeline
def nightly() -> None:
    train()
    forget()
    create()
