"""Names of volumes, and paths on them."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any, cast, get_args

from flowdsl.artifact import Artifact
from flowdsl.compiler.checks.branches import uses
from flowdsl.compiler.checks.sources import judged, lost
from flowdsl.compiler.findings.data import NewReadOnly
from flowdsl.compiler.findings.options import OptionType, RunTimeOption
from flowdsl.compiler.findings.store import NothingStored
from flowdsl.compiler.findings.surroundings import BadMountPath, BadObjectName, OutsideVolume, UnknownMode
from flowdsl.compiler.options.reading import Wrong, said
from flowdsl.compiler.options.volumes import SHM, size
from flowdsl.diagnostic import Diagnostic
from flowdsl.grammar.names import is_dns_subdomain
from flowdsl.places.place import Argument
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Join, OnVolume, Stored, children
from flowdsl.values.later import later, of_run
from flowdsl.values.lift import is_dict
from flowdsl.values.value import is_value
from flowdsl.volume import AccessMode, NewVolume, Volume, VolumePath

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flowdsl.diagnostic import Finding
    from flowdsl.places.place import Place
    from flowdsl.places.source import Sources
    from flowdsl.step import StepDef
    from flowdsl.tracing.trace import Graph
    from flowdsl.values.expr import Expr


def arguments(graph: Graph, sources: Sources) -> Iterator[Diagnostic]:
    """Findings about the volumes, paths and external files in the arguments of calls."""
    told: set[int] = set()
    for expr, _, place in uses(graph):
        if t.holds_file(expr.type):
            yield from files(expr, place, told)


def files(expr: Expr, place: Place, told: set[int]) -> Iterator[Diagnostic]:
    """Findings about the volumes, paths and sources in an expression; `told` are those already checked."""
    for one in _files(expr):
        named = one.volume if isinstance(one, OnVolume) else one.artifact
        if id(named) not in told:
            told.add(id(named))
            yield from volume(named) if isinstance(named, Volume) else judged(named)
        if isinstance(one, OnVolume):
            yield from escape(one, place)
        else:
            yield from lost(one, place)


def mounted(options: Mapping[str, Any], place: Callable[[str], Argument]) -> Iterator[Diagnostic]:
    """Findings about the volumes of the options `mounts`, `store`, `code` and `checkpoints`."""
    mounts = options.get("mounts")
    if not is_value(mounts) and is_dict(mounts):
        for path, what in mounts.items():
            if options.get("shm") is not None and str(path).rstrip("/") == SHM:
                twice = BadMountPath(str(path), "`shm` makes a volume of its own there")
                yield Diagnostic(twice, place("mounts")._replace(part=f"key:{path}"))
            found = what.volume if isinstance(what, VolumePath) else what
            if isinstance(found, Volume):
                yield from volume(found)
    for option in ("store", "code", "checkpoints"):
        if option not in options:
            continue
        given: object = options.get(option)
        named = given.volume if isinstance(given, VolumePath) else given
        if isinstance(named, Volume):
            yield from volume(named)
        elif isinstance(named, Artifact) and named.kind == "Git" and not later(named):
            yield from judged(named)


def unstored(
    step: StepDef, options: Mapping[str, Any], place: Callable[[str], Place]
) -> Iterator[Diagnostic]:
    """A store for a step that returns no files; a distributed step stores its values there, too."""
    outs = t.outputs(step.signature.returns)
    spread = {**step.options, **options}.get("distributed") is not None
    kept = outs if spread else [one for one in outs if t.holds_file(one.type)]
    if options.get("store") is not None and not kept:
        yield Diagnostic(NothingStored(step.name), place("store"))


def volume(found: Volume) -> Iterator[Diagnostic]:
    """Findings about a volume, at the call that created it."""
    name, mode = cast("object", found.name), cast("object", found.mode)
    wrong: Finding | None = None
    word = type(found).__name__
    if of_run(name):
        wrong = RunTimeOption(f"name of {word}")
    elif not isinstance(name, str):
        wrong = OptionType(f"name of {word}", "a string", said(name))
    elif not is_dns_subdomain(name):
        wrong = BadObjectName(repr(name), "a PersistentVolumeClaim")
    if wrong is not None:
        yield Diagnostic(wrong, Argument(found.site, "name", 0))
    known: tuple[str, ...] = get_args(AccessMode)
    if of_run(mode):
        yield Diagnostic(RunTimeOption(f"mode of {word}"), Argument(found.site, "mode"))
    elif mode not in known:
        have = mode if isinstance(mode, str) else said(mode)
        yield Diagnostic(UnknownMode(have, known), Argument(found.site, "mode"))
    if isinstance(found, NewVolume):
        yield from _new(found)


def _new(found: NewVolume) -> Iterator[Diagnostic]:
    """Findings about a claim that is created for the run."""
    try:
        size("size", found.size, "value")
    except Wrong as wrong:
        yield Diagnostic(wrong.finding, Argument(found.site, "size", 1))
    if type(found.mode) is str and found.mode == "ReadOnlyMany":
        yield Diagnostic(NewReadOnly(str(found.name)), Argument(found.site, "mode"))
    kept = cast("object", found.storage_class)
    place = Argument(found.site, "storage_class")
    if of_run(kept):
        yield Diagnostic(RunTimeOption("storage_class of NewVolume"), place)
    elif kept is not None and not (isinstance(kept, str) and is_dns_subdomain(kept)):
        yield Diagnostic(BadObjectName(said(kept), "a StorageClass"), place)


def escape(path: OnVolume, place: Place) -> Iterator[Diagnostic]:
    """A path that leaves its volume, as far as it is known at compile time."""
    parts = path.path.parts if isinstance(path.path, Join) else (path.path,)
    known = "".join(_known(part) for part in parts)
    if posixpath.normpath(known.lstrip("/")).split("/")[0] == "..":
        yield Diagnostic(OutsideVolume(known, str(path.volume.name)), place)


def _known(part: str | Expr) -> str:
    if isinstance(part, Const):
        return str(part.value)
    return part if isinstance(part, str) else "{...}"


def _files(expr: Expr) -> Iterator[OnVolume | Stored]:
    if isinstance(expr, (OnVolume, Stored)):
        yield expr
    for child in children(expr):
        yield from _files(child)
