"""Options of a call that do not go with those of its step, each of which is right alone."""

from flowdsl import (
    InitContainer,
    Retry,
    Scratch,
    Sidecar,
    Torch,
    Volume,
    command,
    container,
    manifest,
    pipeline,
    resource,
    step,
)

DATA = Volume("datasets", mode="ReadWriteMany")


@container(image="postgres:16", daemon=True)
def database() -> str:
    return command("postgres")


@step(image="python:3.12-slim", mounts={"/a": Scratch()}, memory="4Gi")
def prepare(host: str) -> None:
    print(host)


BESIDE = Sidecar("beside", image="redis:8", command=["redis-server"], mounts={"/b": Scratch()}, mirror=True)


@step(image="python:3.12-slim", sidecars=[BESIDE])
def follow(host: str) -> None:
    print(host)


@step(image="python:3.12-slim", distributed=Torch(workers=2, processes=4))
def train(rate: float) -> None:
    print(rate)


@step(image="python:3.12-slim", retries=Retry(2, elsewhere=True))
def alone(rate: float) -> None:
    print(rate)


@resource("get")
def look() -> str:
    return manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}, "{.data}")


@resource("create")
def create() -> None:
    manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})


@pipeline
def nightly() -> None:
    host = database.options(retries=2)()
    prepare.options(shm="8Gi")(host)
    follow.options(mounts={"/b": DATA})(host)
    follow.options(init=[InitContainer("beside", image="alpine:3.22", command=["true"])], name="again")(host)
    train.options(gpu=2, env={"RANK": "1"}, sidecars=[BESIDE])(0.1)
    alone.options(distributed=Torch(workers=2))(0.1)
    look.options(owner=True)()
    create.options(retries=2)()
