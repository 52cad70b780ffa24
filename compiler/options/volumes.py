"""What a step mounts, and what it reads of ConfigMaps and Secrets by key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from flowdsl.artifact import Artifact
from flowdsl.compiler.findings.amounts import BadQuantity, MemoryVolume
from flowdsl.compiler.findings.data import HostPath, MountedReadOnly, WholeObject
from flowdsl.compiler.findings.options import OptionType, RunTimeOption
from flowdsl.compiler.findings.surroundings import BadMountPath, BadObjectName, OutsideVolume
from flowdsl.compiler.ir import Mount
from flowdsl.compiler.naming import volume_name
from flowdsl.compiler.options.reading import Wrong, entries, said
from flowdsl.compiler.ports import OWN
from flowdsl.compiler.volumes import scratch_name
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.names import is_data_key, is_dns_subdomain
from flowdsl.grammar.quantity import quantity
from flowdsl.places.place import Argument
from flowdsl.values.later import of_run
from flowdsl.volume import Host, Local, Mountable, Named, Scratch, Secret, Volume, VolumePath

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.compiler.ir import Settings
    from flowdsl.compiler.options.reading import Reader

N = TypeVar("N", bound=Named)

SHM = "/dev/shm"


def one_key(name: str, found: N, part: str) -> N:
    """A ConfigMap or Secret of which one key is required; raises `Wrong`."""
    _object(found, part)
    if found.key is None:
        what = "the Secret" if isinstance(found, Secret) else "the ConfigMap"
        raise Wrong(WholeObject(name, what, found.name, type(found).__name__), part)
    return found


def _object(found: Named, part: str) -> None:
    """Check the name and the key of a ConfigMap or Secret; raises `Wrong`."""
    what = "a Secret" if isinstance(found, Secret) else "a ConfigMap"
    if not is_dns_subdomain(str(found.name)):
        raise Wrong(BadObjectName(repr(found.name), what), part)
    if found.key is not None and not is_data_key(str(found.key)):
        raise Wrong(BadObjectName(repr(found.key), f"a key of {what}"), part)


def sub_path(name: str, path: VolumePath, part: str = "value") -> str:
    """The folder or file on a volume that an option names, as Kubernetes requires it: relative. Raises `Wrong`."""
    text, volume = path.text, path.volume
    if "{{" in text:
        raise Wrong(OptionType(name, "a path without `{{`", said(text)), part)
    parts = [one for one in text.split("/") if one not in ("", ".")]
    if ".." in parts:
        raise Wrong(
            OutsideVolume(text, str(volume.name) if isinstance(volume, Volume) else repr(volume)), part
        )
    return "/".join(parts)


def folder(name: str, written: object) -> tuple[Volume, str] | None:
    """The volume, and the folder on it, that an option names; None where it names something else. Raises `Wrong`."""
    if isinstance(written, Volume):
        return written, ""
    if type(written) is VolumePath and isinstance(written.volume, Volume):
        return written.volume, sub_path(name, written)
    return None


def unmountable(path: str, scratch: bool) -> str:
    """Why a volume cannot be mounted at a path; empty if it can; `scratch`: each pod has its own."""
    if not path.startswith("/"):
        return "must begin with `/`"
    if ":" in path or "/../" in f"{path}/":
        return "must contain neither `:` nor `..`"
    if not path.strip("/"):
        return "would hide the files of the image"
    if f"{path}/".startswith(("/flowdsl/", *(f"{own}/" for own in OWN))):
        return "flowdsl keeps inputs and outputs there"
    kept = path.rstrip("/") == "/tmp" and not scratch
    return "each pod keeps inputs and outputs below it: mount a Scratch there" if kept else ""


def _mounts(name: str, written: object) -> tuple[tuple[Mount, Mountable], ...]:
    taken: dict[str, str] = {}
    scratches: dict[int, str] = {}

    def entry(path: Any, what: Any) -> tuple[Mount, Mountable]:
        if not isinstance(path, str):
            raise Wrong(OptionType(name, "a dict of paths to volumes", f"a dict with the key {said(path)}"))
        reason = unmountable(path, isinstance(what, Scratch))
        if not reason and (other := taken.setdefault(path.rstrip("/"), path)) is not path:
            reason = f"`{other}` is the same place"
        wrong = [Wrong(BadMountPath(str(path), reason), f"key:{path}")] if reason else []
        try:
            found = mounted(path, what)
        except Wrong as error:
            wrong.append(error)
        else:
            if not wrong:
                return found
        raise ExceptionGroup("entry", wrong)

    def mounted(path: Any, what: Any) -> tuple[Mount, Mountable]:
        part, where = f"item:{path}", f"{name}[{path!r}]"
        volume, folder = what, None
        if type(what) is VolumePath:
            volume, folder = what.volume, sub_path(where, what, part)
        if isinstance(volume, Volume):
            if type(volume.mode) is str and volume.mode == "ReadOnlyMany" and not volume.read_only:
                raise Wrong(MountedReadOnly(str(volume.name), path), part)
            return Mount(volume.name, path, folder, volume.read_only), volume
        if not isinstance(volume, Local):
            have = what.kind if type(what) is Artifact else type(what).__name__
            raise Wrong(OptionType(where, "a Volume", have), part)
        if isinstance(volume, Named) and volume.key is not None:
            folder = volume.key if folder is None else folder
        read_only = volume.read_only or isinstance(volume, Named)  # Kubernetes mounts these read-only
        return Mount(_named(volume, part, scratches), path, folder, read_only), volume

    return tuple(entries(name, written, "a dict of paths to volumes", entry))


def _named(volume: Local, part: str, scratches: dict[int, str]) -> str:
    """The name of a volume that belongs to one pod; raises `Wrong` for an invalid one."""
    match volume:
        case Scratch(size=most):
            if most is not None:
                size("size", most, part)
            if type(volume.memory) is not bool:
                raise Wrong(OptionType("memory of Scratch", "True or False", said(volume.memory)), part)
            return scratch_name(scratches, volume)
        case Named():
            _object(volume, part)
            return volume_name(f"flowdsl-{type(volume).__name__.lower()}-{volume.name}")
        case Host():
            path = cast("object", volume.path)
            if not isinstance(path, str) or not path.startswith("/") or ".." in path.split("/"):
                shown = path if isinstance(path, str) else said(path)
                raise Wrong(HostPath(shown), place=Argument(volume.site, "path", 0))
            return volume_name(f"flowdsl-host-{path}")
        case _:
            raise AssertionError(f"no name for {volume!r}")


def size(name: str, written: object, part: str) -> str:
    """An amount of storage; raises `Wrong`."""
    if of_run(written):
        raise Wrong(RunTimeOption(name), part)
    if isinstance(written, bool) or not isinstance(written, (int, str)):
        raise Wrong(OptionType(name, 'a string with a unit, such as "8Gi"', said(written)), part)
    try:
        amount = quantity(str(written))
    except GrammarError as error:
        raise Wrong(BadQuantity(name, str(written), error.expected), part) from None
    if amount <= 0:
        raise Wrong(BadQuantity(name, str(written), "more than nothing"), part)
    return str(written)


def _shm(name: str, written: object) -> tuple[tuple[Mount, Mountable], ...]:
    """Shared memory: the runtime's default is 64 MiB. Source: containerd and Docker, size of /dev/shm."""
    return ((Mount("flowdsl-shm", SHM), Scratch(size(name, written, "value"), memory=True)),)


def doubts(made: Settings, found: Mapping[str, Any]) -> Iterator[tuple[str, Wrong]]:
    """Volumes in memory that are larger than the memory of the step."""
    most = made.resources.limits.get("memory")
    if most is None:
        return
    for mount, volume in zip(made.environment.mounts, made.environment.volumes, strict=True):
        if not isinstance(volume, Scratch) or not volume.memory or volume.size is None or mount.read_only:
            continue
        if quantity(str(volume.size)) > quantity(most):
            option, part = (
                ("shm", "value") if mount.path == SHM and "shm" in found else ("mounts", f"item:{mount.path}")
            )
            yield option, Wrong(MemoryVolume(mount.path, str(volume.size), most), part)


READERS: dict[str, Reader] = {"mounts": _mounts, "shm": _shm}
