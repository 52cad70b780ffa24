"""Steps that write to volumes that are mounted read-only."""

import json
import shutil
from pathlib import Path

from flowdsl import Config, Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def clean(folder: Path, name: str) -> Path:
    raw = folder / name
    (folder / "clean.txt").write_text(raw.read_text())
    with (folder / "log.txt").open("a") as log:
        log.write("done")
    return raw


@step(image="python:3.12-slim", mounts={"/models": DATA.ro, "/models/new": DATA / "new", "/etc/app": Config("app")})
def publish(model: Path) -> None:
    shutil.copy(model, "/models/latest")
    shutil.copy(model, "/models/new/latest")
    Path("/etc/app/model.json").write_text(json.dumps({"size": model.stat().st_size}))


@pipeline
def main() -> None:
    publish(clean(DATA / "raw", "a.txt"))
