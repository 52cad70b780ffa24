"""Choices between files: those that one expression can make, and those that the step has to make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.forms import File, Form, Mounted
from flowdsl.tracing.trace import Call
from flowdsl.values.expr import Either, Expr, Out, Param, Stored

if TYPE_CHECKING:
    from collections.abc import Sequence

    Carried = Sequence[tuple[Form, list[Expr]]]


def flat(choices: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Nested choices, flattened in order."""
    return tuple(
        inner
        for choice in choices
        for inner in (flat(choice.choices) if isinstance(choice, Either) else (choice,))
    )


def branched(choice: Expr) -> bool:
    """Whether a file is passed by its key because the task that creates it may not run."""
    return isinstance(choice, Out) and isinstance(choice.task, Call) and choice.task.region is not None


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
