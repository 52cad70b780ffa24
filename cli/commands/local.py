"""Commands that run on this machine: `run`."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from flowdsl.cli.process import Refused
from flowdsl.cli.root import (
    FLAG,
    PARAMETERS,
    SEVERAL,
    ClusterOption,
    FileArgument,
    JsonOption,
    OnlyJsonOption,
    app,
    in_json,
    option,
)


@app.command(
    name="run",
    help_epilogue="""\
Examples:
  flowdsl run pipeline.py
  flowdsl run pipeline.py -p epochs=2 --mount datasets=./data
  flowdsl run pipeline.py --fake train=0.93
  flowdsl run pipeline.py --from evaluate
  flowdsl run workflow.yaml templates.yaml
  flowdsl run --resume sentiment-x7k2p""",
)
def run_command(
    file: FileArgument | None = None,
    /,
    *files: FileArgument,
    parameter: Annotated[list[str], PARAMETERS] | None = None,
    mount: Annotated[list[str], SEVERAL] | None = None,
    artifact: Annotated[list[str], SEVERAL] | None = None,
    config_map: Annotated[list[str], SEVERAL] | None = None,
    secret: Annotated[list[str], SEVERAL] | None = None,
    fake: Annotated[list[str], SEVERAL] | None = None,
    only: str | None = None,
    since: Annotated[str | None, Parameter(name="--from")] = None,
    earlier: Annotated[str | None, Parameter(name="--of")] = None,
    resume: str | None = None,
    name: str | None = None,
    python: str | None = None,
    engine: Literal["docker", "podman"] | None = None,
    kubectl: Annotated[bool, FLAG] = False,
    approve: Annotated[bool, FLAG] = False,
    quiet: Annotated[bool, option("--quiet", "-q")] = False,
    as_json: JsonOption = False,
    output: OnlyJsonOption = None,
    cluster: ClusterOption = None,
) -> int:
    """Run a pipeline, or any Argo workflow, on this machine.

    The compiled manifest is executed with Argo's own semantics, one process per step.
    Exit 0 if the run succeeded, 1 if it failed, 2 if it was refused, 4 if it waits for somebody.

    Parameters
    ----------
    file
        FILE of Python, YAML or JSON, or FILE:NAME for one of its pipelines or workflows.
    files
        YAML or JSON with templates that the workflow refers to.
    parameter
        NAME=VALUE, a parameter of the pipeline, by its type: lists and records as JSON, files as paths.
    mount
        CLAIM=PATH, the folder that a persistent volume claim stands for. Else one in .flowdsl/volumes.
    artifact
        NAME=PATH, the file that stands for an input artifact, by its name or key.
    config_map
        NAME=PATH, the data of a ConfigMap: a folder with a file for each key, or a file of KEY=VALUE.
    secret
        NAME=PATH, the data of a Secret, likewise.
    fake
        STEP=VALUE or STEP.OUTPUT=VALUE: do not run the step, take this for its output.
    only
        Run this step alone, with the inputs that it had in an earlier run.
    since
        Run this step and what follows it; the results of the others are taken from an earlier run.
    earlier
        The earlier run, by its name or @latest; else the last one of this workflow.
    resume
        Continue an interrupted run, by its name or @latest: what was done is not done again.
    name
        The name of the run; else that of the workflow with five letters.
    python
        The interpreter of Python steps; else the one that runs flowdsl.
    engine
        Run the images of the steps, with this program. Without it, programs of this machine are run.
    kubectl
        Let steps that apply Kubernetes objects do so, with kubectl.
    approve
        Resume suspended steps without asking; one that needs an answer takes it from --fake.
    quiet
        Show the end only.
    as_json
        Show the end as JSON; -o json is the same.
    """
    from flowdsl.cli.pipelines.compiling import Target
    from flowdsl.cli.runs.options import Options
    from flowdsl.cli.runs.running import resume_run, run_files

    options = Options(
        parameters=parameter or (),
        mounts=mount or (),
        artifacts=artifact or (),
        config_maps=config_map or (),
        secrets=secret or (),
        fakes=fake or (),
        python=python,
        engine=engine,
        kubectl=kubectl,
        approve=approve,
        quiet=quiet,
        json=in_json(output, as_json=as_json),
        name=name,
        only=only,
        since=since,
        earlier=earlier,
    )
    if resume is not None:
        if file is not None:
            raise Refused("--resume continues a run as it was begun: leave out the file")
        if cluster is not None:
            raise Refused("--resume continues a run as it was begun: leave out --cluster")
        return resume_run(resume, options)
    if file is None:
        raise Refused("name a file to run, or continue a run: --resume NAME")
    return run_files([str(one) for one in (file, *files)], options, Target(cluster))
