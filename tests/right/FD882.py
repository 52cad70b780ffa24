import tempfile
from pathlib import Path
from typing import NamedTuple

from flowdsl import pipeline, step


class Trained(NamedTuple):
    model: Path
    loss: float


@step(image="python:3.12-slim")
def train(rate: float) -> Trained:
    folder = tempfile.mkdtemp()
    model = Path(folder) / "model.bin"
    model.write_text(str(rate))
    return Trained(model, loss=rate)


@step(image="python:3.12-slim")
def report(model: Path) -> Path:
    with tempfile.NamedTemporaryFile("w", delete=False) as out:
        out.write(model.read_text())
    return Path(out.name)


@step(image="python:3.12-slim")
def publish(model: Path) -> Trained:
    out = Path("model.bin")
    out.write_bytes(model.read_bytes())
    return Trained(Path("model.bin"), loss=0.0)


@step(image="python:3.12-slim")
def shard(model: Path) -> Path:
    Path("shards/first").mkdir(parents=True)
    Path("shards/first/model.bin").write_bytes(model.read_bytes())
    return Path("shards")


@pipeline
def main() -> None:
    shard(publish(report(train(0.1).model)).model)
