"""Commands about the cluster itself: `top`, `doctor`, `diff`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from flowdsl.cli.clusters.reach import USUAL, Reach
from flowdsl.cli.root import PARAMETERS, FileArgument, JsonOption, OnlyJsonOption, app, in_json, option
from flowdsl.compiler.written_as import Kind

top = App(
    name="top",
    help="Show how many GPUs nodes have, and who uses them.",
    help_epilogue="""\
Examples:
  flowdsl top node
  flowdsl top job""",
)
app.command(top)


@top.command(
    name="node",
    help_epilogue="""\
Examples:
  flowdsl top node
  flowdsl top node --details --context lab""",
)
def top_node_command(
    *,
    details: Annotated[bool, option("--details", "-d")] = False,
    reach: Reach = USUAL,
) -> int:
    """Show the GPUs of each node, and how many of them pods hold.

    A GPU is what a device plugin counts as one, of any vendor; so is a part
    of a card that has a number (MIG, time slicing). A pod holds what it asks
    for from when it has a node until it has ended.

    Parameters
    ----------
    details
        Also show the pods of each node with their GPUs.
    """
    from flowdsl.cli.runs.usage import top_nodes

    return top_nodes(reach, details=details)


@top.command(
    name="job",
    help_epilogue="""\
Examples:
  flowdsl top job
  flowdsl top job sentiment-x7k2p --instance
  flowdsl top job --all-namespaces""",
)
def top_job_command(
    *names: str,
    instance: Annotated[bool, option("--instance", "-i")] = False,
    exporter: str = "app.kubernetes.io/name=dcgm-exporter",
    all_namespaces: Annotated[bool, option("--all-namespaces", "-A")] = False,
    reach: Reach = USUAL,
) -> int:
    """Show the GPUs that unfinished runs request and hold.

    Parameters
    ----------
    names
        Only these runs.
    instance
        Show each pod with its GPUs: index, duty cycle and memory, where a DCGM exporter reports them.
    exporter
        The labels of the exporter's pods.
    all_namespaces
        The runs of all namespaces.
    """
    from flowdsl.cli.runs.usage import top_jobs

    return top_jobs(reach, names, instance=instance, everywhere=all_namespaces, selector=exporter)


@app.command(
    name="doctor",
    help_epilogue="""\
Examples:
  flowdsl doctor
  flowdsl doctor pipeline.py --cluster gke
  flowdsl doctor workflow.yaml --json""",
)
def doctor_command(
    *files: FileArgument,
    as_json: JsonOption = False,
    output: OnlyJsonOption = None,
    reach: Reach = USUAL,
) -> int:
    """Check whether a cluster has what flowdsl and pipelines need.

    A line for each thing: ok, note, problem, or unchecked where it may not
    be read; below it the command or setting that fixes it. Nothing is
    written to the cluster. Exit 0 without a problem, 1 with one, 3 if the
    cluster is out of reach.

    Parameters
    ----------
    files
        Pipelines, or workflows in YAML or JSON: what they need is checked too.
    as_json
        Show the lines as JSON: about, status, text, remedy; -o json is the same.
    """
    from flowdsl.cli.clusters.doctor import examine

    return examine(reach, [*map(str, files)], as_json=in_json(output, as_json=as_json))


@app.command(
    name="diff",
    help_epilogue="""\
Examples:
  flowdsl diff pipeline.py --as template
  flowdsl diff pipeline.py --as template -p epochs=20
  flowdsl diff workflow.yaml -n ml""",
)
def diff_command(
    file: FileArgument,
    /,
    *,
    kind: Annotated[Kind | None, Parameter(name="--as")] = None,
    parameter: Annotated[list[str], PARAMETERS] | None = None,
    reach: Reach = USUAL,
) -> int:
    """Show what would change in the cluster if a pipeline were applied.

    Compared with the object of the same kind and name; a Workflow that
    gets its name when it is created, with its newest run. What the server
    and others write is left out. Exit 0 if nothing differs, 1 if something
    does, 2 or more if that cannot be told.

    Parameters
    ----------
    file
        FILE, or FILE:NAME for one of its pipelines; or YAML or JSON with workflows.
    kind
        What a pipeline becomes; see flowdsl compile.
    parameter
        NAME=VALUE, another value for a parameter; see flowdsl compile.
    """
    from flowdsl.cli.clusters.differing import differ

    supply = None
    if parameter:
        from flowdsl.cli.runs.parameters import supplying

        supply = supplying(parameter)
    return differ(reach, str(file), kind, supply)
