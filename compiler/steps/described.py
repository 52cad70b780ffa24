"""What a step says of itself: its function, run once on stand-ins for its inputs."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeVar

from flowdsl.compiler.carry.tree import Assignment, Function, calls
from flowdsl.compiler.findings import kinds
from flowdsl.compiler.findings.commands import CommandFailed, InputComputed, NoCommand
from flowdsl.compiler.findings.kinds import DESCRIBED
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.kinds import manifest, request
from flowdsl.mistakes import mistake
from flowdsl.mistakes.texts import HELD, TextType
from flowdsl.mistakes.values import RunTimeKey
from flowdsl.places.locate import extent_of
from flowdsl.places.place import Definition, Place, Site
from flowdsl.step import Described, command, description
from flowdsl.tracing.stopped import explained
from flowdsl.tracing.trace import Trace, start, stop
from flowdsl.values.signature import is_function

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from flowdsl.places.source import SourceFile, Sources
    from flowdsl.step import StepDef

T = TypeVar("T")


def described(
    definition: StepDef, read: Callable[[StepDef, Described, list[Diagnostic]], T]
) -> tuple[T | None, list[Diagnostic]]:
    """The result of `read` for the description of a step, and the errors in it."""
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
            return None, _computed(definition, trace) or [_raised(answer, definition, word)]
        if answer.word != word:
            other = kinds.OtherWord(answer.word, definition.kind, definition.name)
            return None, [Diagnostic(other, answer.site)]
        if any(isinstance(one.finding, RunTimeKey) for one in trace.problems):
            return None, _computed(definition, trace)  # a dict with such a key cannot be read
        found: list[Diagnostic] = []
        made = read(definition, answer, found)
        return made, [*_computed(definition, trace), *found]
    finally:
        stop(trace, mark)


def said_twice(steps: Iterable[StepDef], sources: Sources) -> Iterator[Diagnostic]:
    """Descriptions after one that ends the function: `command(...)` never returns."""
    for step, file, node in _written(steps, sources):
        if step.kind not in DESCRIBED:
            continue
        for block in _blocks(node):
            calls = [call for call in map(_call, block) if call is not None]
            said = [(word, call) for call in calls if (word := _word(call, step))]
            for word, call in said[1:]:
                first = Related(file.span(extent_of(said[0][1])), "the function ends here")
                finding = kinds.SaidTwice(step.name, word)
                yield Diagnostic(finding, file.span(extent_of(call)), (first,))


def never_run(steps: Iterable[StepDef], sources: Sources) -> Iterator[Diagnostic]:
    """Work in the body of a step that has none: a gate, or a template of the cluster.

    What it returns or raises is not work: it may serve where the step is called as a function.
    """
    for step, file, node in _written(steps, sources):
        if step.kind not in kinds.BODILESS:
            continue
        work = (one for block in _blocks(node) for one in block if isinstance(one, (ast.Expr, Assignment)))
        call = next((call for one in work for call in calls(one)), None)
        if call is not None:
            yield Diagnostic(kinds.NeverRun(step.name, step.kind), file.span(extent_of(call)))


def _written(steps: Iterable[StepDef], sources: Sources) -> Iterator[tuple[StepDef, SourceFile, Function]]:
    """The steps that are functions, with their files and their definitions there."""
    for step in steps:
        file = sources.file(step.code.co_filename) if is_function(step.plain) else None
        node = None if file is None else file.function(step.code)
        if file is not None and node is not None:
            yield step, file, node


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of consecutive statements in a function."""
    for name in ("body", "orelse", "finalbody"):
        block: list[ast.stmt] = getattr(node, name, [])
        if block:
            yield block
        for inner in block:
            if not isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                yield from _blocks(inner)
    for inner in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield from _blocks(inner)


def _call(statement: ast.stmt) -> ast.Call | None:
    """The call that a statement consists of."""
    value = getattr(statement, "value", None)
    return value if isinstance(value, ast.Call) else None


def _word(call: ast.Call, step: StepDef) -> str:
    """The name of the function by which a call describes a step; empty for other calls."""
    names: list[str] = []
    node = call.func
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    found: object = step.plain.__globals__.get(node.id) if isinstance(node, ast.Name) else None
    for name in reversed(names):
        found = getattr(found, name, None)
    return next((name for name, word in _WORDS.items() if word is found), "")


_WORDS = {"command": command, "manifest": manifest, "request": request}


def _raised(error: BaseException, definition: StepDef, word: str) -> Diagnostic:
    """The finding about an exception of the function: the one that it contains, or that it was raised."""
    stop = explained(error, f"this describes the step `{definition.name}`")
    if stop is not None:
        return Diagnostic(mistake(stop.kind, **stop.data), stop.place, stop.related)
    failed = CommandFailed(definition.name, f"{type(error).__name__}: {error}", word)
    return Diagnostic(failed, _innermost(error, definition) or Definition(definition.code))


def _silent(definition: StepDef) -> NoCommand | kinds.NotDescribed:
    if definition.kind == "container":
        return NoCommand(definition.name)
    return kinds.NotDescribed(definition.name, definition.kind)


def _computed(definition: StepDef, trace: Trace) -> list[Diagnostic]:
    """The operations on inputs that are impossible: these are values of the run, as in a pipeline."""
    return [
        one
        if isinstance(one.finding, TextType) and one.finding.type in HELD
        else one._replace(finding=InputComputed(definition.name, one.finding.message))
        for one in trace.problems
    ]


def _innermost(error: BaseException, definition: StepDef) -> Place | None:
    """The last line of the step's file in the traceback of an exception."""
    found: Place | None = None
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == definition.code.co_filename:
            found = Site(code, traceback.tb_lasti)
        traceback = traceback.tb_next
    return found
