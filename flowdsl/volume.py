"""Volumes, ConfigMaps and Secrets that a step mounts or reads by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from flowdsl.places.place import Site, here
from flowdsl.tracing.trace import OutsidePipeline, current, token
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Held, OnVolume
from flowdsl.values.value import RunTimeValue

if TYPE_CHECKING:
    from os import PathLike

AccessMode = Literal["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]


class Mountable:
    """A volume that a step can mount, as written."""

    __slots__ = ("origin", "read_only", "site")

    def __init__(self) -> None:
        self.read_only = False
        self.site: Site = here()
        self.origin: Mountable = self  # one volume may be mounted twice, once read-only

    @property
    def ro(self) -> Self:
        """The same, to be mounted read-only."""
        twin = object.__new__(type(self))
        for kind in type(self).__mro__:
            for slot in getattr(kind, "__slots__", ()):
                setattr(twin, slot, getattr(self, slot))
        twin.read_only = True
        return twin


class Volume(Mountable):
    """An existing PersistentVolumeClaim; `volume / "folder"` is a path on it.

    `name` is the claim's name. `mode` is the access mode of the claim as Kubernetes spells it; it
    tells the compiler what several pods may do at the same time.
    """

    __slots__ = ("mode", "name")

    def __init__(self, name: str, *, mode: AccessMode = "ReadWriteMany") -> None:
        super().__init__()
        self.name = name
        self.mode: str = mode

    def __truediv__(self, path: str | PathLike[str]) -> Path:
        # A step declares `Path`, and gets one in the pod; here it is only a reference.
        return cast(Path, VolumePath(self, _text(path)))

    def __str__(self) -> str:
        return _shown(self, "")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class NewVolume(Volume):
    """A PersistentVolumeClaim that is made for each run, empty, and deleted when the run has ended.

    `size` is a quantity ("100Gi"), `mode` the access mode that is asked for, `storage_class` the name of a
    StorageClass; without one the cluster's default is used.
    """

    __slots__ = ("size", "storage_class")

    def __init__(
        self,
        name: str,
        size: str,
        *,
        mode: AccessMode = "ReadWriteOnce",
        storage_class: str | None = None,
    ) -> None:
        super().__init__(name, mode=mode)
        self.size = size
        self.storage_class = storage_class

    def __repr__(self) -> str:
        return f"NewVolume({self.name!r}, {self.size!r})"


class Local(Mountable):
    """A volume that is made for one pod; `volume / "folder"` is a part of it, to be mounted."""

    __slots__ = ()

    def __truediv__(self, path: str | PathLike[str]) -> VolumePath:
        return VolumePath(self, _text(path))

    def __str__(self) -> str:
        return _shown(self, "")


class Scratch(Local):
    """An empty folder that disappears with its pod: on the disk of its node, or in memory.

    `size` is the most it may hold ("20Gi"); above it the pod is evicted.
    """

    __slots__ = ("memory", "size")

    def __init__(self, size: str | None = None, *, memory: bool = False) -> None:
        super().__init__()
        self.size = size
        self.memory = memory

    def __repr__(self) -> str:
        words = [] if self.size is None else [repr(self.size)]
        words += [] if self.memory is False else ["memory=True"]
        return f"Scratch({', '.join(words)})"


class Named(Local):
    """An object of the cluster that contains texts by key."""

    __slots__ = ("key", "name")

    def __init__(self, name: str, key: str | None = None) -> None:
        super().__init__()
        self.name = name
        self.key = key

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}{'' if self.key is None else f', {self.key!r}'})"


class Config(Named):
    """A ConfigMap, mounted as a folder with a file for each key; with a key, that file alone.

    With a key it is also the value of a variable: `env={"LEVEL": Config("app", "level")}`.
    """

    __slots__ = ()


class Secret(Named):
    """A Kubernetes Secret: one key of it for `secrets={"TOKEN": Secret("hub", "token")}`, or mounted.

    Mounted it is a folder with a file for each key; with a key, that file alone.
    """

    __slots__ = ()


class Host(Local):
    """A folder or file of the node that the pod runs on. Nothing checks that all nodes have it."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    def __repr__(self) -> str:
        return f"Host({self.path!r})"


class VolumePath:
    """A path on a volume; its text may hold values that exist only at run time."""

    __slots__ = ("text", "volume")

    def __init__(self, volume: Volume | Local, text: str) -> None:
        self.volume = volume
        self.text = text

    def __truediv__(self, path: str | PathLike[str]) -> VolumePath:
        return VolumePath(self.volume, joined(self.text, path))

    @property
    def ro(self) -> VolumePath:
        """The same path, to be mounted read-only."""
        return VolumePath(self.volume.ro, self.text)

    def __fspath__(self) -> str:
        way = "pass it to a step, which sees it as a Path"
        raise OutsidePipeline(f"`{self!r}` is a path on a volume of the cluster", way, way)

    def __str__(self) -> str:
        return _shown(self.volume, self.text)

    def __repr__(self) -> str:
        return f"{self.volume!r} / {self.text!r}"


def joined(folder: str, path: str | PathLike[str]) -> str:
    """A path below another one."""
    # A value of the run that is the whole path becomes part of a text here.
    return f"{format(folder, '').rstrip('/')}/{_text(path)}"


def _text(path: Any) -> str:
    # format() before os.fspath: a run-time value returns its token from both.
    return path if isinstance(path, str) else format(path, "") if _is_value(path) else str(path)


def _shown(volume: Volume | Local, text: str) -> str:
    """The text of a volume or path, which can be found in the arguments of tasks and options."""
    if not isinstance(volume, Volume):
        return token(Held(type(volume).__name__))
    if current() is None:
        return token(Held("path on a volume"))
    return token(OnVolume(volume, Const(text, t.TEXT)))


def _is_value(path: object) -> bool:
    return type(path) is RunTimeValue
