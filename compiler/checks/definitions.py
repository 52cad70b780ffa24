"""Declarations of steps and pipelines: annotations, options, names."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from flowdsl.compiler.carry.tree import nodes
from flowdsl.compiler.checks import checkpoints, kinds, volumes
from flowdsl.compiler.checks.code import unfit
from flowdsl.compiler.checks.sources import packed
from flowdsl.compiler.findings.control import OfARun
from flowdsl.compiler.findings.data import CheckpointUse
from flowdsl.compiler.findings.functions import (
    BadAnnotation,
    BadName,
    EmptyPipeline,
    FileDefault,
    NoAnnotation,
    NotAFunction,
    UnreadableAnnotation,
    UnusedParameter,
    Variadic,
)
from flowdsl.compiler.findings.kinds import WORDS
from flowdsl.compiler.findings.options import NoImage, UnknownOption
from flowdsl.compiler.options import KINDS as OPTIONS
from flowdsl.compiler.options import (
    STEP_OPTIONS,
    SUBGRAPH,
    conflicts,
    of_calls,
    pipeline_options,
    settings,
    subgraph_options,
)
from flowdsl.diagnostic import Diagnostic
from flowdsl.grammar.names import is_parameter_name
from flowdsl.mistakes import mistake
from flowdsl.mistakes.arguments import WrongDefault
from flowdsl.mistakes.words import UnnamedOption
from flowdsl.pipeline import Pipeline, PipelineDef
from flowdsl.places.place import Argument, Definition
from flowdsl.step import Step, StepDef
from flowdsl.tracing.body import KINDS
from flowdsl.tracing.trace import held_in
from flowdsl.values import types as t
from flowdsl.values.expr import Poison, leaves
from flowdsl.values.later import later
from flowdsl.values.lift import default_of, is_dict, lift
from flowdsl.values.signature import MISSING, is_function, is_method

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.compiler.options import Declared
    from flowdsl.diagnostic import Finding
    from flowdsl.places.place import Place, Site
    from flowdsl.places.source import Sources
    from flowdsl.tracing.trace import Graph, Trace
    from flowdsl.values.signature import Parameter, Signature

_CALL_OPTIONS = ("name", "after", "may_fail")
_WRITTEN = {*STEP_OPTIONS, *_CALL_OPTIONS}


def definition(found: StepDef | PipelineDef, root: bool, declared: Declared) -> Iterator[Diagnostic]:
    """Findings about one definition."""
    word = "pipeline" if isinstance(found, PipelineDef) else WORDS[found.kind]
    if not is_function(found.plain) or _inner(found):
        yield _no_function(found, word)
        return
    written = functools.partial(Argument, found.site)
    if isinstance(found, PipelineDef):
        _, problems = pipeline_options(found.options, written)
    else:
        made, problems = declared(found)
        if made.files.archive:
            yield from packed(found, made.files, written)
        yield from unfit(found, found.options, found.site)
        yield from kinds.elsewhere(found, found.options, found.site)
    for position, value in enumerate(found.unnamed):
        unnamed = UnnamedOption(f"@{word}", isinstance(value, str))
        yield Diagnostic(unnamed, Argument(found.site, position=position))
    yield from volumes.mounted(found.options, written)
    yield from problems
    yield from _signature(found, root, declared)


def _no_function(found: StepDef | PipelineDef, word: str) -> Diagnostic:
    if is_method(found.plain):
        from flowdsl.compiler.findings.carry import MethodStep

        name = found.plain.__qualname__.rpartition("<locals>.")[2]
        return Diagnostic(MethodStep(name, word), Definition(found.code))
    return Diagnostic(NotAFunction(word, _called(found), _inner(found), found.name), found.site)


def _signature(found: StepDef | PipelineDef, root: bool, declared: Declared) -> Iterator[Diagnostic]:
    """Findings about the parameters and the result."""
    code, signature = found.code, found.signature
    for name, problem in signature.unreadable:
        place = Definition(code, name or None, "annotation")
        yield Diagnostic(UnreadableAnnotation(found.name, problem), place)
    if signature.unreadable:
        return
    for name in signature.variadic:
        yield Diagnostic(Variadic(found.name, name), Definition(code, name.lstrip("*")))
    for parameter in signature.parameters:
        yield from _parameter(found, parameter, root)
    if not isinstance(found, PipelineDef) and not isinstance(signature.returns, t.Unsupported):
        yield from volumes.unstored(found, found.options, functools.partial(Argument, found.site))
    if isinstance(signature.returns, t.Unsupported) and not code.co_flags & sum(KINDS):
        yield Diagnostic(_misfit("the result", found, signature.returns), Definition(code, "return"))
    if isinstance(found, StepDef):
        yield from kinds.values(found, declared(found)[0])
    for out in t.outputs(signature.returns):
        if not is_parameter_name(out.name):
            yield Diagnostic(BadName(out.name), Definition(code, "return"))


def _inner(found: StepDef | PipelineDef) -> str:
    """The word of a declaration that this one is made of, where its options or its tasks would be lost."""
    function = cast("object", found.function)
    if isinstance(function, Pipeline):
        return "pipeline"
    return "step" if isinstance(function, Step) and isinstance(found, StepDef) else ""


def _called(found: StepDef | PipelineDef) -> str:
    """A description of an object that is not a function."""
    thing = cast("object", found.plain)
    if inner := _inner(found):
        return f"the {inner} `{found.name}`"
    if isinstance(thing, type):
        return f"the class `{found.name}`"
    if type(thing) is type(len):
        return f"`{found.name}`, which is not written in Python"
    return f"a `{type(thing).__name__}`"


def _misfit(what: str, found: StepDef | PipelineDef, kind: t.Unsupported) -> Finding:
    return BadAnnotation(what, found.name, kind.whole or kind.annotation, kind.reason)


def _parameter(found: StepDef | PipelineDef, parameter: Parameter, root: bool) -> Iterator[Diagnostic]:
    code = found.code
    if not parameter.annotated:
        if isinstance(found, StepDef) and found.kind == "python" and code.co_name == "<lambda>":
            return  # this is reported, and it has no defaults
        yield Diagnostic(NoAnnotation(parameter.name, found.name), Definition(code, parameter.name))
        return
    if isinstance(parameter.type, t.Unsupported):
        place = Definition(code, parameter.name, "annotation")
        yield Diagnostic(_misfit(f"`{parameter.name}`", found, parameter.type), place)
        return
    if not is_parameter_name(parameter.name):
        yield Diagnostic(BadName(parameter.name), Definition(code, parameter.name))
    if isinstance(found, PipelineDef) and root and t.holds_file(parameter.type):
        if parameter.default is MISSING or (
            parameter.default is None and not isinstance(parameter.type, t.Maybe)
        ):
            missing = FileDefault(parameter.name, t.spell(parameter.type), found.name)
            yield Diagnostic(missing, Definition(code, parameter.name))
        else:
            place = Definition(code, parameter.name, "default")
            wrong = _default(parameter, place)
            yield from wrong
            if not wrong:
                expr = default_of(parameter)
                yield from volumes.files(expr, place, set())
                if checkpoints.inside(expr):
                    yield Diagnostic(CheckpointUse(), place)
    elif root and parameter.default is not MISSING:
        yield from _default(parameter, Definition(code, parameter.name, "default"))


def _default(parameter: Parameter, place: Place) -> list[Diagnostic]:
    """Findings about a default that no call overrides: one of a pipeline that a run starts with."""
    wrong: list[Diagnostic] = []

    def complain(kind: str, **data: Any) -> None:
        if kind == "WrongType":
            wrong.append(Diagnostic(WrongDefault(parameter.name, data["want"], data["have"]), place))
        else:
            wrong.append(Diagnostic(mistake(kind, **data), place))

    made = lift(parameter.default, parameter.type, complain)
    if not wrong and Poison in map(type, leaves(made)):  # of a text, which is not traced here
        complain("TextType", type=held_in(str(parameter.default)) or "Path")
    return wrong


def call_options(graph: Graph, sources: Sources) -> Iterator[Diagnostic]:
    """Findings about the options of single calls."""
    told: set[Site] = set()
    for call in graph.calls:
        site = call.override
        if site is None or site in told:
            continue
        told.add(site)
        if isinstance(call.target, PipelineDef):
            known = (*SUBGRAPH, *_CALL_OPTIONS)
            found = subgraph_options(call.options, functools.partial(Argument, site), known)[2]
            yield from (_of_parameter(one, call.target) for one in found)
        else:
            kind = call.target.kind
            known = (*of_calls(kind), *_CALL_OPTIONS)
            place = functools.partial(Argument, site)
            made, found = settings(call.options, place, known, kind)
            yield from (_of_parameter(one, call.target) for one in found)
            yield from conflicts(call.target, call.options, place, site)
            yield from volumes.mounted(call.options, place)
            yield from volumes.unstored(call.target, call.options, place)
            yield from packed(call.target, made.files, place)
            yield from unfit(call.target, call.options, site)
            yield from kinds.elsewhere(call.target, call.options, site)
            if kind == "approve" and call.options.get("duration") is not None:
                yield from kinds.unanswered(call.target, Argument(site, "duration"))


def _of_parameter(one: Diagnostic, target: StepDef | PipelineDef) -> Diagnostic:
    """An unknown option of a call, which may be meant for the function."""
    finding = one.finding
    if not isinstance(finding, UnknownOption) or finding.name not in target.signature.by_name:
        return one
    return one._replace(finding=UnknownOption(finding.name, finding.known, step=target.name))


def images(graph: Graph, sources: Sources) -> Iterator[Diagnostic]:
    """Steps that are called without an image."""
    told: set[int] = set()
    for call in graph.calls:
        step = call.target
        if isinstance(step, PipelineDef) or (id(step) in told and not call.options):
            continue
        if "image" not in OPTIONS[step.kind]:
            continue
        told.add(id(step))
        written = {*step.options, *call.options}
        # A misspelt or positional option may be meant to be this one.
        if "image" not in written and written <= _WRITTEN and is_function(step.plain) and not step.unnamed:
            yield Diagnostic(NoImage(step.name), Definition(step.code))


def calls(trace: Trace) -> Iterator[Diagnostic]:
    """Pipelines without calls: Argo rejects a graph without tasks. Their runs may be those of a template."""
    graphs = trace.graphs.values()
    for graph in graphs:
        patch = graph.owner.options.get("argo")
        if isinstance(patch, Mapping) and "workflowTemplateRef" in patch:
            continue
        if not graph.calls and graph.around is None and is_function(graph.owner.plain):
            ends = any(one.around is graph and one.calls for one in graphs)
            yield Diagnostic(EmptyPipeline(graph.owner.name, ends), Definition(graph.owner.code))


def unused(trace: Trace, sources: Sources) -> Iterator[Diagnostic]:
    """Parameters that runs or trials set, and that their pipeline does not use.

    Callers of a pipeline may pass an argument only to let it wait. Templates of the cluster read parameters of the
    run directly, and so can a patch.
    """
    root, every = trace.root, [*trace.calls]
    patches = [one.options.get("argo") for one in (root.owner, *every, *(call.target for call in every))]
    if "parameters" in repr([one for one in patches if one is not None]):
        return
    if any(isinstance(call.target, StepDef) and call.target.kind == "template" for call in every):
        return
    if root.calls or trace.ending(root):  # otherwise its runs may be those of a template
        names = [one.name for one in root.owner.signature.parameters]
        yield from _unused(root.owner, names, "another value changes nothing of a run", sources)
    for call in every:
        if isinstance(call.target, PipelineDef) and call.loop is not None and call.loop.kind == "sweep":
            names = [*(call.loop.rows or [{}])[0]]
            yield from _unused(call.target, names, "another value changes nothing of a trial", sources)


def _unused(
    pipeline: PipelineDef, names: Iterable[str], effect: str, sources: Sources
) -> Iterator[Diagnostic]:
    asked = [name for name in names if not name.startswith("_")]
    file = sources.file(pipeline.code.co_filename) if asked and is_function(pipeline.plain) else None
    body = None if file is None else file.function(pipeline.code)
    if body is None or pipeline.function is not pipeline.plain:  # a decorator may use what it hides
        return
    named = {one.id for one in nodes(body.body) if isinstance(one, ast.Name)}
    if named.isdisjoint(("locals", "vars", "eval", "exec")):
        for name in asked:
            if name not in named:
                found = UnusedParameter(name, pipeline.name, effect)
                yield Diagnostic(found, Definition(pipeline.code, name))


_OF_A_RUN = (
    *("timeout", "service_account", "priority", "user", "image_pull_secrets"),
    *("queue", "pod_labels", "pod_annotations", "argo"),
)
"""The options of a pipeline without which its steps would run differently."""


def of_runs(called: PipelineDef, root: PipelineDef) -> Iterator[Diagnostic]:
    """The options of a pipeline that have no effect where it is called, unless its caller has the same value.

    Argo has no `timeout` and no `activeDeadlineSeconds` for templates of the kinds dag and steps.
    Source: Argo Workflows, workflow/validate/validate.go.
    """
    for name in _OF_A_RUN:
        own, around = called.options.get(name), root.options.get(name)
        if called is root or own is None or later(own):
            continue
        if is_dict(own) and is_dict(around):
            around = {key: value for key, value in around.items() if key in own}
        if own != around:
            yield Diagnostic(OfARun(name, called.name, root.name), Argument(called.site, name))


def classes(signature: Signature) -> list[type[Any]]:
    """The classes that a step's inputs are converted to."""
    return list(dict.fromkeys(cls for parameter in signature.parameters for cls in _classes(parameter.type)))


def _classes(kind: t.Type) -> Iterator[type[Any]]:
    match kind:
        case t.Enumeration(cls):
            yield cls
        case t.Record(cls, fields):
            yield cls
            for field in fields:
                yield from _classes(field.type)
        case t.Entries(_, fields):
            for field in fields:
                yield from _classes(field.type)
        case t.Mapping(item, key):
            yield from _classes(key)
            yield from _classes(item)
        case t.Sequence(item) | t.Maybe(item):
            yield from _classes(item)
        case t.Fixed(items):
            for item in items:
                yield from _classes(item)
        case _:
            return
