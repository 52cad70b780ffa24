"""A cached step that is tried again, with steps that wait for it."""

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim", cache=True, retries=2)
def train(rate: float) -> float:
    return rate


@step(image="python:3.12-slim", cache=True)
def judge(loss: float) -> float:
    return loss


@step(image="python:3.12-slim")
def best(losses: list[float], last: float) -> float:
    return min(*losses, last)


@pipeline
def nightly(rate: float = 0.1) -> float:
    judged = judge(train(rate))
    losses = fan_out(judge.options(name="each"), over={"loss": [0.1, 0.2]})
    again = judge.options(name="again", retries=3)(judged)
    best(losses, again)
    return train.options(name="last")(judged)


@step(image="python:3.12-slim", cache=True, retries=1)
def score(rate: float) -> float:
    return rate


@pipeline
def scored(rate: float) -> float:
    return score(rate)


@pipeline
def looped() -> float:
    return judge(best(fan_out(score, over={"rate": [0.1, 0.2]}), 0.3))


@pipeline
def nested(rate: float) -> float:
    return judge(scored.options(name="inner")(rate))
