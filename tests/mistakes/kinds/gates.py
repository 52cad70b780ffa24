"""Gates that open by themselves, with values that nobody may have supplied."""

from typing import Literal, NamedTuple

from flowdsl import approve, pipeline

class Better(NamedTuple):
    note: str
    verdict: Literal["ship", "hold"] = "hold"


@approve(duration="24h")
def decide(accuracy: float) -> Better: ...


@approve(duration="1 day")
def wait() -> None: ...


@approve()
def good(accuracy: float) -> Literal["yes", "no"]: ...


@approve(duration="24h")
def sure() -> bool: ...


@pipeline
def nightly() -> None:
    decide(0.9)
    wait()
    sure()
    good.options(duration="1h")(0.5)
