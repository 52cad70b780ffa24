"""Commands that download what runs produced: `fetch`."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from flowdsl.cli.clusters.reach import USUAL, Reach
from flowdsl.cli.process import Refused
from flowdsl.cli.root import FLAG, SEVERAL, FolderOption, JsonOption, app, option


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
    output: FolderOption = None,
    list_: Annotated[bool, option("--list")] = False,
    as_json: JsonOption = False,
    mount: Annotated[list[str], SEVERAL] | None = None,
    endpoint: Annotated[str | None, Parameter(env_var="FLOWDSL_ENDPOINT", show_env_var=True)] = None,
    own_credentials: Annotated[bool, FLAG] = False,
    logs: Annotated[bool, FLAG] = False,
    unpack: Annotated[bool, Parameter(negative="--no-unpack", name="--unpack", show_default=False)] = True,
    max_size: str | None = None,
    image: str | None = None,
    jobs: int = 8,
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
        STEP, or STEP.OUTPUT. Without it: everything.
    output
        The folder; else one of the run's name.
    list_
        Show what there is, and fetch nothing.
    as_json
        With --list: as JSON.
    mount
        CLAIM=PATH, the folder that a persistent volume claim is mounted at. Else a pod reads it.
    endpoint
        The address by which the object store is reached from here.
    own_credentials
        Use the credentials of this machine, not those in the secrets of the cluster.
    logs
        Also fetch the logs that the run archived.
    unpack
        Unpack archives; --no-unpack keeps them as they are.
    max_size
        The most that one archive may unpack to, such as 200Gi. Default: 64Gi, and at most 200 times its packed size.
    image
        The image, with Python, of pods that read claims; else that of the step.
    jobs
        How many files to fetch at a time.
    """
    from flowdsl.cli.runs.fetching import Options, fetch_run

    if as_json and not list_:
        raise Refused("--json is for --list; of what is fetched run.json tells")
    options = Options(
        what=what,
        output=output,
        only_list=list_,
        json=as_json,
        mounts=mount or (),
        endpoint=endpoint,
        own=own_credentials,
        logs=logs,
        unpack=unpack,
        max_size=max_size,
        image=image,
        jobs=jobs,
    )
    return fetch_run(name, options, reach)
