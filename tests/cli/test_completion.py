"""Completion of the shell."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.files import listing, write
from tests.commands import Result

if TYPE_CHECKING:
    from collections.abc import Callable


def test_completion_is_installed(flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(Path("home").resolve()))
    Path("home").mkdir()
    code, out, err = flowdsl("--install-completion", "--shell", "bash")
    assert (code, err) == (0, "")
    script = Path("home/.local/share/bash-completion/completions/flowdsl")
    assert out == f"completion for bash: {script.resolve()}\na new shell uses it\n"
    assert str(script.resolve()) in Path("home/.bashrc").read_text(encoding="utf-8")
    write("pipeline.py", "")
    commands = ("compile", "check x", "run", "submit", "sweep", "graph", "import", "diff", "doctor x")
    asked = [("che", "check"), *((f"{one} pip", "pipeline.py") for one in commands)]
    for words, answer in (*asked, ("compile x --as t", "template")):
        text = f". '{script}'; COMP_WORDS=(flowdsl {words}); COMP_CWORD={len(words.split())}; _flowdsl"
        text += "; echo ${COMPREPLY[@]}"
        ran = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True)
        assert ran.stdout.split() == [answer]


def test_completion_goes_to_a_file(flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(Path.cwd()))
    assert flowdsl("--install-completion", "--shell", "zsh", "--output", "deep/_flowdsl").code == 0
    assert Path("deep/_flowdsl").read_text(encoding="utf-8").startswith("#compdef flowdsl")
    assert listing() == ["deep"]
    code, out, err = flowdsl("--install-completion", "--shell", "zsh", "--output", "deep/_flowdsl/x")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.endswith(("Not a directory\n", "File exists\n"))


def test_completion_for_an_unknown_shell(
    flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    from cyclopts.completion import detect

    def fail() -> str:
        raise detect.ShellDetectionError

    monkeypatch.setattr(detect, "detect_shell", fail)
    said = "flowdsl: the shell in use is unknown: name it, as --shell bash\n"
    assert flowdsl("--install-completion") == (2, "", said)
