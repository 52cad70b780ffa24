"""The options of single calls: `.options(...)`, judged for what it overrides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler import mistakes
from flowdsl.compiler.options import STEP_OPTIONS, settings
from flowdsl.diagnostic import Diagnostic
from flowdsl.pipeline import PipelineDef
from flowdsl.place import Argument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.place import Site
    from flowdsl.source import Sources
    from flowdsl.trace import Graph

CALL_OPTIONS = ("name", "after")


def call_options(graph: Graph, sources: Sources) -> Iterator[Diagnostic]:
    """Errors in the options of calls; what is only doubtful is said when the options are used."""
    told: set[Site] = set()
    for call in graph.calls:
        site = call.override
        if site is None or site in told:
            continue
        told.add(site)
        if isinstance(call.target, PipelineDef):
            for name in call.options:
                place = Argument(site, name, part="name")
                yield Diagnostic(mistakes.UnknownOption(name, CALL_OPTIONS), place)
        else:
            _, found = settings(call.options, lambda name, site=site: Argument(site, name), (*STEP_OPTIONS, *CALL_OPTIONS))
            yield from (one for one in found if one.finding.severity == "error")
