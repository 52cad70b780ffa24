"""Planning a graph: how each value travels, and which files need a key.

The first of the two passes of lowering. It walks the trace in order and decides the form of every
argument; a file that crosses a loop, a branch or a sub-pipeline travels by its key, and that decides
how the step that makes it is written. `flowdsl.compiler.lowering.lower` then writes the templates.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from flowdsl import types as t
from flowdsl.compiler.encode import encode, field, placeholder, plain, too_large
from flowdsl.compiler.expressions import text_of, whole
from flowdsl.compiler.findings import kinds, mistakes
from flowdsl.compiler.findings.data import SameVolume, SourceChoice, SourceHanded, UnevenItems, UnlikeSources
from flowdsl.compiler.forms import (
    DIGEST,
    PLAIN,
    ROWS,
    Absent,
    Carried,
    File,
    Form,
    Gathered,
    Mounted,
    Parts,
    field_of,
    inside,
    item_of,
    listed,
    part_kinds,
    part_types,
    ports,
    undigested,
    volumes,
)
from flowdsl.compiler.lowering.choices import apart, branched, flat, mixed
from flowdsl.compiler.lowering.subgraph import SILENT, Own, own
from flowdsl.compiler.lowering.unfold import common, parted, said, together, unfolded
from flowdsl.compiler.options.store import nearest
from flowdsl.compiler.placing import AT, INDEX
from flowdsl.compiler.ports import CHECKPOINTS
from flowdsl.compiler.volumes import alike
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.expr import (
    Best,
    Cell,
    Checkpoint,
    Const,
    Either,
    Expr,
    Get,
    Item,
    Join,
    Many,
    OnVolume,
    Op,
    Out,
    Param,
    Ran,
    Rows,
    RunField,
    Status,
    Stored,
    children,
    leaves,
    substitute,
)
from flowdsl.lift import lift
from flowdsl.pipeline import PipelineDef
from flowdsl.place import Argument, Definition
from flowdsl.signature import MISSING
from flowdsl.step import StepDef
from flowdsl.trace import FAILED, Call, regions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from flowdsl.compiler.ir import Store
    from flowdsl.compiler.steps.leaves import Descriptions
    from flowdsl.place import Place
    from flowdsl.trace import Graph, Region, Trace
    from flowdsl.volume import Volume

STATUS = "flowdsl-status"
"""What a task that may fail hands on besides: how it ended."""
CHECKPOINT = "flowdsl-checkpoint"
"""Stands among the outputs that have a place of their own: so has a folder of checkpoints."""

FOLDER = "folder"
"""Of a list with files that is looped over, the port that holds its folder; the rows are in the parameter's own."""

LARGE = 500
"""Rows of a loop above which they are handed on as a file, and a step of its own picks the best.

The expression that finds the best looks at every row for every row; it was proved with 500.
"""


class CallPlan:
    """One call, with the forms and values of its arguments."""

    __slots__ = (
        "after",
        "arguments",
        "around",
        "beside",
        "call",
        "condition",
        "ended",
        "inner",
        "items",
        "listed",
        "name",
        "over",
        "picked",
        "placed",
        "store",
        "sub",
        "taken",
    )

    def __init__(self, call: Call, name: str) -> None:
        self.call = call
        self.name = name
        self.arguments: dict[str, Carried] = {}  # what the task is given
        self.inner: dict[str, Carried] = {}  # of a loop: what each item is given, seen inside the loop
        self.items: tuple[object, ...] | None = None
        self.over: Expr | None = None
        self.beside: list[Expr] = []  # lists that are walked together with it
        self.around = False  # whether a graph stands around its step
        self.store: Store | None = None  # where the files of a step go, if not to the repository
        self.placed: set[str] = set()  # outputs whose files have a place of their own: a key or a path
        self.listed: set[str] = set()  # outputs whose lists of files a loop runs over
        self.taken: set[str] = set()  # outputs that Argo takes values out of which hold whole numbers
        self.picked: dict[str, None] = {}  # what a task of its own hands on of the best of its rows
        self.sub: GraphPlan | None = None
        self.condition: Expr | None = None
        self.after: dict[str, None] = {}
        self.ended: dict[str, tuple[str, ...]] = {}  # tasks it waits for, by how they may have ended

    @property
    def large(self) -> bool:
        """Whether the call is a loop with very many rows."""
        return self.items is not None and len(self.items) > LARGE

    @property
    def best(self) -> str:
        """The name of the task that picks the best row."""
        return f"{self.name}-best"


class GraphPlan:
    """One graph with its parameters in certain forms."""

    def __init__(
        self,
        owner: PipelineDef,
        forms: dict[str, Form],
        looped: bool,
        body: bool,
        store: Store | None,
        own: Own = SILENT,
    ) -> None:
        self.owner = owner
        self.store = store  # where the files of its steps go that say nothing else
        self.forms = forms
        self.own = own
        self.looped = looped  # runs inside a loop, so its files need the number of the item
        self.body = body  # is what the loop runs, so it hands on the number
        self.root = False
        self.prefix = ""  # of the places of its tasks in the run
        self.calls: list[CallPlan] = []
        self.by_call: dict[int, CallPlan] = {}
        self.results: dict[str, Carried] = {}

    @property
    def needs_at(self) -> bool:
        """Whether files made inside need to know where in the run the graph stands."""
        return any(plan.placed or (plan.sub is not None and plan.sub.needs_at) for plan in self.calls)

    @property
    def needs_index(self) -> bool:
        """Whether the graph takes the number of the item it is run for."""
        return self.body or (
            self.looped
            and any(
                plan.placed or plan.call.loop is not None or (plan.sub is not None and plan.sub.needs_index)
                for plan in self.calls
            )
        )

    def place(self, plan: CallPlan) -> tuple[str | Expr, ...]:
        """Where in the run a call stands: part of the key or path of its files."""
        return (self.prefix + plan.name,) if self.root else (Param(AT, t.TEXT), f".{plan.name}")


class Planner:
    """Plans a root pipeline and every graph it calls."""

    def __init__(
        self,
        trace: Trace,
        names: Callable[[Graph], dict[int, str]],
        descriptions: Descriptions,
        cached: frozenset[int] = frozenset(),
    ) -> None:
        self.trace = trace
        self.names = names
        self.descriptions = descriptions
        self.cached = cached  # the ids of calls whose results are kept: with one, files have digests
        self.diagnostics: list[Diagnostic] = []
        self.plans: dict[tuple[Any, ...], GraphPlan] = {}
        self.volumes: dict[str, Volume] = {}
        self.defaults: dict[str, Carried] = {}  # the files that a run begins with, by parameter of the root

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

        `around` is the store of the pipeline that calls it, `own` what its call says.
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
                default = lift(parameter.default, parameter.type, lambda *args, **data: None)
                form, values = self.given(default, parameter.type)
                forms[parameter.name] = form
                self.defaults[parameter.name] = Carried(form, values, parameter.type)
        return self.graph(owner, forms)

    def ending(self, root: GraphPlan) -> GraphPlan | None:
        """The plan of what runs when a run of the root pipeline has ended, if it says so."""
        graph = self.trace.ending(self.trace.graphs[id(root.owner)])
        if graph is None:
            return None
        plan = GraphPlan(root.owner, root.forms, False, False, root.store)
        # No task is called so: its files are apart from those of the run.
        plan.root, plan.prefix = True, "on_exit."
        _Graph(self, plan, graph).run()
        return plan

    def given(self, expr: Expr, kind: t.Type) -> tuple[Form, list[Expr]]:
        """The form of files that no task makes: on volumes, outside of the run, none, and records and lists of them."""
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
                form = Parts(names, tuple(form for form, _ in parts))
                return form, [value for _, values in parts for value in values]
            case Const(None):
                return Absent(), []
            case _:  # an empty list or dict of files
                return Parts((), ()), []

    def volume(self, volume: Volume) -> None:
        """Note that a volume is used."""
        known = self.volumes.setdefault(volume.name, volume)
        if known.origin is not volume.origin and not alike(known, volume):
            place, related = Argument(volume.site, "name", 0), (Related(known.site, "the other one"),)
            self.diagnostics.append(Diagnostic(SameVolume(volume.name), place, related))

    def store(self, around: Store | None, *levels: Mapping[str, Any]) -> Store | None:
        """The store that the first of these options that name one name; else the one around."""
        known = None if around is None else (around, self.volumes[around.volume])
        found = nearest(known, *levels)  # what is wrong with it was said by the checks
        if found is None:
            return None
        self.volume(found[1])
        return found[0]


class _Graph:
    """The planning of one graph."""

    def __init__(self, planner: Planner, plan: GraphPlan, graph: Graph) -> None:
        self.planner = planner
        self.plan = plan
        self.graph = graph
        self.names = planner.names(graph)
        self.types = {p.name: p.type for p in graph.owner.signature.parameters}
        self.handing_on = False  # the results of a graph that another one calls: nothing is computed there

    def run(self) -> None:
        for call in self.graph.calls:
            plan = CallPlan(call, self.names[id(call)])
            self.plan.calls.append(plan)
            self.plan.by_call[id(call)] = plan
            self._call(plan)
        self._result()

    # --- calls -------------------------------------------------------------------------------------

    def _call(self, plan: CallPlan) -> None:
        call = plan.call
        if call.loop is not None or call.region is not None:
            plan.around = self.planner.descriptions.around(call)
            self.planner.diagnostics.extend(self.planner.descriptions.misplaced(call))
        plan.condition = self._condition(call.region)
        for one in call.after:
            plan.after[self.names[id(one)]] = None
        region = call.region
        while region is not None:
            self._wait(plan, region.condition)
            if region.ended is not None:
                results = ("Succeeded",) if region.ended.may_fail else region.results
                plan.ended.setdefault(self.names[id(region.ended)], results)
            region = region.parent
        for expr in call.arguments.values():
            if type(expr) is not Const:
                self._wait(plan, expr)
        is_graph = isinstance(call.target, PipelineDef)
        if self.plan.store is not None or "store" in call.options or "store" in call.target.options:
            self._store(plan)
        parameters = call.target.signature.by_name
        if call.may_fail:
            for name, expr in call.arguments.items():
                self._shared(plan, name, expr, parameters[name].type)
            given = plan.inner
        elif call.loop is None:
            for name, expr in call.arguments.items():
                plan.arguments[name] = self.carry(expr, parameters[name].type, call, crossing=is_graph)
            given = plan.arguments
        else:
            self._loop(plan, {name: parameter.type for name, parameter in parameters.items()})
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

    def _store(self, plan: CallPlan) -> None:
        """The files of a step that go to a volume have a place there, whoever reads them."""
        call = plan.call
        if isinstance(call.target, PipelineDef):
            return
        store = self.planner.store(self.plan.store, call.options, call.target.options)
        if store is not None:
            plan.placed = {
                out.name for out in t.outputs(call.target.signature.returns) if t.holds_file(out.type)
            }
            plan.store = store if plan.placed else None

    def _wait(self, plan: CallPlan, expr: Expr) -> None:
        for leaf in leaves(expr):
            if isinstance(leaf, (Out, Rows, Best)) and id(leaf.task) in self.names:
                maker = self.plan.by_call.get(id(leaf.task))
                picked = isinstance(leaf, Best) and maker is not None and maker.large
                plan.after[maker.best if picked and maker else self.names[id(leaf.task)]] = None

    def _condition(self, region: Region | None) -> Expr | None:
        conditions: list[Expr] = []
        while region is not None:
            if region.ended is None:
                conditions.append(self.resolve(region.condition, region.parent))
            elif region.ended.may_fail and region.results == FAILED:
                conditions.append(Op("not", (self._ran(region.ended),), t.BOOL))
            region = region.parent
        if not conditions:
            return None
        conditions.reverse()
        return conditions[0] if len(conditions) == 1 else Op("&", tuple(conditions), t.BOOL)

    def _ran(self, task: Call) -> Expr:
        """Whether a task has run and succeeded. One that may fail hands on whether it did."""
        name = self.names[id(task)]
        if not task.may_fail:
            return Ran(name)
        status: Expr = Out(name, STATUS, t.TEXT)
        if task.region is not None:
            status = Either((status, Const("", t.TEXT)), t.TEXT)
        return Op("==", (status, Const("Succeeded", t.TEXT)), t.BOOL)

    # --- loops -------------------------------------------------------------------------------------

    def _loop(self, plan: CallPlan, kinds: dict[str, t.Type]) -> None:
        call, loop = plan.call, plan.call.loop
        assert loop is not None
        for name, expr in call.arguments.items():
            self._shared(plan, name, expr, kinds[name])
        if loop.rows is None:
            self._over(plan, loop.lists, kinds)
            return
        parts, kinds, trees = parted(loop.rows, kinds)
        rows, found, flaws = unfolded(parts)
        for name, one, other in flaws:
            self._unlike(call, name, one, other)
        kinds = {**kinds, **{port: t.TEXT for port in rows[0] if port not in parts[0]}}
        kinds |= dict.fromkeys(found, t.TEXT)
        if all(type(expr) is Const or _is_static(expr) for row in rows for expr in row.values()):
            self._static(plan, rows, kinds)
        else:
            self._over(
                plan,
                {
                    name: Many(tuple(row[name] for row in rows), (), t.Sequence(kinds[name]))
                    for name in rows[0]
                },
                kinds,
            )
        for name, make in found.items():
            inner = make({port: plan.inner[port].values[0] for port in rows[0]})
            plan.inner[name] = Carried(File(False), [inner], t.FILE)
        for name, tree in trees.items():
            plan.inner[name] = together(tree, plan.inner, kinds[name])

    def _unlike(
        self,
        call: Call,
        name: str,
        one: str,
        other: str,
        kind: type[UnlikeSources | UnevenItems] = UnlikeSources,
    ) -> None:
        place = Argument(call.site, "over", part=f"item:{name.partition('-')[0]}")
        self.planner.diagnostics.append(Diagnostic(kind(name.replace("-", "."), one, other), place))

    def _over(self, plan: CallPlan, lists: dict[str, Expr], kinds: dict[str, t.Type]) -> None:
        """The items of a loop that are known only at run time."""
        for name, column in lists.items():
            self._wait(plan, column)
            self._column(plan, name, column, kinds[name])
        # The parts of one list are as many as its items.
        first = {name.partition("-")[0]: name for name in reversed(lists)}
        walked = [name for name in lists if name in first.values()]
        plan.over, *plan.beside = [inside(name, plan.arguments[name].form, t.JSON)[0] for name in walked]

    def _shared(self, plan: CallPlan, name: str, expr: Expr, kind: t.Type) -> None:
        """An argument that is the same for all items: a constant is written inside, the rest comes in."""
        if _is_static(expr) or isinstance(expr, Checkpoint):
            plan.inner[name] = self.carry(expr, kind, plan.call, crossing=True)
            return
        carried = plan.arguments[name] = self.carry(expr, kind, plan.call, crossing=True)
        plan.inner[name] = carried._replace(values=inside(name, carried.form, kind))

    def _static(self, plan: CallPlan, rows: list[dict[str, Expr]], kinds: dict[str, t.Type]) -> None:
        names = list(rows[0])
        forms: dict[str, Form] = {}
        for name in names:
            forms[name] = PLAIN
            if t.holds_file(kinds[name]):
                found: dict[str, None] = {}
                for row in rows:
                    item = row[name]
                    if isinstance(item, OnVolume):
                        self.planner.volume(item.volume)
                        found[item.volume.name] = None
                forms[name] = Mounted(tuple(found)) if found else Absent()
        plan.inner.update({name: Carried(form, [], kinds[name]) for name, form in forms.items()})
        names = [name for name in names if not isinstance(forms[name], Absent)]
        columns = [_texts([row[name] for row in rows], kinds[name]) for name in names]
        number = "i" if "i" not in names else INDEX
        keys = (number, *names)
        cells = zip(*columns, strict=True) if columns else ((),) * len(rows)
        texts = [dict(zip(keys, (f"/{index}", *row), strict=True)) for index, row in enumerate(cells)]
        if all(_plain("".join(column)) for column in columns):
            plan.items = tuple(texts)
            fields: dict[str, Expr] = {name: Item(name, kinds[name]) for name in names}
            fields[INDEX] = Item(number, t.TEXT)
        else:
            # Argo escapes what stands in a map's texts; one JSON text for each item arrives as it is.
            whole = Item("", t.JSON)
            plan.items = tuple(encode(row, t.JSON) for row in texts)
            fields = {name: Cell(whole, whole, name, kinds[name]) for name in names}
            fields[INDEX] = Cell(whole, whole, number, t.TEXT)
        for name in names:
            plan.inner[name] = Carried(forms[name], [fields[name]], kinds[name])
        plan.inner[INDEX] = Carried(PLAIN, [fields[INDEX]], t.TEXT)

    def _column(self, plan: CallPlan, name: str, column: Expr, kind: t.Type) -> None:
        """A list that is known only at run time: the loop runs over the numbers of its elements."""
        number = Item("", t.INT)
        plan.inner[INDEX] = Carried(PLAIN, [Join(("/", number))], t.TEXT)
        carried = self.carry(column, t.Sequence(kind), plan.call, crossing=True)
        form, values, _ = carried
        if isinstance(form, Parts):
            form, values = undigested(form, values)
        texts = t.Sequence(t.TEXT)
        if isinstance(form, Parts):
            one = common(form.forms)
            if one is None:
                held = any(isinstance(each, Parts) for each in form.forms)
                words = [*dict.fromkeys(map(said, form.forms)), "others"]
                self._unlike(plan.call, name, words[0], words[1], UnevenItems if held else UnlikeSources)
                one, values = PLAIN, [values[0]] * len(form.forms)
            given = iter(values)
            nothing = Const("", t.TEXT)
            # A file's key or path is a text.
            items = [nothing if isinstance(each, Absent) else Join((next(given),)) for each in form.forms]
            plan.arguments[name] = Carried(PLAIN, [Many(tuple(items), (), texts)], texts)
            inner: list[Expr] = [Get(Param(name, texts), number, t.TEXT)]
            plan.inner[name] = Carried(one, [] if isinstance(one, Absent) else inner, kind)
            return
        if isinstance(form, Gathered):
            # Only the rows go in: each holds the keys of its own files.
            plan.arguments[name] = Carried(PLAIN, values[:1], t.JSON)
            plan.inner[name] = self._row(form, Param(name, t.JSON), number, kind)
            return
        if isinstance(form, (File, Mounted)):
            self._folder_items(plan, name, column, carried, kind)
            return
        self._take(Get(column, number, kind))
        if (number_of := self._rounded(column)) is not None and not whole(kind):
            place = Argument(plan.call.site, "over", part=f"item:{name}")
            self.planner.diagnostics.append(Diagnostic(mistakes.RoundedInteger(str(number_of)), place))
        plan.arguments[name] = carried
        plan.inner[name] = Carried(PLAIN, [Get(Param(name, t.Sequence(kind)), number, kind)], kind)

    def _folder_items(self, plan: CallPlan, name: str, column: Expr, carried: Carried, kind: t.Type) -> None:
        """A list with files that a step made, a folder: the loop runs over the rows that say what is in it."""
        task = column.task if isinstance(column, Out) else None
        python = isinstance(task, Call) and isinstance(task.target, StepDef) and task.target.kind == "python"
        item = column.type.item if isinstance(column.type, t.Sequence) else kind
        rows: Expr = Const([], t.JSON)
        if not python or not listed(item):
            place = Argument(plan.call.site, "over", part=f"item:{name}")
            finding = mistakes.UnlistedFiles(t.spell(column.type), "source" if listed(item) else "item")
            self.planner.diagnostics.append(Diagnostic(finding, place))
        elif isinstance(column, Out):
            maker = self.plan.by_call[id(task)]
            maker.listed.add(column.name)
            rows = self.resolve(Out(column.task, ROWS + column.name, t.JSON), plan.call.region)
        folder = f"{name}-{FOLDER}"
        plan.arguments[name] = Carried(PLAIN, [rows], t.JSON)
        plan.arguments[folder] = Carried(PLAIN, carried.values[:1], t.TEXT)
        file, _ = undigested(carried.form, carried.values)
        number = Item("", t.INT)
        found = item_of(item, Param(name, t.JSON), number, Param(folder, t.TEXT), file)
        plan.inner[name] = found._replace(type=kind)

    def _row(self, form: Gathered, rows: Expr, number: Item, kind: t.Type) -> Carried:
        forms: list[Form] = []
        cells: list[Expr] = []
        outs = t.outputs(form.item)
        others = dict(form.others)
        for out in outs:
            if out.name in others:
                one = others[out.name]
                cells += _cells(Cell(rows, number, out.name, out.type), one)
            else:
                digest = out.name in form.digests
                file: Form = File(True, digest) if out.name in form.folders else Mounted(form.volumes)
                one = file if t.holds_file(out.type) else PLAIN
                cells.append(Cell(rows, number, out.name, out.type))
                if digest:
                    cells.append(Cell(rows, number, DIGEST + out.name, t.TEXT))
            forms.append(one)
        if not isinstance(form.item, (t.Record, t.Fixed)):
            return Carried(forms[0], cells, kind)
        names = tuple(str(out.attribute) for out in outs)
        if others or any(t.holds_file(out.type) for out in outs):
            return Carried(Parts(names, tuple(forms)), cells, kind)
        return Carried(PLAIN, [Many(tuple(cells), names, form.item)], kind)

    # --- values ------------------------------------------------------------------------------------

    def carry(self, expr: Expr, kind: t.Type, call: Call | None, *, crossing: bool) -> Carried:
        """The form a value takes on its way, and the values of its ports."""
        if type(expr) is Const and not t.holds_file(kind):
            return Carried(PLAIN, [expr], kind)
        return Carried(*self._carry(expr, kind, call, crossing), kind)

    def _carry(self, expr: Expr, kind: t.Type, call: Call | None, crossing: bool) -> tuple[Form, list[Expr]]:
        region = call.region if call is not None else None
        if isinstance(expr, Rows):
            return self._gathered(expr, region)
        found = field_of(expr) if isinstance(expr, (Get, Param)) else None
        if found is not None and (known := self._parameter(*found, kind)) is not None:
            return known
        if not t.holds_file(kind) and not self._composed(expr):
            return PLAIN, [self.resolve(expr, region)]
        match expr:
            case Const(None):
                return Absent(), []
            case OnVolume(volume):
                self.planner.volume(volume)
                return Mounted((volume.name,)), [self.resolve(expr, region)]
            case Stored():
                return File(False), [self.resolve(expr, region)]
            case Checkpoint():
                assert call is not None
                self.plan.by_call[id(call)].placed.add(CHECKPOINT)
                return Mounted(()), [Const(CHECKPOINTS, t.TEXT)]
            case Out(Call() as task, name):
                return self._file(task, name, expr, region, crossing)
            case Best(task, name):
                form = self._made(self.plan.by_call[id(task)], name)
                return form, [self.resolve(expr.changed(name=port), region) for port, _ in ports(name, form)]
            case Either(choices):
                return self._either(choices, kind, call)
            case Many(items, names):
                kinds = part_kinds(kind, len(items))
                parts = [
                    self._carry(item, one, call, crossing) for item, one in zip(items, kinds, strict=True)
                ]
                form = Parts(names, tuple(form for form, _ in parts))
                return form, [value for _, values in parts for value in values]
            case Get(Rows(task), _) | Get(Get(Rows(task), _), _):
                output = str(expr.key) if isinstance(expr.of, Get) else "return"
                form = self._made(self.plan.by_call[id(task)], output)
                cell = self.resolve(expr, region)
                if isinstance(form, File) and form.digest and isinstance(cell, Cell):
                    return form, [cell, cell.changed(name=DIGEST + output, type=t.TEXT)]
                return form, _cells(cell, form) if isinstance(cell, Cell) else [cell]
            case Const():  # an empty list or dict of files
                return Parts((), ()), []
            case _:
                raise AssertionError(f"no form for {expr}")

    def _parameter(self, param: Param, path: tuple[str, ...], kind: t.Type) -> tuple[Form, list[Expr]] | None:
        """A parameter of this graph, or a field of one that came in parts."""
        form = self.plan.forms.get(param.name, PLAIN)
        name, at = param.name, form
        whole = self.types.get(param.name, kind)
        for step in path:
            if not isinstance(at, Parts):
                return None
            names = at.names or tuple(map(str, range(len(at.forms))))
            whole = part_types(whole, at)[names.index(step)]
            at = at.forms[names.index(step)]
            name = f"{name}-{step}"
        if isinstance(at, type(PLAIN)) and not path:
            return None
        return at, inside(name, at, whole)

    @staticmethod
    def _returned(maker: CallPlan, name: str) -> Form:
        """The form of a value that a call hands on."""
        return PLAIN if maker.sub is None else maker.sub.results[name].form

    def _are_rows(self, expr: Expr) -> bool:
        return isinstance(expr, Rows) or self._composed(expr)

    def _composed(self, expr: Expr) -> bool:
        """Whether a value is what a pipeline returned as the results of a loop."""
        if type(expr) is Out and type(expr.task) is Call and type(expr.task.target) is StepDef:
            return False
        match expr:
            case Out(Call() as task, name) | Best(Call() as task, name):
                pass
            case Get(Rows(Call() as task), int()):
                name = "return"
            case Get(Get(Rows(Call() as task), int()), str() as name):
                pass
            case _:
                return False
        return isinstance(self._returned(self.plan.by_call[id(task)], name), Gathered)

    def _made(self, maker: CallPlan, name: str) -> Form:
        """The form of a file that a call hands on to where it was not made."""
        if maker.sub is not None:
            return maker.sub.results[name].form
        target = maker.call.target
        if isinstance(target, StepDef) and target.kind == "template":
            finding = kinds.ForeignFile(target.name, name)
            self.planner.diagnostics.append(Diagnostic(finding, maker.call.site))
            return File(True)
        maker.placed.add(name)
        if maker.store is not None:
            return Mounted((maker.store.volume,))
        return File(True, self._digested(maker))

    def _digested(self, maker: CallPlan) -> bool:
        """Whether a step hands on the digests of its files: where some step is cached, if it is one of Python."""
        target = maker.call.target
        python = not isinstance(target, PipelineDef) and target.kind == "python"
        return bool(self.planner.cached) and python and not maker.large and maker.store is None

    def _file(
        self, task: Call, name: str, expr: Expr, region: Region | None, crossing: bool
    ) -> tuple[Form, list[Expr]]:
        maker = self.plan.by_call[id(task)]
        straight = not crossing and task.region is None and not task.may_fail
        if maker.sub is None and maker.store is None and straight:
            target = task.target
            foreign = not isinstance(target, PipelineDef) and target.kind == "template"
            if foreign or not self.planner.cached:
                return File(False), [self._out(task, name, expr.type)]
            if self._digested(maker):
                found: list[Expr] = [Out(maker.name, one, expr.type) for one in (name, DIGEST + name)]
                return File(False, True), found
        form = self._made(maker, name)
        if form == File(False):  # a file that the pipeline was given
            if task.region is not None:
                finding = SourceHanded(task.target.name, "it may not run")
                self.planner.diagnostics.append(Diagnostic(finding, task.site))
            return form, [Out(maker.name, name, expr.type)]
        return form, [self.resolve(Out(task, port, expr.type), region) for port, _ in ports(name, form)]

    def _gathered(self, rows: Rows, region: Region | None) -> tuple[Form, list[Expr]]:
        maker = self.plan.by_call[id(rows.task)]
        folders: list[str] = []
        mounted: list[str] = []
        others: list[tuple[str, Form]] = []
        digests: list[str] = []
        for out in t.outputs(rows.item):
            form = self._made(maker, out.name) if t.holds_file(out.type) else self._returned(maker, out.name)
            mounted.extend(volumes(form))
            if isinstance(form, File):
                folders.append(out.name)
                if form.digest:
                    digests.append(out.name)
            elif isinstance(form, (Gathered, Parts)):
                others.append((out.name, form))
                if any(how in ("key", "artifact") for _, how in ports(out.name, form)):
                    finding = mistakes.ScatteredFiles(maker.call.target.name, out.name)
                    self.planner.diagnostics.append(Diagnostic(finding, maker.call.site))
        values: list[Expr] = [self.resolve(rows, region)]
        for folder in folders:
            at, name = self._folder(maker, folder)
            tail: tuple[str | Expr, ...] = (Param(INDEX, t.TEXT),) if self.plan.looped else ()
            values.append(Join((RunField("name"), "/", *self.plan.place(maker), f"{at}/{name}", *tail)))
        names = tuple(dict.fromkeys(mounted))
        form = Gathered(rows.item, tuple(folders), names, maker.large, tuple(others), tuple(digests))
        return form, values

    def _folder(self, maker: CallPlan, name: str) -> tuple[str, str]:
        """Where below its place a call keeps the files of an output: the tasks inside, and their output."""
        at, place = "", maker.call.site
        while maker.sub is not None:
            value = maker.sub.results[name].values[0]
            inner = [plan for plan in maker.sub.calls if isinstance(value, Out) and plan.name == value.task]
            if not inner:
                finding = mistakes.ScatteredFiles(maker.call.target.name, name)
                self.planner.diagnostics.append(Diagnostic(finding, maker.call.site))
                break
            assert isinstance(value, Out)
            maker, name = inner[0], value.name
            at += f".{maker.name}"
        if id(maker.call) in self.planner.cached:
            from flowdsl.compiler.findings.caching import GatheredCache

            self.planner.diagnostics.append(Diagnostic(GatheredCache(maker.call.target.name), place))
        return at, name

    def _either(self, choices: tuple[Expr, ...], kind: t.Type, call: Call | None) -> tuple[Form, list[Expr]]:
        written, choices = choices, flat(choices)
        carried = [undigested(*self._carry(choice, kind, call, branched(choice))) for choice in choices]
        there = [at for at, (form, _) in enumerate(carried) if not isinstance(form, Absent)]
        if len(there) < len(choices):
            choices, carried = tuple(choices[at] for at in there), [carried[at] for at in there]
        if len(carried) <= 1:
            return carried[0] if carried else (Absent(), [])
        if any(isinstance(choice.type, t.Maybe) for choice in choices[:-1]) or apart(carried):
            return self._first(written, kind, call, carried)
        carried = [undigested(*self._carry(choice, kind, call, True)) for choice in choices]
        form = carried[0][0]
        if isinstance(form, Mounted):
            names = [name for one, _ in carried if isinstance(one, Mounted) for name in one.volumes]
            form = Mounted(tuple(dict.fromkeys(names)))
        region = call.region if call is not None else None
        return form, [self.resolve(Either(choices, kind), region)]

    def _first(
        self,
        choices: tuple[Expr, ...],
        kind: t.Type,
        call: Call | None,
        carried: list[tuple[Form, list[Expr]]],
    ) -> tuple[Form, list[Expr]]:
        """A choice that the step makes: between files of different places, or one that may be missing."""
        plain = kind.item if isinstance(kind, t.Maybe) else kind
        where = ""
        if call is None:
            where = "the result of a pipeline"
        elif call.loop is not None:
            where = "a loop"
        elif isinstance(call.target, PipelineDef):
            where = "a pipeline"
        elif call.target.kind != "python":
            where = "a container step"
        single = isinstance(plain, t.File) and all(len(values) == 1 for _, values in carried)
        if where or not single:
            finding = mistakes.MixedFiles() if mixed(carried) or not where else SourceChoice(where)
            self.planner.diagnostics.append(Diagnostic(finding, self._place(choices, call)))
            return PLAIN, [Const("", t.TEXT)]
        maybe = any(isinstance(choice.type, t.Maybe) for choice in flat(choices)[:-1])
        form = Parts((), tuple(form for form, _ in carried), True, maybe)
        return form, [value for _, values in carried for value in values]

    def _place(self, choices: tuple[Expr, ...], call: Call | None) -> Place:
        """Where a choice was written: in an argument of a call, else in the result of the pipeline."""
        if call is None:
            return Definition(self.graph.owner.code, "return", "value")
        for name, expr in call.arguments.items():
            if _holds(expr, choices):
                return call.argument(name)
        return call.site if call.loop is None else Argument(call.site, "over")

    def resolve(self, expr: Expr, region: Region | None, *, inner: bool = False) -> Expr:
        """An expression with tasks by name, and with a harmless text for tasks that may not have run.

        `inner`: only a part of its value is taken.
        """
        if isinstance(expr, Const):
            return expr
        match expr:
            case Out(task, name, kind):
                if isinstance(kind, t.Maybe) and isinstance(kind.item, t.File):
                    kind = t.FILE  # where it would be is a text, whether it is there or not
                made = self._out(task, name, kind)
                if isinstance(task, Call) and task.region is not None:
                    return Either((made, _stand_in(kind)), kind)
                return made
            case Rows(task):
                made = Out(self.names[id(task)], "results", t.JSON)
                if isinstance(task, Call) and task.region is not None:
                    return Either((made, Const([], t.JSON)), t.JSON)
                return made
            case Best(task, name, kind):
                assert isinstance(task, Call)
                assert task.loop is not None
                objective = task.loop.objective
                assert objective is not None
                maker = self.plan.by_call[id(task)]
                if maker.large or self.handing_on:
                    maker.picked[name] = None
                    return Out(maker.best, name, kind)
                rows = Out(maker.name, "results", t.JSON)
                return Best(maker.name, name, kind, rows, objective.metric, objective.goal, task.loop.minimum)
            case Either(choices, kind, part):
                return self._choices(choices, kind, region, part)
            case Status(Call(may_fail=True) as task, kind):
                return Out(self.names[id(task)], STATUS, kind)
            case Status(task, kind):
                return Status(self.names[id(task)], kind)
            case Op("failed", args, kind):
                outer = (Param(INDEX, t.TEXT),) if self.plan.looped else ()
                return Op("failed", (*(self.resolve(arg, region) for arg in args), *outer), kind)
            case Op(op, args, kind):
                return Op(op, tuple(self.resolve(arg, region) for arg in args), kind)
            case Join(parts):
                return Join(tuple(p if isinstance(p, str) else self.resolve(p, region) for p in parts))
            case Get(rows, int() as key, kind) if self._are_rows(rows):
                return Cell(self.resolve(rows, region), key, "return", kind)
            case Get(Get(rows, int() as key), str() as name, kind) if self._are_rows(rows):
                return Cell(self.resolve(rows, region), key, name, kind)
            case Get(of, key, kind):
                if (found := field_of(expr)) is not None:
                    carried = self._parameter(*found, kind)
                    if carried is not None and (len(carried[1]) == 1 or isinstance(carried[0], File)):
                        return carried[1][0]
                if not inner:
                    self._take(expr)
                return Get(self.resolve(of, region, inner=True), key, kind)
            case Many(items, names, kind):
                return Many(tuple(self.resolve(item, region) for item in items), names, kind)
            case OnVolume(volume, path):
                return OnVolume(volume, self.resolve(path, region))
            case Stored(_, _, texts):
                return expr.changed(texts=tuple(self.resolve(text, region) for text in texts))
            case _:
                return expr

    def _take(self, part: Get) -> None:
        """Note that Argo takes a value out of another, where that rounds whole numbers and no formula can tell."""
        if whole(part.type) or not t.holds_whole(part.type):
            return
        for task, name in _origins(part):
            made: tuple[Call | str, str] | None = task, name
            maker = self.plan.by_call.get(id(task))
            while maker is not None and made is not None:
                if maker.sub is None:
                    maker.taken.add(made[1])
                    break
                value, graph = maker.sub.results[made[1]].values[0], maker.sub
                made = (value.task, value.name) if isinstance(value, Out) else None
                maker = next((one for one in graph.calls if made is not None and one.name == made[0]), None)

    def _rounded(self, items: Expr) -> int | None:
        """A whole number of a list known now, or of the default of a parameter, that Argo would round."""
        match items:
            case Const(value, kind):
                return too_large(plain(value, kind))
            case Param(name) if name in self.graph.owner.signature.by_name:
                parameter = self.graph.owner.signature.by_name[name]
                if parameter.default is not MISSING:
                    return too_large(plain(parameter.default, parameter.type))
            case Many(parts):
                return next((found for one in parts if (found := self._rounded(one)) is not None), None)
            case _:
                pass
        return None

    def _out(self, task: Call | str, name: str, kind: t.Type) -> Out:
        """An output of a call, by the name of its task."""
        made = self.names[id(task)]
        if not isinstance(task, Call) or type(task.target) is PipelineDef:
            return Out(made, name, kind)
        if id(task.target) in self.planner.descriptions.plain:
            return Out(made, name, kind)
        maker = self.plan.by_call.get(id(task))
        if maker is not None and (maker.around or task.may_fail):
            return Out(made, name, kind)
        return self.planner.descriptions.made(made, task.target, name, kind)

    def _choices(
        self, choices: tuple[Expr, ...], kind: t.Type, region: Region | None, part: bool = False
    ) -> Expr:
        """A choice: `??` where the first is an output, else by whether its tasks ran."""
        first, *rest = choices
        if isinstance(first, Either):
            return self._choices((*first.choices, *rest), kind, region, part or first.part)
        last = self.resolve(rest[0] if len(rest) == 1 else Either(tuple(rest), kind, part), region)
        by_task = part and isinstance(first.type, t.Maybe)
        if isinstance(last, Either) and region is None:
            last = last.choices[0] if len(rest) == 1 and isinstance(rest[0], Out) else last
        ended = [one.ended for one in regions(region) if one.ended is not None]
        maker = (
            first.task if isinstance(first, Out) and isinstance(first.task, Call) and not by_task else None
        )
        if isinstance(first, Out) and maker is not None and maker not in ended and not maker.may_fail:
            made = self._out(maker, first.name, first.type)
            if isinstance(first.type, t.Maybe):  # `null` and not having run are the same
                return Either((self.resolve(first, region), last), kind)
            return Either((made, last), kind)
        makers = [leaf.task for leaf in leaves(first) if isinstance(leaf, (Out, Rows, Best))]
        asked = [
            self._ran(task)
            for task in makers
            if isinstance(task, Call) and (task.region or task in ended or task.may_fail)
        ]
        resolved = self.resolve(first, region)
        if not asked:
            return resolved if by_task else Either((resolved, last), kind)
        failed = {self.names[id(task)] for task in ended if not task.may_fail}
        if failed:
            resolved = substitute(resolved, partial(_optional, failed))
        condition: Expr = asked[0] if len(asked) == 1 else Op("&", tuple(asked), t.BOOL)
        return Op("?:", (condition, resolved, last), kind)

    # --- results -----------------------------------------------------------------------------------

    def _result(self) -> None:
        result = self.graph.result
        returns = self.graph.owner.signature.returns
        if result is None:
            return
        self.handing_on = not self.plan.root
        outs = t.outputs(returns)
        whole = isinstance(returns, (t.Record, t.Fixed))
        for position, out in enumerate(outs):
            expr = result
            if whole:
                expr = result.items[position] if isinstance(result, Many) else _part(result, out)
            self.plan.results[out.name] = self.carry(expr, out.type, None, crossing=not self.plan.root)


def _cells(cell: Cell, form: Form) -> list[Expr]:
    """The ports of an output in the row of a loop."""
    return [cell.changed(name=port) for port, _ in ports(cell.name, form)]


def _optional(failed: set[str], expr: Expr) -> Expr | None:
    """An output of a task that may have failed, in a form for which Argo does not wait until it is there."""
    if not isinstance(expr, Out) or expr.task not in failed:
        return None
    path = expr.variable.replace(".", "?.") or f"outputs?.parameters?.['{expr.name}']"
    return expr.changed(variable=path)


def _holds(expr: Expr, choices: tuple[Expr, ...]) -> bool:
    if isinstance(expr, Either) and expr.choices is choices:
        return True
    return any(_holds(child, choices) for child in children(expr))


def _origins(expr: Expr) -> Iterator[tuple[Call | str, str]]:
    """The calls that made a value, parts of it with whole numbers, or a value around it, with the outputs they are."""
    match expr:
        case Out(task, name) | Best(task, name):
            yield task, name
        case Get(Rows(task), int() | Item()):
            yield task, "return"
        case Get(Get(Rows(task), int() | Item()), str() as name):
            yield task, name
        case Get(of):
            yield from _origins(of)
        case Many(parts) | Either(parts):
            for one in parts:
                if t.holds_whole(one.type):
                    yield from _origins(one)
        case _:
            pass


def _part(result: Expr, out: t.Output) -> Expr:
    if isinstance(result, Const):
        key = str(out.attribute)
        return Const(field(result.value, key), out.type)
    assert out.attribute is not None
    return Get(result, out.attribute, out.type)


def _stand_in(kind: t.Type) -> Const:
    """A constant whose text is the placeholder of a type."""
    text = placeholder(kind)
    if isinstance(kind, t.Number) and text == "NaN":
        return Const(float("nan"), kind)
    if t.is_text(kind) or t.holds_file(kind):
        return Const("", t.TEXT)
    return Const({"0": 0, "false": False}.get(text), t.JSON)


def _is_static(expr: Expr) -> bool:
    if type(expr) is Const:
        return True
    return isinstance(expr, (OnVolume, Stored)) and all(isinstance(text, Const) for text in children(expr))


def _texts(column: list[Expr], kind: t.Type) -> list[str]:
    """The texts of the items of a loop for one parameter."""
    if isinstance(kind, t.Number) and all(type(expr) is Const for expr in column):
        return [repr(expr.value) for expr in column if isinstance(expr, Const)]
    if t.holds_file(kind):  # a path, or None
        return ["" if isinstance(expr, Const) else text_of(expr, kind) for expr in column]
    return [text_of(expr, kind) for expr in column]


def _plain(text: str) -> bool:
    """Whether Argo hands on a text of a map's value as it is: nothing in it needs escaping in JSON."""
    return '"' not in text and "\\" not in text and text.isprintable()
