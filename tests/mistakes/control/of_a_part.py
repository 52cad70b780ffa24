from flowdsl import Retry, pipeline, step


@step(image="python:3.12-slim")
def train() -> None: ...


@pipeline
def part() -> None:
    train()


@pipeline
def nightly() -> None:
    part.options(name="a", parallelism=0)()
    part.options(name="b", retries=Retry(1, longest="1m"))()
    part.options(name="c", timeout="1h")()  # type: ignore[call-arg]
