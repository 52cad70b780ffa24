"""Commands that submit runs to a cluster and wait for them: `submit`, `wait`, `watch`."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from cyclopts import Parameter

from flowdsl.cli.clusters.reach import USUAL, Reach
from flowdsl.cli.process import Refused
from flowdsl.cli.root import FileArgument, JsonOption, app, in_json
from flowdsl.cli.runs.options import THERE, UNNAMED, New, Submission


@app.command(
    name="submit",
    help_epilogue="""\
Examples:
  flowdsl submit pipeline.py -p epochs=20 --wait
  flowdsl submit pipeline.py --cluster gke --watch
  flowdsl submit --from template/nightly -p day=2026-01-31
  flowdsl submit pipeline.yaml --dry-run server
  flowdsl submit pipeline.yaml --id "$CI_JOB_ID" """,
)
def submit_command(
    file: FileArgument | None = None,
    /,
    *,
    source: Annotated[str | None, Parameter(name="--from")] = None,
    new: New = UNNAMED,
    options: Submission = THERE,
    output: Annotated[Literal["name", "json", "yaml"] | None, Parameter(name=["--output", "-o"])] = None,
    as_json: JsonOption = False,
    reach: Reach = USUAL,
) -> int:
    """Submit a pipeline, or any Argo workflow, to a cluster.

    The name of the run goes to standard output. What the run needs of the
    cluster is looked for first; where something is missing, nothing is created.
    Exit 3 if nothing was created, 4 if that is unknown; with --wait, --watch
    or --logs, as for `wait`.

    Parameters
    ----------
    file
        FILE of Python, YAML or JSON, or FILE:NAME for one of its pipelines or workflows; or - for standard input.
    source
        Submit an object of the cluster: template/NAME, cluster-template/NAME or cron/NAME.
    output
        What to write about the new run; by default its name.
    as_json
        The same as -o json.
    """
    from flowdsl.cli.pipelines.compiling import Target
    from flowdsl.cli.runs.submitting import submit_file, submit_from

    options = replace(options, output="json" if in_json(output, as_json=as_json) else output or "name")
    if file is not None and source is None:
        return submit_file(str(file), new, options, reach, Target(reach.cluster))
    if source is not None and file is None:
        return submit_from(source, new, options, reach)
    raise Refused("name either a file to submit, or what the cluster has: --from template/NAME")


@app.command(
    name="wait",
    help_epilogue="""\
Examples:
  flowdsl wait sentiment-4f2a9c1b3d
  flowdsl wait @latest --timeout 6h""",
)
def wait_command(name: str, /, *, timeout: str | None = None, reach: Reach = USUAL) -> int:
    """Wait until a run has ended.

    Exit 0 if it succeeded, 1 if it failed, 4 if the contact was lost, 5 at the
    timeout, 6 if the run is gone. Ctrl-C leaves the run alone.

    Parameters
    ----------
    name
        The run, or @latest.
    timeout
        How long to wait: 90s, 20m or 6h.
    """
    from flowdsl.cli.runs.waiting import wait_for

    return wait_for(name, timeout, reach)


@app.command(
    name="watch",
    help_epilogue="""\
Examples:
  flowdsl watch sentiment-4f2a9c1b3d
  flowdsl watch @latest -n team-a""",
)
def watch_command(name: str, /, *, timeout: str | None = None, reach: Reach = USUAL) -> int:
    """Show the steps of a run until it has ended.

    A tree on a terminal, elsewhere a line for each change. The exit codes are those of `wait`.

    Parameters
    ----------
    name
        The run, or @latest.
    timeout
        How long to watch: 90s, 20m or 6h.
    """
    from flowdsl.cli.runs.waiting import wait_for

    return wait_for(name, timeout, reach, watch=True)
