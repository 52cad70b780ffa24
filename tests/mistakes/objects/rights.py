# --with-rbac
from flowdsl import pipeline, step

MORE = [
    {
        "name": "made",
        "inputs": {"artifacts": [{"name": "job", "path": "/tmp/job.yaml", "raw": {"data": "kind: Job"}}]},
        "resource": {"action": "create", "manifestFrom": {"artifact": {"name": "job"}}},
    },
    {
        "name": "any-kind",
        "inputs": {"parameters": [{"name": "kind", "default": "Job"}]},
        "resource": {"action": "create", "manifest": "apiVersion: batch/v1\nkind: '{{inputs.parameters.kind}}'\nmetadata: {name: any}\n"},
    },
    {"name": "volume", "resource": {"action": "create", "manifest": "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: data}\n"}},
    {"name": "gone", "resource": {"action": "delete", "flags": ["--all", "trials"]}},
    {"name": "other", "serviceAccountName": "{{workflow.name}}", "resource": {"action": "get", "flags": ["pods"]}},
]


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline(argo={"templates": MORE})
def nightly(table: str = "orders") -> None:
    load(table)
