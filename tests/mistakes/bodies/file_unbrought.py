"""Files that steps read by names, and that nothing brings into their pods."""

import json
from pathlib import Path

from flowdsl import Scratch, pipeline, step


@step(image="python:3.12-slim")
def train(steps: int) -> Path:
    rate = json.loads(Path("rates-of-today.json").read_text())["rate"]
    with open("data/rows.csv") as rows:
        count = len(rows.readlines())
    out = Path("model.json")
    out.write_text(json.dumps([rate, count, steps]))
    return out


@step(image="python:3.12-slim")
def long_name() -> str:
    return Path("a-name-that-is-too-long-for-a-file-a-name-that-is-too-long-for-a-file-a-name-that-is-too-long-for-a-file-a-name-that-is-too-long-for-a-file-a-name-that-is-too-long-for-a-file-a-name-that-is-too-long-for-a-file-a-name-that-is-too-long-for-a-file-a-name-that-is-too-long-for-a-file.txt").read_text()  # noqa: E501


@step(image="python:3.12-slim", mounts={"/cache": Scratch("1Gi")})
def mounted() -> str:
    return Path("cache/mounted.txt").read_text()


@step(image="python:3.12-slim")
def written(name: str) -> str:
    Path(name).write_text("a")
    return Path("as-named.txt").read_text()


@step(image="registry.example.com/train:1.4")
def in_the_image() -> str:
    return Path("in-the-image.txt").read_text()


@step(image="python:3.12-slim")
def into_folders() -> Path:
    folder = Path("out") / "models"
    (folder / "model.txt").write_text("a")
    with open("logs/log.txt", "w") as log:
        log.write("a")
    return folder


@step(image="python:3.12-slim")
def into_new_folders() -> Path:
    folder = Path("out") / "models"
    folder.mkdir(parents=True)
    (folder / "model.txt").write_text("a")
    return folder


@step(image="python:3.12-slim")
def still_to_be_written() -> Path:
    return Path("plot.png")


@pipeline
def nightly() -> None:
    train(3)
    long_name()
    mounted()
    written("as-named.txt")
    in_the_image()
    into_folders()
    into_new_folders()
    still_to_be_written()
