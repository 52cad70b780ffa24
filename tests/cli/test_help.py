"""The help of the commands, and what is said about wrong usage. Its goldens stand beside it."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowdsl.cli.commands import load
from tests.cli.files import PIPELINE, write
from tests.commands import Result, finished
from tests.goldens import same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cyclopts import App


GOLDENS = Path(__file__).parent


def pages(app: App, *words: str) -> Iterator[tuple[str, ...]]:
    """The words of each command below an app."""
    for name in app:
        if name in ("--help", "-h", "--version"):
            continue
        if app[name].default_command is None:
            yield from pages(app[name], *words, name)
        else:
            yield (*words, name)


PAGES = {
    "help": ("--help",),
    **{f"help-{'-'.join(words).lstrip('-')}": (*words, "--help") for words in pages(load())},
}
USAGE = (
    ("compil", "pipeline.py"),
    ("unheard-of",),
    ("",),
    ("lint", "pipeline.py"),
    ("resubmit", "first"),
    ("help", "run"),
    ("version",),
    ("--unheard-of",),
    ("compile",),
    ("compile", "-"),
    ("compile", "pipeline.py", "other.py"),
    ("compile", "pipeline.py", "other.py", "-o", "a.yaml"),
    ("compile", "pipeline.py", "other.py", "--check", "-p", "name=ada"),
    ("compile", ".", "--explain-cache"),
    ("compile", "pipeline.py", "--prune"),
    ("compile", "pipeline.py", "-o", "a.yaml", "--prune"),
    ("compile", "pipeline.py", "-o", "deploy/"),
    ("compile", "pipeline.py", "-o", ""),
    ("init", ""),
    ("get", "first", "--charts", "."),
    ("graph", "pipeline.py", "-o", ".."),
    ("graph", "pipeline.py", "other.py"),
    ("compile", "pipeline.py", "--chek"),
    ("compile", "pipeline.py", "--unheard-of"),
    ("compile", "pipeline.py", "--out", "a.yaml"),
    ("compile", "pipeline.py", "rate=0.1"),
    ("compile", "pipeline.py", "nightly"),
    ("run", "pipeline.py", "nightly"),
    ("submit", "pipeline.py", "rate=0.1"),
    ("graph", "pipeline.py", "rate=0.1"),
    ("compile", "pipeline.py", "-o"),
    ("compile", "pipeline.py", "-o", "a.yaml", "-o", "b.yaml"),
    ("compile", "pipeline.py", "--as", "workflo"),
    ("compile", "pipeline.py", "--check=perhaps"),
    ("list", "--limit", "few"),
    ("list", "--since", "2"),
    ("list", "--since", "9" * 5000),
    ("wait", "first", "--timeout", "5"),
    ("list", "--status", "Failed,Eror"),
    ("delete", "-l", "", "--status", "Failed"),
    ("run", "pipeline.py", "--only", ""),
    ("run", "pipeline.py", "--from", "train", "--from", ""),
    ("check",),
    ("check", "pipeline.py", "--format", "xml"),
    ("check", "pipeline.py", "--frmat", "json"),
    ("check", "pipeline.py", "--json"),
    ("graph", "pipeline.py", "-o", "one.svg"),
    ("graph", "pipeline.py", "-o", "one.png"),
    ("graph", "pipeline.py", "--svg", "one.PNG"),
    ("graph", "pipeline.py", "-o", "one.mmd", "--svg", "one.svg"),
    ("run", "pipeline.py", "--engine", "lxc"),
    ("run", "pipeline.py", "--form", "train"),
    ("run", "pipeline.py", "--rate", "0.1"),
    ("submit", "pipeline.py", "--rate=0.1"),
    ("sweep", "pipeline.py", "--rate=0.1,1", "--metric", "loss:min"),
    ("sweep", "pipeline.py", "--resume", "first"),
    ("compile", "pipeline.py", "--watch"),
    ("run", "pipeline.py", "--namespace", "ml"),
    ("fetch", "first", "--to", "here"),
    ("graph", "pipeline.py", "--as", "svg"),
    ("graph", "pipeline.py", "--svg"),
    ("run", "pipeline.py", "--engine"),
    ("--install-completion", "--shell", "tcsh"),
    ("sweep", "pipeline.py", "rate=0.1"),
)


@pytest.mark.parametrize("columns", ["0", "2", "40"])
def test_help_in_any_width(columns: str, folder: Path) -> None:
    # In a process of its own: the console of the help keeps the width that it first had.
    code, out, err = finished("compile", "--help", env={**os.environ, "COLUMNS": columns})
    assert (code, err) == (0, "")
    assert out.startswith("Usage: flowdsl compile")


@pytest.mark.parametrize("name", PAGES)
def test_help(name: str, flowdsl: Callable[..., Result], request: pytest.FixtureRequest) -> None:
    code, out, err = flowdsl(*PAGES[name])
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert "Example" in out
    same("\n".join(line.rstrip() for line in out.splitlines()) + "\n", GOLDENS / f"{name}.txt", request)


def test_without_arguments_help_is_shown(flowdsl: Callable[..., Result]) -> None:
    assert flowdsl() == flowdsl("--help")


def test_wrong_usage(flowdsl: Callable[..., Result], request: pytest.FixtureRequest) -> None:
    said: list[str] = []
    for arguments in USAGE:
        code, out, err = flowdsl(*arguments)
        assert (code, out) == (2, "")
        said.append(f"$ flowdsl {shlex.join(arguments)}\n{err}".replace("9" * 5000, "999..."))
    same("\n".join(said), GOLDENS / "usage.txt", request)


def test_there_are_no_other_goldens() -> None:
    assert {path.stem for path in GOLDENS.glob("*.txt")} == {*PAGES, "usage"}


def test_every_example_of_the_help_is_right(flowdsl: Callable[..., Result]) -> None:
    """Each names a command and options that exist."""
    write("pipeline.py", PIPELINE.replace("greet", "nightly"))
    Path("pipelines").mkdir()
    write("pipelines/one.py", PIPELINE)
    Path("manifests").mkdir()
    Path("deploy").mkdir()
    manifest = flowdsl("compile", "pipelines/one.py").out
    for name in ("manifests/one.yaml", "workflow.yaml"):
        write(name, manifest)
    write("flowdsl.toml", "[clusters.gke]\n")
    seen = 0
    for arguments in PAGES.values():
        for line in re.findall(r"^  flowdsl (.*)$", flowdsl(*arguments).out, re.MULTILINE):
            words = shlex.split(re.split(r" [|>] ", line)[0].replace("*", "one"))
            if words[0] not in ("compile", "check", "graph"):  # they need a run, or a cluster
                load().parse_args(words, exit_on_error=False, print_error=False)
                seen += 1
            else:
                assert flowdsl(*words).code in (0, 1), line
                seen += 1
    assert seen >= 8


def test_version(flowdsl: Callable[..., Result]) -> None:
    from flowdsl import __version__

    assert flowdsl("--version") == (0, f"{__version__}\n", "")
