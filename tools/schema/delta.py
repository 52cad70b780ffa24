"""What Argo Workflows 4.1 says and the packages behind the schema do not: the hand-written part.

`argo-workflows` describes Argo 3.7, and neither package has the limits of the full custom resource
definitions. Sources: the Go types and the markers beside them
(argoproj/argo-workflows v4.1.2, pkg/apis/workflow/v1alpha1/*_types.go) and docs/upgrading.md.

Type expressions: `string`, `boolean`, `integer` (64 bits), `int32`, `number`, `int-or-string`,
`quantity`, `object` (any mapping), `any`, `list:X`, `map:X`, or the name of a type.
"""

from __future__ import annotations

from typing import Any

#: Kinds that can be the root of a document.
KINDS = ("Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow")

#: Kinds of documents that contain no workflow, and are checked, too.
BESIDE = ("WorkflowEventBinding",)

#: The kinds of Kubernetes' own API that the manifests of `resource` templates are checked against, by version: those
#: that Kubernetes 1.26 to 1.35 serve. Source: pkg/apis/*/register.go.
SERVED = {
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

#: Kubernetes types whose short name Argo also uses for a type of its own, or another version of a group.
RENAMED = {
    "io.k8s.api.core.v1.Event": "ClusterEvent",
    "io.k8s.api.core.v1.HTTPHeader": "ProbeHTTPHeader",
    "io.k8s.api.core.v1.PersistentVolumeClaim": "Claim",
    **{
        f"io.k8s.api.autoscaling.v1.{name}": f"{name}V1"
        for name in (
            "CrossVersionObjectReference",
            "HorizontalPodAutoscaler",
            "HorizontalPodAutoscalerSpec",
        )
    },
}

#: Argo types that are a Kubernetes container plus fields of their own (Go: an embedded struct).
CONTAINERS = ("ScriptTemplate", "UserContainer", "ContainerNode")

#: Types that no package models: an empty object as a choice, parts of metadata, and what is new in 4.x.
TYPES: dict[str, dict[str, str]] = {
    "EmbeddedMetadata": {
        "annotations": "map:string",
        "finalizers": "list:string",
        "generateName": "string",
        "labels": "map:string",
        "name": "string",
        "namespace": "string",
    },
    "ExecutorPlugin": {"metadata": "PluginMetadata", "spec": "ExecutorPluginSpec"},
    "ExecutorPluginSidecar": {"automountServiceAccountToken": "boolean", "container": "PluginContainer"},
    "ExecutorPluginSpec": {"sidecar": "ExecutorPluginSidecar"},
    "NoneStrategy": {},
    "PluginArtifact": {
        "configuration": "string",
        "connectionTimeoutSeconds": "int32",
        "key": "string",
        "name": "string",
    },
    "PluginMetadata": {
        "annotations": "map:string",
        "finalizers": "list:string",
        "labels": "map:string",
        "name": "string",
        "namespace": "string",
    },
    "RetryNodeAntiAffinity": {},
    "SuppliedValueFrom": {},
    "ZipStrategy": {},
}

#: Types that are another type under another name, because a rule differs.
ALIKE = {"PersistentVolumeClaim": "Claim", "PluginContainer": "Container"}

#: Defaults of omitted fields that are keys of the entries of a list.
DEFAULTS = {"protocol": "TCP"}

#: Fields that 4.x added, and fields whose type the packages do not say or say wrongly: their tables call
#: an int-or-string a string and know one width of integer. `status` belongs to the controller and is not checked.
FIELDS: dict[str, dict[str, str]] = {
    "ArchiveStrategy": {"none": "NoneStrategy", "zip": "ZipStrategy"},
    "Artifact": {"mode": "int32", "plugin": "PluginArtifact"},
    "ArtifactLocation": {"plugin": "PluginArtifact"},
    "ArtifactPaths": {"mode": "int32", "plugin": "PluginArtifact"},
    "Backoff": {"factor": "int-or-string"},
    "Cache": {"configMap": "LocalObjectReference"},
    "ContainerSetRetryStrategy": {"retries": "int-or-string"},
    "CronWorkflow": {"status": "any"},
    "CronWorkflowSpec": {
        "failedJobsHistoryLimit": "int32",
        "successfulJobsHistoryLimit": "int32",
        "workflowMetadata": "EmbeddedMetadata",
    },
    "DAGTask": {"withItems": "list:any"},
    "HTTPArtifact": {"saveStreamViaFile": "boolean"},
    "OSSLifecycleRule": {"markDeletionAfterDays": "int32", "markInfrequentAccessAfterDays": "int32"},
    "PersistentVolumeClaim": {"metadata": "EmbeddedMetadata", "status": "any"},
    "PersistentVolumeClaimTemplate": {"metadata": "EmbeddedMetadata"},
    "RetryAffinity": {"nodeAntiAffinity": "RetryNodeAntiAffinity"},
    "RetryStrategy": {"limit": "int-or-string"},
    "S3Artifact": {"addressingStyle": "string"},
    "Sequence": {"count": "int-or-string", "end": "int-or-string", "start": "int-or-string"},
    "TTLStrategy": {
        "secondsAfterCompletion": "int32",
        "secondsAfterFailure": "int32",
        "secondsAfterSuccess": "int32",
    },
    "TarStrategy": {"compressionLevel": "int32"},
    "Template": {
        "activeDeadlineSeconds": "int-or-string",
        "pendingTimeout": "string",
        "plugin": "object",
        "podResources": "ResourceRequirements",
        "resourceClaims": "list:PodResourceClaim",
    },
    "ValueFrom": {"supplied": "SuppliedValueFrom"},
    "Workflow": {"status": "any"},
    "WorkflowSpec": {
        "executorPlugins": "list:ExecutorPlugin",
        "podResources": "ResourceRequirements",
        "priority": "int32",
        "resourceClaims": "list:PodResourceClaim",
    },
    "WorkflowStep": {"withItems": "list:any"},
}

#: Fields that 4.0 removed, with what to use instead.
GONE: dict[str, dict[str, str]] = {
    "CronWorkflowSpec": {"schedule": "write `schedules`, a list"},
    "Synchronization": {
        "mutex": "write `mutexes`, a list",
        "semaphore": "write `semaphores`, a list",
    },
    "WorkflowSpec": {
        "podPriority": "write `podPriorityClassName`, the name of a PriorityClass of the cluster"
    },
}

#: Required fields where the packages differ from 4.1, or from what the API server of Kubernetes requires. An image may
#: come from `templateDefaults`.
REQUIRED: dict[str, tuple[str, ...]] = {
    "Container": (),
    "ContainerNode": ("name",),
    "ControllerRevision": (),
    "CronWorkflowSpec": ("schedules", "workflowSpec"),
    "ExecutorPlugin": ("metadata", "spec"),
    "ExecutorPluginSidecar": ("container",),
    "ExecutorPluginSpec": ("sidecar",),
    "ISCSIPersistentVolumeSource": ("iqn", "targetPortal"),
    "IngressServiceBackend": ("name", "port"),
    "LimitRangeSpec": (),
    "PersistentVolumeSpec": ("accessModes", "capacity"),
    "PluginArtifact": ("key",),
    "PluginContainer": ("name",),
    "PodFailurePolicy": (),
    "PriorityClass": (),
    "RoleRef": ("kind", "name"),
    "ScriptTemplate": (),
    "UserContainer": ("name",),
}

_NUMBER = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
_CRON = "|".join(
    (
        "@(yearly|annually|monthly|weekly|daily|midnight|hourly)",
        r"@every\s+([0-9]+(ns|us|µs|ms|s|m|h))+",
        r"([A-Za-z0-9*,/?-]+\s+){4}[A-Za-z0-9*,/?-]+",
    )
)

#: Patterns by name: the expression (the whole text matches) and the same in words.
PATTERNS: dict[str, tuple[str, str]] = {
    "artifact name": ("[-a-zA-Z0-9_{}.]+", "use letters, digits, `-`, `_` and `.`"),
    "base64": (
        "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?",
        "write the bytes in base64, as `base64` prints them",
    ),
    "metric name": (
        "[a-zA-Z_][a-zA-Z0-9_]*",
        "use letters, digits and `_`, and start with a letter or `_`",
    ),
    "name": (
        "[a-zA-Z0-9][-a-zA-Z0-9]*",
        "use letters, digits and `-`, and start with a letter or a digit (`_` and `.` are not allowed)",
    ),
    "parameter name": ("[-a-zA-Z0-9_]+", "use letters, digits, `-` and `_`"),
    "quantity": (
        rf"(\+|-)?{_NUMBER}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{_NUMBER}))?",
        "write a number with a unit of Kubernetes, such as 2, 500m, 4Gi or 1e3",
    ),
    "schedule": (
        f"({_CRON})",
        "write five fields such as `0 2 * * *`, or @daily, or @every 1h30m; a time zone goes to `timezone`",
    ),
}

_NAME: dict[str, Any] = {"pattern": "name", "maxLength": 128}
_ARTIFACT: dict[str, dict[str, Any]] = {
    "mode": {"min": 0, "max": 0o777, "advice": "write permission bits, such as 0644"},
    "name": {"pattern": "artifact name"},
}
_METRIC_VALUE: dict[str, Any] = {"minLength": 1}
_COUNT: dict[str, Any] = {"min": 0}
_GC = ["", "OnWorkflowCompletion", "OnWorkflowDeletion", "Never"]


def _words(*words: str) -> dict[str, Any]:
    """The rule of a text with an enumeration."""
    return {"enum": [*words]}


def _or_empty(*words: str) -> dict[str, Any]:
    """The rule of a text with an enumeration, for which an empty one is the default."""
    return _words("", *words)


#: Rules on fields. Keys: `pattern`, `enum`, `minLength`, `maxLength` on text; `min`, `max` on numbers;
#: `minItems`, `maxItems`, `keys` (the key fields of entries, with their defaults), `set` on lists;
#: `each` on the entries of a list; `open`: the API server does not validate what is below;
#: `advice`: how to fix it, if the rule alone does not tell.
RULES: dict[str, dict[str, dict[str, Any]]] = {
    "Artifact": _ARTIFACT,
    "ArtifactGC": {"strategy": {"enum": _GC}},
    "ArtifactPaths": _ARTIFACT,
    "Counter": {"value": _METRIC_VALUE},
    "CronJobSpec": {
        "concurrencyPolicy": _or_empty("Allow", "Forbid", "Replace"),
        "failedJobsHistoryLimit": _COUNT,
        "startingDeadlineSeconds": _COUNT,
        "successfulJobsHistoryLimit": _COUNT,
    },
    "CronWorkflowSpec": {
        "concurrencyPolicy": {"enum": ["Allow", "Forbid", "Replace"]},
        "schedules": {"minItems": 1, "each": {"pattern": "schedule"}},
        "startingDeadlineSeconds": {"min": 0},
    },
    "DAGTask": {"inline": {"open": True}, "name": _NAME},
    "DAGTemplate": {
        "tasks": {
            "minItems": 1,
            "maxItems": 200,
            "advice": "run tasks that differ only in their values as one task with `withItems`, "
            "or move a part of the graph to a DAG template of its own",
        }
    },
    "DaemonSetSpec": {"minReadySeconds": _COUNT, "revisionHistoryLimit": _COUNT},
    "DaemonSetUpdateStrategy": {"type": _or_empty("OnDelete", "RollingUpdate")},
    "DeploymentSpec": {
        "minReadySeconds": _COUNT,
        "progressDeadlineSeconds": {"min": 1},
        "replicas": _COUNT,
        "revisionHistoryLimit": _COUNT,
    },
    "DeploymentStrategy": {"type": _or_empty("Recreate", "RollingUpdate")},
    "Gauge": {
        "operation": {"enum": ["Set", "Add", "Sub"]},
        "value": {**_METRIC_VALUE, "maxLength": 256},
    },
    "HPAScalingPolicy": {"type": _words("Percent", "Pods")},
    "HPAScalingRules": {"policies": {"minItems": 1}, "selectPolicy": _words("Disabled", "Max", "Min")},
    "HTTPBodySource": {"bytes": {"pattern": "base64"}},
    "HTTPIngressRuleValue": {"paths": {"minItems": 1}},
    "HTTPIngressPath": {"pathType": _words("Exact", "ImplementationSpecific", "Prefix")},
    **{f"HorizontalPodAutoscalerSpec{version}": {"maxReplicas": {"min": 1}} for version in ("", "V1")},
    "Histogram": {"value": _METRIC_VALUE},
    "Inputs": {
        "parameters": {
            "maxItems": 500,
            "advice": "hand on one parameter that holds a JSON object, or a file",
        }
    },
    "JobSpec": {
        **dict.fromkeys(
            (
                *("activeDeadlineSeconds", "backoffLimit", "backoffLimitPerIndex", "completions"),
                *("maxFailedIndexes", "parallelism", "ttlSecondsAfterFinished"),
            ),
            _COUNT,
        ),
        "completionMode": _words("Indexed", "NonIndexed"),
        "podReplacementPolicy": _words("Failed", "TerminatingOrFailed"),
    },
    "MetricLabel": {"key": {"pattern": "metric name"}},
    "MetricSpec": {"type": _words("ContainerResource", "External", "Object", "Pods", "Resource")},
    "MetricTarget": {"type": _words("AverageValue", "Utilization", "Value")},
    "Metrics": {"prometheus": {"maxItems": 100, "advice": "use labels instead of one metric per value"}},
    "NetworkPolicySpec": {"policyTypes": {"each": _words("Egress", "Ingress")}},
    "Parameter": {"enum": {"minItems": 1}, "name": {"pattern": "parameter name"}},
    "PersistentVolumeSpec": {
        "accessModes": {"minItems": 1},
        "persistentVolumeReclaimPolicy": _or_empty("Delete", "Recycle", "Retain"),
    },
    "PodGC": {
        "strategy": {
            "enum": ["", "OnPodCompletion", "OnPodSuccess", "OnWorkflowCompletion", "OnWorkflowSuccess"]
        }
    },
    "PolicyRule": {"verbs": {"minItems": 1}},
    "PriorityClass": {"preemptionPolicy": _words("Never", "PreemptLowerPriority")},
    "Prometheus": {"help": _METRIC_VALUE, "name": {"pattern": "metric name"}},
    "ReplicaSetSpec": {"minReadySeconds": _COUNT, "replicas": _COUNT},
    "ResourceTemplate": {
        "action": {"enum": ["get", "create", "apply", "delete", "replace", "patch"]},
        "mergeStrategy": {"enum": ["strategic", "merge", "json"]},
    },
    "RetryStrategy": {"retryPolicy": {"enum": ["Always", "OnFailure", "OnError", "OnTransientError"]}},
    "S3Artifact": {"addressingStyle": {"enum": ["", "path", "virtual-hosted"]}},
    "ServicePort": {"protocol": _or_empty("SCTP", "TCP", "UDP")},
    "ServiceSpec": {
        "externalTrafficPolicy": _or_empty("Cluster", "Local"),
        "sessionAffinity": _or_empty("ClientIP", "None"),
        "type": _or_empty("ClusterIP", "ExternalName", "LoadBalancer", "NodePort"),
    },
    "StatefulSetSpec": {
        "minReadySeconds": _COUNT,
        "podManagementPolicy": _or_empty("OrderedReady", "Parallel"),
        "replicas": _COUNT,
    },
    "StatefulSetUpdateStrategy": {"type": _or_empty("OnDelete", "RollingUpdate")},
    "StorageClass": {
        "reclaimPolicy": _or_empty("Delete", "Retain"),
        "volumeBindingMode": _words("Immediate", "WaitForFirstConsumer"),
    },
    "Template": {
        "name": _NAME,
        "parallelism": {"min": 1, "advice": "leave the field out for no limit"},
        "steps": {"minItems": 1},
    },
    "WorkflowLevelArtifactGC": {"strategy": {"enum": _GC}},
    "WorkflowSpec": {
        "parallelism": {"min": 1, "advice": "leave the field out for no limit"},
        "templates": {
            "maxItems": 200,
            "advice": "move templates to a WorkflowTemplate and call them with `templateRef`, "
            "or run one template with other arguments",
        },
    },
    "WorkflowStep": {"inline": {"open": True}, "name": _NAME},
}
