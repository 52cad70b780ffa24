"""The kinds of templates and of places of artifacts: of each group of fields, one is given.

Source: Argo Workflows, `ArtifactLocation` in pkg/apis/workflow/v1alpha1/workflow_types.go and `validateTemplateType`
in workflow/validate/validate.go.
"""

from __future__ import annotations

from typing import Any

BODIES = (
    "container",
    "containerSet",
    "steps",
    "script",
    "resource",
    "dag",
    "suspend",
    "data",
    "http",
    "plugin",
)
"""The fields of which a template has exactly one, in the order in which Argo counts them."""

POD_BODIES = frozenset(("container", "containerSet", "script", "resource", "data"))
"""Templates that run as a pod of their own."""

PODLESS_BODIES = frozenset(BODIES) - POD_BODIES
"""Templates that run in the pods of others, in Argo's agent, or nowhere."""

PROGRAM_BODIES = frozenset(("container", "containerSet", "script"))
"""Templates whose pod runs what their author wrote."""

CONTAINER_BODIES = ("container", "script")
"""Templates that are one container themselves; those of a containerSet are below it."""

MAKING = ("create", "apply", "replace")
"""The actions of `resource` templates that write a whole object."""

GRAPH_BODIES = frozenset(("steps", "dag"))
"""Templates that call other templates; Argo calls all but these and `suspend` leaves."""

BODY_OF = {"tasks": "dag", "steps": "steps"}
"""The body of a graph by the prefix of its tags."""

WORD_OF = {body: word for word, body in BODY_OF.items()}
"""The prefix of the tags of a graph by its body."""

LEAF_BODIES = frozenset(BODIES) - GRAPH_BODIES - {"suspend"}

EXIT_BODIES = frozenset(("container", "script", "data"))
"""Templates with an `exitCode`; a containerSet has one if it has a container `main`."""

RESULT_BODIES = EXIT_BODIES | {"http", "plugin"}
"""Templates with `outputs.result`; a containerSet as above."""

STORES = {"s3": "key", "gcs": "key", "oss": "key", "azure": "blob", "hdfs": "path", "artifactory": "url"}
"""Where an artifact may be stored: the field of a store, and within it that of the key."""

LOCATIONS = (*STORES, "git", "http", "raw", "plugin")
"""The fields that give the source of an artifact."""

SECRETS = {
    "ArtifactoryArtifact": ("password", "username"),
    "AzureArtifact": ("accountKey",),
    "BasicAuth": ("password", "username"),
    "ClientCertAuth": ("clientCert", "clientKey"),
    "GCSArtifact": ("serviceAccountKey",),
    "GitArtifact": ("password", "sshPrivateKey", "username"),
    "HDFSArtifact": ("krbCCache", "krbKeytab"),
    "OAuth2Auth": ("clientID", "clientSecret", "tokenURL"),
    "OSSArtifact": ("accessKey", "secretKey"),
    "S3Artifact": ("accessKey", "ca", "secretKey", "sessionToken"),
}
"""The Secrets of artifacts by their types: of each, the field without `Secret` at its end.

Source: Argo Workflows, createSecretVolumesFromArtifactLocations.
"""


def kind(template: dict[str, Any]) -> str:
    """The body field of a template; empty if it has none."""
    for field in BODIES:
        if template.get(field) is not None:
            return field
    return ""
