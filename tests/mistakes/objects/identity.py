from flowdsl import pipeline, step


@step(
    image="python:3.12-slim",
    service_account="Loader",
    labels={"workflows.argoproj.io/workflow": "mine", "team": "search"},
    annotations={"flowdsl.dev/spec": "mine"},
    workdir="work",
    image_pull_policy="IfAbsent",
)
def load(table: str) -> int:
    return len(table)


@pipeline(labels={"workflows.argoproj.io/phase": "Running"}, pod_labels={"workflows.argoproj.io/component": "x"})
def nightly(table: str = "orders") -> None:
    load(table)
