"""A choice between a file on a volume and one in the artifact repository."""

from pathlib import Path

from flowdsl import Volume, command, container, either, pipeline, step, when

DATA = Volume("models")


@step(image="python:3.12-slim")
def train(lr: float) -> Path:
    model = Path("model.bin")
    model.write_text(str(lr))
    return model


@container(image="registry.example.com/publisher:1.2.0")
def publish(model: Path) -> None:
    return command("/bin/publish", model)


@pipeline
def nightly(retrain: bool = False) -> None:
    with when(retrain):
        fresh = train(0.1)
    publish(either(fresh, DATA / "latest.bin"))
