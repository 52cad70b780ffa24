"""Modules of the user's own, in Argo's fields: a repository as an input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.argo.sources import location
from flowdsl.compiler.steps.script_prepare import CODE

if TYPE_CHECKING:
    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Json, Origins

ARTIFACT = "flowdsl-code"


def add_repository(found: Json, template: ir.Template, origins: Origins) -> None:
    """Add the repository of a step to the inputs of its template."""
    repository = template.settings.code.repository
    if repository is None:
        return
    artifact: Json = {"name": ARTIFACT, "path": CODE, **location(repository)}
    origins.option(artifact, "git", template, "code")
    found.setdefault("inputs", {}).setdefault("artifacts", []).append(artifact)
