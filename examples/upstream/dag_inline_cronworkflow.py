"""A schedule of a template that the cluster has."""

from flowdsl import pipeline


@pipeline(schedule="*/5 * * * *", argo={"workflowTemplateRef": {"name": "dag-inline"}})
def dag_inline() -> None:
    """What runs is a template of the cluster."""
