"""A choice with a source as the other one, where no Python step makes it."""

from pathlib import Path

from flowdsl import S3, command, container, either, pipeline, step, when

BASE = S3("models/base.bin")


@step(image="python:3.12-slim")
def train(lr: float) -> Path:
    model = Path("model.bin")
    model.write_text(str(lr))
    return model


@container(image="registry.example.com/publisher:1.2.0")
def publish(model: Path) -> None:
    return command("/bin/publish", model)


@pipeline
def nightly(retrain: bool = False) -> Path:
    with when(retrain):
        fresh = train(0.1)
    publish(either(fresh, BASE))
    return either(fresh, BASE)
