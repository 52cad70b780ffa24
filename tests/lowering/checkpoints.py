"""Folders for checkpoints: of a task, of each item, in a pipeline that is called in a loop, in a container."""

from pathlib import Path

from flowdsl import Volume, choice, command, container, fan_out, maximize, pipeline, run, step, sweep

DATA = Volume("datasets")
FAST = Volume("fast-disk")
PYTHON = "python:3.12-slim"


@step(image=PYTHON)
def train(rate: float, state: Path = run.checkpoint_dir) -> float:
    return rate


@container(image="registry.example.com/trainer:2.4.0", checkpoints=FAST)
def fit(rate: float, state: Path) -> None:
    return command("/bin/fit", "--rate", rate, f"--state={state}")


@pipeline
def trial(rate: float) -> float:
    return train(rate)


@pipeline(checkpoints=FAST / "refined")
def refine(rate: float) -> float:
    return train(rate)


@pipeline(checkpoints=DATA / "checkpoints")
def case() -> None:
    first = train(0.1)
    many = fan_out(train, over={"rate": [0.1, 0.2]}, state=run.checkpoint_dir)
    found = sweep(trial, over={"rate": choice(0.1, 0.2)}, objective=maximize())
    fit(first + many[0], run.checkpoint_dir)
    elsewhere = train.options(checkpoints=FAST / "slow/steps")(found.best)
    refine(elsewhere)
