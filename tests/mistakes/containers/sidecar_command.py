"""A sidecar without its command."""

from flowdsl import Sidecar, command, container, pipeline


@container(
    image="postgres:16",
    sidecars=[Sidecar("cache", image="redis:7")],
)
def query() -> None:
    command("psql", "--command", "select 1")


@pipeline
def nightly() -> None:
    query()
