"""Times that are a timedelta, wherever an option is a time."""

from datetime import timedelta

from flowdsl import Cache, Ready, Retry, approve, command, container, http, output, pipeline, request, step

IMAGE = "python:3.12-slim"
HOUR = timedelta(hours=1)
RETRY = Retry(3, wait=timedelta(seconds=30), factor=2, longest=timedelta(minutes=5), within=2 * HOUR)


@container(
    image="redis:7", daemon=True, ready=Ready(port=6379, delay=timedelta(seconds=5), every=timedelta(seconds=2))
)
def server() -> str:
    return command("redis-server")


@container(image="redis:7", timeout=timedelta(hours=9), queue_timeout=1.5 * HOUR, retries=RETRY)
def ask(host: str) -> str:
    return command("redis-cli", "-h", host, "ping", env={"OUT": output()})


@step(image=IMAGE, cache=Cache(max_age=timedelta(weeks=2)), timeout=timedelta(minutes=90, milliseconds=1))
def train(answer: str) -> float:
    return len(answer) / 2


@approve(duration=timedelta(days=1))
def look(loss: float) -> None:
    raise NotImplementedError


@http(timeout=HOUR)
def tell() -> None:
    request("POST", "https://example.com", timeout=timedelta(seconds=30))


@pipeline(
    timeout=timedelta(days=2),
    ttl={"success": timedelta(days=1), "failure": timedelta(weeks=1)},
)
def nightly() -> None:
    look(train(ask(server())))
    tell()
