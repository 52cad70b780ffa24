"""Common Kubernetes objects in `resource` templates: values that the API server rejects.

Their manifests are read with types, and tags are words. Source: Kubernetes 1.35, pkg/apis/core/validation.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.lint.pods import applications, jobs, trainings
from flowdsl.compiler.lint.pods.closed import Judged, schema_flaws
from flowdsl.compiler.lint.pods.object_pods import claim_flaws, pod_flaws
from flowdsl.compiler.lint.pods.untyped import WORD, Lacking, bounds
from flowdsl.compiler.lint.pods.workloads import container_flaws, its_pod, metadata_of, pod_of, way_to_pod
from flowdsl.compiler.lint.workflow.labels import metadata_faults
from flowdsl.compiler.schema import check_schema, kinds
from flowdsl.compiler.schema.findings import (
    UnknownField,
    WrongType,
)
from flowdsl.compiler.schema.table import API_VERSION, operated, served
from flowdsl.compiler.tree import (
    is_list,
    is_mapping,
    mapping_at,
    mappings_at,
    value_at,
)
from flowdsl.diagnostic import instead
from flowdsl.grammar.cron import NeverComes, cron, is_zone
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.names import (
    is_data_key,
    is_dns_label,
    is_dns_subdomain,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flowdsl.compiler.lint.pods.closed import Fields
    from flowdsl.compiler.lint.pods.untyped import Flaw
    from flowdsl.compiler.tree import Object


def flaws(body: Any, flags: object) -> Iterator[Flaw]:
    """What is invalid in an object, and the remedies; of one of an unknown kind, in its metadata.

    `flags`: those of kubectl, which may accept unknown fields.
    """
    if not is_mapping(body) or not isinstance(body.get("kind"), str):
        return
    kind, version = body["kind"], str(body.get("apiVersion"))
    metadata = body.get("metadata")
    judged = _by_schema(body, version, kind, "validate" not in str(flags))
    yield from judged.flaws
    if not judged.readable:
        return
    yield from _metadata(metadata, kind, version)
    known = _KINDS.get((version, kind))
    if known is not None:
        yield from known(body)
    if is_mapping(metadata := metadata_of(body)):
        yield from _marks(metadata, f"the pods of the {kind}", "are")
    if is_mapping(pod := pod_of(body)):
        yield from pod_flaws(pod, its_pod(kind), listed=False)
    if version == API_VERSION and kind in kinds():
        for problem in check_schema(body):
            finding = problem.finding
            if isinstance(finding, (UnknownField, WrongType)) and WORD not in finding.message:
                yield f"the {kind} is refused: {finding.message}", finding.advice


def _by_schema(body: Object, version: str, kind: str, strict: bool) -> Judged:
    """What the schema refuses in an object; of one of an unknown kind, in its metadata."""
    closed: Fields = "closed" if strict else "open"
    if (name := served().get(version, {}).get(kind)) is not None:
        return schema_flaws(name, body, f"the {kind}", pod=way_to_pod(body), unknown=closed)
    if (name := operated().get(version, {}).get(kind)) is not None:
        return schema_flaws(name, body, f"the {kind}", unknown="alike" if strict else "open", defined=True)
    if is_mapping(metadata := body.get("metadata")):
        return schema_flaws("ObjectMeta", metadata, f"`metadata` of the {kind}", unknown=closed)
    return Judged([], readable=True, known=True)


def _metadata(metadata: Any, kind: str, version: str) -> Iterator[Flaw]:
    """Invalid names and labels; names of RBAC objects may be any."""
    if not is_mapping(metadata):
        return
    name = metadata.get("name") or (f"{given}x" if (given := metadata.get("generateName")) else "")
    label = (version, kind) in (("v1", "Service"), ("v1", "Namespace"))
    fits = is_dns_label if label else is_dns_subdomain
    digit = (version, kind) == ("v1", "Service") and isinstance(name, str) and name[:1].isdigit()
    free = version.startswith("rbac.") or WORD in version
    if isinstance(name, str) and name and not free and (digit or not fits(name)):
        yield (
            f"the name of the {kind} cannot be `{metadata.get('name') or metadata['generateName']}`",
            "use lower-case letters, digits, `-` and `.`, with a letter or digit at both ends",
        )
    yield from _marks(metadata, f"the {kind}", "is")


def _marks(metadata: Object, owner: str, are: str) -> Iterator[Flaw]:
    """Invalid labels and annotations; the word of a tag is valid in them."""
    texts: Object = {}
    for field in ("labels", "annotations"):
        if is_mapping(listed := metadata.get(field)):
            texts[field] = {str(key): value for key, value in listed.items() if isinstance(value, str)}
    for each in metadata_faults(texts, ()):
        yield f"{owner} {are} refused: {each.finding.message}", each.finding.advice


def _stored(body: Any) -> Iterator[Flaw]:
    """The contents of a ConfigMap or Secret: strings by key, base64 in `data` of a Secret."""
    kind = body["kind"]
    for field in ("data", "stringData", "binaryData"):
        for key, value in mapping_at(body, field).items():
            if not is_data_key(str(key)):
                yield f"`{key}` cannot be a key of a {kind}", "use letters, digits, `-`, `_` and `.`"
            if kind == "Secret" and field == "data" and isinstance(value, str) and not _is_base64(value):
                yield f"`{key}` in `data` of the Secret is not in base64", "write it below `stringData`"


def _secret(body: Any) -> Iterator[Flaw]:
    """A Secret, whose type requires some keys."""
    yield from _stored(body)
    stored = [field for each in ("data", "stringData") if is_mapping(field := body.get(each))]
    if any(WORD in str(body.get(each)) for each in ("data", "stringData")):
        return
    for key in _KEYS.get(str(body.get("type")), ()):
        if not any(key in each for each in stored):
            way = f"add `{key}`, or write `type: Opaque`"
            yield Lacking(f"a Secret of the type `{body['type']}` has no `{key}`", way)


_KEYS = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
"""The keys that Secrets of a type must have. Source: Kubernetes, ValidateSecret in pkg/apis/core/validation."""


def _is_base64(text: str) -> bool:
    """Whether a text may be base64, as far as it is known."""
    if WORD in text:
        return True
    try:
        base64.b64decode(text.replace("\n", ""), validate=True)
    except ValueError:
        return False
    return True


def _claim(body: Any) -> Iterator[Flaw]:
    """A PersistentVolumeClaim."""
    yield from _of_claim(body.get("spec"), "the claim")


def _of_claim(spec: Any, what: str) -> Iterator[Flaw]:
    """The spec of a PersistentVolumeClaim."""
    if not is_mapping(spec):
        return
    yield from claim_flaws(spec, what)
    if not spec.get("accessModes"):
        way = "add `accessModes: [ReadWriteOnce]`, or what it is"
        yield Lacking(f"{what} has no `spec.accessModes`", way)
    asked = spec.get("resources")
    requests = value_at(asked, ("requests",))
    if asked != WORD and requests != WORD and not (is_mapping(requests) and requests.get("storage")):
        way = "add `resources: {requests: {storage: 10Gi}}`"
        yield Lacking(f"{what} does not say how much it asks for", way)


def _stateful(body: Any) -> Iterator[Flaw]:
    """The claims that a StatefulSet makes."""
    for claim in mappings_at(body, "spec", "volumeClaimTemplates"):
        name = mapping_at(claim, "metadata").get("name")
        if not name:
            yield Lacking("a claim of the StatefulSet has no name", "add `metadata: {name: NAME}`")
        yield from _of_claim(mapping_at(claim, "spec"), f"the claim `{name}` of the StatefulSet")


def _deployment(body: Any) -> Iterator[Flaw]:
    """The strategy of a Deployment. Source: Kubernetes, ValidateDeploymentStrategy in pkg/apis/apps/validation."""
    strategy = mapping_at(body, "spec", "strategy")
    if strategy.get("type") == "Recreate" and strategy.get("rollingUpdate") is not None:
        yield "the Deployment has `rollingUpdate` beside `type: Recreate`", "remove one of the two"


def _autoscaler(body: Any) -> Iterator[Flaw]:
    """The bounds and the metrics of a HorizontalPodAutoscaler. Source: Kubernetes, pkg/apis/autoscaling/validation."""
    spec = mapping_at(body, "spec")
    yield from bounds(spec, "the HorizontalPodAutoscaler")
    for metric in mappings_at(spec, "metrics"):
        sort = str(metric.get("type") or "")
        field = f"{sort[:1].lower()}{sort[1:]}"
        if sort and WORD not in sort and not metric.get(field):
            yield Lacking(
                f"a metric of the type `{sort}` has no `{field}`", f"add `{field}`, with what it measures"
            )


def _service(body: Any) -> Iterator[Flaw]:
    """The ports of a Service."""
    spec = body.get("spec")
    if not is_mapping(spec):
        return
    if spec.get("type") == "ExternalName":
        if not spec.get("externalName"):
            yield Lacking("the Service has no `externalName`", "add the name of the host that it stands for")
        return
    ports = spec.get("ports")
    if not ports and spec.get("clusterIP") != "None":
        yield Lacking("the Service has no `ports`", "add `ports: [{port: 80}]`, or `clusterIP: None`")
    for port in ports if is_list(ports) else ():
        if is_mapping(port):
            for field in ("port", "targetPort"):
                number = port.get(field)
                if isinstance(number, int) and not 1 <= number <= 65535:
                    yield f"the Service has a `{field}` {number}", "write a number from 1 to 65535"
            if not port.get("name") and is_list(ports) and len(ports) > 1:
                yield Lacking(
                    "a port of the Service has no `name`", "add one to each, where there are several"
                )


def _ingress(body: Any) -> Iterator[Flaw]:
    """The paths and backends of an Ingress. Source: Kubernetes, pkg/apis/networking/validation."""
    spec = mapping_at(body, "spec")
    if body.get("spec") == spec and not spec.get("rules") and not spec.get("defaultBackend"):
        yield Lacking(
            "the Ingress has neither `rules` nor a `defaultBackend`", "add `rules`, with hosts and paths"
        )
    paths = [path for rule in mappings_at(spec, "rules") for path in mappings_at(rule, "http", "paths")]
    for path in paths:
        text = path.get("path") or ""
        if path.get("pathType") in ("Exact", "Prefix") and not text.startswith("/") and WORD not in text:
            yield f"the path `{text}` of the Ingress does not begin with `/`", f"write `path: /{text}`"
    for backend in (*(path.get("backend") for path in paths), spec.get("defaultBackend")):
        if is_mapping(backend) and not (backend.get("service") or backend.get("resource")):
            yield Lacking(
                "a backend of the Ingress names no service", "add `service: {name: NAME, port: {number: 80}}`"
            )
        port = value_at(backend, ("service", "port"))
        if is_mapping(port) and bool(port.get("name")) == bool(port.get("number")):
            given = "both `name` and `number`" if port.get("name") else "neither `name` nor `number`"
            yield f"a port of the Ingress has {given}", "write `port: {number: 80}`"


def _rules(body: Any) -> Iterator[Flaw]:
    """The rules of a Role. Source: Kubernetes, ValidatePolicyRule in pkg/apis/rbac/validation."""
    kind = body["kind"]
    for rule in mappings_at(body, "rules"):
        paths = rule.get("nonResourceURLs")
        if paths and (kind == "Role" or rule.get("resources") or rule.get("apiGroups")):
            other = (
                "only a ClusterRole can have" if kind == "Role" else "excludes `resources` and `apiGroups`"
            )
            yield f"a rule of the {kind} has `nonResourceURLs`, which {other}", "make a rule of its own of it"
        for field, example in (("apiGroups", '[""]'), ("resources", "[pods]")):
            if not (paths or rule.get(field)):
                yield f"a rule of the {kind} has no `{field}`", f"add them, such as `{field}: {example}`"


def _bound(body: Any) -> Iterator[Flaw]:
    """The role and the subjects of a binding. Source: Kubernetes, ValidateRoleBinding and those around it."""
    kind, role = body["kind"], mapping_at(body, "roleRef")
    roles = ("ClusterRole",) if kind == "ClusterRoleBinding" else ("Role", "ClusterRole")
    found = str(role.get("kind") or roles[0])
    if found not in roles and WORD not in found:
        yield f"the {kind} refers to a `{found}`", instead(found, roles)
    for subject in mappings_at(body, "subjects"):
        of = str(subject.get("kind") or "")
        if of not in _SUBJECTS and WORD not in of:
            yield f"a subject of the {kind} is of the kind `{of}`", instead(of, _SUBJECTS)
        if of == "ServiceAccount" and kind == "ClusterRoleBinding" and not subject.get("namespace"):
            yield f"a ServiceAccount of the {kind} has no `namespace`", "add the namespace of the account"


_SUBJECTS = ("ServiceAccount", "User", "Group")


def _schedule(body: Any) -> Iterator[Flaw]:
    """The schedule of a CronJob."""
    text = mapping_at(body, "spec").get("schedule")
    if isinstance(text, str) and text and WORD not in text:
        try:
            cron(text)
        except NeverComes:
            return
        except GrammarError as error:
            found = f"the schedule of the CronJob cannot be read: expected {error.expected}"
            yield found, "write five fields, as in `0 3 * * *`"


def _of_cron(body: Any) -> Iterator[Flaw]:
    """The Jobs of a CronJob, and its schedule."""
    yield from _schedule(body)
    spec = mapping_at(body, "spec")
    zone = spec.get("timeZone")
    if isinstance(zone, str) and WORD not in zone and not is_zone(zone):
        way = "write a name of the time zone database, such as `Europe/Berlin`"
        yield f"there is no time zone `{zone}`", way
    if is_mapping(job := value_at(body, ("spec", "jobTemplate", "spec"))):
        yield from jobs.of_jobs(job, "the CronJob")


def _of_pod(pod: Object, owner: str, *, listed: bool = True, completed: bool = False) -> Iterator[Flaw]:
    """The pod of an object of an operator; see `pod_flaws` and `container_flaws`."""
    yield from pod_flaws(pod, f"the pod of {owner}", listed=listed)
    yield from container_flaws(pod, f"the pod of {owner}", _ADDED, completed=completed)


_ADDED = ("mpi-job-config", "mpi-job-kubectl", "ssh-auth", "ray-logs", "shared-mem")
"""The volumes that the operators for MPI and Ray add to pods, which other containers may use, too."""


def _of_job_set(body: Any) -> Iterator[Flaw]:
    """A JobSet, and the pods of its jobs."""
    yield from jobs.job_set(body)
    yield from _of_jobs(body.get("spec"), "JobSet")


def _of_jobs(spec: Any, kind: str, *, completed: bool = False) -> Iterator[Flaw]:
    """The pods of the jobs of a JobSet with this spec, nested in an object of the kind."""
    for each in mappings_at(spec, "replicatedJobs"):
        if is_mapping(pod := value_at(each, ("template", "spec", "template", "spec"))):
            yield from _of_pod(pod, f"the job `{each.get('name')}` of the {kind}", completed=completed)


def _of_training(body: Any) -> Iterator[Flaw]:
    """A training job of Kubeflow, and its pods."""
    yield from trainings.mpi(body) if body["kind"] == "MPIJob" else trainings.training(body)
    for owner, pod in trainings.pods(body):
        # The CRD of an MPIJob does not describe the pods.
        yield from _of_pod(pod, owner, listed=body["kind"] != "MPIJob")


def _of_ray(body: Any) -> Iterator[Flaw]:
    """A RayJob or RayCluster, and its pods."""
    yield from applications.ray(body)
    for owner, pod in applications.pods(body):
        yield from _of_pod(pod, owner)


_ANCESTORS = ("trainer", "model-initializer", "dataset-initializer")


def _runtime(body: Any) -> Iterator[Flaw]:
    """The Jobs of a training runtime. Source: Kubeflow Trainer 2.0 to 2.2, pkg/webhooks."""
    spec = mapping_at(body, "spec", "template", "spec")
    yield from _of_jobs(spec, body["kind"], completed=True)  # by the TrainJob
    for each in mappings_at(spec, "replicatedJobs"):
        labels = mapping_at(each, "template", "metadata", "labels")
        step = labels.get("trainer.kubeflow.org/trainjob-ancestor-step")
        count = each.get("replicas", 1)
        if step in _ANCESTORS and isinstance(count, int) and count != 1:
            found = f"the Job `{each.get('name')}` of the {body['kind']} has {count} replicas"
            yield found, "write `replicas: 1`: `numNodes` says how many pods it has"


_KINDS: dict[tuple[str, str], Callable[[Any], Iterator[Flaw]]] = {
    ("v1", "ConfigMap"): _stored,
    ("v1", "Secret"): _secret,
    ("v1", "PersistentVolumeClaim"): _claim,
    ("v1", "Service"): _service,
    ("batch/v1", "CronJob"): _of_cron,
    ("batch/v1", "Job"): jobs.job,
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): _of_job_set,
    ("kubeflow.org/v2beta1", "MPIJob"): _of_training,
    **{("rbac.authorization.k8s.io/v1", kind): _rules for kind in ("ClusterRole", "Role")},
    **{("rbac.authorization.k8s.io/v1", f"{kind}Binding"): _bound for kind in ("ClusterRole", "Role")},
    ("trainer.kubeflow.org/v1alpha1", "ClusterTrainingRuntime"): _runtime,
    ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime"): _runtime,
    ("networking.k8s.io/v1", "Ingress"): _ingress,
    ("ray.io/v1", "RayCluster"): _of_ray,
    ("ray.io/v1", "RayJob"): _of_ray,
    ("sparkoperator.k8s.io/v1beta2", "SparkApplication"): applications.spark,
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): trainings.train_job,
    ("apps/v1", "Deployment"): _deployment,
    ("apps/v1", "StatefulSet"): _stateful,
    **{(f"autoscaling/{version}", "HorizontalPodAutoscaler"): _autoscaler for version in ("v1", "v2")},
    **{("kubeflow.org/v1", kind): _of_training for kind in ("PyTorchJob", "TFJob")},
}
