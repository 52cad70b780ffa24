"""What pods are to the cluster: accounts, labels, annotations; where and from what they begin."""

from flowdsl import command, container, pipeline, step


@step(
    image="python:3.12-slim",
    image_pull_policy="IfNotPresent",
    workdir="/work",
    service_account="loader",
    labels={"cost-center": "17"},
    annotations={"sidecar.istio.io/inject": "false"},
)
def load(table: str) -> int:
    return len(table)


@container(image="busybox:1.37.0", image_pull_policy="Always", workdir="/data", labels={"team": "search"})
def show(rows: int) -> None:
    command("echo", rows)


@pipeline
def identity(table: str = "orders") -> None:
    rows = load(table)
    show(rows)
    show.options(name="shown-by-another", service_account="other", workdir="/data")(rows)
