"""Commands about the cluster itself: `top`, `doctor`, `diff`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from flowdsl.cli.reach import USUAL, Reach
from flowdsl.cli.root import app

top = App(name="top", help="Show how many GPUs nodes have, and who uses them.")
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
    details: Annotated[bool, Parameter(name=["--details", "-d"], negative="", show_default=False)] = False,
    reach: Reach = USUAL,
) -> int:
    """Show the GPUs of each node, and how many of them pods hold.

    A GPU is what a device plugin counts as one, of any vendor; so is a part
    of a card that has a number (MIG, time slicing). A pod holds what it asks
    for from when it has a node until it has ended.

    Parameters
    ----------
    details
        Show the pods of each node with their GPUs, too.
    """
    from flowdsl.cli.usage import top_nodes

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
    instance: Annotated[bool, Parameter(name=["--instance", "-i"], negative="", show_default=False)] = False,
    exporter: str = "app.kubernetes.io/name=dcgm-exporter",
    all_namespaces: Annotated[
        bool, Parameter(name=["--all-namespaces", "-A"], negative="", show_default=False)
    ] = False,
    reach: Reach = USUAL,
) -> int:
    """Show the GPUs that runs ask for and hold, as long as they have not ended.

    Parameters
    ----------
    names
        Only these runs.
    instance
        Show each pod with its GPUs: index, duty cycle and memory, where a DCGM exporter says them.
    exporter
        The labels of the exporter's pods.
    all_namespaces
        The runs of all namespaces.
    """
    from flowdsl.cli.usage import top_jobs

    return top_jobs(reach, names, instance=instance, everywhere=all_namespaces, selector=exporter)
