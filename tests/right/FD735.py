# --with-rbac
from flowdsl import pipeline, step

CLAIM = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n"
MORE = [{"name": "storage", "resource": {"action": "create", "manifest": CLAIM}}]


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline(argo={"templates": MORE})
def nightly(table: str = "orders") -> None:
    load(table)
