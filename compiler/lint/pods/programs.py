"""What the program of a container finds at the paths that it names: files it can run, and mounts of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.pods.bodies import arguments
from flowdsl.compiler.lint.pods.mounts import is_in, mount_of, place_of
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, inside, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.names import is_data_key
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object


class NotExecutable(Finding):
    """A program in a ConfigMap or Secret, whose files nobody may execute."""

    code = "FD891"
    title = "`{program}` cannot be executed: the files of its volume have the mode {mode}"
    label = "permission denied"
    help = "run the program that reads the file, as in {way}; or write `{field}: 0755` in the volume"
    program: str
    mode: str
    field: str
    way: str


class NotSeen(Finding):
    """A path that is mounted for the step, and not for the container beside it that uses the path."""

    code = "FD897"
    severity = "warning"
    title = "`{path}` is {what} of the step, which `{name}` does not have"
    label = "not mounted here"
    help = "write {way} for `{name}`"
    path: str
    what: str
    name: str
    way: str = "`mirrorVolumeMounts: true`"


_USUAL = 0o644
"""The mode of files without another one. Source: Kubernetes, SetDefaults_ConfigMapVolumeSource."""


def executable(view: View) -> Iterator[Problem]:
    """Programs that come from a ConfigMap or Secret may be executed."""
    for template, place, container in view.containers:
        program: str = next(iter(container.get("command") or ()), "")
        mount = mount_of(container, program)
        if mount is None or view.is_patched(template):
            continue
        volume = view.volumes_of(template).get(string(mount, "name"), {})
        found = _mode(volume, program, mount)
        if found is not None and not found[1] & 0o111:
            way = f"[{'python' if program.endswith('.py') else 'sh'}, {program}]"
            finding = NotExecutable(program, f"{found[1]:04o}", found[0], way)
            yield Problem((*template.path, *place, "command", 0), finding)


def _mode(volume: Object, program: str, mount: Object) -> tuple[str, int] | None:
    """The mode of a program in a volume, and the field for it, if it is a file of a ConfigMap or Secret there."""
    at, part = place_of(mount), string(mount, "subPath")
    file = part if program == at else program.removeprefix(f"{at}/")
    if not is_data_key(file) or (part and program != at):
        return None
    for kind in ("configMap", "secret"):
        source = inside(volume, kind)
        if source:
            modes = [each.get("mode") for each in entries(source, "items") if each.get("path") == file]
            own = next(iter(modes), None) is not None
            field, given = ("mode", modes[0]) if own else ("defaultMode", source.get("defaultMode", _USUAL))
            return (field, given) if isinstance(given, int) else None
    return None


def seen(view: View) -> Iterator[Problem]:
    """Sidecars and init containers have the artifacts whose paths they name, and init containers the volumes.

    A sidecar may have a folder of its image at the path of a volume, such as a database its `/data`. Source:
    Argo Workflows, addInitContainers and addSidecars, which follow addInputArtifactsVolumes.
    """
    for template in view.templates:
        beside = [each for each in template.containers if each[0][0] in ("initContainers", "sidecars")]
        if not beside or not template.is_pod or view.is_patched(template):
            continue
        inputs = entries(template.data, "inputs", "artifacts")
        artifacts = [
            (at, string(each, "name")) for each in inputs if (at := string(each, "path").rstrip("/"))
        ]
        mounts = entries(inside(template.data, template.body), "volumeMounts")
        volumes = [
            (at, string(each, "name")) for each in mounts if (at := place_of(each)) and at not in _IN_IMAGES
        ]
        for place, container in beside:
            path = (*template.path, *place)
            if container.get("mirrorVolumeMounts"):
                continue
            own = entries(container, "volumeMounts")
            taken = {string(each, "name") for each in own}
            places = {at: f"the artifact `{name}`" for at, name in artifacts}
            if place[0] == "initContainers":
                places |= {at: "in a volume" for at, name in volumes if name not in taken}
            for where, word in arguments(container, path):
                for found in _PATH.finditer(word):
                    what = next((said for at, said in places.items() if is_in(found[0], at)), None)
                    if what is not None and not any(is_in(found[0], place_of(each)) for each in own):
                        finding = NotSeen(found[0], what, string(container, "name"))
                        yield Problem(where, finding, part=found.span())
                        break


_PATH = regex(r"(?<![\w.~/{}$:-])(?:/[\w.-]+)+")
"""A path from the root, and not the end of another one or of an address."""
_IN_IMAGES = (
    "/tmp",
    "/var",
    "/etc",
    "/usr",
    "/root",
    "/home",
    "/opt",
    "/dev",
    "/run",
    "/var/run",
    "/dev/shm",
)
"""Folders that an image has anyway."""
