"""Where a field that its type does not have was probably meant to stand, and what to write there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.kinds import BODIES
from flowdsl.compiler.schema.table import expression_at, fields, is_type, kinds
from flowdsl.compiler.tree import is_list, is_mapping, value_at
from flowdsl.diagnostic import near

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from flowdsl.compiler.tree import Path

_BODIES = frozenset(BODIES)
_CALLS = ("DAGTask", "WorkflowStep")
CONTAINERS = ("Container", "ContainerNode", "ScriptTemplate", "UserContainer")

_OF_CALL = {"condition": "when", "if": "when", **dict.fromkeys(("forEach", "foreach", "loop"), "withItems")}
_OF_CONTAINER = {"entrypoint": "command", "environment": "env"}
_SAME: Mapping[str, Mapping[str, str]] = {
    "ArchiveStrategy": dict.fromkeys(("gz", "gzip", "targz", "tgz"), "tar"),
    "Artifact": {"value": "from"},
    "AzureArtifact": {"key": "blob", "path": "blob"},
    "ConfigMapVolumeSource": {"configMapName": "name"},
    "ContainerSetRetryStrategy": dict.fromkeys(("attempts", "limit", "maxRetries"), "retries"),
    "GitArtifact": {
        "repository": "repo",
        "url": "repo",
        **dict.fromkeys(("commit", "ref", "tag"), "revision"),
    },
    "HTTP": {"timeout": "timeoutSeconds", "uri": "url"},
    "HTTPArtifact": {"uri": "url"},
    "LabelValueFrom": {"value": "expression"},
    "Memoize": {"expiry": "maxAge", "ttl": "maxAge"},
    "Parameter": {"from": "value"},
    "NFSVolumeSource": {"host": "server"},
    "RetryStrategy": dict.fromkeys(("attempts", "maxAttempts", "maxRetries", "retries"), "limit"),
    "StopStrategy": {"condition": "expression"},
    "SuspendTemplate": dict.fromkeys(("delay", "seconds", "time", "timeout"), "duration"),
    "ValueFrom": {"file": "path"},
    "Volume": {"claim": "persistentVolumeClaim", "pvc": "persistentVolumeClaim"},
    "VolumeMount": {"path": "mountPath"},
    "WorkflowSpec": {"exitHandler": "onExit", "priorityClassName": "podPriorityClassName"},
    **{f"ConfigMap{use}": {"configMapName": "name"} for use in ("EnvSource", "KeySelector", "Projection")},
    **{f"Secret{use}": {"secretName": "name"} for use in ("EnvSource", "KeySelector", "Projection")},
    **dict.fromkeys(CONTAINERS, _OF_CONTAINER),
    "ScriptTemplate": {**_OF_CONTAINER, "code": "source", "script": "source"},
    **{f"{store}Artifact": {"object": "key", "path": "key"} for store in ("GCS", "OSS", "S3")},
    "DAGTask": {**_OF_CALL, "after": "dependencies"},
    "WorkflowStep": _OF_CALL,
}
"""Fields of other types, or other tools, and those of this type with the same meaning."""

_GROUPS = "steps run group after group: put the step into a later group, or write a `dag`"
_AT_CALL = "write it at the task or step that calls the template"
_CALLS_ONE = "write `steps` or a `dag`, whose steps or tasks call other templates"
_AMOUNT = "write it below `resources`, in `limits` or `requests`"
_DEVICE = "write it below `resources.limits`, under the name of the device, such as `nvidia.com/gpu`"
_NEVER_AGAIN = "a pod of Argo is never started again: `retryStrategy` retries a template"
_MOUNT = "write it in `volumeMounts` of the container"
_AMOUNTS = {"cpu": _AMOUNT, "memory": _AMOUNT, "gpu": _DEVICE, "gpus": _DEVICE}
_SOURCE = "only a script has one: write it in `script`, in place of `container`"
_SCRIPT = "write `script` in place of `container`, with the text as its `source`"
_OF_SCRIPTS = {"script": _SCRIPT, "source": _SOURCE}
_OF_HOOKS = "write it as a template of its own among `templates`, and name it in `template`"
_WRITTEN = {"creationTimestamp": "remove it: a cluster writes it"}

_NOWHERE: Mapping[str, Mapping[str, str]] = {
    "Container": _AMOUNTS,
    "EmbeddedMetadata": _WRITTEN,
    "LifecycleHook": dict.fromkeys(("inline", *BODIES), _OF_HOOKS),
    "Metadata": {
        **_WRITTEN,
        **dict.fromkeys(("generateName", "name"), "remove it: Argo names the pods itself"),
        "namespace": "remove it: a pod is in the namespace of its workflow",
    },
    "PersistentVolumeClaimSpec": {"storage": "write `resources: {requests: {storage: ...}}`"},
    "ScriptTemplate": _AMOUNTS,
    "Template": {
        **dict.fromkeys(("continueOn", "dependencies", "depends", "when"), _AT_CALL),
        **dict.fromkeys(("withItems", "withParam", "withSequence"), _AT_CALL),
        **_AMOUNTS,
        "arguments": "write `inputs` for what the template takes, and `arguments` at the call of it",
        "restartPolicy": _NEVER_AGAIN,
        "source": _SOURCE,
        **dict.fromkeys(("template", "templateRef"), _CALLS_ONE),
    },
    "ValueFrom": {
        "secretKeyRef": "a parameter is not a secret: write it in the `env` of the container that reads it"
    },
    "Volume": dict.fromkeys(("mountPath", "readOnly", "subPath"), _MOUNT),
    "WorkflowSpec": {
        "imagePullPolicy": "write it in each container",
        "onFailure": "write `onExit`: what it runs may ask for `{{workflow.status}}` in a `when`",
        "params": "write `arguments`, and the list below its `parameters`",
        "restartPolicy": _NEVER_AGAIN,
        "timeout": "write `activeDeadlineSeconds`, with a number of seconds",
        "ttlSecondsAfterFinished": "write `ttlStrategy: {secondsAfterCompletion: ...}`",
    },
    "WorkflowStep": {"dependencies": _GROUPS, "depends": _GROUPS},
    "WorkflowTemplateRef": dict.fromkeys(
        ("artifacts", "parameters"), "write it below `arguments` of the workflow"
    ),
}
"""Fields without an equivalent in this type, with what to do."""

_OF_CRON = "only a CronWorkflow has it: its `spec.workflowSpec` is the `spec` of a Workflow"


def same(owner: str, field: str) -> str | None:
    """The field of a type that is equivalent to an unknown one, or the same word in the plural."""
    return _SAME.get(owner, {}).get(field) or (f"{field}s" if f"{field}s" in fields(owner) else None)


def nowhere(owner: str, path: Sequence[str | int], kind: str) -> str:
    """What to do about the last field of a path if it has no place nearby; empty if it may have one."""
    field = str(path[-1])
    if owner == "Parameter" and field == "path" and "outputs" not in path:
        return "a parameter is a text, not a file: write the entry below `artifacts`, or a `value`"
    if owner == "WorkflowSpec" and kind != "CronWorkflow":
        of_cron = {*fields("CronWorkflowSpec"), "schedule"} - fields(owner).keys() - {"when"}
        if field in of_cron:
            return _OF_CRON
    if kind in kinds():  # and not a container of another object
        if owner in ("Template", "WorkflowSpec", *CONTAINERS) and field in _OF_PODS:
            return f"it is a field of pods: write `podSpecPatch`, a text with `{field}` in it"
        if owner == "Container" and field in _OF_SCRIPTS:
            return _OF_SCRIPTS[field]
    return _NOWHERE.get(owner, {}).get(field, "")


_OF_PODS = (
    "enableServiceLinks",
    "hostIPC",
    "hostPID",
    "hostUsers",
    "hostname",
    "nodeName",
    "os",
    "overhead",
    "preemptionPolicy",
    "readinessGates",
    "runtimeClassName",
    "setHostnameAsFQDN",
    "shareProcessNamespace",
    "subdomain",
    "terminationGracePeriodSeconds",
    "topologySpreadConstraints",
)
"""Fields of a pod that containers, templates and workflows lack."""


def emptied(owner: str, path: Sequence[str | int], document: Any) -> Path | None:
    """The path of the last field below an adjacent key without a value, if it is valid there.

    A field that is meant to be below a key, but has too little indentation, is next to it.
    """
    beside: dict[str, Any] = value_at(document, path[:-1]) or {}
    for key, expression in fields(owner).items():
        if key in beside and beside[key] is None and is_type(expression) and path[-1] in fields(expression):
            return (*path[:-1], key, path[-1])
    return None


def home(kind: str, path: Sequence[str | int], document: Any) -> Path | None:
    """The nearest path where the last field would be valid and is free: further out, one level in, or adjacent.

    A field with too little indentation after a list belongs to the last entry of it.
    """
    parent, field = tuple(path[:-1]), str(path[-1])
    owner = expression_at(kind, parent)
    if owner in _CALLS and (called := _called(parent, field, document)) is not None:
        return (*called, field)
    if parent == ("spec",) and field in _OF_METADATA:
        return ("metadata", field)
    for depth in range(len(parent) - 1, -1, -1):
        around = expression_at(kind, parent[:depth])
        if around is None or not is_type(around) or not _takes(around, parent[:depth], path, document):
            continue
        # Nothing can be added to a scalar.
        if not isinstance(value_at(document, (*parent[:depth], field)), (str, int, float)):
            return (*parent[:depth], field)
    found = min(_within(owner or "", parent, path, document), default=None)
    if found is not None:
        return (*found[-1], field)
    return next(((*there, field) for there in _beside(kind, parent, field, document)), None)


_OF_METADATA = ("annotations", "generateName", "labels", "name", "namespace")


def _within(
    owner: str, parent: Path, path: Sequence[str | int], document: Any
) -> Iterator[tuple[bool, int, int, int, Path]]:
    """The inner objects that accept the last field, first those that exist, and accept more like it."""
    if not owner:
        return
    written: dict[str, Any] = value_at(document, parent) or {}
    for order, (child, each) in enumerate(fields(owner).items()):
        value = value_at(document, (*parent, child))
        outer, _, inner = each.rpartition(":")
        count = len(value) if outer == "list" and is_list(value) else 0
        last = (count - 1,) if count else ()
        there = (*parent, child, *last)
        if not is_type(inner) or (outer and not last) or not _takes(inner, there, path, document):
            continue
        if child in _BODIES and child not in written and not _BODIES.isdisjoint(written):
            continue
        if child == "templateDefaults" and path[-1] in _BODIES:
            continue
        free = value_at(document, (*there, path[-1])) is None and value is not None
        alike = sum(one in written and one not in fields(owner) for one in fields(inner))
        yield not free, -alike, _USUAL.index(child) if child in _USUAL else len(_USUAL), order, there


_USUAL = ("s3", "http", "podMetadata", "container", "script")
"""The fields that are preferred if there is a choice."""


def _beside(kind: str, parent: Path, field: str, document: Any) -> Iterator[Path]:
    """Objects that accept a field: of its parent's name further out or in; next to `metadata`, `spec`."""
    around: list[Path] = [("spec",)] if parent == ("metadata",) else []
    if len(parent) > 1 and isinstance(parent[-1], str):
        around += [(*parent[:depth], parent[-1]) for depth in range(len(parent) - 2, 0, -1)]
        owner = value_at(document, parent[:-1])
        written = owner.items() if is_mapping(owner) else ()
        around += [(*parent[:-1], key, parent[-1]) for key, each in written if is_mapping(each)]
    for there in around:
        inner, outer = (expression_at(kind, each) or "any" for each in (there, there[:-1]))
        if is_type(inner) and is_type(outer) and field in fields(inner):
            yield there


def _called(call: Path, field: str, document: Any) -> Path | None:
    """The template of a call, or its container, or the inline one, if a field of theirs is in the call."""
    templates = call[: call.index("templates") + 1] if "templates" in call else ()
    wanted: object = value_at(document, (*call, "template"))
    if not wanted:
        return (*call, "inline") if field in _BODIES else None
    if field not in _OF_TEMPLATES and field not in _OF_CONTAINERS:
        return None
    listed: object = value_at(document, templates)
    for index in range(len(listed) if is_list(listed) else 0):
        there = (*templates, index)
        if value_at(document, (*there, "name")) != wanted:
            continue
        bodies = [(*there, body) for body in ("container", "script")]
        owners = [there] if field in _OF_TEMPLATES else [each for each in bodies if value_at(document, each)]
        return next((each for each in owners if value_at(document, (*each, field)) is None), None)
    return None


_OF_TEMPLATES = frozenset(
    (
        "activeDeadlineSeconds",
        "affinity",
        "inputs",
        "memoize",
        "metadata",
        "nodeSelector",
        "outputs",
        "podSpecPatch",
        "retryStrategy",
        "sidecars",
        "synchronization",
        "timeout",
        "tolerations",
        "volumes",
    )
)
_OF_CONTAINERS = frozenset(("args", "command", "env", "envFrom", "image", "resources", "volumeMounts"))
"""Fields of templates and containers that are misplaced at their calls."""


def _takes(owner: str, there: Path, path: Sequence[str | int], document: Any) -> bool:
    """Whether a type accepts the last field of a path, with its value."""
    field = str(path[-1])
    expression = fields(owner).get(field)
    value: object = value_at(document, path)
    if expression is None:
        return False
    if field in _BODIES and owner == "Template":
        beside: object = value_at(document, there)
        if is_mapping(beside) and not _BODIES.isdisjoint(beside):
            return False
    if not is_mapping(value):
        return True
    if not is_type(expression):
        return expression not in ("boolean", "string")
    return not value or not fields(expression).keys().isdisjoint(value)


def entry_with(kind: str, path: Sequence[str | int], document: Any) -> str:
    """What to do about a field that belongs to the entries of a list that does not exist yet."""
    owner, field = expression_at(kind, path[:-1]), str(path[-1])
    found = [
        (child, inner)
        for child, outer, inner in (
            (child, *each.partition(":")[::2]) for child, each in fields(owner or "").items()
        )
        if outer == "list" and is_type(inner) and field in fields(inner)
    ]
    if len(found) != 1 or isinstance(value_at(document, path), (int, float)):
        return ""
    return f"it is a field of {found[0][1]}: write it in an entry of `{found[0][0]}`"


def meant(field: str, known: Iterable[str]) -> str | None:
    """The probable field: one with another first letter or a word before it, a similar one, or one that begins so."""
    names = list(known)
    close = next((name for name in names if name.lower() == field.lower()), None)
    if close is not None:
        return close
    tails = [name for name in names if len(name) > 3 and name[1:].lower() == field[1:].lower()]
    if len(tails) == 1:
        return tails[0]
    longer = [name for name in names if name.endswith(field[:1].upper() + field[1:])]
    begun = [name for name in names if name[:4] == field[:4]]
    close = longer[0] if len(longer) == 1 else near(field, names)
    alike = close is not None and (close[:1] == field[:1] or close in longer)
    return begun[0] if not alike and len(begun) == 1 else close
