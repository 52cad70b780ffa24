"""Steps that open a file for something else than they do with it."""

import csv
import json
import pickle
from pathlib import Path

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(rate: float, text: str) -> Path:
    with open("log.txt") as log:
        log.write(text)
        print("rate", rate, file=log)
    with open("model.pkl", "w") as model:
        pickle.dump({"rate": rate}, model)
    with Path("metrics.json").open("wb") as metrics:
        json.dump({"rate": rate}, metrics)
        metrics.write(f"{rate}\n")
    with open("rows.csv", "w") as rows:
        print(len(list(csv.reader(rows))), rows.read())
        rows.write(b"a,b")
    return Path("model.pkl")


@pipeline
def main() -> None:
    train(0.1, "begin")
