"""Gates: plain, with a time, and with values that a person supplies; in a branch and in a loop."""

from enum import Enum
from typing import Literal, NamedTuple

from flowdsl import approve, either, fan_out, pipeline, step, when


class Stage(Enum):
    CANARY = 1
    ALL = 2


class Decision(NamedTuple):
    verdict: Literal["ship", "hold"] = "hold"
    stage: Stage = Stage.CANARY
    share: float = 0.5
    note: str = ""


@approve()
def look() -> None:
    raise NotImplementedError


@approve(duration="24h")
def decide(accuracy: float) -> Decision:
    """Ship the model?

    Its accuracy is among the inputs.
    """
    raise NotImplementedError


@approve()
def seen(accuracy: float) -> None:
    """Has somebody seen the accuracy?"""
    raise NotImplementedError


class Vote(NamedTuple):
    sure: bool
    why: str | None = None


@approve()
def vote(model: str) -> Vote:
    raise NotImplementedError


@approve()
def sure(model: str) -> bool:
    raise NotImplementedError


@step(image="python:3.12-slim")
def ship(stage: Stage, share: float, note: str) -> str:
    return f"{stage} {share} {note}"


@step(image="python:3.12-slim")
def count(votes: list[bool]) -> int:
    return sum(votes)


@pipeline
def gates(accuracy: float = 0.9) -> str:
    decision = decide(accuracy)
    look.options(after=[decision.verdict])()
    seen(accuracy)
    with when(decision.verdict == "ship"):
        yes = sure("a")
        second = decide.options(name="second", duration="1h")(accuracy)
        shipped = ship(decision.stage, decision.share, decision.note)
    with when(either(yes, False)):
        look.options(name="again")()
    vote("a")
    votes = fan_out(sure, over={"model": ["a", "b", "c"]})
    with when(count(votes) > 1):
        look.options(name="last")()
    ship.options(name="other")(Stage.ALL, either(second.share, 1.0), either(second.note, "nobody was asked"))
    return either(shipped, "held")
