"""The truth of a record or a file, which is always true: what is meant is whether there is one yet."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import pipeline, step


class Policy(NamedTuple):
    weights: Path
    reward: float


@step(image="python:3.12-slim")
def train(stage: str, initial: Path | None = None) -> Policy:
    return Policy(Path(stage), 0.5)


@pipeline
def curriculum() -> None:
    policy: Policy | None = None
    for stage in ("flat", "stairs"):
        policy = train(stage, policy.weights if policy else None)
    if policy and policy.weights:
        train.options(name="last")("rubble", policy.weights)


@pipeline
def right() -> None:
    policy: Policy | None = None
    for stage in ("flat", "stairs"):
        policy = train(stage, policy.weights if policy is not None else None)
