"""Templates of the cluster: names that there are none of, results without a name, files that get lost."""

from pathlib import Path

from flowdsl import call_template, fan_out, pipeline, step, when


@call_template("Library", "train_model", names={"rate": "learning rate"})
def train(rate: float) -> None: ...


@call_template("library", "score", names={"txet": "text"}, cluster="yes")
def score(text: str) -> float: ...


@pipeline
def nightly() -> None:
    train(0.5)
    score("a")
