"""Tasks that wait for the ends of several tasks."""

from flowdsl import on_exit, on_failure, pipeline, step

IMAGE = "python:3.12-slim"


@step(image=IMAGE)
def work(size: int) -> int:
    return 6 // size


@step(image=IMAGE)
def tell(text: str, size: int = 0) -> None:
    print(text, size)


@pipeline
def nested_ends(first: int = 1, second: int = 2) -> None:
    one = work(first)
    two = work(second)
    with on_failure(one):
        with on_failure(two):
            tell.options(name="both-failed")("both")
        tell.options(name="one-failed")("one")
    with on_exit(one), on_failure(two):
        tell.options(name="two-failed")("two", work.options(name="third")(3))
