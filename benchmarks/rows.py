"""The rows: what is built, in which forms, and the cheapest of several processes for each."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import CrashError, Sample, timed_build, timed_command, timed_emission, timed_import
from benchmarks.tools import FLOWDSL, PEERS, TOOLS, Tool

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

    pythons: Mapping[str, Path]
    repeats: int
    chains: tuple[int, ...]
    sweeps: tuple[int, ...]
    longest: Mapping[str, int]  # the longest chain that a tool is given: tracing in KFP is quadratic
    forms: int  # in how many forms a chain is written for a peer, at most


def short(pythons: Mapping[str, Path]) -> Plan:
    """About two minutes: for continuous integration."""
    return Plan(pythons, 2, (100, 1000), (1000,), {"kfp": 100}, 1)


def full(pythons: Mapping[str, Path]) -> Plan:
    """Everything; several minutes."""
    return Plan(pythons, 5, (10, 100, 1000, 4000), (1000, 10_000), {"kfp": 1000}, 2)


class Cell(NamedTuple):
    """The cheapest of the processes that measured one form of one tool."""

    form: str
    sample: Sample
    repeats: int


class Row(NamedTuple):
    """One line of the table: the forms of each tool, or why a tool has none."""

    name: str
    cells: Mapping[str, tuple[Cell, ...]]
    absent: Mapping[str, str]

    def shown(self, tool: str) -> Cell | None:
        """Return the form that represents a tool: the most expensive of flowdsl, the cheapest of the others."""
        pick = max if tool == FLOWDSL.name else min
        return pick(self.cells.get(tool, ()), key=lambda cell: cell.sample.seconds, default=None)

    def form(self, tool: str, form: str) -> Cell | None:
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


Case = tuple[str, str, Callable[[], Sample]]
"""The name of a tool, the form of the pipeline, and what measures it."""


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
        samples = [timed_emission(plan.pythons[FLOWDSL.name], EMITTED) for _ in range(plan.repeats)]
        emission = Emission(min(emit for emit, _ in samples), min(dumps for _, dumps in samples))
    except CrashError as crash:
        crashes.append(f"emission: {crash}")
    return Results(tuple(rows), emission, tuple(crashes))


def _row(name: str, cases: list[Case], absent: dict[str, str], repeats: int, crashes: list[str]) -> Row:
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
    cells: dict[str, tuple[Cell, ...]] = {}
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
    cells: dict[str, tuple[Cell, ...]] = {}
    for tool, (cell,) in row.cells.items():
        start = bare.cells[tool][0].sample.seconds
        cells[tool] = (cell._replace(sample=cell.sample._replace(seconds=cell.sample.seconds - start)),)
    return row._replace(cells=cells)


def _planned(plan: Plan) -> Iterator[tuple[str, list[Case], dict[str, str]]]:
    pythons = plan.pythons

    def built(tool: Tool, form: str, source: str, small: str) -> Case:
        return tool.name, form, partial(timed_build, pythons[tool.name], tool, source, small)

    def imported(tool: Tool, statement: str) -> Case:
        return tool.name, "", partial(timed_import, pythons[tool.name], statement)

    def chained(tasks: int, steps: int, late: Container[str]) -> list[Case]:
        return [
            built(tool, form, write(tasks, steps), write(10, min(steps, 10)))
            for tool in TOOLS
            if tool.name not in late
            for form, write in list(tool.chains.items())[: plan.forms if tool in PEERS else None]
        ]

    machinery = "\n".join([FLOWDSL.imports, *(f"import flowdsl.compiler.{name}" for name in STAGES)])
    yield BARE, [imported(tool, "pass") for tool in TOOLS], {}
    yield IMPORT, [imported(tool, tool.imports) for tool in TOOLS], {}
    yield IMPORT_COMPILER, [imported(FLOWDSL, machinery)], {}
    for tasks in plan.chains:
        late = [name for name, most in plan.longest.items() if tasks > most]
        yield chain(tasks), chained(tasks, 1, late), dict.fromkeys(late, "quadratic: too slow here")
    yield DISTINCT, chained(200, 200, ()), {}
    for points in plan.sweeps:
        cases: list[Case] = []
        for tool in TOOLS:
            form, write = tool.sweep
            cases.append(built(tool, form, write(points), write(10)))
        yield sweep(points), cases, {}
    commands: list[Case] = []
    for tool in TOOLS:
        source = next(iter(tool.chains.values()))(10, 1)
        commands.append((tool.name, "", partial(timed_command, pythons[tool.name], tool, source)))
    yield COMMAND, commands, {}
