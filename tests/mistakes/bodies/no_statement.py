"""A name that only `globals()` knows."""

from flowdsl import pipeline, step

for name in ("low", "high"):
    globals()[f"limit_{name}"] = len(name)


@step(image="python:3.12-slim")
def clip(value: float) -> float:
    return min(value, limit_high)


@pipeline
def nightly() -> None:
    clip(0.5)
