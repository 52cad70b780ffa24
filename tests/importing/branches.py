"""The pipeline `branches`."""

from flowdsl import command, container, on_failure, pipeline


@container(image="busybox:1.37.0")
def ok() -> None:
    command("true")


@container(image="busybox:1.37.0")
def bad() -> None:
    command("false")


@pipeline(argo={"templates": [{"name": "branches", "dag": {"failFast": False}}]})
def branches() -> None:
    load = ok()
    train = ok.options(after=[load])()
    with on_failure(load):
        report = ok()
        ok.options(name="clean", after=[report])()
    judge = bad.options(after=[train])()
    ok.options(name="publish", after=[judge])()
    with on_failure(judge):
        tell = ok()
        ok.options(name="close", after=[tell])()
