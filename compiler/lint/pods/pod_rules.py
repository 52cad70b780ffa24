"""Rules of Kubernetes for single types of objects in pods and claims that a table of fields cannot express.

Source: Kubernetes 1.35, pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.pods.findings import Alternatives, EmptyClaim, Incomplete, NotForPods
from flowdsl.compiler.lint.pods.nodes import requirement_faults
from flowdsl.compiler.lint.pods.pod_fields import PROBES, TOLD, WORDS
from flowdsl.compiler.lint.workflow.labels import label_faults
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.schema.findings import TooManyEntries, dotted
from flowdsl.compiler.schema.misplaced import CONTAINERS
from flowdsl.compiler.tree import entries_at, inside, string
from flowdsl.diagnostic import near
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.names import is_qualified_name
from flowdsl.grammar.quantity import has_exponent, quantity
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import is_filled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flowdsl.compiler.lint.manifest.typed import Typed
    from flowdsl.compiler.tree import Object, Path

    Rule = Callable[[Typed], Iterator[Problem]]


def title(found: Typed) -> str:
    """An object in words: its name, or its path."""
    name = string(found.data, "name")
    return f"`{name}`" if name else last_field(found.path)


def last_field(path: Path) -> str:
    """The last field in the path of an object."""
    return "`" + next(step for step in reversed(path) if isinstance(step, str)) + "`"


def _variable(found: Typed) -> Iterator[Problem]:
    if found.data.get("value") and found.data.get("valueFrom") is not None:
        finding = Alternatives(f"{title(found)} has `value` and `valueFrom` at once", "keep one of them")
        yield Problem(found.path, finding)


def _sub_path(found: Typed) -> Iterator[Problem]:
    for field in ("subPath", "subPathExpr"):
        path = string(found.data, field)
        if path.startswith("/") or ".." in path.split("/"):
            way = "write the path below the root of the volume, without `/` in front and without `..`"
            finding = NotForPods(f"`{field}`", path, "leads out of the volume", way)
            yield Problem((*found.path, field), finding)


def _told(found: Typed) -> Iterator[Problem]:
    """The field of the pod that a variable or file exposes."""
    paths = TOLD[found.type]
    path = string(found.data, "fieldRef", "fieldPath")
    mark = _MARK.fullmatch(path)
    key = "" if mark is None else mark[2].lower() if mark[1] == "annotations" else mark[2]
    if not path or is_filled(path) or path in paths or is_qualified_name(key):
        return
    if path in ("metadata.labels", "metadata.annotations"):
        reason, way = "one of them has to be named", f"write `{path}['NAME']` with the name of one"
    elif mark is not None:
        reason, way = "not the name of a label or annotation", f"write `metadata.{mark[1]}['NAME']`"
    elif (other := _OTHER_MARK.fullmatch(path)) is not None:
        reason, way = (
            "labels and annotations are named in brackets",
            f"write `metadata.{other[1]}s['{other[2]}']`",
        )
    elif close := near(path, paths):
        reason, way = f"did you mean `{close}`?", f"write `{close}`"
    else:
        way = "write one of " + ", ".join(f"`{each}`" for each in paths)
        reason = "not a field that a container can be told"
    yield Problem((*found.path, "fieldRef", "fieldPath"), NotForPods("`fieldPath`", path, reason, way))


_OTHER_MARK = regex(r"metadata\.(label|annotation)s?(?:\.|\[)['\"]?([\w./-]+?)['\"]?\]?")
_MARK = regex(r"metadata\.(labels|annotations)\['(.*)'\]")


def _resized(found: Typed) -> Iterator[Problem]:
    """Each resource has one resize policy. Source: validateResizePolicy."""
    taken: set[str] = set()
    for path, each in entries_at(found.data, found.path, "resizePolicy"):
        name = string(each, "resourceName")
        if name in taken:
            reason, way = "named already", "keep one of them"
            yield Problem((*path, "resourceName"), NotForPods("`resourceName`", name, reason, way))
        taken |= {name} - {""}


def _container(found: Typed) -> Iterator[Problem]:
    """The probes of a container; an init container that has to end cannot have any."""
    data, path = found.data, found.path
    yield from _resized(found)
    if data.get("restartPolicyRules") and not data.get("restartPolicy"):
        way = "add `restartPolicy: Never`, or remove the rules"
        yield Problem((*path, "restartPolicyRules"), Incomplete("the container", "`restartPolicy`", way))
    probes = [probe for probe in PROBES if data.get(probe) is not None]
    if path[-2] == "initContainers" and string(data, "restartPolicy") in ("", "Never", "OnFailure"):
        for field in (*probes, *(("lifecycle",) if _has_hooks(data.get("lifecycle")) else ())):
            way = f"add it, so that the container runs beside the others, or remove `{field}`"
            what = f"an init container with `{field}`"
            yield Problem((*path, field), Incomplete(what, "`restartPolicy: Always`", way), on_key=True)
        return
    for probe in probes:
        given = data[probe]
        if probe == "readinessProbe":
            field, wrong = (
                "terminationGracePeriodSeconds",
                given.get("terminationGracePeriodSeconds") is not None,
            )
            reason, way = "not in a readiness probe, which ends nothing", "remove it"
        else:
            field, wrong = "successThreshold", (given.get("successThreshold") or 0) > 1
            reason, way = f"1 in a {probe}", "remove it: only a readiness probe counts successes"
        if wrong:
            yield Problem((*path, probe, field), NotForPods(f"`{field}`", str(given[field]), reason, way))


def _alike(found: Typed) -> Iterator[Problem]:
    """The label keys that Kubernetes adds to the selector of an affinity term. Source: validatePodAffinityTerm."""
    both = ("matchLabelKeys", "mismatchLabelKeys")
    if common := sorted({*(found.data.get(both[0]) or ())} & {*(found.data.get(both[1]) or ())}):
        way = f"remove `{common[0]}` from one of them"
        yield Problem(
            found.path, Alternatives(f"`{common[0]}` is in `matchLabelKeys` and `mismatchLabelKeys`", way)
        )
    for field in both:
        if found.data.get(field) and found.data.get("labelSelector") is None:
            way = f"add the labels of the pods that are meant, or remove `{field}`"
            yield Problem((*found.path, field), Incomplete(f"`{field}`", "`labelSelector` beside it", way))


def _spread(found: Typed) -> Iterator[Problem]:
    """Topology spread constraints. Source: validateTopologySpreadConstraints."""
    yield from _alike(found)
    if found.data.get("minDomains") and found.data.get("whenUnsatisfiable") == "ScheduleAnyway":
        reason, way = (
            "not where pods may run anyway",
            "write `whenUnsatisfiable: DoNotSchedule`, or remove it",
        )
        finding = NotForPods("`minDomains`", str(found.data["minDomains"]), reason, way)
        yield Problem((*found.path, "minDomains"), finding)


def _has_hooks(lifecycle: Object | None) -> bool:
    """Whether a `lifecycle` has hooks for an API server, which drops a `stopSignal`.

    Source: Kubernetes, dropContainerStopSignals in pkg/api/pod/util.go.
    """
    return lifecycle is not None and lifecycle.keys() != {"stopSignal"}


def _profile(found: Typed) -> Iterator[Problem]:
    """The file of a profile, which is allowed and required for type `Localhost` only."""
    sort, file = string(found.data, "type"), found.data.get("localhostProfile")
    if sort == "Localhost" and not file:
        way = "add the file of the profile on the node, or write `type: RuntimeDefault`"
        yield Problem(found.path, Incomplete("the profile", "`localhostProfile`", way))
    elif file and sort in ("RuntimeDefault", "Unconfined"):
        reason, way = f"not in a profile of type `{sort}`", "write `type: Localhost`, or remove the file"
        yield Problem((*found.path, "localhostProfile"), NotForPods("`localhostProfile`", file, reason, way))


def _privileges(found: Typed) -> Iterator[Problem]:
    data = found.data
    if data.get("allowPrivilegeEscalation") is not False:
        return
    more = "CAP_SYS_ADMIN" in (inside(data, "capabilities").get("add") or ())
    if data.get("privileged") or more:
        granted = "privileged: true" if data.get("privileged") else "CAP_SYS_ADMIN"
        both = f"{title(found)} has `{granted}` and `allowPrivilegeEscalation: false` at once"
        yield Problem(found.path, Alternatives(both, "remove one of the two"))


def _parameter(found: Typed) -> Iterator[Problem]:
    """The ConfigMap of a parameter without other sources. Source: Argo Workflows, ProcessArgs."""
    reference = inside(found.data, "valueFrom").get("configMapKeyRef")
    has_value = (
        found.data.get("value") is not None or inside(found.data, "valueFrom").get("default") is not None
    )
    if reference is None or has_value:
        return
    for field, way in (("name", "add the name of the ConfigMap"), ("key", "add the key in the ConfigMap")):
        if not reference.get(field):
            path = (*found.path, "valueFrom", "configMapKeyRef")
            yield Problem(path, Incomplete("`configMapKeyRef`", f"`{field}`", way))


def _servers(found: Typed) -> Iterator[Problem]:
    """The name servers of pods with DNS policy `None`."""
    data = found.data
    if data.get("dnsPolicy") == "None" and not inside(data, "dnsConfig").get("nameservers"):
        way = "add `nameservers` under `dnsConfig`, or remove `dnsPolicy`"
        if data.get("workflowTemplateRef") is None:
            missing = "`dnsConfig.nameservers`"
            yield Problem((*found.path, "dnsPolicy"), Incomplete("`dnsPolicy: None`", missing, way))


def _selected(found: Typed) -> Iterator[Problem]:
    """The labels of a selector."""
    filled = "podGC" not in found.path  # whose selector Argo evaluates itself
    yield from label_faults(
        inside(found.data, "matchLabels"), (*found.path, "matchLabels"), "a label", filled
    )
    for path, each in entries_at(found.data, found.path, "matchExpressions"):
        if each.get("operator") in WORDS["LabelSelectorRequirement", "operator"]:
            yield from requirement_faults(each, path)


def _resolver(found: Typed) -> Iterator[Problem]:
    """The limits on name servers and search domains. Source: validatePodDNSConfig."""
    for field, most in (("nameservers", 3), ("searches", 32)):
        count = len(found.data.get(field) or ())
        if count > most:
            path = (*found.path, field)
            yield Problem(path, TooManyEntries(dotted(path), count, most, f"keep {most} of them"))


def _scratch(found: Typed) -> Iterator[Problem]:
    """The size of an `emptyDir`; an unreadable one is reported elsewhere."""
    text = str(found.data.get("sizeLimit") or "")
    if text.startswith("-"):
        reason, way = "less than nothing", "write a size such as `10Gi`"
        yield Problem((*found.path, "sizeLimit"), NotForPods("`sizeLimit`", text, reason, way))


def _projected(found: Typed) -> Iterator[Problem]:
    """The files of a projected volume; that of a token may be another's. Source: validateProjectionSources."""
    taken: set[str] = set()
    for at, source in entries_at(found.data, found.path, "sources"):
        for field, given in source.items():
            if field == "serviceAccountToken":
                continue
            here = (*at, field)
            for path, each in (*entries_at(given or {}, here, "items"), (here, given or {})):
                file = string(each, "path")
                if file in taken:
                    reason, way = "already a file of the volume", "give each file a path of its own"
                    yield Problem((*path, "path"), NotForPods("`path`", file, reason, way))
                taken |= {file} - {""}


def _fibre(found: Typed) -> Iterator[Problem]:
    """The LUN of a Fibre Channel volume, required with target WWNs."""
    if found.data.get("targetWWNs") and found.data.get("lun") is None:
        yield Problem(found.path, Incomplete("`targetWWNs`", "`lun` beside it", "add the number of the unit"))


def _portal(found: Typed) -> Iterator[Problem]:
    """The Secret with which an iSCSI initiator authenticates."""
    checks = [field for field in ("chapAuthDiscovery", "chapAuthSession") if found.data.get(field)]
    if checks and found.data.get("secretRef") is None:
        way = "add it with the name of the Secret, or remove `chap...`"
        yield Problem(found.path, Incomplete(f"`{checks[0]}`", "`secretRef` beside it", way))


def _disk(found: Typed) -> Iterator[Problem]:
    """The URI of an Azure disk, whose prefix depends on its kind."""
    kind, address = string(found.data, "kind") or "Shared", string(found.data, "diskURI")
    begins = "/subscriptions/" if kind == "Managed" else "https://"
    if kind not in WORDS["AzureDiskVolumeSource", "kind"] or not address or is_filled(address):
        return
    if not address.startswith(begins):
        way = f"write the address, which begins with `{begins}`, or another `kind`"
        finding = NotForPods("`diskURI`", address, f"not that of a disk of the kind `{kind}`", way)
        yield Problem((*found.path, "diskURI"), finding)


def _unnamed(found: Typed) -> Iterator[Problem]:
    """The metadata of a claim that Kubernetes names after its pod. Source: ValidateTemplateObjectMeta."""
    metadata = inside(found.data, "metadata")
    yield from label_faults(
        inside(metadata, "labels"), (*found.path, "metadata", "labels"), "a label", filled=True
    )
    for field, value in metadata.items():
        if field not in ("annotations", "labels") and value:
            reason, way = (
                "not in the claim of an ephemeral volume, which has the name of its pod",
                "remove it",
            )
            path = (*found.path, "metadata", field)
            yield Problem(path, NotForPods(f"`{field}`", str(value), reason, way))


def _divisor(found: Typed) -> Iterator[Problem]:
    """The divisor of an exposed resource. Source: validateContainerResourceDivisor."""
    resource, text = string(found.data, "resource"), str(found.data.get("divisor") or "")
    try:
        unit = quantity(text) if text and not is_filled(resource) else None
    except GrammarError:
        return  # which is reported elsewhere
    units = [("1", "1m")] if resource.endswith(".cpu") else [_DECIMAL, _BINARY]
    same = _BINARY if text.endswith("i") else units[0] if not has_exponent(text) else ()
    if unit and (same not in units or unit not in map(quantity, same)):
        way = "write one of " + ", ".join(f"`{each}`" for several in units for each in several)
        reason = f"not a unit in which `{resource}` is told"
        yield Problem((*found.path, "divisor"), NotForPods("`divisor`", text, reason, way))


_DECIMAL = ("1", *(f"1{prefix}" for prefix in "kMGTPE"))
_BINARY = tuple(f"1{prefix}i" for prefix in "KMGTPE")


def _finalizers(found: Typed) -> Iterator[Problem]:
    """The finalizers of an object. Source: ValidateFinalizerName, ValidateFinalizers of apimachinery."""
    names: list[str] = found.data.get("finalizers") or []
    for index, name in enumerate(names):
        if not is_qualified_name(name):
            reason, way = "not the name of a finalizer", "write a name such as `example.com/cleanup`"
            yield Problem((*found.path, "finalizers", index), NotForPods("a finalizer", name, reason, way))
    if {"orphan", "foregroundDeletion"} <= set(names):
        both = "the object has `orphan` and `foregroundDeletion` as finalizers at once"
        yield Problem((*found.path, "finalizers"), Alternatives(both, "keep one of them"))


def _claim(found: Typed) -> Iterator[Problem]:
    modes: list[str] = found.data.get("accessModes") or []
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        both = "the claim has `ReadWriteOncePod` and another access mode at once"
        yield Problem((*found.path, "accessModes"), Alternatives(both, "keep one of them"))
    if not found.data.get("accessModes"):
        yield Problem(
            found.path, Incomplete("the claim", "`accessModes`", "add `accessModes: [ReadWriteOnce]`")
        )
    if inside(found.data, "resources", "requests").get("storage") is None:
        way = "add `resources: {requests: {storage: 10Gi}}`"
        yield Problem(found.path, Incomplete("the claim", "`resources.requests.storage`", way))
    yield from _origin(found)


def _origin(found: Typed) -> Iterator[Problem]:
    """The data source of a claim: at most one, of an allowed kind.

    Source: Kubernetes, validateDataSource and EnforceDataSourceBackwardsCompatibility.
    """
    old, new = (inside(found.data, field) for field in ("dataSource", "dataSourceRef"))
    if old and new and any(old.get(field) != new.get(field) for field in ("apiGroup", "kind", "name")):
        both = "the claim has another `dataSource` than `dataSourceRef`"
        yield Problem((*found.path, "dataSource"), Alternatives(both, "keep one of them"))
        return
    field, source = ("dataSourceRef", new) if new else ("dataSource", old)
    kind, group = string(source, "kind"), string(source, "apiGroup")
    path = (*found.path, field, "kind")
    if not kind or "{{" in kind + group or (kind == "PersistentVolumeClaim" and not group):
        return
    way = "add `apiGroup: snapshot.storage.k8s.io`" if kind == "VolumeSnapshot" else "add its `apiGroup`"
    if not group and (new or "ephemeral" in found.path):
        reason = "without an `apiGroup`, only a PersistentVolumeClaim"
        yield Problem(path, NotForPods(f"`kind` of a `{field}`", kind, reason, way))
    elif not new and (kind, group) != _SNAPSHOT:
        way = way if not group else "write it as `dataSourceRef`"
        yield Problem(path, EmptyClaim(f"{group}/{kind}".lstrip("/"), way))


_SNAPSHOT = ("VolumeSnapshot", "snapshot.storage.k8s.io")


OWN: Mapping[str, Rule] = {
    **dict.fromkeys(CONTAINERS, _container),
    **dict.fromkeys(("AppArmorProfile", "SeccompProfile"), _profile),
    **dict.fromkeys(TOLD, _told),
    **dict.fromkeys(("PodSpec", "WorkflowSpec"), _servers),
    "AzureDiskVolumeSource": _disk,
    "EmptyDirVolumeSource": _scratch,
    "EnvVar": _variable,
    "FCVolumeSource": _fibre,
    "ISCSIVolumeSource": _portal,
    "LabelSelector": _selected,
    "ObjectMeta": _finalizers,
    "Parameter": _parameter,
    "PersistentVolumeClaimSpec": _claim,
    "PersistentVolumeClaimTemplate": _unnamed,
    "PodAffinityTerm": _alike,
    "PodDNSConfig": _resolver,
    "ProjectedVolumeSource": _projected,
    "ResourceFieldSelector": _divisor,
    "SecurityContext": _privileges,
    "TopologySpreadConstraint": _spread,
    "VolumeMount": _sub_path,
}
"""The rules for the objects of each type."""
