"""A block whose word is not called."""

from flowdsl import otherwise, pipeline, step, when


@step(image="python:3.12-slim")
def tell(text: str) -> None:
    print(text)


@pipeline
def nightly(quiet: bool = False) -> None:
    with when(quiet):
        tell("nothing")
    with otherwise:
        tell("something")
