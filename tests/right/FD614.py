from typing import Literal, NamedTuple

from flowdsl import approve, pipeline


class Decision(NamedTuple):
    verdict: Literal["ship", "hold"] = "hold"


@approve(duration="24h")
def decide(accuracy: float) -> Decision:
    raise NotImplementedError


@pipeline
def nightly() -> None:
    decide(0.9)
