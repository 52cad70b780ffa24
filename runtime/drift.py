"""Normalizes an object as written and as stored in a cluster, so that every remaining difference is a change.

Sources: kubectl diff, which compares with what the server would store; server-side apply, whose managers own fields.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.argo.provenance import PIPELINE, SPEC
from flowdsl.compiler.tree import is_list, is_mapping
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.labels import LAST_APPLIED
from flowdsl.grammar.quantity import quantity
from flowdsl.runtime.cluster.kinds import CLUSTER_TEMPLATE, CRON, TEMPLATE, WORKFLOW
from flowdsl.runtime.cluster.seam import metadata_of
from flowdsl.runtime.cluster.trouble import FORBIDDEN, Refusal, Unsupported
from flowdsl.runtime.names import suffix
from flowdsl.runtime.parts import part, several

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.runtime.cluster.seam import Cluster

Json = dict[str, Any]

KINDS = {one.name: one for one in (WORKFLOW, TEMPLATE, CLUSTER_TEMPLATE, CRON)}
_OURS = ("name", "generateName", "namespace", "labels", "annotations")
"""The metadata fields that users set."""
_LONGEST = 80


def live(cluster: Cluster, document: Json) -> Json | None:
    """The object of a document's kind and name; of a Workflow without a name, its newest run. None without one.

    Raises Refusal and Unreachable.
    """
    metadata = part(document, "metadata")
    kind, name = KINDS[document["kind"]], str(metadata.get("name") or "")
    namespace: str | None = metadata.get("namespace")
    if not name:
        runs = _runs(cluster, metadata, namespace)
        newest = max(runs, key=lambda one: str(one.get("creationTimestamp")), default=None)
        if newest is None:
            return None
        name = str(newest["name"])
    try:
        return cluster.get(kind, name, namespace=namespace)
    except Refusal as refusal:
        if not refusal.absent:
            raise
        return None


def _runs(cluster: Cluster, metadata: Json, namespace: str | None) -> list[Json]:
    """The metadata of the runs of a Workflow without a name: by the label of its pipeline, else by their names.

    The runs of a template or a schedule have the label, too, but no digest of a spec.
    """
    if pipeline := part(metadata, "labels").get(PIPELINE):
        label = f"{PIPELINE}={pipeline}"
        found = cluster.list(WORKFLOW, labels=label, namespace=namespace, keep=metadata_of).items
        return [one["metadata"] for one in found if SPEC in part(one["metadata"], "labels")]
    own = re.compile(re.escape(str(metadata.get("generateName") or "")) + "[a-z0-9]+").fullmatch
    found = cluster.list(WORKFLOW, namespace=namespace, keep=metadata_of).items
    return [one["metadata"] for one in found if own(str(one["metadata"]["name"]))]


def as_stored(cluster: Cluster, document: Json) -> Json:
    """A document as the server would store it, with its defaults; unchanged if the user may not ask for that.

    It is created in a dry run, under an unused name. Raises Refusal for what the server would reject, and
    Unreachable.
    """
    names = ("name", "generateName", "namespace")
    own = {key: value for key, value in part(document, "metadata").items() if key in names}
    rest = {key: value for key, value in part(document, "metadata").items() if key not in names}
    name = f"flowdsl-diff-{suffix(8)}"
    try:
        body = {**document, "metadata": {"name": name, **rest}}
        found = cluster.create(KINDS[document["kind"]], body, dry_run=True)
    except Unsupported:
        return document
    except Refusal as refusal:
        if refusal.code != FORBIDDEN:
            raise
        return document
    stored = {key: value for key, value in part(found, "metadata").items() if key not in names}
    return {**found, "metadata": {**own, **stored}}


def comparable(found: Json, document: Json) -> Json:
    """The fields of an object that its author decides, in the order of the document that it is compared with.

    Left out are the status, metadata that the server writes, and labels and annotations that are not in the
    document and were applied by nobody: other parts of the cluster wrote them.
    """
    metadata = part(found, "metadata")
    written = part(document, "metadata")
    applied = _applied(metadata)
    shown: Json = {}
    for field in _OURS:
        value = metadata.get(field)
        if field in ("labels", "annotations"):
            known = part(written, field)
            value = {
                key: each
                for key, each in part(metadata, field).items()
                if (key in known or (field, key) in applied) and key != LAST_APPLIED
            }
        elif field not in written:
            continue
        if value:
            shown[field] = value
    whole = {
        "apiVersion": found.get("apiVersion") or document.get("apiVersion"),
        "kind": document["kind"],
        "metadata": shown,
        "spec": found.get("spec"),
    }
    made: Json = ordered(whole, document)
    return made


_STEERED = ("shutdown", "suspend", "activeDeadlineSeconds")
"""The fields of a run's spec that change when it is stopped or suspended."""
_NOTHING: tuple[object, ...] = (None, "", 0, [], {})
"""Zero values, which an API with typed objects may omit or add. `False` is included, since it equals 0."""


def altered(sent: Json, stored: Json) -> list[str]:
    """The changes that a cluster made to a submitted run, one line each.

    Defaults, added labels, amounts in another notation, and fields without a value do not count as changes.
    """
    spec = {key: one for key, one in part(stored, "spec").items() if key not in _STEERED}
    found = list(
        _altered("spec", {key: one for key, one in sent["spec"].items() if key not in _STEERED}, spec)
    )
    for field in ("labels", "annotations"):
        now = part(part(stored, "metadata"), field)
        for key, value in part(sent["metadata"], field).items():
            found.extend(_altered(f"metadata.{field}[{key}]", value, now.get(key)))
    return found


def _altered(path: str, before: Any, after: Any) -> Iterator[str]:
    if before == after or (before in _NOTHING and after in _NOTHING) or _same_amount(before, after):
        return
    if is_mapping(before) and is_mapping(after):
        more = (key for key, one in after.items() if key not in before and not _is_default(key, one))
        for key in (*before, *more):
            yield from _altered(f"{path}.{key}", before.get(key), after.get(key))
    elif is_list(before) and is_list(after) and (keys := _keys(before)) and keys == _keys(after):
        for key, one, other in zip(keys, before, after, strict=True):
            yield from _altered(f"{path}[{key}]", one, other)
    elif before in _NOTHING:
        yield f"{path} is {_shown(after)}"
    elif after in _NOTHING:
        yield f"{path} is gone"
    else:
        yield f"{path} is {_shown(after)}, not {_shown(before)}"


def _keys(values: list[Any]) -> list[str]:
    """The keys by which the items of a list are matched: their names, else their positions."""
    named = all(is_mapping(one) and "name" in one for one in values)
    return [str(one["name"]) if named else str(at) for at, one in enumerate(values)]


def _same_amount(before: object, after: object) -> bool:
    try:
        return isinstance(before, str) and isinstance(after, str) and quantity(before) == quantity(after)
    except GrammarError:
        return False


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def of_run(found: Json, document: Json) -> Json:
    """A run as if it had no name of its own, to compare it with its document."""
    metadata = {**part(found, "metadata"), "generateName": part(document, "metadata").get("generateName")}
    return {**found, "metadata": {key: value for key, value in metadata.items() if key != "name"}}


def _applied(metadata: Json) -> set[tuple[str, str]]:
    """The labels and annotations that a user has applied, so that leaving them out removes them."""
    found: set[tuple[str, str]] = set()
    try:
        last: object = json.loads(part(metadata, "annotations").get(LAST_APPLIED) or "{}")
    except ValueError:
        last = {}
    before = part(last, "metadata") if is_mapping(last) else {}
    owned = [part(part(one, "fieldsV1"), "f:metadata") for one in _appliers(metadata)]
    for field in ("labels", "annotations"):
        found.update((field, key) for key in part(before, field))
        for one in owned:
            found.update((field, key.removeprefix("f:")) for key in part(one, f"f:{field}"))
    return found


def _appliers(metadata: Json) -> list[Json]:
    return [one for one in several(metadata, "managedFields") if one.get("operation") == "Apply"]


_DEFAULTS = {
    *(("protocol", "TCP"), ("name", ""), ("service", ""), ("optional", False), ("readOnly", False)),
    *(("fsType", "ext4"), ("fsType", "xfs"), ("iscsiInterface", "default"), ("keyring", "/etc/ceph/keyring")),
    *(("pool", "rbd"), ("user", "admin"), ("storageMode", "ThinProvisioned")),
}
"""The defaults that the server adds. Source: the full CRDs of Argo 4.1, all their defaults."""
_WRITTEN = frozenset(
    ("arguments", "inputs", "outputs", "metadata", "resources", "status", "basicAuth", "clientCert", "oauth2")
)
"""Fields that Argo's controller writes even if they are empty: those that are structs in the types of its API."""


def ordered(value: Any, like: Any) -> Any:
    """A value with its keys in the order of another one: first those of both, then the others by name.

    Defaults of the server that the other one does not have are left out.
    """
    if is_mapping(value):
        model: Json = like if is_mapping(like) else {}
        more = sorted(key for key, each in value.items() if key not in model and not _is_default(key, each))
        keys = [*(key for key in model if key in value), *more]
        return {key: ordered(value[key], model.get(key)) for key in keys}
    if is_list(value):
        models: list[Any] = like if is_list(like) else []
        named = {one["name"]: one for one in models if is_mapping(one) and "name" in one}
        return [
            ordered(one, named.get(one.get("name"), _at(models, at)) if is_mapping(one) else _at(models, at))
            for at, one in enumerate(value)
        ]
    return value


def _is_default(key: str, value: object) -> bool:
    if is_mapping(value):
        return key in _WRITTEN and all(_is_default(*each) for each in value.items())
    return value is None or (isinstance(value, (str, bool)) and (key, value) in _DEFAULTS)


def _at(values: list[Any], position: int) -> Any:
    return values[position] if position < len(values) else None
