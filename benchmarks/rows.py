"""The rows: what is built, in which forms, and the cheapest of several processes for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks import pipelines
from benchmarks.measure import (
    CrashError,
    Sample,
    Tool,
    timed_build,
    timed_command,
    timed_emission,
    timed_import,
)

BUDGET = 15.0  # CPU seconds after which a slow case is not repeated
# What a compilation imports; the compiler loads most of it lazily.
STAGES = (
    "load",
    "lowering.plan",
    "naming",
    "carry.carry",
    "lowering.lower",
    "lowering.split",
    "argo",
    "lint",
    "yaml.emit",
)
EMITTED = 1000  # tasks of the manifest that is emitted alone
BARE, IMPORT, IMPORT_COMPILER = "bare Python", "import, above bare Python", "import with the compiler"
COMMAND = "whole command, 10 tasks"


def chain(tasks: int) -> str:
    """Name a chain's row."""
    return f"chain of {tasks:,} tasks"


def sweep(points: int) -> str:
    """Name a sweep's row."""
    return f"sweep of {points:,} points"


DISTINCT = "200 distinct steps"


class Plan(NamedTuple):
    """How much to measure, and with which interpreters."""

    pythons: Mapping[Tool, Path]
    repeats: int
    chains: tuple[int, ...]
    sweeps: tuple[int, ...]
    kfp_tasks: int  # the longest chain that KFP builds in reasonable time; its tracing is quadratic
    hera_forms: tuple[str, ...]  # how a chain is written for Hera


def short(pythons: Mapping[Tool, Path]) -> Plan:
    """About two minutes: for continuous integration."""
    return Plan(pythons, 2, (100, 1000), (1000,), 100, ("result",))


def full(pythons: Mapping[Tool, Path]) -> Plan:
    """Everything; several minutes."""
    return Plan(pythons, 5, (10, 100, 1000, 4000), (1000, 10_000), 1000, ("result", "parameter"))


class Cell(NamedTuple):
    """The cheapest of the processes that measured one form of one tool."""

    form: str
    sample: Sample
    repeats: int


class Row(NamedTuple):
    """One line of the table: the forms of each tool, or why a tool has none."""

    name: str
    cells: Mapping[Tool, tuple[Cell, ...]]
    absent: Mapping[Tool, str]

    def shown(self, tool: Tool) -> Cell | None:
        """Return the form that represents a tool: the most expensive of flowdsl, the cheapest of the others."""
        pick = max if tool == "flowdsl" else min
        return pick(self.cells.get(tool, ()), key=lambda cell: cell.sample.seconds, default=None)

    def form(self, tool: Tool, form: str) -> Cell | None:
        """One form of a tool, if it was measured."""
        return next((cell for cell in self.cells.get(tool, ()) if cell.form == form), None)


class Emission(NamedTuple):
    """CPU seconds of the emitter and of `json.dumps` on the same manifest."""

    emit: float
    dumps: float


class Results(NamedTuple):
    """All rows, the emission, and the text of every crash."""

    rows: tuple[Row, ...]
    emission: Emission | None
    crashes: tuple[str, ...]


Case = tuple[Tool, str, Callable[[], Sample]]


def measure(plan: Plan, progress: Callable[[str], None]) -> Results:
    """Measure every row of the plan; a crash loses its cell, never the run."""
    crashes: list[str] = []
    rows: list[Row] = []
    for name, cases, absent in _planned(plan):
        progress(name)
        rows.append(_row(name, cases, absent, plan.repeats, crashes))
    bare, language, machinery = rows[:3]
    rows[1] = _above(language, bare)
    rows[2] = _above(machinery._replace(cells={**language.cells, **machinery.cells}), bare)
    progress("emission")
    emission = None
    try:
        samples = [timed_emission(plan.pythons["flowdsl"], EMITTED) for _ in range(plan.repeats)]
        emission = Emission(min(emit for emit, _ in samples), min(dumps for _, dumps in samples))
    except CrashError as crash:
        crashes.append(f"emission: {crash}")
    return Results(tuple(rows), emission, tuple(crashes))


def _row(name: str, cases: list[Case], absent: dict[Tool, str], repeats: int, crashes: list[str]) -> Row:
    """Measure the cases in turns, so that all are subject to the same noise."""
    taken: dict[int, list[Sample]] = {index: [] for index in range(len(cases))}
    broken: set[int] = set()
    for _ in range(repeats):
        for index, (tool, form, run) in enumerate(cases):
            if index in broken or sum(sample.seconds for sample in taken[index]) > BUDGET:
                continue
            try:
                taken[index].append(run())
            except CrashError as crash:
                broken.add(index)
                crashes.append(f"{name}, {tool} {form}: {crash}")
    cells: dict[Tool, tuple[Cell, ...]] = {}
    missing = dict(absent)
    for index, (tool, form, _) in enumerate(cases):
        samples = taken[index]
        if index in broken:
            missing[tool] = "crashed"
            continue
        fastest = min(sample.seconds for sample in samples)
        peak = min(sample.peak for sample in samples)
        cell = Cell(form, Sample(fastest, peak, samples[0].size), len(samples))
        cells[tool] = (*cells.get(tool, ()), cell)
    return Row(name, cells, missing)


def _above(row: Row, bare: Row) -> Row:
    """Subtract the start of the interpreter from an import row."""
    cells: dict[Tool, tuple[Cell, ...]] = {}
    for tool, (cell,) in row.cells.items():
        start = bare.cells[tool][0].sample.seconds
        cells[tool] = (cell._replace(sample=cell.sample._replace(seconds=cell.sample.seconds - start)),)
    return row._replace(cells=cells)


def _planned(plan: Plan) -> Iterator[tuple[str, list[Case], dict[Tool, str]]]:
    pythons = plan.pythons

    def built(tool: Tool, form: str, source: str, small: str) -> Case:
        return tool, form, partial(timed_build, pythons[tool], tool, source, small)

    def imported(statements: Mapping[Tool, str]) -> list[Case]:
        return [
            (tool, "", partial(timed_import, pythons[tool], statement))
            for tool, statement in statements.items()
        ]

    def chained(tasks: int, steps: int, small: int) -> list[Case]:
        cases = [
            built(
                "flowdsl",
                form,
                pipelines.flowdsl_chain(tasks, steps=steps, loop=form == "loop"),
                pipelines.flowdsl_chain(small, steps=min(steps, small), loop=form == "loop"),
            )
            for form in ("straight", "loop")
        ]
        cases += [
            built(
                "hera",
                form,
                pipelines.hera_chain(tasks, steps=steps, form=form),
                pipelines.hera_chain(small, steps=min(steps, small), form=form),
            )
            for form in plan.hera_forms
        ]
        if tasks <= plan.kfp_tasks or steps > 1:
            source = pipelines.kfp_chain(tasks, steps=steps)
            cases.append(built("kfp", "loop", source, pipelines.kfp_chain(small, steps=min(steps, small))))
        return cases

    language: dict[Tool, str] = {
        "flowdsl": pipelines.FLOWDSL_IMPORT,
        "hera": pipelines.HERA_IMPORT,
        "kfp": pipelines.KFP_IMPORT,
    }
    machinery = "\n".join([pipelines.FLOWDSL_IMPORT, *(f"import flowdsl.compiler.{name}" for name in STAGES)])
    yield BARE, imported({"flowdsl": "pass", "hera": "pass", "kfp": "pass"}), {}
    yield IMPORT, imported(language), {}
    yield IMPORT_COMPILER, imported({"flowdsl": machinery}), {}
    for tasks in plan.chains:
        late: dict[Tool, str] = {"kfp": "quadratic: too slow here"} if tasks > plan.kfp_tasks else {}
        yield chain(tasks), chained(tasks, 1, 10), late
    yield DISTINCT, chained(200, 200, 10), {}
    for points in plan.sweeps:
        yield (
            sweep(points),
            [
                built("flowdsl", "random", pipelines.flowdsl_sweep(points), pipelines.flowdsl_sweep(10)),
                built("hera", "with_items", pipelines.hera_sweep(points), pipelines.hera_sweep(10)),
                built("kfp", "ParallelFor", pipelines.kfp_sweep(points), pipelines.kfp_sweep(10)),
            ],
            {},
        )
    sources: dict[Tool, str] = {
        "flowdsl": pipelines.flowdsl_chain(10, loop=False),
        "hera": pipelines.hera_chain(10),
        "kfp": pipelines.kfp_chain(10),
    }
    commands: list[Case] = [
        (tool, "", partial(timed_command, pythons[tool], tool, source)) for tool, source in sources.items()
    ]
    yield COMMAND, commands, {}
