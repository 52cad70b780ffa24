"""Steps that pass on the name of a file where the next step needs the file."""

import json
import os
import os.path as paths
from os.path import join
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
def prepare_folder(rows: int) -> str:
    os.makedirs("/tmp/out", exist_ok=True)
    file = os.path.join("/tmp/out", "rows.txt")
    with open(file, "w") as out:
        out.write(str(rows))
    return file


@step(image="registry.example.com/train:1.4")
def prepare_parts(rows: int) -> list[str]:
    from os import path
    from os.path import join as in_folder

    with open(join("parts", "1.txt"), "w") as one, open(paths.join("parts", "2.txt"), "w") as two:
        print(rows, file=one)
        print(rows, file=two)
    with open(path.join("parts", "3.txt"), "w") as three, open(in_folder("parts", "4.txt"), "w") as four:
        print(rows, file=three)
        print(rows, file=four)
    return ["parts/1.txt", "parts/2.txt", "parts/3.txt", "parts/4.txt"]


@step(image="registry.example.com/train:1.4")
def joined(rows: int, join: str) -> str:
    with open("rows.txt", "w") as out:
        out.write(join)
    return join


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


@step(image="registry.example.com/train:1.4")
def unpack(rows: int) -> Path:
    folder = Path("parts")
    folder.mkdir()
    (folder / "1.csv").write_text(str(rows))
    return folder


@step(image="registry.example.com/train:1.4")
def files(folder: Path) -> list[str]:
    return sorted(str(file) for file in folder.glob("*.csv"))


@step(image="registry.example.com/train:1.4")
def first(folder: Path) -> str:
    return f"{folder}/1.csv"


@step(image="registry.example.com/train:1.4")
def names(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


@step(image="registry.example.com/train:1.4")
def share(folder: Path) -> float:
    return len(list(folder.iterdir())) / 2


@pipeline
def nightly(rows: int = 3) -> str:
    parts = unpack(rows)
    files(parts)
    first(parts)
    names(parts)
    share(parts)
    first.options(name="in-place")(DATA / "parts")
    on_volume(rows)
    uploaded(rows)
    beside(rows)
    prepare_folder(rows)
    prepare_parts(rows)
    joined(rows, "rows.txt")
    return train(prepare(rows)).model
