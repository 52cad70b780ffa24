import json
import shutil
from pathlib import Path

from flowdsl import Config, Volume, pipeline, step

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def clean(folder: Path, name: str) -> Path:
    raw = folder / name
    out = Path("clean.txt")
    out.write_text(raw.read_text())
    with Path("log.txt").open("a") as log:
        log.write("done")
    return out


@step(
    image="python:3.12-slim", mounts={"/models": DATA, "/models/new": DATA / "new", "/etc/app": Config("app")}
)
def publish(model: Path) -> None:
    shutil.copy(model, "/models/latest")
    shutil.copy(model, "/models/new/latest")
    Path("model.json").write_text(json.dumps({"size": model.stat().st_size}))


@pipeline
def main() -> None:
    publish(clean(DATA / "raw", "a.txt"))
