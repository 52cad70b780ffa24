"""The rounds of loops: as tables, as CSV and for programs.

The values may be any text: none of it can control the terminal.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from flowdsl.cli.display.paint import Paint
from flowdsl.cli.display.tables import Cell, Column, Table
from flowdsl.cli.display.texts import clip, line, visible
from flowdsl.runtime.local import logs
from flowdsl.runtime.local.rounds import value_of
from flowdsl.runtime.phases import FAILURES, SUCCEEDED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from flowdsl.runtime.local.rounds import Round, Rounds
    from flowdsl.runtime.status.tree import RunNode

Json = dict[str, Any]

_ROWS = 30
_CELL = 40
ROUNDS = 50
"""Rounds of one loop that are shown, unless all are asked for."""


def rounds_table(
    of: Rounds, paint: Paint, reason: Callable[[Round], str], most: int = _ROWS, way: str = "-o wide"
) -> str:
    """The rounds of a loop, up to a number; `reason` tells why one failed, `way` is how to see all."""
    rounds = of.rounds
    if len(rounds) > most and of.objective is None:  # what failed is what is looked for
        kept = {one.number for one in [*(one for one in rounds if one.message), *rounds][:most]}
        rounds = [one for one in rounds if one.number in kept]
    rounds = rounds[:most]
    left = len(of.rounds) - len(rounds)
    names = [*of.inputs, *of.outputs]
    rows: list[list[Cell]] = []
    for one in rounds:
        failed = one.phase in FAILURES
        note = "best" if one.best else ""
        if one.phase != SUCCEEDED:
            note = f"{one.phase}: {reason(one) if failed else one.message}"
        values = [Cell(clip(line(_cell(of, one, name)), _CELL), "bold" if one.best else "") for name in names]
        last = Cell(line(note.removesuffix(": ")), "red" if failed else "green" if one.best else "")
        rows.append([Cell(str(one.number), "dim"), *values, last])
    title = of.path
    if of.objective is not None:
        title += (
            f", the {'largest' if of.objective.goal == 'max' else 'smallest'} {of.objective.metric} first"
        )
    numbers = {name for name in names if all(_is_number(one.values.get(name)) for one in rounds)}
    columns = [Column("#", right=True), *(Column(line(one), least=8, right=one in numbers) for one in names)]
    text = Table([*columns, Column("", least=24)], rows, paint.width()).text(paint)
    more = f"... {left} more: {way}\n" if left else ""
    return f"{paint(line(title), 'bold')}\n{text}{more}"


def rounds_csv(shown: Sequence[Rounds], reason: Callable[[Round], str]) -> str:
    """The rounds of all loops as one table in CSV, whole; `reason` tells why one failed."""
    import csv
    import io

    text = io.StringIO()
    names = list(dict.fromkeys(name for of in shown for name in (*of.inputs, *of.outputs)))
    table = csv.writer(text, lineterminator="\n")
    table.writerow(map(_field, ["loop", "#", *names, "phase", "message"]))
    for of in shown:
        for one in of.rounds:
            said = reason(one) if one.phase in FAILURES else one.message
            values = (_cell(of, one, name) if name in one.values else "" for name in names)
            table.writerow(map(_field, [of.path, str(one.number), *values, one.phase, said]))
    return text.getvalue()


def _field(text: str) -> str:
    """A text in CSV, which can hold several lines; other control characters are escaped."""
    return "\n".join(visible(one, tab="\t") for one in text.split("\n"))


def _cell(of: Rounds, one: Round, name: str) -> str:
    """The text of a cell."""
    known = of.texts and (of.texts.outputs if name in of.outputs else of.texts.inputs)
    return readable(one.values.get(name, ""), name, known)


def reason(nodes: Mapping[str, RunNode], one: Round, folder: Path) -> str:
    """Why a round of a local run failed: the last words of its program, else the message of Argo."""
    node = nodes.get(one.failed or one.node)
    written = logs.last_words(folder, node) if node is not None else ""
    return ": ".join(part for part in (one.step, written) if part) if written else one.message


def _is_number(text: str | None) -> bool:
    if not text:
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def readable(text: str, name: str = "", texts: Collection[str] | None = None) -> str:
    """A value in readable form: of a loop as a list, and without the escapes that hide braces from Argo.

    `texts` are the names of those that are plain text, and stay as they are; without it, what looks like a value is
    one.
    """
    value = value_of(text, name, () if texts is None else texts)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (dict, list)) else text


def listed(of: Rounds) -> Json:
    """The rounds of a loop for programs."""
    return {
        "path": of.path,
        "objective": None if of.objective is None else of.objective._asdict(),
        "rounds": [{**each._asdict(), "values": _values(of, each)} for each in of.rounds],
    }


def _values(of: Rounds, one: Round) -> Json:
    """The cells of a row by the names of their columns, as values; None if the round has no output."""
    sides = ((of.outputs, of.texts and of.texts.outputs), (of.inputs, of.texts and of.texts.inputs))
    texts = {name: known for names, known in sides for name in names}
    there = one.values
    columns = (*of.inputs, *of.outputs)
    return {name: value_of(there[name], name, texts[name]) if name in there else None for name in columns}


def rounds_text(
    shown: Sequence[Rounds], paint: Paint, why: Callable[[Round], str], *, everything: bool
) -> str:
    """The rounds of loops as tables; `why` tells why one failed."""
    most = sys.maxsize if everything else ROUNDS
    return "\n".join(rounds_table(one, paint, why, most) for one in shown)
