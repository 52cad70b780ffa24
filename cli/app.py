"""Commands and their options."""

from __future__ import annotations

import errno
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from flowdsl import __version__
from flowdsl.cli.completion import Shell
from flowdsl.cli.process import BUG, DONE, INTERRUPTED, STDIN, WRONG, Refused, err, mute, out
from flowdsl.cli.report import Format

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclopts import CycloptsError

app = App(
    name="flowdsl",
    help="Pipelines in Python, compiled to Argo Workflows.",
    help_epilogue="""\
Example:
  flowdsl compile pipeline.py -o pipeline.yaml

flowdsl COMMAND --help shows the options of a command, and examples.

Exit codes: 0 done, 1 the answer is no (compile --check found a difference,
a run failed), 2 the input is wrong, 4 a run waits for somebody,
70 a bug of flowdsl, 130 interrupted.""",
    version=__version__,
    help_format="plaintext",
    result_action="return_value",
    suppress_keyboard_interrupt=False,  # `run` answers for it
)

Kind = Literal["workflow", "template", "cluster-template", "cron"]
FormatOption = Annotated[Format, Parameter(help="How findings are shown.")]
ClusterOption = Annotated[str | None, Parameter(help="A cluster of the project's settings.")]
VersionOption = Annotated[
    Literal["3.6", "3.7", "4.0", "4.1"] | None,
    Parameter(help="A version of Argo; else that of the cluster, or 4.1."),
]
_FLAG = Parameter(negative="", show_default=False)
_SEVERAL = Parameter(negative="", show_default=False)
_PARAMETER = Parameter(name=["--parameter", "-p"], negative="", show_default=False)


@app.command(
    name="compile",
    help_epilogue="""\
Examples:
  flowdsl compile pipeline.py
  flowdsl compile pipeline.py:nightly -o nightly.yaml
  flowdsl compile pipeline.py --as template | kubectl apply -f -
  flowdsl compile pipeline.py --cluster gke -o gke.yaml
  flowdsl compile pipeline.py --check""",
)
def compile_command(
    file: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    check: Annotated[bool, _FLAG] = False,
    kind: Annotated[Kind | None, Parameter(name="--as")] = None,
    with_rbac: Annotated[bool, _FLAG] = False,
    cluster: ClusterOption = None,
    argo_version: VersionOption = None,
    explain_cache: Annotated[bool, _FLAG] = False,
    format: FormatOption = "text",
) -> int:
    """Write the Argo YAML of the pipelines in a file.

    The YAML goes to standard output, findings go to standard error.
    Nothing is written when there is an error.

    Parameters
    ----------
    file
        FILE, or FILE:NAME for one of its pipelines. Without a name: all that no other one calls.
    output
        The file to write. It is left alone when its content is the same.
    check
        Write nothing, show what would change in the file of -o (else FILE with .yaml for .py).
        Exit 1 if anything would.
    kind
        A Workflow to create, or a WorkflowTemplate, ClusterWorkflowTemplate or CronWorkflow to apply.
        Without it: a CronWorkflow for a pipeline with a schedule, else a Workflow.
    with_rbac
        Write the accounts, roles and bindings that they need besides.
    explain_cache
        Show instead what the keys of cached steps are made of. With --format json as JSON.
    """
    from flowdsl.cli.compiling import Target, compile_file

    goal = Target(cluster, argo_version)
    return compile_file(
        file,
        output=output,
        check=check,
        kind=kind,
        with_rbac=with_rbac,
        goal=goal,
        format=format,
        explain=explain_cache,
    )


@app.command(
    name="check",
    help_epilogue="""\
Examples:
  flowdsl check pipeline.py
  flowdsl check pipelines/ manifests/ --strict
  kustomize build . | flowdsl check -
  flowdsl check workflow.yaml --format sarif
  flowdsl check pipeline.py --ignore FD217,FD5""",
)
def check_command(
    file: str,
    /,
    *files: str,
    cluster: ClusterOption = None,
    argo_version: VersionOption = None,
    format: FormatOption = "text",
    select: Annotated[list[str], Parameter(negative="", show_default=False)] | None = None,
    ignore: Annotated[list[str], Parameter(negative="", show_default=False)] | None = None,
    strict: Annotated[bool, _FLAG] = False,
) -> int:
    """Find what is wrong with pipelines and workflows, without writing anything.

    Findings go to standard output. Exit 0 without errors, 2 with errors.

    Parameters
    ----------
    file
        FILE, or FILE:NAME for one of its pipelines; YAML or JSON with workflows of Argo;
        a folder of such files; or - for YAML on standard input.
    files
        More of them. Templates that they use of each other are followed.
    select
        Only findings with these codes, or codes that begin so.
    ignore
        No findings with these codes, or codes that begin so.
    strict
        Warnings count as errors do.
    """
    from flowdsl.cli.checking import check_files
    from flowdsl.cli.compiling import Target

    return check_files(
        (file, *files),
        goal=Target(cluster, argo_version),
        format=format,
        select=select or (),
        ignore=ignore or (),
        strict=strict,
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
    file: str | None = None,
    /,
    *files: str,
    parameter: Annotated[list[str], Parameter(name=["--parameter", "-p"], negative="", show_default=False)]
    | None = None,
    mount: Annotated[list[str], _SEVERAL] | None = None,
    artifact: Annotated[list[str], _SEVERAL] | None = None,
    config_map: Annotated[list[str], _SEVERAL] | None = None,
    secret: Annotated[list[str], _SEVERAL] | None = None,
    fake: Annotated[list[str], _SEVERAL] | None = None,
    only: str | None = None,
    since: Annotated[str | None, Parameter(name="--from")] = None,
    earlier: Annotated[str | None, Parameter(name="--of")] = None,
    resume: str | None = None,
    name: str | None = None,
    python: str | None = None,
    engine: Literal["docker", "podman"] | None = None,
    kubectl: Annotated[bool, _FLAG] = False,
    approve: Annotated[bool, _FLAG] = False,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="", show_default=False)] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="", show_default=False)] = False,
    cluster: ClusterOption = None,
) -> int:
    """Run a pipeline, or any workflow of Argo, on this machine.

    The compiled manifest is executed with Argo's own semantics, one process per step.
    Exit 0 if the run succeeded, 1 if it failed, 2 if it was refused, 4 if it waits for somebody.

    Parameters
    ----------
    file
        FILE, or FILE:NAME for one of its pipelines; or YAML or JSON with a workflow.
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
        Run this step and what follows it; what the others gave is taken from an earlier run.
    earlier
        The earlier run, by its name; else the last one of this workflow.
    resume
        Go on with a run that was interrupted: nothing that was done is done again.
    name
        The name of the run; else that of the workflow with five letters.
    python
        The interpreter of Python steps; else the one that runs flowdsl.
    engine
        Run the images of the steps, with this program. Without it, programs of this machine are run.
    kubectl
        Let steps that apply Kubernetes objects do so, with kubectl.
    approve
        Let suspended steps go on, without asking; one that needs an answer takes it from --fake.
    quiet
        Show the end only.
    as_json
        Show the end as JSON.
    """
    from flowdsl.cli.compiling import Target
    from flowdsl.cli.running import Options, resume_run, run_files

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
        json=as_json,
        name=name,
        only=only,
        since=since,
        earlier=earlier,
    )
    if resume is not None:
        if file is not None:
            raise Refused("--resume goes on with a run as it was begun: leave out the file")
        return resume_run(resume, options)
    if file is None:
        raise Refused("name a file to run, or go on with a run: --resume NAME")
    return run_files((file, *files), options, Target(cluster))


@app.command(
    name="graph",
    help_epilogue="""\
Examples:
  flowdsl graph pipeline.py
  flowdsl graph pipeline.py --as dot | dot -Tpdf -o pipeline.pdf
  flowdsl graph pipeline.py:nightly --svg nightly.svg""",
)
def graph_command(
    file: Path,
    /,
    *,
    language: Annotated[Literal["mermaid", "dot"], Parameter(name="--as")] = "mermaid",
    svg: Path | None = None,
    cluster: ClusterOption = None,
) -> int:
    """Draw the tasks of pipelines and what they wait for.

    Parameters
    ----------
    file
        FILE, or FILE:NAME for one of its pipelines. Without a name: all that no other one calls.
    language
        The language of the drawing, which goes to standard output.
    svg
        Write a picture to this file instead. Needs an extra: pip install 'flowdsl[svg]'
    """
    from flowdsl.cli.compiling import Target
    from flowdsl.cli.drawing import draw

    return draw(file, language=language, svg=svg, goal=Target(cluster))


@app.command(
    name="--install-completion",
    help_epilogue="""\
Examples:
  flowdsl --install-completion
  flowdsl --install-completion --shell zsh --output ~/.zfunc/_flowdsl""",
)
def completion_command(*, shell: Shell | None = None, output: Path | None = None) -> int:
    """Let the shell complete commands, options and files.

    Writes a script to where the shell looks for it and, for bash, zsh and
    PowerShell, a line that loads it to the file that is read at the start.

    Parameters
    ----------
    shell
        The shell; without it, the one in use.
    output
        Write the script to this file, and nothing else.
    """
    from flowdsl.cli.completion import install

    return install(app, shell, output)


def run(arguments: Sequence[str]) -> int:
    """Run one command; the exit code."""
    from cyclopts import CycloptsError

    try:
        try:
            given = [STDIN if argument == "-" else argument for argument in arguments]
            answer: Any = app(given, exit_on_error=False, print_error=False)
            out("")  # what cyclopts printed
            return answer if isinstance(answer, int) else DONE
        except CycloptsError as error:
            err(_usage(error))
        except Refused as error:
            err(f"flowdsl: {error}\n")
        return WRONG
    except KeyboardInterrupt:
        err("flowdsl: interrupted\n")
        return INTERRUPTED
    except SystemExit:
        return DONE  # the reader of a help page has gone: rich ends the process then
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            mute(sys.stdout)
            err(f"flowdsl: {error.strerror}\n")
            return WRONG
        from flowdsl.cli.report import internal_error

        err(internal_error(error) + "\n")
        return BUG


def _usage(error: CycloptsError) -> str:
    """What is wrong with the arguments, and where to read how they are right."""
    from cyclopts.exceptions import MissingArgumentError, UnusedCliTokensError

    command = " ".join(("flowdsl", *(error.command_chain or ())))
    text = str(error).rstrip()
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        text = f"`{error.unused_tokens[0]}` is one argument too many"
    elif isinstance(error, MissingArgumentError) and error.argument is not None:
        name = error.keyword or error.argument.name
        text = f"{name} needs a value" if name.startswith("-") else f"{name} is missing"
    return f"flowdsl: {text}\n{command} --help shows what it takes\n"
