"""The whole way from a loaded file to YAML; each stage is a function of the previous one."""

from __future__ import annotations

import contextlib
import gc
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from flowdsl.compiler.carry.carry import ModuleSource, carry
from flowdsl.compiler.checks import check_definitions, check_trace
from flowdsl.compiler.checks.bodies import check_bodies
from flowdsl.compiler.checks.code import provided
from flowdsl.compiler.checks.definitions import classes
from flowdsl.compiler.checks.redefined import redefined
from flowdsl.compiler.findings import load as findings
from flowdsl.compiler.findings.functions import NoSource
from flowdsl.compiler.findings.kinds import DESCRIBED
from flowdsl.compiler.findings.tasks import Waiting
from flowdsl.compiler.load import LoadError, exits, importing, raised, user_traceback
from flowdsl.compiler.naming import task_names
from flowdsl.compiler.objects import kind_of, misfits
from flowdsl.compiler.options import cached_calls, declared
from flowdsl.compiler.profile import NOWHERE
from flowdsl.compiler.steps.described import never_run, said_twice
from flowdsl.compiler.written_as import KINDS
from flowdsl.diagnostic import Diagnostic, any_error
from flowdsl.grammar.named import NamedTuple
from flowdsl.mistakes.arguments import WrongType
from flowdsl.mistakes.bodies import WrongReturn
from flowdsl.mistakes.values import NothingMade
from flowdsl.pipeline import Pipeline, PipelineDef
from flowdsl.places.place import Definition
from flowdsl.step import Step, StepDef
from flowdsl.tracing.body import BodyError, trace_pipeline
from flowdsl.values.signature import is_function

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
    from types import CodeType

    from flowdsl.compiler.argo import Manifest
    from flowdsl.compiler.carry.carry import Carried
    from flowdsl.compiler.ir import Program
    from flowdsl.compiler.load import Loaded
    from flowdsl.compiler.problem import Problem
    from flowdsl.compiler.profile import Profile
    from flowdsl.compiler.steps.leaves import Descriptions
    from flowdsl.compiler.written_as import Kind
    from flowdsl.tracing.trace import Graph, Trace


#: Adds values to the documents of programs, before the digests are computed.
Supply: TypeAlias = "Callable[[Sequence[Program], Sequence[dict[str, Any]]], None]"


#: Where a function is defined: the file, and the line.
Written = tuple[str, int]


class Compiled(NamedTuple):
    """The result of compiling a file; `text` is empty when there are errors.

    `roots` and `called` are where the compiled pipelines, and the pipelines that these call, are defined: files and
    lines.
    """

    text: str
    documents: list[dict[str, Any]]
    diagnostics: list[Diagnostic]
    programs: list[Program]
    manifests: Sequence[Manifest] = ()
    roots: frozenset[Written] = frozenset()
    called: frozenset[Written] = frozenset()

    @property
    def failed(self) -> bool:
        """Whether there are errors, so that nothing may be written."""
        return any_error(self.diagnostics)


@contextlib.contextmanager
def resting_collector() -> Generator[None]:
    """Disable the cyclic collector: a compilation keeps all that it creates, so there is nothing to collect.

    With it, the time grows faster than the number of tasks. What was created becomes the oldest generation,
    for the next full collection; as new, all of it would be traversed as soon as the collector is on.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():  # else the program has frozen objects itself
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def without_repeats(found: list[Diagnostic]) -> list[Diagnostic]:
    """The findings without those that a more specific finding at the same place makes redundant."""
    moving = [one.place for one in found if one.finding.code == "FD672"]
    return [one for one in found if one.finding.code != "FD772" or one.place not in moving]


class InternalError(Exception):
    """The compiler produced something invalid by itself: a bug of flowdsl, not a mistake of the user."""


def _without_wrappers(found: Iterable[Diagnostic], wrappers: Mapping[CodeType, str]) -> list[Diagnostic]:
    """The findings without those about functions that wrap steps: the wrapping itself is the mistake."""
    names = wrappers.values()
    return [
        one
        for one in found
        if not (isinstance(one.place, Definition) and one.place.code in wrappers)
        and not (
            isinstance(one.finding, (WrongType, WrongReturn, NothingMade)) and one.finding.maker in names
        )
    ]


def compile_loaded(
    loaded: Loaded,
    name: str | None = None,
    kind: Kind | None = None,
    with_rbac: bool = False,
    profile: Profile | None = None,
    supply: Supply | None = None,
) -> Compiled:
    """Compile the root pipelines of a loaded file, or the one called `name`, for the cluster of a profile.

    Without a kind, a pipeline with a schedule is a CronWorkflow and every other one a Workflow. `with_rbac` adds
    the service accounts, roles and bindings that they need to the text. `supply` sets parameters, in place.
    Raises `LoadError` when the body of a pipeline raises an exception of its own, and `InternalError`
    when the manifest is invalid at a place that no source text of the user determines.
    """
    with resting_collector():
        unit = _Unit(loaded, profile or NOWHERE)
        try:
            made = _compile(unit, name, kind, with_rbac, supply)
            return made._replace(roots=unit.written(roots=True), called=unit.written(roots=False))
        finally:
            unit.clear()


def _compile(
    unit: _Unit, name: str | None, kind: Kind | None, with_rbac: bool, supply: Supply | None
) -> Compiled:
    from flowdsl.compiler.argo import to_argo
    from flowdsl.compiler.argo.provenance import sealed
    from flowdsl.compiler.origins import in_source

    programs = unit.programs(name)
    if unit.failed:
        return Compiled("", [], unit.diagnostics, [])
    objects = [(program, KINDS[kind or kind_of(program)]) for program in programs]
    unit.diagnostics.extend(misfits(objects))
    if unit.failed:
        return Compiled("", [], unit.diagnostics, programs)
    manifests = [to_argo(program, written) for program, written in objects]
    for manifest in manifests:
        unit.diagnostics.extend(manifest.refused)
        found = judge(manifest, unit.traces.values(), unit.profile.argo)
        unit.diagnostics.extend(in_source(one, unit.loaded.sources) for one in found)
    if unit.failed:
        return Compiled("", [], unit.diagnostics, programs)
    documents = [manifest.body for manifest in manifests]
    if supply is not None:
        supply(programs, documents)
    besides = _rbac(unit, manifests) if with_rbac else []
    try:
        text = "---\n".join(map(sealed, (*documents, *besides)))
        flaws = _texts(unit, manifests) if _NUL in text else []
    except ValueError:  # a lone surrogate
        text, flaws = "", _texts(unit, manifests)
        if not flaws:
            raise
    unit.diagnostics.extend(flaws)
    if unit.failed:
        return Compiled("", [], unit.diagnostics, programs)
    return Compiled(text, documents, unit.diagnostics, programs, manifests)


_NUL = "\\u0000"
"""A NUL as it is escaped in the YAML."""


def _texts(unit: _Unit, manifests: Sequence[Manifest]) -> list[Diagnostic]:
    """Texts that cannot be written, or passed to a program; searched only if the YAML shows that there are some."""
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.lint.pods.text import texts

    traces = unit.traces.values()
    return [one for each in manifests for one in _in_the_file(texts(View(each.body)), each, traces)]


def _rbac(unit: _Unit, manifests: Sequence[Manifest]) -> list[dict[str, Any]]:
    """The service accounts, roles and bindings that manifests need."""
    from flowdsl.compiler.origins import placed
    from flowdsl.compiler.rbac import rbac

    found = rbac([manifest.body for manifest in manifests])
    for manifest, problems in zip(manifests, found.problems, strict=True):
        for problem in problems:
            diagnostic = placed(problem, manifest, unit.traces.values())
            unit.diagnostics.append(diagnostic or Diagnostic(problem.finding, None))
    return found.documents


def judge(manifest: Manifest, traces: Iterable[Trace], version: str) -> list[Diagnostic]:
    """The findings about a manifest for a version of Argo, each at its cause in the user's file."""
    from flowdsl.compiler.lint import lint
    from flowdsl.compiler.lint.pods.limits import for_version
    from flowdsl.compiler.ours import typed
    from flowdsl.compiler.schema.versions import misfits

    found = (one for one in lint(manifest.body) if not typed(one, manifest))
    problems = (*found, *misfits(manifest.body, version))
    return _in_the_file((for_version(problem, version) for problem in problems), manifest, traces)


def _in_the_file(
    problems: Iterable[Problem], manifest: Manifest, traces: Iterable[Trace]
) -> list[Diagnostic]:
    """Problems of a manifest at their places in the user's file. Raises `InternalError` where one has none."""
    from flowdsl.compiler.origins import placed

    found: list[Diagnostic] = []
    for problem in problems:
        diagnostic = placed(problem, manifest, traces)
        if diagnostic is None:
            where = ".".join(map(str, problem.path))
            raise InternalError(f"{where}: {problem.finding.message} [{problem.finding.code}]")
        found.append(diagnostic)
    return found


class _Unit:
    """The state of compiling one file."""

    def __init__(self, loaded: Loaded, profile: Profile) -> None:
        self.loaded = loaded
        self.profile = profile
        self.diagnostics: list[Diagnostic] = []
        self.traces: dict[int, Trace] = {}
        self._modules: dict[str, ModuleSource] = {}
        self._carried: dict[int, Carried | None] = {}
        self._wrappers: dict[CodeType, str] = {}  # functions that wrap steps, with their names
        self._tasks: dict[int, dict[int, str]] = {}
        self._declared = cache(partial(declared, profile=profile))
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
        return any_error(self.diagnostics)

    def written(self, roots: bool) -> frozenset[Written]:
        """Where the compiled pipelines (`roots`), or those that they call, are defined."""
        owners = [graph.owner for trace in self.traces.values() for graph in trace.graphs.values()]
        codes = [one.code for one in owners if (id(one) in self.traces) is roots and is_function(one.plain)]
        return frozenset((code.co_filename, code.co_firstlineno) for code in codes)

    def clear(self) -> None:
        """Break the reference cycles between graphs and calls, so that the collector has nothing to find."""
        for trace in self.traces.values():
            for graph in trace.graphs.values():
                graph.clear()

    def programs(self, name: str | None) -> list[Program]:
        """The programs of the selected pipelines; none when there are errors."""
        roots = self._roots(name)
        definitions = self._definitions()
        self.diagnostics.extend(check_definitions(definitions, [id(root) for root in roots], self._declared))
        for trace in self.traces.values():
            self.diagnostics.extend(check_trace(trace, self.loaded.sources, self.profile))
            if not trace.failed:  # invalid arguments do not distinguish calls
                for graph in trace.graphs.values():
                    self._names(graph)
        if self.failed:
            found: list[Program] = []
            self._describe()
        else:
            found = [self._lower(root) for root in roots]
        self.diagnostics.extend(said_twice(self.steps, self.loaded.sources))
        self.diagnostics.extend(never_run(self.steps, self.loaded.sources))
        named: list[StepDef | PipelineDef] = [*self.pipelines.values(), *self.steps]
        self.diagnostics.extend(redefined(named, self.loaded.source, vars(self.loaded.module)))
        for step in self.steps:
            self.carried(step)
        bodies = check_bodies(self.steps, self.traces.values(), self._module_of, self.carried)
        self.diagnostics.extend(bodies)
        if self._wrappers:
            self.diagnostics = _without_wrappers(self.diagnostics, self._wrappers)
        self.diagnostics = without_repeats(self.diagnostics)
        return [] if self.failed else found

    def _module_of(self, definition: StepDef | PipelineDef) -> ModuleSource | None:
        """The module that defines a function, if the source of one of its steps was carried."""
        return self._modules.get(definition.code.co_filename) if is_function(definition.plain) else None

    def _roots(self, name: str | None) -> list[PipelineDef]:
        from flowdsl.compiler.foreign import way_out

        wanted = dict(self.pipelines)
        if name is not None:
            named = {key: one for key, one in wanted.items() if name in (key, one.options.get("name"))}
            if not named:
                finding = findings.UnknownPipeline(self.loaded.source.shown, name, tuple(wanted))
                self.diagnostics.append(Diagnostic(finding, None))
            wanted = named
        elif not wanted:
            source = self.loaded.source
            nowhere = findings.NoPipeline(source.shown, foreign=way_out(source.text))
            self.diagnostics += self._in_classes() or [Diagnostic(nowhere, None)]
        called: set[int] = set()
        # A pipeline is usually called by one below it, which is traced first and traces it too.
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

    def _in_classes(self) -> list[Diagnostic]:
        """The pipelines that are defined in a class of this file, where no command finds them."""
        from flowdsl.compiler.findings.carry import MethodStep

        module = self.loaded.module
        own = [
            one
            for one in vars(module).values()
            if isinstance(one, type) and one.__module__ == module.__name__
        ]
        inside: list[Pipeline[..., Any]] = [
            one for cls in own for one in vars(cls).values() if isinstance(one, Pipeline)
        ]
        found = [one._definition for one in inside]  # pyright: ignore[reportPrivateUsage] -- it has no public names
        return [
            Diagnostic(MethodStep(one.plain.__qualname__, "pipeline"), Definition(one.code)) for one in found
        ]

    def _trace(self, definition: PipelineDef) -> Trace:
        try:
            with importing(self.loaded.path):
                trace = trace_pipeline(definition)
        except BodyError as error:
            if isinstance(error.original, SystemExit):
                found = exits(error.original, self.loaded.source.filename, error.name)
                raise LoadError(self.loaded.sources, found) from error
            found = raised(error.original, self.loaded.source.filename, error.name)
            raise LoadError(self.loaded.sources, found, user_traceback(error.original)) from error
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
        """The names of the tasks of a graph, computed once."""
        known = self._tasks.get(id(graph))
        if known is None:
            known, problems = task_names(graph.calls, self.loaded.sources.assigned)
            self._tasks[id(graph)] = known
            self.diagnostics.extend(problems)
        return known

    def carried(self, definition: StepDef) -> Carried | None:
        """The source of a Python step with what it uses, computed once."""
        if id(definition) not in self._carried:
            if definition.kind != "python" or not is_function(definition.plain):
                return self._carried.setdefault(id(definition), None)
            filename = definition.code.co_filename
            module = self._modules.get(filename)
            if module is None:
                file = self.loaded.sources.file(filename)
                if file is None or file.tree is None:
                    missing = NoSource(definition.name)
                    self.diagnostics.append(Diagnostic(missing, definition.site))
                    self._carried[id(definition)] = None
                    return None
                module = self._modules[filename] = ModuleSource(file, definition.plain.__globals__)
            made, found = carry(
                definition.function,
                module,
                classes(definition.signature),
                definition.site,
                lambda one: provided(one, definition, self.traces.values()),
            )
            self._carried[id(definition)] = made
            self.diagnostics.extend(found)
            if found and made is None:
                from flowdsl.compiler.findings.carry import HiddenFunction

                if any(isinstance(one.finding, HiddenFunction) for one in found):
                    self._wrappers[definition.code] = definition.name
        return self._carried[id(definition)]

    def _digest(self, trace: Trace) -> str:
        """The digest of the files in which the pipelines and steps of a trace are defined."""
        from flowdsl.compiler.argo.provenance import source_digest

        owners = {graph.owner.code.co_filename for graph in trace.graphs.values()}
        targets = {call.target.code.co_filename for call in trace.calls}
        files = (self.loaded.sources.file(filename) for filename in owners | targets)
        return source_digest({file.text for file in files if file is not None})

    def _describe(self) -> None:
        """Report errors in the descriptions of steps, where no program is made that would report them."""
        called = {id(call.target): call.target for trace in self.traces.values() for call in trace.calls}
        wrong = {one.place.code for one in self.diagnostics if isinstance(one.place, Definition)}
        for step in called.values():
            if not isinstance(step, StepDef) or step.kind not in DESCRIBED:
                continue
            if is_function(step.plain) and step.code not in wrong:
                self.descriptions(step)

    @cached_property
    def descriptions(self) -> Descriptions:
        """The descriptions of steps, each evaluated once."""
        from flowdsl.compiler.steps.leaves import Descriptions, excused

        return Descriptions(self._declared, self.diagnostics, excused(self.traces.values()))

    def _lower(self, definition: PipelineDef) -> Program:
        from flowdsl.compiler.lowering.ends import too_large
        from flowdsl.compiler.lowering.locks import locks_inside
        from flowdsl.compiler.lowering.lower import Lowering
        from flowdsl.compiler.lowering.plan import Planner
        from flowdsl.compiler.lowering.split import split
        from flowdsl.compiler.steps.leaves import handed_on_daemons

        trace = self.traces[id(definition)]
        planner = Planner(trace, self._names, self.descriptions, cached_calls(trace, definition))
        root = planner.root(definition)
        lowering = Lowering(planner, root, self.carried, self._declared, self.profile)
        program = lowering.program()
        self.diagnostics.extend(planner.diagnostics)
        self.diagnostics.extend(lowering.diagnostics)
        self.diagnostics.extend(locks_inside(program))
        self.diagnostics.extend(refused := [*too_large(program)])
        parted, waiting = split(program._replace(source=self._digest(trace)))
        self.diagnostics.extend(handed_on_daemons(program, parted))
        self.diagnostics.extend(Diagnostic(Waiting(one.name), one.place) for one in waiting)
        if refused:
            return parted
        return parted._replace(templates=tuple(lowering.completed([*parted.templates])))
