"""The kinds of Kubernetes objects that the runtime reads or creates."""

from __future__ import annotations

from flowdsl.runtime.cluster.seam import Kind

_ARGO = ("argoproj.io", "v1alpha1")

WORKFLOW = Kind(*_ARGO, "workflows", "Workflow")
TEMPLATE = Kind(*_ARGO, "workflowtemplates", "WorkflowTemplate")
CLUSTER_TEMPLATE = Kind(*_ARGO, "clusterworkflowtemplates", "ClusterWorkflowTemplate", namespaced=False)
CRON = Kind(*_ARGO, "cronworkflows", "CronWorkflow")

POD = Kind("", "v1", "pods", "Pod")
EVENT = Kind("", "v1", "events", "Event")
NODE = Kind("", "v1", "nodes", "Node", namespaced=False)
NAMESPACE = Kind("", "v1", "namespaces", "Namespace", namespaced=False)
SECRET = Kind("", "v1", "secrets", "Secret")
CONFIG_MAP = Kind("", "v1", "configmaps", "ConfigMap")
CLAIM = Kind("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim")
ACCOUNT = Kind("", "v1", "serviceaccounts", "ServiceAccount")
QUOTA = Kind("", "v1", "resourcequotas", "ResourceQuota")
DEPLOYMENT = Kind("apps", "v1", "deployments", "Deployment")
PRIORITY_CLASS = Kind("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False)
STORAGE_CLASS = Kind("storage.k8s.io", "v1", "storageclasses", "StorageClass", namespaced=False)
DEFINITION = Kind(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
ACCESS_REVIEW = Kind(
    "authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", namespaced=False
)
VERSION = Kind("", "", "/version", "version", namespaced=False)
"""The server's description of itself."""
