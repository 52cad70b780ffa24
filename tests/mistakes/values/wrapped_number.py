"""Numbers whose product and sum have more than 64 bits, and others that Argo computes exactly."""

from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def train(seed: int, nanoseconds: int = 0) -> None:
    print(seed, nanoseconds)


@pipeline
def nightly(seed: int = 9_223_372_036_854_775_807, seconds: int = 10_000_000_000, scale: float = 1e300) -> None:
    train(seed + 1, seconds * 1_000_000_000)
    train.options(name="fits")(seed - 1, seconds * 900_000_000)
    with when(scale * scale > 1):
        train.options(name="alone")(seed)
