"""Kinds that Kubernetes and common operators serve, and the API versions that have them."""

from __future__ import annotations

from flowdsl.compiler.lint.pods.untyped import WORD
from flowdsl.diagnostic import near

_SERVED = {
    "v1": """
        Binding ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod
        PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount
    """,
    "apps/v1": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    "batch/v1": "CronJob Job",
    "autoscaling/v2": "HorizontalPodAutoscaler",
    "autoscaling/v1": "HorizontalPodAutoscaler",
    "policy/v1": "Eviction PodDisruptionBudget",
    "networking.k8s.io/v1": "Ingress IngressClass NetworkPolicy",
    "rbac.authorization.k8s.io/v1": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "scheduling.k8s.io/v1": "PriorityClass",
    "storage.k8s.io/v1": "StorageClass VolumeAttachment",
}
_GROUPS = frozenset(("extensions", *(version.rpartition("/")[0] for version in _SERVED)))
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
_VERSIONS: dict[str, list[str]] = {}
for _version, _kinds in _SERVED.items():
    for _kind in _kinds.split():
        _VERSIONS.setdefault(_kind, []).append(_version)


def unserved(version: str, kind: str) -> tuple[str, str] | None:
    """Why no cluster serves a kind in a version of Kubernetes' own API, and the remedy; None if one may serve it.

    Tags are replaced by a word. Not judged are groups that can be added to a cluster, unknown kinds, which
    some versions of Kubernetes may have, and lists, which kubectl splits.
    Source: Kubernetes 1.26 to 1.35, pkg/apis/*/register.go and its guide to deprecated APIs.
    """
    group, _, name = version.rpartition("/")
    if group in _OF_OPERATORS:
        kinds = _OF_OPERATORS[group].split()
        cased = next((each for each in kinds if each.lower() == kind.lower() and each != kind), None)
        return None if cased is None else (f"there is no kind `{kind}`", f"write `kind: {cased}`")
    if group not in _GROUPS or WORD in f"{name}{kind}" or kind.endswith("List"):
        return None
    known = _VERSIONS.get(kind)
    if known is None and not group and name != "v1":
        whole = f"{name}/v1" if "." in name else f"example.com/{name.lower()}"
        return f"there is no `{kind}` in `{version}`", f"write group and version, as in `apiVersion: {whole}`"
    if known is None:
        close = next((each for each in _VERSIONS if each.lower() == kind.lower()), None)
        close = close or near(kind, _SERVED.get(version, "").split(), _ALIKE)
        return None if close is None else (f"there is no kind `{kind}`", f"write `kind: {close}`")
    if version in known:
        return None
    return f"there is no `{kind}` in `{version}`", f"write `apiVersion: {known[0]}`"
