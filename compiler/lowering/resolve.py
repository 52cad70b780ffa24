"""Resolves the expressions of a graph: tasks by name, and substitutes for the outputs of tasks that did not run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flowdsl.compiler.encode import placeholder
from flowdsl.compiler.expressions import whole
from flowdsl.compiler.forms import (
    PLAIN,
    ROWS,
    File,
    Form,
    Gathered,
    Parts,
    field_of,
    inside,
    part_names,
    part_types,
    port_names,
)
from flowdsl.compiler.lowering.choices import ended_around, may_have_failed
from flowdsl.compiler.lowering.loop_lists import listed
from flowdsl.compiler.lowering.marks import of_run
from flowdsl.compiler.lowering.plans import ROW, STATUS
from flowdsl.compiler.placing import INDEX
from flowdsl.pipeline import PipelineDef
from flowdsl.step import StepDef
from flowdsl.tracing.trace import Call
from flowdsl.values import types as t
from flowdsl.values.expr import (
    Best,
    Cell,
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
    Status,
    Stored,
    children,
    leaves,
    substitute,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from flowdsl.compiler.lowering.plans import GraphPlan, Shared
    from flowdsl.compiler.ports import Taken
    from flowdsl.tracing.trace import Graph, Region


class Resolver:
    """Rewrites the expressions of one graph."""

    def __init__(self, shared: Shared, plan: GraphPlan, graph: Graph) -> None:
        self.shared = shared
        self.plan = plan
        self.names = shared.names(graph)
        self.types = {p.name: p.type for p in graph.owner.signature.parameters}

    def resolve(self, expr: Expr, region: Region | None, *, inner: bool = False) -> Expr:
        """An expression with tasks by name, and with a harmless default for tasks that may not have run.

        `inner`: only a part of its value is used.
        """
        if isinstance(expr, Const):
            return expr
        match expr:
            case Out(task, name, kind):
                if isinstance(kind, t.Maybe) and isinstance(kind.item, t.File):
                    kind = t.FILE  # its location is a text, whether it exists or not
                made = self.out(task, name, kind)
                if isinstance(task, Call) and task.region is not None:
                    return Either((made, _stand_in(kind)), kind)
                return made
            case Rows(task, _, _, name):
                made = Out(self.names[id(task)], "results", t.JSON)
                if name:
                    self.plan.by_call[id(task)].listed.add(name)
                    made = self.out(task, ROWS + name, t.JSON)
                if isinstance(task, Call) and task.region is not None:
                    return Either((made, Const([], t.JSON)), t.JSON)
                return made
            case Best(Call() as task, name, kind):
                return Cell(Out(self.plan.by_call[id(task)].best, ROW, t.JSON), None, name, kind)
            case Either(choices, kind, part):
                return self._choices(choices, kind, region, part)
            case Status(Call(may_fail=True) as task, kind):
                return Out(self.names[id(task)], STATUS, kind)
            case Status(task, kind):
                return Status(self.names[id(task)], kind)
            case Op("failed", (Rows(Call() as task) as rows, items), kind):
                outer = (Param(INDEX, t.TEXT),) if self.plan.looped else ()
                return Op(
                    "failed", (self.resolve(rows, region), self._items(task, items, region), *outer), kind
                )
            case Op(op, args, kind):
                return Op(op, tuple(self.resolve(arg, region) for arg in args), kind)
            case Join(parts):
                return Join(tuple(p if isinstance(p, str) else self.resolve(p, region) for p in parts))
            case Get(Rows() as rows, _) | Get(Get(Rows() as rows, int()), _) if rows.name:
                return self._entry(rows, expr, region)
            case Get(rows, int() as key) if (form := self.gathered(rows)) is not None:
                return _row(self.resolve(rows, region), key, form)
            case Get(Get(rows, int() as key, t.Record() | t.Fixed()), str() as name, kind) if (
                self.gathered(rows) is not None
            ):
                return Cell(self.resolve(rows, region), key, name, kind)
            case Get(of, key, kind):
                if (found := field_of(expr)) is not None:
                    carried = self.parameter(*found, kind)
                    if carried is not None and (len(carried[1]) == 1 or isinstance(carried[0], File)):
                        return carried[1][0]
                if not inner:
                    self.take(expr)
                return Get(self.resolve(of, region, inner=True), key, kind)
            case Many(items, names, kind):
                return Many(tuple(self._listed(item, region) for item in items), names, kind)
            case OnVolume(volume, path):
                return OnVolume(volume, self.resolve(path, region))
            case Stored(_, _, texts):
                return expr.changed(texts=tuple(self.resolve(text, region) for text in texts))
            case _:
                return expr

    def _entry(self, rows: Rows, expr: Get, region: Region | None) -> Expr:
        """What an index takes out of a list or dict of files: a value from its row, a file by its name in the folder.

        A dict has a single row.
        """
        made, key = self.resolve(rows, region), expr.key
        if isinstance(expr.of, Get):
            assert isinstance(expr.of.key, int)
            (keys,) = (out.keys for out in t.outputs(rows.item) if out.name == key)
            cell = Cell(made, expr.of.key, "-".join(map(str, keys)), expr.type)
        elif isinstance(key, str):
            cell = Cell(made, 0, key, expr.type)
        else:
            cell = Cell(made, key, "return", expr.type)
        if not t.holds_file(expr.type):
            return cell
        folder = self.resolve(Out(rows.task, rows.name, rows.type), region)
        return Join((folder, "/", cell.changed(type=t.TEXT)))

    def _items(self, loop: Call, items: Expr, region: Region | None) -> Expr:
        """The number of items of a loop, or a list of that length: of a list with files what the loop iterates over."""
        walked = self.plan.by_call[id(loop)].arguments
        if loop.loop is None or not loop.loop.lists:
            return self.resolve(items, region)
        counted = [
            walked[name].values[0] if name in walked else self.resolve(expr, region)
            for name, expr in loop.loop.lists.items()
        ]
        return Op("combinations", tuple(counted), t.INT) if loop.loop.product else counted[0]

    def take(self, part: Get) -> None:
        """Note that Argo extracts a value from another, if that rounds integers and no formula can detect it.

        Or if the other may contain numbers that JSON cannot represent.
        """
        if not whole(part.type) and t.holds_whole(part.type):
            self._take(_origins(part, t.holds_whole), "exact")
        if t.holds_float(part.of.type):
            self._take(_origins(part.of, t.holds_float), "finite")

    def compared(self, sweep: Call, metric: str) -> None:
        """Note that Argo compares the metric of a sweep, which it extracts if that is in a dict or record."""
        output, _, within = metric.partition(".")
        if within:
            self._take([(sweep, output)], "finite")

    def _take(self, origins: Iterable[tuple[Call | str, str]], how: Taken) -> None:
        holds = t.holds_whole if how == "exact" else t.holds_float
        todo = [(self.plan.by_call.get(id(task)), name) for task, name in origins]
        while todo:
            maker, name = todo.pop()
            if maker is None:
                continue
            if maker.sub is None:
                maker.taken.add((name, how))
                continue
            inside = {one.name: one for one in maker.sub.calls}
            made = _origins(maker.sub.results[name].values[0], holds)
            todo += [(inside.get(str(task)), output) for task, output in made]

    def out(self, task: Call | str, name: str, kind: t.Type) -> Out:
        """An output of a call, by the name of its task."""
        made = self.names[id(task)]
        if not isinstance(task, Call) or type(task.target) is PipelineDef:
            return Out(made, name, kind)
        if id(task.target) in self.shared.descriptions.plain:
            return Out(made, name, kind)
        maker = self.plan.by_call.get(id(task))
        if maker is not None and (maker.around or task.may_fail):
            return Out(made, name, kind)
        return self.shared.descriptions.made(made, task.target, name, kind)

    def _choices(
        self, choices: tuple[Expr, ...], kind: t.Type, region: Region | None, part: bool = False
    ) -> Expr:
        """A choice: `??` if the first is an output, else by whether its tasks ran."""
        first, *rest = choices
        if isinstance(first, Either) and first.part and not part and isinstance(first.type, t.Maybe):
            # None may come from the task that ran: the default then takes its place, and no other task's value.
            made = self._choices((*first.choices, Const(None, t.NONE)), first.type, region, True)
            other = self.resolve(rest[0] if len(rest) == 1 else Either(tuple(rest), kind), region)
            return Either((made, other), kind)
        if isinstance(first, Either):
            return self._choices((*first.choices, *rest), kind, region, part or first.part)
        last = self.resolve(rest[0] if len(rest) == 1 else Either(tuple(rest), kind, part), region)
        by_task = part and isinstance(first.type, t.Maybe)
        if isinstance(last, Either) and region is None:
            last = last.choices[0] if len(rest) == 1 and isinstance(rest[0], Out) else last
        ended = ended_around(region)
        maker = (
            first.task if isinstance(first, Out) and isinstance(first.task, Call) and not by_task else None
        )
        if isinstance(first, Out) and maker is not None and maker not in ended and not maker.may_fail:
            made = self.out(maker, first.name, first.type)
            if isinstance(first.type, t.Maybe):  # `null` and not having run are the same
                return Either((self.resolve(first, region), last), kind)
            return Either((made, last), kind)
        asked = self._there(first, ended)
        resolved = self.resolve(first, region)
        condition = _all(asked)
        if condition is None:
            return resolved if by_task else Either((resolved, last), kind)
        resolved = self._of_ended(resolved, ended)
        if isinstance(first.type, t.Maybe) and not by_task:  # it may have run, and returned None
            resolved = Either((resolved, last), kind)
        return Op("?:", (condition, resolved, last), kind)

    def _there(self, expr: Expr, ended: list[Call]) -> list[Expr]:
        """The conditions under which a value exists: its tasks have run, and of each choice those of one value."""
        match expr:
            case Out(task) | Rows(task) | Best(task):
                asked = isinstance(task, Call) and (task.region or task in ended or task.may_fail)
                return [self.ran(task)] if isinstance(task, Call) and asked else []
            case Either(choices):
                each = [_all(self._there(one, ended)) for one in choices]
                known = [one for one in each if one is not None]
                return [Op("|", tuple(known), t.BOOL)] if len(known) == len(each) else []
            case _:
                return [asked for one in children(expr) for asked in self._there(one, ended)]

    def or_nothing(self, file: Expr, key: Expr, region: Region | None) -> Expr:
        """The key or path of a file, or an empty text if what it comes from did not run, or has failed."""
        ended = ended_around(region)
        makers = (leaf.task for leaf in leaves(file) if isinstance(leaf, (Out, Rows, Best)))
        for task in dict.fromkeys(makers):
            if not isinstance(task, Call):
                continue
            if may_have_failed(task, region):
                key = self._of_ended(key, ended)
            elif isinstance(file, Out) or (task.region is None and not task.may_fail):
                continue
            key = Op("?:", (self.ran(task), key, Const("", t.TEXT)), key.type)
        return key

    def _of_ended(self, expr: Expr, ended: list[Call]) -> Expr:
        """An expression that is only evaluated if the tasks succeeded, in whose end it is used."""
        failed = {self.names[id(task)] for task in ended if not task.may_fail}
        return substitute(expr, partial(_optional, failed)) if failed else expr

    def ran(self, task: Call) -> Expr:
        """Whether a task has run and succeeded. One that may fail outputs whether it did."""
        if not task.may_fail:
            return Ran(self.names[id(task)])
        return Op("==", (self.status(task, ""), Const("Succeeded", t.TEXT)), t.BOOL)

    def status(self, task: Call, skipped: str) -> Expr:
        """The status of a task that may fail, or another text if its branch did not run."""
        status = Out(self.names[id(task)], STATUS, t.TEXT)
        return Either((status, Const(skipped, t.TEXT)), t.TEXT) if task.region is not None else status

    def parameter(self, param: Param, path: tuple[str, ...], kind: t.Type) -> tuple[Form, list[Expr]] | None:
        """A parameter of this graph, or a field of one that is passed in parts."""
        form = self.plan.forms.get(param.name, PLAIN)
        name, at = param.name, form
        whole = self.types.get(param.name, kind)
        for step in path:
            if not isinstance(at, Parts):
                return None
            position, names = part_names(at).index(step), port_names(at)
            whole = part_types(whole, at)[position]
            at = at.forms[position]
            name = f"{name}-{names[position]}"
        if isinstance(at, type(PLAIN)) and not path:
            return None
        if self.plan.root and self.shared.cached and at == File(False):
            return of_run(Param(name, t.TEXT), name)
        return at, inside(name, at, whole)

    def _listed(self, expr: Expr, region: Region | None) -> Expr:
        """A part of another value: results of a loop are converted to the list that they represent."""
        form = self.gathered(expr)
        made = self.resolve(expr, region)
        return made if form is None else listed(made, form)

    def gathered(self, expr: Expr) -> Gathered | None:
        """The form of the results of a loop, or of a pipeline that returns or takes them."""
        form: Form | None
        match expr:
            case Get(Get(rows, int(), t.Record() | t.Fixed()), str() as name) if (
                outer := self.gathered(rows)
            ) is not None:
                form = dict(outer.others).get(name)
            case Get(rows, int()) if (outer := self.gathered(rows)) is not None:
                form = dict(outer.others).get("return")
            case Rows(item=item, name=str() as output) if output:
                return Gathered(item, (), ())
            case Rows(task, item):
                maker = self.plan.by_call[id(task)]
                made = [(out.name, maker.form(out.name)) for out in t.outputs(item)]
                others = tuple((name, form) for name, form in made if isinstance(form, (Gathered, Parts)))
                return Gathered(item, (), (), others)
            case Param() | Get():
                found = field_of(expr)
                known = self.parameter(*found, expr.type) if found is not None else None
                form = known[0] if known is not None else self._made(expr)
            case _:
                form = self._made(expr)
        return form if isinstance(form, Gathered) else None

    def composed(self, expr: Expr) -> bool:
        """Whether a value is what a pipeline returned as the results of a loop."""
        return not isinstance(expr, Rows) and self.gathered(expr) is not None

    def _made(self, expr: Expr) -> Form:
        """The form in which a call outputs a value."""
        if type(expr) is Out and type(expr.task) is Call and type(expr.task.target) is StepDef:
            return PLAIN
        match expr:
            case Out(Call() as task, name) | Best(Call() as task, name):
                return self.plan.by_call[id(task)].form(name)
            case _:
                return PLAIN

    def awaited(self, expr: Expr) -> list[str]:
        """The tasks whose outputs are in an expression."""
        found: list[str] = []
        for leaf in leaves(expr):
            if isinstance(leaf, (Out, Rows, Best)) and id(leaf.task) in self.names:
                made = self.names[id(leaf.task)]
                found.append(self.plan.by_call[id(leaf.task)].best if isinstance(leaf, Best) else made)
        return found


def _row(rows: Expr, key: int, form: Gathered) -> Expr:
    """Everything that an item of a loop returned."""
    if not isinstance(form.item, (t.Record, t.Fixed)):
        return Cell(rows, key, "return", form.item)
    others = dict(form.others)
    parts: dict[t.Keys, Expr] = {}
    for out in t.outputs(form.item):
        cell, other = Cell(rows, key, out.name, out.type), others.get(out.name)
        parts[out.keys] = listed(cell, other) if isinstance(other, Gathered) else cell
    return t.assembled(form.item, parts, _record)


def _record(kind: t.Record | t.Fixed, parts: list[Expr]) -> Expr:
    names = tuple(field.name for field in kind.fields) if isinstance(kind, t.Record) else ()
    return Many(tuple(parts), names, kind)


def _all(conditions: list[Expr]) -> Expr | None:
    """All of the conditions, each once; None if there are none."""
    several = tuple(dict.fromkeys(conditions))
    if len(several) < 2:
        return several[0] if several else None
    return Op("&", several, t.BOOL)


def _optional(failed: set[str], expr: Expr) -> Expr | None:
    """An output of a task that may have failed, in a form for which Argo does not wait until it exists.

    Argo stores a result only where it finds `.outputs.result`, so `?.` is no form of that.
    """
    if not isinstance(expr, Out) or expr.task not in failed:
        return None
    if expr.variable:
        return Either((expr, _stand_in(expr.type)), expr.type)
    return expr.changed(variable=f"outputs?.parameters?.['{expr.name}']")


def _origins(expr: Expr, holds: Callable[[t.Type], bool]) -> Iterator[tuple[Call | str, str]]:
    """The calls that made a value, its parts that satisfy `holds`, or a value around it, with the outputs they are."""
    match expr:
        case Out(task, name) | Best(task, name):
            yield task, name
        case Get(Rows(task), int() | Item()):
            yield task, "return"
        case Get(Get(Rows(task), int() | Item(), t.Record() | t.Fixed()), str() as name):
            yield task, name
        case Get(of):
            yield from _origins(of, holds)
        case Many(parts) | Either(parts):
            for one in parts:
                if holds(one.type):
                    yield from _origins(one, holds)
        case _:
            pass


def _stand_in(kind: t.Type) -> Const:
    """A constant whose text is the placeholder of a type."""
    text = placeholder(kind)
    if isinstance(kind, t.Number) and text == "NaN":
        return Const(float("nan"), kind)
    if t.is_text(kind) or t.holds_file(kind):
        return Const("", t.TEXT)
    return Const({"0": 0, "false": False}.get(text), t.JSON)
