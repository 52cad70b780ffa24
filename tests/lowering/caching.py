"""Cached steps: keys of digests, files under keys that no run deletes, digests only where a key needs them."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Cache, choice, command, container, fan_out, minimize, output, pipeline, step, sweep, when

IMAGE = "python:3.12-slim"
FACTOR = 3


class Trained(NamedTuple):
    model: Path
    loss: float


def scaled(rows: int) -> int:
    return rows * FACTOR


@container(image="busybox:1.36", cache=True)
def fetch(url: str) -> Path:
    command("wget", "-O", output(), url, env={"AGENT": "flowdsl"})


@container(image="busybox:1.36", cache=True)
def lines(text: Path) -> str:
    return command("sh", source='wc -l "$TEXT"', env={"TEXT": f"{text}"}, stdout=True)


@step(image=IMAGE)
def make(rows: int) -> Path:
    out = Path("rows.txt")
    out.write_text("x" * scaled(rows))
    return out


@step(image=IMAGE, env={"SEED": 7})
def clean(raw: Path, extra: Path) -> Path:
    return raw if raw.stat().st_size else extra


@step(image=IMAGE, cache=Cache(max_age="30d", salt="2024-06"))
def train(data: Path, rate: float) -> Trained:
    return Trained(data, rate)


@step(image=IMAGE, cache=False)
def publish(model: Path) -> None:
    print(model)


@step(image=IMAGE)
def count(part: int) -> Trained:
    return Trained(Path("x"), part)


@step(image=IMAGE, cache=True)
def total(parts: list[Trained]) -> float:
    return sum(part.loss for part in parts)


@step(image=IMAGE, cache=False)
def note(rows: int) -> Path:
    out = Path("note.txt")
    out.write_text(f"{rows}\n")
    return out


@pipeline
def noted(rows: int) -> Path:
    return note(rows)


@pipeline
def again(data: Path) -> Trained:
    return train(data, 0.5)


@pipeline(cache=True)
def caching(rows: int = 10) -> None:
    data = clean(fetch("https://example.com/reviews.txt"), make(rows))
    lines(data)
    lines.options(name="lines-of-note")(noted(rows))
    runs = sweep(train, over={"rate": choice(0.1, 0.2)}, objective=minimize("loss"), data=data)
    publish(train.options(name="refined")(again(runs.best.model).model, 0.01).model)
    with when(total(fan_out(count.options(cache=False), over={"part": [1, 2]})) > 2):
        publish.options(name="published")(data)
