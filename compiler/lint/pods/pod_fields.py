"""What Kubernetes accepts in the fields of pods and claims: words, ranges, required fields.

A field is named by the type of its object and the steps from there; of a list on the way, each entry is meant.
Source: Kubernetes 1.35, pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import LOCATIONS, SECRETS
from flowdsl.compiler.schema.misplaced import CONTAINERS
from flowdsl.grammar.image import PULL_POLICIES
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Field = tuple[str, ...]

_RESOLVED = ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")

WORDS: Mapping[Field, Sequence[str]] = {
    **{(name, "imagePullPolicy"): PULL_POLICIES for name in CONTAINERS},
    **{(name, "restartPolicy"): ("Always", "Never", "OnFailure") for name in CONTAINERS},
    **{(name, "terminationMessagePolicy"): ("File", "FallbackToLogsOnError") for name in CONTAINERS},
    ("AppArmorProfile", "type"): ("RuntimeDefault", "Localhost", "Unconfined"),
    ("AzureDiskVolumeSource", "cachingMode"): ("None", "ReadOnly", "ReadWrite"),
    ("AzureDiskVolumeSource", "kind"): ("Shared", "Dedicated", "Managed"),
    ("ContainerResizePolicy", "resourceName"): ("cpu", "memory"),
    ("ContainerResizePolicy", "restartPolicy"): ("NotRequired", "RestartContainer"),
    ("ContainerPort", "protocol"): ("TCP", "UDP", "SCTP"),
    ("HTTPGetAction", "scheme"): ("HTTP", "HTTPS"),
    ("HostPathVolumeSource", "type"): (
        "DirectoryOrCreate",
        "Directory",
        "FileOrCreate",
        "File",
        "Socket",
        "CharDevice",
        "BlockDevice",
    ),
    ("ImageVolumeSource", "pullPolicy"): PULL_POLICIES,
    ("LabelSelectorRequirement", "operator"): ("In", "NotIn", "Exists", "DoesNotExist"),
    ("ObjectFieldSelector", "apiVersion"): ("v1",),
    ("PersistentVolumeClaimSpec", "accessModes"): (
        "ReadWriteOnce",
        "ReadOnlyMany",
        "ReadWriteMany",
        "ReadWriteOncePod",
    ),
    ("PersistentVolumeClaimSpec", "volumeMode"): ("Filesystem", "Block"),
    ("PodCertificateProjection", "keyType"): (
        "RSA3072",
        "RSA4096",
        "ECDSAP256",
        "ECDSAP384",
        "ECDSAP521",
        "ED25519",
    ),
    ("PodDisruptionBudgetSpec", "unhealthyPodEvictionPolicy"): ("IfHealthyBudget", "AlwaysAllow"),
    ("PodSecurityContext", "fsGroupChangePolicy"): ("OnRootMismatch", "Always"),
    ("PodSecurityContext", "seLinuxChangePolicy"): ("Recursive", "MountOption"),
    ("PodSecurityContext", "supplementalGroupsPolicy"): ("Merge", "Strict"),
    ("PodOS", "name"): ("linux", "windows"),
    ("PodSpec", "dnsPolicy"): _RESOLVED,
    ("PodSpec", "preemptionPolicy"): ("Never", "PreemptLowerPriority"),
    ("PodSpec", "restartPolicy"): ("Always", "Never", "OnFailure"),
    ("SeccompProfile", "type"): ("RuntimeDefault", "Localhost", "Unconfined"),
    ("SecurityContext", "procMount"): ("Default", "Unmasked"),
    ("VolumeMount", "mountPropagation"): ("None", "HostToContainer", "Bidirectional"),
    ("VolumeMount", "recursiveReadOnly"): ("Disabled", "IfPossible", "Enabled"),
    ("VolumeClaimGC", "strategy"): ("OnWorkflowCompletion", "OnWorkflowSuccess"),
    ("WorkflowSpec", "shutdown"): ("Terminate", "Stop"),
    **{
        ("TopologySpreadConstraint", f"node{field}Policy"): ("Honor", "Ignore")
        for field in ("Affinity", "Taints")
    },
    ("TopologySpreadConstraint", "whenUnsatisfiable"): ("DoNotSchedule", "ScheduleAnyway"),
    ("WorkflowSpec", "dnsPolicy"): _RESOLVED,
}
"""The fields with an enumeration of allowed words."""

_HANDLERS = ("exec", "httpGet", "tcpSocket")
BUDGETS = ("maxUnavailable", "minAvailable")

ONE_OF: Mapping[str, tuple[Sequence[str], bool]] = {
    "EnvVarSource": (("configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef"), True),
    "EnvFromSource": (("configMapRef", "secretRef"), True),
    "LifecycleHandler": ((*_HANDLERS, "sleep"), True),
    "Probe": ((*_HANDLERS, "grpc"), True),
    "Artifact": (LOCATIONS, False),
    "ArtifactLocation": (LOCATIONS, False),
    "ArtifactPaths": (LOCATIONS, False),
    "ClusterTrustBundleProjection": (("name", "signerName"), True),
    "DownwardAPIVolumeFile": (("fieldRef", "resourceFieldRef"), True),
    "FCVolumeSource": (("targetWWNs", "wwids"), True),
    "FlockerVolumeSource": (("datasetName", "datasetUUID"), True),
    "PodDisruptionBudgetSpec": (BUDGETS, False),
    "PodResourceClaim": (("resourceClaimName", "resourceClaimTemplateName"), True),
    "Volume": ((), False),
    "VolumeMount": (("subPath", "subPathExpr"), False),
    "VolumeProjection": ((), False),
}
"""The fields of which an object has at most one, all but `name` if none are listed; and whether it needs one."""


class Bounds(NamedTuple):
    """The least and the greatest number of a field, and the remedy."""

    least: int
    most: int | None
    way: str = ""


_PORTS = Bounds(1, 65535)
_WEIGHTS = Bounds(1, 100)
_IDS = Bounds(0, 2**31 - 1)
_DISKS = Bounds(0, 255)
_MODES = Bounds(0, 0o777, "write the digits as for chmod with a `0` before them, such as 0644; in JSON, 420")

RANGES: Mapping[Field, Bounds] = {
    **{(f"{owner}VolumeSource", "lun"): _DISKS for owner in ("FC", "ISCSI")},
    **{
        (f"{owner}VolumeSource", "partition"): _DISKS
        for owner in ("AWSElasticBlockStore", "GCEPersistentDisk")
    },
    ("ConfigMapVolumeSource", "defaultMode"): _MODES,
    ("ContainerPort", "containerPort"): _PORTS,
    ("ContainerPort", "hostPort"): Bounds(0, 65535),
    ("DownwardAPIVolumeFile", "mode"): _MODES,
    ("DownwardAPIVolumeSource", "defaultMode"): _MODES,
    ("GRPCAction", "port"): _PORTS,
    ("GitArtifact", "depth"): Bounds(0, None),
    ("HTTPGetAction", "port"): _PORTS,
    ("KeyToPath", "mode"): _MODES,
    ("PodCertificateProjection", "maxExpirationSeconds"): Bounds(3600, 91 * 24 * 3600),
    **{("PodDisruptionBudgetSpec", field): Bounds(0, 2**31 - 1) for field in BUDGETS},
    **{("PodSecurityContext", field): _IDS for field in ("fsGroup", "runAsGroup", "runAsUser")},
    ("PodSecurityContext", "supplementalGroups"): _IDS,
    ("PodSpec", "activeDeadlineSeconds"): Bounds(1, 2**31 - 1),
    ("PreferredSchedulingTerm", "weight"): _WEIGHTS,
    **{("Probe", f"{field}Seconds"): Bounds(0, None) for field in ("initialDelay", "period", "timeout")},
    **{("Probe", f"{field}Threshold"): Bounds(0, None) for field in ("failure", "success")},
    ("Probe", "terminationGracePeriodSeconds"): Bounds(1, None),
    ("ProjectedVolumeSource", "defaultMode"): _MODES,
    ("SecretVolumeSource", "defaultMode"): _MODES,
    **{("SecurityContext", field): _IDS for field in ("runAsGroup", "runAsUser")},
    ("ServiceAccountTokenProjection", "expirationSeconds"): Bounds(600, 2**32),
    ("SleepAction", "seconds"): Bounds(0, None),
    ("TCPSocketAction", "port"): _PORTS,
    ("TopologySpreadConstraint", "maxSkew"): Bounds(1, None),
    ("TopologySpreadConstraint", "minDomains"): Bounds(1, None),
    ("WeightedPodAffinityTerm", "weight"): _WEIGHTS,
}
"""The ranges of numeric fields."""

NEEDED: Mapping[Field, str] = {
    ("AWSElasticBlockStoreVolumeSource", "volumeID"): "add the ID of the disk",
    ("AppArmorProfile", "type"): "write `type: RuntimeDefault`, or remove the profile",
    ("AzureDiskVolumeSource", "diskName"): "add the name of the disk",
    ("AzureDiskVolumeSource", "diskURI"): "add the address of the disk",
    ("AzureFileVolumeSource", "secretName"): "add the name of the Secret with the account and its key",
    ("AzureFileVolumeSource", "shareName"): "add the name of the share",
    ("CSIVolumeSource", "driver"): "add the name of the driver, such as `csi.example.com`",
    ("CSIVolumeSource", "nodePublishSecretRef", "name"): "add the name of the Secret",
    ("CephFSVolumeSource", "monitors"): "add the addresses of the monitors",
    ("ClusterTrustBundleProjection", "path"): "add the name of the file",
    ("CinderVolumeSource", "secretRef", "name"): "add the name of the Secret",
    ("CinderVolumeSource", "volumeID"): "add the ID of the disk",
    ("ConfigMapProjection", "name"): "add the name of the ConfigMap",
    ("ConfigMapVolumeSource", "name"): "add the name of the ConfigMap",
    ("ContainerNode", "name"): "add a name of its own",
    (
        "DownwardAPIVolumeFile",
        "resourceFieldRef",
        "containerName",
    ): "add the name of the container, such as `main`",
    ("DataSource", "artifactPaths"): "add `artifactPaths` with the bucket whose files are listed",
    ("DownwardAPIVolumeFile", "path"): "add the name of the file",
    ("EnvFromSource", "configMapRef", "name"): "add the name of the ConfigMap",
    ("EnvFromSource", "secretRef", "name"): "add the name of the Secret",
    ("EnvVar", "name"): "add the name of the variable",
    ("EnvVarSource", "configMapKeyRef", "key"): "add the key in the ConfigMap",
    ("EnvVarSource", "configMapKeyRef", "name"): "add the name of the ConfigMap",
    ("EnvVarSource", "fieldRef", "fieldPath"): "add the field, such as `metadata.name`",
    ("EnvVarSource", "resourceFieldRef", "resource"): "add the amount, such as `limits.memory`",
    ("EnvVarSource", "secretKeyRef", "key"): "add the key in the Secret",
    ("EnvVarSource", "secretKeyRef", "name"): "add the name of the Secret",
    (
        "EphemeralVolumeSource",
        "volumeClaimTemplate",
    ): "add it with `spec`, or use `emptyDir` for a scratch folder",
    ("ExecAction", "command"): "add the command as a list",
    ("FileKeySelector", "key"): "add the name of the variable in the file",
    ("FileKeySelector", "path"): "add the path of the file in the volume",
    ("FileKeySelector", "volumeName"): "add the name of the volume",
    ("FlexVolumeSource", "driver"): "add the name of the driver",
    **{
        (owner, f"{kept}Secret", field): f"add the {field} of the Secret"
        if field == "name"
        else "add the key in it"
        for owner in ("ArtifactoryArtifact", "BasicAuth", "GitArtifact")
        for kept in SECRETS[owner]
        for field in ("key", "name")
    },
    ("GCEPersistentDiskVolumeSource", "pdName"): "add the name of the disk",
    ("GitRepoVolumeSource", "repository"): "add the address of the repository",
    ("GlusterfsVolumeSource", "endpoints"): "add the name of the Endpoints of the servers",
    ("GlusterfsVolumeSource", "path"): "add the name of the volume on the servers",
    ("HTTPHeaderSource", "secretKeyRef", "key"): "add the key in the Secret",
    ("HTTPHeaderSource", "secretKeyRef", "name"): "add the name of the Secret",
    ("HostPathVolumeSource", "path"): "add the path on the node",
    ("ISCSIVolumeSource", "iqn"): "add the name of the target, such as `iqn.2001-04.com.example:storage`",
    ("ISCSIVolumeSource", "targetPortal"): "add the address of the portal",
    ("ImageVolumeSource", "reference"): "add the name of the image",
    ("KeyToPath", "key"): "add the key",
    ("KeyToPath", "path"): "add the name of the file",
    ("Memoize", "cache", "configMap", "name"): "add the name of the ConfigMap",
    ("NFSVolumeSource", "path"): "add the path that the server exports",
    ("NFSVolumeSource", "server"): "add the address of the server",
    ("NodeSelector", "nodeSelectorTerms"): "add a term, or remove the affinity",
    ("PersistentVolumeClaimVolumeSource", "claimName"): "add the name of the claim",
    ("PhotonPersistentDiskVolumeSource", "pdID"): "add the ID of the disk",
    ("PodCertificateProjection", "signerName"): "add the name of the signer, such as `example.com/signer`",
    ("PodOS", "name"): "write `name: linux` or `name: windows`",
    ("PodReadinessGate", "conditionType"): "add the name of the condition, such as `example.com/ready`",
    ("PodDNSConfigOption", "name"): "add the name of the option, such as `ndots`",
    ("PodAffinityTerm", "topologyKey"): "add the label of the nodes, such as `kubernetes.io/hostname`",
    ("PodResourceClaim", "name"): "add the name that containers use",
    ("PodSchedulingGate", "name"): "add the name of the gate, such as `example.com/quota`",
    ("ProbeHTTPHeader", "name"): "add the name of the header",
    ("PortworxVolumeSource", "volumeID"): "add the ID of the volume",
    ("QuobyteVolumeSource", "registry"): "add the address of the registry, as `host:port`",
    ("QuobyteVolumeSource", "volume"): "add the name of the volume",
    ("RBDVolumeSource", "image"): "add the name of the image",
    ("RBDVolumeSource", "monitors"): "add the addresses of the monitors",
    ("ResourceClaim", "name"): "add the name of a claim in `resourceClaims`",
    ("ScaleIOVolumeSource", "gateway"): "add the address of the gateway",
    ("ScaleIOVolumeSource", "system"): "add the name of the system",
    ("ScaleIOVolumeSource", "volumeName"): "add the name of the volume",
    ("SeccompProfile", "type"): "write `type: RuntimeDefault`, or remove the profile",
    ("SecretProjection", "name"): "add the name of the Secret",
    ("SecretVolumeSource", "secretName"): "add the name of the Secret",
    ("ServiceAccountTokenProjection", "path"): "add the name of the file",
    ("StorageOSVolumeSource", "secretRef", "name"): "add the name of the Secret",
    ("StorageOSVolumeSource", "volumeName"): "add the name of the volume",
    ("Sysctl", "name"): "add the name, such as `net.core.somaxconn`",
    **{
        (f"Typed{owner}Reference", field): f"add the {field} of the object that the claim begins with"
        for owner in ("LocalObject", "Object")
        for field in ("kind", "name")
    },
    ("TopologySpreadConstraint", "maxSkew"): "add by how many pods the nodes may differ, such as 1",
    (
        "TopologySpreadConstraint",
        "topologyKey",
    ): "add the label of the nodes, such as `kubernetes.io/hostname`",
    ("TopologySpreadConstraint", "whenUnsatisfiable"): "add `DoNotSchedule` or `ScheduleAnyway`",
    ("UserContainer", "name"): "add a name of its own",
    ("Volume", "name"): "add the name that `volumeMounts` uses",
    ("VolumeDevice", "devicePath"): "add the path of the device in the container",
    ("VolumeDevice", "name"): "add the name of the claim",
    ("VolumeMount", "mountPath"): "add the path in the container",
    ("VolumeMount", "name"): "add the name of the volume",
    ("VsphereVirtualDiskVolumeSource", "volumePath"): "add the path of the disk",
}
"""Required fields, and how to fill them."""


NEVER_EMPTY = frozenset(
    (
        *((owner, "restartPolicy") for owner in CONTAINERS),
        ("AzureDiskVolumeSource", "cachingMode"),
        ("AzureDiskVolumeSource", "kind"),
        ("ContainerResizePolicy", "resourceName"),
        ("ContainerResizePolicy", "restartPolicy"),
        ("HTTPGetAction", "port"),
        ("HostAlias", "ip"),
        ("LabelSelectorRequirement", "operator"),
        ("PersistentVolumeClaimSpec", "volumeMode"),
        ("PodSecurityContext", "fsGroupChangePolicy"),
        ("PodSecurityContext", "seLinuxChangePolicy"),
        ("PodSecurityContext", "supplementalGroupsPolicy"),
        ("PodSpec", "preemptionPolicy"),
        ("SecurityContext", "procMount"),
        ("PodDisruptionBudgetSpec", "unhealthyPodEvictionPolicy"),
        ("TCPSocketAction", "port"),
        ("TopologySpreadConstraint", "nodeAffinityPolicy"),
        ("TopologySpreadConstraint", "nodeTaintsPolicy"),
        ("TopologySpreadConstraint", "whenUnsatisfiable"),
        ("VolumeMount", "mountPropagation"),
        ("VolumeMount", "recursiveReadOnly"),
        ("WindowsSecurityContextOptions", "gmsaCredentialSpecName"),
        ("WindowsSecurityContextOptions", "runAsUserName"),
    )
)
"""Words and texts that must not be empty; other empty ones count as left out."""

_OF_POD = tuple(f"metadata.{field}" for field in ("name", "namespace", "uid"))
TOLD: Mapping[str, Sequence[str]] = {
    "DownwardAPIVolumeFile": (*_OF_POD, "metadata.labels", "metadata.annotations"),
    "EnvVarSource": (
        *_OF_POD,
        *(f"spec.{field}" for field in ("nodeName", "serviceAccountName", "host")),
        *(f"status.{field}" for field in ("hostIP", "hostIPs", "podIP", "podIPs")),
    ),
}
"""The fields of the pod that `fieldRef` can expose, besides single labels and annotations."""
