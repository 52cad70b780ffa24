"""`check`: several files, standard input, and the forms of its report."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.files import PIPELINE, WRONG, write
from tests.commands import Result

if TYPE_CHECKING:
    from collections.abc import Callable


PART = """\
import fitting
from flowdsl import pipeline, step

@step(image="python:3.12-slim")
def train(n: int) -> int:
    return fitting.fit(n)

@pipeline
def part(n: int) -> int:
    return train(n)
"""

WHOLE = """\
from flowdsl import Volume, pipeline
from part import part

@pipeline(code=Volume("shared") / "src")
def whole(n: int = 1) -> int:
    return part(n)
"""


FILES = """\
from pathlib import Path
from flowdsl import NewVolume, Torch, pipeline, run, step

WORK = NewVolume("work", "1Gi", mode="ReadWriteMany")

@step(image="python:3.12-slim", mounts={"/work": WORK})
def fill() -> None:
    Path("/work/text").write_text("words")

@step(image="python:3.12-slim")
def clean(raw: Path, words: Path) -> Path:
    out = Path("clean")
    out.write_text(raw.read_text() + words.read_text())
    return out

@step(image="python:3.12-slim", distributed=Torch(workers=2))
def fit(data: Path, checkpoints: Path) -> float:
    return float(len(data.read_text()))

@pipeline
def part(raw: Path) -> float:
    return fit(clean(raw, WORK / "text"), run.checkpoint_dir)
"""

GIVES = """\
from flowdsl import Volume, pipeline
from part import fill, part

DATA = Volume("data")

@pipeline(store=DATA / "runs", checkpoints=DATA / "states")
def whole() -> float:
    return part.options(after=[fill()])(DATA / "raw")
"""


def test_a_pipeline_on_standard_input(
    flowdsl: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in ("check", "run", "submit"):
        monkeypatch.setattr("sys.stdin", io.StringIO(PIPELINE))
        refused = (
            "flowdsl: a pipeline is a file: name it; "
            "on standard input `check`, `graph`, `import`, `run` and `submit` take YAML\n"
        )
        assert flowdsl(command, "-") == (2, "", refused)


def test_modules_of_pipelines_that_are_parts_of_others(flowdsl: Callable[..., Result]) -> None:
    """They have what the calling pipeline provides, whether a folder or its files are checked."""
    write("fitting.py", "def fit(n: int) -> int:\n    return n\n")
    write("part.py", PART)
    write("whole.py", WHOLE)
    assert (
        flowdsl("check", "whole.py")
        == flowdsl("check", ".")
        == flowdsl("check", "part.py", "whole.py")
        == (0, "", "")
    )
    code, out, _ = flowdsl("check", "part.py", "--format", "concise")
    assert (code, out.partition(" `")[0]) == (2, "part.py:1:1: error[FD310]:")
    write("whole.py", WHOLE.replace('@pipeline(code=Volume("shared") / "src")', "@pipeline"))
    code, out, _ = flowdsl("check", ".", "--format", "concise")
    assert (code, out.partition(" `")[0]) == (2, "part.py:1:1: error[FD310]:")


def test_files_and_places_of_pipelines_that_are_parts_of_others(flowdsl: Callable[..., Result]) -> None:
    """They have the files and the volumes that the calling pipeline gives them."""
    write("part.py", FILES)
    write("whole.py", GIVES)
    assert flowdsl("check", "whole.py") == flowdsl("check", ".") == (0, "", "")
    Path("out").mkdir()
    assert flowdsl("compile", ".", "-o", "out").code == 0
    assert [one.name for one in Path("out").iterdir()] == ["whole.yaml"]
    code, out, _ = flowdsl("check", "part.py", "--format", "concise")
    assert (code, re.findall(r"FD\d+", out)) == (2, ["FD296", "FD648", "FD690"])


def test_check_reports_on_standard_output(flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", WRONG)
    code, out, err = flowdsl("check", "pipeline.py")
    assert (code, err) == (2, "")
    assert out.startswith("pipeline.py:11:")
    assert out.endswith("\n1 error\n")


@pytest.mark.parametrize(("form", "said"), [("text", ""), ("concise", ""), ("json", "[]\n"), ("github", "")])
def test_nothing_found(form: str, said: str, flowdsl: Callable[..., Result]) -> None:
    write("pipeline.py", PIPELINE)
    write("other.py", PIPELINE)
    assert flowdsl("check", "pipeline.py", "--format", form) == (0, said, "")
    assert flowdsl("check", "pipeline.py", "other.py", "--format", form) == (0, said, "")
    assert flowdsl("compile", "pipeline.py", "--format", form).err == said


def test_a_pipeline_is_checked_as_what_it_becomes(flowdsl: Callable[..., Result]) -> None:
    argo = 'argo={"script": {"volumeMounts": [{"name": "data", "mountPath": "/data"}]}}'
    write("pipeline.py", PIPELINE.replace('slim")', f'slim", {argo})', 1))
    assert "error[FD552]" in flowdsl("check", "pipeline.py").out
    code, out, _ = flowdsl("check", "pipeline.py", "--as", "template")
    assert code == 0
    assert "warning[FD553]" in out


def test_several_files_make_one_report(flowdsl: Callable[..., Result]) -> None:
    write("b.py", WRONG)
    write("a.py", WRONG)
    write("fine.py", PIPELINE)
    write("raises.py", "1 / 0\n")
    files = ("b.py", "raises.py", "fine.py", "a.py", "gone.py", "a.py")
    code, out, err = flowdsl("check", *files, "--format", "json")
    assert code == 2
    assert [row["file"] for row in json.loads(out)] == ["a.py", "b.py", "raises.py", None]
    assert err.endswith("ZeroDivisionError: division by zero\n")
    code, out, _ = flowdsl("check", *files)
    assert code == 2
    assert re.findall(r"^(\S+?):\d+:\d+: error|^(\d+ errors?)$", out, re.MULTILINE) == [
        ("a.py", ""),
        ("b.py", ""),
        ("", "3 errors"),
    ]
    assert flowdsl("check", "fine.py", "raises.py").code == 2
    assert flowdsl("check", "raises.py", "--select", "FD5").code == 2


def test_two_files_may_have_helpers_of_one_name(flowdsl: Callable[..., Result]) -> None:
    for name in ("one", "two"):
        Path(name).mkdir()
        write(f"{name}/helper.py", f"NAME = {name!r}\n")
        write(f"{name}/pipeline.py", "import helper\n" + PIPELINE + f"assert helper.NAME == {name!r}\n")
    assert flowdsl("check", "one/pipeline.py", "two/pipeline.py") == (0, "", "")
