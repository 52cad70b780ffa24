"""Words of `with` that are called, as if they were decorators of steps."""

from flowdsl import on_exit, pipeline, run, step, when


@step(image="python:3.12-slim")
def train(epochs: int) -> float:
    return 1.0 / epochs


@step(image="python:3.12-slim")
def tell(text: str) -> None:
    print(text)


@pipeline
def at_the_end() -> None:
    train(3)
    on_exit()(tell)(run.name)


@pipeline
def of_a_step() -> None:
    train(3)
    on_exit(tell)(run.name)


@pipeline
def under_a_condition() -> None:
    loss = train(3)
    when(loss < 0.5)(tell)("good")


@pipeline
def with_its_arguments() -> None:
    train(3)
    on_exit(tell, "done")
