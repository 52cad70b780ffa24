"""The volumes of pods, from the words of the language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.ir import PodVolume
from flowdsl.compiler.naming import volume_name
from flowdsl.volume import Config, Host, NewVolume, Scratch, Secret, Volume

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flowdsl.compiler.ir import Environment
    from flowdsl.volume import Mountable


def claims(volumes: Iterable[Volume]) -> tuple[PodVolume, ...]:
    """The claims that all pods of a run see."""
    return tuple(_volume(volume_name(one.name), one) for one in volumes)


def local(environment: Environment) -> tuple[PodVolume, ...]:
    """The volumes that are made for one pod, each once."""
    pairs = zip(environment.mounts, environment.volumes, strict=True)
    found = {mount.volume: _volume(mount.volume, one) for mount, one in pairs if not isinstance(one, Volume)}
    return tuple(found.values())


def _volume(name: str, made: Mountable) -> PodVolume:
    match made:
        case NewVolume():
            size, kept = made.size, made.storage_class
            return PodVolume(
                name, "new", made.name, size, mode=made.mode, storage_class=kept, place=made.site
            )
        case Volume():
            return PodVolume(name, "claim", made.name, mode=made.mode, place=made.site)
        case Scratch():
            return PodVolume(name, "scratch", size=made.size, memory=made.memory, place=made.site)
        case Config():
            return PodVolume(name, "config", made.name, place=made.site)
        case Secret():
            return PodVolume(name, "secret", made.name, place=made.site)
        case Host():
            return PodVolume(name, "host", made.path, place=made.site)
        case _:
            raise AssertionError(f"no volume for {made!r}")


def alike(one: Volume, other: Volume) -> bool:
    """Whether two volumes of one name are one."""
    if isinstance(one, NewVolume) and isinstance(other, NewVolume):
        return (one.size, one.mode, one.storage_class) == (other.size, other.mode, other.storage_class)
    return not isinstance(one, NewVolume) and not isinstance(other, NewVolume)
