"""Kinds that Kubernetes and common operators serve, and the API versions that have them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.pods.untyped import WORD
from flowdsl.compiler.schema.table import served
from flowdsl.diagnostic import near

if TYPE_CHECKING:
    from collections.abc import Mapping

_ALIKE = 0.8
"""The least similarity of a misspelt kind to a known one: others exist, such as IPAddress beside Ingress."""
_OF_OPERATORS = {
    "argoproj.io": """
        ClusterWorkflowTemplate CronWorkflow EventBus EventSource Sensor Workflow WorkflowEventBinding WorkflowTemplate
    """,
    "jobset.x-k8s.io": "JobSet",
    "kubeflow.org": "Experiment JAXJob MPIJob Notebook PaddleJob PyTorchJob Suggestion TFJob Trial XGBoostJob",
    "ray.io": "RayCluster RayCronJob RayJob RayService",
    "sparkoperator.k8s.io": "ScheduledSparkApplication SparkApplication SparkConnect",
    "trainer.kubeflow.org": "ClusterTrainingRuntime TrainJob TrainingRuntime",
}
"""The kinds of common operators, whose spelling alone is judged: their versions come and go."""


@cache
def _versions() -> Mapping[str, list[str]]:
    """The versions that serve each kind of Kubernetes' own API."""
    found: dict[str, list[str]] = {}
    for version, types in served().items():
        for kind in types:
            found.setdefault(kind, []).append(version)
    return found


@cache
def _groups() -> frozenset[str]:
    return frozenset(("extensions", *(version.rpartition("/")[0] for version in served())))


def unserved(version: str, kind: str) -> tuple[str, str] | None:
    """Why no cluster serves a kind in a version of Kubernetes' own API, and the remedy; None if one may serve it.

    Tags are replaced by a word. Not judged are groups that can be added to a cluster, unknown kinds, which
    some versions of Kubernetes may have, and lists, which kubectl splits.
    Source: Kubernetes 1.26 to 1.35, its guide to deprecated APIs.
    """
    group, _, name = version.rpartition("/")
    if group in _OF_OPERATORS:
        kinds = _OF_OPERATORS[group].split()
        cased = next((each for each in kinds if each.lower() == kind.lower() and each != kind), None)
        return None if cased is None else (f"there is no kind `{kind}`", f"write `kind: {cased}`")
    if group not in _groups() or WORD in f"{name}{kind}" or kind.endswith("List"):
        return None
    known = _versions().get(kind)
    if known is None and not group and name != "v1":
        whole = f"{name}/v1" if "." in name else f"example.com/{name.lower()}"
        return f"there is no `{kind}` in `{version}`", f"write group and version, as in `apiVersion: {whole}`"
    if known is None:
        close = next((each for each in _versions() if each.lower() == kind.lower()), None)
        close = close or near(kind, served().get(version, ()), _ALIKE)
        return None if close is None else (f"there is no kind `{kind}`", f"write `kind: {close}`")
    if version in known:
        return None
    return f"there is no `{kind}` in `{version}`", f"write `apiVersion: {known[-1]}`"
