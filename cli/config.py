"""The project's own settings: `[tool.flowdsl]` of pyproject.toml, or flowdsl.toml."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from flowdsl.cli.process import Refused
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from flowdsl.compiler.profile import Profile
    from flowdsl.diagnostic import Finding

KEYS = ("ignore", "default-cluster", "clusters")

_CODE = regex(r"FD\d{3}")


class Settings(NamedTuple):
    """The settings of a project, and the file that has them."""

    file: Path | None
    table: Mapping[str, Any]


def ignored(settings: Settings) -> frozenset[str]:
    """The codes of warnings that a project does not want to see; raises `Refused` when they cannot be used."""
    file, table = settings
    for key in table:
        if key not in KEYS:
            from flowdsl.diagnostic import suggest

            raise Refused(f"{file}: there is no setting `{key}`: {suggest(key, KEYS)}")
    given: object = table.get("ignore", [])
    codes = cast("list[object]", given) if isinstance(given, list) else [None]
    known: set[str] = set()
    for code in codes:
        if not isinstance(code, str):
            raise Refused(f'{file}: `ignore` is a list of codes, as in ignore = ["FD217"]')
        if not _CODE.fullmatch(code):
            raise Refused(f'{file}: `{code}` in `ignore` is no code of a warning: they look like "FD217"')
        known.add(code)
    return frozenset(known)


def cluster(settings: Settings, name: str | None, version: str | None) -> tuple[Profile, list[Finding]]:
    """The profile of the cluster that is compiled for, and what is wrong with it.

    The one called `name`, else the `default-cluster` of the settings, else none; for `version` of Argo, if that is
    given. Raises `Refused` when the settings cannot be used.
    """
    from flowdsl.compiler.profile import NOWHERE

    file, table = settings
    wanted: object = table.get("default-cluster") if name is None else name
    found: list[Finding] = []
    made = NOWHERE
    if wanted is not None:
        from flowdsl.compiler.profile_reading import profile

        if not isinstance(wanted, str):
            raise Refused(
                f'{file}: `default-cluster` is the name of a cluster, as in default-cluster = "lab"'
            )
        clusters: object = table.get("clusters", {})
        if not isinstance(clusters, dict):
            raise Refused(f"{file}: `clusters` has a table for each cluster, as in [clusters.{wanted}]")
        tables = cast("dict[str, object]", clusters)
        within = "clusters" if file is None or file.name == "flowdsl.toml" else "tool.flowdsl.clusters"
        made, found = profile(tables, wanted, _shown(file), within)
    return made if version is None else made._replace(argo=version), found


def _shown(file: Path | None) -> str:
    """A file of settings for a message: below the current folder without its beginning."""
    if file is None:
        return "flowdsl.toml"
    near = os.path.relpath(file)
    return str(file) if near.startswith("..") else near


def settings_of(path: Path) -> Settings:
    """The settings of the project of a file.

    They are those of the nearest folder, at or above the file's, that has a flowdsl.toml or a pyproject.toml with
    a table `[tool.flowdsl]`. Raises `Refused` when they cannot be read.
    """
    try:
        folder = path.resolve().parent
    except (OSError, RuntimeError):  # a loop of links; reading the file says so
        return Settings(None, {})
    for place in (folder, *folder.parents):
        own = place / "flowdsl.toml"
        if _is_file(own):
            return Settings(own, _read(own))
        project = place / "pyproject.toml"
        if _is_file(project):
            found = _table(_table(_read(project), "tool"), "flowdsl")
            if found is not None:
                return Settings(project, found)
    return Settings(None, {})


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 -- Path.is_file raises where a name is too long


def _table(settings: dict[str, Any] | None, key: str) -> dict[str, Any] | None:
    found = None if settings is None else settings.get(key)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _read(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Refused(f"{path}: {error}") from error
