"""`list`: the runs of a cluster, or of this machine."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any, Literal, get_args

from flowdsl.cli.clusters.reach import RUNS
from flowdsl.cli.display.lengths import age, length
from flowdsl.cli.display.paint import paint_of_output
from flowdsl.cli.display.signs import SIGNS, plain, shown
from flowdsl.cli.display.tables import Cell, Column, Table
from flowdsl.cli.display.texts import line
from flowdsl.cli.process import DONE, Refused, err, note, out
from flowdsl.cli.root import seconds_of
from flowdsl.grammar.labels import COMPLETED, PHASE
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.reason import reason
from flowdsl.runtime.cluster.trouble import ClusterError, Unconfigured, Unreachable
from flowdsl.runtime.parts import part, text
from flowdsl.runtime.phases import FULFILLED, PENDING, RunPhase
from flowdsl.runtime.status.compressed import opened, without_nodes
from flowdsl.runtime.status.gpu import used_by_all
from flowdsl.runtime.status.run import Run
from flowdsl.runtime.status.selector import matches
from flowdsl.runtime.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from flowdsl.cli.clusters.reach import Reach

Json = dict[str, Any]
Output = Literal["wide", "json", "name"]


class Wanted(NamedTuple):
    """The filter of a list; the newest runs come first."""

    selector: str = ""
    phases: Sequence[RunPhase] = ()
    running: bool = False
    completed: bool = False
    since: str | None = None
    limit: int | None = None

    def labels(self) -> str:
        """The part of the filter that the server can evaluate. A run without a controller has no labels yet."""
        parts = [self.selector] if self.selector else []
        if PENDING in self.phases:
            others = [phase for phase in get_args(RunPhase) if phase not in self.phases]
            parts.extend([f"{PHASE} notin ({','.join(others)})"] if others else [])
        elif self.phases:
            parts.append(f"{PHASE} in ({','.join(dict.fromkeys(self.phases))})")
        if self.running != self.completed:
            parts.append(f"{COMPLETED}{'!=' if self.running else '='}true")
        return ",".join(parts)

    def begin(self, now: float) -> float:
        """The earliest start of the listed runs. Raises Refused."""
        return 0.0 if self.since is None else now - seconds_of("--since", self.since)

    def has(self, run: Run) -> bool:
        """Whether a run matches everything except its labels and its time."""
        if self.phases and run.phase not in self.phases:
            return False
        return self.running == self.completed or run.ended == self.completed


def list_runs(reach: Reach, wanted: Wanted, output: Output | None, *, local: bool, everywhere: bool) -> int:
    """List runs; returns the exit code. Raises Refused and ClusterError."""
    now = time.time()
    begin = wanted.begin(now)
    if wanted.limit is not None and wanted.limit < 1:
        raise Refused(f"--limit {wanted.limit}: must be at least 1")
    if local and (everywhere or reach.named):
        raise Refused("--local is about runs of this folder: leave out what names a cluster or namespace")
    if everywhere and reach.namespace is not None:
        raise Refused("--all-namespaces is about all of them: leave out --namespace")
    workflows, where, local = _found(reach, wanted, local=local, everywhere=everywhere)
    runs = [run for run in map(_run, workflows) if (run.created or now) >= begin and wanted.has(run)]
    # Workflow objects count whole seconds: on this machine more is known.
    runs.sort(key=lambda run: (-(run.created or now), *(() if local else (run.namespace, run.name))))
    runs = runs[: wanted.limit]
    if output == "name":
        out("".join(f"{line(run.name)}\n" for run in runs))
    elif output == "json":
        out(json.dumps([_brief(run, now, local=local) for run in runs], indent=2) + "\n")
    elif runs:
        out(listing(runs, now, local=local, everywhere=everywhere, everything=output == "wide"))
    else:
        err(f"there is no such run {where}\n" if wanted != Wanted() else f"there is no run {where}\n")
    return DONE


def _found(reach: Reach, wanted: Wanted, *, local: bool, everywhere: bool) -> tuple[list[Json], str, bool]:
    """The Workflows of the server, or the folder; where that is; and whether it is the folder."""
    from flowdsl.runtime.cluster.kinds import WORKFLOW
    from flowdsl.runtime.cluster.seam import EVERYWHERE

    if not local:
        try:
            cluster = reach.connect()
        except Unconfigured as error:
            if reach.named or everywhere:
                raise
            if not RUNS.is_dir():
                raise Refused(f"there is no run in {RUNS}, and {error}") from None
            local = True
        else:
            namespace = EVERYWHERE if everywhere else cluster.namespace
            where = f"in namespace `{namespace}` of {cluster.called}" if namespace else f"on {cluster.called}"
            try:
                found = cluster.list(WORKFLOW, labels=wanted.labels(), namespace=namespace, keep=_kept)
            except Unreachable:
                if RUNS.is_dir():
                    note("--local shows the runs of this folder")
                raise
            return found.items, where, False
    return local_runs(wanted.selector), f"in {RUNS}", True


def _kept(workflow: Json) -> Json:
    """The part of a run that a list needs: of one that has ended the reason, and not its nodes."""
    status = part(workflow, "status")
    if text(status, "phase") not in FULFILLED:
        return workflow
    found = without_nodes(workflow)
    found["status"]["message"] = Run(workflow).reason
    return found


def local_runs(selector: str) -> list[Json]:
    """The Workflows of the runs in this folder with certain labels, the newest first.

    Unreadable ones are reported, and left out.
    """
    from flowdsl.runtime.local.earlier import begun, state
    from flowdsl.runtime.local.status import STATE

    found: list[Json] = []
    folders = RUNS.iterdir() if RUNS.is_dir() else ()
    for folder in sorted(folders, key=lambda one: (-begun(one), one)):
        try:
            one = state(folder)
        except (FileNotFoundError, NotADirectoryError):
            continue  # it is no run, or one that is only beginning
        except (OSError, ValueError) as error:
            note(f"{folder / STATE} cannot be read: {line(reason(error))}")
        else:
            found.append(_alone(one, folder))
    return [one for one in found if matches(selector, _labels(one))]


def _alone(workflow: Json, folder: Path) -> Json:
    """A local Workflow by the name of its folder, marked if no process executes it any more."""
    from flowdsl.runtime.local.runner import going_on

    workflow["metadata"]["name"] = folder.name  # by which it is found, also if somebody has moved it
    status = part(workflow, "status")
    if text(status, "phase") in FULFILLED or text(status, "message") or going_on(folder):
        return workflow
    return {**workflow, "status": {**status, "message": "nothing runs it now"}}


def _labels(workflow: Json) -> dict[str, str]:
    return {name: str(value) for name, value in part(part(workflow, "metadata"), "labels").items()}


def _run(workflow: Json) -> Run:
    """A run, with decompressed nodes if they are needed: those of an unfinished run."""
    status = part(workflow, "status")
    if text(status, "phase") not in FULFILLED:
        try:
            return Run(opened(workflow))
        except ClusterError as error:
            return Run({**workflow, "status": {**status, "message": str(error), "nodes": {}}}, readable=False)
    return Run(workflow)


def listing(
    runs: Sequence[Run],
    now: float,
    *,
    local: bool = False,
    everywhere: bool = False,
    everything: bool = False,
    room: int | None = None,
) -> str:
    """Runs as a table with a given width, else that of the terminal."""
    paint = paint_of_output()
    ascii_only = plain(sys.stdout)
    columns = [Column("NAMESPACE")] if everywhere else []
    columns += [Column("NAME"), Column("STATUS"), Column("AGE", right=True)]
    columns += [Column("DURATION", right=True, short="TOOK"), Column("PROGRESS", right=True, short="DONE")]
    if not local:
        columns.append(Column("GPU(REQUESTED)", right=True, short="GPU"))
    if everything:
        columns += [] if local else [Column("GPU-HOURS", right=True)]
        columns += [Column("PARAMETERS", least=12)]
    columns += [Column("MESSAGE", least=16)]
    rows: list[list[Cell]] = []
    for run in runs:
        sign, style = SIGNS.get(run.phase, ("?", ""))
        row = [Cell(line(run.namespace))] if everywhere else []
        row += [
            Cell(line(run.name)),
            Cell(f"{shown(sign, ascii_only)} {line(run.status)}", style),
            Cell("" if run.created is None else age(now - run.created)),
            Cell(length(run.duration(now))),
            Cell(line(run.progress)),
        ]
        if not local:
            row.append(Cell(_requested(run)))
        if everything:
            hours = _hours(run, now)
            row += [] if local else [Cell("?" if hours is None else f"{hours:.2f}" if hours else "")]
            row.append(Cell(line(" ".join(f"{name}={value}" for name, value in run.parameters().items()))))
        row.append(Cell(line(run.reason), "red" if style == "red" else ""))
        rows.append(row)
    return Table(columns, rows, paint.width() if room is None else room, first=3 if everywhere else 2).text(
        paint
    )


def _requested(run: Run) -> str:
    """The GPUs that the pods of a run request now; none for a run that has ended."""
    if run.ended:
        return "-"
    return str(run.requested()) if run.readable else "?"


def _hours(run: Run, now: float) -> float | None:
    """The GPU-hours of a run, if they are known."""
    if run.ended:
        return used_by_all(run.workflow) / 3600
    return run.gpu_hours(now) if run.readable else None


def _brief(run: Run, now: float, *, local: bool) -> Json:
    """A run for programs."""
    hours = None if local else _hours(run, now)
    took = run.duration(now)
    return {
        "name": run.name,
        "namespace": run.namespace,
        "status": run.status,
        "phase": run.phase,
        "message": run.reason,
        "created": None if run.created is None else rfc3339(run.created),
        "started": None if run.started is None else rfc3339(run.started),
        "finished": None if run.finished is None else rfc3339(run.finished),
        "seconds": None if took is None else int(took),
        "progress": run.progress,
        "gpus": None if local or not run.readable else 0 if run.ended else run.requested(),
        "gpuHours": None if hours is None else round(hours, 4),
        "parameters": run.parameters(),
        "labels": _labels(run.workflow),
    }
