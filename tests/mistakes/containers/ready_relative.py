"""A path of a port without its slash."""

from flowdsl import Ready, command, container, pipeline


@container(image="postgres:16", daemon=True, ready=Ready(port=5432, path="health"))
def database() -> str:
    return command("postgres")


@container(image="postgres:16")
def query(host: str) -> None:
    command("psql", "--host", host)


@pipeline
def nightly() -> None:
    query(database())
