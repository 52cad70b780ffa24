"""The report at the end of a run: its steps, its outputs, and where everything is.

The output of steps may be any text: none of it can control the terminal.
"""

from __future__ import annotations

import shlex
from itertools import islice
from typing import TYPE_CHECKING, Any

from flowdsl.cli.display.lengths import duration
from flowdsl.cli.display.paint import Paint, paint_of_output
from flowdsl.cli.display.rounds import listed, readable, reason, rounds_table
from flowdsl.cli.display.signs import style_of, verb
from flowdsl.cli.display.tables import Cell, Column, Table
from flowdsl.cli.display.texts import line
from flowdsl.cli.files import shown
from flowdsl.cli.process import STDIN
from flowdsl.compiler.ports import WORKERS
from flowdsl.grammar.regex import regex
from flowdsl.runtime.local import logs
from flowdsl.runtime.local.absent import absent_key, no_json
from flowdsl.runtime.local.places import unpacked
from flowdsl.runtime.local.rounds import tables, texts_of, value_of
from flowdsl.runtime.parts import several
from flowdsl.runtime.phases import OMITTED, PENDING, SKIPPED, SUCCEEDED
from flowdsl.runtime.status.outputs import given
from flowdsl.runtime.status.tree import Entry, counted, plain, tree

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from flowdsl.runtime.local.controller.machine import Machine
    from flowdsl.runtime.local.places import Files
    from flowdsl.runtime.local.rounds import Texts

Json = dict[str, Any]

_STEPS = 60
_FAILED = 3
"""Failed steps whose log is shown."""
_NO_MODULE = regex(r"ModuleNotFoundError: No module named '([^']+)'")


def summary(
    machine: Machine,
    files: Files,
    settings: Mapping[str, Any],
    stood_in: Mapping[str, str],
) -> str:
    """The end of a run as text: `stood_in` names the substitute of a pod, by node."""
    paint, folder = paint_of_output(), files.folder
    entries = tree(machine.run.name, machine.nodes.values())
    run = machine.run.name
    parts = [_steps(entries, paint, stood_in)]
    parts.extend(
        rounds_table(
            one,
            paint,
            lambda row: reason(machine.run.by_id, row, folder),
            way=f"flowdsl get {machine.run.name} --rounds -o wide",
        )
        for one in tables(entries, run, settings)
    )
    failed = [] if machine.phase == SUCCEEDED else _failed(entries)[0]
    parts.append(_failures(failed, folder, paint))
    explained = (
        *absent_keys(entries),
        *no_results(entries, machine.message),
        *no_modules(failed, folder, settings),
    )
    parts.append("".join(f"{line(one)}\n" for one in explained))
    parts.append(_results(machine, files, settings, paint))
    parts.append(_last(machine, folder, failed, paint, settings))
    return "\n".join(part for part in parts if part)


def _steps(entries: list[Entry], paint: Paint, stood_in: Mapping[str, str]) -> str:
    columns = [
        Column("STEP", least=16),
        Column("PHASE"),
        Column("TIME", right=True),
        Column("MESSAGE", least=24),
    ]
    rows: list[list[Cell]] = []
    left = 0
    for entry, depth in _listed(entries, 0):
        if len(rows) >= _STEPS and not entry.failed:
            left += 1
            continue
        message = Cell(line(said(entry, stood_in)), "red" if entry.failed else "dim")
        phase = Cell(entry.phase, style_of(entry.phase))
        rows.append([Cell(f"{'  ' * depth}{line(entry.name)}"), phase, Cell(took(entry)), message])
    return Table(columns, rows, paint.width(), first=2).text(paint) + (
        f"... and {left} more, in workflow.json\n" if left else ""
    )


def _listed(entries: list[Entry] | tuple[Entry, ...], depth: int) -> list[tuple[Entry, int]]:
    """Each step; of a loop the loop itself, and a graph that it failed in."""
    found: list[tuple[Entry, int]] = []
    for one in entries:
        found.append((one, depth))
        found.extend(_listed(one.children, depth + 1))
    return found


def took(entry: Entry) -> str:
    """How long a step ran; nothing for one that did not."""
    begun, ended = entry.times()
    if entry.phase in (SKIPPED, OMITTED, PENDING) or ended is None:
        return ""
    return duration(ended - begun)


def said(entry: Entry, stood_in: Mapping[str, str]) -> str:
    """The remarks about a step: its rounds, its attempts, why it failed or did not run."""
    found = [repeats(entry)]
    node = entry.node
    if node is not None and node.result().id in stood_in:
        found.append(stood_in[node.result().id])
    if node is not None and (node.memo or {}).get("hit"):
        found.append("from the cache")
    message = entry.message
    message = message.removeprefix("omitted: ")
    if message and (entry.failed or entry.phase in (SKIPPED, OMITTED, PENDING)):
        found.append(message)
    return ": ".join(filter(None, found))


def repeats(entry: Entry) -> str:
    """The rounds of a loop, or the attempts of a step; nothing for one that ran once."""
    if entry.rounds:
        return rounds_of(entry)
    return f"{entry.attempts} attempts" if entry.attempts > 1 else ""


def rounds_of(entry: Entry) -> str:
    """The progress of a loop: `20 rounds, 1 failed`, `7/20, 1 failed`."""
    number = counted(entry.rounds)
    total = len(entry.rounds)
    first = f"{total - number['open']}/{total}" if number["open"] else _many(total, "round")
    more = [f"{number[kind]} {kind}" for kind in ("failed", "skipped") if number[kind]]
    return ", ".join([first, *more])


def _many(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def failures(entries: Sequence[Entry]) -> list[Entry]:
    """The steps that failed, but not those that failed because of them; at last those that did not fail the run."""
    failed, borne = _failed(entries)
    return [*failed, *borne]


def _failed(entries: Sequence[Entry]) -> tuple[list[Entry], list[Entry]]:
    """The steps that failed, and those without which the run continues: of a loop, or stopped daemons."""
    failed: list[Entry] = []
    borne: list[Entry] = []
    for one in entries:
        if one.leaf:
            if one.failed and one.node is not None and one.node.type != "Skipped":
                (borne if one.needless else failed).append(one)
            continue
        inner, outer = _failed((*one.rounds, *one.children))
        borne.extend(outer)
        (failed if one.failed or not one.ended else borne).extend(inner)
    return failed, borne


def _failures(failed: list[Entry], folder: Path, paint: Paint) -> str:
    found: list[str] = []
    wrote = [one for one in failed if one.node is not None and logs.last(folder, one.node) is not None]
    for one in wrote[:_FAILED]:
        found.extend(log_of(one, folder, paint))
    if left := len(wrote[_FAILED:]):
        more = "1 more step failed; its log is" if left == 1 else f"{left} more steps failed; their logs are"
        found.append(f"{more} in {shown(folder / 'logs')}")
    return "".join(f"{one}\n" for one in found)


def absent_keys(entries: Sequence[Entry]) -> list[str]:
    """Explains steps that could not begin: keys that values do not have, which Argo does not tell."""
    leaves = [one for top in entries for one in top.walk() if one.leaf and one.failed]
    nodes = [one.node for top in entries for one in top.walk() if one.node is not None]
    wrong = ((one.path, absent_key(one.node, nodes)) for one in leaves if one.node is not None)
    return list(islice((f"{path}: {why}" for path, why in wrong if why), _FAILED))


def no_results(entries: Sequence[Entry], message: str) -> list[str]:
    """Explains loops that nothing could follow: rounds that printed no JSON, which Argo does not tell."""
    walked = [one for top in entries for one in top.walk()]
    said = [message, *(one.node.message for one in walked if one.failed and one.node is not None)]
    rounds = (one for loop in walked for one in loop.rounds)
    wrong = ((one.path, no_json(one.node, said)) for one in rounds if one.node is not None)
    return list(islice((f"{path}: {why}" for path, why in wrong if why), _FAILED))


def no_modules(failed: Sequence[Entry], folder: Path, settings: Mapping[str, Any]) -> list[str]:
    """Explains steps that could not import what their image has, and the Python of this machine does not."""
    found: dict[str, str] = {}
    for one in () if settings.get("engine") else failed:
        path = None if one.node is None else logs.last(folder, one.node)
        for text in () if path is None else logs.tail(path, 1):
            if (missing := _NO_MODULE.match(text)) is not None:
                found.setdefault(missing[1], one.path)
    return [
        f"{path}: the Python of this run has no module `{module}`: install it there, name another Python with "
        f"--python, run images with --engine docker, or leave the step out: --fake {_name(path)}=VALUE"
        for module, path in islice(found.items(), _FAILED)
    ]


def log_of(entry: Entry, folder: Path, paint: Paint, lines: int = 10) -> list[str]:
    """The last lines of a step's output, with the file that contains all of it."""
    assert entry.node is not None
    path = logs.last(folder, entry.node)
    if path is None:
        return []
    found = [f"{paint(entry.path, 'bold')} failed; the end of {shown(path)}:"]
    found.extend(paint("  | ", "red") + one for one in logs.tail(path, lines))
    return found


def outputs(machine: Machine) -> tuple[dict[str, Json], dict[str, Json]]:
    """The parameters and artifacts of a run's output, by name."""
    return given(machine.nodes.get(machine.run.name), machine.run.outputs)


def _results(machine: Machine, files: Files, settings: Mapping[str, Any], paint: Paint) -> str:
    parameters, artifacts = outputs(machine)
    texts = _texts(machine, settings)
    rows: list[tuple[str, str]] = []
    for name, one in parameters.items():
        if name not in artifacts and one.get("value") is not None:
            value = str(one["value"])
            path = files.of_text(value)
            rows.append((name, shown(path) if path else readable(value, name, texts)))
    for name, one in artifacts.items():
        path = unpacked(one, files.folder)
        if path is not None:
            rows.append((name, shown(path)))
    if not rows:
        return ""
    known = _types(machine, settings)
    order = {} if known is None else {name: place for place, name in enumerate(known.order)}
    rows.sort(key=lambda row: order.get(row[0], len(order)))
    return f"{paint('outputs', 'bold')}\n" + "".join(
        f"  {name}  {line(value)}\n" for name, value in _padded(rows)
    )


def _types(machine: Machine, settings: Mapping[str, Any]) -> Texts | None:
    """The known types of a run's outputs."""
    entry = machine.nodes.get(machine.run.name)
    return None if entry is None else texts_of(settings).get(entry.template)


def _texts(machine: Machine, settings: Mapping[str, Any]) -> Collection[str] | None:
    """The outputs of a run that are plain text; None if no type is known."""
    known = _types(machine, settings)
    return None if known is None else known.outputs


def _padded(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    width = max(len(name) for name, _ in rows)
    return [(name.ljust(width), value) for name, value in rows]


def _last(
    machine: Machine,
    folder: Path,
    failed: list[Entry],
    paint: Paint,
    settings: Mapping[str, Any],
) -> str:
    run = machine.run.name
    ended = machine.finished if machine.finished is not None else machine.started
    phase = machine.phase or PENDING
    how = paint(verb(phase), style_of(phase))
    first = f"{paint(run, 'bold')} {how} after {duration(ended - machine.started)}"
    if machine.message and not (failed and machine.message.startswith("child ")):
        first += f": {line(plain(machine.message))}"
    lines = [first, f"its folder is {shown(folder)}"]
    if failed and settings.get("targets"):
        which = ["--from", _again(failed[0]), "--of", run]
        if settings.get("only"):  # a run of one step has no others to take
            which = ["--only", str(settings["only"]), "--of", str(settings.get("of"))]
        targets = ("-" if one == STDIN else one for one in settings["targets"])
        again = shlex.join(["flowdsl", "run", *targets, *which])
        lines.append(f"after a change: {again}")
    return "".join(f"{one}\n" for one in lines)


def _again(failed: Entry) -> str:
    """The step to run again after a failure: one on several pods, which the compiler made steps of, as a whole."""
    inputs = several(failed.node.inputs or {}, "parameters") if failed.node is not None else []
    pods = any(one["name"] == WORKERS for one in inputs) and "." in failed.path
    return _name(failed.path.rpartition(".")[0] if pods else failed.path)


def _name(path: str) -> str:
    """The step of a path, without the round of the loop that it is in."""
    return path.partition("(")[0].rpartition(".")[2]


def brief(machine: Machine, files: Files, settings: Mapping[str, Any]) -> Json:
    """The end of a run for programs."""
    parameters, artifacts = outputs(machine)
    texts, folder = _texts(machine, settings), files.folder
    entries = tree(machine.run.name, machine.nodes.values())
    named = {name: files.of_text(str(one.get("value"))) for name, one in parameters.items()}
    paths = {**named, **{name: unpacked(one, folder) for name, one in artifacts.items()}}
    return {
        "name": machine.run.name,
        "phase": machine.phase,
        "message": plain(machine.message),
        "folder": str(folder),
        "outputs": {
            name: value if not isinstance(value := one.get("value"), str) else value_of(value, name, texts)
            for name, one in parameters.items()
        },
        "files": {name: str(path) for name, path in paths.items() if path is not None},
        "steps": [_step(one, folder) for top in entries for one in top.walk() if one.node is not None],
        "loops": [listed(one) for one in tables(entries, machine.run.name, settings)],
    }


def _step(entry: Entry, folder: Path) -> Json:
    assert entry.node is not None
    begun, ended = entry.times()
    return {
        "path": entry.path,
        "node": entry.node.id,
        "template": entry.node.template,
        "phase": entry.phase,
        "message": entry.message,
        "seconds": None if ended is None else round(ended - begun, 3),
        "attempts": entry.attempts,
        "logs": [str(one) for one in logs.files(folder, entry.node)],
    }
