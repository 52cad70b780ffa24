"""Steps that look in their own pod for what other steps have written in theirs."""

from pathlib import Path

from flowdsl import pipeline, step


@step(image="registry.example.com/train:1.4")
def prepare(rows: int) -> Path:
    features = Path("/tmp/features.csv")
    features.write_text("\n".join(map(str, range(rows))))
    return features


@step(image="registry.example.com/train:1.4")
def train(features: Path, rate: float) -> float:
    return rate * len(features.read_text().splitlines())


@pipeline
def nightly() -> None:
    train(prepare(10), 0.1)
