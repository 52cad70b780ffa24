"""What templates run that is no container of the user's, in Argo's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler import ir
from flowdsl.compiler.argo import distributed
from flowdsl.compiler.argo.document import OWNER, json_text, plain_data, url_text, yaml_text
from flowdsl.compiler.expressions import text_of
from flowdsl.compiler.tree import is_mapping
from flowdsl.volume import Secret

if TYPE_CHECKING:
    from flowdsl.compiler.argo.origins import Json, Origins


def body(template: ir.Template, spec: Json, origins: Origins) -> tuple[str, Json]:
    """The field of a template with its body, and the body itself, in a workflow of that `spec`."""
    match template.body:
        case ir.Resource() as resource:
            return "resource", _resource(resource, template, origins)
        case ir.Beside() as one:
            return "resource", distributed.beside(one, spec)
        case ir.Http() as request:
            return "http", _http(request)
        case _:
            found: Json = {}
            fields = (("duration", template.settings.gate.duration, ("duration",)),)
            origins.write(found, fields, template)
            return "suspend", found


def _resource(resource: ir.Resource, template: ir.Template, origins: Origins) -> Json:
    managed = template.settings.managed
    found: Json = {"action": managed.action}
    origins.option(found, "action", template, "action")
    fields = (
        ("mergeStrategy", managed.merge, ("merge",)),
        ("successCondition", managed.success, ("success",)),
        ("failureCondition", managed.failure, ("failure",)),
        ("flags", list(managed.flags), ("flags",)),
    )
    origins.write(found, fields, template)
    if resource.origin is not None:
        found["manifestFrom"] = {"artifact": {"name": resource.origin}}
    elif isinstance(resource.manifest, str):
        found["manifest"] = resource.manifest
    elif resource.manifest is not None:
        data, marks = plain_data(resource.manifest)
        if managed.owner and not _owned(data):
            found["setOwnerReference"] = True
            origins.option(found, "setOwnerReference", template, "owner")
        found["manifest"] = yaml_text(data, marks)
    return found


def _owned(data: Any) -> bool:
    """Make the Workflow an owner of an object; False if the object hides its metadata.

    Argo's `setOwnerReference` serializes the object again, without the escapes that protect a `$` in it.
    """
    metadata: Any = data.get("metadata") if is_mapping(data) else None
    owners: Any = metadata.setdefault("ownerReferences", []) if is_mapping(metadata) else None
    if isinstance(owners, list):
        owners.append(dict(OWNER))  # pyright: ignore[reportUnknownMemberType] -- written by the user
    return isinstance(owners, list)


def _http(request: ir.Http) -> Json:
    found: Json = {"method": request.method, "url": url_text(request.url)}
    headers: list[Json] = []
    for name, value in request.headers:
        if isinstance(value, Secret):
            key = {"name": value.name, "key": value.key}
            headers.append({"name": name, "valueFrom": {"secretKeyRef": key}})
        else:
            headers.append({"name": name, "value": text_of(value, value.type)})
    if headers:
        found["headers"] = headers
    if request.body is not None:
        found["body"] = json_text(request.body) if request.json else text_of(request.body, request.body.type)
    if request.success is not None:
        found["successCondition"] = request.success
    if request.timeout is not None:
        found["timeoutSeconds"] = request.timeout
    if request.insecure:
        found["insecureSkipVerify"] = True
    return found
