"""What `if`, `while`, `assert` and their like ask of values of the run, with `and`, `or` and `not`: one mistake each."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def check(n: int) -> bool:
    return n > 1


@step(image="python:3.12-slim")
def count(n: int) -> int:
    return n


@pipeline
def nightly() -> None:
    valid = check(1)
    rows = count(2)
    if valid and rows > 3:
        count.options(name="both")(1)
    if not valid:
        count.options(name="invalid")(1)
    if not (valid or rows > 4):
        count.options(name="neither")(1)
    elif 1 < rows < 3:
        count.options(name="between")(1)
    most = 1 if not valid else 2
    known = [n for n in (1, 2) if not valid]
    while not valid:
        count.options(name="again")(most)
    assert not valid
    filled = bool(rows)
    large = list(filter(lambda n: n > 3, [rows]))
    count.options(name="last")(known[0] + len(large) + filled)
