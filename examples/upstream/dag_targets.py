"""Of a graph, only the tasks that lead to a target are run; the run says which."""

from flowdsl import command, container, pipeline

TARGET = {"name": "dag-targets", "dag": {"target": "{{workflow.parameters.target}}"}}


@container(image="busybox")
def echo(message: str) -> None:
    command("echo", message)


@pipeline(argo={"templates": [TARGET]})
def dag_targets(target: str = "e") -> None:
    a = echo.options(name="A")("A")
    b = echo.options(name="B", after=[a])("B")
    c = echo.options(name="C", after=[a])("C")
    echo.options(name="D", after=[b, c])("D")
    echo.options(name="E", after=[c])("E")
