"""The forms of the texts that Kubernetes accepts in the fields of pods and claims.

Fields are named as in `pod_fields`. Source: Kubernetes 1.35, pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import SECRETS
from flowdsl.compiler.lint.pods.pod_fields import BUDGETS
from flowdsl.compiler.schema.misplaced import CONTAINERS
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.names import (
    is_data_key,
    is_dns_label,
    is_dns_subdomain,
    is_port_name,
    is_qualified_name,
    is_relaxed_env_name,
)
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flowdsl.compiler.lint.pods.pod_fields import Field


class Form(NamedTuple):
    """The form of a text: its description, the texts that match, and the message for others."""

    what: str
    fits: Callable[[str], bool]
    reason: str
    way: str


def is_address(text: str) -> bool:
    """Whether `text` is an IP address; leading zeros are accepted. Source: IsValidIPForLegacyField."""
    try:
        ipaddress.ip_address(re.sub(r"(?<![0-9a-fA-F:])0+(?=[0-9])", "", text))
    except ValueError:
        return False
    return True


def is_target(text: str) -> bool:
    """Whether `text` is the name of an iSCSI target or initiator. Source: validateISCSIVolumeSource."""
    return _TARGET.fullmatch(text) is not None


def is_windows_user(text: str) -> bool:
    """Whether `text` names a user of Windows. Source: validateWindowsSecurityContextOptions."""
    domain, apart, user = text.rpartition("\\")
    if not _USER.fullmatch(user) or not user.strip(". "):
        return False
    return not apart or (len(domain) < 256 and _DOMAIN.fullmatch(domain) is not None)


def is_driver(text: str) -> bool:
    """Whether `text` names a CSI driver. Source: ValidateCSIDriverName."""
    return len(text) <= 63 and is_dns_subdomain(text.lower())


def is_search(text: str) -> bool:
    """Whether `text` is a DNS search domain. Source: validatePodDNSConfig."""
    labels = text.removesuffix(".").split(".")
    plain = ".".join(each.removeprefix("_").replace("_", "-") for each in labels)
    return text == "." or (len(text) <= 253 and is_dns_subdomain(plain))


def is_sysctl(text: str) -> bool:
    """Whether `text` names a sysctl. Source: IsValidSysctlName."""
    return len(text) <= 253 and _SYSCTL.fullmatch(text) is not None


def is_header(text: str) -> bool:
    """Whether `text` names a header of HTTP. Source: k8s.io/apimachinery, IsHTTPHeaderName."""
    return _HEADER.fullmatch(text) is not None


def is_told_amount(text: str) -> bool:
    """Whether `text` names a resource that `resourceFieldRef` can expose to a container."""
    return _AMOUNT.fullmatch(text) is not None


def is_percentage(text: str) -> bool:
    """Whether `text` is a percentage of pods. Source: ValidatePositiveIntOrPercent, IsNotMoreThan100Percent."""
    return _PERCENTAGE.fullmatch(text) is not None


def is_medium(text: str) -> bool:
    """Whether `text` is a medium of an `emptyDir`. Source: the kubelet, empty_dir.go."""
    return text in ("Memory", "HugePages") or text.startswith("HugePages-")


def is_absolute(text: str) -> bool:
    """Whether `text` is an absolute path."""
    return text.startswith("/")


def is_anywhere(text: str) -> bool:
    """Whether `text` is an absolute folder in a container, of Linux or Windows. Source: runc, specValidate."""
    return _FOLDER.match(text) is not None


def goes_down(text: str) -> bool:
    """Whether `text` is a path without `..`. Source: validatePathNoBacksteps."""
    return ".." not in text.split("/")


def is_below(text: str) -> bool:
    """Whether `text` is a path below the folder it starts from. Source: validateLocalDescendingPath."""
    return goes_down(text) and not is_absolute(text)


def is_one_name(text: str) -> bool:
    """Whether `text` is a single path element."""
    return "/" not in text


def is_profile(text: str) -> bool:
    """Whether `text` names a profile of AppArmor. Source: validateAppArmorProfileFormat and those around it."""
    return text == text.strip() and len(text) <= 4095


def is_file_below(text: str) -> bool:
    """Whether `text` is the path of a file in a volume. Source: ValidateLocalNonReservedPath."""
    return is_below(text) and not text.startswith("..")


_FOLDER = regex(r"/|\\|[A-Za-z]:")
_HEADER = regex(r"[-A-Za-z0-9]+")
_AMOUNT = regex(r"(?:limits|requests)\.(?:cpu|memory|ephemeral-storage|hugepages-.*)")
_PERCENTAGE = regex(r"0*(?:[0-9]{1,2}|100)%")
_TARGET = regex(
    r"(?=iqn).*iqn\.[0-9]{4}-[0-9]{2}\.[-.A-Za-z0-9]+:[^,;*&$|\s]+|eui.[A-Za-z0-9]{16}|naa.[A-Za-z0-9]{32}"
)
_USER = regex(r"""[^"/\\:;|=,+*?<>@\[\]\x00-\x1f\x7f]{1,104}""")
_PART = r"[a-zA-Z0-9](?:[-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?"
_DOMAIN = regex(rf"""[^\\/:*?"<>|.][^\\/:*?"<>|]{{0,14}}|{_PART}(?:\.{_PART})*""")
_SYSCTL = regex(r"(?:[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?")


def _object(kind: str) -> Form:
    way = "use lower-case letters, digits, `-` and `.`, with a letter or digit at both ends"
    return Form(f"the name of a {kind}", is_dns_subdomain, "not the name of an object", way)


def _label(kind: str) -> Form:
    way = "use at most 63 lower-case letters, digits and `-`"
    return Form(f"the name of {kind}", is_dns_label, f"not the name of {kind}", way)


_ALIKE = ("matchLabelKeys", "mismatchLabelKeys")
_GROUP = Form(
    "`apiGroup`",
    is_dns_subdomain,
    "not a group of the API",
    "write a group such as `snapshot.storage.k8s.io`",
)
_DATA_KEY = Form(
    "`key`", is_data_key, "not a key of a ConfigMap or Secret", "use letters, digits, `-`, `_` and `.`"
)
_PORT_FORM = "use at most 15 lower-case letters, digits and `-`, one letter at least"
_PROBED = Form(
    "`port`", is_port_name, "not the name of a port", f"write a number without quotes, or {_PORT_FORM}"
)
_ADDRESS = Form("an address", is_address, "not an address", "write an address such as `10.0.0.7`")
_FILE = Form(
    "`path`",
    is_file_below,
    "leads out of the volume",
    "write the path below the root of the volume, without `/` or `..` in front",
)

_CREDENTIALS = Form(
    "the name of a Secret of an artifact",
    is_dns_label,
    "not the name of a volume, which Argo names after it",
    "use a Secret whose name has at most 63 lower-case letters, digits and `-`",
)

NAMES = frozenset(
    (
        is_data_key,
        is_dns_label,
        is_dns_subdomain,
        is_header,
        is_port_name,
        is_qualified_name,
        is_relaxed_env_name,
    )
)
"""Forms that can be checked on a part of the text: all accept a letter at any position."""

FORMS: Mapping[Field, Form] = {
    **{
        (owner, f"{kept}Secret", field): form
        for owner, several in SECRETS.items()
        for kept in several
        for field, form in (("key", _DATA_KEY), ("name", _CREDENTIALS))
    },
    **{
        (name, "workingDir"): Form(
            "`workingDir`",
            is_anywhere,
            "no path from the root, so the container does not start",
            "write it with `/` in front",
        )
        for name in CONTAINERS
    },
    ("AppArmorProfile", "localhostProfile"): Form(
        "`localhostProfile`", is_profile, "blanks around a name, or too long", "write the name without blanks"
    ),
    ("CSIVolumeSource", "driver"): Form(
        "the name of a driver",
        is_driver,
        "not the name of a driver",
        "use at most 63 letters, digits, `-` and `.`",
    ),
    ("CSIVolumeSource", "nodePublishSecretRef", "name"): _object("Secret"),
    ("ClusterTrustBundleProjection", "path"): _FILE,
    ("ContainerPort", "name"): Form("the name of a port", is_port_name, "not the name of a port", _PORT_FORM),
    ("DownwardAPIVolumeFile", "path"): _FILE,
    ("EmptyDirVolumeSource", "medium"): Form(
        "`medium`", is_medium, "not what a volume is made of", "write `Memory`, or remove it for a disk"
    ),
    ("EnvFromSource", "configMapRef", "name"): _object("ConfigMap"),
    ("EnvFromSource", "prefix"): Form(
        "`prefix`",
        is_relaxed_env_name,
        "not the beginning of a variable's name",
        "use letters, digits and `_`",
    ),
    ("EnvFromSource", "secretRef", "name"): _object("Secret"),
    ("EnvVarSource", "configMapKeyRef", "key"): _DATA_KEY,
    ("EnvVarSource", "configMapKeyRef", "name"): _object("ConfigMap"),
    ("EnvVarSource", "secretKeyRef", "key"): _DATA_KEY,
    ("EnvVarSource", "secretKeyRef", "name"): _object("Secret"),
    ("FileKeySelector", "key"): Form(
        "`key`", is_relaxed_env_name, "not the name of a variable", "use letters, digits and `_`"
    ),
    ("FileKeySelector", "path"): Form(
        "`path`", goes_down, "goes up by `..`", "write the path in the volume without `..`"
    ),
    ("FileKeySelector", "volumeName"): _label("a volume"),
    ("FlockerVolumeSource", "datasetName"): Form(
        "`datasetName`", is_one_name, "has a `/`", "write the name without `/`"
    ),
    ("GitRepoVolumeSource", "directory"): Form(
        "`directory`", is_below, "leads out of the volume", "write the path below the root of the volume"
    ),
    ("HTTPGetAction", "port"): _PROBED,
    ("HostAlias", "hostnames"): Form(
        "a name of a host",
        is_dns_subdomain,
        "not the name of a host",
        "use lower-case letters, digits, `-` and `.`",
    ),
    ("HostAlias", "ip"): _ADDRESS,
    ("HostPathVolumeSource", "path"): Form(
        "`path`", goes_down, "goes up by `..`", "write the path without `..`"
    ),
    **{
        ("ISCSIVolumeSource", field): Form(
            f"`{field}`",
            is_target,
            "not a name in iSCSI",
            "write a name such as `iqn.2001-04.com.example:storage`",
        )
        for field in ("iqn", "initiatorName")
    },
    ("KeyToPath", "key"): _DATA_KEY,
    ("KeyToPath", "path"): _FILE,
    ("NFSVolumeSource", "path"): Form(
        "`path`", is_absolute, "not an absolute path", "write it with `/` in front"
    ),
    ("PersistentVolumeClaimSpec", "storageClassName"): _object("StorageClass"),
    ("PersistentVolumeClaimSpec", "volumeAttributesClassName"): _object("VolumeAttributesClass"),
    ("PodAffinityTerm", "namespaces"): _label("a namespace"),
    ("PodAffinityTerm", "topologyKey"): Form(
        "`topologyKey`",
        is_qualified_name,
        "not a label of nodes",
        "write a label such as `kubernetes.io/hostname`",
    ),
    **{
        (owner, field): Form("a label of pods", is_qualified_name, "not a label", "write the key of a label")
        for owner, several in (("PodAffinityTerm", _ALIKE), ("TopologySpreadConstraint", _ALIKE[:1]))
        for field in several
    },
    **{
        ("PodCertificateProjection", f"{file}Path"): _FILE
        for file in ("certificateChain", "credentialBundle", "key")
    },
    **{
        ("PodDisruptionBudgetSpec", field): Form(
            f"`{field}`", is_percentage, "neither a number nor a part of the pods", "write `1` or `50%`"
        )
        for field in BUDGETS
    },
    ("PodDNSConfig", "nameservers"): _ADDRESS,
    ("PodDNSConfig", "searches"): Form(
        "a domain to search",
        is_search,
        "not a domain",
        "use lower-case letters, digits, `-`, `_` and `.`, with a letter or digit at the end of each part",
    ),
    **{
        ("PodSpec", field): Form(
            f"`{field}`",
            is_dns_label,
            "not a name in DNS",
            "use at most 63 lower-case letters, digits and `-`",
        )
        for field in ("hostname", "subdomain")
    },
    ("PodReadinessGate", "conditionType"): Form(
        "`conditionType`",
        is_qualified_name,
        "not the name of a condition",
        "write a name such as `example.com/ready`",
    ),
    ("PodResourceClaim", "name"): _label("a claim"),
    ("PodResourceClaim", "resourceClaimName"): _object("ResourceClaim"),
    ("PodResourceClaim", "resourceClaimTemplateName"): _object("ResourceClaimTemplate"),
    ("PodSchedulingGate", "name"): Form(
        "the name of a gate",
        is_qualified_name,
        "not the name of a gate",
        "write a name such as `example.com/quota`",
    ),
    ("PodSpec", "nodeName"): _object("Node"),
    ("PodSpec", "priorityClassName"): _object("PriorityClass"),
    ("PodSpec", "runtimeClassName"): _object("RuntimeClass"),
    ("PodSpec", "serviceAccountName"): _object("ServiceAccount"),
    ("ProbeHTTPHeader", "name"): Form(
        "the name of a header",
        is_header,
        "not the name of a header",
        "use letters, digits and `-`",
    ),
    ("ResourceFieldSelector", "resource"): Form(
        "`resource`",
        is_told_amount,
        "not an amount that a container can be told",
        "write `limits.` or `requests.` with `cpu`, `memory` or `ephemeral-storage` after it",
    ),
    ("SeccompProfile", "localhostProfile"): Form(
        "`localhostProfile`",
        is_below,
        "not a path below the folder of profiles",
        "write the path without `/` in front and without `..`",
    ),
    ("ServiceAccountTokenProjection", "path"): _FILE,
    ("VolumeDevice", "devicePath"): Form(
        "`devicePath`", goes_down, "goes up by `..`", "write the path without `..`"
    ),
    **{
        (owner, field): _object(kind)
        for owner, field, kind in (
            ("ArtifactGC", "serviceAccountName", "ServiceAccount"),
            ("ArtifactRepositoryRef", "configMap", "ConfigMap"),
            ("ConfigMapProjection", "name", "ConfigMap"),
            ("ConfigMapVolumeSource", "name", "ConfigMap"),
            ("ExecutorConfig", "serviceAccountName", "ServiceAccount"),
            ("PersistentVolumeClaimVolumeSource", "claimName", "claim"),
            ("SecretProjection", "name", "Secret"),
            ("SecretVolumeSource", "secretName", "Secret"),
            ("TemplateRef", "name", "WorkflowTemplate"),
            ("WorkflowTemplateRef", "name", "WorkflowTemplate"),
        )
    },
    ("HTTPHeaderSource", "secretKeyRef", "key"): _DATA_KEY,
    ("HTTPHeaderSource", "secretKeyRef", "name"): _object("Secret"),
    ("Memoize", "cache", "configMap", "name"): _object("ConfigMap"),
    ("SemaphoreRef", "configMapKeyRef", "key"): _DATA_KEY,
    ("SemaphoreRef", "configMapKeyRef", "name"): _object("ConfigMap"),
    ("Sysctl", "name"): Form(
        "the name of a sysctl",
        is_sysctl,
        "not the name of a sysctl",
        "write a name such as `net.core.somaxconn`",
    ),
    ("StorageOSVolumeSource", "volumeName"): _label("a volume of StorageOS"),
    ("StorageOSVolumeSource", "volumeNamespace"): _label("a namespace"),
    ("TCPSocketAction", "port"): _PROBED,
    **{(f"Typed{owner}Reference", "apiGroup"): _GROUP for owner in ("LocalObject", "Object")},
    ("TypedObjectReference", "namespace"): _label("a namespace"),
    ("Template", "priorityClassName"): _object("PriorityClass"),
    ("Template", "serviceAccountName"): _object("ServiceAccount"),
    ("ValueFrom", "configMapKeyRef", "key"): _DATA_KEY,
    ("ValueFrom", "configMapKeyRef", "name"): _object("ConfigMap"),
    ("WindowsSecurityContextOptions", "gmsaCredentialSpecName"): _object("GMSACredentialSpec"),
    ("WindowsSecurityContextOptions", "runAsUserName"): Form(
        "`runAsUserName`",
        is_windows_user,
        "not a user of Windows",
        "write a name such as `ContainerUser`, or a domain, one backslash and a name",
    ),
    ("WorkflowLevelArtifactGC", "serviceAccountName"): _object("ServiceAccount"),
    ("WorkflowSpec", "podPriorityClassName"): _object("PriorityClass"),
    ("WorkflowSpec", "serviceAccountName"): _object("ServiceAccount"),
}
"""The forms of text fields; a text with tags is known only in the run."""
