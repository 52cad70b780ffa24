"""Cached steps whose key cannot see what they depend on, and whose results do not fit."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Cache, Git, Volume, choice, command, container, fan_out, minimize, output, pipeline, run, step, sweep

IMAGE = "python:3.12-slim"
DATA = Volume("datasets")


class Trained(NamedTuple):
    model: Path
    loss: float


@container(image="busybox:1.36")
def fetch(url: str) -> Path:
    command("wget", "-O", output(), url)


@step(image="python", cache=True)
def clean(raw: Path, extra: Path) -> Path:
    return raw if extra else extra


@step(image=IMAGE, cache=True, code=DATA / "src", mounts={"/models": DATA.ro})
def embed(clean: Path) -> Path:
    return clean


@step(image=IMAGE, cache=True, code=Git("https://example.com/team/models.git", revision="v1.x"))
def index(clean: Path) -> int:
    return clean.stat().st_size


@step(image=IMAGE, cache=Cache(salt="2024-06"))
def train(data: Path, rate: float) -> Trained:
    return Trained(data, rate)


@step(image=IMAGE)
def compare(runs: list[Trained], files: list[Path]) -> int:
    return len(runs) + len(files)


@step(image=IMAGE, cache=True)
def square(number: int) -> int:
    return number * number


@step(image=IMAGE, cache=True)
def label(text: str) -> int:
    return len(text)


@pipeline
def nightly() -> None:
    label(f"run {run.name} in {run.namespace}")
    raw = fetch("https://example.com/reviews.txt")
    cleaned = clean(raw, DATA / "extra.txt")
    index(embed(cleaned))
    runs = sweep(train, over={"rate": choice(0.1, 0.2)}, objective=minimize("loss"), data=DATA / "x")
    compare(runs.results, [runs.best.model])
    fan_out(square, over={"number": list(range(3000))})
