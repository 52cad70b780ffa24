"""Records and tuples with files that are parts of a result themselves: each part may be taken."""

from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from flowdsl import either, fan_out, minimize, otherwise, pipeline, step, sweep, when

PYTHON = "python:3.12-slim"
T = TypeVar("T")


class Model(NamedTuple):
    weights: Path
    loss: float


@dataclass
class Trained:
    """A record and a tuple in a record, and a record without files, which is one value."""

    model: Model
    logs: tuple[Path, int]
    shape: tuple[int, int]


class Report(NamedTuple, Generic[T]):
    text: Path
    trained: T


@step(image=PYTHON)
def train(rows: int) -> tuple[Trained, str]:
    """A record in a record in a tuple."""
    weights, log = Path("weights.bin"), Path("log.txt")
    weights.write_text("w" * rows)
    log.write_text(f"{rows} rows")
    return Trained(Model(weights, 1 / rows), (log, rows * 2), (rows, 2)), f"run-{rows}"


@step(image=PYTHON)
def show(weights: Path, loss: float, log: Path, lines: int, shape: tuple[int, int], name: str) -> str:
    """All parts as text."""
    return f"{weights.read_text()} {loss} {log.read_text()} {lines} {shape} {name}"


@step(image=PYTHON)
def whole(trained: Trained, several: list[Trained]) -> str:
    """The same as wholes."""
    texts = [f"{one.model.weights.read_text()} {one.logs[0].read_text()}" for one in (trained, *several)]
    return f"{texts} {trained.model.loss} {trained.shape}"


@step(image=PYTHON)
def score(model: Model, factor: int) -> Report[Trained]:
    """A report of a model."""
    text = Path("report.txt")
    text.write_text(model.weights.read_text() * factor)
    return Report(text, Trained(model, (text, factor), (factor, 0)))


@pipeline
def look(trained: Trained, name: str) -> str:
    """Parts of a record that the pipeline is given."""
    log, lines = trained.logs
    return show(trained.model.weights, trained.model.loss, log, lines, trained.shape, name)


@pipeline
def handed(trained: Trained, rows: int) -> tuple[Trained, Report[Trained]]:
    """One record handed on as it came, one out of a step."""
    return trained, score(trained.model, rows)


@pipeline
def trial(rows: int) -> tuple[Trained, float]:
    """A record of a step beside a number."""
    trained, _ = train(rows)
    return trained, trained.model.loss


@pipeline
def parts(rows: int = 2) -> str:
    trained, name = train(rows)
    look(trained, name)
    same, report = handed(trained, 2)
    look.options(name="again")(same, "again")
    look.options(name="report")(report.trained, "report")
    show(report.text, same.model.loss, same.logs[0], report.trained.logs[1], report.trained.shape, name)
    runs = fan_out(trial, over={"rows": [1, 2]})
    look.options(name="second")(runs[1][0], "second")
    found = sweep(trial.options(name="search"), over={"rows": [2, 4, 3]}, objective=minimize("item-1"))
    best, loss = found.best
    look.options(name="best")(best, f"best of {loss}")
    with when(rows > 2):
        large, _ = train.options(name="large")(rows)
    with otherwise():
        small, _ = train.options(name="small")(rows * 5)
    chosen = either(large, small)
    look.options(name="chosen")(chosen, "chosen")
    return whole(chosen, [trained, best, report.trained])
