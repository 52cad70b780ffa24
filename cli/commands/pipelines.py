"""Commands about source files: `init`, `compile`, `check`, `import`, `graph`, and completion."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from flowdsl.cli.completion import Shell, install
from flowdsl.cli.process import Refused
from flowdsl.cli.root import (
    FLAG,
    PARAMETERS,
    SEVERAL,
    WRITTEN,
    ClusterOption,
    FileArgument,
    FolderArgument,
    FormatOption,
    FurtherArgument,
    OutputOption,
    OutputOrFolderOption,
    VersionOption,
    app,
)
from flowdsl.compiler.written_as import Kind


@app.command(
    name="init",
    help_epilogue="""\
Examples:
  flowdsl init
  flowdsl init training""",
)
def init_command(folder: FolderArgument = Path(), /) -> int:
    """Write the first files of a project: a working pipeline, its test, and settings.

    Existing files are not overwritten.

    Parameters
    ----------
    folder
        Where they go; without it, the current folder.
    """
    from flowdsl.cli.pipelines.starting import start

    return start(folder)


@app.command(
    name="compile",
    help_epilogue="""\
Examples:
  flowdsl compile pipeline.py
  flowdsl compile pipeline.py:nightly -o nightly.yaml
  flowdsl compile pipeline.py --as template | kubectl apply -f -
  flowdsl compile pipeline.py --cluster gke -o gke.yaml
  flowdsl compile pipeline.py -p name=ada | kubectl create -f -
  flowdsl compile pipelines/ --as template -o deploy/ --prune
  flowdsl compile pipeline.py --check""",
)
def compile_command(
    file: FileArgument,
    /,
    *files: FurtherArgument,
    output: OutputOrFolderOption = None,
    check: Annotated[bool, FLAG] = False,
    prune: Annotated[bool, FLAG] = False,
    kind: Annotated[Kind | None, Parameter(name="--as")] = None,
    with_rbac: Annotated[bool, FLAG] = False,
    parameter: Annotated[list[str], PARAMETERS] | None = None,
    cluster: ClusterOption = None,
    argo_version: VersionOption = None,
    explain_cache: Annotated[bool, FLAG] = False,
    format: FormatOption = "text",
) -> int:
    """Write the Argo YAML of the pipelines in a file.

    The YAML goes to standard output, findings go to standard error.
    Nothing is written when there is an error.

    Parameters
    ----------
    file
        FILE, or FILE:NAME for one of its pipelines; or a folder. Without a name: all that no other one calls.
    files
        More files; the YAML of each goes to a file of its own in the folder of -o.
    output
        The file to write, or a folder: for FILE.yaml, or NAME.yaml. It is not touched if its content is the same.
    check
        Write nothing, show what would change in the file of -o (else FILE with .yaml for .py).
        Exit 1 if anything would.
    prune
        Also remove what was compiled into the folder of -o earlier and is not now, as for pipelines that are gone.
    kind
        A Workflow to create, or a WorkflowTemplate, ClusterWorkflowTemplate or CronWorkflow to apply.
        Without it: a CronWorkflow for a pipeline with a schedule, else a Workflow.
    with_rbac
        Also write the service accounts, roles and role bindings that they need.
    parameter
        NAME=VALUE, a parameter of the pipeline, by its type; a file as its key, or its path on the volume.
    explain_cache
        Show what the keys of cached steps are made of instead; as JSON with --format json.
    """
    from flowdsl.cli.pipelines import compiling

    supply = None
    several = bool(files) or file.is_dir()
    if several and (parameter or explain_cache):
        word = "-p" if parameter else "--explain-cache"
        raise Refused(f"{word} is for one FILE: compile the others by themselves")
    if parameter:
        from flowdsl.cli.runs.parameters import supplying

        supply = supplying(parameter)
    goal = compiling.Target(cluster, argo_version)
    judging = partial(compiling.judge, kind=kind, with_rbac=with_rbac, goal=goal, supply=supply)
    if explain_cache:
        if output is not None or check:
            raise Refused(
                "--explain-cache shows what keys are made of, and writes no YAML: leave out -o and --check"
            )
        return compiling.explain_cache(file, judging, format)
    folder = output if output is not None and output.is_dir() else None
    if prune and folder is None:
        raise Refused("--prune removes files from the folder of -o: name one")
    if several or folder is not None:
        if output is not None and folder is None:
            raise Refused(
                f"-o {output}: the YAML of several files goes to a folder; there is none of this name"
            )
        from flowdsl.cli.pipelines.several import compile_files

        return compile_files((file, *files), judging, folder=folder, check=check, prune=prune, format=format)
    return compiling.compile_file(file, judging, output=output, check=check, format=format)


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
    file: FileArgument,
    /,
    *files: FileArgument,
    kind: Annotated[Kind | None, Parameter(name="--as")] = None,
    cluster: ClusterOption = None,
    argo_version: VersionOption = None,
    format: FormatOption = "text",
    select: Annotated[list[str], SEVERAL] | None = None,
    ignore: Annotated[list[str], SEVERAL] | None = None,
    strict: Annotated[bool, FLAG] = False,
) -> int:
    """Find what is wrong with pipelines and workflows, without writing anything.

    Findings go to standard output. Exit 0 without errors, 2 with errors.

    Parameters
    ----------
    file
        FILE, or FILE:NAME for one of its pipelines; YAML or JSON with Argo workflows;
        a folder of such files; or - for standard input.
    files
        More files. References between their templates are followed.
    kind
        What pipelines become; see flowdsl compile.
    select
        Only findings with these codes, or whose codes begin like this.
    ignore
        No findings with these codes, or whose codes begin like this.
    strict
        Treat warnings as errors.
    """
    from flowdsl.cli.pipelines.checking import check_files
    from flowdsl.cli.pipelines.compiling import Target

    return check_files(
        [str(one) for one in (file, *files)],
        kind=kind,
        goal=Target(cluster, argo_version),
        format=format,
        select=select or (),
        ignore=ignore or (),
        strict=strict,
    )


@app.command(
    name="import",
    help_epilogue="""\
Examples:
  flowdsl import workflow.yaml
  flowdsl import workflow.yaml -o pipeline.py
  kubectl get workflowtemplate train -o yaml | flowdsl import -""",
)
def import_command(
    file: FileArgument,
    /,
    *,
    output: OutputOption = None,
    format: FormatOption = "text",
) -> int:
    """Write a Python pipeline that does what the YAML of a workflow does.

    Python goes to standard output, findings go to standard error.
    What a pipeline cannot express is an error, and then nothing is written.

    Parameters
    ----------
    file
        YAML or JSON with Workflows, WorkflowTemplates, ClusterWorkflowTemplates or CronWorkflows;
        or - for standard input.
    output
        The file to write. Existing files are not overwritten.
    """
    from flowdsl.cli.pipelines.importing import import_file

    return import_file(str(file), output=output, format=format)


_OTHER_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf")


@app.command(
    name="graph",
    help_epilogue="""\
Examples:
  flowdsl graph pipeline.py
  flowdsl graph pipeline.py --as dot | dot -Tpdf -o pipeline.pdf
  flowdsl graph pipeline.py:nightly --svg nightly.svg
  flowdsl graph workflow.yaml --svg workflow.svg""",
)
def graph_command(
    file: FileArgument,
    /,
    *,
    language: Annotated[Literal["mermaid", "dot"], Parameter(name="--as")] = "mermaid",
    output: OutputOption = None,
    svg: Annotated[Path | None, WRITTEN] = None,
    cluster: ClusterOption = None,
) -> int:
    """Draw the tasks of pipelines and workflows, and what they wait for.

    Parameters
    ----------
    file
        FILE of Python, YAML or JSON, or FILE:NAME for one of its pipelines or workflows; or - for
        standard input. Without a name: all pipelines that no other one calls, or all workflows.
    language
        The language of the drawing.
    output
        The file to write; without it, the drawing goes to standard output.
    svg
        Write a picture to this file instead. Needs an extra: pip install 'flowdsl[svg]'
    """
    from flowdsl.cli.pipelines.compiling import Target
    from flowdsl.cli.pipelines.drawing import draw

    if output is not None and svg is not None:
        raise Refused("-o writes a drawing in words, --svg a picture: choose one of them")
    if output is not None and output.suffix.lower() in (".svg", *_OTHER_PICTURES):
        raise Refused(f"-o {output}: a picture is written by --svg {output.with_suffix('.svg')}")
    if svg is not None and svg.suffix.lower() in _OTHER_PICTURES:
        raise Refused(f"--svg {svg}: the picture is SVG: name {svg.with_suffix('.svg')}, and convert that")
    return draw(file, language=language, output=output, svg=svg, goal=Target(cluster))


@app.command(
    name="--install-completion",
    help_epilogue="""\
Examples:
  flowdsl --install-completion
  flowdsl --install-completion --shell zsh --output ~/.zfunc/_flowdsl""",
)
def completion_command(*, shell: Shell | None = None, output: Annotated[Path | None, WRITTEN] = None) -> int:
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
    return install(app, shell, output)
