"""Every combination of lists that steps and parameters give, also of files, and of single values among them."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import failed, fan_out, grid, pipeline, step

PYTHON = "python:3.12-slim"


class Model(NamedTuple):
    weights: Path
    loss: float


@step(image=PYTHON)
def rates(count: int) -> list[float]:
    return [1 / (number + 2) for number in range(count)]


@step(image=PYTHON)
def shards(count: int) -> list[Path]:
    files = [Path(f"shard {number}") for number in range(count)]
    for number, file in enumerate(files):
        file.write_text("x" * (number + 1))
    return files


@step(image=PYTHON)
def train(rate: float, seed: int, kind: str = "small") -> Model:
    weights = Path("weights")
    weights.write_text(f"{kind} {seed}")
    return Model(weights, rate * (seed % 7))


@step(image=PYTHON)
def judge(shard: Path, model: Model, fold: int) -> str:
    return f"{shard.read_text()} {model.weights.read_text()} {model.loss:.2f} {fold}"


@step(image=PYTHON)
def report(losses: list[Model], judged: list[str], missing: list[int]) -> str:
    return f"{[one.loss for one in losses]} {judged} {missing}"


@pipeline
def folds(model: Model, folds: list[int]) -> list[str]:
    return fan_out(judge, over=grid(shard=shards(2), fold=folds), model=model)


@step(image=PYTHON)
def count(lists: list[list[str]]) -> int:
    return sum(map(len, lists))


@pipeline
def combinations(size: int = 2, seeds: list[int] = [1, 12345678901234567]) -> str:
    found = rates(size)
    losses = fan_out(train, over=grid(kind=["small", "large"], rate=found, seed=seeds), parallel=4, keep_going=True)
    some = fan_out(train.options(name="some"), over=grid(rate=[found[0], 0.1], seed=[3, size]))
    judged = fan_out(judge, over=grid(shard=shards(3), model=some, fold=seeds))
    walked = fan_out(train.options(name="walked"), over={"rate": found, "seed": [size, 4]})
    count(fan_out(folds, over={"model": walked}, folds=seeds))
    return report(losses, judged, failed(losses))
