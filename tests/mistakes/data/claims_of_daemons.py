"""Daemons that keep a claim which the steps that use them cannot mount meanwhile."""

from flowdsl import Volume, command, container, pipeline, step

MODELS = Volume("models", mode="ReadWriteOnce")
STATES = Volume("states", mode="ReadWriteOncePod")


@container(image="postgres:16", daemon=True, mounts={"/states": STATES, "/models": MODELS})
def database() -> str:
    return command("postgres")


@step(image="python:3.12-slim", mounts={"/states": STATES.ro, "/models": MODELS.ro})
def load(host: str) -> None:
    print(host)


@step(image="python:3.12-slim", mounts={"/models": MODELS})
def save(host: str) -> None:
    print(host)


@step(image="python:3.12-slim", mounts={"/states": STATES})
def before() -> int:
    return 1


@pipeline
def nightly() -> None:
    host = database.options(after=[before()])()
    load(host)
    save(host)
