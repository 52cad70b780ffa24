from pathlib import Path

from flowdsl import Torch, fan_out, pipeline, step


@step(image="python:3.12-slim")
def prepare() -> Path:
    return Path("corpus.txt")


@step(image="python:3.12-slim", distributed=Torch(workers=4))
def train(corpus: Path, rate: float) -> None:
    print(corpus, rate)


@step(image="python:3.12-slim", distributed=Torch(workers=4))
def tune(parts: list[Path]) -> None:
    print(parts)


@pipeline
def nightly() -> None:
    corpus = prepare()
    train(corpus, 0.1)
    fan_out(train.options(name="each"), over={"rate": [0.1, 0.2]}, corpus=corpus)
    tune([corpus])
