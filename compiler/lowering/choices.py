"""Choices between files: those that one expression can make, and those that the step has to make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.forms import File, Form, Mounted
from flowdsl.tracing.trace import Call, regions
from flowdsl.values.expr import Expr, Out, Param, Stored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.tracing.trace import Region

    Carried = Sequence[tuple[Form, list[Expr]]]


def branched(choice: Expr, region: Region | None) -> bool:
    """Whether a file is passed to a region by its key: the task that creates it may not run, or may have failed."""
    if not (isinstance(choice, Out) and isinstance(choice.task, Call)):
        return False
    return choice.task.region is not None or may_have_failed(choice.task, region)


def may_have_failed(task: Call, region: Region | None) -> bool:
    """Whether a region is in the end of a task whose outputs do not exist if it has failed."""
    return not task.may_fail and task in ended_around(region)


def ended_around(region: Region | None) -> list[Call]:
    """The tasks in whose end a region is."""
    return [one.ended for one in regions(region) if one.ended is not None]


def apart(carried: Carried) -> bool:
    """Whether no single expression can choose between files: their forms differ, or one has no text."""
    forms = {type(form) for form, _ in carried}
    alike = len(forms) == 1 and all(len(values) == 1 for _, values in carried)
    return not alike or any(
        isinstance(value, (Stored, Param)) for (form, (value,)) in carried if form == File(False)
    )


def mixed(carried: Carried) -> bool:
    """Whether some of the files are on a volume, and others in the repository."""
    return {type(form) for form, _ in carried} == {File, Mounted}
