"""Twenty trials of a small network, four at a time; the best one is published if it is good enough.

The points are drawn from the seed while the pipeline compiles: the table of trials stands in the YAML, so
a review sees it and every run repeats it. A trial that fails is left out of the choice.
"""

import json
import math
import random
import shutil
from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, choice, loguniform, maximize, pipeline, step, sweep, when

PYTHON = "python:3.12-slim"
MODELS = Volume("models")


class Trained(NamedTuple):
    model: Path
    accuracy: float


class Network(NamedTuple):
    """One hidden layer: a hidden unit is the weights of x, y and 1, and its weight in the sum."""

    units: list[list[float]]
    bias: float

    def hidden(self, x: float, y: float) -> list[float]:
        """What the hidden units make of a point."""
        return [math.tanh(a * x + b * y + c) for a, b, c, _ in self.units]

    def answer(self, hidden: list[float]) -> float:
        """The probability of the second moon."""
        total = self.bias + sum(unit[3] * value for unit, value in zip(self.units, hidden, strict=True))
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


@step(image=PYTHON)
def generate(points: int = 400, noise: float = 0.15) -> Path:
    """Two half moons that no straight line can part."""
    source = random.Random(1)
    lines: list[str] = []
    for number in range(points):
        moon, angle = number % 2, source.uniform(0, math.pi)
        x = math.cos(angle) if moon == 0 else 1 - math.cos(angle)
        y = math.sin(angle) if moon == 0 else 0.5 - math.sin(angle)
        lines.append(f"{x + source.gauss(0, noise):.4f} {y + source.gauss(0, noise):.4f} {moon}\n")
    data = Path("moons.txt")
    data.write_text("".join(lines), encoding="utf-8")
    return data


@step(image=PYTHON, cpu=1, memory="256Mi", retries=1, timeout="30m")
def train(data: Path, rate: float, hidden: int, epochs: int = 40) -> Trained:
    """Stochastic gradient descent; the last quarter of the points is kept back to measure the accuracy."""
    lines = data.read_text(encoding="utf-8").splitlines()
    rows = [(float(x), float(y), int(moon)) for x, y, moon in map(str.split, lines)]
    learnt_from, kept_back = rows[: len(rows) * 3 // 4], rows[len(rows) * 3 // 4 :]
    source = random.Random(7)
    network = Network([[source.uniform(-1, 1) for _ in range(4)] for _ in range(hidden)], 0.0)
    for _ in range(epochs):
        source.shuffle(learnt_from)
        for x, y, moon in learnt_from:
            values = network.hidden(x, y)
            error = moon - network.answer(values)
            for unit, value in zip(network.units, values, strict=True):
                back = rate * error * unit[3] * (1 - value * value)
                unit[0] += back * x
                unit[1] += back * y
                unit[2] += back
                unit[3] += rate * error * value
            network = network._replace(bias=network.bias + rate * error)
    right = sum((network.answer(network.hidden(x, y)) > 0.5) == bool(moon) for x, y, moon in kept_back)
    model = Path("network.json")
    model.write_text(json.dumps(network._asdict()), encoding="utf-8")
    return Trained(model, right / len(kept_back))


@step(image=PYTHON, mounts={"/models": MODELS})
def publish(model: Path, accuracy: float, folder: str = "/models/moons") -> None:
    """Put the model where the service that answers with it looks for it."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    shutil.copy(model, f"{folder}/network.json")
    print(f"published with an accuracy of {accuracy}")


@pipeline
def moons(min_accuracy: float = 0.95) -> None:
    data = generate()
    runs = sweep(
        train,
        over={"rate": loguniform(1e-4, 1.0), "hidden": choice(2, 4, 8)},
        trials=20,
        parallel=4,
        objective=maximize("accuracy"),
        seed=7,
        data=data,
    )
    with when(runs.best.accuracy >= min_accuracy):
        publish(runs.best.model, runs.best.accuracy)
