"""Converts the volumes of the language to volumes of pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.ir import Companions, PodVolume
from flowdsl.compiler.naming import volume_name
from flowdsl.volume import Config, Host, NewVolume, Scratch, Secret, Volume

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flowdsl.compiler.ir import Companion, Environment, Settings
    from flowdsl.volume import Mountable


def claims(volumes: Iterable[Volume], named: Callable[[str], str]) -> tuple[PodVolume, ...]:
    """The claims that all pods of a run can mount; `named` gives the name of one on the cluster."""
    found = (_volume(volume_name(one.name), one) for one in volumes)
    return tuple(one._replace(source=named(one.source)) if one.kind == "claim" else one for one in found)


def local(settings: Settings) -> tuple[PodVolume, ...]:
    """The volumes that are created for one pod, each once."""
    if not settings.environment.volumes and not any(settings.companions):
        return ()
    found: dict[str, PodVolume] = {}
    for environment in environments(settings):
        for mount, one in zip(environment.mounts, environment.volumes, strict=True):
            if not isinstance(one, Volume):
                found.setdefault(mount.volume, _volume(mount.volume, one))
    return tuple(found.values())


def environments(settings: Settings) -> list[Environment]:
    """The environments of the containers of a pod, that of the step first."""
    beside = (*settings.companions.init, *settings.companions.sidecars)
    return [settings.environment, *(one.environment for one in beside)]


def together(settings: Settings) -> Settings:
    """The settings with one name for each emptyDir that containers of the pod share, and only for these."""
    names: dict[int, str] = {}

    def named(environment: Environment) -> Environment:
        mounts = tuple(
            mount._replace(volume=scratch_name(names, one)) if isinstance(one, Scratch) else mount
            for mount, one in zip(environment.mounts, environment.volumes, strict=True)
        )
        return environment._replace(mounts=mounts)

    def beside(several: tuple[Companion, ...]) -> tuple[Companion, ...]:
        return tuple(one._replace(environment=named(one.environment)) for one in several)

    if not any(settings.companions):
        return settings
    environment = named(settings.environment)
    init, sidecars = settings.companions
    return settings._replace(environment=environment, companions=Companions(beside(init), beside(sidecars)))


def scratch_name(names: dict[int, str], volume: Scratch) -> str:
    """The name of an emptyDir in its pod; `names` has those that were assigned."""
    number = len(names) + 1
    usual = "flowdsl-scratch" if number == 1 else f"flowdsl-scratch-{number}"
    return names.setdefault(id(volume.origin), usual)


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
    """Whether two volumes of the same name are the same."""
    if isinstance(one, NewVolume) and isinstance(other, NewVolume):
        return (one.size, one.mode, one.storage_class) == (other.size, other.mode, other.storage_class)
    return not isinstance(one, NewVolume) and not isinstance(other, NewVolume)
