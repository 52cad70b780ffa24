"""The items of loops: written out where they are known, otherwise counted by number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.encode import encode, plain, too_large
from flowdsl.compiler.expressions import text_of, whole
from flowdsl.compiler.findings.data import UnevenItems, UnlikeSources
from flowdsl.compiler.findings.loops import RoundedInteger, UnlistedFiles
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
    inside,
    item_of,
    part_types,
    port_names,
    ports,
    tagged,
    undigested,
)
from flowdsl.compiler.lowering.ask_script import POINTS, Texts
from flowdsl.compiler.lowering.carrier import cells_of
from flowdsl.compiler.lowering.plans import FOLDER
from flowdsl.compiler.lowering.unfold import common, parted, said, together, unfolded
from flowdsl.compiler.placing import INDEX
from flowdsl.diagnostic import Diagnostic
from flowdsl.step import StepDef
from flowdsl.tracing.trace import Call
from flowdsl.values import types as t
from flowdsl.values.expr import (
    Cell,
    Checkpoint,
    Const,
    Expr,
    Get,
    Item,
    Join,
    Many,
    OnVolume,
    Out,
    Param,
    Stored,
    children,
    substitute,
)
from flowdsl.values.signature import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flowdsl.compiler.lowering.carrier import Carrier
    from flowdsl.compiler.lowering.plans import CallPlan
    from flowdsl.points.learnt import Learnt
    from flowdsl.values.signature import Signature


class Loops:
    """Decides what the calls of a loop iterate over, and what each item is passed."""

    def __init__(self, carrier: Carrier, signature: Signature) -> None:
        self.carrier = carrier
        self.resolver = carrier.resolver
        self.shared = carrier.shared
        self.signature = signature

    def loop(self, plan: CallPlan, kinds: dict[str, t.Type]) -> None:
        """Plan a call that is a loop."""
        call, loop = plan.call, plan.call.loop
        assert loop is not None
        for name, expr in call.arguments.items():
            self.shared_argument(plan, name, expr, kinds[name])
        if loop.rows is None:
            self._over(plan, loop.lists, kinds)
            return
        parts, kinds, trees = parted(loop.rows, kinds)
        rows, found, flaws = unfolded(parts)
        for name, one, other in flaws:
            self._unlike(call, name, one, other)
        kinds = {**kinds, **{port: t.TEXT for port in rows[0] if port not in parts[0]}}
        kinds |= dict.fromkeys(found, t.TEXT)
        rest = [expr for row in rows for expr in row.values() if type(expr) is not Const]
        files = [name for name in rows[0] if t.holds_file(kinds[name])]
        even = all(len({_is_empty(row[name]) for row in rows}) == 1 for name in files)
        if even and all(map(_is_static, rest)) and not tagged(loop):
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
            inner = make({port: one for port in rows[0] for one in plan.inner[port].values[:1]})
            plan.inner[name] = Carried(*self.shared.outside(inner), t.FILE)
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
        place = call.argument(name.partition("-")[0])
        self.shared.diagnostics.append(Diagnostic(kind(name.replace("-", "."), one, other), place))

    def _over(self, plan: CallPlan, lists: dict[str, Expr], kinds: dict[str, t.Type]) -> None:
        """The items of a loop that are known only at run time."""
        for name, column in lists.items():
            plan.wait(self.resolver.awaited(column))
            self._column(plan, name, column, kinds[name])
        # There are as many parts of one list as items.
        own = [name for name in plan.arguments if name not in plan.call.arguments]
        walked = {name.partition("-")[0]: name for name in reversed(own)}
        plan.over, *plan.beside = [
            inside(name, plan.arguments[name].form, t.JSON)[0] for name in own if name in walked.values()
        ]
        if plan.call.loop is not None and plan.call.loop.product:
            counted = (plan.over, *plan.beside)
            for at, name in enumerate(lists):
                plan.inner[name] = _numbered(plan.inner[name], Item("", t.INT, counted[at:]))

    def shared_argument(self, plan: CallPlan, name: str, expr: Expr, kind: t.Type) -> None:
        """An argument that is the same for all items: a constant is written inside, others become inputs."""
        if _is_static(expr) or isinstance(expr, Checkpoint):
            plan.inner[name] = self.carrier.carry(expr, kind, plan.call, crossing=True)
            return
        carried = plan.arguments[name] = self.carrier.carry(expr, kind, plan.call, crossing=True)
        plan.inner[name] = carried._replace(values=inside(name, carried.form, kind))

    def _static(self, plan: CallPlan, rows: list[dict[str, Expr]], kinds: dict[str, t.Type]) -> None:
        forms = {name: self._form([row[name] for row in rows], kinds[name]) for name in rows[0]}
        plan.inner.update({name: Carried(form, [], kinds[name]) for name, form in forms.items()})
        names = [name for name, form in forms.items() if ports(name, form)]
        columns = [_texts([row[name] for row in rows], kinds[name]) for name in names]
        number = "i" if "i" not in names else INDEX
        keys = (number, *names)
        cells = zip([f"/{index}" for index in range(len(rows))], *columns, strict=True)
        texts = [dict(zip(keys, row)) for row in cells]  # noqa: B905 -- always equally long
        learnt = plan.call.loop.learnt if plan.call.loop is not None else None
        points = None if learnt is None else _points(learnt, number, texts, kinds)
        choices = [] if points is None else [*points.choices.values(), [*points.defaults.values()]]
        # The script of a search escapes more than the compiler does.
        escaped = '"\\' if points is None else '"\\{$'
        if all(_plain("".join(column), escaped) for column in (*columns, *choices)):
            plan.items = tuple(texts)
            fields: dict[str, Expr] = {name: Item(name, kinds[name]) for name in names}
            fields[INDEX] = Item(number, t.TEXT)
        else:
            # Argo escapes the texts in a map; a single JSON text per item is passed unchanged.
            whole = Item("", t.JSON)
            plan.items = tuple(encode(row, t.JSON) for row in texts)
            fields = {name: Cell(whole, None, name, kinds[name]) for name in names}
            fields[INDEX] = Cell(whole, None, number, t.TEXT)
            points = points and points._replace(whole=True)
        if points is not None:
            plan.points, plan.items, plan.over = points, None, Param(POINTS, t.JSON)
        for name in names:
            plan.inner[name] = Carried(forms[name], [fields[name]], kinds[name])
        plan.inner[INDEX] = Carried(PLAIN, [fields[INDEX]], t.TEXT)

    def _form(self, column: list[Expr], kind: t.Type) -> Form:
        """How the known values of one parameter travel."""
        if not t.holds_file(kind):
            return PLAIN
        if _is_empty(column[0]):
            return Parts((), ())
        volumes = [item.volume for item in column if isinstance(item, OnVolume)]
        for volume in volumes:
            self.shared.volume(volume)
        return Mounted(tuple(dict.fromkeys(one.name for one in volumes))) if volumes else Absent()

    def _column(self, plan: CallPlan, name: str, column: Expr, kind: t.Type) -> None:
        """A list that is known only at run time: the loop iterates over the indices of its elements."""
        number = Item("", t.INT)
        plan.inner[INDEX] = Carried(PLAIN, [Join(("/", number))], t.TEXT)
        carried = self.carrier.carry(column, t.Sequence(kind), plan.call, crossing=True)
        form, values, _ = carried
        if isinstance(form, Parts):
            form, values = undigested(form, values)
        if isinstance(form, Parts):
            plan.inner[name] = self._parts(plan, name, form.forms, values, kind)
            return
        if isinstance(form, Gathered):
            # Only the rows are passed: each contains the keys of its own files.
            plan.arguments[name] = Carried(PLAIN, values[:1], t.JSON)
            plan.inner[name] = self._row(form, Param(name, t.JSON), number, kind)
            return
        if isinstance(form, (File, Mounted)):
            self._folder_items(plan, name, column, carried, kind)
            return
        self.resolver.take(Get(column, number, kind))
        if (number_of := self._rounded(column)) is not None and not whole(kind):
            place = plan.call.argument(name)
            self.shared.diagnostics.append(Diagnostic(RoundedInteger(str(number_of)), place))
        plan.arguments[name] = carried
        plan.inner[name] = Carried(PLAIN, [Get(Param(name, t.Sequence(kind)), number, kind)], kind)

    def _parts(
        self, plan: CallPlan, name: str, forms: tuple[Form, ...], values: list[Expr], kind: t.Type
    ) -> Carried:
        """An item of a list whose items have their own forms: from one list of texts, or from one for each part."""
        number = Item("", t.INT)
        if all(form == PLAIN for form in forms):
            whole = t.Sequence(kind)
            plan.arguments[name] = Carried(PLAIN, [Many(tuple(values), (), whole)], whole)
            return Carried(PLAIN, [Get(Param(name, whole), number, kind)], kind)
        first = forms[0]
        if isinstance(first, Parts) and _alike(forms):
            same = [form for form in forms if isinstance(form, Parts)]
            rows = [_shares(form.forms, its) for form, its in zip(same, _shares(forms, values), strict=True)]
            parts: list[Carried] = []
            for at, (part, its) in enumerate(zip(port_names(first), part_types(kind, first), strict=True)):
                column = tuple(form.forms[at] for form in same)
                given = [value for row in rows for value in row[at]]
                parts.append(self._parts(plan, f"{name}-{part}", column, given, its))
            form = first.changed(forms=tuple(part.form for part in parts))
            return Carried(form, [value for part in parts for value in part.values], kind)
        one = common(forms)
        if one is None:
            held = any(isinstance(each, Parts) for each in forms)
            words = [*dict.fromkeys(map(said, forms)), "others"]
            self._unlike(plan.call, name, words[0], words[1], UnevenItems if held else UnlikeSources)
            plan.arguments[name] = Carried(PLAIN, [Const([], t.JSON)], t.JSON)
            return Carried(first, [Const("", t.TEXT)] * len(ports("", first)), kind)
        nothing, rest = Const("", t.TEXT), iter(values)
        # The key or path of a file is a text.
        items = [nothing if isinstance(each, Absent) else Join((next(rest),)) for each in forms]
        texts = t.Sequence(t.TEXT)
        plan.arguments[name] = Carried(PLAIN, [Many(tuple(items), (), texts)], texts)
        inner: list[Expr] = [Get(Param(name, texts), number, t.TEXT)]
        return Carried(one, [] if isinstance(one, Absent) else inner, kind)

    def _folder_items(self, plan: CallPlan, name: str, column: Expr, carried: Carried, kind: t.Type) -> None:
        """A list with files created by a step, a folder: the loop iterates over the rows that describe its content."""
        task = column.task if isinstance(column, Out) else None
        python = isinstance(task, Call) and isinstance(task.target, StepDef) and task.target.kind == "python"
        item = column.type.item if isinstance(column.type, t.Sequence) else kind
        rows: Expr = Const([], t.JSON)
        if not python or not t.listed(item):
            place = plan.call.argument(name)
            finding = UnlistedFiles(t.spell(column.type), "source" if t.listed(item) else "item")
            self.shared.diagnostics.append(Diagnostic(finding, place))
        elif isinstance(column, Out):
            maker = self.resolver.plan.by_call[id(task)]
            maker.listed.add(column.name)
            rows = self.resolver.resolve(Out(column.task, ROWS + column.name, t.JSON), plan.call.region)
        folder = f"{name}-{FOLDER}"
        plan.arguments[name] = Carried(PLAIN, [rows], t.JSON)
        plan.arguments[folder] = Carried(PLAIN, carried.values[:1], t.TEXT)
        file, _ = undigested(carried.form, carried.values)
        number = Item("", t.INT)
        found = item_of(item, Param(name, t.JSON), number, Param(folder, t.TEXT), file)
        plan.inner[name] = found._replace(type=kind)

    def _row(self, form: Gathered, rows: Expr, number: Item, kind: t.Type) -> Carried:
        forms: dict[t.Keys, Form] = {}
        cells: list[Expr] = []
        outs = t.outputs(form.item)
        others = dict(form.others)
        for out in outs:
            if out.name in others:
                one = others[out.name]
                cells += cells_of(Cell(rows, number, out.name, out.type), one)
            else:
                digest = out.name in form.digests
                file: Form = (
                    File(True, "digest" if digest else "")
                    if out.name in form.files
                    else Mounted(form.volumes)
                )
                one = file if t.holds_file(out.type) else PLAIN
                cells.append(Cell(rows, number, out.name, out.type))
                if digest:
                    cells.append(Cell(rows, number, DIGEST + out.name, t.TEXT))
            forms[out.keys] = one
        if not isinstance(form.item, (t.Record, t.Fixed)):
            return Carried(forms[()], cells, kind)
        if others or any(t.holds_file(out.type) for out in outs):
            return Carried(t.assembled(form.item, forms, _in_parts), cells, kind)
        names = tuple(str(key) for key, _ in t.keyed(form.item))
        return Carried(PLAIN, [Many(tuple(cells), names, form.item)], kind)

    def _rounded(self, items: Expr) -> int | None:
        """An integer in a list known at compile time, or in a parameter's default, that Argo would round."""
        match items:
            case Const(value, kind):
                return too_large(plain(value, kind))
            case Param(name) if name in self.signature.by_name:
                parameter = self.signature.by_name[name]
                if parameter.default is not MISSING:
                    return too_large(plain(parameter.default, parameter.type))
            case Many(parts):
                return next((found for one in parts if (found := self._rounded(one)) is not None), None)
            case _:
                pass
        return None


def _numbered(carried: Carried, number: Item) -> Carried:
    """An element of a list, with another number in place of that of the item."""

    def change(expr: Expr) -> Expr | None:
        if isinstance(expr, Get) and isinstance(expr.key, Item):
            return expr.changed(key=number)
        if isinstance(expr, Cell) and isinstance(expr.index, Item):
            return expr.changed(index=number)
        return None

    return carried._replace(values=[substitute(value, change) for value in carried.values])


def _in_parts(kind: t.Record | t.Fixed, forms: list[Form]) -> Form:
    return Parts(tuple(str(key) for key, _ in t.keyed(kind)), tuple(forms))


def _alike(forms: tuple[Form, ...]) -> bool:
    """Whether all items of a list have the same parts."""
    return len({(form.names, len(form.forms)) if isinstance(form, Parts) else None for form in forms}) == 1


def _shares(forms: Iterable[Form], values: list[Expr]) -> list[list[Expr]]:
    """The values of several forms, split by form."""
    left = iter(values)
    return [[next(left) for _ in ports("", form)] for form in forms]


def _is_static(expr: Expr) -> bool:
    if type(expr) is Const:
        return True
    return isinstance(expr, (OnVolume, Stored)) and all(isinstance(text, Const) for text in children(expr))


def _is_empty(expr: Expr) -> bool:
    """Whether a value of a type with files is an empty list or dict."""
    return isinstance(expr, Const) and expr.value is not None


def _points(learnt: Learnt, number: str, rows: list[dict[str, str]], kinds: dict[str, t.Type]) -> Texts:
    """The points of a learning search as they are passed, with the initial ones from the rows."""
    choices = {one.name: _texts([*one.values], kinds[one.name]) for one in learnt.dimensions if one.values}
    defaults = {
        one.name: _texts([one.default], kinds[one.name])[0]
        for one in learnt.dimensions
        if one.default is not None
    }
    plain = {name: t.without_none(kind) for name, kind in kinds.items()}
    integers = frozenset(one.name for one in learnt.dimensions if whole(plain[one.name]))
    return Texts(number, tuple(rows[: learnt.startup]), choices, defaults, integers, False)


def _texts(column: list[Expr], kind: t.Type) -> list[str]:
    """The texts of the items of a loop for one parameter."""
    if isinstance(kind, t.Number) and {*map(type, column)} == {Const}:
        return [repr(expr.value) for expr in column if type(expr) is Const]
    if t.holds_file(kind):  # a path, or None
        return ["" if isinstance(expr, Const) else text_of(expr, kind) for expr in column]
    return [text_of(expr, kind) for expr in column]


def _plain(text: str, escaped: str) -> bool:
    """Whether Argo passes on a text in a map unchanged: nothing in it is escaped in JSON."""
    return text.isprintable() and not any(sign in text for sign in escaped)
