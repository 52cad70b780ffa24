from flowdsl import manifest, pipeline, resource, run


@resource("apply", success="status.succeeded == 1", failure="status.failed > 0", retries=3)
def train() -> None:
    manifest({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": f"{run.name}-train"}})


@pipeline
def nightly() -> None:
    train()
