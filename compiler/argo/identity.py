"""What a pod is to the cluster, in Argo's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.argo import placement

if TYPE_CHECKING:
    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Json, Origins


def write(found: Json, template: ir.Template, origins: Origins) -> None:
    """Write the service account, labels and annotations of a template's pods."""
    identity = template.settings.identity
    origins.write(found, (("serviceAccountName", identity.service_account, ("service_account",)),), template)
    metadata: Json = {}
    marks = {**placement.labels(template.settings.placement, template.name), **identity.labels}
    fields = (
        ("labels", marks, ("labels", "queue", "placement")),
        ("annotations", dict(identity.annotations), ("annotations",)),
    )
    origins.write(metadata, fields, template)
    if metadata:
        found["metadata"] = metadata
