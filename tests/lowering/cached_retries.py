"""Cached steps that are retried, and what waits only for them: for one, a loop of them, or a pipeline that ends so."""

from flowdsl import Retry, either, fan_out, on_exit, pipeline, step, when


@step(image="python:3.12-slim", cache=True, retries=Retry(2, exit_codes=[137]))
def train(rate: float) -> float:
    return rate * 2


@step(image="python:3.12-slim", cache=True)
def judge(loss: float) -> float:
    return loss + 1


@step(image="python:3.12-slim")
def report(losses: list[float], last: float) -> float:
    return min(*losses, last)


@step(image="python:3.12-slim")
def tell(status: str, loss: float) -> None:
    print(status, loss)


@pipeline
def trained(rate: float) -> float:
    return train(rate)


@pipeline
def cached_retries(rate: float = 0.5) -> float:
    loss = train(rate)
    judged = judge(loss)
    losses = fan_out(train.options(name="each"), over={"rate": [0.25, 1.5]})
    again = judge.options(name="again", retries=3)(trained(rate))
    with when(loss > 0.5):
        more = train.options(name="more")(loss)
    with on_exit(loss) as end:
        tell(end.status, either(loss, 0.0))
    return report(losses, either(more, again + judged))
