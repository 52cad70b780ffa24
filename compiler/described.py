"""What a step says of itself: its function, run once on stand-ins for its inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from flowdsl.compiler import kind_findings, mistakes
from flowdsl.compiler.kind_findings import DESCRIBED
from flowdsl.diagnostic import Diagnostic
from flowdsl.place import Definition, Place, Site
from flowdsl.step import Described, description
from flowdsl.trace import Trace, start, stop

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.step import StepDef

T = TypeVar("T")


def described(
    definition: StepDef, read: Callable[[StepDef, Described, list[Diagnostic]], T]
) -> tuple[T | None, list[Diagnostic]]:
    """What `read` makes of the description of a step, and what is wrong with it."""
    word = DESCRIBED[definition.kind][0]
    trace = Trace()
    mark = start(trace)
    try:
        answer = description(definition)
        place = Definition(definition.code)
        if answer is None:
            silent = Diagnostic(_silent(definition), place)
            return None, [silent, *_computed(definition, trace)]
        if not isinstance(answer, Described):
            # What the trace found explains the exception better than the exception does.
            error = f"{type(answer).__name__}: {answer}"
            failed = mistakes.CommandFailed(definition.name, error, word)
            raised = _innermost(answer, definition) or place
            return None, _computed(definition, trace) or [Diagnostic(failed, raised)]
        if answer.word != word:
            other = kind_findings.OtherWord(answer.word, definition.kind, definition.name)
            return None, [Diagnostic(other, answer.site)]
        found: list[Diagnostic] = []
        made = read(definition, answer, found)
        return made, [*_computed(definition, trace), *found]
    finally:
        stop(trace, mark)


def _silent(definition: StepDef) -> mistakes.NoCommand | kind_findings.NotDescribed:
    if definition.kind == "container":
        return mistakes.NoCommand(definition.name)
    return kind_findings.NotDescribed(definition.name, definition.kind)


def _computed(definition: StepDef, trace: Trace) -> list[Diagnostic]:
    """What the function did with its inputs, and cannot: they are values of the run, as in a pipeline."""
    return [
        one._replace(finding=mistakes.InputComputed(definition.name, one.finding.message))
        for one in trace.problems
    ]


def _innermost(error: BaseException, definition: StepDef) -> Place | None:
    """The last line of the step's file that an exception came through."""
    found: Place | None = None
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == definition.code.co_filename:
            found = Site(code, traceback.tb_lasti)
        traceback = traceback.tb_next
    return found
