"""Steps and pipelines as they were declared: annotations, options, names."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, cast

from flowdsl import mistakes as language
from flowdsl import types as t
from flowdsl.compiler import mistakes
from flowdsl.compiler.checks import volumes
from flowdsl.compiler.checks.code import unfit
from flowdsl.compiler.options import STEP_OPTIONS, pipeline_options, settings
from flowdsl.diagnostic import Diagnostic
from flowdsl.expr import OnVolume
from flowdsl.grammar.names import is_parameter_name
from flowdsl.lift import lift, text
from flowdsl.pipeline import PipelineDef
from flowdsl.place import Argument, Definition
from flowdsl.signature import MISSING, is_function
from flowdsl.tracing import KINDS
from flowdsl.volume import VolumePath

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.options import Declared
    from flowdsl.diagnostic import Finding
    from flowdsl.place import Place, Site
    from flowdsl.signature import Parameter, Signature
    from flowdsl.source import Sources
    from flowdsl.step import StepDef
    from flowdsl.trace import Graph

_CALL_OPTIONS = ("name", "after")
_WRITTEN = {*STEP_OPTIONS, *_CALL_OPTIONS}
_WORDS = {"python": "step", "container": "container"}


def definition(found: StepDef | PipelineDef, root: bool, declared: Declared) -> Iterator[Diagnostic]:
    """Everything that is wrong with one definition."""
    if not is_function(found.plain):
        what = "pipeline" if isinstance(found, PipelineDef) else _WORDS[found.kind]
        yield Diagnostic(mistakes.NotAFunction(what, _called(found)), found.site)
        return
    code = found.code
    if isinstance(found, PipelineDef):
        _, problems = pipeline_options(found.options, functools.partial(Argument, found.site))
    else:
        _, problems = declared(found)
        yield from unfit(found, found.options, found.site)
    yield from volumes.mounted(found.options)
    yield from problems
    signature = found.signature
    for name, problem in signature.unreadable:
        place = Definition(code, name or None, "annotation")
        yield Diagnostic(mistakes.UnreadableAnnotation(found.name, problem), place)
    if signature.unreadable:
        return
    for name in signature.variadic:
        yield Diagnostic(mistakes.Variadic(found.name, name), Definition(code, name.lstrip("*")))
    for parameter in signature.parameters:
        yield from _parameter(found, parameter, root)
    if isinstance(signature.returns, t.Unsupported) and not code.co_flags & sum(KINDS):
        yield Diagnostic(_misfit("the result", found, signature.returns), Definition(code, "return"))
    for out in t.outputs(signature.returns):
        if not is_parameter_name(out.name):
            yield Diagnostic(mistakes.BadName(out.name), Definition(code, "return"))


def _called(found: StepDef | PipelineDef) -> str:
    """What is not a function, in words."""
    thing = cast("object", found.plain)
    if isinstance(thing, type):
        return f"the class `{found.name}`"
    if type(thing) is type(len):
        return f"`{found.name}`, which is not written in Python"
    return f"a `{type(thing).__name__}`"


def _misfit(what: str, found: StepDef | PipelineDef, kind: t.Unsupported) -> Finding:
    return mistakes.BadAnnotation(what, found.name, kind.whole or kind.annotation, kind.reason)


def _parameter(found: StepDef | PipelineDef, parameter: Parameter, root: bool) -> Iterator[Diagnostic]:
    code = found.code
    if not parameter.annotated:
        yield Diagnostic(mistakes.NoAnnotation(parameter.name, found.name), Definition(code, parameter.name))
        return
    if isinstance(parameter.type, t.Unsupported):
        place = Definition(code, parameter.name, "annotation")
        yield Diagnostic(_misfit(f"`{parameter.name}`", found, parameter.type), place)
        return
    if not is_parameter_name(parameter.name):
        yield Diagnostic(mistakes.BadName(parameter.name), Definition(code, parameter.name))
    if isinstance(found, PipelineDef) and root and t.holds_file(parameter.type):
        given = type(parameter.default) is VolumePath or (
            isinstance(parameter.type, t.Maybe) and parameter.default is None
        )
        if not given or parameter.default is MISSING:
            missing = mistakes.FileDefault(parameter.name, t.spell(parameter.type), found.name)
            yield Diagnostic(missing, Definition(code, parameter.name))
        elif type(parameter.default) is VolumePath:
            place = Definition(code, parameter.name, "default")
            yield from volumes.volume(parameter.default.volume)
            yield from volumes.escape(OnVolume(parameter.default.volume, text(parameter.default.text)), place)
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
    """What is wrong with the options of single calls."""
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
            yield from found
            yield from volumes.mounted(call.options)
            yield from unfit(call.target, call.options, site)


def images(graph: Graph, sources: Sources) -> Iterator[Diagnostic]:
    """Steps that are called without an image."""
    told: set[int] = set()
    for call in graph.calls:
        step = call.target
        if isinstance(step, PipelineDef) or (id(step) in told and not call.options):
            continue
        told.add(id(step))
        written = {*step.options, *call.options}
        # An option that is misspelt may be meant to be this one.
        if "image" not in written and written <= _WRITTEN and is_function(step.plain):
            yield Diagnostic(mistakes.NoImage(step.name), Definition(step.code))


def calls(graph: Graph) -> Iterator[Diagnostic]:
    """A pipeline that calls nothing: Argo takes no graph without tasks."""
    if not graph.calls and is_function(graph.owner.plain):
        yield Diagnostic(mistakes.EmptyPipeline(graph.owner.name), Definition(graph.owner.code))


def classes(signature: Signature) -> list[type[Any]]:
    """The classes that the readers of a step's inputs refer to."""
    return list(dict.fromkeys(cls for parameter in signature.parameters for cls in _classes(parameter.type)))


def _classes(kind: t.Type) -> Iterator[type[Any]]:
    match kind:
        case t.Enumeration(cls):
            yield cls
        case t.Record(cls, fields):
            yield cls
            for field in fields:
                yield from _classes(field.type)
        case t.Sequence(item) | t.Mapping(item) | t.Maybe(item):
            yield from _classes(item)
        case t.Fixed(items):
            for item in items:
                yield from _classes(item)
        case _:
            return
