"""`resource` templates and their manifests."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.jobs import TTL_AT, asks_for_end
from flowdsl.compiler.kinds import MAKING
from flowdsl.compiler.lint.pods.api_versions import unserved
from flowdsl.compiler.lint.pods.common_objects import flaws as shape_flaws
from flowdsl.compiler.lint.pods.untyped import WORD, Lacking, documents_in, key_at, typed_in, unreadable
from flowdsl.compiler.lint.pods.workloads import flaws as workload_flaws
from flowdsl.compiler.lint.variables.scope import OF_TRIES
from flowdsl.compiler.problem import Problem, Various
from flowdsl.compiler.tree import is_list, is_mapping, string, value_at
from flowdsl.diagnostic import instead, suggest
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import may_be_variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.lint.pods.untyped import Flaw
    from flowdsl.compiler.problem import Part
    from flowdsl.compiler.tree import Object


class ResourceManifest(Various):
    """A `resource` template without one readable manifest."""

    code = "FD559"


class PartOfObject(Various):
    """An object of a `resource` template that cannot be created, but may change one that exists."""

    code = "FD743"
    severity = "warning"
    label = "`apply` fails here if there is no such object yet"


def resource_manifests(view: View) -> Iterator[Problem]:
    """A `resource` template has one manifest, which YAML can read, or an artifact that exists."""
    for template in view.templates:
        resource: Object | None = template.data.get("resource")
        if resource is None:
            continue
        path = (*template.path, "resource")
        manifest: str = resource.get("manifest") or ""
        if (flaw := _flaw(resource, manifest)) is not None:
            place, part = ((*path, "manifest"), _part(manifest, flaw[0])) if manifest else (path, None)
            fits = resource.get("action") == "apply" and isinstance(flaw, Lacking)
            found, way = (each.replace(WORD, "{{...}}") for each in flaw)
            yield Problem(place, (PartOfObject if fits else ResourceManifest)(found, way), part=part)
        if resource.get("action") == "delete":
            yield from _asked_of_nothing(template, resource)
        origin: Object | None = resource.get("manifestFrom")
        both = resource.get("manifest") is not None and origin is not None
        if both or (not manifest and origin is None and resource.get("action") not in ("get", "delete")):
            found = "both `manifest` and `manifestFrom`" if both else "neither `manifest` nor `manifestFrom`"
            finding = ResourceManifest(f"the resource has {found}", "give exactly one of them")
            yield Problem(path, finding)
        artifact = string(resource, "manifestFrom", "artifact", "name")
        if artifact and artifact not in template.artifacts:
            way = suggest(artifact, template.artifacts) or f"declare `{artifact}` in the inputs"
            finding = ResourceManifest(f"there is no input artifact `{artifact}`", way)
            yield Problem((*path, "manifestFrom", "artifact", "name"), finding)
        if manifest and (fault := unreadable(manifest, partial(_is_early, view.tries(template)))) is not None:
            reason, part = fault
            quotes = "put quotes around the braces, or " if "{{" in manifest else ""
            way = f"{quotes}correct the text of the manifest"
            finding = ResourceManifest(f"the manifest is not YAML: {reason}", way)
            yield Problem((*path, "manifest"), finding, part=part)


_QUOTED = regex(r"`([^`]+)`")
_NAMED = regex(r"(?<!no )`([^`]+)`")
"""The words in a message that stand in what it is about, and not those that are missing there."""


def _part(manifest: str, found: str) -> Part | None:
    """Where a manifest has what a message names: a path of fields, or the last word that is there once."""
    paths = (name for name in _QUOTED.findall(found) if "." in name)
    if (place := _first(manifest, paths)) is not None:
        return place
    names: list[str] = _NAMED.findall(found)
    places: list[Part] = []
    for name in names:
        for word in (name, name.rpartition(".")[2].partition("[")[0]):
            spans = [one.span() for one in re.finditer(rf"(?<![\w.-]){re.escape(word)}(?![\w.-])", manifest)]
            if spans:
                break
        places += spans if len(spans) == 1 else ()
    return max(places, default=None) or _first(manifest, names)


def _first(manifest: str, paths: Iterable[str]) -> Part | None:
    """The place of the first path that leads to a key of a manifest."""
    return next(filter(None, (key_at(manifest, path) for path in paths)), None)


def owners(view: View) -> Iterator[Problem]:
    """Objects are in the namespace of the run that writes and owns them. Source: Kubernetes, attemptToDeleteItem."""
    home = "" if view.kind == "ClusterWorkflowTemplate" else string(view.metadata, "namespace")
    for template in view.templates if home else ():
        resource: Object = template.data.get("resource") or {}
        manifest: str = resource.get("manifest") or ""
        writes = resource.get("setOwnerReference") and resource.get("action") not in ("get", "delete")
        if not writes or "namespace" not in manifest:
            continue
        for each in documents_in(manifest) or ():
            metadata = each.get("metadata") if is_mapping(each) else None
            away = str(metadata.get("namespace") or home) if is_mapping(metadata) else home
            if away != home and WORD not in away:
                found = f"the object is in `{away}`, and the run that owns it in `{home}`"
                way = "remove `setOwnerReference`: Kubernetes deletes an object whose owner is elsewhere"
                place = re.search(rf"\bnamespace['\"]?\s*:\s*['\"]?({re.escape(away)})", manifest)
                part = None if place is None else place.span(1)
                yield Problem(
                    (*template.path, "resource", "manifest"), ResourceManifest(found, way), part=part
                )


def _asked_of_nothing(template: Template, resource: Object) -> Iterator[Problem]:
    """Conditions and outputs of a deleted object. Source: Argo Workflows, cmd/argoexec/commands/resource.go."""
    asked = [
        (("resource", field), f"`{field}`")
        for field in ("successCondition", "failureCondition")
        if resource.get(field)
    ]
    asked += [(("outputs", "parameters"), "output parameters")] if template.output_parameters else []
    for place, what in asked:
        found = f"a template that deletes an object has {what}, which fails in the run"
        way = "remove it: nothing is asked of an object that is gone"
        yield Problem((*template.path, *place), ResourceManifest(found, way), on_key=True)


def _flaw(resource: Object, manifest: str) -> Flaw | None:
    """What kubectl refuses in a readable manifest, and the remedy; None if nothing.

    Source: Argo Workflows, ExecResource and getKubectlArguments.
    """
    action, flags = resource.get("action"), resource.get("flags")
    for flag in flags or ():
        name = flag.partition("=")[0]
        if flag.startswith("--") and " " in name.strip() and "{{" not in name:
            word, _, rest = flag.partition(" ")
            way = f"write `{word}={rest.strip()}`"
            return f"kubectl has no flag `{flag}`: each entry is one word", way
    if not manifest:
        named = resource.get("manifestFrom") or action not in ("get", "delete")
        if named or not _names_nothing(str(action), flags or []):
            return None
        way = "add `flags` such as `[configmap, NAME]`, or `manifest`"
        if flags:
            way = "name it in `flags`, as in `[configmap, NAME]` or `[pods, --selector, app=a]`"
        return f"the resource does not say what to {action}", way
    if action == "patch" and resource.get("mergeStrategy") == "json":
        way = "add `flags` such as `[deployment, NAME]`"
        if not flags:
            return "the patch does not say which object it changes", way
        return _patch_flaw(typed_in(manifest))
    documents = documents_in(manifest)
    if documents is None:
        return None  # which is told as such
    objects = [each for each in documents if each]
    if not objects:
        return "the manifest is empty", "write `apiVersion`, `kind`, `metadata` and what else the object has"
    if len(objects) > 1 and action != "delete":
        way = "make a template for each of them: Argo reads the answer about one object"
        return f"the manifest has {len(objects)} objects", way
    found = filter(
        None, (_incomplete(each, action, flags, resource.get("mergeStrategy")) for each in objects)
    )
    if (lacking := next(found, None)) is not None or action not in MAKING:
        return lacking
    flaws = [*shape_flaws(typed_in(manifest), flags), *workload_flaws(objects[0])]
    if asks_for_end(string(resource, "successCondition")):
        flaws += filter(None, [_gone(objects[0])])
    certain = [each for each in flaws if action != "apply" or not isinstance(each, Lacking)]
    return next(iter(certain or flaws), None)


def _gone(body: Object) -> Flaw | None:
    """An object that is deleted as soon as it has ended: Argo finds none when it looks, and the run fails.

    Source: Argo Workflows, WaitResource, which looks every five seconds.
    """
    path = TTL_AT.get(str(body["kind"]), ())
    if not path or value_at(body, path) != "0":
        return None
    field, kind = path[-1], body["kind"]
    found = f"with `{field}` 0, the {kind} is deleted as soon as it has ended, and Argo looks every 5 seconds"
    return found, f"let `{field}` be 60 or more"


_OPERATIONS = ("add", "copy", "move", "remove", "replace", "test")


def _patch_flaw(operations: Any) -> Flaw | None:
    """What is invalid in the operations of a JSON patch. Source: RFC 6902."""
    if is_mapping(operations):
        way = "write a list, as in `[{op: replace, path: /spec/replicas, value: 2}]`"
        return "a patch with `mergeStrategy: json` is a list of operations, not a mapping", way
    for each in operations if is_list(operations) else ():
        if not is_mapping(each) or WORD in each:
            continue
        operation, path = each.get("op"), each.get("path")
        if operation is None or (isinstance(operation, str) and operation not in (*_OPERATIONS, WORD)):
            found = "has no `op`" if operation is None else f"cannot be `{operation}`"
            return f"an operation of the patch {found}", instead(str(operation or ""), _OPERATIONS)
        if path is None or (isinstance(path, str) and path[:1] not in ("", "/") and WORD not in path):
            found = "has no `path`" if path is None else f"has the path `{path}`"
            meant = f"write `path: /{path.replace('.', '/')}`" if path else "add `path: /spec/replicas`"
            return f"an operation of the patch {found}", meant
    return None


def _names_nothing(action: str, flags: list[str]) -> bool:
    """Whether the flags of kubectl name no object: no kind, or to delete one, no name either.

    A word after a flag may be its value, so some that name nothing are not reported.
    """
    words = [each for each in flags if not each.startswith("-")]
    enough = len(words) > (action == "delete") or any("/" in each for each in words)
    chosen = any(each.startswith(_CHOOSING) and not each.endswith("=false") for each in flags)
    return not enough and not chosen and "{{" not in str(flags)


_CHOOSING = (
    *("-l", "--selector", "--field-selector", "--all", "-A"),
    *("-f", "--filename", "-k", "--kustomize", "--raw"),
)
"""The flags with which kubectl selects objects without a name."""


_OF_OBJECTS = (None, "merge", "strategic")
"""The strategies of patches that are parts of an object."""


def _incomplete(body: Any, action: object, flags: object, strategy: object) -> Flaw | None:
    """The fields that identify an object and are missing."""
    if not is_mapping(body):
        way = "write `apiVersion`, `kind`, `metadata` and what else it has"
        if is_list(body) and action == "patch":
            way = "add `mergeStrategy: json`, or write the fields of the object that change"
            if strategy not in _OF_OBJECTS:
                return None
        return None if body == WORD else ("the manifest is not an object", way)
    if "<<" in body or "items" in body or (action == "patch" and flags and not body.get("kind")):
        return None
    for field, example in (("apiVersion", "batch/v1"), ("kind", "Job")):
        if not body.get(field):
            return f"the object has no `{field}`", f"add `{field}: {example}`, or what it is"
    if (found := unserved(str(body["apiVersion"]), str(body["kind"]))) is not None:
        return found
    metadata: object = body.get("metadata") or {}
    if not is_mapping(metadata) and metadata != WORD:
        return "the `metadata` of the object is not a mapping", "add `metadata: {name: ...}`"
    if not is_mapping(metadata) or "<<" in metadata or metadata.get("name"):
        return None
    if not metadata.get("generateName"):
        return "the object has no name", "add `metadata: {name: ...}`"
    if action in ("apply", "delete", "get", "patch", "replace"):
        way = f"give it a `name`: `{action}` has to find the object"
        return "the object has a `generateName` and no `name`", way
    return None


_LATE = frozenset(("item", "node", "outputs", "steps", "tasks"))
_LATE_TIMES = ("workflow.creationTimestamp", "workflow.duration", "workflow.scheduledTime")


def _is_early(tried: bool, name: str) -> bool:
    """Whether a variable has a value when Argo validates a manifest. Source: Argo Workflows, validateTemplate."""
    root = name.partition(".")[0]
    if root in _LATE or name.startswith(_LATE_TIMES):
        return False
    return may_be_variable(name) and (tried or root not in OF_TRIES)
