"""Steps that look in their own pod for what other steps have written in theirs."""

import json
from pathlib import Path

from flowdsl import Volume, pipeline, step

STATE = Path("/tmp/state.json")
DATA = Volume("datasets")


@step(image="registry.example.com/train:1.4")
def prepare(rows: int) -> None:
    import pandas as pd

    table = pd.DataFrame({"row": range(rows)})
    table.to_csv("/tmp/features.csv")
    STATE.write_text(json.dumps({"rows": rows}))
    with open("log.txt", "w") as log:
        log.write("prepared")
    Path("/data/rows.txt").write_text(str(rows))
    Path("/tmp/cached.txt").write_text("once")


@step(image="registry.example.com/train:1.4")
def train(rate: float) -> float:
    import pandas as pd

    found = json.loads(STATE.read_text())
    with open("log.txt") as log:
        print(log.read())
    return rate * len(pd.read_csv("/tmp/features.csv")) / found["rows"]


@step(image="registry.example.com/train:1.4", mounts={"/data": DATA.ro})
def look() -> str:
    if not Path("/tmp/cached.txt").exists():
        Path("/tmp/cached.txt").write_text(Path("/data/rows.txt").read_text())
    return Path("/tmp/cached.txt").read_text()


@pipeline
def nightly() -> None:
    prepared = prepare(10)
    train.options(after=[prepared])(0.1)
    look.options(after=[prepared])()
