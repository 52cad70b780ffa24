"""Steps that pass on the file that the next step needs."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")


class Trained(NamedTuple):
    model: Path
    loss: float


@step(image="registry.example.com/train:1.4")
def prepare(rows: int) -> Path:
    out = Path("/tmp/rows.txt")
    out.write_text(str(rows))
    return out


@step(image="registry.example.com/train:1.4")
def train(rows: Path) -> Trained:
    out = Path("model.pt")
    out.write_bytes(rows.read_bytes())
    print("saved to", out, out.stat().st_size)
    return Trained(model=out, loss=0.5)


@step(image="registry.example.com/train:1.4", mounts={"/data": DATA})
def on_volume(rows: int) -> str:
    Path("/data/rows.txt").write_text(str(rows))
    return "/data/rows.txt"


@pipeline
def nightly(rows: int = 3) -> Path:
    on_volume(rows)
    return train(prepare(rows)).model
