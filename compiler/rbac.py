"""The service accounts, roles and role bindings that manifests need.

Read off the manifests alone, whoever wrote them: each account gets what its pods do, and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.findings.objects import UnknownRights
from flowdsl.compiler.kinds import POD_BODIES
from flowdsl.compiler.lint.manifest.view import View
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, inside, is_mapping, string
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.template import TAG

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.tree import Object, Path

RBAC = "rbac.authorization.k8s.io"
DEFAULT = "default"
CONTROLLER = "argo"
"""The service account of the controller, and its namespace, as in Argo's own installation."""

#: The verbs that kubectl uses, by the action of a resource template; what it waits for is read with `get`.
#: Source: kubectl, and ExecResource and WaitResource of Argo Workflows.
_VERBS: Mapping[str, tuple[str, ...]] = {
    "get": ("get",),
    "create": ("create", "get"),
    "apply": ("get", "create", "patch"),
    "patch": ("get", "patch"),
    "replace": ("get", "update"),
    "delete": ("get", "list", "watch", "delete"),
}
#: What Argo's own components do with the service account of their pods. Source: Argo Workflows,
#: docs/workflow-rbac.md and the roles `executor`, `agent` and `artifactgc` of its manifests.
_EXECUTOR = (("argoproj.io", "workflowtaskresults", ("create", "patch")),)
_AGENT = (
    ("argoproj.io", "workflowtasksets", ("list", "watch")),
    ("argoproj.io", "workflowtasksets/status", ("patch",)),
)
_COLLECTOR = (
    ("argoproj.io", "workflowartifactgctasks", ("list", "watch")),
    ("argoproj.io", "workflowartifactgctasks/status", ("patch",)),
)
#: Cluster-scoped kinds, which no Role can allow.
_OF_THE_CLUSTER = {
    *("namespaces", "nodes", "persistentvolumes", "storageclasses", "priorityclasses", "runtimeclasses"),
    *("clusterroles", "clusterrolebindings", "customresourcedefinitions", "clusterworkflowtemplates"),
}
#: How kubectl's flags may name the usual kinds: their group, and their names, the resource first.
_WORDS = (
    ("", ("pods", "pod", "po")),
    ("", ("configmaps", "configmap", "cm")),
    ("", ("secrets", "secret")),
    ("", ("services", "service", "svc")),
    ("", ("persistentvolumeclaims", "persistentvolumeclaim", "pvc")),
    ("batch", ("jobs", "job")),
    ("batch", ("cronjobs", "cronjob", "cj")),
    ("apps", ("deployments", "deployment", "deploy")),
    ("apps", ("statefulsets", "statefulset", "sts")),
    ("apps", ("daemonsets", "daemonset", "ds")),
    ("argoproj.io", ("workflows", "workflow", "wf")),
)
_NAMED = {word: (group, words[0]) for group, words in _WORDS for word in words}

Grant = tuple[str, str, tuple[str, ...]]  # API group, resource, verbs


class Granted(NamedTuple):
    """The documents for some manifests, and for each manifest what cannot be determined."""

    documents: list[Object]
    problems: list[list[Problem]]


def rbac(manifests: Iterable[Object]) -> Granted:
    """The service accounts, roles and bindings for valid manifests."""
    documents: dict[tuple[str, ...], Object] = {}
    problems: list[list[Problem]] = []
    names: set[str] = set()
    for manifest in manifests:
        view = View(manifest)
        needs = _Needs(view, names)
        view.clear()
        problems.append(needs.problems)
        for document in needs.documents():
            metadata = document["metadata"]
            key = (document["kind"], metadata["name"], metadata.get("namespace", ""))
            documents.setdefault(key, document)  # several may share a service account
    return Granted(list(documents.values()), problems)


class _Needs:
    """The permissions that the pods of one manifest need, by service account."""

    def __init__(self, view: View, names: set[str]) -> None:
        self.view = view
        metadata = view.metadata
        self.name = string(metadata, "name") or string(metadata, "generateName").rstrip("-")
        if self.name in names:  # of another kind
            self.name = f"{self.name}:{view.kind.lower()}"
        names.add(self.name)
        self.namespace = string(metadata, "namespace")
        self.account = string(view.spec, "serviceAccountName") or DEFAULT
        self.grants: dict[str, dict[tuple[str, str], list[str]]] = {self.account: {}}
        self.caches: list[str] = []
        self.problems: list[Problem] = []
        for template in view.templates:
            self._template(template)
        collection = inside(view.spec, "artifactGC")
        if collection.get("strategy") not in (None, "Never"):
            self._grant(string(collection, "serviceAccountName") or self.account, _COLLECTOR)

    def _template(self, template: Template) -> None:
        data = template.data
        account = string(data, "serviceAccountName") or self.account
        path: Path = (*template.path, "serviceAccountName")
        if "{{" in account:
            reason = "its account is known only when it runs"
            self.problems.append(Problem(path, UnknownRights(template.title, reason)))
            return
        if template.body in POD_BODIES:
            executor = string(data, "executor", "serviceAccountName")
            executor = executor or string(self.view.spec, "executor", "serviceAccountName")
            self._grant(executor or account, _EXECUTOR)
        if template.body in ("http", "plugin"):
            self._grant(self.account, _AGENT)
        if template.body == "resource":
            self._resource(template, account)
        if (cache := string(data, "memoize", "cache", "configMap", "name")) and cache not in self.caches:
            self.caches.append(cache)

    def _resource(self, template: Template, account: str) -> None:
        resource: Object = template.data["resource"]
        verbs = _VERBS.get(resource.get("action") or "", ())
        path = (*template.path, "resource")
        for kind in _kinds(resource):
            if isinstance(kind, str):
                self.problems.append(Problem(path, UnknownRights(template.title, kind)))
            elif kind[1] in _OF_THE_CLUSTER:
                reason = f"a Role cannot allow `{kind[1]}`, which are of no namespace"
                self.problems.append(Problem(path, UnknownRights(template.title, reason)))
            else:
                self._grant(account, ((*kind, verbs),))

    def _grant(self, account: str, grants: Iterable[Grant]) -> None:
        held = self.grants.setdefault(account, {})
        for group, resource, verbs in grants:
            known = held.setdefault((group, resource), [])
            known += [verb for verb in verbs if verb not in known]

    def documents(self) -> Iterator[Object]:
        """The service accounts that have a name, then a role and a binding for each, then those for caches."""
        needed = {account: held for account, held in self.grants.items() if held}
        for account in needed:
            if account != DEFAULT:
                yield self._object("v1", "ServiceAccount", account)
        for account, held in needed.items():
            # Neither a pipeline nor a service account has a colon in its name, so these are distinct.
            name = self.name if account == self.account else f"{self.name}:account:{account}"
            rules = [
                {"apiGroups": [group], "resources": [resource], "verbs": verbs}
                for (group, resource), verbs in held.items()
            ]
            yield from self._role(name, rules, {"kind": "ServiceAccount", "name": account})
        if self.caches:
            yield from self._role(f"{self.name}:cache", _cache_rules(self.caches), _CONTROLLER_SUBJECT)

    def _role(self, name: str, rules: list[Object], subject: Object) -> Iterator[Object]:
        """A role and its binding: a ClusterRole for a cluster template, bound where it is applied."""
        kind = "ClusterRole" if self.view.kind == "ClusterWorkflowTemplate" else "Role"
        yield {**self._object(f"{RBAC}/v1", kind, name), "rules": rules}
        if self.namespace and "namespace" not in subject:
            subject = {**subject, "namespace": self.namespace}
        yield {
            **self._object(f"{RBAC}/v1", "RoleBinding", name),
            "roleRef": {"apiGroup": RBAC, "kind": kind, "name": name},
            "subjects": [subject],
        }

    def _object(self, version: str, kind: str, name: str) -> Object:
        metadata: Object = {"name": name}
        if self.namespace and kind != "ClusterRole":
            metadata["namespace"] = self.namespace
        return {"apiVersion": version, "kind": kind, "metadata": metadata}


_CONTROLLER_SUBJECT: Object = {"kind": "ServiceAccount", "name": CONTROLLER, "namespace": CONTROLLER}


def _cache_rules(caches: list[str]) -> list[Object]:
    """What the controller needs to do with the ConfigMaps of caches; one named at run time may be any."""
    used: Object = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "update"]}
    if not any("{{" in name for name in caches):
        used["resourceNames"] = caches
    return [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}, used]


def _kinds(resource: Object) -> Iterator[tuple[str, str] | str]:
    """The groups and resources that a resource template uses, or why they cannot be determined."""
    manifest: str = resource.get("manifest") or ""
    if resource.get("manifestFrom") is not None:
        yield "its manifest is a file that is made when it runs"
    elif manifest:
        yield from _in_manifest(manifest)
    else:
        yield _flagged([str(flag) for flag in resource.get("flags") or ()])


def _in_manifest(manifest: str) -> Iterator[tuple[str, str] | str]:
    import yaml

    try:
        found: list[Any] = list(yaml.safe_load_all(TAG.sub(_HOLE, manifest)))
    except yaml.YAMLError:
        yield "its manifest can be read only when it runs"
        return
    for one in found:
        if not is_mapping(one):
            continue
        for each in entries(one, "items") or [one]:
            version, kind = string(each, "apiVersion"), string(each, "kind")
            if not version or not kind or _HOLE in version + kind:
                yield "the kind of its object is known only when it runs"
            else:
                yield version.rpartition("/")[0], plural(kind)


_HOLE = "flowdsl-hole"


def _flagged(flags: list[str]) -> tuple[str, str] | str:
    """The resource in kubectl's flags, as in `["jobs.batch", "--selector", "app=x"]` or `["pod/x"]`."""
    word = next((flag for flag in flags if not flag.startswith("-")), "").partition("/")[0]
    if word.lower() in _NAMED:
        return _NAMED[word.lower()]
    resource, dot, group = word.partition(".")
    return (group, resource) if dot and "{{" not in word else "its flags do not say what it is about"


def plural(kind: str) -> str:
    """The resource name of a kind. Source: k8s.io/apimachinery, UnsafeGuessKindToResource."""
    word = kind.lower()
    if word == "endpoints":
        return word
    if word.endswith("s"):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
