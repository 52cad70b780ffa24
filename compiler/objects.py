"""Which objects of the cluster programs become, and what is wrong with that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.findings import objects as findings
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.places.place import Definition

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from flowdsl.compiler.ir import Program
    from flowdsl.places.place import Place

MARKS = "flowdsl.dev"
"""The domain of the labels and annotations for the provenance of an object."""


def kind_of(program: Program) -> Literal["workflow", "cron"]:
    """The default kind of a pipeline."""
    return "cron" if "schedule" in program.options else "workflow"


def misfits(objects: Sequence[tuple[Program, str]]) -> Iterator[Diagnostic]:
    """The errors of programs as objects of their kinds."""
    told: dict[tuple[str, str], Program] = {}
    for program, kind in objects:
        if kind == "CronWorkflow":
            yield from _scheduled(program)
        other = told.setdefault((kind, program.name), program)
        if other is not program:
            same = findings.SameObject(kind, program.name)
            related = Related(_named(other), f"the other `{program.name}`")
            yield Diagnostic(same, _named(program), (related,))


def _scheduled(program: Program) -> Iterator[Diagnostic]:
    if "schedule" not in program.options:
        yield Diagnostic(findings.NoSchedule(program.name), program.place)
    for one in program.parameters:
        if one.value is None:
            parameter = one.name.partition("-")[0]  # the parts of a record are separate parameters
            place = program.place
            if isinstance(place, Definition):
                place = place._replace(name=parameter)
            yield Diagnostic(findings.ScheduledWithout(parameter, program.name), place)


def _named(program: Program) -> Place:
    return program.places.get("name", program.place)
