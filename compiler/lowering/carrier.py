"""The forms in which values travel: as text, as files by key or path, in parts, gathered from a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.findings import kinds
from flowdsl.compiler.findings.branches import MixedFiles
from flowdsl.compiler.findings.data import SourceChoice, SourceHanded
from flowdsl.compiler.findings.loops import ScatteredFiles
from flowdsl.compiler.forms import (
    DIGEST,
    PLAIN,
    Absent,
    Carried,
    File,
    Form,
    Gathered,
    Mounted,
    Parts,
    field_of,
    in_parts,
    in_variables,
    part_kinds,
    ports,
    undigested,
    volumes,
)
from flowdsl.compiler.lowering.choices import apart, branched, mixed
from flowdsl.compiler.lowering.folders import Elsewhere, Folder, folders
from flowdsl.compiler.lowering.loop_lists import listed, rows_within
from flowdsl.compiler.lowering.marks import of_run
from flowdsl.compiler.lowering.plans import CHECKPOINT, is_distributed
from flowdsl.compiler.placing import INDEX
from flowdsl.compiler.ports import CHECKPOINTS
from flowdsl.diagnostic import Diagnostic
from flowdsl.pipeline import PipelineDef
from flowdsl.places.place import Argument, Definition
from flowdsl.step import StepDef
from flowdsl.tracing.trace import Call
from flowdsl.values import types as t
from flowdsl.values.expr import (
    Best,
    Cell,
    Checkpoint,
    Const,
    Either,
    Expr,
    Get,
    Join,
    Many,
    OnVolume,
    Op,
    Out,
    Param,
    Rows,
    RunField,
    Stored,
    children,
    flat,
)

if TYPE_CHECKING:
    from types import CodeType

    from flowdsl.compiler.lowering.plans import CallPlan
    from flowdsl.compiler.lowering.resolve import Resolver
    from flowdsl.places.place import Place
    from flowdsl.tracing.trace import Region


class Carrier:
    """Decides the forms of the values of one graph, and which files of its steps need a fixed location."""

    def __init__(self, resolver: Resolver, code: CodeType) -> None:
        self.resolver = resolver
        self.shared = resolver.shared
        self.plan = resolver.plan
        self.code = code

    def carry(self, expr: Expr, kind: t.Type, call: Call | None, *, crossing: bool) -> Carried:
        """The form in which a value is passed, and the values of its ports."""
        if type(expr) is Const and not t.holds_file(kind):
            return Carried(PLAIN, [expr], kind)
        form, values = self._carry(expr, kind, call, crossing)
        if isinstance(form, Gathered) and call is not None and not _reads_rows(call, form):
            return Carried(PLAIN, [listed(values[0], form)], kind)
        if call is not None and is_distributed(call):
            form = in_variables(form)  # Argo does not create its pods, so they get no files from it
        return Carried(form, values, kind)

    def _carry(self, expr: Expr, kind: t.Type, call: Call | None, crossing: bool) -> tuple[Form, list[Expr]]:
        region = _region(call)
        if isinstance(expr, Rows):
            return self._gathered(expr, region)
        found = field_of(expr) if isinstance(expr, (Get, Param)) else None
        if found is not None and (known := self.resolver.parameter(*found, kind)) is not None:
            return known
        if not t.holds_file(kind) and not self.resolver.composed(expr):
            return PLAIN, [self.resolver.resolve(expr, region)]
        match expr:
            case Const(None):
                return Absent(), []
            case OnVolume(volume):
                self.shared.volume(volume)
                return Mounted((volume.name,)), [self.resolver.resolve(expr, region)]
            case Stored():
                file = self.resolver.resolve(expr, region)
                assert isinstance(file, Stored)
                return self.shared.outside(file)
            case Checkpoint():
                assert call is not None
                self.plan.by_call[id(call)].placed.add(CHECKPOINT)
                return Mounted(()), [Const(CHECKPOINTS, t.TEXT)]
            case Out(Call() as task, name):
                return self._file(task, name, expr, region, crossing)
            case Best(task, name):
                form = self._made(self.plan.by_call[id(task)], name)
                return form, [
                    self.resolver.resolve(expr.changed(name=port), region) for port, _ in ports(name, form)
                ]
            case Either(choices):
                return self._either(choices, kind, call, crossing)
            case Op("?:"):
                return self._asked(expr, kind, call)
            case Many(items, names):
                kinds = part_kinds(kind, len(items))
                parts = [
                    self._carry(item, one, call, crossing) for item, one in zip(items, kinds, strict=True)
                ]
                return in_parts(names, parts)
            case Get(Rows() as several, _) | Get(Get(Rows() as several, _), _) if several.name:
                return self._entry(several, expr, region)
            case Get(Rows(task), _) | Get(Get(Rows(task), _), _):
                output = str(expr.key) if isinstance(expr.of, Get) else "return"
                form = self._made(self.plan.by_call[id(task)], output)
                cell = self.resolver.resolve(expr, region)
                if isinstance(form, File) and form.mark and isinstance(cell, Cell):
                    return form, [cell, cell.changed(name=DIGEST + output, type=t.TEXT)]
                return form, cells_of(cell, form) if isinstance(cell, Cell) else [cell]
            case Get() if (rows := self.resolver.gathered(expr)) is not None:
                cell = self.resolver.resolve(expr, region)
                return rows, cells_of(cell, rows) if isinstance(cell, Cell) else [cell]
            case Const():  # an empty list or dict of files
                return Parts((), ()), []
            case Get() | Param() if found is not None and self.shared.diagnostics:
                # It is reported where it is passed.
                return PLAIN, [Const("", t.TEXT)]
            case _:
                raise AssertionError(f"no form for {expr}")

    def _made(self, maker: CallPlan, name: str) -> Form:
        """The form of a file that a call outputs, to be used elsewhere."""
        if maker.sub is not None:
            return maker.sub.results[name].form
        target = maker.call.target
        if isinstance(target, StepDef) and target.kind == "template":
            finding = kinds.ForeignFile(target.name, name)
            self.shared.diagnostics.append(Diagnostic(finding, maker.call.site))
            return File(True)
        maker.placed.add(name)
        if maker.store is not None:
            return Mounted((maker.store.volume,))
        return File(True, "digest" if self.shared.digested(maker) else "")

    def _file(
        self, task: Call, name: str, expr: Expr, region: Region | None, crossing: bool
    ) -> tuple[Form, list[Expr]]:
        maker = self.plan.by_call[id(task)]
        straight = not crossing and task.region is None and not task.may_fail
        if maker.sub is None and maker.store is None and straight:
            target = task.target
            foreign = not isinstance(target, PipelineDef) and target.kind == "template"
            if not self.shared.cached:
                return File(False), [self.resolver.out(task, name, expr.type)]
            if foreign:
                node = Out(maker.name, "id", t.TEXT, "id")
                return of_run(self.resolver.out(task, name, expr.type), node)
            if self.shared.digested(maker):
                found: list[Expr] = [Out(maker.name, one, expr.type) for one in (name, DIGEST + name)]
                return File(False, "digest"), found
        form = self._made(maker, name)
        if isinstance(form, File) and not form.keyed:  # a file passed to the pipeline
            if task.region is not None or task.may_fail:
                why = "it may fail" if task.may_fail else "it may not run"
                finding = SourceHanded(task.target.name, why)
                self.shared.diagnostics.append(Diagnostic(finding, task.site))
            return form, [Out(maker.name, port, expr.type) for port, _ in ports(name, form)]
        return form, [
            self.resolver.resolve(Out(task, port, expr.type), region) for port, _ in ports(name, form)
        ]

    def _entry(self, rows: Rows, expr: Expr, region: Region | None) -> tuple[Form, list[Expr]]:
        """A file of a list or dict that a step returned, by its name in the folder that they are."""
        assert isinstance(rows.task, Call)
        folder = Out(rows.task, rows.name, rows.type)
        form, _ = undigested(*self._file(rows.task, rows.name, folder, region, True))
        return form, [self.resolver.resolve(expr, region)]

    def _gathered(self, rows: Rows, region: Region | None) -> tuple[Form, list[Expr]]:
        maker = self.plan.by_call[id(rows.task)]
        files: list[str] = []
        mounted: list[str] = []
        others: list[tuple[str, Form]] = []
        digests: list[str] = []
        found: list[Folder] = []
        for out in t.outputs(rows.item):
            form = self._made(maker, out.name) if t.holds_file(out.type) else maker.form(out.name)
            mounted.extend(volumes(form))
            if isinstance(form, File):
                files.append(out.name)
                if form.mark:
                    digests.append(out.name)
            elif isinstance(form, (Gathered, Parts, Absent)):
                others.append((out.name, form))
            found += self._folders(maker, out, form)
        values: list[Expr] = [self.resolver.resolve(rows, region)]
        places = dict.fromkeys((one.at, one.output) for one in found)
        for at, name in places:
            tail: tuple[str | Expr, ...] = (Param(INDEX, t.TEXT),) if self.plan.looped else ()
            values.append(Join((RunField("name"), "/", *self.plan.place(maker), f"{at}/{name}", *tail)))
        scattered = len(found) != len(files) or len(places) != len(found) or any(one.nested for one in found)
        names = tuple(dict.fromkeys(mounted))
        form = Gathered(rows.item, tuple(files), names, tuple(others), tuple(digests))
        return form.changed(scattered=len(places)) if scattered else form, values

    def _folders(self, loop: CallPlan, output: t.Output, form: Form) -> list[Folder]:
        """The folders with the files of an output of a loop."""
        try:
            found = [*folders(loop, output.name, form, output.type)]
        except Elsewhere:
            finding = ScatteredFiles(loop.call.target.name, output.name)
            self.shared.diagnostics.append(Diagnostic(finding, loop.call.site))
            return [Folder("", output.name, loop)]
        for maker in dict.fromkeys(one.maker for one in found):
            if id(maker.call) in self.shared.cached:
                from flowdsl.compiler.findings.caching import GatheredCache

                self.shared.diagnostics.append(
                    Diagnostic(GatheredCache(maker.call.target.name), loop.call.site)
                )
        return found

    def _asked(self, choice: Op, kind: t.Type, call: Call | None) -> tuple[Form, list[Expr]]:
        """A choice between files by a condition."""
        asked, *choices = choice.args
        carried = [undigested(*self._carry(one, kind, call, True)) for one in choices]
        if apart(carried):
            finding = MixedFiles() if mixed(carried) else SourceChoice("another choice")
            self.shared.diagnostics.append(Diagnostic(finding, self._place(choice.args, call)))
            return PLAIN, [Const("", t.TEXT)]
        condition = self.resolver.resolve(asked, _region(call))
        texts = (value for _, (value,) in carried)
        return _together(carried), [Op("?:", (condition, *texts), kind)]

    def _either(
        self, choices: tuple[Expr, ...], kind: t.Type, call: Call | None, crossing: bool
    ) -> tuple[Form, list[Expr]]:
        written, choices = choices, flat(choices)
        count = len(choices)
        known = [self._or_nothing(choice, kind, call, crossing) for choice in choices]
        carried = [undigested(*one) for one in known]
        there = [at for at, (form, _) in enumerate(carried) if not isinstance(form, Absent)]
        if len(there) < len(choices):
            choices, carried = tuple(choices[at] for at in there), [carried[at] for at in there]
            known = [known[at] for at in there]
        if len(known) <= 1:
            return known[0] if known else (Absent(), [])
        if any(isinstance(choice.type, t.Maybe) for choice in choices[:-1]) or apart(carried):
            return self._first(written, kind, call, known)
        carried = [undigested(*self._carry(choice, kind, call, True)) for choice in choices]
        # Of a file that a pipeline passes on nothing says where it is.
        if any(form == File(False) for form, _ in carried):
            return self._first(written, kind, call, known)
        if len(there) < count:
            choices = (*choices, Const("", t.TEXT))
        return _together(carried), [self.resolver.resolve(Either(choices, kind), _region(call))]

    def _or_nothing(
        self, file: Expr, kind: t.Type, call: Call | None, crossing: bool
    ) -> tuple[Form, list[Expr]]:
        """A file with another or None as its default: an empty text if what it comes from did not run, or failed."""
        region = _region(call)
        form, values = self._carry(file, kind, call, crossing or branched(file, region))
        return form, [self.resolver.or_nothing(file, value, region) for value in values]

    def _first(
        self,
        choices: tuple[Expr, ...],
        kind: t.Type,
        call: Call | None,
        carried: list[tuple[Form, list[Expr]]],
    ) -> tuple[Form, list[Expr]]:
        """A choice made by the step: between files in different places, or one that may be missing."""
        plain = t.without_none(kind)
        where = ""
        if call is None:
            where = "the result of a pipeline"
        elif call.loop is not None:
            where = "a loop"
        elif isinstance(call.target, PipelineDef):
            where = "a pipeline"
        elif call.target.kind != "python":
            where = "a container step"
        single = isinstance(plain, t.File) and all(
            len(undigested(form, values)[1]) == 1 for form, values in carried
        )
        if where or not single:
            finding = SourceChoice(where) if where and not mixed(carried) else MixedFiles(mixed(carried))
            self.shared.diagnostics.append(Diagnostic(finding, self._place(choices, call)))
            return PLAIN, [Const("", t.TEXT)]
        maybe = any(isinstance(choice.type, t.Maybe) for choice in flat(choices)[:-1])
        form = Parts((), tuple(form for form, _ in carried), True, maybe)
        return form, [value for _, values in carried for value in values]

    def _place(self, choices: tuple[Expr, ...], call: Call | None) -> Place:
        """Where a choice was written: in an argument of a call, else in the result of the pipeline."""
        if call is None:
            return Definition(self.code, "return", "value")
        for name, expr in call.arguments.items():
            if _holds(expr, choices):
                return call.argument(name)
        return call.site if call.loop is None else Argument(call.site, "over")


def _region(call: Call | None) -> Region | None:
    """The region of a call; a pipeline's own results are in none."""
    return call.region if call is not None else None


def _together(carried: list[tuple[Form, list[Expr]]]) -> Form:
    """The form of a choice between files of one kind: those on volumes may be on any of their volumes."""
    form = carried[0][0]
    if isinstance(form, Mounted):
        names = [name for one, _ in carried if isinstance(one, Mounted) for name in one.volumes]
        form = Mounted(tuple(dict.fromkeys(names)))
    return form


def _reads_rows(call: Call, form: Gathered) -> bool:
    """Whether the callee accepts the results of a loop as rows: a program in another language expects a list."""
    in_python = isinstance(call.target, PipelineDef) or call.target.kind == "python"
    return in_python or rows_within(form) is None


def cells_of(cell: Cell, form: Form) -> list[Expr]:
    """The ports of an output in the row of a loop."""
    return [cell.changed(name=port) for port, _ in ports(cell.name, form)]


def _holds(expr: Expr, choices: tuple[Expr, ...]) -> bool:
    if (expr.choices if isinstance(expr, Either) else expr.args if isinstance(expr, Op) else None) is choices:
        return True
    return any(_holds(child, choices) for child in children(expr))
