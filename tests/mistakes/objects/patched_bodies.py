from flowdsl import pipeline, step


@step(image="python:3.12-slim", argo={"container": {"image": "busybox:1.37.0", "command": ["true"]}})
def load(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim", argo={"script": None})
def clean(rows: int) -> int:
    return rows


@pipeline(argo={"hostNetwork": True, "templates": [{"container": {"image": "busybox:1.37.0"}}]})
def nightly(table: str = "orders") -> None:
    clean(load(table))
