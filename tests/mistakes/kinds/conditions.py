"""Conditions that Argo cannot read."""

from flowdsl import manifest, pipeline, resource


@resource("apply", success='status.phase == "Done"', failure="status.failed >= 1")
def train() -> None:
    manifest({"apiVersion": "example.com/v1", "kind": "Training", "metadata": {"name": "train"}})


@resource("apply", success='status.conditions.#(type=="Ready").status == True', failure="status.failed > 0")
def serve() -> None:
    manifest({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "serve"}})


@pipeline
def nightly() -> None:
    train()
    serve()
