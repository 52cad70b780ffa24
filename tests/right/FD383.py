from flowdsl import Secret, command, container, pipeline, step


@step(image="python:3.12-slim", env={"USER_NAME": "reader"}, secrets={"TOKEN": Secret("hub", "token")})
def load(rows: int) -> int:
    return rows


@container(image="busybox:1.37.0", env={"LC_ALL": "C"})
def show(rate: int) -> None:
    command("sh", source="echo $RATE", env={"RATE": rate})


@pipeline
def nightly() -> None:
    show(load(3))
