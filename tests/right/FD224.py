from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(lr: float) -> Path:
    model = Path("model.bin")
    model.write_text(str(lr))
    return model


@step(image="python:3.12-slim")
def publish(model: Path) -> None:
    print(model)


@pipeline
def nightly() -> None:
    trained = train(0.1)
    publish(trained)
