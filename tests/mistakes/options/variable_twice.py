"""Variables that are set twice: by two options, by an input of the step, by its command, by a step on several pods."""

from flowdsl import Secret, Torch, command, container, pipeline, step


@step(image="python:3.12-slim", env={"TOKEN": "none"}, secrets={"TOKEN": Secret("hub", "token")})
def load(rows: int) -> int:
    return rows


@step(image="python:3.12-slim", distributed=Torch(workers=2), env={"FLOWDSL_rate": "1", "FLOWDSL_SCRIPT": "a"})
def train(rate: int) -> None:
    print(rate)


@container(image="busybox:1.37.0")
def show(rate: int) -> None:
    return command("sh", source="echo $RATE", env={"RATE": rate})


@pipeline
def nightly() -> None:
    rows = load(3)
    train(rows)
    show.options(env={"RATE": "1"})(rows)
