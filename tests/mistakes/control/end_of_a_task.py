from flowdsl import either, on_exit, on_failure, pipeline, step, when

IMAGE = "python:3.12-slim"


@step(image=IMAGE)
def train(size: int) -> float:
    return size / 2


@step(image=IMAGE)
def tell(text: str, loss: float = 0.0) -> str:
    return text


@pipeline
def nightly(size: int = 1) -> None:
    loss = train(size)
    other = train.options(name="other")(2)
    with on_exit(loss) as training:
        tell("result", loss)
        tell.options(name="last")("result", either(other, loss))
        said = tell.options(name="right")("or none", either(loss, 0.0))
    with on_failure(loss + other):
        tell.options(name="several")("several")
    with on_failure(size):
        tell.options(name="size")("size")
    tell.options(name="later")(training.status)
    tell.options(name="said")(said)
    with on_failure(other):
        spare = train.options(name="spare")(3)
    tell.options(name="spared")("spared", either(other, spare))
    with when(other > 1):
        with on_exit(other):
            tell.options(name="inside")("inside")
