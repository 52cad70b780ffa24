"""Puts the input artifacts of a pod where its containers find them.

Source: loadArtifact in workflow/executor/executor.go of Argo 4.1, and the drivers of workflow/artifacts.
"""

from __future__ import annotations

import os
import posixpath
import shutil
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from flowdsl.grammar.reason import said
from flowdsl.runtime.local.controller.templates import located
from flowdsl.runtime.local.pods.archive import BadArchive, is_tar, unpack_tar, unpack_zip
from flowdsl.runtime.local.pods.environment import keyed
from flowdsl.runtime.local.pods.refusal import Refusal, in_executor, of_the_step
from flowdsl.runtime.local.pods.settings import GIVE_ARTIFACT, Settings
from flowdsl.runtime.local.pods.store import BadKey, Store, copied, place
from flowdsl.runtime.local.pods.web import UNANSWERED, add_header, request
from flowdsl.runtime.parts import part, several

Json = dict[str, Any]


class NotFound(Exception):
    """The artifact does not exist; an optional one is left out."""


class LoadError(Exception):
    """An artifact could not be loaded."""


def load(artifact: Json, target: Path, store: Store, settings: Settings) -> bool:
    """Load one artifact to a path that does not exist yet; return whether there is one. Raises Refusal."""
    name = artifact["name"]
    if not located(artifact):
        if artifact.get("optional"):
            return False
        raise failed(f"required artifact '{name}' not supplied")
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name}.tmp")
    try:
        fetch(artifact, temporary, store, settings)
    except NotFound as error:
        if artifact.get("optional"):
            return False
        raise failed(f"artifact {name} failed to load: {error}") from None
    except (LoadError, BadKey, OSError) as error:
        raise failed(f"artifact {name} failed to load: {said(of_the_step(error))}") from None
    try:
        unarchive(artifact, temporary, target)
    except (BadArchive, OSError) as error:
        raise failed(said(of_the_step(error))) from None
    if artifact.get("mode") is not None:
        try:
            change_mode(target, int(artifact["mode"]), bool(artifact.get("recurseMode")))
        except FileNotFoundError as error:
            at = posixpath.join(f"/argo/inputs/artifacts/{name}", os.path.relpath(error.filename, target))
            raise failed(f"chmod {posixpath.normpath(at)}: no such file or directory") from None
    return True


def failed(message: object) -> Refusal:
    """The outcome of a pod whose init container has failed. Source: inferFailedReason of Argo."""
    return Refusal(in_executor("init", message))


def fetch(artifact: Json, target: Path, store: Store, settings: Settings) -> None:
    """Fetch the content of an artifact. Raises NotFound, LoadError, BadKey, OSError."""
    kind, key = place(artifact)
    given = settings.artifacts.get(artifact["name"]) or settings.artifacts.get(key)
    if key and store.get(key, target):
        return
    if given is not None:
        if not copied(given, target):
            raise LoadError(f"{given} does not exist")
        return
    if kind == "s3" and artifact["s3"].get("endpoint"):
        key = f"{artifact['s3'].get('bucket', '')}/{key} at {artifact['s3']['endpoint']}"
    if kind:
        way = GIVE_ARTIFACT.format(name=artifact["name"])
        lacks = f"key {key} is not among the artifacts of this run; {way}"
        raise NotFound(f"The specified key does not exist. The {lacks}" if kind == "s3" else f"the {lacks}")
    if "raw" in artifact:
        target.write_bytes(str(artifact["raw"].get("data", "")).encode(errors="surrogateescape"))
    elif "http" in artifact or "git" in artifact:
        try:
            download(artifact["http"], target, settings) if "http" in artifact else clone(
                artifact["git"], target
            )
        except LoadError as error:
            raise LoadError(f"{error}; {GIVE_ARTIFACT.format(name=artifact['name'])}") from None
    else:
        raise LoadError("its kind is not one that a run on one machine knows")


def download(http: Json, target: Path, settings: Settings) -> None:
    """Download a URL. Raises NotFound, LoadError."""
    try:
        asked = request(http["url"])
    except ValueError as error:
        raise LoadError(f"{http['url']}: {error}") from None
    for header in several(http, "headers"):
        add_header(asked, header["name"], header["value"])
    basic = part(part(http, "auth"), "basicAuth")
    if basic:
        import base64

        words = [
            keyed("secretKeyRef", basic[one], settings, "init") or ""
            for one in ("usernameSecret", "passwordSecret")
            if one in basic
        ]
        asked.add_header("Authorization", "Basic " + base64.b64encode(":".join(words).encode()).decode())
    try:
        with urllib.request.urlopen(asked) as answer, target.open("wb") as file:
            shutil.copyfileobj(answer, file, 1 << 20)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 404:
                raise NotFound(f"{http['url']}: {error.code} {error.reason}") from None
            raise LoadError(
                f"loading file from {http['url']} failed with reason: {error.code} {error.reason}"
            ) from None
    except UNANSWERED as error:
        raise LoadError(f"{http['url']}: {said(error)}") from None


def clone(git: Json, target: Path) -> None:
    """Clone a repository with the git command, and the keys and settings of the user. Raises LoadError."""
    repository, revision = str(git["repo"]), str(git.get("revision", ""))
    if repository.startswith("-") or revision.startswith("-"):
        raise LoadError("a repository or revision begins with `-`")
    words = ["clone", "--quiet"]
    if git.get("depth"):
        words += ["--depth", str(int(git["depth"]))]
    if git.get("singleBranch"):
        words += ["--single-branch", *(["--branch", git["branch"]] if git.get("branch") else [])]
    _git([*words, "--", repository, str(target)], None)
    if git.get("fetch"):
        _git(["fetch", "--quiet", "origin", *map(str, git["fetch"])], target)
    if revision:
        for one in (f"origin/{revision}", revision):
            try:
                _git(["checkout", "--quiet", "--detach", one], target)
                break
            except LoadError:
                if one == revision:
                    raise
    if not git.get("disableSubmodules"):
        _git(["submodule", "update", "--quiet", "--init", "--recursive"], target)


def _git(words: list[str], folder: Path | None) -> None:
    env = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            ["git", *words], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except FileNotFoundError:
        raise LoadError("git is not installed on this machine") from None
    if done.returncode != 0:
        raise LoadError(f"git {words[0]}: {done.stderr.decode(errors='replace').strip()}")


def unarchive(artifact: Json, temporary: Path, target: Path) -> None:
    """Extract what was loaded, if it is an archive. Raises BadArchive."""
    archive = part(artifact, "archive")
    if "zip" in archive:
        unpack_zip(temporary, target)
    elif "tar" in archive or ("none" not in archive and temporary.is_file() and is_tar(temporary)):
        unpack_tar(temporary, target)
    else:
        temporary.rename(target)
        return
    temporary.unlink()


def change_mode(path: Path, mode: int, all_below: bool) -> None:
    """chmod, if wanted recursively, and following links. Raises FileNotFoundError for a dangling one."""
    if all_below and path.is_dir():
        for folder, names, files in os.walk(path, topdown=False):
            for name in (*names, *files):
                Path(folder, name).chmod(mode)
    path.chmod(mode)
