"""Commands that show the logs of runs: `logs`."""

from __future__ import annotations

from flowdsl.cli.clusters.reach import USUAL, Reach
from flowdsl.cli.root import app
from flowdsl.cli.runs.logs import DEFAULTS, Options, show


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
    options: Options = DEFAULTS,
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
    """
    return show(name, step, options, reach)
