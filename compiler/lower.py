"""Lowering: from the plans of a pipeline's graphs to the templates of a program.

The second pass. Each call finds its template by what makes templates differ (options, the forms of its
arguments, which files need a key); templates are written in the order in which the pipeline meets them.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from flowdsl import types as t
from flowdsl.compiler import ir, mistakes
from flowdsl.compiler.command import command_line
from flowdsl.compiler.expressions import VOLUMES, text_of
from flowdsl.compiler.forms import (
    DIGEST,
    PLAIN,
    Carried,
    Form,
    handed,
    inputs,
    port_types,
    ports,
    reader,
    undigested,
    variable,
    volumes,
)
from flowdsl.compiler.naming import Templates, slug, volume_name
from flowdsl.compiler.options import STEP_OPTIONS, applicable, inherited, pipeline_options, settings
from flowdsl.compiler.pick import PYTHON, pick
from flowdsl.compiler.plan import AT, INDEX, CallPlan, GraphPlan, Planner
from flowdsl.compiler.ports import IN, OUT, Writer, layout
from flowdsl.compiler.script import script
from flowdsl.compiler.script_prepare import CODE, PACKAGES, prepared
from flowdsl.diagnostic import Diagnostic
from flowdsl.expr import Best, Cell, Const, Expr, Get, Join, Op, Out, Param, RunField, children
from flowdsl.lift import lift
from flowdsl.pipeline import PipelineDef
from flowdsl.place import Argument, Definition, Place
from flowdsl.signature import MISSING, Parameter
from flowdsl.step import StepDef

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from flowdsl.compiler.carry import Carried as Source
    from flowdsl.compiler.options import Declared
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
        "keyed",
        "looped",
        "name",
        "options",
        "plans",
        "step",
    )

    def __init__(self, step: StepDef, options: str, forms: tuple[tuple[str, Form], ...]) -> None:
        self.step = step
        self.options = options
        self.forms = forms
        self.name = ""
        self.plans: list[CallPlan] = []
        self.keyed: set[str] = set()
        self.cached = False
        self.looped = False  # hands on the number of the item
        self.counted = False  # takes it
        self.always = True  # from every call


class Lowering:
    """Writes the templates of one program."""

    def __init__(
        self, planner: Planner, carried: Callable[[StepDef], Source | None], declared: Declared
    ) -> None:
        self.planner = planner
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
        self._commands: dict[int, Any] = {}
        self._defaults: dict[int, dict[str, Any]] = {}
        self._pods: dict[str, _Leaf] = {}

    def program(self, root: GraphPlan) -> ir.Program:
        """The program of a root pipeline."""
        owner = self._root = root.owner
        shared = inherited(owner, owner)
        for graph in self.planner.trace.graphs.values():
            found = inherited(graph.owner, owner)
            self._defaults[id(graph.owner)] = shared if found == shared else found
        options, _ = pipeline_options(owner.options, functools.partial(_option, owner))
        name = slug(str(options.get("name", owner.name)))
        entry = self.names.name(owner.name, f"pipeline {owner.name}")
        self._graphs[id(root)] = entry
        self._reserve(root)
        self._graph(root, entry)
        parameters = tuple(
            (port, _default(p))
            for p in owner.signature.parameters
            for port, _ in ports(p.name, root.forms.get(p.name, PLAIN))
        )
        if self.planner.cached:
            self._cache(name)
        # Graphs as they are met, then the steps as they are defined: a call more moves no template.
        graphs = [one for one in self.templates if isinstance(one.body, ir.Graph)]
        pods = [one for one in self.templates if isinstance(one.body, ir.Pod)]
        pods.sort(key=lambda one: (self._defined.get(one.name, ("~", 0)), one.name))
        claims = tuple((volume_name(volume.name), volume.name) for volume in self.planner.volumes.values())
        places = {option: _option(owner, option) for option in owner.options}
        return ir.Program(
            name, entry, parameters, (*graphs, *pods), claims, options, _definition(owner), places
        )

    def _cache(self, pipeline: str) -> None:
        """Say under which keys results are kept, and write the scripts, which hand on digests that a key needs."""
        from flowdsl.compiler.memo import completed, memo, pruned

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

    def _reserve(self, root: GraphPlan) -> None:
        """Names for the templates of steps: the declared options keep the plain name."""
        graphs = self._met(root)
        for leaf in self._leaves.values():
            for call in leaf.plans:
                call.keyed = leaf.keyed
        for plan in graphs:
            for call in plan.calls:
                if call.sub is None:
                    leaf = self._leaf(call)
                    counted = call.call.loop is not None or (plan.looped and bool(leaf.keyed))
                    leaf.looped |= call.call.loop is not None
                    leaf.counted |= counted
                    leaf.always &= counted
        for leaf in sorted(self._leaves.values(), key=lambda leaf: leaf.options != ""):
            difference = f"step {leaf.step.plain.__qualname__} {(leaf.options, leaf.forms)}"
            leaf.name = self.names.name(leaf.step.name, difference)

    def _met(self, plan: GraphPlan) -> list[GraphPlan]:
        """A graph and those inside it, the templates of their steps noted, each once."""
        graphs = [plan]
        for call in plan.calls:
            target, sub = call.call.target, call.sub
            if isinstance(target, StepDef):
                leaf = self._leaf(call)
                leaf.plans.append(call)
                leaf.keyed |= call.keyed
                if id(call.call) in self.planner.cached:
                    from flowdsl.compiler.memo import judged

                    leaf.cached = True
                    place = self._said(call.call, "cache")
                    found = judged(call, self._setting(call.call), leaf.forms, self.planner.cached, place)
                    self.diagnostics.extend(one for one in found if one not in self.diagnostics)
                    leaf.keyed |= {
                        out.name for out in t.outputs(target.signature.returns) if t.holds_file(out.type)
                    }
            elif sub is not None and id(sub) not in self._graphs:
                difference = f"pipeline {target.name} {sub.forms} {sub.looped}"
                self._graphs[id(sub)] = self.names.name(target.name, difference)
                graphs += self._met(sub)
        return graphs

    def _leaf(self, plan: CallPlan) -> _Leaf:
        known = self._of_call.get(id(plan))
        if known is None:
            call = plan.call
            step = call.target
            assert isinstance(step, StepDef)
            given = plan.arguments if call.loop is None else plan.inner
            forms = tuple([(p.name, given[p.name].form) for p in step.signature.parameters])
            if self.planner.cached and id(call) not in self.planner.cached:
                forms = tuple([(name, undigested(form, [])[0]) for name, form in forms])
            changed = call.options or self._inherited(call) is not self._defaults[id(self._root)]
            options = _spelled(self._setting(call)) if changed else ""
            key = id(step), options, forms
            known = self._leaves.get(key)
            if known is None:
                known = self._leaves[key] = _Leaf(step, options, forms)
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
                known, _ = settings(merged, functools.partial(Argument, call.site), STEP_OPTIONS)
            self._settings[key] = known
            for volume in known.environment.volumes:
                self.planner.volume(volume)
            if known.code.volume is not None:
                self.planner.volume(known.code.volume)
        return known

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
        return _option(self._root, option)

    # --- graphs ------------------------------------------------------------------------------------

    def _graph(self, plan: GraphPlan, name: str) -> None:
        place = _definition(plan.owner)
        position = len(self.templates)
        tasks = tuple(task for call in plan.calls for task in self._tasks(plan, call))
        signature = plan.owner.signature
        ins = [
            one
            for p in signature.parameters
            for one in inputs(p.name, plan.forms.get(p.name, PLAIN), p.type, in_pod=False)
        ]
        ins.extend(_hidden(plan.needs_at and not plan.root, plan.needs_index))
        outs = [
            output for out, carried in plan.results.items() for output in self._handed_on(plan, out, carried)
        ]
        if plan.body:
            outs.append(ir.Output(INDEX, "parameter", None, Param(INDEX, t.TEXT)))
        graph = ir.Graph(tasks)
        self.templates.insert(position, ir.Template(name, tuple(ins), tuple(outs), graph, place, {}))

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
                    place = Definition(plan.owner.code, "return")
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
        outs = t.outputs(call.target.signature.returns)
        objective = call.loop.objective
        source = pick(
            plan.name, objective.metric, objective.goal, call.loop.minimum, [out.name for out in outs]
        )
        pod = ir.Pod((Const("python3", t.TEXT),), source, (), ())
        outputs = tuple(ir.Output(out.name, "parameter", f"{OUT}/{out.name}") for out in outs)
        rows = ir.Input("rows", "text", f"{IN}/rows")
        asked = ir.Settings(environment=ir.Environment(image))
        self.templates.append(ir.Template(name, (rows,), outputs, pod, call.site, settings=asked))
        return name

    def _task(self, graph: GraphPlan, plan: CallPlan) -> ir.Task:
        call = plan.call
        template = self._loop(graph, plan) if call.loop is not None else self._body(graph, plan)
        arguments = self._arguments(plan.arguments)
        if call.loop is None:
            arguments += self._places(graph, plan, None)
        else:
            at, index = self._wants(graph, plan)
            if at and not graph.root:
                arguments += (ir.Argument(AT, "parameter", Join(graph.place(plan)), t.TEXT),)
            if index and graph.looped:
                arguments += (ir.Argument(INDEX, "parameter", Param(INDEX, t.TEXT), t.TEXT),)
        return ir.Task(plan.name, template, arguments, tuple(plan.after), plan.condition, None, call.site)

    def _wants(self, graph: GraphPlan, plan: CallPlan) -> tuple[bool, bool]:
        """Whether the template of a call takes the place and the number of the item."""
        looped = plan.call.loop is not None
        if plan.sub is not None:
            return plan.sub.needs_at, looped or plan.sub.needs_index
        keyed = bool(plan.keyed)
        return keyed, looped or (graph.looped and keyed)

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
            return self._pod(plan)
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
        name = self.names.name(plan.name, f"loop {graph.owner.name} {plan.name}")
        position = len(self.templates)
        body = self._body(graph, plan)
        given = {p.name: plan.inner[p.name] for p in call.target.signature.parameters}
        number = plan.inner[INDEX].values[0]
        index = Join((Param(INDEX, t.TEXT), number)) if graph.looped else number
        arguments = self._arguments(given)
        at, _ = self._wants(graph, plan)
        if at:
            here: Expr = Const(plan.name, t.TEXT) if graph.root else Param(AT, t.TEXT)
            arguments += (ir.Argument(AT, "parameter", here, t.TEXT),)
        arguments += (ir.Argument(INDEX, "parameter", index, t.TEXT),)
        keep_going = loop.kind == "sweep"
        task = ir.Task(
            slug(call.target.name),
            body,
            arguments,
            (),
            None,
            ir.Loop(plan.items, plan.over, keep_going, tuple(plan.beside)),
            call.site,
        )
        ins = [
            one
            for parameter, (form, _, kind) in plan.arguments.items()
            for one in inputs(parameter, form, kind, in_pod=False)
        ]
        ins.extend(_hidden(at and not graph.root, graph.looped))
        outs: tuple[ir.Output, ...] = ()
        if t.outputs(call.target.signature.returns):
            rows = Out(task.name, "", t.JSON)
            outs = (ir.Output("results", "parameter", None, rows, "[]" if plan.items is None else None),)
        self.templates.insert(
            position,
            ir.Template(name, tuple(ins), outs, ir.Graph((task,), loop.parallel), call.site, {}),
        )
        return name

    # --- pods --------------------------------------------------------------------------------------

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
        kinds = {p.name: p.type for p in signature.parameters}
        ins = [one for port, form in leaf.forms for one in inputs(port, form, kinds[port], in_pod=True)]
        ins.extend(_hidden(bool(leaf.keyed), leaf.counted, None if leaf.always else ""))
        outs = [self._output(out, leaf) for out in t.outputs(signature.returns)]
        if self.planner.cached:
            self._pods[name] = leaf
            if definition.kind == "python":
                files = [DIGEST + out.name for out in t.outputs(signature.returns) if t.holds_file(out.type)]
                outs.extend(ir.Output(one, "parameter", f"{OUT}/{one}") for one in files)
        if leaf.looped:
            outs.append(ir.Output(INDEX, "parameter", None, Param(INDEX, t.TEXT)))
        mounts = list(setting.environment.mounts)
        for _, form in leaf.forms:
            for volume in volumes(form):
                mount = ir.Mount(volume, f"{VOLUMES}/{volume}", None, True)
                if mount not in mounts:
                    mounts.append(mount)
        mounts.extend(_code_mounts(setting.code))
        if definition.kind == "container":
            command, env = self._command(definition, dict(leaf.forms))
            source = None
        else:
            command = (Const("python3", t.TEXT),)
            env = _variables(leaf.forms, kinds)
            source = self._source(leaf, setting, ()) if not self.planner.cached else ""
        settled: tuple[tuple[str, Any], ...] = tuple(
            (key, Const(value, t.TEXT) if isinstance(value, str) else value)
            for key, value in setting.environment.env
        )
        pod = ir.Pod(
            command,
            source,
            (*env, *settled),
            tuple(mount._replace(volume=volume_name(mount.volume)) for mount in mounts),
            definition.kind == "container" and bool(t.outputs(signature.returns)),
        )
        given = (*definition.options, *plan.call.options, *self._inherited(plan.call))
        places = {option: self._said(plan.call, option) for option in given}
        place = Definition(code)
        self.templates.append(ir.Template(name, tuple(ins), tuple(outs), pod, place, places, setting))
        return name

    @staticmethod
    def _output(out: t.Output, leaf: _Leaf) -> ir.Output:
        path = f"{OUT}/{out.name}"
        if not t.holds_file(out.type):
            return ir.Output(out.name, "parameter", path)
        optional = isinstance(out.type, t.Maybe) and layout(out.type) == "file"
        if out.name not in leaf.keyed:
            return ir.Output(out.name, "artifact", path, optional=optional)
        tail = (Param(INDEX, t.TEXT),) if leaf.counted else ()
        # A run of the same name must not write over what the cache of another one knows.
        run = ("flowdsl-cache/", RunField("uid")) if leaf.cached else (RunField("name"),)
        key = Join((*run, "/", Param(AT, t.TEXT), f"/{out.name}", *tail))
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
                f"{OUT}/{out.name}",
                f"{OUT}/{DIGEST}{out.name}" if DIGEST + out.name in outputs else "",
            )
            for out in t.outputs(definition.signature.returns)
        ]
        return prepared(script(carried, readers, writers), definition.name, setting.code)

    def _command(
        self, definition: StepDef, forms: dict[str, Form]
    ) -> tuple[tuple[Expr, ...], tuple[tuple[str, Expr], ...]]:
        known = self._commands.get(id(definition))
        if known is None:
            known, found = command_line(definition)
            self._commands[id(definition)] = known
            self.diagnostics.extend(found)
        return known.bound(forms) if known is not None else ((), ())


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


def _code_mounts(code: ir.Code) -> list[ir.Mount]:
    """Where a step finds its own modules, and the folder that its packages are installed into."""
    found = [ir.Mount("flowdsl-packages", PACKAGES)] if code.packages else []
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
    return Argument(definition.site, name)
