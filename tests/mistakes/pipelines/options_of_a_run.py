"""Options of a run, said by a pipeline that another one calls."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load() -> int:
    return 3


@pipeline(timeout="1h", service_account="loader", priority="high", parallelism=2)
def loading() -> int:
    return load()


@pipeline(queue="research", pod_labels={"cost-center": "17", "team": "search"}, argo={"dnsPolicy": "Default"})
def reading() -> int:
    return load()


@pipeline(pod_labels={"team": "search"})
def judging() -> int:
    return load()


@pipeline(priority="high", pod_labels={"cost-center": "3", "team": "search"})
def nightly() -> int:
    return loading() + reading() + judging()
