"""Artifacts from outside of the run: `S3`, `GCS`, `Azure`, `Git`, `Http`, `Raw`.

Each can be used where a `Path` is expected: as an argument, in a list, dict or record of files, or as the default of a
pipeline's parameter. Texts may contain run-time values. Stored as written; the compiler validates them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from flowdsl.places.place import Site, here
from flowdsl.tracing.trace import OutsidePipeline, current, token
from flowdsl.values.expr import Stored
from flowdsl.volume import joined

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from flowdsl.volume import Secret

#: How a file or folder is packed. tar: with gzip, what Argo does by itself. A number from 0 to 9: tar with gzip of
#: that level. none: as it is, a folder as one object for each file.
Packed = Literal["tar", "zip", "none"]
Archive = Packed | int

#: By source, the arguments that are texts of Argo's and may contain values of the run; the first names the file.
TEXTS: Mapping[str, tuple[str, ...]] = {
    "S3": ("key", "bucket", "endpoint", "region"),
    "GCS": ("key", "bucket"),
    "Azure": ("blob", "container", "endpoint"),
    "Git": ("url", "revision", "branch"),
    "Http": ("url",),
    "Raw": ("text",),
}
_FOLDERS = ("S3", "GCS", "Azure", "Git")


class Artifact:
    """A file or folder that lies outside of the run; a step declares `Path`, and inside the pod it is one."""

    __slots__ = ("kind", "site", "words")

    def __init__(self, kind: str, site: Site, words: Mapping[str, object]) -> None:
        self.kind = kind  # the function that created it
        self.site = site
        self.words = words  # its arguments as written

    @property
    def texts(self) -> dict[str, object]:
        """The arguments that were given and may contain values of the run; a header is `headers[NAME]`."""
        found = {name: self.words[name] for name in TEXTS[self.kind] if self.words[name] is not None}
        headers = self.words.get("headers")
        if type(headers) is dict:
            found |= {
                f"headers[{name}]": value for name, value in cast("dict[object, object]", headers).items()
            }
        return found

    def __truediv__(self, path: str | PathLike[str]) -> Artifact:
        if self.kind not in _FOLDERS:
            return NotImplemented
        first = "folder" if self.kind == "Git" else TEXTS[self.kind][0]
        return Artifact(self.kind, self.site, {**self.words, first: joined(str(self.words[first]), path)})

    def __fspath__(self) -> str:
        way = "pass it to a step, which sees it as a Path"
        raise OutsidePipeline(f"`{self!r}` is a file of the cluster", way, way)

    def __str__(self) -> str:
        # In a pipeline a token, so that it can be found in the texts that tasks get.
        return repr(self) if current() is None else token(Stored(self, (), ()))

    def __repr__(self) -> str:
        return f"{self.kind}({self.words[TEXTS[self.kind][0]]!r})"


def S3(  # noqa: N802 -- it names a kind of thing, as GPU and Volume do
    key: str,
    bucket: str | None = None,
    *,
    endpoint: str | None = None,
    region: str | None = None,
    access_key: Secret | None = None,
    secret_key: Secret | None = None,
    insecure: bool = False,
    archive: Packed | None = None,
) -> Path:
    """The object, or the folder, under a key of an S3 bucket; without a bucket, of the cluster's repository.

    The repository may be of any kind. `endpoint` is the host of the store, by default Amazon's. Without keys the
    pod's own identity is used. `insecure`: without TLS. `archive`: whether the object is to be unpacked in the
    step; without it a tar file is, and a zip file is not.
    """
    words = {
        "key": key,
        "bucket": bucket,
        "endpoint": endpoint,
        "region": region,
        "access_key": access_key,
        "secret_key": secret_key,
        "insecure": insecure,
        "archive": archive,
    }
    return cast(Path, Artifact("S3", here(), words))


def GCS(  # noqa: N802 -- as S3
    key: str, bucket: str, *, credentials: Secret | None = None, archive: Packed | None = None
) -> Path:
    """The object, or the folder, under a key of a bucket of Google Cloud Storage.

    `credentials` is the key of a service account; without it the pod's own identity is used.
    `archive` as for `S3`.
    """
    words = {"key": key, "bucket": bucket, "credentials": credentials, "archive": archive}
    return cast(Path, Artifact("GCS", here(), words))


def Azure(  # noqa: N802 -- as S3
    blob: str,
    container: str,
    endpoint: str,
    *,
    account_key: Secret | None = None,
    archive: Packed | None = None,
) -> Path:
    """A blob, or a folder of blobs, of Azure Blob Storage.

    `endpoint` is the account's: `https://ACCOUNT.blob.core.windows.net`. Without `account_key` the pod's own
    identity is used. `archive` as for `S3`.
    """
    words = {
        "blob": blob,
        "container": container,
        "endpoint": endpoint,
        "account_key": account_key,
        "archive": archive,
    }
    return cast(Path, Artifact("Azure", here(), words))


def Git(  # noqa: N802 -- as S3
    url: str,
    revision: str | None = None,
    *,
    branch: str | None = None,
    depth: int | None = None,
    submodules: bool = True,
    ssh_key: Secret | None = None,
    username: Secret | None = None,
    password: Secret | None = None,
    insecure: bool = False,
) -> Path:
    """A folder with a checkout of a repository at a revision: a commit, a tag or a branch.

    `branch`: only that one is fetched. `depth`: how many commits are. `insecure`: the certificate or the key of
    the host is not checked. `Git(...) / "src"` is a folder of it, for `code=`.
    """
    words = {
        "url": url,
        "revision": revision,
        "branch": branch,
        "depth": depth,
        "submodules": submodules,
        "ssh_key": ssh_key,
        "username": username,
        "password": password,
        "insecure": insecure,
        "folder": "",
    }
    return cast(Path, Artifact("Git", here(), words))


def Http(  # noqa: N802 -- as S3
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    username: Secret | None = None,
    password: Secret | None = None,
    archive: Packed | None = None,
) -> Path:
    """What a request to a URL answers, as a file. `username` and `password` are sent as basic authentication.

    `archive` as for `S3`.
    """
    words = {
        "url": url,
        "headers": headers,
        "username": username,
        "password": password,
        "archive": archive,
    }
    return cast(Path, Artifact("Http", here(), words))


def Raw(text: str) -> Path:  # noqa: N802 -- as S3
    """A file with this text, which is written into the YAML."""
    return cast(Path, Artifact("Raw", here(), {"text": text}))
