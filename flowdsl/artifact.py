"""Where an input comes from that no step makes: a repository of Git."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from flowdsl.place import Site, here

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.volume import Secret


class Source:
    """A place outside the run, as it was written: its kind, the fields of that kind, and a folder in it."""

    __slots__ = ("fields", "folder", "kind", "site")

    def __init__(self, kind: str, fields: Mapping[str, object], site: Site, folder: str = "") -> None:
        self.kind = kind
        self.fields = dict(fields)
        self.site = site
        self.folder = folder

    def __truediv__(self, path: object) -> Source:
        return Source(self.kind, self.fields, self.site, f"{self.folder}/{path}".strip("/"))

    def __fspath__(self) -> str:
        from flowdsl.trace import OutsidePipeline

        raise OutsidePipeline(f"{self!r} is fetched when the run starts: there is no such file here")

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.fields.items())
        return f"{self.kind.capitalize()}({given})"


def Git(  # noqa: N802 -- a word like Volume and Secret, which are classes
    url: str,
    *,
    revision: str | None = None,
    depth: int | None = None,
    ssh_key: Secret | None = None,
    username: Secret | None = None,
    password: Secret | None = None,
) -> Path:
    """A repository of Git at a revision: `code=Git("https://example.com/team/models.git", revision="v1.4.0")`.

    `revision`: a full commit hash or a tag. `depth`: how many commits to fetch. `ssh_key`, `username` and
    `password` are Secrets. `Git(...) / "src"` is a folder of it. Stored as written; the compiler judges.
    """
    given: dict[str, object] = {"url": url, "revision": revision, "depth": depth}
    given |= {"ssh_key": ssh_key, "username": username, "password": password}
    fields = {name: value for name, value in given.items() if value is not None}
    # What takes it declares `Path`, and in the pod it is one.
    return cast(Path, Source("git", fields, here()))
