from pathlib import Path

from flowdsl import S3, either, pipeline, step, when


@step(image="python:3.12-slim")
def train(lr: float) -> Path:
    model = Path("model.bin")
    model.write_text(str(lr))
    return model


@step(image="python:3.12-slim")
def publish(model: Path) -> None:
    print(model)


@pipeline
def nightly(retrain: bool = False) -> None:
    with when(retrain):
        fresh = train(0.1)
    publish(either(fresh, S3("models/base.bin")))
