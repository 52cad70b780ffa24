"""The pipeline `hidden`."""

from flowdsl import command, container, pipeline, when


@container(image="busybox:1.37.0")
def push_image_() -> None:
    command("echo", "pushed")


@container(image="busybox:1.37.0")
def deploy_to_(deploy_to: str) -> None:
    command("echo", deploy_to)


@container(image="busybox:1.37.0")
def notify_all_() -> None:
    command("echo", "notified")


@pipeline
def last(notify_all: int, deploy_to: str) -> None:
    deploy = deploy_to_(deploy_to=deploy_to)
    with when(notify_all == 1):
        notify_all_.options(name="notify", after=[deploy])()


@pipeline
def hidden(deployTo: str = "test", push_image: str = "true") -> None:
    with when(push_image == "true"):
        push = push_image_()
    last.options(after=[push])(notify_all=1, deploy_to=deployTo)
