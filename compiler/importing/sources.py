"""Converts input artifacts from outside of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.importing.layout import call, mapped, quoted
from flowdsl.compiler.importing.tagged import value_of
from flowdsl.compiler.importing.texts import constant
from flowdsl.compiler.kinds import LOCATIONS
from flowdsl.compiler.tree import is_mapping

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.model import Render
    from flowdsl.compiler.importing.reading import Scope
    from flowdsl.compiler.tree import Path

#: The constructor of each kind of location, by its fields; arguments without a name are positional.
_TEXTS = {
    "s3": ("S3", {"key": "", "bucket": "", "endpoint": "endpoint", "region": "region"}),
    "gcs": ("GCS", {"key": "", "bucket": ""}),
    "azure": ("Azure", {"blob": "", "container": "", "endpoint": ""}),
    "git": ("Git", {"repo": "", "revision": "", "branch": "branch"}),
    "http": ("Http", {"url": ""}),
    "raw": ("Raw", {"data": ""}),
}
_SECRETS = {
    "accessKeySecret": "access_key",
    "secretKeySecret": "secret_key",
    "serviceAccountKeySecret": "credentials",
    "accountKeySecret": "account_key",
    "sshPrivateKeySecret": "ssh_key",
    "usernameSecret": "username",
    "passwordSecret": "password",
}
_FLAGS = {"insecure": "insecure", "insecureIgnoreHostKey": "insecure"}

UNSAID = tuple(one for one in LOCATIONS if one not in _TEXTS)
"""The fields of an artifact for locations that cannot be expressed."""

FETCHED = "let a step fetch it, and pass on the file"
"""The remedy for such an artifact."""


def source(artifact: dict[str, Any], scope: Scope, path: Path) -> Render | None:
    """The expression for the location of an artifact; None if there is none."""
    kind = next((one for one in LOCATIONS if one in artifact), "")
    if kind not in _TEXTS:
        return None
    word, fields = _TEXTS[kind]
    said: dict[str, Any] = dict(artifact[kind])
    given: list[Callable[[], Code]] = []
    named: dict[str, Callable[[], Code]] = {}
    for field, name in fields.items():
        if field not in said:
            if not name and any(one in said and not other for one, other in list(fields.items())[1:]):
                given.append(lambda: "None")
            continue
        text = said.pop(field)
        if not isinstance(text, str):
            return None
        value = value_of(text, scope, (*path, kind, field))
        if value.port is not None:
            value.port.asked(text=True)
        if name:
            named[name] = value.code
        else:
            given.append(value.code)
    for field, name in _SECRETS.items():
        if is_mapping(secret := said.get(field)) and secret.keys() == {"name", "key"}:
            named[name] = constant(call("Secret", quoted(secret["name"]), quoted(secret["key"])))
            del said[field]
    for field, name in _FLAGS.items():
        if isinstance(said.get(field), bool) and said.pop(field):
            named[name] = constant("True")
    if isinstance(said.get("depth"), int):
        named["depth"] = constant(str(said.pop("depth")))
    if said.pop("disableSubmodules", False) is True:
        named["submodules"] = constant("False")
    if kind == "http" and (headers := _headers(said.pop("headers", None), scope, (*path, kind, "headers"))):
        named["headers"] = headers
    if (packed := artifact.get("archive")) is not None and kind not in ("git", "raw"):
        form = next((one for one in ("none", "tar", "zip") if packed == {one: {}}), None)
        if form is None:
            return None
        named["archive"] = constant(quoted(form))
    if said:
        return None
    return lambda: call(word, *(one() for one in given), **{name: one() for name, one in named.items()})


def _headers(headers: Any, scope: Scope, path: Path) -> Render | None:
    if not headers:
        return None
    values = [
        (str(one.get("name")), value_of(str(one.get("value", "")), scope, (*path, index, "value")))
        for index, one in enumerate(headers)
    ]
    return lambda: mapped({name: value.code() for name, value in values})
