from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(seed: int, seconds: int) -> None:
    print(seed + 1, seconds * 1_000_000_000)


@pipeline
def nightly(seed: int = 9_223_372_036_854_775_807, seconds: int = 10_000_000_000) -> None:
    train(seed, seconds)
