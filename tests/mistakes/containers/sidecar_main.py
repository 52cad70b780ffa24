"""A sidecar with the name of the step's own container."""

from flowdsl import Sidecar, command, container, pipeline


@container(
    image="postgres:16",
    sidecars=[Sidecar("main", image="redis:7", command=["redis-server"])],
)
def query() -> None:
    command("psql", "--command", "select 1")


@pipeline
def nightly() -> None:
    query()
