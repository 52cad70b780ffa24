"""Tries of a daemon, and questions that cannot be asked."""

from flowdsl import Ready, command, container, pipeline


@container(image="postgres:16", daemon=True, retries=3, ready=Ready(port=5432, command=["pg_isready"]))
def database() -> str:
    return command("postgres")


@container(image="nginx:1.27", daemon=True, ready=Ready(port=80000))
def server() -> str:
    return command("nginx")


@container(image="nginx:1.27", daemon=True, ready=Ready(port=80, path="healthz", every="5 secs"))
def other() -> str:
    return command("nginx")


@container(image="nginx:1.27", daemon="yes", ready=80)
def last() -> None:
    command("nginx")


@pipeline
def nightly() -> None:
    database()
    server()
    other()
    last()
