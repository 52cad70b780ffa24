from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def ping(host: str) -> None:
    print(host)


@pipeline
def nightly(host: str = "db") -> None:
    ping(host)
    ping.options(name="ping-again")(host)
