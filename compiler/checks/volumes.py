"""Volumes as they were named, and the paths on them."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any, cast, get_args

from flowdsl import types as t
from flowdsl.compiler import mistakes
from flowdsl.compiler.checks.branches import uses
from flowdsl.compiler.options.reading import said
from flowdsl.diagnostic import Diagnostic
from flowdsl.expr import Const, Join, OnVolume, children
from flowdsl.grammar.names import is_dns_subdomain
from flowdsl.lift import is_dict
from flowdsl.place import Argument
from flowdsl.trace import TOKEN
from flowdsl.value import is_value
from flowdsl.volume import AccessMode, Volume, VolumePath

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.diagnostic import Finding
    from flowdsl.expr import Expr
    from flowdsl.place import Place
    from flowdsl.source import Sources
    from flowdsl.trace import Graph


def arguments(graph: Graph, sources: Sources) -> Iterator[Diagnostic]:
    """The volumes and paths that calls are given."""
    told: set[int] = set()
    for expr, _, place in uses(graph):
        for path in _paths(expr) if t.holds_file(expr.type) else ():
            if id(path.volume) not in told:
                told.add(id(path.volume))
                yield from volume(path.volume)
            yield from escape(path, place)


def mounted(options: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """The volumes of the options `mounts` and `code`."""
    mounts = options.get("mounts")
    given = mounts.values() if not is_value(mounts) and is_dict(mounts) else ()
    for what in (*given, options.get("code")):
        if isinstance(what, (Volume, VolumePath)):
            yield from volume(what.volume if isinstance(what, VolumePath) else what)


def volume(found: Volume) -> Iterator[Diagnostic]:
    """What is wrong with a volume, at the call that named it."""
    name, mode = cast("object", found.name), cast("object", found.mode)
    wrong: Finding | None = None
    if is_value(name) or (isinstance(name, str) and TOKEN.search(name)):
        wrong = mistakes.RunTimeOption("name")
    elif not isinstance(name, str):
        wrong = mistakes.OptionType("name of Volume", "a text", said(name))
    elif not is_dns_subdomain(name):
        wrong = mistakes.BadObjectName(repr(name), "a PersistentVolumeClaim")
    if wrong is not None:
        yield Diagnostic(wrong, Argument(found.site, "name", 0))
    known: tuple[str, ...] = get_args(AccessMode)
    if is_value(mode):
        yield Diagnostic(mistakes.RunTimeOption("mode"), Argument(found.site, "mode"))
    elif mode not in known:
        have = mode if isinstance(mode, str) else said(mode)
        yield Diagnostic(mistakes.UnknownMode(have, known), Argument(found.site, "mode"))


def escape(path: OnVolume, place: Place) -> Iterator[Diagnostic]:
    """A path that leads out of its volume, as far as it is known now."""
    parts = path.path.parts if isinstance(path.path, Join) else (path.path,)
    known = "".join(_known(part) for part in parts)
    if posixpath.normpath(known.lstrip("/")).split("/")[0] == "..":
        yield Diagnostic(mistakes.OutsideVolume(known, str(path.volume.name)), place)


def _known(part: str | Expr) -> str:
    if isinstance(part, Const):
        return str(part.value)
    return part if isinstance(part, str) else "{...}"


def _paths(expr: Expr) -> Iterator[OnVolume]:
    if isinstance(expr, OnVolume):
        yield expr
    for child in children(expr):
        yield from _paths(child)
