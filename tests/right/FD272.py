from flowdsl import pipeline, step


@step(image="python:3.12-slim", retries=3, node={"disk": "ssd"}, tolerations=["spot=true:NoSchedule"])
def train(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", retries=0, env={"LEVEL": "debug"}, priority="high")
def evaluate(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    train(0.1)
    evaluate(0.1)
