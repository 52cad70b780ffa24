"""The templates of graphs: of pipelines, loops, and calls that may fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler import ir
from flowdsl.compiler.forms import (
    DIGEST,
    PLAIN,
    ROWS,
    Carried,
    described,
    handed,
    inputs,
    inside,
    port_types,
    ports,
)
from flowdsl.compiler.lowering.ends import apart, hands_on, musts, parameters_of
from flowdsl.compiler.lowering.learning import learning
from flowdsl.compiler.lowering.pick_script import PYTHON, pick
from flowdsl.compiler.lowering.plans import ROW, STATUS
from flowdsl.compiler.lowering.pods import hidden
from flowdsl.compiler.naming import slug
from flowdsl.compiler.options import patch
from flowdsl.compiler.placing import AT, INDEX
from flowdsl.compiler.ports import IN, OUT
from flowdsl.places.place import Definition
from flowdsl.run import OUTCOME
from flowdsl.step import StepDef
from flowdsl.values import types as t
from flowdsl.values.expr import (
    BestRow,
    Cell,
    Const,
    Either,
    Expr,
    Get,
    Join,
    Op,
    Out,
    Param,
    Ran,
    RunField,
    Status,
    children,
    leaves,
)

if TYPE_CHECKING:
    from flowdsl.compiler.lowering.plans import CallPlan, GraphPlan
    from flowdsl.compiler.lowering.pods import Pods, Written
    from flowdsl.compiler.lowering.variants import Variants


class Graphs:
    """Writes the templates of graphs."""

    def __init__(self, written: Written, variants: Variants, pods: Pods) -> None:
        self.written = written
        self.variants = variants
        self.planner = variants.planner
        self.pods = pods

    def graph(self, plan: GraphPlan, name: str) -> None:
        """Write the template of a graph, and before it those that it runs."""
        place = Definition(plan.owner.code)
        self.written.signatures[name] = plan.owner.signature
        position = len(self.written.templates)
        tasks = tuple(task for call in plan.calls for task in self._tasks(plan, call))
        outs, computed = self._outputs(plan, apart("result", [task.name for task in tasks]))
        if computed is not None:
            tasks = (*tasks, computed)
        ended = any("Failed" in results for task in tasks for _, results in task.ended)
        if ended:
            tasks = (*tasks, *musts(tasks))
        signature = plan.owner.signature
        ins = [
            one
            for p in signature.parameters
            for one in inputs(p.name, plan.forms.get(p.name, PLAIN), p.type, in_pod=False)
        ]
        if not plan.root:  # otherwise the parameters of the run are described
            ins = described(ins, signature)
        if plan.prefix:  # Argo passes it the parameters of the run
            used = parameters_of(tasks)
            ins = [one for one in ins if one.name in used]
        ins.extend(hidden(plan.needs_at and not plan.root, plan.needs_index))
        if plan.body:
            outs.append(ir.Output(INDEX, "parameter", value=Param(INDEX, t.TEXT)))
        own = plan.own
        graph = ir.Graph(tasks, own.parallelism, whole=ended)
        asked = ir.Settings(control=own.control)
        template = ir.Template(name, tuple(ins), tuple(outs), graph, place, own.places, asked)
        self.written.templates.insert(position, template)

    def _outputs(self, plan: GraphPlan, task: str) -> tuple[list[ir.Output], ir.Task | None]:
        """The outputs of a graph, and a task without a pod that computes those which the graph itself cannot.

        An expression that fails there would leave the run waiting forever, one in an argument fails the task.
        Source: executeDAGTask in workflow/controller/dag.go of Argo 4.1.
        """
        found: list[ir.Output] = []
        computed: list[ir.Argument] = []
        for name, (form, values, kind) in plan.results.items():
            for (port, how), value, typed in zip(
                ports(name, form), values, port_types(form, kind), strict=True
            ):
                if how == "artifact":
                    optional = isinstance(value.type, t.Maybe)
                    found.append(ir.Output(port, "artifact", value=value, optional=optional))
                    continue
                called = form is PLAIN and not plan.root  # outputs of a run are read by people
                given = _of_type(value, typed) if called or isinstance(value, Const) else value
                if _is_scheduled(value) or (not plan.root and _may_fail(value)):
                    computed.append(ir.Argument(port, "parameter", given, given.type))
                    given = Out(task, port, given.type)
                found.append(ir.Output(port, "parameter", value=given))
        if not computed:
            return found, None
        template = self.variants.names.name(task, f"{task} of {self._within(plan)}")
        place = Definition(plan.owner.code)
        self.written.templates.append(hands_on(template, computed, place))
        own = [call.name for call in plan.calls] + [call.best for call in plan.calls if call.best]
        read = {getattr(leaf, "task", None) for one in computed for leaf in leaves(one.value)}
        after = tuple(name for name in own if name in read)
        return found, ir.Task(task, template, tuple(computed), place, after)

    def _tasks(self, graph: GraphPlan, plan: CallPlan) -> list[ir.Task]:
        tasks = [self._task(graph, plan)]
        if plan.best:
            tasks.append(self._pick(graph, plan))
        return tasks

    def _pick(self, graph: GraphPlan, plan: CallPlan) -> ir.Task:
        """The task that picks the best row: by an expression, or of very many by a pod.

        An expression that fails in the argument of a task fails the task; see `_outputs`.
        """
        loop = plan.call.loop
        assert loop is not None
        assert loop.objective is not None
        rows = Out(plan.name, "results", t.JSON)
        if plan.large:
            name = self.variants.names.name(plan.best, f"pick {self._within(graph)} {plan.name}")
            self._picker(name, plan)
            given = ir.Argument("rows", "parameter", rows, t.JSON)
        else:
            best = BestRow(rows, plan.name, loop.objective.metric, loop.objective.goal, loop.minimum, t.JSON)
            name = self.variants.names.name("best-row", "best rows")
            given = ir.Argument(ROW, "parameter", best, t.JSON)
            self.written.best = self.written.best or hands_on(name, (given,), plan.call.site)
        return ir.Task(plan.best, name, (given,), plan.call.site, (plan.name,), plan.condition)

    def _picker(self, name: str, plan: CallPlan) -> None:
        """Write the template that picks the best of very many rows."""
        call = plan.call
        assert call.loop is not None
        assert call.loop.objective is not None
        image = PYTHON
        if isinstance(call.target, StepDef) and call.target.kind == "python":
            image = self.variants.setting(call).environment.image or PYTHON
        objective = call.loop.objective
        source = pick(plan.name, objective.metric, objective.goal, call.loop.minimum)
        pod = ir.Pod((Const("python3", t.TEXT),), source, (), ())
        outputs = (ir.Output(ROW, "parameter", f"{OUT}/{ROW}"),)
        rows = ir.Input("rows", "text", f"{IN}/rows")
        asked = ir.Settings(environment=ir.Environment(image))
        self.written.templates.append(ir.Template(name, (rows,), outputs, pod, call.site, settings=asked))

    def _task(self, graph: GraphPlan, plan: CallPlan) -> ir.Task:
        call = plan.call
        if call.may_fail:
            template = self._guarded(graph, plan)
        else:
            template = self._loop(graph, plan) if call.loop is not None else self._body(plan)
        arguments = self._arguments(plan.arguments) + self._places(graph, plan)
        ended = tuple(plan.ended.items()) if plan.ended else ()
        patched = "argo" in call.options or "argo" in call.target.options
        after, patches = tuple(plan.after), patch.of_task(call) if patched else ()
        return ir.Task(
            plan.name, template, arguments, call.site, after, plan.condition, ended=ended, patches=patches
        )

    def _wants(self, graph: GraphPlan, plan: CallPlan) -> tuple[bool, bool]:
        """Whether the template of a call has inputs for the place and the index of the item."""
        looped = plan.call.loop is not None
        if plan.sub is not None:
            return plan.sub.needs_at, looped or plan.sub.needs_index
        placed = bool(plan.placed)
        return placed, looped or (graph.looped and placed)

    def _places(self, graph: GraphPlan, plan: CallPlan) -> tuple[ir.Argument, ...]:
        """The place and the index of the item, as far as the template of a call has inputs for them."""
        at, counted = self._wants(graph, plan)
        alone = plan.call.loop is not None or plan.call.may_fail  # in a separate graph
        found: list[ir.Argument] = []
        if at and not (alone and graph.root):
            found.append(ir.Argument(AT, "parameter", Join(graph.place(plan)), t.TEXT))
        if counted and (graph.looped or not alone):
            found.append(ir.Argument(INDEX, "parameter", Param(INDEX, t.TEXT), t.TEXT))
        return tuple(found)

    @staticmethod
    def _here(graph: GraphPlan, plan: CallPlan) -> ir.Argument:
        """The place of a call, for what runs in a separate graph."""
        here: Expr = Const(graph.prefix + plan.name, t.TEXT) if graph.root else Param(AT, t.TEXT)
        return ir.Argument(AT, "parameter", here, t.TEXT)

    @staticmethod
    def _inputs(plan: CallPlan) -> list[ir.Input]:
        """The inputs of a separate graph around a call."""
        return [
            one
            for parameter, (form, _, kind) in plan.arguments.items()
            for one in inputs(parameter, form, kind, in_pod=False)
        ]

    @staticmethod
    def _arguments(given: dict[str, Carried]) -> tuple[ir.Argument, ...]:
        found: list[ir.Argument] = []
        for name, carried in given.items():
            found += handed(name, carried)
        return tuple(found)

    def _body(self, plan: CallPlan) -> str:
        if plan.sub is None:
            name = self.pods.pod(plan)
            return self._around(plan, name) if plan.around else name
        name = self.variants.graphs[id(plan.sub)]
        if name not in self.written.names:
            self.written.names.add(name)
            self.graph(plan.sub, name)
        return name

    def _loop(self, graph: GraphPlan, plan: CallPlan) -> str:
        """The template of a loop: a separate graph with one looped task that outputs all rows."""
        call = plan.call
        loop = call.loop
        assert loop is not None
        difference = f"loop {self._within(graph)} {plan.name}"
        name = whole = self.variants.names.name(plan.name, difference)
        if loop.learnt is not None:
            name = self.variants.names.name(f"{plan.name}-round", f"round of {difference}")
        if loop.objective is not None:
            self.written.objectives[whole] = (loop.objective.metric, loop.objective.goal)
        position = len(self.written.templates)
        body = self._body(plan)
        given = {p.name: plan.inner[p.name] for p in call.target.signature.parameters}
        number = plan.inner[INDEX].values[0]
        index = Join((Param(INDEX, t.TEXT), number)) if graph.looped else number
        arguments = self._arguments(given)
        at, _ = self._wants(graph, plan)
        if at:
            arguments += (self._here(graph, plan),)
        arguments += (ir.Argument(INDEX, "parameter", index, t.TEXT),)
        task = ir.Task(
            slug(call.target.name),
            body,
            arguments,
            call.site,
            loop=ir.Loop(
                plan.items,
                plan.over,
                loop.keep_going,
                tuple(plan.beside),
                plan.points is not None,
                loop.product,
            ),
        )
        ins = self._inputs(plan)
        ins.extend(hidden(at and not graph.root, graph.looped))
        outs: tuple[ir.Output, ...] = ()
        if t.outputs(call.target.signature.returns) or loop.keep_going:
            rows = Out(task.name, "", t.JSON)
            none = "[]" if plan.items is None else None
            outs = (ir.Output("results", "parameter", value=rows, default=none),)
        found = [ir.Template(name, tuple(ins), outs, ir.Graph((task,), loop.parallel), call.site)]
        if plan.points is not None:
            asks = self.variants.names.name(f"{plan.name}-points", f"points of {difference}")
            found = learning(whole, found[0], asks, loop, plan.points)
        self.written.templates[position:position] = found
        return whole

    def _around(self, plan: CallPlan, leaf: str) -> str:
        """The template of a graph around one step: what is a variable in Argo becomes an output parameter."""
        call = plan.call
        step = call.target
        assert isinstance(step, StepDef)
        looped = call.loop is not None
        name = self.variants.names.name(
            f"{step.name}-{'item' if looped else 'alone'}", f"around {leaf} {looped}"
        )
        if name in self.written.names:
            return name
        self.written.names.add(name)
        ins: list[ir.Input] = []
        arguments: tuple[ir.Argument, ...] = ()
        for parameter in step.signature.parameters:
            form = plan.given[parameter.name].form
            ins += inputs(parameter.name, form, parameter.type, in_pod=False)
            values = inside(parameter.name, form, parameter.type)
            arguments += tuple(handed(parameter.name, Carried(form, values, parameter.type)))
        task = ir.Task(slug(step.name), leaf, arguments, call.site)
        outs = [
            ir.Output(
                out.name,
                "parameter",
                value=self.planner.descriptions.made(task.name, step, out.name, out.type),
            )
            for out in t.outputs(step.signature.returns)
            if not t.holds_file(out.type)
        ]
        if looped:
            ins.append(ir.Input(INDEX, "parameter"))
            outs.append(ir.Output(INDEX, "parameter", value=Param(INDEX, t.TEXT)))
        place = Definition(step.code)
        self.written.templates.append(
            ir.Template(name, tuple(ins), tuple(outs), ir.Graph((task,), around=True), place)
        )
        return name

    def _within(self, graph: GraphPlan) -> str:
        """A graph, by the content that distinguishes it: a pipeline may be called with several forms."""
        name = self.variants.graphs[id(graph)]
        return graph.owner.name if name == slug(graph.owner.name) else f"{graph.owner.name} as {name}"

    def _guarded(self, graph: GraphPlan, plan: CallPlan) -> str:
        """The template of a call that may fail: a separate graph, which then succeeds and outputs the status."""
        call = plan.call
        name = self.variants.names.name(f"try-{plan.name}", f"try {self._within(graph)} {plan.name}")
        position = len(self.written.templates)
        body = self._body(plan)
        at, index = self._wants(graph, plan)
        arguments = self._arguments(plan.inner)
        if at:
            arguments += (self._here(graph, plan),)
        if index:
            arguments += (ir.Argument(INDEX, "parameter", Param(INDEX, t.TEXT), t.TEXT),)
        task = ir.Task(slug(call.target.name), body, arguments, call.site, may_fail=True)
        ins = self._inputs(plan)
        ins.extend(hidden(at and not graph.root, index))
        outs = [ir.Output(STATUS, "parameter", value=Status(task.name, OUTCOME))]
        for port in self._handed(plan):
            there = (
                Out(task.name, port, t.TEXT)
                if plan.around
                else self.planner.descriptions.made(task.name, call.target, port, t.TEXT)
            )
            value = Op("?:", (Ran(task.name), there, Const("", t.TEXT)), t.TEXT)
            outs.append(ir.Output(port, "parameter", value=value))
        alone = ir.Graph((task,))
        self.written.templates.insert(position, ir.Template(name, tuple(ins), tuple(outs), alone, call.site))
        return name

    def _handed(self, plan: CallPlan) -> list[str]:
        """The parameters that a call outputs: values, and the locations and digests of its files."""
        if plan.sub is not None:
            handed = [ports(name, one.form) for name, one in plan.sub.results.items()]
            return [port for each in handed for port, kind in each if kind != "artifact"]
        outs = t.outputs(plan.call.target.signature.returns)
        made = [out.name for out in outs if not t.holds_file(out.type) or out.name in plan.placed]
        files = [out.name for out in outs if t.holds_file(out.type) and out.name in plan.placed]
        digests = [DIGEST + name for name in files] if self.planner.digested(plan) else []
        return [*made, *digests, *(ROWS + name for name in sorted(plan.listed))]


def _of_type(value: Expr, kind: t.Type) -> Expr:
    """A value as one of the type it is assigned to: a text is JSON if the type permits other values, too."""
    match value:
        case Const(plain):
            return Const(plain, kind)
        case _ if not t.is_text(value.type) or t.is_text(kind):
            return value
        case Either(choices):
            return Either(choices, kind)
        case _:
            return Op("json", (value,), kind)


def _may_fail(value: Expr) -> bool:
    match value:
        case Cell() | Get():
            return True
        case Op("/", (_, divisor)) if not (isinstance(divisor, Const) and divisor.value):
            return True
        case _:
            pass
    return any(_may_fail(child) for child in children(value))


def _is_scheduled(value: Expr) -> bool:
    """Whether a value needs an expression over `workflow`, which outputs of a graph do not have."""
    return value == RunField("scheduled_time") or any(map(_is_scheduled, children(value)))
