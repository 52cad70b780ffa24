"""`get`: a run with its steps, on a cluster or on this machine."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any, Literal

from flowdsl.cli.clusters.reach import find
from flowdsl.cli.display.paint import paint_of_output
from flowdsl.cli.display.picture import Picture
from flowdsl.cli.display.rounds import listed, reason, rounds_csv, rounds_text
from flowdsl.cli.display.signs import plain
from flowdsl.cli.display.texts import line
from flowdsl.cli.files import save
from flowdsl.cli.process import DONE, Refused, extra, note, out
from flowdsl.runtime.local.rounds import objective_of, tables
from flowdsl.runtime.status.compressed import hidden
from flowdsl.runtime.status.run import Run

if TYPE_CHECKING:
    from pathlib import Path

    from flowdsl.cli.clusters.reach import Found, Reach
    from flowdsl.runtime.local.rounds import Round, Rounds

Json = dict[str, Any]
Output = Literal["wide", "json", "yaml", "name", "csv"]


def get(name: str, reach: Reach, output: Output | None, *, events: bool) -> int:
    """Show a run; returns the exit code. Raises Refused and ClusterError."""
    if output == "csv":
        raise Refused("-o csv is the rounds of loops: add --rounds")
    if events and output not in (None, "wide"):
        raise Refused(f"-o {output} is the Workflow alone: leave out --events")
    found = find(name, reach)
    if events and found.cluster is None:
        raise Refused(f"{line(found.name)} is a run on this machine, which has no events: leave out --events")
    if output in ("json", "yaml", "name"):
        out(machine_readable(found.workflow, output))
        return DONE
    said: list[Json] = []
    if found.cluster is None:
        run = Run(found.workflow)
    else:
        from flowdsl.runtime.status.gather import gathered

        run, said, notes = gathered(found.cluster, found.workflow, events=events)
        for one in filter(None, (*notes, hidden(found.workflow))):
            note(line(one))
    paint = paint_of_output()
    picture = Picture(
        run,
        paint,
        paint.width(),
        time.time(),
        folder=found.folder,
        everything=output == "wide",
        ascii_only=plain(sys.stdout),
    )
    out(picture.text(hint=_interrupted(found, run)) + (picture.events(said) if events else ""))
    return DONE


def rounds(name: str, reach: Reach, output: Output | None, metric: str | None, *, events: bool) -> int:
    """Show the rounds of a run's loops, the best first; returns the exit code. Raises Refused and ClusterError."""
    if events or output not in (None, "wide", "json", "csv"):
        raise Refused("--rounds is a table, or with -o json a list: leave out the other output")
    found, run, shown = _loops(name, reach, metric)
    if output == "json":
        out(json.dumps([listed(one) for one in shown], indent=2) + "\n")
    elif not shown:
        note(f"{line(run.name)} has no loop whose rounds gave a value")
    else:

        def why(one: Round) -> str:
            return one.message if found.folder is None else reason(run.nodes, one, found.folder)

        if output == "csv":
            out(rounds_csv(shown, why))
            return DONE
        out(rounds_text(shown, paint_of_output(), why, everything=output == "wide"))
    return DONE


def charts(name: str, reach: Reach, metric: str | None, path: Path) -> int:
    """Write a page with charts of a run's sweeps; returns the exit code. Raises Refused and ClusterError."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise Refused(f"--charts {path}: charts are a page of HTML, name it {path.with_suffix('.html').name}")
    _, run, shown = _loops(name, reach, metric)
    sweeps = [one for one in shown if one.objective is not None]
    if not sweeps:
        raise Refused(
            f"{line(run.name)} has no loop with a known metric: say it, as in --metric accuracy:max"
        )
    from flowdsl.cli.display.charts import page

    with extra("--charts", "sweep", "plotly"):
        text = page(line(run.name), sweeps)
    save(text, path)
    return DONE


def _loops(name: str, reach: Reach, metric: str | None) -> tuple[Found, Run, list[Rounds]]:
    """A run, and the rounds of its loops, sorted by the metric. Raises Refused and ClusterError."""
    wanted = None if metric is None else objective_of(metric)
    if metric is not None and wanted is None:
        raise Refused(f"--metric {metric}: write NAME:max or NAME:min, as in accuracy:max")
    found = find(name, reach)
    run = Run(found.workflow)
    begun: Json = {}
    if found.folder is not None:
        from flowdsl.runtime.local.earlier import settings

        begun = settings(found.folder)
    elif said := hidden(found.workflow):
        note(line(said))
    shown = tables(run.entries, run.name, begun, wanted)
    if wanted is not None and not any(one.objective == wanted for one in shown):
        names = ", ".join(f"`{line(name)}`" for one in shown for name in one.outputs) or "nothing"
        raise Refused(
            f"--metric {metric}: no loop of {line(run.name)} gives `{wanted.metric}`; its loops give {names}"
        )
    judged = [row.values for one in shown if one.objective == wanted for row in one.rounds]
    if wanted is not None and not any(wanted.usable(row) is not None for row in judged):
        note(f"--metric {metric}: no round gives a finite number, so none is the best")
    return found, run, shown


def machine_readable(workflow: Json, output: Output) -> str:
    """A Workflow for programs, without fields that only the server needs; or its name."""
    metadata = {key: value for key, value in workflow["metadata"].items() if key != "managedFields"}
    kept = {**workflow, "metadata": metadata}
    if output == "name":
        return f"{line(str(metadata['name']))}\n"
    if output == "yaml":
        from flowdsl.compiler.yaml.emit import emit_one

        try:
            return emit_one(kept)
        except ValueError:  # it holds what no reader of YAML takes; JSON is YAML too
            pass
    return json.dumps(kept, indent=2) + "\n"


def _interrupted(found: Found, run: Run) -> str:
    """How to resume a local run that no process executes any more."""
    if found.folder is None or run.ended:
        return ""
    from flowdsl.runtime.local.runner import going_on

    return "" if going_on(found.folder) else f"nothing runs it now: flowdsl run --resume {line(run.name)}"
