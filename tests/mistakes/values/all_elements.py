"""Functions of Python that make one value of all elements of a list of the run, and a check that raises."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def scores(rows: int) -> list[float]:
    return [1 / rows]


@step(image="python:3.12-slim")
def publish(score: float, note: str = "") -> None:
    print(score, note)


@pipeline
def report(rows: int = 10) -> None:
    found = scores(rows)
    publish.options(name="sum")(sum(found))
    publish.options(name="best")(max(found))
    publish.options(name="median")(sorted(found)[len(found) // 2])
    if rows < 1:
        raise ValueError("no rows")


@pipeline
def tell(rows: int = 10) -> None:
    publish(0.5, ", ".join(scores(rows)))  # type: ignore[arg-type]  # the mistake
