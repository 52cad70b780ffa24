import flowdsl
from flowdsl import either, on_exit, otherwise, pipeline, step, when


@step(image="python:3.12-slim")
def tune(loss: float) -> float:
    return loss / 2


@step(image="python:3.12-slim")
def tell(loss: float) -> None:
    print(loss)


def halved(loss: float) -> float | None:
    with flowdsl.when(loss > 4.0):
        return tune.options(name="halve")(loss)


@pipeline
def nightly(loss: float = 1.0) -> float:
    halved(loss)
    for goal in [1.0, 0.5]:
        with when(loss < goal):
            for name in ["loss", "goal"]:
                if name == "goal":
                    break
                tell.options(name=f"tell-{goal}")(loss)
        with otherwise():
            tell.options(name=f"far-{goal}")(goal)
    with on_exit():
        tell.options(name="end")(1.0)
    with when(loss >= 0.1):
        tuned = tune(loss)
    return either(tuned, loss)
