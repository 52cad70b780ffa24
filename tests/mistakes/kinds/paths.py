"""Paths for what has none, and paths at which nothing can be put."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Http, Volume, command, container, pipeline

DATA = Volume("datasets")


class Found(NamedTuple):
    report: Path
    score: float


@container(image="busybox:1.37.0", mounts={"/mnt": DATA})
def evaluate(model: Path, data: Path, rate: float) -> Found:
    return command(
        "/opt/evaluate",
        paths={
            "modle": "/opt/model",
            "rate": "/opt/rate",
            "model": "opt/model",
            "data": "/mnt",
            "report": "/tmp/flowdsl/out/report",
            "score": f"/out/{data}",
        },
    )


@container(image="busybox:1.37.0")
def compare(one: Path, other: Path) -> str:
    return command("cmp", stdout=True, paths={"one": "/in", "other": "/in/", "return": "/out"})


@container(image="busybox:1.37.0")
def count(text: Path) -> int:
    return command("wc", paths=["/tmp/text"], stdout=True)  # type: ignore[arg-type]


@container(image="busybox:1.37.0")
def moved(text: Path, day: str) -> int:
    return command("wc", day, paths={"text": f"/in/{day}"}, stdout=True)


@pipeline
def several() -> None:
    file = Http("https://example.com/file")
    evaluate(file, file, 0.1)
    compare(file, file)
    count(file)
    moved(file, "monday")
