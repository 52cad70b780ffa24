"""What older versions of Argo lack: the fields that came after them, and one thing they do not do.

Source: the schema that Argo publishes with each release (api/jsonschema/schema.json of v3.6.0, v3.7.0, v4.0.0 and
v4.1.0), compared with the next. Whatever is not named here exists since 3.6 at least, in the same spelling: the lists
`schedules`, `mutexes` and `semaphores` came with 3.6, and their singular forms went with 4.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.argo_versions import LATEST, VERSIONS
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.schema import fields, is_type
from flowdsl.compiler.schema.findings import MissingField, RepeatedEntry, UnknownField, WrongType
from flowdsl.compiler.schema.table import gone, table
from flowdsl.compiler.tree import is_list, is_mapping
from flowdsl.diagnostic import Finding
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.compiler.tree import Path

_SINCE: dict[str, dict[str, tuple[str, ...]]] = {
    "3.7": {
        "Backoff": ("cap",),
        "Mutex": ("database",),
        "PodSecurityContext": ("seLinuxChangePolicy", "supplementalGroupsPolicy"),
        "ResourceClaim": ("request",),
        "SemaphoreRef": ("database",),
        "Template": ("annotations",),
        "Lifecycle": ("stopSignal",),
        "Volume": ("image",),
    },
    "4.0": {
        "Artifact": ("plugin",),
        "ArtifactLocation": ("plugin",),
        "ArtifactPaths": ("plugin",),
    },
    "4.1": {
        "Container": ("restartPolicyRules",),
        "ContainerNode": ("restartPolicyRules",),
        "EnvVarSource": ("fileKeyRef",),
        "HTTPArtifact": ("saveStreamViaFile",),
        "S3Artifact": ("addressingStyle",),
        "ScriptTemplate": ("restartPolicyRules",),
        "Template": ("pendingTimeout", "podResources", "resourceClaims"),
        "UserContainer": ("restartPolicyRules",),
        "VolumeProjection": ("podCertificate",),
        "WorkflowSpec": ("executorPlugins", "podResources", "resourceClaims"),
    },
}
SINCE = {
    (kind, field): version
    for version, types in _SINCE.items()
    for kind, names in types.items()
    for field in names
}
"""The version that introduced a field of a type, for fields newer than the oldest supported version."""

#: An expression with a fallback for a task that did not run. Such a reference waits for ever before
#: 3.7.16 and 4.0.7. Source: docs/upgrading.md, "Outputs of skipped and omitted steps and tasks now resolve".
_FALLBACK = regex(r"\b(?:tasks|steps)\[[^}]* \?\? ")


class TooNew(Finding):
    """A field that the cluster's version of Argo does not have."""

    code = "FD692"
    title = "`{field}` exists since Argo {since}, but this is for {version}"
    label = "not in Argo {version}"
    help = (
        "leave it out for this cluster; if it has Argo {since} by now, say so: --argo-version {since}, "
        'or argo = "{since}" in its table of flowdsl.toml'
    )
    field: str
    since: str
    version: str


class NoFallback(Finding):
    """A choice between the results of branches, for a version of Argo that cannot make it."""

    code = "FD693"
    title = "Argo {version} cannot choose by whether a task ran: the run would wait forever"
    label = "takes the result of a task that may not run"
    help = (
        "this works since Argo 3.7.16 and 4.0.7; for {version}, put the steps under the condition into a "
        "pipeline and call that, or let one step run in both cases"
    )
    version: str


def was_right(problem: Problem, version: str) -> bool:
    """Whether a finding of the schema does not apply to a version of Argo: its CRDs have the schema since 4.0 only.

    Before, the fields removed in 4.0 existed, a parameter accepted numbers and booleans, a CPU fraction was a number,
    the last of several variables with one name counted, and memoization needed no `maxAge`.
    """
    finding, path = problem.finding, problem.path
    if version >= "4":
        return False
    if isinstance(finding, UnknownField):
        return str(finding.steps[-1]) in gone(finding.owner)
    if isinstance(finding, RepeatedEntry):
        return path[-2:-1] == ("env",)
    if isinstance(finding, MissingField):
        return finding.field == "maxAge"
    if not (isinstance(finding, WrongType) and isinstance(finding.value, (bool, int, float))):
        return False
    if finding.expression == "quantity":
        return path[-1] in ("cpu", "memory")
    of_parameter = path[-3:-2] == ("parameters",) and path[-1] in ("value", "default")
    return of_parameter or path[-2:-1] == ("enum",) or path[-2:] == ("valueFrom", "default")


def misfits(manifest: dict[str, Any], version: str) -> Iterator[Problem]:
    """The parts of a manifest that a version of Argo does not support."""
    at = VERSIONS.index(version)
    if version != LATEST:
        newer = {key: since for key, since in SINCE.items() if VERSIONS.index(since) > at}
        kind = str(manifest.get("kind"))
        yield from _walk(manifest, kind if kind in table()["types"] else "any", (), newer, version)


def _walk(
    node: object,
    expression: str,
    path: Path,
    newer: dict[tuple[str, str], str],
    version: str,
) -> Iterator[Problem]:
    if is_mapping(node):
        known: Mapping[str, str] = fields(expression) if is_type(expression) else {}
        below = expression.partition(":")[2] or "any"
        for key, value in node.items():
            since = newer.get((expression, key))
            if since is not None:
                yield Problem((*path, key), TooNew(key, since, version), on_key=True)
            else:
                yield from _walk(value, known.get(key, below), (*path, key), newer, version)
    elif is_list(node):
        below = expression.partition(":")[2] or "any"
        for index, value in enumerate(node):
            yield from _walk(value, below, (*path, index), newer, version)
    elif (
        version == VERSIONS[0]
        and isinstance(node, str)
        and _is_formula(node, path)
        and _FALLBACK.search(node)
    ):
        yield Problem(path, NoFallback(version))


def _is_formula(text: str, path: Path) -> bool:
    return "{{=" in text or path[-1] == "expression"
