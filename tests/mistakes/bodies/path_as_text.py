"""Steps that pass on the name of a file where the next step needs the file."""

import json
from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")


class Trained(NamedTuple):
    model: str
    loss: float


class Kept(NamedTuple):
    folder: Path
    best: str


@step(image="registry.example.com/train:1.4")
def prepare(rows: int) -> str:
    with open("/tmp/rows.txt", "w") as file:
        file.write(str(rows))
    return "/tmp/rows.txt"


@step(image="registry.example.com/train:1.4")
def train(rows: str) -> Trained:
    import torch

    out = Path("model.pt")
    torch.save({"rows": rows}, out)
    print("saved to", out, out.stat().st_size)
    return Trained(model=str(out), loss=0.5)


@step(image="registry.example.com/train:1.4", mounts={"/data": DATA})
def on_volume(rows: int) -> str:
    Path("/data/rows.txt").write_text(str(rows))
    return "/data/rows.txt"


@step(image="registry.example.com/train:1.4")
def uploaded(rows: int) -> str:
    import mlflow

    Path("rows.txt").write_text(str(rows))
    mlflow.log_artifact("rows.txt")
    return "rows.txt"


@step(image="registry.example.com/train:1.4")
def beside(rows: int) -> Kept:
    folder = Path("kept")
    folder.mkdir()
    Path("kept/best.json").write_text(json.dumps(rows))
    return Kept(folder, "kept/best.json")


@pipeline
def nightly(rows: int = 3) -> str:
    on_volume(rows)
    uploaded(rows)
    beside(rows)
    return train(prepare(rows)).model
