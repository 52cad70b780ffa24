from flowdsl import on_exit, on_failure, pipeline, run, step, when

IMAGE = "python:3.12-slim"


@step(image=IMAGE)
def train(size: int) -> float:
    return size / 2


@step(image=IMAGE)
def tell(text: str) -> str:
    return text


@pipeline
def part() -> None:
    with on_failure():
        tell("part of a run")


@pipeline
def nightly(size: int = 1) -> None:
    loss = train(size)
    with on_exit():
        tell(f"loss {loss}")
        said = tell.options(name="said")("said")
        with on_exit():
            tell.options(name="inner")("inside")
    with when(loss < 1):
        with on_exit():
            tell.options(name="good")("good")
    tell.options(name="before")(said)
    tell.options(name="early")(run.status)
    tell.options(name="text")(f"{run.failures}")
    part()
    on_exit()
