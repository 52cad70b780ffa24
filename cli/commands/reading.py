"""Commands that read runs: `get`, `list`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from flowdsl.cli.clusters.reach import USUAL, Reach
from flowdsl.cli.process import Refused
from flowdsl.cli.root import FLAG, WRITTEN, JsonOption, SelectorOption, StatusOption, app, in_json, option


@app.command(
    name="get",
    help_epilogue="""\
Examples:
  flowdsl get sentiment-x7k2p
  flowdsl get @latest -o wide
  flowdsl get @latest --events
  flowdsl get @latest --rounds --metric accuracy:max
  flowdsl get @latest --charts trials.html
  flowdsl get sentiment-x7k2p -n team-a -o json""",
)
def get_command(
    name: str,
    /,
    *,
    output: Annotated[
        Literal["wide", "json", "yaml", "name", "csv"] | None, Parameter(name=["--output", "-o"])
    ] = None,
    as_json: JsonOption = False,
    events: Annotated[bool, FLAG] = False,
    rounds: Annotated[bool, FLAG] = False,
    metric: str | None = None,
    charts: Annotated[Path | None, WRITTEN] = None,
    reach: Reach = USUAL,
) -> int:
    """Show a run: its steps, what they wait for or why they failed, and their GPUs.

    Parameters
    ----------
    name
        The name of a run, on this machine or on the cluster; @latest is the last one.
    output
        wide shows all rounds, templates and pods; json and yaml the Workflow with its nodes unpacked;
        csv is for --rounds, as are wide and json.
    as_json
        The same as -o json.
    events
        Also show the cluster's Events about the run and its pods.
    rounds
        Show the rounds of loops and sweeps instead, with what differs between them and their results.
    metric
        With --rounds or --charts: NAME:max or NAME:min, the output that orders them; max or min of the
        one result.
    charts
        Write a page with charts of sweeps to this file instead. Needs an extra: pip install 'flowdsl[sweep]'
    """
    from flowdsl.cli.runs import reading

    output = "json" if in_json(output, as_json=as_json) else output
    if charts is not None:
        if output is not None or events or rounds:
            raise Refused("--charts writes a page: leave out --rounds, --events and -o")
        return reading.charts(name, reach, metric, charts)
    if metric is not None and not rounds:
        raise Refused("--metric orders the rounds of loops: add --rounds or --charts FILE.html")
    if rounds:
        return reading.rounds(name, reach, output, metric, events=events)
    return reading.get(name, reach, output, events=events)


@app.command(
    name="list",
    help_epilogue="""\
Examples:
  flowdsl list
  flowdsl list --running -A
  flowdsl list --status Failed --since 2d
  flowdsl list -l team=vision --limit 10 -o wide
  flowdsl list --local""",
)
def list_command(
    *,
    selector: SelectorOption = "",
    status: StatusOption = None,
    running: Annotated[bool, FLAG] = False,
    completed: Annotated[bool, FLAG] = False,
    since: str | None = None,
    limit: int | None = None,
    all_namespaces: Annotated[bool, option("--all-namespaces", "-A")] = False,
    local: Annotated[bool, FLAG] = False,
    output: Annotated[Literal["wide", "json", "name"] | None, Parameter(name=["--output", "-o"])] = None,
    as_json: JsonOption = False,
    reach: Reach = USUAL,
) -> int:
    """List runs, the newest first. If no cluster is configured, those of this folder.

    Parameters
    ----------
    selector
        Only runs with these labels, as kubectl writes them: team=vision,tier!=test.
    status
        Only runs in this phase; may be given several times, or several with commas.
    running
        Only runs that have not ended.
    completed
        Only runs that have ended.
    since
        Only runs that were created within a duration: 90m, 12h, 2d.
    limit
        Show at most this many runs.
    all_namespaces
        The runs of all namespaces.
    local
        The runs on this machine, in .flowdsl/runs of this folder.
    output
        wide also shows parameters and GPU hours; json is a list with an object for each run.
    as_json
        The same as -o json.
    """
    from flowdsl.cli.runs.listing import Wanted, list_runs

    wanted = Wanted(selector, status or (), running, completed, since, limit)
    output = "json" if in_json(output, as_json=as_json) else output
    return list_runs(reach, wanted, output, local=local, everywhere=all_namespaces)
