"""Containers beside a step that Kubernetes or Argo would refuse."""

from flowdsl import InitContainer, Sidecar, Volume, command, container, pipeline

DATA = Volume("datasets")


@container(
    image="psql:16",
    mounts={"/data": DATA},
    sidecars=[
        Sidecar("main", image="redis:7", command=["redis-server"]),
        Sidecar("My_Cache", image="redis:7", command=["redis-server"]),
        Sidecar("redis", image="", command="redis-server", env={"A B": "c"}, memory="8GB?", mirror="yes"),
    ],
    init=[Sidecar("fetch", image="alpine:3.20", command=["true"])],
)
def query() -> None:
    command("psql")


@container(
    image="psql:16",
    mounts={"/data": DATA},
    init=[InitContainer("cache", image="alpine:3.20", command=["true"], mounts={"/data": DATA}, mirror=True)],
    sidecars=[Sidecar("cache", image="redis:7")],
)
def other() -> None:
    command("psql")


@pipeline
def nightly() -> None:
    query()
    other()
