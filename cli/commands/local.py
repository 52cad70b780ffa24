"""Commands that run on this machine: `run`."""

from __future__ import annotations

from dataclasses import replace

from flowdsl.cli.process import Refused
from flowdsl.cli.root import (
    ClusterOption,
    FileArgument,
    FurtherArgument,
    JsonOption,
    OnlyJsonOption,
    app,
    in_json,
    written,
)
from flowdsl.cli.runs.options import ANEW, HERE, UNNAMED, Again, New, Options


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
    *files: FurtherArgument,
    new: New = UNNAMED,
    again: Again = ANEW,
    options: Options = HERE,
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
    as_json
        Show the end as JSON; -o json is the same.
    """
    from flowdsl.cli.pipelines.compiling import Target
    from flowdsl.cli.runs.running import resume_run, run_files

    options = replace(options, json=in_json(output, as_json=as_json))
    if again.resume is not None:
        if file is not None:
            raise Refused("--resume continues a run as it was begun: leave out the file")
        if cluster is not None:
            raise Refused("--resume continues a run as it was begun: leave out --cluster")
        return resume_run(again.resume, written(new) + written(again), options)
    if file is None:
        raise Refused("name a file to run, or continue a run: --resume NAME")
    return run_files([str(one) for one in (file, *files)], new, options, Target(cluster), again=again)
