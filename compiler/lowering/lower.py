"""Lowering: from the plans of a pipeline's graphs to the templates of a program.

The second pass. Each call finds its template by what makes templates differ (options, the forms of its
arguments, which files need a key); templates are written in the order in which the pipeline meets them.
"""

from __future__ import annotations

import functools
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from flowdsl import types as t
from flowdsl.compiler import ir, placing
from flowdsl.compiler.checks.checkpoints import kept
from flowdsl.compiler.checks.kinds import serves
from flowdsl.compiler.encode import choices
from flowdsl.compiler.expressions import VOLUMES, text_of
from flowdsl.compiler.findings import mistakes
from flowdsl.compiler.findings.data import ArchiveKeyed
from flowdsl.compiler.forms import (
    DIGEST,
    PLAIN,
    ROWS,
    Carried,
    Form,
    handed,
    inputs,
    inside,
    port_types,
    ports,
    reader,
    spelled,
    undigested,
    variable,
    volumes,
)
from flowdsl.compiler.lowering.borne import borne
from flowdsl.compiler.lowering.ends import musts, parameters_of
from flowdsl.compiler.lowering.pick import PYTHON, pick
from flowdsl.compiler.lowering.plans import CHECKPOINT, STATUS
from flowdsl.compiler.naming import Templates, slug, volume_name
from flowdsl.compiler.options import KINDS as OPTIONS
from flowdsl.compiler.options import applicable, inherited, patch, pipeline_options, settings
from flowdsl.compiler.placing import AT, INDEX
from flowdsl.compiler.ports import CHECKPOINTS, IN, OUT, STORE, Writer, layout
from flowdsl.compiler.steps.command import CommandLine, bind
from flowdsl.compiler.steps.leaves import BODIES, Asked, outputs, questions, refused
from flowdsl.compiler.steps.paths import misplaced
from flowdsl.compiler.steps.script import script
from flowdsl.compiler.steps.script_prepare import CODE, PACKAGES, prepared
from flowdsl.compiler.volumes import claims, environments, local
from flowdsl.diagnostic import Diagnostic
from flowdsl.expr import (
    Best,
    Cell,
    Const,
    Expr,
    Get,
    Join,
    OnVolume,
    Op,
    Out,
    Param,
    Ran,
    RunField,
    Status,
    children,
)
from flowdsl.lift import lift
from flowdsl.pipeline import PipelineDef
from flowdsl.place import Argument, Definition, Place
from flowdsl.run import OUTCOME
from flowdsl.signature import MISSING, Parameter
from flowdsl.step import StepDef
from flowdsl.volume import Volume

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from flowdsl.compiler.carry.carry import Carried as Source
    from flowdsl.compiler.lowering.plan import Planner
    from flowdsl.compiler.lowering.plans import CallPlan, GraphPlan
    from flowdsl.compiler.options import Declared
    from flowdsl.compiler.profile import Profile
    from flowdsl.trace import Call


class _Leaf:
    """One template of a step: what sets it apart from the others, and what its calls need of it together.

    One more call rarely needs another template.
    """

    __slots__ = (
        "always",
        "cached",
        "counted",
        "forms",
        "listed",
        "looped",
        "name",
        "options",
        "paths",
        "placed",
        "plans",
        "step",
        "store",
        "taken",
    )

    def __init__(
        self, step: StepDef, options: str, forms: tuple[tuple[str, Form], ...], store: ir.Store | None
    ) -> None:
        self.step = step
        self.options = options
        self.forms = forms
        self.store = store
        self.name = ""
        self.plans: list[CallPlan] = []
        self.placed: set[str] = set()
        self.listed: set[str] = set()
        self.taken: set[str] = set()
        self.paths: list[tuple[t.Output, str]] | None = None
        self.cached = False
        self.looped = False  # hands on the number of the item
        self.counted = False  # takes it
        self.always = True  # from every call


class Lowering:
    """Writes the templates of one program."""

    def __init__(
        self,
        planner: Planner,
        carried: Callable[[StepDef], Source | None],
        declared: Declared,
        profile: Profile,
    ) -> None:
        self.planner = planner
        self.profile = profile
        self.carried = carried
        self.declared = declared
        self.diagnostics: list[Diagnostic] = []
        self.templates: list[ir.Template] = []
        self.names = Templates()
        self._leaves: dict[tuple[Any, ...], _Leaf] = {}
        self._of_call: dict[int, _Leaf] = {}
        self._written: set[str] = set()
        self._defined: dict[str, tuple[str, int]] = {}  # of each template of a step: where its step is
        self._graphs: dict[int, str] = {}
        self._settings: dict[Any, ir.Settings] = {}
        self._defaults: dict[int, dict[str, Any]] = {}
        self._pods: dict[str, _Leaf] = {}
        self._objectives: dict[str, tuple[str, str]] = {}
        self._returns: dict[str, t.Type] = {}

    def program(self, root: GraphPlan) -> ir.Program:
        """The program of a root pipeline."""
        self.owner = owner = root.owner
        shared = inherited(owner, owner)
        for graph in self.planner.trace.graphs.values():
            found = inherited(graph.owner, owner)
            self._defaults[id(graph.owner)] = shared if found == shared else found
        options, _ = pipeline_options(owner.options, functools.partial(_option, owner))
        name = slug(str(options.get("name", owner.name)))
        entry = self.names.name(owner.name, f"pipeline {owner.name}")
        self._graphs[id(root)] = entry
        ending = self.planner.ending(root)
        leave = None
        if ending is not None:
            leave = self._graphs[id(ending)] = self.names.name(f"{owner.name}-exit", f"exit {owner.name}")
        self._reserve([root] if ending is None else [root, ending])
        self._graph(root, entry)
        if ending is not None and leave is not None:
            self._graph(ending, leave)
        parameters: list[ir.Parameter] = []
        artifacts: list[tuple[str, Expr]] = []
        for p in owner.signature.parameters:
            files = self.planner.defaults.get(p.name)
            if files is None:
                parameters.append(ir.Parameter(p.name, _default(p), choices(p.type)))
                continue
            for one in handed(p.name, files):
                if one.kind == "artifact":
                    artifacts.append((one.name, one.value))
                else:
                    parameters.append(ir.Parameter(one.name, text_of(one.value, one.type)))
        if self.planner.cached:
            self._cache(name)
        self.templates = borne(self.templates, lambda: self.names.name("succeed", "ends of graphs"), STATUS)
        # Graphs as they are met, then the steps as they are defined: a call more moves no template.
        graphs = [one for one in self.templates if isinstance(one.body, ir.Graph)]
        pods = [one for one in self.templates if not isinstance(one.body, ir.Graph)]
        pods.sort(key=lambda one: (self._defined.get(one.name, ("~", 0)), one.name))
        if self.profile.namespace is not None:
            options["namespace"] = self.profile.namespace
        places = {option: _option(owner, option) for option in owner.options}
        return ir.Program(
            name,
            entry,
            tuple(parameters),
            (*graphs, *pods),
            claims(self.planner.volumes.values(), self.profile.claim),
            options,
            _definition(owner),
            places,
            tuple(artifacts),
            leave,
            signature=owner.signature,
            objectives=tuple((template, *one) for template, one in self._objectives.items()),
            returns=self._returns,
        )

    def _cache(self, pipeline: str) -> None:
        """Say under which keys results are kept, and write the scripts, which hand on digests that a key needs."""
        from flowdsl.compiler.lowering.memo import completed, memo, pruned

        made: list[ir.Template] = []
        for one in self.templates:
            leaf = self._pods.get(one.name)
            source = self.carried(leaf.step) if leaf is not None else None
            found = memo(pipeline, one, leaf.step, leaf.forms, source) if leaf is not None else None
            made.append(one._replace(memo=found))
        self.templates = [completed(one) for one in pruned(made)]
        for position, one in enumerate(self.templates):
            leaf = self._pods.get(one.name)
            if leaf is not None and leaf.step.kind == "python" and isinstance(one.body, ir.Pod):
                script = self._source(leaf, one.settings, {out.name for out in one.outputs})
                self.templates[position] = one._replace(body=one.body._replace(source=script))

    # --- names -------------------------------------------------------------------------------------

    def _reserve(self, roots: list[GraphPlan]) -> None:
        """Names for the templates of steps: the declared options keep the plain name."""
        graphs = [one for root in roots for one in self._met(root)]
        for leaf in self._leaves.values():
            for call in leaf.plans:
                call.placed = leaf.placed
        for plan in graphs:
            for call in plan.calls:
                if call.sub is None:
                    leaf = self._leaf(call)
                    looped = call.call.loop is not None and not call.around
                    counted = looped or (plan.looped and bool(leaf.placed))
                    leaf.looped |= looped
                    leaf.counted |= counted
                    leaf.always &= counted
        for leaf in sorted(self._leaves.values(), key=lambda leaf: leaf.options != ""):
            forms = " ".join(f"{name}:{spelled(form)}" for name, form in leaf.forms)
            store = leaf.store or ""
            difference = f"step {leaf.step.plain.__qualname__} {leaf.options} {forms}{store}"
            leaf.name = self.names.name(leaf.step.name, difference)

    def _met(self, plan: GraphPlan) -> list[GraphPlan]:
        """A graph and those inside it, the templates of their steps noted, each once."""
        graphs = [plan]
        for call in plan.calls:
            target, sub = call.call.target, call.sub
            if isinstance(target, StepDef):
                leaf = self._leaf(call)
                leaf.plans.append(call)
                leaf.placed |= call.placed
                leaf.listed |= call.listed
                leaf.taken |= call.taken
                if id(call.call) in self.planner.cached:
                    from flowdsl.compiler.lowering.memo import judged

                    leaf.cached = True
                    said = functools.partial(self._said, call.call)
                    found = judged(call, self._setting(call.call), leaf.forms, self.planner.cached, said)
                    self.diagnostics.extend(one for one in found if one not in self.diagnostics)
                    leaf.placed |= {
                        out.name for out in t.outputs(target.signature.returns) if t.holds_file(out.type)
                    }
            elif sub is not None and id(sub) not in self._graphs:
                own = f"{sub.own.spelled}{sub.store or ''}"
                forms = " ".join(f"{name}:{spelled(form)}" for name, form in sub.forms.items())
                difference = f"pipeline {target.name} {forms} {sub.looped}{sub.body}{own}"
                self._graphs[id(sub)] = self.names.name(target.name, difference)
                graphs += self._met(sub)
        return graphs

    def _leaf(self, plan: CallPlan) -> _Leaf:
        known = self._of_call.get(id(plan))
        if known is None:
            call = plan.call
            step = call.target
            assert isinstance(step, StepDef)
            given = plan.inner if call.may_fail or call.loop is not None else plan.arguments
            forms = tuple([(p.name, given[p.name].form) for p in step.signature.parameters])
            if self.planner.cached and id(call) not in self.planner.cached:
                forms = tuple([(name, undigested(form, [])[0]) for name, form in forms])
            options = ""
            if call.options or self._inherited(call) is not self._defaults[id(self.owner)]:
                options = patch.own(call)
                if (asked := self._setting(call)) != self._plain(step):
                    options += _spelled(asked)
            key = id(step), options, forms, plan.store
            known = self._leaves.get(key)
            if known is None:
                known = self._leaves[key] = _Leaf(step, options, forms, plan.store)
            self._of_call[id(plan)] = known
        return known

    def _setting(self, call: Call) -> ir.Settings:
        definition = call.target
        assert isinstance(definition, StepDef)
        defaults = self._defaults[id(call.graph.owner)]
        key = (id(definition), id(call.options) if call.options else 0, id(defaults))
        known = self._settings.get(key)
        if known is None:
            # What is wrong with them was said by the checks.
            known, _ = self.declared(definition)
            if call.options or defaults:
                merged = {**applicable(defaults, definition), **definition.options, **call.options}
                place = functools.partial(Argument, call.site)
                kind = definition.kind
                known, _ = settings(merged, place, tuple(OPTIONS[kind]), kind, self.profile)
            self._settings[key] = known
            for environment in environments(known):
                for volume in environment.volumes:
                    if isinstance(volume, Volume):
                        self.planner.volume(volume)
            if known.code.volume is not None:
                self.planner.volume(known.code.volume)
        return known

    def _plain(self, step: StepDef) -> ir.Settings:
        """The settings of a call in the pipeline of the run that says nothing itself."""
        defaults = applicable(self._defaults[id(self.owner)], step)
        if not defaults:
            return self.declared(step)[0]
        merged = {**defaults, **step.options}
        return settings(merged, step.option, tuple(OPTIONS[step.kind]), step.kind, self.profile)[0]

    def _inherited(self, call: Call) -> dict[str, Any]:
        """What the pipeline of a call says for its steps; where it adds nothing, what the run says."""
        return self._defaults[id(call.graph.owner)]

    def _said(self, call: Call, option: str) -> Place:
        """Where an option of a call was written: at the call, at its step, or at a pipeline."""
        if option in call.options and call.override is not None:
            return Argument(call.override, option)
        for definition in (call.target, call.graph.owner):
            if option in definition.options:
                return _option(definition, option)
        return _option(self.owner, option)

    # --- graphs ------------------------------------------------------------------------------------

    def _graph(self, plan: GraphPlan, name: str) -> None:
        place = _definition(plan.owner)
        self._returns[name] = plan.owner.signature.returns
        position = len(self.templates)
        tasks = tuple(task for call in plan.calls for task in self._tasks(plan, call))
        ended = any("Failed" in results for task in tasks for _, results in task.ended)
        if ended:
            tasks = (*tasks, *musts(tasks))
        signature = plan.owner.signature
        ins = [
            one
            for p in signature.parameters
            for one in inputs(p.name, plan.forms.get(p.name, PLAIN), p.type, in_pod=False)
        ]
        if plan.prefix:  # Argo gives it the parameters of the run
            used = parameters_of(tasks)
            ins = [one for one in ins if one.name in used]
        ins.extend(_hidden(plan.needs_at and not plan.root, plan.needs_index))
        outs = [
            output for out, carried in plan.results.items() for output in self._handed_on(plan, out, carried)
        ]
        if plan.body:
            outs.append(ir.Output(INDEX, "parameter", None, Param(INDEX, t.TEXT)))
        own = plan.own
        graph = ir.Graph(tasks, own.parallelism, whole=ended)
        asked = ir.Settings(control=own.control)
        template = ir.Template(name, tuple(ins), tuple(outs), graph, place, own.places, asked)
        self.templates.insert(position, template)

    def _handed_on(self, plan: GraphPlan, name: str, carried: Carried) -> list[ir.Output]:
        form, values, kind = carried
        found: list[ir.Output] = []
        for (port, how), value in zip(ports(name, form), values, strict=True):
            if how == "artifact":
                optional = isinstance(value.type, t.Maybe)
                found.append(ir.Output(port, "artifact", None, value, optional=optional))
            else:
                if not plan.root and not port.startswith(DIGEST) and _may_fail(value):
                    finding = mistakes.ReturnsComputed(plan.owner.name)
                    place = Definition(plan.owner.code, "return", f"item:{name}")
                    self.diagnostics.append(Diagnostic(finding, place))
                typed = value if not isinstance(value, Const) else Const(value.value, kind)
                found.append(ir.Output(port, "parameter", None, typed))
        return found

    def _tasks(self, graph: GraphPlan, plan: CallPlan) -> list[ir.Task]:
        tasks = [self._task(graph, plan)]
        if plan.picked:
            rows = ir.Argument("rows", "parameter", Out(plan.name, "results", t.JSON), t.JSON)
            when = plan.condition
            template = self._picker(plan)
            tasks.append(ir.Task(plan.best, template, (rows,), (plan.name,), when, None, plan.call.site))
        return tasks

    def _picker(self, plan: CallPlan) -> str:
        """The template that picks the best of very many rows."""
        call = plan.call
        assert call.loop is not None
        assert call.loop.objective is not None
        name = self.names.name(plan.best, f"pick {plan.name}")
        image = PYTHON
        if isinstance(call.target, StepDef) and call.target.kind == "python":
            image = self._setting(call).environment.image or PYTHON
        objective = call.loop.objective
        source = pick(plan.name, objective.metric, objective.goal, call.loop.minimum, list(plan.picked))
        pod = ir.Pod((Const("python3", t.TEXT),), source, (), ())
        outputs = tuple(ir.Output(out, "parameter", f"{OUT}/{out}") for out in plan.picked)
        rows = ir.Input("rows", "text", f"{IN}/rows")
        asked = ir.Settings(environment=ir.Environment(image))
        self.templates.append(ir.Template(name, (rows,), outputs, pod, call.site, settings=asked))
        return name

    def _task(self, graph: GraphPlan, plan: CallPlan) -> ir.Task:
        call = plan.call
        if call.may_fail:
            template = self._guarded(graph, plan)
        else:
            template = self._loop(graph, plan) if call.loop is not None else self._body(graph, plan)
        arguments = self._arguments(plan.arguments)
        if call.loop is None and not call.may_fail:
            arguments += self._places(graph, plan, None)
        else:
            at, index = self._wants(graph, plan)
            if at and not graph.root:
                arguments += (ir.Argument(AT, "parameter", Join(graph.place(plan)), t.TEXT),)
            if index and graph.looped:
                arguments += (ir.Argument(INDEX, "parameter", Param(INDEX, t.TEXT), t.TEXT),)
        ended = tuple(plan.ended.items()) if plan.ended else ()
        patched = "argo" in call.options or "argo" in call.target.options
        after, patches = tuple(plan.after), patch.of_task(call) if patched else ()
        return ir.Task(
            plan.name, template, arguments, after, plan.condition, None, call.site, ended, patches=patches
        )

    def _wants(self, graph: GraphPlan, plan: CallPlan) -> tuple[bool, bool]:
        """Whether the template of a call takes the place and the number of the item."""
        looped = plan.call.loop is not None
        if plan.sub is not None:
            return plan.sub.needs_at, looped or plan.sub.needs_index
        placed = bool(plan.placed)
        return placed, looped or (graph.looped and placed)

    def _places(self, graph: GraphPlan, plan: CallPlan, index: Expr | None) -> tuple[ir.Argument, ...]:
        at, counted = self._wants(graph, plan)
        found: list[ir.Argument] = []
        if at:
            found.append(ir.Argument(AT, "parameter", Join(graph.place(plan)), t.TEXT))
        if counted:
            found.append(ir.Argument(INDEX, "parameter", index or Param(INDEX, t.TEXT), t.TEXT))
        return tuple(found)

    @staticmethod
    def _arguments(given: dict[str, Carried]) -> tuple[ir.Argument, ...]:
        found: list[ir.Argument] = []
        for name, carried in given.items():
            found += handed(name, carried)
        return tuple(found)

    def _body(self, graph: GraphPlan, plan: CallPlan) -> str:
        if plan.sub is None:
            name = self._pod(plan)
            return self._around(plan, name) if plan.around else name
        name = self._graphs[id(plan.sub)]
        if name not in self._written:
            self._written.add(name)
            self._graph(plan.sub, name)
        return name

    def _loop(self, graph: GraphPlan, plan: CallPlan) -> str:
        """The template of a loop: a graph of its own with one looped task that hands on all rows."""
        call = plan.call
        loop = call.loop
        assert loop is not None
        name = self.names.name(plan.name, f"loop {self._within(graph)} {plan.name}")
        if loop.objective is not None:
            self._objectives[name] = (loop.objective.metric, loop.objective.goal)
        position = len(self.templates)
        body = self._body(graph, plan)
        given = {p.name: plan.inner[p.name] for p in call.target.signature.parameters}
        number = plan.inner[INDEX].values[0]
        index = Join((Param(INDEX, t.TEXT), number)) if graph.looped else number
        arguments = self._arguments(given)
        at, _ = self._wants(graph, plan)
        if at:
            here: Expr = Const(graph.prefix + plan.name, t.TEXT) if graph.root else Param(AT, t.TEXT)
            arguments += (ir.Argument(AT, "parameter", here, t.TEXT),)
        arguments += (ir.Argument(INDEX, "parameter", index, t.TEXT),)
        task = ir.Task(
            slug(call.target.name),
            body,
            arguments,
            (),
            None,
            ir.Loop(plan.items, plan.over, loop.keep_going, tuple(plan.beside)),
            call.site,
        )
        ins = [
            one
            for parameter, (form, _, kind) in plan.arguments.items()
            for one in inputs(parameter, form, kind, in_pod=False)
        ]
        ins.extend(_hidden(at and not graph.root, graph.looped))
        outs: tuple[ir.Output, ...] = ()
        if t.outputs(call.target.signature.returns) or loop.keep_going:
            rows = Out(task.name, "", t.JSON)
            outs = (ir.Output("results", "parameter", None, rows, "[]" if plan.items is None else None),)
        self.templates.insert(
            position,
            ir.Template(name, tuple(ins), outs, ir.Graph((task,), loop.parallel), call.site, {}),
        )
        return name

    def _around(self, plan: CallPlan, leaf: str) -> str:
        """The template of a graph around one step: what Argo has as a variable becomes a parameter there."""
        call = plan.call
        step = call.target
        assert isinstance(step, StepDef)
        looped = call.loop is not None
        name = self.names.name(f"{step.name}-{'item' if looped else 'alone'}", f"around {leaf} {looped}")
        if name in self._written:
            return name
        self._written.add(name)
        given = plan.inner if looped else plan.arguments
        ins: list[ir.Input] = []
        arguments: tuple[ir.Argument, ...] = ()
        for parameter in step.signature.parameters:
            form = given[parameter.name].form
            ins += inputs(parameter.name, form, parameter.type, in_pod=False)
            values = inside(parameter.name, form, parameter.type)
            arguments += tuple(handed(parameter.name, Carried(form, values, parameter.type)))
        task = ir.Task(slug(step.name), leaf, arguments, (), None, None, call.site)
        outs = [
            ir.Output(
                out.name,
                "parameter",
                None,
                self.planner.descriptions.made(task.name, step, out.name, out.type),
            )
            for out in t.outputs(step.signature.returns)
            if not t.holds_file(out.type)
        ]
        if looped:
            ins.append(ir.Input(INDEX, "parameter"))
            outs.append(ir.Output(INDEX, "parameter", None, Param(INDEX, t.TEXT)))
        place = Definition(step.code)
        self.templates.append(
            ir.Template(name, tuple(ins), tuple(outs), ir.Graph((task,), around=True), place, {})
        )
        return name

    def _within(self, graph: GraphPlan) -> str:
        """A graph, for the difference of what stands in it: a pipeline may come in several forms."""
        name = self._graphs[id(graph)]
        return graph.owner.name if name == slug(graph.owner.name) else f"{graph.owner.name} as {name}"

    def _guarded(self, graph: GraphPlan, plan: CallPlan) -> str:
        """The template of a call that may fail: a graph of its own, which then succeeds and says how it went."""
        call = plan.call
        name = self.names.name(f"try-{plan.name}", f"try {self._within(graph)} {plan.name}")
        position = len(self.templates)
        body = self._body(graph, plan)
        at, index = self._wants(graph, plan)
        arguments = self._arguments(plan.inner)
        if at:
            here: Expr = Const(graph.prefix + plan.name, t.TEXT) if graph.root else Param(AT, t.TEXT)
            arguments += (ir.Argument(AT, "parameter", here, t.TEXT),)
        if index:
            arguments += (ir.Argument(INDEX, "parameter", Param(INDEX, t.TEXT), t.TEXT),)
        task = ir.Task(slug(call.target.name), body, arguments, (), None, None, call.site, may_fail=True)
        ins = [
            one
            for parameter, (form, _, kind) in plan.arguments.items()
            for one in inputs(parameter, form, kind, in_pod=False)
        ]
        ins.extend(_hidden(at and not graph.root, index))
        outs = [ir.Output(STATUS, "parameter", None, Status(task.name, OUTCOME))]
        for port in self._handed(plan):
            there = (
                Out(task.name, port, t.TEXT)
                if plan.around
                else self.planner.descriptions.made(task.name, call.target, port, t.TEXT)
            )
            value = Op("?:", (Ran(task.name), there, Const("", t.TEXT)), t.TEXT)
            outs.append(ir.Output(port, "parameter", None, value))
        alone = ir.Graph((task,))
        self.templates.insert(position, ir.Template(name, tuple(ins), tuple(outs), alone, call.site, {}))
        return name

    @staticmethod
    def _handed(plan: CallPlan) -> list[str]:
        """The parameters that a call hands on: values, and where its files are."""
        if plan.sub is not None:
            return [port for name, one in plan.sub.results.items() for port, _ in ports(name, one.form)]
        outs = t.outputs(plan.call.target.signature.returns)
        made = [out.name for out in outs if not t.holds_file(out.type) or out.name in plan.placed]
        return [*made, *(ROWS + name for name in sorted(plan.listed))]

    # --- leaves ------------------------------------------------------------------------------------

    def _pod(self, plan: CallPlan) -> str:
        leaf = self._leaf(plan)
        name = leaf.name
        if name in self._written:
            return name
        self._written.add(name)
        definition = leaf.step
        code = definition.code
        self._defined[name] = (code.co_filename, code.co_firstlineno)
        setting = self._setting(plan.call)
        signature = definition.signature
        self._returns[name] = signature.returns
        kinds = {p.name: p.type for p in signature.parameters}
        ins = [one for port, form in leaf.forms for one in inputs(port, form, kinds[port], in_pod=True)]
        fixed = self._fixed(plan.call, leaf, setting)
        ins = [one._replace(path=fixed[one.name]) if one.path and one.name in fixed else one for one in ins]
        ins.extend(_hidden(bool(leaf.placed), leaf.counted, None if leaf.always else ""))
        variable = self.planner.descriptions.variable(definition)
        archive = self._archive(plan, leaf, setting)
        outs = (
            []
            if variable
            else [self._output(out, leaf, archive, fixed) for out in t.outputs(signature.returns)]
        )
        lists = [ROWS + out for out in sorted(leaf.listed)]
        outs.extend(ir.Output(one, "parameter", f"{OUT}/{one}") for one in lists)
        if self.planner.cached:
            self._pods[name] = leaf
            if definition.kind == "python" and leaf.store is None:
                files = [DIGEST + out.name for out in t.outputs(signature.returns) if t.holds_file(out.type)]
                outs.extend(ir.Output(one, "parameter", f"{OUT}/{one}") for one in files)
        if leaf.looped:
            outs.append(ir.Output(INDEX, "parameter", None, Param(INDEX, t.TEXT)))
        body: ir.Leaf
        if definition.kind in BODIES:
            forms = dict(leaf.forms)
            asked = Asked(definition, setting, forms, self.planner.descriptions(definition))
            self.diagnostics.extend(refused(plan.call, definition, forms))
            body, outs = BODIES[definition.kind](asked), outputs(asked)
            ins.extend(questions(definition))
        else:
            body = self._container(leaf, setting, kinds)
        given = (*definition.options, *plan.call.options, *self._inherited(plan.call))
        places = {option: self._said(plan.call, option) for option in given}
        place = Definition(code)
        patches = patch.of_template(plan.call)
        self.templates.append(
            ir.Template(name, tuple(ins), tuple(outs), body, place, places, setting, patches)
        )
        return name

    def _container(self, leaf: _Leaf, setting: ir.Settings, kinds: dict[str, t.Type]) -> ir.Pod:
        """The container of a step."""
        definition = leaf.step
        mounts = list(setting.environment.mounts)
        for _, form in leaf.forms:
            for volume in () if form is PLAIN else volumes(form):
                mount = ir.Mount(volume, f"{VOLUMES}/{volume}", None, True)
                if mount not in mounts:
                    mounts.append(mount)
        if CHECKPOINT in leaf.placed:
            mounts.append(self._checkpoint(leaf, leaf.plans[0].call))
        if leaf.store is not None:
            mounts.append(placing.mount(leaf.store, leaf.counted))
        mounts.extend(_code_mounts(setting.code))
        if definition.kind == "container":
            command, env, source = self._command(leaf)
        else:
            command = (Const("python3", t.TEXT),)
            env = _variables(leaf.forms, kinds)
            source = self._source(leaf, setting, ()) if not self.planner.cached else ""
        settled: tuple[tuple[str, Any], ...] = tuple(
            (key, Const(value, t.TEXT) if isinstance(value, str) else value)
            for key, value in setting.environment.env
        )
        return ir.Pod(
            command,
            source,
            (*env, *settled),
            tuple(mount._replace(volume=volume_name(mount.volume)) for mount in mounts),
            definition.kind == "container" and self._writes(leaf),
            (*local(setting), *([ir.PodVolume(INSTALLED, "scratch")] if setting.code.packages else [])),
        )

    def _checkpoint(self, leaf: _Leaf, call: Call) -> ir.Mount:
        """The folder of a task's checkpoints: of the run and of its place there, so each attempt finds it."""
        options = {**leaf.step.options, **call.options}
        found = kept(options, self.owner, self.profile)
        assert found is not None, "checked before"
        volume, folder = found
        self.planner.volume(volume)
        tail = (Param(INDEX, t.TEXT),) if leaf.counted else ()
        head = f"{folder}/" if folder else ""
        path = Join((head, RunField("name"), "/", Param(AT, t.TEXT), *tail))
        return ir.Mount(volume.name, CHECKPOINTS, path)

    def _writes(self, leaf: _Leaf) -> bool:
        """Whether a container step writes outputs to the folder of outputs."""
        if self.planner.descriptions.variable(leaf.step):
            return False
        fixed = self._said_paths(leaf)
        return any(path.startswith(OUT) for out, path in _paths(leaf) if out.name not in fixed)

    def _said_paths(self, leaf: _Leaf) -> dict[str, str]:
        said = self.planner.descriptions(leaf.step) if leaf.step.kind == "container" else None
        return said.fixed if isinstance(said, CommandLine) else {}

    def _archive(self, plan: CallPlan, leaf: _Leaf, setting: ir.Settings) -> dict[str, str | int]:
        """How the files of a step are packed, by output; those that are read by their key are not."""
        if not setting.files.archive:
            return {}
        archive = dict(setting.files.archive)
        for name in sorted(leaf.placed - {CHECKPOINT} if leaf.store is None else ()):
            given = name if name in archive else ""
            if archive.get(given, "none") != "none":
                site = plan.call.override if "archive" in plan.call.options else leaf.step.site
                place = Argument(
                    site or leaf.step.site, "archive", part=f"item:{given}" if given else "value"
                )
                if all(one.place != place for one in self.diagnostics):  # another variant may have it too
                    self.diagnostics.append(Diagnostic(ArchiveKeyed(leaf.step.name, name), place))
        return archive

    def _fixed(self, call: Call, leaf: _Leaf, setting: ir.Settings) -> dict[str, str]:
        """The paths that the program of a step has for its files; what cannot be there is reported."""
        if leaf.step.kind != "container":
            return {}
        said = self.planner.descriptions(leaf.step)
        if not isinstance(said, CommandLine) or not said.paths:
            return {}
        mounted = frozenset(mount.path for mount in setting.environment.mounts)
        found = misplaced(call, said.paths, dict(leaf.forms), mounted, leaf.store is not None)
        self.diagnostics.extend(one for one in found if one not in self.diagnostics)
        return said.fixed

    def _output(
        self, out: t.Output, leaf: _Leaf, archive: dict[str, str | int], fixed: dict[str, str]
    ) -> ir.Output:
        path = fixed.get(out.name, f"{OUT}/{out.name}")
        if not t.holds_file(out.type):
            return ir.Output(out.name, "parameter", path)
        optional = isinstance(out.type, t.Maybe) and layout(out.type) == "file"
        if leaf.store is not None:
            volume = self.planner.volumes[leaf.store.volume]
            place = OnVolume(volume, placing.path(leaf.store, out.name, leaf.counted))
            return ir.Output(out.name, "parameter", None, place)
        if out.name not in leaf.placed:
            packed = archive.get(out.name, archive.get(""))
            return ir.Output(out.name, "artifact", path, optional=optional, archive=packed)
        optional |= leaf.step.kind == "python"
        key = placing.key(out.name, leaf.counted, leaf.cached)
        return ir.Output(out.name, "key", path, key, optional=optional, kept=leaf.cached)

    def _source(self, leaf: _Leaf, setting: ir.Settings, outputs: Collection[str]) -> str:
        """The script of a step; it writes those digests of files that are among the outputs."""
        definition = leaf.step
        carried = self.carried(definition)
        if carried is None:
            return ""
        kinds = {p.name: p.type for p in definition.signature.parameters}
        readers = [(name, reader(name, form, kinds[name])) for name, form in leaf.forms]
        writers = [
            Writer(
                out.name,
                out.attribute,
                out.type,
                path,
                path.startswith(STORE),
                f"{OUT}/{DIGEST}{out.name}" if DIGEST + out.name in outputs else "",
                f"{OUT}/{ROWS}{out.name}" if out.name in leaf.listed else "",
                out.name in leaf.taken,
            )
            for out, path in _paths(leaf)
            if not serves(definition)
        ]
        return prepared(script(carried, readers, writers), definition.name, setting.code)

    def _command(self, leaf: _Leaf) -> tuple[tuple[Expr, ...], tuple[tuple[str, Expr], ...], str | None]:
        said = self.planner.descriptions(leaf.step)
        if not isinstance(said, CommandLine):
            return (), (), None
        forms = dict(leaf.forms)
        paths = {out.name: path for out, path in _paths(leaf)} | said.fixed
        command, env = said.bound(forms, paths)
        source = None
        if said.source is not None:
            source = dedent(text_of(bind(said.source, forms, paths), t.TEXT)).lstrip("\n")
        return command, env, source


def _paths(leaf: _Leaf) -> list[tuple[t.Output, str]]:
    """Where in its pod a step writes its outputs."""
    if leaf.paths is None:
        leaf.paths = [
            (out, f"{STORE if leaf.store is not None and t.holds_file(out.type) else OUT}/{out.name}")
            for out in t.outputs(leaf.step.signature.returns)
        ]
    return leaf.paths


def _spelled(settings: ir.Settings) -> str:
    """Settings as text that tells templates of a step apart; an option that nobody wrote adds nothing."""
    usual = ir.Settings()._asdict()
    written = (
        f"{name}={value!r}"
        for concern, found in settings._asdict().items()
        for name, value in found._asdict().items()
        if value != getattr(usual[concern], name)
    )
    return " ".join(written)


def _variables(forms: tuple[tuple[str, Form], ...], kinds: dict[str, t.Type]) -> tuple[tuple[str, Expr], ...]:
    """The environment variables that carry parameters into a Python step."""
    found: list[tuple[str, Expr]] = []
    for name, form in forms:
        if form is PLAIN:
            found.append((variable(name), Param(name, kinds[name])))
            continue
        types = dict(zip((port for port, _ in ports(name, form)), port_types(form, kinds[name]), strict=True))
        for port, kind in ports(name, form):
            if kind == "parameter" and not port.startswith(DIGEST):
                found.append((variable(port), Param(port, types[port])))
    return tuple(found)


INSTALLED = "flowdsl-packages"
"""The volume that the packages of a step are installed into."""


def _code_mounts(code: ir.Code) -> list[ir.Mount]:
    """Where a step finds its own modules, and the folder that its packages are installed into."""
    found = [ir.Mount(INSTALLED, PACKAGES)] if code.packages else []
    if code.volume is not None:
        found.append(ir.Mount(code.volume.name, CODE, code.folder or None, True))
    return found


def _hidden(at: bool, index: bool, default: str | None = None) -> list[ir.Input]:
    found = [ir.Input(AT, "parameter")] if at else []
    return [*found, ir.Input(INDEX, "parameter", default=default)] if index else found


def _may_fail(value: Expr) -> bool:
    if isinstance(value, (Best, Cell, Get)):
        return True
    if isinstance(value, Op) and value.op == "/":
        return True
    return any(_may_fail(child) for child in children(value))


def _default(parameter: Parameter) -> str | None:
    if parameter.default is MISSING:
        return None
    expr = lift(parameter.default, parameter.type, lambda *args, **data: None)
    return text_of(expr, parameter.type)


def _definition(owner: PipelineDef) -> Place:
    return Definition(owner.code)


def _option(definition: StepDef | PipelineDef, name: str) -> Place:
    if isinstance(definition, StepDef):
        return definition.option(name)
    return Argument(definition.site, name)
