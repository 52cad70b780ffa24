"""Commands that show the logs of runs: `logs`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from flowdsl.cli.clusters.reach import USUAL, Reach
from flowdsl.cli.root import FLAG, app, option


@app.command(
    name="logs",
    help_epilogue="""\
Examples:
  flowdsl logs @latest
  flowdsl logs sentiment-x7k2p train -f
  flowdsl logs sentiment-x7k2p --failed
  flowdsl logs sentiment-x7k2p --grep 'loss|error' --since 10m --timestamps
  flowdsl logs sentiment-x7k2p "runs.train(3)" > train.log""",
)
def logs_command(
    name: str,
    step: str | None = None,
    /,
    *,
    follow: Annotated[bool, option("--follow", "-f")] = False,
    failed: Annotated[bool, FLAG] = False,
    since: str | None = None,
    tail: int | None = None,
    grep: str | None = None,
    timestamps: Annotated[bool, FLAG] = False,
    prefix: bool | None = None,
    container: Annotated[str | None, Parameter(name=["--container", "-c"])] = None,
    all_containers: Annotated[bool, FLAG] = False,
    reach: Reach = USUAL,
) -> int:
    """Show what the steps of a run printed, on a cluster or on this machine.

    Several logs are merged by time, and each line names its step. A single log is shown byte for byte.
    Ctrl-C ends the command, not the run.

    Parameters
    ----------
    name
        The run, or @latest.
    step
        Only this step, or what is in this loop or sub-pipeline; or a pod. Without it: all.
    follow
        Also show what is printed from now on, until the run has ended.
    failed
        Only steps that failed, with their last attempts. With -f, when the run has ended.
    since
        Only lines that are not older: 5m, or 2026-11-21T12:00:00Z.
    tail
        Only the last N lines of each log.
    grep
        Only lines in which this regular expression is found.
    timestamps
        Begin lines with their times.
    prefix
        Name the step of each line. By default, if there are several logs.
    container
        A container other than main.
    all_containers
        All containers of each step.
    """
    from flowdsl.cli.runs.logs import Options, show

    options = Options(
        step=step,
        follow=follow,
        failed=failed,
        since=since,
        tail=tail,
        grep=grep,
        timestamps=timestamps,
        prefix=prefix,
        container=container,
        all_containers=all_containers,
    )
    return show(name, options, reach)
