"""The text of the results: the table with ratios, the memory, every form, and the limits of the project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchmarks.rows import (
    BARE,
    COMMAND,
    DISTINCT,
    EMITTED,
    IMPORT,
    Results,
    Row,
    chain,
    sweep,
)
from benchmarks.tools import FLOWDSL, PEERS, TOOLS

NAMES = [tool.name for tool in TOOLS]


class Limit(NamedTuple):
    """One limit of the project. `measured` is None if the run has no number for it."""

    name: str
    bound: float
    at_most: bool
    measured: float | None

    @property
    def verdict(self) -> str:
        """`ok`, `MISSED` or `not measured`."""
        if self.measured is None:
            return "not measured"
        kept = self.measured <= self.bound if self.at_most else self.measured >= self.bound
        return "ok" if kept else "MISSED"


def limits(results: Results) -> list[Limit]:
    """Return the limits of the project with the measurements of this run."""
    rows = {row.name: row for row in results.rows}
    judged = [chain(100), chain(1000), chain(4000), DISTINCT, sweep(1000), sweep(10_000)]
    found = [
        Limit(f"{name}: times faster than Hera", 5.0, False, _ratio(rows.get(name), "hera"))
        for name in judged
    ]
    importing = _ratio(rows.get(IMPORT), "hera")
    found.append(
        Limit(
            "import above bare Python: share of Hera's",
            0.1,
            True,
            None if importing is None else 1 / importing,
        )
    )
    emission = results.emission
    found.append(
        Limit(
            "emission: times json.dumps",
            4.0,
            True,
            None if emission is None else emission.emit / emission.dumps,
        )
    )
    found += [
        Limit(f"growth from 1000 to 4000 tasks, {form}", 4.4, True, _growth(rows, form))
        for form in ("straight", "loop")
    ]
    found += [
        Limit(f"{COMMAND}: times faster than {peer.name}", 3.0, False, _ratio(rows.get(COMMAND), peer.name))
        for peer in PEERS
    ]
    return found


def show(results: Results, judged: Sequence[Limit], head: str) -> str:
    """Lay out the whole report as text."""
    times = [["CPU ms", *NAMES, *(f"{peer.name}/{FLOWDSL.name}" for peer in PEERS)]]
    sizes = [["peak MiB (YAML kB)", *NAMES]]
    forms = [["every form", "tool", "form", "CPU ms", "peak MiB", "YAML kB", "processes", "/flowdsl"]]
    notes: dict[str, None] = {}
    for row in results.rows:
        times.append(
            [
                row.name,
                *(_milliseconds(row, tool) for tool in NAMES),
                *("" if row.name == BARE else _times(_ratio(row, tool)) for tool in NAMES[1:]),
            ]
        )
        sizes.append([row.name, *(_memory(row, tool) for tool in NAMES)])
        forms += [[row.name, *line] for line in _forms(row)]
        notes.update({f"n/a: {row.name}, {tool}: {reason}": None for tool, reason in row.absent.items()})
    verdicts = [["limit", "bound", "measured", ""]]
    for limit in judged:
        sign = "<=" if limit.at_most else ">="
        measured = "" if limit.measured is None else f"{limit.measured:.2f}"
        verdicts.append([limit.name, f"{sign} {limit.bound:g}", measured, limit.verdict])
    parts = [head, _table(times), *notes, ""]
    if (emission := results.emission) is not None:
        emit, dumps = emission.emit * 1000, emission.dumps * 1000
        parts += [f"emission alone, {chain(EMITTED)}: emit {emit:.1f} ms, json.dumps {dumps:.1f} ms", ""]
    parts += [_table(sizes), "", _table(forms, left=3), "", _table(verdicts)]
    parts += [f"\nCRASHED: {crash}" for crash in results.crashes]
    return "\n".join(parts)


def as_data(results: Results, judged: Sequence[Limit], versions: Mapping[str, str]) -> dict[str, object]:
    """Return every number, for a JSON file: seconds, MiB, bytes."""
    return {
        "versions": {**versions},
        "rows": [
            {
                "row": row.name,
                "forms": [
                    {"tool": tool, "form": cell.form, **cell.sample._asdict(), "processes": cell.repeats}
                    for tool in NAMES
                    for cell in row.cells.get(tool, ())
                ],
                "absent": dict(row.absent),
            }
            for row in results.rows
        ],
        "emission": None if results.emission is None else results.emission._asdict(),
        "limits": [{**limit._asdict(), "verdict": limit.verdict} for limit in judged],
        "crashes": list(results.crashes),
    }


def _ratio(row: Row | None, tool: str) -> float | None:
    """The ratio of a peer's cheapest form to the most expensive one of flowdsl."""
    if row is None or (peer := row.shown(tool)) is None or (own := row.shown(FLOWDSL.name)) is None:
        return None
    return peer.sample.seconds / own.sample.seconds


def _growth(rows: dict[str, Row], form: str) -> float | None:
    if chain(1000) not in rows or chain(4000) not in rows:
        return None
    small, large = rows[chain(1000)].form(FLOWDSL.name, form), rows[chain(4000)].form(FLOWDSL.name, form)
    return None if small is None or large is None else large.sample.seconds / small.sample.seconds


def _milliseconds(row: Row, tool: str) -> str:
    return "n/a" if (cell := row.shown(tool)) is None else f"{cell.sample.seconds * 1000:.1f}"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.1f}x"


def _forms(row: Row) -> list[list[str]]:
    """List every form of the tools that have several, relative to the most expensive one of flowdsl."""
    own = row.shown(FLOWDSL.name)
    lines: list[list[str]] = []
    for tool in NAMES:
        cells = row.cells.get(tool, ())
        for cell in cells if len(cells) > 1 else ():
            seconds, peak, size = cell.sample
            ratio = "" if own is None else f"{seconds / own.sample.seconds:.1f}x"
            numbers = [f"{seconds * 1000:.1f}", f"{peak:.0f}", f"{size / 1000:.0f}", str(cell.repeats)]
            lines.append([tool, cell.form, *numbers, ratio])
    return lines


def _memory(row: Row, tool: str) -> str:
    if (cell := row.shown(tool)) is None:
        return "n/a"
    return f"{cell.sample.peak:.0f}" + (f" ({cell.sample.size / 1000:.0f})" if cell.sample.size else "")


def _table(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Columns of equal width; the first `left` ones are words, the rest numbers."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            text.ljust(width) if column < left else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])
