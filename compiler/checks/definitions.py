"""Steps and pipelines as they were declared: annotations, options, names."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from flowdsl import mistakes as language
from flowdsl import types as t
from flowdsl.compiler import mistakes
from flowdsl.compiler.options import STEP_OPTIONS, pipeline_options, settings
from flowdsl.diagnostic import Diagnostic
from flowdsl.grammar.names import is_parameter_name
from flowdsl.lift import lift
from flowdsl.pipeline import PipelineDef
from flowdsl.place import Argument, Definition, Place
from flowdsl.signature import MISSING
from flowdsl.tracing import KINDS
from flowdsl.volume import VolumePath

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.place import Site
    from flowdsl.signature import Parameter, Signature
    from flowdsl.source import Sources
    from flowdsl.step import StepDef
    from flowdsl.trace import Graph

_CALL_OPTIONS = ("name", "after")


def definition(found: StepDef | PipelineDef, root: bool) -> Iterator[Diagnostic]:
    """Everything that is wrong with one definition."""
    code = found.code

    def option(name: str) -> Place:
        return Definition(code, name, "option")

    if isinstance(found, PipelineDef):
        _, problems = pipeline_options(found.options, option)
    else:
        _, problems = settings(found.options, option, STEP_OPTIONS)
    yield from problems
    signature = found.signature
    if signature.unreadable is not None:
        yield Diagnostic(mistakes.UnreadableAnnotations(found.name, signature.unreadable), Definition(code))
        return
    for name in signature.variadic:
        yield Diagnostic(mistakes.Variadic(found.name, name), Definition(code, name.lstrip("*")))
    for parameter in signature.parameters:
        yield from _parameter(found, parameter, root)
    if isinstance(signature.returns, t.Unsupported) and not code.co_flags & sum(KINDS):
        kind = signature.returns
        yield Diagnostic(
            mistakes.BadAnnotation("the result", found.name, kind.annotation, kind.reason),
            Definition(code, "return"),
        )
    for out in t.outputs(signature.returns):
        if not is_parameter_name(out.name):
            yield Diagnostic(mistakes.BadName(out.name), Definition(code, "return"))


def _parameter(found: StepDef | PipelineDef, parameter: Parameter, root: bool) -> Iterator[Diagnostic]:
    code = found.code
    if not parameter.annotated:
        yield Diagnostic(mistakes.NoAnnotation(parameter.name, found.name), Definition(code, parameter.name))
        return
    if isinstance(parameter.type, t.Unsupported):
        kind = parameter.type
        yield Diagnostic(
            mistakes.BadAnnotation(f"`{parameter.name}`", found.name, kind.annotation, kind.reason),
            Definition(code, parameter.name, "annotation"),
        )
        return
    if not is_parameter_name(parameter.name):
        yield Diagnostic(mistakes.BadName(parameter.name), Definition(code, parameter.name))
    if isinstance(found, PipelineDef) and root and t.holds_file(parameter.type):
        given = type(parameter.default) is VolumePath or (
            isinstance(parameter.type, t.Maybe) and parameter.default is None
        )
        if not given or parameter.default is MISSING:
            yield Diagnostic(
                mistakes.FileDefault(parameter.name, found.name), Definition(code, parameter.name)
            )
    elif root and parameter.default is not MISSING:
        yield from _default(parameter, Definition(code, parameter.name, "default"))


def _default(parameter: Parameter, place: Place) -> list[Diagnostic]:
    """What is wrong with a default that no call puts aside: one of a pipeline that a run begins with."""
    wrong: list[Diagnostic] = []

    def complain(kind: str, **data: Any) -> None:
        if kind == "WrongType":
            wrong.append(Diagnostic(language.WrongDefault(parameter.name, data["want"], data["have"]), place))
        else:
            wrong.append(Diagnostic(getattr(language, kind)(**data), place))

    lift(parameter.default, parameter.type, complain)
    return wrong


def call_options(graph: Graph, sources: Sources) -> Iterator[Diagnostic]:
    """Errors in the options of single calls; what is only doubtful is said when the options are used."""
    told: set[Site] = set()
    for call in graph.calls:
        site = call.override
        if site is None or site in told:
            continue
        told.add(site)
        if isinstance(call.target, PipelineDef):
            for name in call.options:
                place = Argument(site, name, part="name")
                yield Diagnostic(mistakes.UnknownOption(name, _CALL_OPTIONS), place)
        else:
            known = (*STEP_OPTIONS, *_CALL_OPTIONS)
            _, found = settings(call.options, functools.partial(Argument, site), known)
            yield from (one for one in found if one.finding.severity == "error")


def classes(signature: Signature) -> list[type[Any]]:
    """The classes that the readers of a step's inputs refer to."""
    found: dict[type[Any], None] = {}

    def walk(kind: t.Type) -> None:
        match kind:
            case t.Enumeration(cls):
                found[cls] = None
            case t.Record(cls, fields):
                found[cls] = None
                for field in fields:
                    walk(field.type)
            case t.Sequence(item) | t.Mapping(item) | t.Maybe(item):
                walk(item)
            case t.Fixed(items):
                for item in items:
                    walk(item)
            case _:
                pass

    for parameter in signature.parameters:
        walk(parameter.type)
    return list(found)
