"""Resource amounts whose unit is probably wrong: 16 bytes of memory, 500 cores."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from flowdsl.compiler.findings.amounts import MemoryVolume
from flowdsl.compiler.lint.manifest.typed import typed
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries_at, inside, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.devices import is_gpu
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.quantity import has_exponent, quantity
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object

_NUMBER = regex(r"[0-9]+(?:\.[0-9]+)?")


class DoubtfulAmount(Finding):
    """An amount so large or so small that another unit was probably meant."""

    code = "FD778"
    severity = "warning"
    title = "`{name}: {text}` is {read}"
    label = "{read}"
    help = "write `{meant}` if that is meant"
    name: str
    text: str
    read: str
    meant: str


_SMALL = quantity("64Ki")
_LEAST = {"memory": quantity("4Mi"), "ephemeral-storage": _SMALL, "storage": _SMALL, "sizeLimit": _SMALL}
"""The least bytes that anybody requests. Source: without 4Mi of memory no container starts."""

_MOST_CORES = 500
"""No node has as many cores: millicores are meant."""
_MOST_GPUS = 1000
"""No node has as many accelerators: their number is meant, and not their memory."""

_AMOUNTS = ("limits", "requests")
_OWNERS = frozenset(("EmptyDirVolumeSource", "ResourceRequirements", "VolumeResourceRequirements"))


def amounts(view: View) -> Iterator[Problem]:
    """Amounts have the intended units."""
    for found in typed(view, _OWNERS):
        groups = [((), found.data), *(((field,), inside(found.data, field)) for field in _AMOUNTS)]
        for place, group in groups:
            for name, value in group.items():
                finding = _doubtful(name, str(value))
                if finding is not None:
                    yield Problem((*found.path, *place, name), finding)


def in_memory(view: View) -> Iterator[Problem]:
    """Volumes in memory fit into the memory of the containers which write to them."""
    for template in view.templates:
        sizes = _in_memory(view.volumes_of(template))
        for place, container in template.containers if sizes else ():
            memory = str(inside(container, "resources", "limits").get("memory", ""))
            most = _bytes(memory)
            for path, mount in entries_at(container, (*template.path, *place), "volumeMounts"):
                size = sizes.get(string(mount, "name"), "")
                asked = _bytes(size)
                if most is not None and asked is not None and asked > most and not mount.get("readOnly"):
                    yield Problem(path, MemoryVolume(string(mount, "mountPath"), size, memory))


def _in_memory(volumes: dict[str, Object]) -> dict[str, str]:
    """The sizes of those volumes that are in memory, by name."""
    folders = {name: inside(volume, "emptyDir") for name, volume in volumes.items()}
    return {
        name: str(one.get("sizeLimit", "")) for name, one in folders.items() if one.get("medium") == "Memory"
    }


def _bytes(text: str) -> Decimal | None:
    """A quantity as a number; None if it is missing or invalid."""
    try:
        return quantity(text) if text else None
    except GrammarError:
        return None


def _doubtful(name: str, text: str) -> DoubtfulAmount | None:
    number, gpus = _NUMBER.match(text), "/" in name and is_gpu(name)
    if number is None or (name not in ("cpu", *_LEAST) and not gpus):
        return None
    try:
        amount = quantity(text)
    except GrammarError:
        return None
    if gpus:
        return DoubtfulAmount(name, text, f"{amount:f} devices", "1") if amount >= _MOST_GPUS else None
    if name == "cpu":
        # A suffix of memory after a number of cores, or millicores without their `m`.
        unit = "" if Decimal(number[0]) < _MOST_CORES else "m"
        read, meant = f"{amount:f} cores", f"{number[0]}{unit}"
        return DoubtfulAmount(name, text, read, meant) if amount >= _MOST_CORES else None
    bytes_ = f"{amount.normalize():f}"
    written = bytes_ if has_exponent(text) else number[0]
    unit = "Gi" if amount == Decimal(written) < 256 else "Mi"
    read = f"{bytes_} byte{'' if amount == 1 else 's'}"
    return DoubtfulAmount(name, text, read, f"{written}{unit}") if 0 < amount < _LEAST[name] else None
