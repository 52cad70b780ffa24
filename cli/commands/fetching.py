"""Commands that download what runs produced: `fetch`."""

from __future__ import annotations

from flowdsl.cli.clusters.reach import USUAL, Reach
from flowdsl.cli.root import app
from flowdsl.cli.runs.fetching import DEFAULTS, Options, fetch_run


@app.command(
    name="fetch",
    help_epilogue="""\
Examples:
  flowdsl fetch sentiment-x7k2p --list
  flowdsl fetch sentiment-x7k2p
  flowdsl fetch @latest train.model -o models
  flowdsl fetch sentiment-x7k2p 'runs(3)' --mount datasets=/mnt/datasets
  flowdsl fetch sentiment-x7k2p --endpoint http://localhost:9000""",
)
def fetch_command(
    name: str,
    /,
    *what: str,
    options: Options = DEFAULTS,
    reach: Reach = USUAL,
) -> int:
    """Bring the files and values of a run into a folder.

    Files are in FOLDER/STEP/OUTPUT, those of a round of a loop in
    FOLDER/STEP/NUMBER/OUTPUT; run.json has the values, and where everything
    comes from. What is there is not fetched again. Exit 1 if something is
    missing or was refused, 3 if a store or the cluster did not answer.

    Parameters
    ----------
    name
        A run on this machine or on the cluster; @latest is the one that was created last.
    what
        STEP, STEP.OUTPUT, or NAME.OUTPUT for what the run returns. Without it: everything.
    """
    return fetch_run(name, what, options, reach)
