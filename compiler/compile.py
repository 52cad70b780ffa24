"""The whole way from a loaded file to YAML, each stage a function of the one before."""

from __future__ import annotations

import contextlib
import gc
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from flowdsl.compiler.checks import check_definitions, check_trace
from flowdsl.compiler.checks.bodies import check_bodies
from flowdsl.compiler.load import LoadError, exits, importing, user_traceback
from flowdsl.compiler.naming import task_names
from flowdsl.compiler.options import declared
from flowdsl.diagnostic import Diagnostic
from flowdsl.pipeline import Pipeline, PipelineDef
from flowdsl.signature import is_function
from flowdsl.step import Step, StepDef
from flowdsl.tracing import BodyError, trace_pipeline

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping

    from flowdsl.compiler.argo import Manifest
    from flowdsl.compiler.carry import Carried, ModuleSource
    from flowdsl.compiler.ir import Program
    from flowdsl.compiler.load import Loaded
    from flowdsl.trace import Graph, Trace

Kind = Literal["workflow", "template"]
KINDS: Mapping[Kind, str] = {"workflow": "Workflow", "template": "WorkflowTemplate"}


class Compiled(NamedTuple):
    """What a file came to; `text` is empty when there are errors."""

    text: str
    documents: list[dict[str, Any]]
    diagnostics: list[Diagnostic]
    programs: list[Program]

    @property
    def failed(self) -> bool:
        """Whether an error was found, so that nothing may be written."""
        return any(one.finding.severity == "error" for one in self.diagnostics)


@contextlib.contextmanager
def resting_collector() -> Generator[None]:
    """Without the cyclic collector: a compilation keeps all that it makes, and cycles would be sought in vain.

    With it, the time grows faster than the number of tasks. What was made then counts as old, and waits for
    the next full collection; as new, all of it would be looked at as soon as the collector is back.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():  # else the program keeps some objects from the collector
                gc.freeze()
                gc.unfreeze()
            gc.enable()


class InternalError(Exception):
    """The compiler wrote something wrong by itself: a bug of flowdsl, not a mistake of the user."""


def compile_loaded(loaded: Loaded, name: str | None = None, kind: Kind = "workflow") -> Compiled:
    """Compile the root pipelines of a loaded file, or the one called `name`.

    Raises `LoadError` when the body of a pipeline raises an exception of its own, and `InternalError`
    when the manifest is wrong at a place that no text of the user decides.
    """
    with resting_collector():
        unit = _Unit(loaded)
        try:
            return _compile(unit, name, kind)
        finally:
            unit.clear()


def _compile(unit: _Unit, name: str | None, kind: Kind) -> Compiled:
    from flowdsl.compiler.argo import to_argo
    from flowdsl.compiler.emit import emit

    programs = unit.programs(name)
    if unit.failed:
        return Compiled("", [], unit.diagnostics, [])
    manifests = [to_argo(program, KINDS[kind]) for program in programs]
    for manifest in manifests:
        unit.diagnostics.extend(judge(manifest, unit.traces.values()))
    if unit.failed:
        return Compiled("", [], unit.diagnostics, programs)
    documents = [manifest.body for manifest in manifests]
    return Compiled(emit(documents), documents, unit.diagnostics, programs)


def judge(manifest: Manifest, traces: Iterable[Trace]) -> list[Diagnostic]:
    """The findings of lint about a manifest, each at the place in the user's file that caused it."""
    from flowdsl.compiler.lint import lint
    from flowdsl.compiler.origins import placed

    found: list[Diagnostic] = []
    for problem in lint(manifest.body):
        diagnostic = placed(problem, manifest, traces)
        if diagnostic is None:
            where = ".".join(map(str, problem.path))
            raise InternalError(f"{where}: {problem.finding.message} [{problem.finding.code}]")
        found.append(diagnostic)
    return found


class _Unit:
    """One file on its way through the compiler."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.diagnostics: list[Diagnostic] = []
        self.traces: dict[int, Trace] = {}
        self._modules: dict[str, ModuleSource] = {}
        self._carried: dict[int, Carried | None] = {}
        self._tasks: dict[int, dict[int, str]] = {}
        self._declared = cache(declared)
        namespace = vars(loaded.module)
        here = loaded.source.filename
        self.pipelines: dict[str, PipelineDef] = {}
        self.steps: list[StepDef] = []
        seen: set[int] = set()
        for key, value in namespace.items():
            if type(value) not in (Step, Pipeline) or id(value._definition) in seen:
                continue
            definition = value._definition
            code = definition.code if is_function(definition.plain) else definition.site.code
            if code.co_filename != here:
                continue
            seen.add(id(definition))
            if isinstance(definition, PipelineDef):
                self.pipelines[key] = definition
            else:
                self.steps.append(definition)

    @property
    def failed(self) -> bool:
        return any(one.finding.severity == "error" for one in self.diagnostics)

    def clear(self) -> None:
        """Part the graphs from their calls, which hold each other: nothing is left for the collector to find."""
        for trace in self.traces.values():
            for graph in trace.graphs.values():
                graph.clear()

    def programs(self, name: str | None) -> list[Program]:
        """The programs of the wanted pipelines; none when there are errors."""
        roots = self._roots(name)
        definitions = self._definitions()
        self.diagnostics.extend(check_definitions(definitions, [id(root) for root in roots], self._declared))
        for trace in self.traces.values():
            self.diagnostics.extend(check_trace(trace, self.loaded.sources))
            if not trace.failed:  # arguments that are wrong do not tell calls apart
                for graph in trace.graphs.values():
                    self._names(graph)
        found = [] if self.failed else [self._lower(root) for root in roots]
        for step in self.steps:
            self.carried(step)
        bodies = check_bodies(self.steps, self.traces.values(), self._module_of, self.carried)
        self.diagnostics.extend(bodies)
        return [] if self.failed else found

    def _module_of(self, definition: StepDef | PipelineDef) -> ModuleSource | None:
        """The module that a function is written in, where some step of it was carried."""
        return self._modules.get(definition.code.co_filename) if is_function(definition.plain) else None

    def _roots(self, name: str | None) -> list[PipelineDef]:
        from flowdsl.compiler import load_findings as findings

        wanted = dict(self.pipelines)
        if name is not None:
            named = {key: one for key, one in wanted.items() if name in (key, one.options.get("name"))}
            if not named:
                finding = findings.UnknownPipeline(name, tuple(wanted))
                self.diagnostics.append(Diagnostic(finding, None))
            wanted = named
        elif not wanted:
            self.diagnostics.append(Diagnostic(findings.NoPipeline(self.loaded.source.shown), None))
        called: set[int] = set()
        # A pipeline is mostly called by one below it, which is traced first and traces it too.
        for definition in reversed(wanted.values()):
            if id(definition) not in called or name is not None:
                trace = self._trace(definition)
                inner = set(trace.graphs) - {id(definition)}
                for one in inner:
                    self.traces.pop(one, None)
                called |= inner
        roots = [one for one in wanted.values() if id(one) not in called or name is not None]
        self.traces = {id(one): self.traces[id(one)] for one in roots}
        return roots

    def _trace(self, definition: PipelineDef) -> Trace:
        try:
            with importing(self.loaded.path):
                trace = trace_pipeline(definition)
        except BodyError as error:
            if isinstance(error.original, SystemExit):
                found = exits(error.original, self.loaded.source.filename, error.name)
                raise LoadError(self.loaded.sources, found) from error
            raise LoadError(self.loaded.sources, traceback=user_traceback(error.original)) from error
        self.traces[id(definition)] = trace
        return trace

    def _definitions(self) -> list[StepDef | PipelineDef]:
        """The steps and pipelines of the file, and those of other files that its pipelines call."""
        written: list[StepDef | PipelineDef] = [*self.steps, *self.pipelines.values()]
        found = {id(one): one for one in written}
        for trace in self.traces.values():
            for graph in trace.graphs.values():
                found.setdefault(id(graph.owner), graph.owner)
                for call in graph.calls:
                    found.setdefault(id(call.target), call.target)
        self.steps = [one for one in found.values() if isinstance(one, StepDef)]
        return list(found.values())

    def _names(self, graph: Graph) -> dict[int, str]:
        """The names of the tasks of a graph, made once."""
        known = self._tasks.get(id(graph))
        if known is None:
            known, problems = task_names(graph.calls, self.loaded.sources.assigned)
            self._tasks[id(graph)] = known
            self.diagnostics.extend(problems)
        return known

    def carried(self, definition: StepDef) -> Carried | None:
        """The source of a Python step with what it uses, made once."""
        if definition.kind != "python" or not is_function(definition.plain):
            return None
        if id(definition) not in self._carried:
            from flowdsl.compiler import mistakes
            from flowdsl.compiler.carry import ModuleSource, carry
            from flowdsl.compiler.checks.definitions import classes

            filename = definition.code.co_filename
            module = self._modules.get(filename)
            if module is None:
                file = self.loaded.sources.file(filename)
                if file is None or file.tree is None:
                    missing = mistakes.NoSource(definition.name)
                    self.diagnostics.append(Diagnostic(missing, definition.site))
                    self._carried[id(definition)] = None
                    return None
                module = self._modules[filename] = ModuleSource(file, definition.plain.__globals__)
            made, found = carry(definition.function, module, classes(definition.signature), definition.site)
            self._carried[id(definition)] = made
            self.diagnostics.extend(found)
        return self._carried[id(definition)]

    def _lower(self, definition: PipelineDef) -> Program:
        from flowdsl.compiler import mistakes
        from flowdsl.compiler.ends import too_large
        from flowdsl.compiler.leaves import Descriptions, handed_on_daemons
        from flowdsl.compiler.locks import locks_inside
        from flowdsl.compiler.lower import Lowering
        from flowdsl.compiler.plan import Planner
        from flowdsl.compiler.split import split

        descriptions = Descriptions(self._declared)
        planner = Planner(self.traces[id(definition)], self._names, descriptions)
        root = planner.root(definition)
        lowering = Lowering(planner, self.carried, self._declared)
        program = lowering.program(root)
        self.diagnostics.extend(descriptions.diagnostics)
        self.diagnostics.extend(planner.diagnostics)
        self.diagnostics.extend(lowering.diagnostics)
        self.diagnostics.extend(locks_inside(program))
        self.diagnostics.extend(too_large(program))
        parted, waiting = split(program)
        self.diagnostics.extend(handed_on_daemons(parted))
        self.diagnostics.extend(Diagnostic(mistakes.Waiting(one.name), one.place) for one in waiting)
        return parted
