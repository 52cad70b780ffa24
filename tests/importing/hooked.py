"""The pipeline `hooked`."""

from flowdsl import command, container, on_exit, pipeline


@container(image="busybox:1")
def work() -> None:
    command("echo", "worked")


@container(image="busybox:1")
def say() -> None:
    command("echo", "ended")


@pipeline(
    argo={
        "hooks": {
            "again": {
                "expression": 'workflow.status == "Failed"',
                "template": "work-hook",
            },
            "told": {
                "expression": 'workflow.status == "Failed"',
                "template": "say-hook",
            },
        },
        "templates": [
            {
                "name": "work-hook",
                "container": {"image": "busybox:1", "command": ["echo", "worked"]},
            },
            {
                "name": "say-hook",
                "container": {"image": "busybox:1", "command": ["echo", "ended"]},
            },
        ],
    },
)
def hooked() -> None:
    work()
    with on_exit():
        say()
