"""The command that runs a pipeline at many points of a search space: `sweep`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Literal

from cyclopts import Parameter

from flowdsl.cli.clusters.reach import USUAL, Reach
from flowdsl.cli.process import Refused
from flowdsl.cli.root import (
    FLAG,
    FileArgument,
    FormatOption,
    JsonOption,
    OutputOption,
    VersionOption,
    app,
    written,
)
from flowdsl.cli.runs.options import HERE, THERE, UNNAMED, New, Options, Submission
from flowdsl.compiler.written_as import Unscheduled
from flowdsl.space import Kind


@app.command(
    name="sweep",
    help_epilogue="""\
Examples:
  flowdsl sweep train.py rate=0.1,0.01 layers=2,4 --metric loss:min
  flowdsl sweep train.py 'rate=loguniform(1e-4,1)' --trials 9 --metric acc:max
  flowdsl sweep train.py rate=0.1,1 --metric loss:min --run --mount data=./data
  flowdsl sweep train.py:nightly rate=0.1,1 --metric loss:min --submit --watch""",
)
def sweep_command(
    file: FileArgument,
    /,
    *spaces: str,
    metric: str,
    trials: int | None = None,
    parallel: int | None = None,
    search: Kind | None = None,
    search_image: str | None = None,
    seed: int | None = None,
    min_success: int | None = None,
    output: OutputOption = None,
    check: Annotated[bool, FLAG] = False,
    kind: Annotated[Literal[Unscheduled, "katib"] | None, Parameter(name="--as")] = None,
    run: Annotated[bool, FLAG] = False,
    submit: Annotated[bool, FLAG] = False,
    new: Annotated[New, Parameter(group="With --run or --submit")] = UNNAMED,
    as_json: Annotated[JsonOption, Parameter(group="With --run or --submit")] = False,
    here: Annotated[Options, Parameter(group="With --run")] = HERE,
    there: Annotated[Submission, Parameter(group="With --submit")] = THERE,
    argo_version: VersionOption = None,
    format: FormatOption = "text",
    reach: Reach = USUAL,
) -> int:
    """Try a pipeline at many points: write the YAML, run it here, or submit it.

    Each trial is a run of the whole pipeline.
    The YAML goes to standard output, findings go to standard error.

    Parameters
    ----------
    file
        FILE, or FILE:NAME for one of its pipelines or steps. Without a name: the only one.
    spaces
        NAME=SPACE, the values to try for a parameter: loguniform(low,high), uniform(low,high), integer(low,high),
        quniform(low,high,step), normal(mean,deviation), choice(...), or values separated by commas.
        `if layers>3` after it limits it to such points.
        Parameters that are not named become parameters of the sweep.
    metric
        The metric to optimize, NAME:max or NAME:min for a value that the trial returns;
        max or min if it returns only one.
    trials
        How many points to draw. Without it: every combination.
    parallel
        The most trials at a time.
    search
        Draw points at random, or more evenly by Sobol's sequence, or take every combination;
        tpe and gp learn from earlier trials.
    search_image
        The image of a search that learns. tpe needs Optuna, and installs it if no image is named;
        gp, a Gaussian process, also needs SciPy and PyTorch.
    seed
        The random seed; another one draws other points. 0 by default.
    min_success
        The run fails with fewer usable trials than this. 1 by default.
    output
        The file to write. It is not touched if its content is the same.
    check
        Write nothing, show what would change in the file of -o. Exit 1 if anything would.
    kind
        A Workflow to create, or a WorkflowTemplate or ClusterWorkflowTemplate to apply;
        katib is an Experiment of Katib, which draws the points itself and starts a Workflow for each.
    run
        Run it on this machine instead of writing it.
    submit
        Submit it instead of writing it; the name of the run goes to standard output.
    as_json
        Show the end of the run as JSON, or the new run.
    """
    from flowdsl.cli.pipelines.compiling import Target, compile_file, judge
    from flowdsl.compiler.sweeping import Search

    asked = Search(spaces, metric, trials, parallel, search, search_image, seed, min_success)
    goal = Target(reach.cluster, argo_version)
    if (run or submit) and (output is not None or check or kind is not None or (run and submit)):
        raise Refused("write the YAML (-o, --check, --as), or --run it, or --submit it: one of them")
    for needed, chosen, given in (
        ("--run or --submit", run or submit, [*written(new), *(["--json"] if as_json else ())]),
        ("--run", run, written(here)),
        ("--submit", submit, written(there)),
    ):
        if given and not chosen:
            raise Refused(f"{given[0]} is for a run: add {needed}")
    if run:
        from flowdsl.cli.runs.running import run_files

        return run_files((str(file),), new, replace(here, json=as_json), goal, search=asked)
    if submit:
        from flowdsl.cli.runs.submitting import submit_file

        there = replace(there, output="json" if as_json else "name")
        return submit_file(str(file), new, there, reach, goal, asked)
    if check and output is None:
        raise Refused("--check compares a file: name it with -o")
    judging = partial(judge, kind=kind, goal=goal, search=asked)
    return compile_file(file, judging, output=output, check=check, format=format)
