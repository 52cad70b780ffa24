"""The command line in the process of a test, and as a process of its own."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from flowdsl.cli.app import run

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


class Result(NamedTuple):
    code: int
    out: str
    err: str


class Terminal(io.StringIO):
    """A terminal with input from a user."""

    def isatty(self) -> bool:
        return True


def in_process(capsys: pytest.CaptureFixture[str], *first: str) -> Callable[..., Result]:
    """Runs commands that begin with these words, and returns what each has written."""

    def command(*arguments: str) -> Result:
        capsys.readouterr()
        code = run((*first, *arguments))
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return command


def process(*arguments: str, **options: object) -> subprocess.Popen[str]:
    """The command as a process of its own."""
    command = [sys.executable, "-m", "flowdsl.cli", *arguments]
    settings: dict[str, object] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(command, text=True, encoding="utf-8", **settings)  # type: ignore[call-overload, no-any-return]


def finished(*arguments: str, **options: object) -> Result:
    """What the command as a process of its own has written in the end."""
    with process(*arguments, **options) as child:
        out, err = child.communicate(timeout=120)
        return Result(child.returncode, out, err)
