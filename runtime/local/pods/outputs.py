"""Collects the outputs of a pod: parameters, artifacts, results, logs.

Source: saveParameter in cmd/argoexec/commands/emissary.go, SaveParameters, SaveArtifacts, SaveLogs and
CaptureScriptResult in workflow/executor/executor.go of Argo 4.1, and inferFailedReason of its controller; the
resulting structures are those of recordings of a real one.
"""

from __future__ import annotations

import errno
import os
import posixpath
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flowdsl.compiler.kinds import kind
from flowdsl.grammar.artifact_path import leads_up
from flowdsl.grammar.reason import said
from flowdsl.grammar.utf8 import decoded
from flowdsl.runtime.local.controller.events import Outcome, Phase
from flowdsl.runtime.local.controller.templates import located
from flowdsl.runtime.local.pods.paths import View
from flowdsl.runtime.local.pods.refusal import in_executor, of_the_step
from flowdsl.runtime.local.pods.store import BadKey, Store, place
from flowdsl.runtime.parts import part, several

Json = dict[str, Any]
_LONGEST_RESULT = 256 * 1024


class Taken:
    """The outputs of a pod that has run, and the errors in collecting them.

    `key`: the folder of its artifacts in the store. `there`: translates a text of its programs to what it is in a
    container. `folder`: the working directory of its program, from which relative paths are resolved. `copied`:
    whether Argo's executor in the main container has copied outputs that are not on a volume, as it does when the
    container ends. When a pod is stopped, all of its containers are stopped at once, and nobody waits for that.
    """

    def __init__(
        self,
        template: Json,
        view: View,
        store: Store,
        key: str,
        there: Callable[[str], str],
        *,
        folder: str,
        copied: bool,
    ) -> None:
        self.wanted: Json = part(template, "outputs")
        self.mounts = _mounts(template)
        self.folder = folder
        self.copied = copied
        self.inputs = [
            posixpath.normpath(one["path"])
            for one in several(part(template, "inputs"), "artifacts")
            if one.get("path") and (located(one) or not one.get("optional"))
        ]
        self.view = view
        self.store = store
        self.key = key
        self.there = there
        self.found: Json = {}
        self.errors: list[str] = []
        self.unsaved = ""
        """Why Argo's executor in the main container could not copy outputs that are not on a volume; else empty."""

    def all(self, result: str | None, logs: dict[str, Path]) -> None:
        """Collect everything, in Argo's order."""
        if result is not None:
            self.found["result"] = self.there(cut(result))
        if self.wanted.get("parameters"):
            self.parameters(self.wanted["parameters"])
        artifacts = self.artifacts() + self.logs(logs)
        if artifacts:
            self.found["artifacts"] = artifacts

    def parameters(self, wanted: list[Json]) -> None:
        """Read the files of parameters; stops at the first missing file, and all parameters are listed."""
        listed = self.found["parameters"] = [dict(one) for one in wanted]
        for one in listed:
            source = part(one, "valueFrom")
            path = source.get("path")
            if not path:
                continue
            try:
                text = self.there(decoded(self._place(path).read_bytes()))
            except (NotADirectoryError, IsADirectoryError) as error:
                verb = "open" if isinstance(error, NotADirectoryError) else "read"
                if not self._is_on_volume(path):
                    self.unsaved = self.unsaved or _uncopied(path, verb, _reason(error))
                    text = ""
                elif verb == "read" and source.get("default") is not None:
                    text = str(source["default"])
                else:
                    self.errors.append(f"{verb} {self._kept('parameters', path)}: {_reason(error)}")
                    return
            except OSError as error:
                if source.get("default") is None:
                    self.errors.append(f"open {self._kept('parameters', path)}: {_reason(error)}")
                    return
                text = str(source["default"])
            one["value"] = text.removesuffix("\n")

    def artifacts(self) -> list[Json]:
        """Store the artifacts that exist."""
        if not self.wanted.get("artifacts"):
            return []
        from flowdsl.runtime.local.pods.archive import BadArchive

        saved: list[Json] = []
        errors: list[str] = []
        for wanted in several(self.wanted, "artifacts"):
            if not wanted.get("path"):
                continue
            one = {**wanted, "path": posixpath.normpath(wanted["path"])}
            if leads_up(wanted["path"]):
                errors.append(
                    f"Artifact '{one['name']}' attempted to use a path containing '..'. "
                    "Directory traversal is not permitted"
                )
                continue
            try:
                path = self._place(one["path"])
            except FileNotFoundError:
                path = None
            if path is None or not path.exists():
                if not one.get("optional"):
                    errors.append(self._missing(one))
                continue
            try:
                if path.is_file() or path.is_dir():
                    saved.append(self.save(one, path))
                else:
                    saved += self._unpackable(one, errors)
            except BadArchive as error:
                errors.append(str(error))
            except UnicodeError:
                errors.append(f"artifact {one['name']} cannot be saved: the name of a file in it is no UTF-8")
            except (BadKey, OSError) as error:
                errors.append(f"artifact {one['name']} cannot be saved: {said(of_the_step(error))}")
        if errors:
            self.errors.append("".join(f"{one}; " for one in errors))
        return saved

    def _unpackable(self, artifact: Json, errors: list[str]) -> list[Json]:
        """Handle a pipe or device in place of a file; returns the artifacts that are stored nevertheless."""
        path = artifact["path"]
        if not self._is_on_volume(path):
            why = f"{path} is not a regular file or directory"
            self.unsaved = self.unsaved or (
                f"failed to tarball the output {path} to {self._kept('artifacts', path)}.tgz: {why}"
            )
        if self._is_beside(path):
            errors.append(f"{self._kept('artifacts', path)} is not a regular file or directory")
            return []
        archive = part(artifact, "archive")
        if "zip" in archive or "none" in archive:
            errors.append("EOF")
            return []
        found, key = self._keyed(artifact, f"{artifact['name']}.tgz")
        made = self.store.part()
        made.touch()
        self.store.take(key, made)
        return [found]

    def _kept(self, kind: str, path: str) -> str:
        """Where Argo's executor looks for the file at a path, which its messages name."""
        place = "/mainctrfs" if self._is_beside(path) else f"/var/run/argo/outputs/{kind}"
        return posixpath.normpath(f"{place}/{path}")

    def _is_on_volume(self, path: str) -> bool:
        return any(path == one or path.startswith(f"{one}/") for one in self.mounts)

    def _place(self, path: str) -> Path:
        """The file on this machine, as Argo sees it. Raises FileNotFoundError."""
        beside = self._is_beside(path)
        if not (self.copied or beside):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return self.view.place(self._path(path), [*self.mounts, *self.inputs] if beside else ())

    def _path(self, path: str) -> str:
        """The absolute path of an output."""
        return posixpath.join(self.folder, path)

    def _is_beside(self, path: str) -> bool:
        """Whether Argo's wait container itself sees a path: on a volume, or in an input. Source: isBaseImagePath."""
        return self._is_on_volume(path) or any(
            path == one or path.startswith(f"{one}/") for one in self.inputs
        )

    def _missing(self, artifact: Json) -> str:
        path = str(artifact["path"])
        kept = self._kept("artifacts", path)
        if not kept.startswith("/mainctrfs/"):
            return f"open {kept}.tgz: no such file or directory"
        if "none" in part(artifact, "archive"):
            return f"{path} no such file or directory"
        return f"stat {kept}: no such file or directory"

    def save(self, artifact: Json, path: Path) -> Json:
        """Store one artifact; returns it with its location. Raises OSError, BadKey, BadArchive."""
        from flowdsl.runtime.local.pods.archive import pack_tar, pack_zip

        archive = part(artifact, "archive")
        named = artifact["path"].rpartition("/")[2]
        source = path
        if path.is_dir() and self.view.entry(self._path(artifact["path"])).is_symlink():
            source = self.view.entry(self._path(artifact["path"]))  # Argo follows a link to a file only
        if ("zip" in archive or "none" in archive) and not self._is_beside(artifact["path"]):
            self._check_unpacked(artifact, source, named)
        if "none" in archive:
            found, key = self._keyed(artifact, named)
            self.store.put(key, path)
            return found
        found, key = self._keyed(artifact, f"{artifact['name']}.{'zip' if 'zip' in archive else 'tgz'}")
        made = self.store.part()
        if "zip" in archive:
            pack_zip(source, self._whole(artifact["path"]) if path.is_file() else named, made)
        else:
            level = part(archive, "tar").get("compressionLevel")
            pack_tar(source, named, made, -1 if level is None else int(level))
        self.store.take(key, made)
        return found

    def _whole(self, path: str) -> str:
        """Argo's name of a single file in a zip archive: its path in the wait container."""
        if self._is_beside(path):
            return f"/mainctrfs{path}"
        return f"/tmp/argo/outputs/artifacts/{posixpath.basename(path)}"

    def _check_unpacked(self, artifact: Json, path: Path, name: str) -> None:
        """Refuse what gets lost where Argo unpacks what it has packed. Raises BadArchive.

        Argo gives a single file its own name, and then looks for it under that of the artifact to zip it. Source:
        stageArchiveFile in workflow/executor/executor.go of Argo 4.1.
        """
        from flowdsl.runtime.local.pods.archive import BadArchive, check_link, check_links

        unpacked = f"/tmp/argo/outputs/artifacts/{artifact['name']}"
        if path.is_symlink():
            check_link(name, str(path.readlink()))
            raise BadArchive(f"open {unpacked}: no such file or directory")
        if path.is_dir():
            check_links(path, name)
        elif "zip" in part(artifact, "archive") and name != artifact["name"]:
            raise BadArchive(f"stat {unpacked}: no such file or directory")

    def _keyed(self, artifact: Json, name: str) -> tuple[Json, str]:
        """An artifact with its location in the store, and its key there."""
        key = place(artifact)[1]
        if key:
            return artifact, key
        key = f"{self.key}/{name}"
        return {**artifact, "s3": {"key": key}}, key

    def logs(self, logs: dict[str, Path]) -> list[Json]:
        """Store the logs of containers."""
        saved: list[Json] = []
        for name, path in logs.items():
            key = f"{self.key}/{name}.log"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            try:
                self.store.put(key, path)
            except (BadKey, OSError) as error:
                self.errors.append(f"the log of {name} cannot be saved: {said(of_the_step(error))}")
            else:
                saved.append({"name": f"{name}-logs", "s3": {"key": key}})
        return saved

    def outcome(self, phase: Phase, message: str, code: int | None) -> Outcome:
        """The outcome of the pod: errors of outputs count if there are no others."""
        if code is not None:
            self.found["exitCode"] = str(code)
        if phase == "Succeeded" and self.errors:
            phase, message = "Error", in_executor("wait", self.errors[0])
        return Outcome(phase, message, self.found or None)


def _mounts(template: Json) -> list[str]:
    """The paths at which the containers of a template mount volumes."""
    body = part(template, kind(template))
    return [str(one["mountPath"]).rstrip("/") for one in several(body, "volumeMounts")]


def cut(result: str) -> str:
    """Standard output as a result: without its last newline, at most the last 256 KiB."""
    text = result.removesuffix("\n")
    if len(text) <= _LONGEST_RESULT // 4:
        return text
    data = text.encode(errors="surrogateescape")
    return decoded(data[-_LONGEST_RESULT:]) if len(data) > _LONGEST_RESULT else text


def _uncopied(path: str, verb: str, reason: str) -> str:
    """Argo's message about a file that it cannot open, or cannot copy to a volume of its own."""
    if verb == "open":
        return f"failed to open {path}: open {path}: {reason}"
    copy = f"/var/run/argo/outputs/parameters/{path}"
    return f"failed to copy {path} to {copy}: write {copy}: copy_file_range: {reason}"


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
