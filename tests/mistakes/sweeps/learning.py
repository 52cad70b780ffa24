"""Searches that learn: without the size of a round, with random points alone, in spaces without bounds, and so on."""

from pathlib import Path

from flowdsl import Gp, Tpe, Volume, choice, integer, maximize, normal, pipeline, step, sweep

DATA = Volume("datasets")
BEST = maximize()


@step(image="python:3.12-slim")
def train(layers: int, rate: float = 0.1, corpus: Path | None = None) -> float:
    return layers * rate


@step(image="python:3.12-slim")
def count() -> int:
    return 3


@pipeline
def search() -> None:
    layers = integer(1, 1_000_000)
    sweep(train, over={"layers": layers}, search="tpe", trials=20, objective=BEST)
    sweep(train, over={"layers": layers}, search="tpe", trials=20, parallel=0, objective=BEST)
    sweep(train, over={"layers": layers}, search="tpe", parallel=4, objective=BEST)
    sweep(train, over={"layers": layers}, search="tpe", trials=10, parallel=4, objective=BEST)
    sweep(train, over={"layers": layers}, search="tpe", trials=2000, parallel=50, objective=BEST)
    sweep(train, over={"layers": layers}, search="tpe", trials=200, parallel=1, objective=BEST)
    sweep(train, over={"layers": layers}, search=Tpe(startup=0), trials=20, parallel=4, objective=BEST)
    sweep(train, over={"layers": layers}, search=Tpe(image=""), trials=20, parallel=4, objective=BEST)
    spaces = {"layers": layers, "rate": normal(0.1, 0.01)}
    sweep(train, over=spaces, search="tpe", trials=20, parallel=4, objective=BEST)
    files = {"layers": layers, "corpus": choice(DATA / "a", DATA / "b")}
    sweep(train, over=files, search="tpe", trials=20, parallel=4, objective=BEST)
    later = {"layers": choice(1, count()), "rate": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}
    sweep(train, over=later, search=Tpe(startup=2), trials=8, parallel=4, objective=BEST)
    sweep(train, over={"layers": [1, 2, 3]}, search=Tpe(startup=2), trials=8, parallel=4, objective=BEST)
    sweep(train, over={"layers": layers}, search=Tpe, trials=8, parallel=4, objective=BEST)  # type: ignore[arg-type]
    sweep(train, over={"layers": layers}, search="gp", trials=20, parallel=4, objective=BEST)  # type: ignore[arg-type]
    few = Gp(image="registry.example.com/optuna-torch:5", startup=8)
    sweep(train, over={"layers": layers}, search=few, trials=8, parallel=4, objective=BEST)
    sweep(train, over={"layers": layers}, search=Gp(image=" "), trials=20, parallel=4, objective=BEST)
