"""Conditions, their opposites, and values of whichever branch ran."""

from pathlib import Path
from typing import Annotated, Literal

from flowdsl import Volume, either, otherwise, pipeline, step, unless, when

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def measure(kind: Annotated[Literal["fast", "exact"], "how many points"]) -> float:
    return {"fast": 0.5, "exact": 0.75}[kind]


@step(image="python:3.12-slim")
def build(level: int) -> Path:
    model = Path("model")
    model.write_text(f"a model of level {level}")
    return model


@step(image="python:3.12-slim")
def note(level: int) -> str | None:
    return None if level > 2 else f"level {level}"


@step(image="python:3.12-slim")
def ship(model: Path, text: str, factor: float = 1.0) -> None:
    print(model.read_text(), text, factor)


@pipeline
def branches(
    limit: Annotated[float, "the score above which a model is good"] = 0.5,
    force: bool = False,
    kind: Annotated[Literal["fast", "exact"], "how to measure"] = "fast",
) -> Path:
    score = measure(kind)
    with when((score > limit) | force):
        good = build(1)
        why = note(2)
        with when(score * 2 > limit):
            ship(good, either(why, "nothing to say"), score / 2)
    with otherwise():
        bad = build(3)
    with unless(force):
        with when(kind == "fast"):
            ship.options(name="hurry")(bad_or(good, bad), "quick")
    model = either(good, bad)
    ship(model, f"score {score}")
    return either(model, bad_or(good, bad))  # what `model` has tried


def bad_or(good: Path, bad: Path) -> Path:
    return either(bad, good)
