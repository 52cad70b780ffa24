"""Objects that steps make, caches, accounts of single steps, and what is collected afterwards."""

from flowdsl import pipeline, step

JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  generateName: {{workflow.name}}-
spec:
  template: {{inputs.parameters.spec}}
"""
BOTH = """\
{"apiVersion": "v1", "kind": "List", "items": [
  {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "{{workflow.name}}"}},
  {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "x"}}
]}
"""


@step(
    image="python:3.12-slim",
    service_account="loader",
    argo={
        "memoize": {
            "key": "{{inputs.parameters.table}}",
            "maxAge": "1h",
            "cache": {"configMap": {"name": "rows"}},
        }
    },
)
def load(table: str) -> int:
    return len(table)


@step(image="python:3.12-slim")
def show(rows: int) -> None:
    assert rows > 0


MORE = [
    {
        "name": "job",
        "inputs": {"parameters": [{"name": "spec", "default": "{}"}]},
        "resource": {"action": "create", "setOwnerReference": True, "manifest": JOB},
    },
    {"name": "both", "serviceAccountName": "trainer", "resource": {"action": "apply", "manifest": BOTH}},
    {
        "name": "gone",
        "resource": {"action": "delete", "flags": ["job", "--selector", "run={{workflow.name}}"]},
    },
    {"name": "scaled", "resource": {"action": "get", "flags": ["trials.katib.kubeflow.org/x"]}},
    {"name": "asked", "http": {"url": "http://example.com"}},
]


@pipeline(
    service_account="pipelines", argo={"templates": MORE, "artifactGC": {"strategy": "OnWorkflowDeletion"}}
)
def resources(table: str = "orders") -> None:
    show(load(table))
