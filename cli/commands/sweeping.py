"""The command that runs a pipeline at many points of a search space: `sweep`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from cyclopts import Parameter

from flowdsl.cli.clusters.reach import USUAL, Reach
from flowdsl.cli.process import Refused
from flowdsl.cli.root import (
    FLAG,
    PARAMETERS,
    SEVERAL,
    FileArgument,
    FormatOption,
    JsonOption,
    OutputOption,
    VersionOption,
    app,
    option,
    way_to_wait,
)
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
    parameter: Annotated[list[str], PARAMETERS] | None = None,
    mount: Annotated[list[str], SEVERAL] | None = None,
    artifact: Annotated[list[str], SEVERAL] | None = None,
    config_map: Annotated[list[str], SEVERAL] | None = None,
    secret: Annotated[list[str], SEVERAL] | None = None,
    python: str | None = None,
    quiet: Annotated[bool, option("--quiet", "-q")] = False,
    as_json: JsonOption = False,
    name: str | None = None,
    submit_id: Annotated[str | None, Parameter(name="--id")] = None,
    wait: Annotated[bool, FLAG] = False,
    watch: Annotated[bool, FLAG] = False,
    timeout: str | None = None,
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
    parameter
        NAME=VALUE, with --run or --submit: a parameter of the sweep.
    mount
        CLAIM=PATH, with --run: the folder that a persistent volume claim stands for.
    artifact
        NAME=PATH, with --run: the file that stands for an input artifact, by its name or key.
    config_map
        NAME=PATH, with --run: the data of a ConfigMap, as `flowdsl run` takes it.
    secret
        NAME=PATH, with --run: the data of a Secret, likewise.
    python
        With --run: the interpreter of Python steps; else the one that runs flowdsl.
    quiet
        With --run: show the end only.
    as_json
        With --run: show the end as JSON; with --submit: the new run.
    name
        With --run or --submit: the name of the run.
    submit_id
        With --submit: the same sweep with the same id is one run, however often it is submitted.
    wait
        With --submit: wait until it has ended.
    watch
        With --submit: wait, and show its steps meanwhile.
    timeout
        With --wait or --watch: how long to wait: 90s, 20m or 6h.
    """
    from flowdsl.cli.pipelines.compiling import Target, compile_file, judge
    from flowdsl.compiler.sweeping import Search

    asked = Search(spaces, metric, trials, parallel, search, search_image, seed, min_success)
    goal = Target(reach.cluster, argo_version)
    if (run or submit) and (output is not None or check or kind is not None or (run and submit)):
        raise Refused("write the YAML (-o, --check, --as), or --run it, or --submit it: one of them")
    here = {
        "--mount": mount,
        "--artifact": artifact,
        "--config-map": config_map,
        "--secret": secret,
        "--python": python,
        "--quiet": quiet,
    }
    chosen = {"--run": run, "--submit": submit}
    for word, given, needed in (
        ("-p", parameter, ("--run", "--submit")),
        ("--name", name, ("--run", "--submit")),
        ("--json", as_json, ("--run", "--submit")),
        ("--id", submit_id, ("--submit",)),
        ("--wait", wait, ("--submit",)),
        ("--watch", watch, ("--submit",)),
        ("--timeout", timeout is not None, ("--submit",)),
        *((word, given, ("--run",)) for word, given in here.items()),
    ):
        if given and not any(chosen[one] for one in needed):
            raise Refused(f"{word} is for a run: add {' or '.join(needed)}")
    after = way_to_wait(timeout, wait=wait, watch=watch)
    if run:
        from flowdsl.cli.runs.options import Options
        from flowdsl.cli.runs.running import run_files

        options = Options(
            parameters=parameter or (),
            mounts=mount or (),
            artifacts=artifact or (),
            config_maps=config_map or (),
            secrets=secret or (),
            python=python,
            quiet=quiet,
            json=as_json,
            name=name,
        )
        return run_files((str(file),), options, goal, asked)
    if submit:
        from flowdsl.cli.runs import submitting

        wanted = submitting.Options(
            parameters=parameter or (),
            name=name or "",
            id=submit_id or "",
            after=after,
            timeout=timeout,
            output="json" if as_json else "name",
        )
        return submitting.submit_file(str(file), wanted, reach, goal, asked)
    if check and output is None:
        raise Refused("--check compares a file: name it with -o")
    judging = partial(judge, kind=kind, goal=goal, search=asked)
    return compile_file(file, judging, output=output, check=check, format=format)
