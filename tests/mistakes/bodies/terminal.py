"""Steps made of a script that was started by hand."""

import sys

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(rows: int) -> float:
    rate = float(sys.argv[1])
    return rate * rows


@step(image="python:3.12-slim")
def publish(score: float) -> None:
    name = input("Publish as: ")
    print(name, score)


@step(image="python:3.12-slim")
def given(score: float) -> None:
    if len(sys.argv) > 1:
        print(sys.argv[1])
    print(sys.argv[0], score, sys.argv[1] if len(sys.argv) > 1 else "none")


@step(image="python:3.12-slim")
def extended(score: float) -> None:
    sys.argv += [str(score)]
    print(sys.argv[1])


@step(image="python:3.12-slim")
def called(score: float) -> None:
    sys.argv = ["program", str(score)]
    print(sys.argv[1])


@step(image="python:3.12-slim")
def looked_at(score: float) -> None:
    import pdb

    breakpoint()
    pdb.set_trace()
    print(score)


@step(image="python:3.12-slim", env={"PYTHONBREAKPOINT": "0"})
def passed(score: float) -> None:
    breakpoint()
    print(score)


@pipeline
def nightly() -> None:
    score = train(10)
    publish(score)
    given(score)
    called(score)
    extended(score)
    looked_at(score)
    passed(score)
