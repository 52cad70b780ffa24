"""The first pass: for each graph, how its values travel and which files need a key.

The first of the two passes of lowering. It walks the trace in order and decides the form of every argument; a file
that crosses a loop, a branch or a sub-pipeline, or is taken out of a list or dict, travels by its key, and that
decides how the step that makes it is written. `flowdsl.compiler.lowering.lower` then writes the templates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.findings.data import SourceReturned
from flowdsl.compiler.forms import PLAIN, Absent, Carried, File, Form, Mounted, Parts, in_parts, part_kinds
from flowdsl.compiler.lowering.carrier import Carrier
from flowdsl.compiler.lowering.ends import apart
from flowdsl.compiler.lowering.loops import Loops
from flowdsl.compiler.lowering.plans import CallPlan, GraphPlan, Shared, is_distributed
from flowdsl.compiler.lowering.resolve import Resolver
from flowdsl.compiler.lowering.subgraph import SILENT, Own, own
from flowdsl.compiler.placing import INDEX
from flowdsl.compiler.ports import WORKERS
from flowdsl.diagnostic import Diagnostic
from flowdsl.pipeline import PipelineDef
from flowdsl.places.place import Definition
from flowdsl.tracing.trace import FAILED, Call, regions
from flowdsl.values import types as t
from flowdsl.values.expr import Best, Const, Expr, Many, OnVolume, Op, Out, Rows, Status, Stored, leaves
from flowdsl.values.lift import default_of
from flowdsl.values.value import part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flowdsl.compiler.ir import Store
    from flowdsl.compiler.steps.leaves import Descriptions
    from flowdsl.tracing.trace import Graph, Region, Trace


class Planner(Shared):
    """Plans a root pipeline and every graph it calls."""

    def __init__(
        self,
        trace: Trace,
        names: Callable[[Graph], dict[int, str]],
        descriptions: Descriptions,
        cached: frozenset[int] = frozenset(),
    ) -> None:
        super().__init__(names, descriptions, cached)
        self.trace = trace
        self.plans: dict[tuple[Any, ...], GraphPlan] = {}
        self.defaults: dict[str, Carried] = {}  # the input files of a run, by parameter of the root

    def graph(
        self,
        owner: PipelineDef,
        forms: dict[str, Form],
        *,
        looped: bool = False,
        body: bool = False,
        around: Store | None = None,
        own: Own = SILENT,
    ) -> GraphPlan:
        """The plan of a pipeline whose parameters have these forms; the first one is the root.

        `around` is the store of the calling pipeline, `own` has the options of its call.
        """
        store = self.store(around, owner.options)
        key = (id(owner), tuple(forms.items()), looped, body, store, own.spelled)
        known = self.plans.get(key)
        if known is not None:
            return known
        root = not self.plans
        plan = self.plans[key] = GraphPlan(owner, forms, looped, body, store, own)
        plan.root = root
        graph = self.trace.graphs[id(owner)]
        _Graph(self, plan, graph).run()
        return plan

    def root(self, owner: PipelineDef) -> GraphPlan:
        """The plan of the pipeline that a run begins with."""
        forms: dict[str, Form] = {}
        for parameter in owner.signature.parameters:
            if t.holds_file(parameter.type):
                default = default_of(parameter)
                form, values = self.given(default, parameter.type)
                forms[parameter.name] = form
                self.defaults[parameter.name] = Carried(form, values, parameter.type)
        return self.graph(owner, forms)

    def ending(self, root: GraphPlan) -> GraphPlan | None:
        """The plan of the exit handler of the root pipeline, if it has one."""
        graph = self.trace.ending(self.trace.graphs[id(root.owner)])
        if graph is None:
            return None
        plan = GraphPlan(root.owner, root.forms, False, False, root.store)
        # No task has this name: its files are separate from those of the run.
        plan.root, plan.prefix = True, "on_exit."
        _Graph(self, plan, graph).run()
        return plan

    def given(self, expr: Expr, kind: t.Type) -> tuple[Form, list[Expr]]:
        """The form of files that no task creates: on volumes, outside of the run, None; also in records and lists."""
        match expr:
            case OnVolume(volume):
                self.volume(volume)
                return Mounted((volume.name,)), [expr]
            case Stored():
                return File(False), [expr]
            case Many(items, names):
                kinds = part_kinds(kind, len(items))
                parts = [
                    self.given(item, one) if t.holds_file(one) else (PLAIN, [item])
                    for item, one in zip(items, kinds, strict=True)
                ]
                return in_parts(names, parts)
            case Const(None):
                return Absent(), []
            case _:  # an empty list or dict of files
                return Parts((), ()), []


class _Graph:
    """The planning of one graph."""

    def __init__(self, planner: Planner, plan: GraphPlan, graph: Graph) -> None:
        self.planner = planner
        self.plan = plan
        self.graph = graph
        self.resolver = Resolver(planner, plan, graph)
        self.names = self.resolver.names
        self.carrier = Carrier(self.resolver, graph.owner.code)
        self.loops = Loops(self.carrier, graph.owner.signature)
        self.waited = frozenset(_waited(graph))

    def run(self) -> None:
        taken = frozenset(self.names.values())
        for call in self.graph.calls:
            name = self.names[id(call)]
            sweep = call.loop is not None and call.loop.objective is not None
            plan = CallPlan(call, name, apart(f"{name}-best", taken) if sweep else "")
            self.plan.calls.append(plan)
            self.plan.by_call[id(call)] = plan
            self._call(plan)
        self._result()
        for call in self.graph.calls:
            if call.loop is not None and call.loop.objective is not None:
                self.resolver.compared(call, call.loop.objective.metric)

    def _call(self, plan: CallPlan) -> None:
        call = plan.call
        if call.loop is not None or call.region is not None:
            plan.around = self.planner.descriptions.around(call)
            self.planner.diagnostics.extend(self.planner.descriptions.misplaced(call))
        for one in call.after:
            plan.after[self.names[id(one)]] = None
        if call.region is not None:
            self._region(plan, call.region)
        for expr in call.arguments.values():
            if type(expr) is not Const:
                plan.wait(self.resolver.awaited(expr))
        is_graph = isinstance(call.target, PipelineDef)
        if is_distributed(call):
            plan.placed.add(WORKERS)
        if self.plan.store is not None or "store" in call.options or "store" in call.target.options:
            self._store(plan)
        parameters = call.target.signature.by_name
        if call.may_fail:
            for name, expr in call.arguments.items():
                self.loops.shared_argument(plan, name, expr, parameters[name].type)
            given = plan.inner
        elif call.loop is None:
            for name, expr in call.arguments.items():
                plan.arguments[name] = self.carrier.carry(
                    expr, parameters[name].type, call, crossing=is_graph
                )
            given = plan.arguments
        else:
            self.loops.loop(plan, {name: parameter.type for name, parameter in parameters.items()})
            given = plan.inner
        if isinstance(call.target, PipelineDef):
            forms = {name: given[name].form for name in parameters if name in given}
            looped = self.plan.looped or call.loop is not None
            forms.pop(INDEX, None)
            body = call.loop is not None
            plan.sub = self.planner.graph(
                call.target, forms, looped=looped, body=body, around=self.plan.store, own=own(call)
            )
        for name in plan.ended:
            plan.after.pop(name, None)

    def _region(self, plan: CallPlan, region: Region) -> None:
        """The condition of a call in a region, and the tasks that it then waits for."""
        plan.condition = self._condition(region)
        for one in regions(region):
            plan.wait(self.resolver.awaited(one.condition))
            if one.ended is None:
                continue
            name = self.names[id(one.ended)]
            if one.ended.may_fail:
                plan.after[name] = None
            else:
                passed = () if id(one) not in self.waited else ("Succeeded", "Skipped")
                plan.ended.setdefault(name, tuple(dict.fromkeys((*passed, *one.results))))

    def _store(self, plan: CallPlan) -> None:
        """Files of a step that are written to a volume have a location there, whoever reads them."""
        call = plan.call
        if isinstance(call.target, PipelineDef):
            return
        store = self.planner.store(self.plan.store, call.options, call.target.options)
        if store is not None:
            outs = t.outputs(call.target.signature.returns)
            plan.placed |= {out.name for out in outs if t.holds_file(out.type)}
            # The values returned by one of several pods are written there, too.
            kept = outs if WORKERS in plan.placed else plan.placed
            plan.store = store if kept else None

    def _condition(self, region: Region | None) -> Expr | None:
        conditions: list[Expr] = []
        for one in regions(region):
            if one.ended is None:
                conditions.append(self.resolver.resolve(one.condition, one.parent))
            elif one.ended.may_fail or id(one) in self.waited:
                conditions.extend(self._ended(one.ended, failed=one.results == FAILED))
        if not conditions:
            return None
        conditions.reverse()
        return conditions[0] if len(conditions) == 1 else Op("&", tuple(conditions), t.BOOL)

    def _ended(self, task: Call, failed: bool) -> Iterator[Expr]:
        """Whether a task has ended in the way that a block requires. One that was skipped has not."""
        if task.may_fail:
            if failed and task.region is None:
                yield Op("not", (self.resolver.ran(task),), t.BOOL)
            elif task.region is not None:
                well = "Succeeded" if failed else ""
                yield Op("!=", (self.resolver.status(task, well), Const(well, t.TEXT)), t.BOOL)
            return
        status = Status(self.names[id(task)], t.TEXT)
        if failed:
            ways = (Op("==", (status, Const(one, t.TEXT)), t.BOOL) for one in ("Failed", "Error"))
            yield Op("|", tuple(ways), t.BOOL)
        else:
            yield Op("!=", (status, Const("Skipped", t.TEXT)), t.BOOL)

    def _result(self) -> None:
        result = self.graph.result
        returns = self.graph.owner.signature.returns
        if result is None:
            return
        for out in t.outputs(returns):
            self.plan.results[out.name] = self.carrier.carry(
                part_of(result, out.keys), out.type, None, crossing=not self.plan.root
            )
        if any(isinstance(one, Stored) for carried in self.plan.results.values() for one in carried.values):
            owner = self.graph.owner
            place = Definition(owner.code, "return", "value")
            self.planner.diagnostics.append(Diagnostic(SourceReturned(owner.name), place))


def _waited(graph: Graph) -> Iterator[int]:
    """The blocks for the end of a task that contain a task that one outside waits for, by their ids.

    If such a block does not run, its tasks have to be skipped: what waits for one that `depends` omits does
    not run either. Source: evaluateDependsLogic in workflow/controller/dag.go of Argo 4.1.
    """
    if not any(one.ended is not None for call in graph.calls for one in regions(call.region)):
        return
    for call in graph.calls:
        around = list(regions(call.region))
        read = [*call.values, *(one.condition for one in around if one.ended is None)]
        tasks = [leaf.task for expr in read for leaf in leaves(expr) if isinstance(leaf, (Out, Rows, Best))]
        tasks += [*call.after, *(one.ended for one in around if one.ended is not None)]
        for task in tasks:
            for one in regions(task.region) if isinstance(task, Call) else ():
                if one.ended is not None and one not in around:
                    yield id(one)
