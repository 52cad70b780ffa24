"""Results of loops inside other values, and more of them than a variable holds."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from flowdsl import fan_out, pipeline, step, when

PYTHON = "python:3.12-slim"


class Row(NamedTuple):
    """What a round returns."""

    name: str
    loss: float


class Table(NamedTuple):
    """Rows with something beside them."""

    rows: list[Row]
    size: int


@dataclass
class Report:
    """Results of several loops, each at another place."""

    table: Table
    named: dict[str, list[float]]
    both: tuple[list[Row], list[float]]
    nested: list[list[float]]


@step(image=PYTHON)
def make(x: int) -> Row:
    """A row with all that Argo or the kubelet might take for theirs."""
    return Row(f'{x} "$$" $(HOME) {{x}} ü', x / 2)


@step(image=PYTHON)
def half(x: int) -> float:
    """A number."""
    return x / 2


@step(image=PYTHON)
def long(x: int) -> list[int]:
    """Many numbers."""
    return list(range(x, x + 9000))


@step(image=PYTHON)
def added(lists: list[list[int]]) -> int:
    """The sum of all numbers, of which there are more than a variable holds."""
    return sum(map(sum, lists))


@step(image=PYTHON)
def shown(table: Table) -> str:
    """The table, as it arrived."""
    return repr(table)


@step(image=PYTHON)
def report(of: Report, lists: list[list[float]], anything: Any) -> str:
    """All of it, as it arrived."""
    return repr((of, lists, anything))


@pipeline
def table(size: int) -> Table:
    """A table whose rows are the results of a loop."""
    return Table(fan_out(make, over={"x": [size, 2]}), size)


@pipeline
def halves(x: int) -> list[float]:
    """The results of a loop."""
    return fan_out(half, over={"x": [x, 1]})


@step(image=PYTHON)
def picked(row: Row, name: str, loss: float, numbers: list[float], number: float) -> str:
    """Parts of what loops returned."""
    return repr((row, name, loss, numbers, number))


@pipeline
def taken(rows: list[Row], numbers: list[float], nested: list[list[float]], size: int) -> str:
    """The results of loops that another pipeline made, as a whole and in parts."""
    with when(rows[1].loss > 0.5):
        picked(rows[0], rows[1].name, rows[0].loss * 2, nested[1], numbers[1])
    picked.options(name="deep")(Row(rows[1].name, numbers[0]), "", nested[0][1], numbers, nested[1][0])
    return shown(Table(rows, size))


@pipeline
def inside(size: int = 3) -> str:
    """All of it."""
    made = table(size)
    shown.options(name="whole")(made)
    shown.options(name="part")(Table(made.rows, made.size + 1))
    rows = fan_out(make, over={"x": [7, size]})
    with when(size > 3):
        none = fan_out(half, over={"x": [4, 5]})
        report.options(name="branch")(Report(made, {}, (rows, none), []), [none, []], none)
    numbers = fan_out(half, over={"x": [4, 5]})
    nested = fan_out(halves, over={"x": [5, size]})
    taken(rows, numbers, nested, size)
    taken.options(name="of-a-pipeline")(made.rows, numbers, nested, size)
    picked.options(name="item")(made.rows[1], made.rows[0].name, made.rows[1].loss, nested[1], nested[0][0])
    added(fan_out(long, over={"x": [size, 2, 3, 4]}))
    of = Report(Table(rows, 1), {"ä": numbers, "b": [1.5]}, (rows, numbers), nested)
    return report(of, [numbers, numbers], [rows, made])
