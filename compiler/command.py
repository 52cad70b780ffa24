"""The command line of a container step, learned once and bound to each call's forms."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from flowdsl import types as t
from flowdsl.compiler import mistakes
from flowdsl.compiler.control_findings import NotYetKnown
from flowdsl.compiler.forms import PLAIN, File, Form
from flowdsl.compiler.ports import IN, OUT
from flowdsl.diagnostic import Diagnostic, near
from flowdsl.expr import Const, Expr, InPod, Join, Param, RunField, leaves
from flowdsl.grammar.names import is_env_name
from flowdsl.lift import text
from flowdsl.place import Argument, Definition, Place, Site
from flowdsl.run import AT_THE_END
from flowdsl.step import Commanded, describe
from flowdsl.trace import DAMAGED, Trace, start, stop
from flowdsl.value import expr_of, is_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.step import StepDef

_SHELLS = ("sh", "bash", "ash", "dash", "zsh", "ksh", "busybox")


class CommandLine(NamedTuple):
    """The words of a command, and the variables it is given, over the inputs of the step."""

    words: tuple[Expr, ...]
    env: tuple[tuple[str, Expr], ...]

    def bound(self, forms: Mapping[str, Form]) -> tuple[tuple[Expr, ...], tuple[tuple[str, Expr], ...]]:
        """The same with each input as the parameter or path that its form makes of it."""
        words = tuple(_bind(word, forms) for word in self.words)
        return words, tuple((name, _bind(value, forms)) for name, value in self.env)


def command_line(definition: StepDef) -> tuple[CommandLine | None, list[Diagnostic]]:
    """What a container step runs, and what is wrong with it."""
    trace = Trace()
    mark = start(trace)
    try:
        answer = describe(definition)
        place = Definition(definition.code)
        if answer is None:
            silent = Diagnostic(mistakes.NoCommand(definition.name), place)
            return None, [silent, *_computed(definition, trace)]
        if not isinstance(answer, Commanded):
            # What the trace found explains the exception better than the exception does.
            error = f"{type(answer).__name__}: {answer}"
            failed = mistakes.CommandFailed(definition.name, error)
            raised = _innermost(answer, definition) or place
            return None, _computed(definition, trace) or [Diagnostic(failed, raised)]
        found: list[Diagnostic] = []
        line = _read(definition, answer, found)
        return line, [*_computed(definition, trace), *found]
    finally:
        stop(trace, mark)


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


def _read(definition: StepDef, said: Commanded, found: list[Diagnostic]) -> CommandLine:
    words: list[Expr] = []
    shell = False
    for position, argument in enumerate(said.arguments):
        place: Place = Argument(said.site, position=position)
        word = _word(definition, argument, "a part of the command", place, found)
        if shell and any(isinstance(leaf, InPod) for leaf in leaves(word)):
            found.append(Diagnostic(mistakes.ShellText(), place))
        first = words[0] if words else None
        shell = (
            isinstance(first, Const)
            and first.value.rpartition("/")[2] in _SHELLS
            and isinstance(word, Const)
            and word.value.startswith("-")
            and word.value.endswith("c")
        )
        words.append(word)
    env: list[tuple[str, Expr]] = []
    for name, value in cast("Mapping[Any, object]", said.env).items():
        place = Argument(said.site, "env", part=f"item:{name}")
        if not isinstance(name, str) or not is_env_name(name):
            wrong = Argument(said.site, "env", part=f"key:{name}")
            found.append(Diagnostic(mistakes.BadEnvName(str(name)), wrong))
        env.append((name, _word(definition, value, f"the variable `{name}`", place, found)))
    if not words:
        found.append(Diagnostic(mistakes.NoCommand(definition.name), said.site))
    places: list[Place] = [Argument(said.site, position=position) for position in range(len(words))]
    places += [Argument(said.site, "env", part=f"item:{name}") for name in said.env]
    _outputs(definition, list(zip((*words, *(value for _, value in env)), places, strict=True)), said, found)
    return CommandLine(tuple(words), tuple(env))


def _word(definition: StepDef, argument: object, where: str, place: Place, found: list[Diagnostic]) -> Expr:
    if is_value(argument):
        return _steady(expr_of(argument), place, found)
    if isinstance(argument, (int, float)) and not isinstance(argument, bool):
        return Const(str(argument), t.TEXT)
    if not isinstance(argument, (str, PurePath)):
        have = type(argument).__name__
        found.append(Diagnostic(mistakes.CommandPart(definition.name, have, where), place))
        return Const("", t.TEXT)
    word = text(str(argument))
    literals = [word.value] if isinstance(word, Const) else []
    if isinstance(word, Join):
        literals = [part for part in word.parts if isinstance(part, str)]
    for literal in literals:
        if "{{" in literal:
            from flowdsl import mistakes as language

            kind = language.DamagedText if DAMAGED.search(literal) else language.LiteralBraces
            found.append(Diagnostic(kind(), place))
    return _steady(word, place, found)


def _steady(word: Expr, place: Place, found: list[Diagnostic]) -> Expr:
    """The same, if it is known whenever a step may run; else it is recorded."""
    early = [leaf for leaf in leaves(word) if isinstance(leaf, RunField) and leaf.name in AT_THE_END]
    found.extend(Diagnostic(NotYetKnown(leaf.name), place) for leaf in early)
    return word


def _outputs(
    definition: StepDef, parts: list[tuple[Expr, Place]], said: Commanded, found: list[Diagnostic]
) -> None:
    """Every output has a path in the command line, and every path is that of an output."""
    known = tuple(out.name for out in t.outputs(definition.signature.returns))
    named: set[str] = set()
    for word, place in parts:
        for leaf in leaves(word):
            if not isinstance(leaf, InPod) or not leaf.output or leaf.name in named:
                continue
            named.add(leaf.name)
            if leaf.name not in known:
                found.append(Diagnostic(mistakes.UnknownOutputPath(definition.name, leaf.name, known), place))
                # It is the one that is missing, misspelt.
                named.update(filter(None, [near(leaf.name, known)]))
    missing = [mistakes.NotWritten(definition.name, name) for name in known if name not in named]
    found.extend(Diagnostic(finding, said.site) for finding in missing)


def _bind(expr: Expr, forms: Mapping[str, Form]) -> Expr:
    match expr:
        case InPod(name, _, True):
            return Const(f"{OUT}/{name}", t.TEXT)
        case InPod(name, kind):
            form = forms.get(name, PLAIN)
            return Const(f"{IN}/{name}", t.TEXT) if isinstance(form, File) else Param(name, kind)
        case Join(parts):
            return Join(tuple(part if isinstance(part, str) else _bind(part, forms) for part in parts))
        case _:
            return expr
