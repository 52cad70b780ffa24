"""Commands that change runs: `stop`, `terminate`, `suspend`, `resume`, `retry`, `delete`."""

from __future__ import annotations

from typing import Annotated

from flowdsl.cli.clusters.reach import USUAL, Reach
from flowdsl.cli.root import FLAG, PARAMETERS, app
from flowdsl.cli.runs.selection import Manner, Selection

NOBODY = Selection()
ASKING = Manner()


@app.command(
    name="stop",
    help_epilogue="""\
Examples:
  flowdsl stop sentiment-x7k2p
  flowdsl stop -l sweep=lr --dry-run""",
)
def stop_command(
    *names: str, selection: Selection = NOBODY, manner: Manner = ASKING, reach: Reach = USUAL
) -> int:
    """Stop runs: nothing new begins, running steps are ended, and exit handlers run.

    Jobs of the run that have not ended are deleted, because they would continue without it.

    Parameters
    ----------
    names
        Runs; @latest is the last one.
    """
    from flowdsl.cli.runs.control import end

    return end("stop", names, selection, manner, reach)


@app.command(
    name="terminate",
    help_epilogue="""\
Examples:
  flowdsl terminate sentiment-x7k2p
  flowdsl terminate --all --older-than 12h --yes""",
)
def terminate_command(
    *names: str, selection: Selection = NOBODY, manner: Manner = ASKING, reach: Reach = USUAL
) -> int:
    """End runs at once, without exit handlers, and delete their jobs.

    Parameters
    ----------
    names
        Runs; @latest is the last one.
    """
    from flowdsl.cli.runs.control import end

    return end("terminate", names, selection, manner, reach)


@app.command(
    name="delete",
    help_epilogue="""\
Examples:
  flowdsl delete sentiment-x7k2p
  flowdsl delete --status Succeeded --older-than 7d --dry-run
  flowdsl delete --local --older-than 7d""",
)
def delete_command(
    *names: str,
    selection: Selection = NOBODY,
    local: Annotated[bool, FLAG] = False,
    manner: Manner = ASKING,
    reach: Reach = USUAL,
) -> int:
    """Delete runs with their pods and jobs; for a run on this machine, its folder.

    Asks before it deletes several runs, or one that has not ended; where nobody can answer, --yes is needed.

    Parameters
    ----------
    names
        Runs; @latest is the last one.
    local
        Only runs on this machine, in .flowdsl/runs of this folder.
    """
    from flowdsl.cli.runs.control import end

    return end("delete", names, selection, manner, reach, local=local)


@app.command(name="suspend", help_epilogue="Example:\n  flowdsl suspend sentiment-x7k2p")
def suspend_command(*names: str, reach: Reach = USUAL) -> int:
    """Suspend runs: nothing new begins until they are resumed. Running steps continue.

    Parameters
    ----------
    names
        Runs; @latest is the last one.
    """
    from flowdsl.cli.runs.control import suspend

    return suspend(names, reach)


@app.command(
    name="resume",
    help_epilogue="""\
Examples:
  flowdsl resume sentiment-x7k2p
  flowdsl resume sentiment-x7k2p --step release -p verdict=ship""",
)
def resume_command(
    name: str,
    /,
    *,
    parameter: Annotated[list[str], PARAMETERS] | None = None,
    step: str | None = None,
    reach: Reach = USUAL,
) -> int:
    """Resume a suspended run, from all steps at which it waits.

    Parameters
    ----------
    name
        The run; @latest is the last one.
    parameter
        NAME=VALUE, an answer that a step waits for. An answer that is left out takes its default.
    step
        Resume only this step.
    """
    from flowdsl.cli.runs.control import resume
    from flowdsl.cli.runs.parameters import untyped

    return resume(name, untyped(parameter or ()), step, reach)


@app.command(
    name="retry",
    help_epilogue="""\
Examples:
  flowdsl retry sentiment-x7k2p
  flowdsl retry sentiment-x7k2p train -p epochs=20""",
)
def retry_command(
    name: str,
    step: str | None = None,
    /,
    *,
    parameter: Annotated[list[str], PARAMETERS] | None = None,
    dry_run: Annotated[bool, FLAG] = False,
    reach: Reach = USUAL,
) -> int:
    """Run the failed steps of a run again, and what comes after them.

    Parameters
    ----------
    name
        The run; @latest is the last one.
    step
        Also run this step again, although it succeeded, and what comes after it.
    parameter
        NAME=VALUE, another value for a parameter of the run. Steps that are not run again keep the old one.
    dry_run
        Show which steps would run again, and do nothing.
    """
    from flowdsl.cli.runs.control import retry
    from flowdsl.cli.runs.parameters import untyped

    return retry(name, step, untyped(parameter or ()), dry_run, reach)
