from pathlib import Path

from flowdsl import Volume, loguniform, minimize, pipeline, step, sweep

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def train(corpus: Path, rate: float, layers: int = 2) -> float:
    return corpus.stat().st_size * rate / layers


@pipeline
def trial(rate: float, layers: int) -> float:
    return train(DATA / "clean.txt", rate=rate, layers=layers)


@pipeline
def search(layers: int = 4) -> float:
    over = {"rate": loguniform(1e-4, 1e-1)}
    runs = sweep(trial, over=over, objective=minimize(), trials=2, layers=layers)
    return runs.best
