"""Sweeps: trials that fail or give no usable metric, ties, a least number of them, in sub-pipelines and loops."""

from enum import Enum
from pathlib import Path
from typing import NamedTuple

from flowdsl import choice, either, fan_out, maximize, minimize, otherwise, pipeline, step, sweep, when

PYTHON = "python:3.12-slim"


class Kind(Enum):
    PLAIN = 1
    ODD = 2


class Result(NamedTuple):
    model: Path
    score: float
    note: str
    rounds: int | None


@step(image=PYTHON)
def trial(point: float, kind: Kind, name: str) -> Result:
    """A model whose score is its point; points from 100 on are trouble."""
    if point == 100:
        raise ValueError("this trial fails")
    model = Path("model.txt")
    model.write_text(f"{name} {point} {kind.name}")
    score = {101: float("nan"), 102: float("inf"), 103: float("-inf")}.get(int(point), round(point, 1))
    return Result(model, score, f'"{name}" $$ {point}', int(point) if kind is Kind.ODD else None)


@step(image=PYTHON)
def number(point: float) -> int:
    """A score that is a whole number."""
    if point < 0:
        raise SystemExit("too small")
    return int(point) // 2


@step(image=PYTHON)
def publish(model: Path, score: float, note: str, rounds: int | None) -> str:
    """The model as text."""
    return f"{model.read_text()} {score} {note} {rounds}"


@step(image=PYTHON)
def table(rows: list[Result], numbers: list[int]) -> str:
    """All rows as text."""
    return " ".join(f"{row.model.read_text()}:{row.score}:{row.note}:{row.rounds}" for row in rows) + str(
        numbers
    )


@step(image=PYTHON)
def keep(best: Result, rows: list[Result]) -> Result:
    """The best, with the number of rows."""
    return best._replace(rounds=len(rows), note="/".join(row.model.read_text() for row in rows))


@pipeline
def tuned(name: str, kind: Kind) -> Result:
    """A sweep of its own."""
    runs = sweep(
        trial, over={"point": choice(1.0, 3.0, 2.0)}, objective=maximize("score"), name=name, kind=kind
    )
    return keep(runs.best, runs.results)


@pipeline
def trials(least: float = 2.0, name: str = "n") -> str:
    points = [101.0, 2.04, 100.0, 2.01, 3.0, 102.0, 103.0, 1.0, 3.01]
    low = sweep(
        trial,
        over={"point": points, "kind": [Kind.PLAIN]},
        objective=minimize("score"),
        name=name,
        search="grid",
    )
    high = sweep(
        trial,
        over={"point": points, "kind": [Kind.ODD, Kind.PLAIN]},
        objective=maximize("score"),
        name=f"{name}'s",
        search="grid",
        parallel=3,
        min_success=10,
    )
    whole = sweep(number, over={"point": [5.0, -1.0, 4.0, 7.0]}, objective=maximize())
    publish.options(name="lowest")(low.best.model, low.best.score, low.best.note, low.best.rounds)
    with when(high.best.score > least):
        publish.options(name="highest")(high.best.model, high.best.score, high.best.note, high.best.rounds)
    with otherwise():
        other = sweep(number, over={"point": [1.0, 9.0]}, objective=minimize())
        number.options(name="again")(other.best)
    table(high.results, whole.results)
    number.options(name="either")(either(other.best, whole.best))
    return publish.options(name="last")(
        high.best.model, low.best.score + whole.best, low.best.note, high.best.rounds
    )


@pipeline
def too_few() -> int:
    runs = sweep(number, over={"point": [-1.0, -2.0, -3.0, 4.0]}, objective=maximize(), min_success=2)
    return number.options(name="use")(runs.best)


@pipeline
def none_left() -> str:
    runs = sweep(
        trial,
        over={"point": [100.0, 101.0], "kind": [Kind.ODD, Kind.PLAIN]},
        objective=minimize("score"),
        name="x",
        search="grid",
    )
    return publish(runs.best.model, runs.best.score, runs.best.note, runs.best.rounds)


@pipeline
def all_fail() -> int:
    return number.options(name="use")(sweep(number, over={"point": [-1.0, -2.0]}, objective=maximize()).best)


@pipeline
def unused() -> None:
    """A sweep of which nobody takes the best."""
    sweep(number, over={"point": [-1.0, 4.0]}, objective=maximize(), min_success=2)


@pipeline
def clashing() -> None:
    """A step with the name of the task that picks the best."""
    sweep(number, over={"point": [-1.0, -2.0]}, objective=maximize())
    number.options(name="number-best")(4.0)


@pipeline
def untaken(least: float = 0.0) -> None:
    """A sweep whose best is taken in a branch that does not run, and whose results in any case."""
    runs = sweep(number, over={"point": [-1.0, -2.0]}, objective=maximize())
    with when(least > 1):
        number.options(name="use")(runs.best)
    table([], runs.results)


@pipeline
def branched(least: float) -> None:
    """A sweep in a branch, of which nobody takes the best."""
    with when(least > 1):
        runs = sweep(number, over={"point": [-1.0, 4.0]}, objective=maximize())
        table([], runs.results)


@pipeline
def in_loops(names: list[str]) -> str:
    """A sweep for each name."""
    return table(fan_out(tuned, over={"name": names}, kind=Kind.ODD), [])


@pipeline
def lowest(name: str) -> float:
    """One value of the best; the others, a file among them, are left behind."""
    points = choice(3.0, 1.0, 2.0)
    runs = sweep(trial, over={"point": points}, objective=minimize("score"), name=name, kind=Kind.ODD)
    return runs.best.score


@pipeline
def highest(name: str) -> float:
    """Another sweep of the same name."""
    points = choice(1.0, 4.0)
    runs = sweep(trial, over={"point": points}, objective=maximize("score"), name=name, kind=Kind.PLAIN)
    return runs.best.score


@pipeline
def handed_on(name: str = "n") -> None:
    number.options(name="half")(lowest(name))
    number.options(name="double")(highest(name))
    each = fan_out(lowest, over={"name": [name, "m"]})
    fan_out(number, over={"point": each})
