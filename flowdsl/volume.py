"""Volumes and secrets: what a step mounts or reads by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from flowdsl.place import Site, here

if TYPE_CHECKING:
    from os import PathLike

AccessMode = Literal["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]


class Volume:
    """An existing PersistentVolumeClaim; `volume / "folder"` is a path on it.

    `name` is the claim's name. `mode` is the access mode of the claim as Kubernetes spells it; it
    tells the compiler what several pods may do at the same time.
    """

    __slots__ = ("mode", "name", "read_only", "site")

    def __init__(self, name: str, *, mode: AccessMode = "ReadWriteMany") -> None:
        self.name = name
        self.mode: str = mode
        self.read_only = False
        self.site: Site = here()

    @property
    def ro(self) -> Volume:
        """The same volume, to be mounted read-only."""
        twin = Volume.__new__(Volume)
        twin.name, twin.mode, twin.site, twin.read_only = self.name, self.mode, self.site, True
        return twin

    def __truediv__(self, path: str | PathLike[str]) -> Path:
        # A step declares `Path`, and inside the pod it is one; here it is only the way to it.
        return cast(Path, VolumePath(self, _text(path)))

    def __str__(self) -> str:
        return _shown(self, self, "")

    def __repr__(self) -> str:
        return f"Volume({self.name!r})"


class VolumePath:
    """A path on a volume; its text may hold values that exist only at run time."""

    __slots__ = ("text", "volume")

    def __init__(self, volume: Volume, text: str) -> None:
        self.volume = volume
        self.text = text

    def __truediv__(self, path: str | PathLike[str]) -> VolumePath:
        return VolumePath(self.volume, f"{self.text.rstrip('/')}/{_text(path)}")

    @property
    def ro(self) -> VolumePath:
        """The same path, to be mounted read-only."""
        return VolumePath(self.volume.ro, self.text)

    def __fspath__(self) -> str:
        from flowdsl.trace import OutsidePipeline

        raise OutsidePipeline(
            f"{self!r} is a path on a volume of the cluster: pass it to a step, which sees it as a Path"
        )

    def __str__(self) -> str:
        return _shown(self, self.volume, self.text)

    def __repr__(self) -> str:
        return f"{self.volume!r} / {self.text!r}"


def _text(path: Any) -> str:
    # format() before os.fspath: a run-time value answers both with the token that stands for it.
    return path if isinstance(path, str) else format(path, "") if _is_value(path) else str(path)


def _shown(thing: Volume | VolumePath, volume: Volume, text: str) -> str:
    """The text of a volume or path: in a pipeline what is found again in the texts that tasks are given."""
    from flowdsl import types as t
    from flowdsl.expr import Const, OnVolume
    from flowdsl.trace import current, token

    return repr(thing) if current() is None else token(OnVolume(volume, Const(text, t.TEXT)))


def _is_value(path: object) -> bool:
    from flowdsl.value import RunTimeValue

    return type(path) is RunTimeValue


class Secret:
    """One key of a Kubernetes Secret, for `secrets={"TOKEN": Secret("hub", "token")}`."""

    __slots__ = ("key", "name", "site")

    def __init__(self, name: str, key: str) -> None:
        self.name = name
        self.key = key
        self.site: Site = here()

    def __repr__(self) -> str:
        return f"Secret({self.name!r}, {self.key!r})"
