"""A branch that goes on when another one fails."""

from flowdsl import Retry, command, container, pipeline


@container(image="busybox")
def hello() -> None:
    command("echo", "hello world")


@container(image="busybox", retries=Retry(2, policy="OnFailure"))
def slow() -> None:
    command("sh", "-c", "sleep 30; echo haha")


@container(image="busybox", retries=Retry(3, policy="OnFailure"))
def failing() -> None:
    command("sh", "-c", "echo intentional failure; exit 2")


@pipeline(argo={"templates": [{"name": "primary-branch", "dag": {"failFast": False}}]})
def primary_branch() -> None:
    a = hello.options(name="a")()
    b = slow.options(name="b", after=[a])()
    failing.options(name="c", after=[a])()
    d = hello.options(name="d", after=[b])()
    hello.options(name="e", after=[d])()
