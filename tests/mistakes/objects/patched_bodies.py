from flowdsl import command, container, pipeline, step


@step(image="python:3.12-slim", argo={"container": {"image": "busybox:1.37.0", "command": ["true"]}})
def load(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim", argo={"script": None})
def clean(rows: int) -> int:
    return rows


@container(image="busybox:1.37.0", argo={"container": None})
def nothing() -> None:
    command("true")


@container(image="busybox:1.37.0", argo={"containerSet": {"containers": [{"name": "a", "image": "busybox:1.37.0"}]}})
def both() -> None:
    command("true")


@pipeline(argo={"hostNetwork": True, "templates": [{"container": {"image": "busybox:1.37.0"}}]})
def nightly(table: str = "orders") -> None:
    clean(load(table))
    nothing()
    both()
