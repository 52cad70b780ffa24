"""The pipeline `nightly_score`."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Mutex, Semaphore, command, container, pipeline


class ScoreOutputs(NamedTuple):
    score: str
    score_2: Path


@container(image="busybox:1.37.0", locks=[Semaphore("limits", "scores")])
def score(rows: int, rate: float, verbose: str, seed: int = 1) -> ScoreOutputs:
    return command(
        "sh",
        "-c",
        'echo "$0 $1 $2 $3" > /tmp/score',
        rows,
        seed,
        rate,
        verbose,
        paths={"score": "/tmp/score", "score_2": "/tmp/score"},
    )


@container(image="busybox:1.37.0")
def tell(score: str, file: Path) -> None:
    command("sh", "-c", 'cat /tmp/file; echo "$0"', score, paths={"file": "/tmp/file"})


class MainOutputs(NamedTuple):
    score: str
    score_2: Path


@pipeline(
    schedule="0 2 * * *",
    labels={"team": "ml"},
    locks=[Mutex("nightly-score")],
    argo={"metadata": {"namespace": "ml"}},
)
def nightly_score(
    rows: int = 100,
    rate: float = 0.5,
    verbose: str = "true",
) -> MainOutputs:
    score_ = score(rows=rows, seed=7, rate=rate, verbose=verbose)
    tell(score=score_.score, file=score_.score_2)
    return MainOutputs(score=score_.score, score_2=score_.score_2)
