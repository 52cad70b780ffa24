"""Converts the containers of a pod's template to programs to run."""

from __future__ import annotations

import posixpath
import shlex
from pathlib import Path
from typing import Any, Literal

from flowdsl.compiler.evaluation.values import json_of
from flowdsl.compiler.limits import MOST_VARIABLE
from flowdsl.grammar.duration import duration
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.names import is_argo_container
from flowdsl.grammar.regex import regex
from flowdsl.runtime.local.controller.events import StartPod
from flowdsl.runtime.local.pods.patch import patched
from flowdsl.runtime.local.pods.refusal import Refusal
from flowdsl.runtime.local.pods.settings import GIVE_IMAGE, Settings
from flowdsl.runtime.parts import part, several, texts

Json = dict[str, Any]
Role = Literal["init", "main", "sidecar"]
SCRIPT = "/argo/staging/script"
_PYTHON = regex(r"(?:.*/)?python(?:3(?:\.\d+)?)?")
_GRACE = 30.0


class Unit(NamedTuple):
    """One container of a pod, before it runs.

    `command`, `args`: the command line, not yet expanded. `depends`: containers of the same containerSet that have
    to succeed before it. `by_file`: its arguments are too long for a command line, so that Argo passes them in a
    file.
    """

    name: str
    role: Role
    body: Json
    command: list[str]
    args: list[str]
    depends: tuple[str, ...] = ()
    by_file: bool = False


class Shape(NamedTuple):
    """The containers of a pod by role, its volumes, and the seconds between TERM and KILL.

    `tries`: the most attempts of a container of a containerSet, `pause`: the seconds between them, `nodes`: whether
    each of the main containers has a node of its own.
    """

    inits: list[Unit]
    mains: list[Unit]
    sidecars: list[Unit]
    volumes: list[Json]
    grace: float
    account: str
    tries: int = 1
    pause: float = 0.0
    nodes: bool = False

    @property
    def together(self) -> list[Unit]:
        """The containers that run in parallel, after the init containers."""
        return [*self.mains, *self.sidecars]

    @property
    def alone(self) -> bool:
        """Whether there is only one container."""
        return len(self.inits) + len(self.mains) + len(self.sidecars) == 1


def shape(start: StartPod, settings: Settings, inputs: list[Json]) -> Shape:
    """The containers of a pod. Raises Refusal.

    `inputs`: the artifacts that exist; they are mounted into the container `main`. Source: build in
    workflow/controller/workflowpod.go of Argo 4.1.
    """
    template = start.template
    group = template.get("containerSet")
    mains, depends = _mains(template)
    mounted = [{"name": "", "mountPath": one["path"], "artifact": one["name"]} for one in inputs]
    for one in mains:
        if one["name"] == "main":
            one["volumeMounts"] = [*several(one, "volumeMounts"), *mounted]
    spec: Json = {
        "containers": [*mains, *(_mirrored(one, mains) for one in several(template, "sidecars"))],
        "initContainers": [_mirrored(one, mains) for one in several(template, "initContainers")],
        "volumes": [*start.volumes, *several(template, "volumes")],
    }
    if start.patches or template.get("podSpecPatch"):
        spec = patched(spec, start)
        for field in ("containers", "initContainers"):
            spec[field] = [one for one in spec[field] if not is_argo_container(one["name"])]
    names = {one["name"] for one in mains}
    inits = [_unit(one, "init", (), settings) for one in spec["initContainers"]]
    units = [
        _unit(one, "main" if one["name"] in names else "sidecar", depends.get(one["name"], ()), settings)
        for one in spec["containers"]
    ]
    _by_file(units)
    tries, pause = (1, 0.0) if group is None else _retries(group)
    grace = settings.grace
    if grace is None:
        grace = float(spec.get("terminationGracePeriodSeconds", _GRACE))
    account = spec.get("serviceAccountName") or template.get("serviceAccountName") or "default"
    own = [one for one in units if one.role == "main"]
    others = [one for one in units if one.role == "sidecar"]
    return Shape(inits, own, others, spec["volumes"], grace, account, tries, pause, nodes=group is not None)


def _mains(template: Json) -> tuple[list[Json], dict[str, tuple[str, ...]]]:
    group = template.get("containerSet")
    if group is not None:
        found = [dict(one) for one in group["containers"]]
        depends = {one["name"]: tuple(one.pop("dependencies", None) or ()) for one in found}
        for one in found:
            one["volumeMounts"] = [*several(one, "volumeMounts"), *several(group, "volumeMounts")]
        return found, depends
    if "script" in template:
        script = dict(template["script"])
        if script.pop("source", None):  # without one, Argo runs the command alone
            script["args"] = [*texts(script, "args"), SCRIPT]
        return [{**script, "name": "main"}], {}
    return [{**template["container"], "name": "main"}], {}


def _mirrored(body: Json, mains: list[Json]) -> Json:
    """A container with the mounts of the main one, if it asks for them (`mirrorVolumeMounts`)."""
    if not body.get("mirrorVolumeMounts"):
        return body
    main = next((one for one in mains if one["name"] == "main"), mains[0])
    own = several(body, "volumeMounts")
    taken = {one["mountPath"] for one in own}
    return {
        **body,
        "volumeMounts": [*own, *(one for one in main["volumeMounts"] if one["mountPath"] not in taken)],
    }


def _unit(body: Json, role: Role, depends: tuple[str, ...], settings: Settings) -> Unit:
    words = [str(one) for one in texts(body, "command")]
    if not words and settings.engine is None:
        raise Refusal(
            f"the command of container {body['name']} is that of its image {body.get('image', '')}, which is not used "
            f"on this machine: {GIVE_IMAGE}"
        )
    return Unit(body["name"], role, body, words, [str(one) for one in texts(body, "args")], depends)


def _by_file(units: list[Unit]) -> None:
    """Marks the first container with too many arguments to get them in a file, and no other.

    Source: build in workflow/controller/workflowpod.go of Argo 4.1.
    """
    for position, unit in enumerate(units):
        few = 6 * sum(map(len, unit.args)) + 3 * len(unit.args) <= MOST_VARIABLE
        if not few and len(json_of(unit.args).encode(errors="surrogatepass")) > MOST_VARIABLE:
            units[position] = unit._replace(by_file=True)
            return


def pythonic(words: list[str], settings: Settings) -> list[str]:
    """A command line that uses the Python of the steps, if it calls Python."""
    if words and _PYTHON.fullmatch(words[0]):
        return [settings.python, *words[1:]]
    return words


def _retries(group: Json) -> tuple[int, float]:
    """The attempts of a container, and the pause. Source: GetRetryStrategy of Argo: `retries` counts all attempts."""
    strategy = part(group, "retryStrategy")
    try:
        return max(1, int(strategy.get("retries") or 1)), duration(str(strategy.get("duration") or "0"))
    except (ValueError, GrammarError) as error:
        raise Refusal(f"the retryStrategy of the containerSet: {error}") from None


def mounts(body: Json) -> list[Json]:
    """The mounts of a container, outer folders first. The kubelet resolves relative paths from the root."""
    found = [
        {**one, "mountPath": posixpath.normpath(posixpath.join("/", one["mountPath"]))}
        for one in several(body, "volumeMounts")
    ]
    return sorted(found, key=lambda one: one["mountPath"].count("/") if one["mountPath"] != "/" else 0)


def overlapping(artifact: Json, bodies: list[Json]) -> Json | None:
    """The mount of a volume that contains the path of an artifact. Source: FindOverlappingVolume of Argo."""
    path = posixpath.normpath(artifact["path"])
    found = [
        one
        for body in bodies
        for one in mounts(body)
        if one["name"] and (path == one["mountPath"] or path.startswith(one["mountPath"].rstrip("/") + "/"))
    ]
    return max(found, key=lambda one: len(one["mountPath"]), default=None)


def shims(folder: Path, python: str) -> Path:
    """A folder with `python` and `python3`, if the folder of the interpreter does not have them."""
    made = folder / "bin"
    for name in ("python", "python3"):
        if not Path(python).with_name(name).exists():
            made.mkdir(parents=True, exist_ok=True)
            shim = made / name
            shim.write_text(f'#!/bin/sh\nexec {shlex.quote(python)} "$@"\n', encoding="utf-8")
            shim.chmod(0o755)
    return made
