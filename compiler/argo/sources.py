"""Where files outside of the run lie, and how files are packed, in Argo's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.expressions import text_of
from flowdsl.values import types as t
from flowdsl.volume import Secret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.compiler.argo.origins import Json
    from flowdsl.values.expr import Stored

AMAZON = "s3.amazonaws.com"
"""The endpoint of a bucket without one. Argo ignores a bucket without an endpoint, and reads from its own
repository instead. Source: S3Artifact.HasLocation and ArtifactLocation.Relocate of Argo 4.1."""

#: For each source the name of its location, and the fields of its arguments in the order they are written.
_FIELDS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "S3": (
        "s3",
        {
            "endpoint": "endpoint",
            "bucket": "bucket",
            "region": "region",
            "key": "key",
            "insecure": "insecure",
            "access_key": "accessKeySecret",
            "secret_key": "secretKeySecret",
        },
    ),
    "GCS": ("gcs", {"bucket": "bucket", "key": "key", "credentials": "serviceAccountKeySecret"}),
    "Azure": (
        "azure",
        {
            "endpoint": "endpoint",
            "container": "container",
            "blob": "blob",
            "account_key": "accountKeySecret",
        },
    ),
    "Git": (
        "git",
        {
            "url": "repo",
            "revision": "revision",
            "branch": "branch",
            "depth": "depth",
            "ssh_key": "sshPrivateKeySecret",
            "username": "usernameSecret",
            "password": "passwordSecret",
        },
    ),
    "Http": ("http", {"url": "url"}),
    "Raw": ("raw", {"text": "data"}),
}


def location(stored: Stored) -> Json:
    """The location of a file, as a part of an artifact."""
    words = stored.artifact.words
    texts = {name: text_of(one, t.TEXT) for name, one in zip(stored.names, stored.texts, strict=True)}
    kind, fields = _FIELDS[stored.artifact.kind]
    found: Json = {}
    for word, field in fields.items():
        value = texts[word] if word in texts else words.get(word)
        if isinstance(value, Secret):
            found[field] = _key(value)
        elif value is not None and value is not False:
            found[field] = value
    match kind:
        case "s3" if "bucket" in found:
            found = {"endpoint": AMAZON, **found}
            if words["access_key"] is None:
                found["useSDKCreds"] = True  # else Argo only asks the node for its role
        case "azure" if words["account_key"] is None:
            found["useSDKCreds"] = True
        case "git":
            found |= _git(words)
        case "http":
            found |= _http(texts, words)
        case _:
            pass
    archive = words.get("archive")
    return {kind: found, **({} if archive is None else packing(str(archive)))}


def _git(words: Mapping[str, object]) -> Json:
    found: Json = {}
    if words["branch"] is not None:
        found["singleBranch"] = True
    if words["submodules"] is False:
        found["disableSubmodules"] = True
    if words["insecure"] is True:
        found |= {"insecureIgnoreHostKey": True, "insecureSkipTLS": True}
    return found


def _http(texts: Mapping[str, str], words: Mapping[str, object]) -> Json:
    found: Json = {}
    headers = [
        {"name": name.removeprefix("headers[").removesuffix("]"), "value": text}
        for name, text in texts.items()
        if name.startswith("headers[")
    ]
    if headers:
        found["headers"] = headers
    username, password = words["username"], words["password"]
    if isinstance(username, Secret) and isinstance(password, Secret):
        basic = {"usernameSecret": _key(username), "passwordSecret": _key(password)}
        found["auth"] = {"basicAuth": basic}
    return found


def _key(secret: Secret) -> Json:
    return {"name": secret.name, "key": secret.key}


def packing(archive: str | int | None) -> Json:
    """How a file is compressed, as a part of an artifact; by default Argo uses tar and gzip."""
    match archive:
        case None:
            return {}
        case int():
            return {"archive": {"tar": {"compressionLevel": archive}}}
        case _:
            return {"archive": {archive: {}}}
