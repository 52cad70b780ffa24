"""The pipeline `targets`."""

from flowdsl import command, container, pipeline


@container(image="busybox:1.37.0")
def echo(message: str) -> None:
    command("echo", message)


@pipeline(
    argo={
        "templates": [
            {"name": "targets", "dag": {"target": "{{workflow.parameters.target}}"}},
        ],
    },
)
def targets(target: str = "c") -> None:
    a = echo(message="a")
    b = echo.options(after=[a])(message="b")
    c = echo.options(after=[a])(message="c")
    echo.options(name="d", after=[b, c])(message="d")
    echo.options(name="e", after=[c])(message="e")
