from flowdsl import pipeline, step


@step(image="python:3.12-slim", argo={"containr": {"image": "busybox:1.37.0"}})
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly(table: str = "orders") -> None:
    load(table)
