"""The files that `flowdsl init` writes: they compile, run, pass their test and have types."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flowdsl.cli.app import run as flowdsl

ROOT = Path(__file__).resolve().parents[1]
FILES = {".gitignore", "flowdsl.toml", "pipeline.py", "test_pipeline.py"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_written_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert flowdsl(["init"]) == 0
    assert {one.name for one in folder.iterdir()} == FILES
    for line in (
        ["check", "."],
        ["compile", "pipeline.py", "--cluster", "onprem", "-o", "pipeline.yaml"],
        ["run", "pipeline.py", "-q"],
        ["sweep", "pipeline.py", "rate=0.001,0.1", "--metric", "max", "--run"],
    ):
        assert flowdsl(line) == 0, capsys.readouterr().err


def test_its_test_passes_and_it_has_types(folder: Path) -> None:
    assert flowdsl(["init", "training"]) == 0
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder / "training",
        capture_output=True,
        text=True,
        check=False,
    )
    assert tested.returncode == 0, tested.stdout + tested.stderr
    said = subprocess.run(
        [sys.executable, "-m", "mypy", str(folder / "training/pipeline.py")],
        cwd=ROOT,  # with the settings of `make types`, and what it found out before or will use
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stdout


def test_what_comes_next_is_a_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert flowdsl(["init", "my project"]) == 0
    assert capsys.readouterr().err.endswith("\nnext: cd 'my project' && flowdsl run pipeline.py\n")
    assert flowdsl(["init"]) == 0
    assert capsys.readouterr().err.endswith("\nnext: flowdsl run pipeline.py\n")


@pytest.mark.parametrize("name", sorted(FILES - {".gitignore"}))
def test_nothing_is_written_over(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / name).write_text("mine", encoding="utf-8")
    assert flowdsl(["init"]) == 2
    assert f"{name} is there already" in capsys.readouterr().err
    assert [one.name for one in folder.iterdir()] == [name]


def test_a_list_of_what_git_ignores_is_left_alone(folder: Path) -> None:
    (folder / ".gitignore").write_text("build/\n", encoding="utf-8")
    assert flowdsl(["init"]) == 0
    assert (folder / ".gitignore").read_text(encoding="utf-8") == "build/\n"


def test_a_folder_that_cannot_be_made(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "file").write_text("", encoding="utf-8")
    assert flowdsl(["init", "file/project"]) == 2
    assert "cannot be made" in capsys.readouterr().err
    before = sorted(folder.iterdir())
    assert flowdsl(["init", "-"]) == 2
    assert "- is not a folder: name the one to write into" in capsys.readouterr().err
    assert sorted(folder.iterdir()) == before
