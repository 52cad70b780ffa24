"""The settings of the project: `[tool.flowdsl]` of pyproject.toml, or flowdsl.toml."""

from __future__ import annotations

import os
from types import NoneType
from typing import TYPE_CHECKING, Any, cast

from flowdsl.cli.files import shown
from flowdsl.diagnostic import Diagnostic, near
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.places.place import Span
from flowdsl.values.lift import is_dict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flowdsl.compiler.profile import Profile
    from flowdsl.diagnostic import Finding

KEYS = ("ignore", "default-cluster", "clusters")

_IS_ERROR = "leave {have} out: it is the code of an error, and errors cannot be silenced"

_AT = regex(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class Project(NamedTuple):
    """The settings of a project, and what is wrong with them."""

    profile: Profile
    """Of the cluster that is compiled for."""
    ignored: frozenset[str]
    """The codes of warnings that the project does not want to see."""
    wrong: list[Diagnostic]


def project(
    path: Path, cluster: str | None = None, version: str | None = None, others: bool = True
) -> Project:
    """The settings of a file's project for a cluster: the one called `cluster`, else their default.

    They are those of the nearest folder, at or above the file's, that has a flowdsl.toml or a pyproject.toml with a
    table `[tool.flowdsl]`. `version` is that of Argo, if it is not the cluster's. `others`: whether problems with
    the profiles of other clusters are reported, too.
    """
    from flowdsl.compiler.profile import NOWHERE

    settings = _settings_of(path)
    wrong = [*settings.wrong, *_misspelt(settings)]
    ignored: list[str] = []
    profile = NOWHERE
    if not settings.wrong:
        wrong += _read_codes(settings, ignored)
        profile, found = _profile(settings, cluster, others)
        elsewhere = any(key == "tool" or near(key, KEYS) == "clusters" for key in settings.table)
        if "clusters" in settings.table or not elsewhere:
            wrong += found  # else the clusters stand under another word, which is told
    if version is not None:
        profile = profile._replace(argo=version)
    return Project(profile, frozenset(ignored), wrong)


class _Settings(NamedTuple):
    """The settings of a project, and the file that contains them, with its text and the table in it."""

    file: Path | None
    folder: Path
    text: str = ""
    table: dict[str, Any] = {}  # noqa: RUF012 -- never changed
    within: tuple[str, ...] = ()
    wrong: tuple[Diagnostic, ...] = ()

    def diagnostic(self, finding: Finding, *path: str) -> Diagnostic:
        """A finding at the position of a key of the file, or of the nearest existing one."""
        if self.file is None:
            return Diagnostic(finding, None)
        from flowdsl.grammar.toml import place

        line, column, end = place(self.text, path)
        return Diagnostic(finding, Span(str(self.file), line, column, line, end))

    def bad(self, key: str, want: str, have: object, example: str) -> Diagnostic:
        """The finding about an invalid value of a setting."""
        from flowdsl.compiler.findings.profile import BadSetting

        finding = BadSetting(".".join(self.within), key, want, repr(have), example)
        return self.diagnostic(finding, *self.within, key)


def _misspelt(settings: _Settings) -> Iterator[Diagnostic]:
    """The findings about unknown settings."""
    for key in settings.table:
        if key not in KEYS:
            from flowdsl.compiler.findings.profile import UnknownSetting

            finding = UnknownSetting(".".join(settings.within), key, KEYS)
            yield settings.diagnostic(finding, *settings.within, key)


def _read_codes(settings: _Settings, known: list[str]) -> Iterator[Diagnostic]:
    """Reads the codes of silenced warnings; returns the findings about those of errors, and unknown ones."""
    if "ignore" not in settings.table:
        return
    from flowdsl.compiler.findings.codes import CODES, WARNINGS

    given: object = settings.table["ignore"]
    listed = isinstance(given, list)
    for code in cast("list[object]", given) if listed else [given]:
        if listed and isinstance(code, str) and code in WARNINGS:
            known.append(code)
            continue
        found = settings.bad("ignore", "a list of codes of warnings", code, 'ignore = ["FD217"]')
        if listed and isinstance(code, str) and code in CODES:
            found = found._replace(finding=found.finding.with_help(_IS_ERROR))
        yield found


def _profile(settings: _Settings, cluster: str | None, others: bool) -> tuple[Profile, list[Diagnostic]]:
    """The profile of a cluster, else the default one, else an empty one, and the problems with it, or with others."""
    from flowdsl.compiler.profile import NOWHERE

    wanted: object = settings.table.get("default-cluster") if cluster is None else cluster
    if not isinstance(wanted, (str, NoneType)):
        return NOWHERE, [
            settings.bad("default-cluster", "the name of a cluster", wanted, 'default-cluster = "lab"')
        ]
    clusters: object = settings.table.get("clusters", {})
    if not is_dict(clusters):
        return NOWHERE, [
            settings.bad("clusters", "a table for each cluster", clusters, f"[clusters.{wanted or 'lab'}]")
        ]
    names = [*([] if wanted is None else [wanted]), *(clusters if others else ())]
    if not names:
        return NOWHERE, []
    from flowdsl.compiler.findings.profile import UnknownCluster
    from flowdsl.compiler.profile_reading import profile

    within = ".".join((*settings.within, "clusters"))
    asked = (*settings.within, "default-cluster" if cluster is None else "clusters")
    made, found = NOWHERE, list[Diagnostic]()
    for name in dict.fromkeys(names):
        read, wrong = profile(clusters, name, shown(settings.file or settings.folder), within)
        made = read if name == wanted else made
        for each in wrong:
            path = asked if isinstance(each, UnknownCluster) else (*each.table.split("."), each.key)
            found.append(settings.diagnostic(each, *path))
    return made, found


def settings_file(path: Path) -> Path | None:
    """The file with the settings of a file's project, if there is one."""
    return _settings_of(path).file


def _settings_of(path: Path) -> _Settings:
    """The settings of a file's project."""
    try:
        folder = path.resolve().parent
    except (OSError, RuntimeError):  # a loop of links; reading the file says so
        return _Settings(None, path.parent)
    for place in (folder, *folder.parents):
        own = place / "flowdsl.toml"
        if os.path.lexists(own):  # a link that leads nowhere is told, too
            return _read(own)
        shared = place / "pyproject.toml"
        if _is_file(shared):
            whole = _read(shared)
            tool: object = whole.table.get("tool")
            found: object = tool.get("flowdsl") if is_dict(tool) else None
            if whole.wrong:
                return whole
            if is_dict(found):
                return whole._replace(table=found, within=("tool", "flowdsl"))
    return _Settings(None, folder)


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 -- Path.is_file raises where a name is too long


def _read(path: Path) -> _Settings:
    """A whole settings file; if it cannot be read, a finding at the position of the error."""
    import tomllib

    text, line, column = "", 1, 0
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors on Windows begin a file with a mark
        return _Settings(path, path.parent, text, tomllib.loads(text))
    except OSError as error:
        reason, way = error.strerror or str(error), "make it a file that can be read"
    except UnicodeDecodeError as error:
        reason, way = f"byte {error.object[error.start]:#04x} is not UTF-8", "save the file as UTF-8"
        line = error.object[: error.start].count(b"\n") + 1
    except tomllib.TOMLDecodeError as error:
        at = _AT.search(str(error))
        reason, way = _AT.sub("", str(error)), "write it as TOML has it, with strings in quotes"
        known = at is not None and at[1] is not None
        line, column = (int(at[1]), int(at[2])) if at and known else (text.rstrip().count("\n") + 1, 0)
    from flowdsl.compiler.findings.profile import UnreadableSettings

    span = Span(str(path), line, column, line, column + 1 if column else 0)
    return _Settings(path, path.parent, wrong=(Diagnostic(UnreadableSettings(reason, way), span),))
