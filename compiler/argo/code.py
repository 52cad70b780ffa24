"""Modules of the user's own, in Argo's fields: a repository as an input, and an empty folder for packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.argo.origins import filled
from flowdsl.compiler.script_prepare import CODE

if TYPE_CHECKING:
    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Json, Origins
    from flowdsl.volume import Secret

ARTIFACT = "flowdsl-code"
VOLUME = "flowdsl-packages"


def add_repository(found: Json, template: ir.Template, origins: Origins) -> None:
    """Add the repository of a step to the inputs of its template."""
    repository = template.settings.code.repository
    if repository is None:
        return
    artifact: Json = {"name": ARTIFACT, "path": CODE, "git": _git(repository)}
    origins.option(artifact, "git", template, "code")
    found.setdefault("inputs", {}).setdefault("artifacts", []).append(artifact)


def volumes(template: ir.Template) -> list[Json]:
    """The folder that pip installs into."""
    return [{"name": VOLUME, "emptyDir": {}}] if template.settings.code.packages else []


def _git(repository: ir.Repository) -> Json:
    """Source: GitArtifact, of which the address is required, and a depth of 0 means all."""
    return filled(
        {
            "repo": repository.url,
            "revision": repository.revision,
            "depth": repository.depth,
            "sshPrivateKeySecret": _secret(repository.ssh_key),
            "usernameSecret": _secret(repository.username),
            "passwordSecret": _secret(repository.password),
        }
    )


def _secret(secret: Secret | None) -> Json | None:
    return None if secret is None else {"name": secret.name, "key": secret.key}
