"""Volume mounts: undeclared volumes, and paths that are used twice."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.pods.findings import NotForPods
from flowdsl.compiler.lint.pods.stores import BadArtifact
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, entries_at, inside, is_mapping, string
from flowdsl.diagnostic import Finding, Unknown
from flowdsl.grammar.template import is_filled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path


class UnknownVolume(Unknown):
    """A mount of a volume that nobody declares."""

    code = "FD552"
    title = "there is no volume `{name}`"
    help = "declare `{name}` in `volumes` of the template or of the spec, or in `volumeClaimTemplates`"


class ForeignVolume(UnknownVolume):
    """A mount of a volume that every workflow which uses this template has to declare."""

    code = "FD553"
    severity = "warning"
    title = "volume `{name}` is not declared here; every workflow that uses the template has to declare it"
    help = "declare `{name}` in `volumes` of the template"


class MountTwice(Finding):
    """Two mounts, or a mount and an artifact, at one path."""

    code = "FD554"
    title = "something is mounted at `{path}` already"
    label = "`{path}` is taken by {other}"
    help = "give each mount and each artifact a path of its own"
    path: str
    other: str


class BelowFile(Finding):
    """A mount below another one that is a file: no folder can be made there."""

    code = "FD894"
    title = "`{path}` is below `{file}`, which is a file"
    label = "the container does not start"
    help = "mount it at a path of its own"
    path: str
    file: str


def mounts(view: View) -> Iterator[Problem]:
    """Mounted volumes exist, and no two things are at one path."""
    shared = _shared(view)
    kind = UnknownVolume if view.runs else ForeignVolume
    for template in view.templates:
        if not template.is_pod:
            continue
        yield from _paths(template)
        for path, name, known in _mounted(template, shared):
            if name not in known and not is_filled(name):
                yield Problem(path, kind(name, sorted(known)))


def _shared(view: View) -> frozenset[str] | None:
    """The names of the volumes that all templates share; None if there may be others."""
    names = [string(each, "name") for each in entries(view.spec, "volumes")]
    names += [string(each, "metadata", "name") for each in entries(view.spec, "volumeClaimTemplates")]
    names += [string(each, "name") for each in entries(view.defaults, "volumes")]
    return None if view.external else _written(names)


def _written(names: list[str]) -> frozenset[str] | None:
    """Literal names, without empty ones; None if a tag gives one of them."""
    return None if any("{{" in name for name in names) else frozenset(filter(None, names))


def _mounted(template: Template, shared: frozenset[str] | None) -> Iterator[tuple[Path, str, frozenset[str]]]:
    """The names of volumes that containers of a template mount, each with its path and the names that exist.

    Nothing if there may be others.
    """
    own = _written([string(each, "name") for each in entries(template.data, "volumes")])
    if shared is None or own is None:
        return
    known = shared | own
    for place, owner in template.mounting:
        for field in ("volumeMounts", "volumeDevices"):
            for path, mount in entries_at(owner, (*template.path, *place), field):
                if name := string(mount, "name"):
                    yield (*path, "name"), name, known


def _paths(template: Template) -> Iterator[Problem]:
    """The mounts and input artifacts of one template at a path that is already used.

    These are the mounts of one container, those that several containers share, those of Argo, and artifacts: at the
    path of a mount, which Argo refuses of a `container`, and of another artifact. In other bodies it fails when it puts
    an artifact in place of the mount. Source: Argo Workflows, loadArtifact.
    """
    yield from _own_paths(template)
    yield from _mirrored(template)
    yield from _repeated(template)
    taken: dict[str, str] = {}
    for path, mount in entries_at(template.data, template.path, "containerSet", "volumeMounts"):
        at = string(mount, "mountPath")
        if at in taken:
            yield Problem((*path, "mountPath"), MountTwice(at, taken[at]))
        taken[at] = f"volume `{mount.get('name')}`"
    for place, container in template.containers:
        if place[0] == "containerSet":
            yield from _at_taken(container, (*template.path, *place), taken)
    for mount in entries(template.data, template.body, "volumeMounts"):
        taken[string(mount, "mountPath")] = f"volume `{mount.get('name')}`"
    taken.pop("", None)
    refused = template.body == "container"
    files: dict[str, str] = {}
    for path, artifact in entries_at(template.data, template.path, "inputs", "artifacts"):
        at = string(artifact, "path")
        clean = _clean(at)
        other = taken.get(at, "") if refused or not artifact.get("optional") else ""
        if found := files.get(clean) or other:
            yield Problem((*path, "path"), MountTwice(clean if clean in files else at, found))
        if at:
            files[clean] = f"artifact `{artifact.get('name')}`"


def files_of_variables(view: View) -> Iterator[Problem]:
    """Variables are read from files of volumes that the pod has, and that are empty when it starts.

    Source: Kubernetes, validateFileKeyRefVolumes; Argo Workflows, addVolumeReferences, which adds mounted volumes.
    """
    shared = _shared(view)
    kind = UnknownVolume if view.runs else ForeignVolume
    for template in view.templates:
        told = list(_variables(template)) if template.is_pod and not view.is_patched(template) else []
        volumes = view.volumes_of(template)
        known = _written([*volumes, *shared]) if told and shared is not None else None
        if known is None:
            continue
        mounted = {name for _, name, _ in _mounted(template, shared)}
        for path, name in told:
            volume = volumes.get(name)
            if name not in known:
                yield Problem(path, kind(name, sorted(known)))
            elif name not in mounted and not any(map(is_filled, mounted)):
                reason = "a volume that no container mounts, so Argo leaves it out of the pod"
                way = "mount it where the file is written"
                yield Problem(path, NotForPods("`volumeName`", name, reason, way))
            elif volume and volume.get("emptyDir") is None:
                reason, way = (
                    "not an `emptyDir`",
                    "name an `emptyDir`, and write the file in an init container",
                )
                yield Problem(path, NotForPods("`volumeName`", name, reason, way))


def _variables(template: Template) -> Iterator[tuple[Path, str]]:
    """The names of volumes with files that variables are read from, each with its path."""
    steps = ("valueFrom", "fileKeyRef", "volumeName")
    for place, container in template.containers:
        for path, variable in entries_at(container, (*template.path, *place), "env"):
            if (name := string(variable, *steps)) and not is_filled(name):
                yield (*path, *steps), name


def _at_taken(container: Object, path: Path, taken: Mapping[str, str]) -> Iterator[Problem]:
    """The mounts of a container at used paths, which the mapping explains."""
    for here, mount in entries_at(container, path, "volumeMounts"):
        if (at := string(mount, "mountPath")) in taken:
            yield Problem((*here, "mountPath"), MountTwice(at, taken[at]))


def _repeated(template: Template) -> Iterator[Problem]:
    """Mounts of one container at the same path, for which the API server refuses the pod."""
    for place, container in template.containers:
        taken: dict[str, str] = {}
        for path, mount in entries_at(container, (*template.path, *place), "volumeMounts"):
            at = string(mount, "mountPath")
            if at in taken:
                yield Problem((*path, "mountPath"), MountTwice(at, taken[at]))
            elif at:
                taken[at] = f"volume `{mount.get('name')}`"


_NEVER_WRITTEN = ("configMap", "downwardAPI", "image", "projected", "secret")
"""The kinds of volumes that are always mounted to be read only."""


def is_read_only(mount: Object, volume: Object) -> bool:
    """Whether nothing can be written in a mount of a volume. Source: Kubernetes, GetAttributes of each volume."""
    kind = next((field for field in volume if is_mapping(volume[field])), "")
    return (
        mount.get("readOnly") is True or kind in _NEVER_WRITTEN or bool(inside(volume, kind).get("readOnly"))
    )


def written(view: View) -> Iterator[Problem]:
    """Input artifacts are not in volumes that are mounted read-only: Argo writes them there.

    Source: Argo Workflows, loadArtifact and inputArtifactExecutorMounts.
    """
    for template in view.templates:
        if not template.artifacts or not template.is_pod or view.is_patched(template):
            continue
        container = inside(template.data, template.body)
        for path, artifact in entries_at(template.data, template.path, "inputs", "artifacts"):
            at = _clean(string(artifact, "path"))
            mount = mount_of(container, at)
            if mount is None or place_of(mount) == at or artifact.get("optional") or "{{" in at:
                continue
            if is_read_only(mount, view.volumes_of(template).get(string(mount, "name"), {})):
                found = f"is to be written to `{at}`, in a volume that is mounted to be read only"
                way = f"give it a `path` outside of `{mount['mountPath']}`"
                finding = BadArtifact(string(artifact, "name"), found, way)
                yield Problem((*path, "path"), finding, part=(0, len(string(artifact, "path"))))


def below_files(view: View) -> Iterator[Problem]:
    """Nothing is mounted below a file: no container runtime can make a folder there."""
    for template in view.templates:
        volumes = view.volumes_of(template)
        for place, container in template.containers:
            listed = [*entries_at(container, (*template.path, *place), "volumeMounts")]
            if len(listed) < 2:
                continue
            files = [
                string(mount, "mountPath")
                for _, mount in listed
                if _is_file(volumes.get(string(mount, "name"), {}), mount)
            ]
            for path, mount in listed:
                at = string(mount, "mountPath")
                file = next((one for one in files if _lies_in(_clean(at), _clean(one))), None)
                if file is not None:
                    yield Problem((*path, "mountPath"), BelowFile(at, file))


def _is_file(volume: Object, mount: Object) -> bool:
    """Whether a mount is certainly a file: a key of a ConfigMap or the like, or a file of the node."""
    part = string(mount, "subPath")
    for kind in ("configMap", "secret", "downwardAPI"):
        source = inside(volume, kind)
        if source and part and "{{" not in part and source.get("optional") is not True:
            items = [string(each, "path") for each in entries(source, "items")]
            return part in items if items else "/" not in part
    return not part and inside(volume, "hostPath").get("type") in _FILES


_FILES = ("File", "FileOrCreate", "Socket", "CharDevice", "BlockDevice")
"""The types of a `hostPath` other than folders. Source: Kubernetes, HostPathType."""


def _lies_in(path: str, folder: str) -> bool:
    """Whether an absolute path is below a folder."""
    known = folder != "" and "{{" not in path + folder
    return known and path != folder and is_in(path, folder.rstrip("/"))


def place_of(mount: Object) -> str:
    """The folder or file of a mount, without a slash at its end."""
    return string(mount, "mountPath").rstrip("/")


def mount_of(container: Object, path: str) -> Object | None:
    """The mount in which a container has a path: the innermost, which hides the others; None if there is none."""
    mounts = [
        each
        for each in entries(container, "volumeMounts")
        if each.get("mountPath") and is_in(path, place_of(each))
    ]
    return max(mounts, key=lambda each: len(place_of(each)), default=None)


def is_in(file: str, place: str) -> bool:
    """Whether a path is a place, or lies in it."""
    return file == place or file.startswith(f"{place}/")


def _clean(path: str) -> str:
    """The normalized path of an artifact, as Argo mounts it. Source: Argo Workflows, CleanPath."""
    plain = path.startswith("/") and "{{" not in path and ".." not in path
    return f"/{posixpath.normpath(path).lstrip('/')}" if plain else path


def _mirrored(template: Template) -> Iterator[Problem]:
    """The mounts of containers that have those of the main container, too.

    Source: Argo Workflows, mirrorVolumeMounts.
    """
    taken = {
        string(mount, "mountPath"): f"volume `{mount.get('name')}`, by `mirrorVolumeMounts`"
        for mount in entries(template.data, template.body, "volumeMounts")
    }
    for place, container in template.containers:
        if container.get("mirrorVolumeMounts"):
            yield from _at_taken(container, (*template.path, *place), taken)


def _own_paths(template: Template) -> Iterator[Problem]:
    """The mounts and input artifacts of a template at a path where Argo mounts something in every pod."""
    inputs = entries_at(template.data, (), "inputs", "artifacts")
    for field, listed in (("mountPath", template.mounts), ("path", inputs)):
        for place, each in listed:
            path, at = (*template.path, *place, field), string(each, field).rstrip("/")
            if string(each, field) == "/":
                yield Problem(path, MountTwice("/", "the file system of the image"))
            elif at == "/var/run/argo" or (at == "/argo/staging" and place[0] == "script"):
                yield Problem(path, MountTwice(at, "Argo itself"))
