"""Where the files of steps go: a folder of a volume, or the artifact repository of the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.findings.store import NoStore, StoreNotWritable, StoreOfRun
from flowdsl.compiler.ir import Store
from flowdsl.compiler.options.reading import Wrong, said
from flowdsl.compiler.options.volumes import folder
from flowdsl.values.later import of_run
from flowdsl.volume import Volume, VolumePath

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.compiler.options.reading import Reader


#: A folder, and the volume it is on.
Stored = tuple[Store, Volume]


def store(name: str, written: object) -> Stored | None:
    """The folder that the option names, with its volume; None for the artifact repository. Raises `Wrong`."""
    if written is None:
        return None
    if type(written) is VolumePath and of_run(written.text):
        raise Wrong(StoreOfRun())
    found = folder(name, written)
    if found is None:
        raise Wrong(NoStore(said(written)))
    volume, below = found
    if volume.read_only or volume.mode == "ReadOnlyMany":
        reason = "`.ro` asks for it read-only" if volume.read_only else "its mode is ReadOnlyMany"
        raise Wrong(StoreNotWritable(str(volume.name), reason))
    return Store(volume.name, below), volume


def nearest(around: Stored | None, *levels: Mapping[str, Any]) -> Stored | None:
    """The value of the first of these options that is set, else the store around; raises `Wrong`."""
    for options in levels:
        if "store" in options:
            return store("store", options["store"])
    return around


READERS: dict[str, Reader] = {"store": store}
