from typing import NamedTuple

from flowdsl import approve, call_template, pipeline, step, when


class Decision(NamedTuple):
    ship: bool
    note: str = ""


@step(image="python:3.12-slim")
def show(note: str) -> None:
    print(note)


@approve
def release(accuracy: float) -> Decision:
    """Release this model?"""
    if accuracy < 0.5:
        raise ValueError(accuracy)
    return Decision(ship=bool(accuracy))


@call_template("notifications", "send")
def send(text: str) -> None: ...


@pipeline
def nightly() -> None:
    decision = release(0.9)
    with when(decision.ship):
        show(decision.note)
        send("done")
