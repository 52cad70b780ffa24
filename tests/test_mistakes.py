"""What users read about their mistakes: each file in tests/mistakes/TOPIC has one, with the text beside it.

A new case is a file; `pytest tests/test_mistakes.py --snapshot-update` writes its text, which is to be
read before it is kept. The pages in docs/diagnostics show the cases: `python -m tools.diagnostics`.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import pytest

from flowdsl.cli.display.report import render
from flowdsl.cli.pipelines.compiling import Judged, judge
from tests.goldens import same
from tools.diagnostics import CASES, found, kinds, pages, there
from tools.page import ROOT, stale

if TYPE_CHECKING:
    from flowdsl.compiler.written_as import Kind

FILES = sorted(CASES.glob("*/*.py"))

# The modules whose findings are about manifests.
MANIFESTS = (
    "flowdsl.compiler.findings.importing",
    "flowdsl.compiler.yaml.findings",
    "flowdsl.compiler.lint",
    "flowdsl.compiler.manifests",
    "flowdsl.compiler.schema",
)

# Versions of Python mark different parts of a line in a traceback.
MARKS = re.compile(r"^ *[\^~]+\n", re.MULTILINE)


def printed(judged: Judged, folder: Path) -> str:
    """The output of `flowdsl check`, independent of the folder and of Python: first its standard error."""
    text = MARKS.sub("", judged.traceback) + render(judged.shown("text"), judged.sources, "text")
    return re.sub(r"this is Python 3\.\d+", "this is Python 3.x", text).replace(f"{folder}/", "")


def asked(case: Path) -> tuple[Kind | None, bool]:
    """How a case is compiled, if its first line says so: `# --as cron` or `# --with-rbac`."""
    first = case.read_text(encoding="utf-8").partition("\n")[0]
    kind = cast("Kind", first.removeprefix("# --as ")) if first.startswith("# --as ") else None
    return kind, first == "# --with-rbac"


def check(
    golden: Path,
    target: str,
    folder: Path,
    request: pytest.FixtureRequest,
    how: tuple[Kind | None, bool] = (None, False),
) -> None:
    judged = judge(Path(target), *how)
    text = printed(judged, folder)
    assert text, "no mistake is found"
    same(text, golden, request)
    for finding, *_ in judged.diagnostics:
        assert finding.advice, f"{finding.code} does not say what to do"
        said = f"{finding.message}\n{finding.caption}\n{finding.advice}"
        assert not re.search(r"RunTimeValue|NoneType|\{\{fD|FLOWDSL_|flowdsl-", said), said


@pytest.mark.parametrize("case", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_is_said_about_a_mistake(
    case: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(case.parent)
    check(case.with_suffix(".err"), case.name, case.parent, request, asked(case))


PIPELINE = b"""\
from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline
def nightly() -> None:
    load("orders")
"""


class Given(NamedTuple):
    """The argument of `flowdsl check`, and the files that exist; None is a link to itself."""

    target: str
    files: dict[str, bytes | None]


#: Kinds for which the text output is Python's traceback.
NO_TEXT = {"FD107 Raised"}

#: Mistakes without a case: a file that is not Python would break every tool that reads Python files.
UNLOADABLE = {
    "bad_encoding": Given("pipeline.py", {"pipeline.py": b"# caf\xe9\n" + PIPELINE}),
    "notebook": Given("pipeline.ipynb", {"pipeline.ipynb": b'{"cells": [], "metadata": {}, "nbformat": 4}'}),
    "folder": Given("jobs", {"jobs/pipeline.py": PIPELINE, "jobs/other.py": b""}),
    "misspelt_file": Given("pipelin.py", {"pipeline.py": PIPELINE}),
    "misspelt_pipeline": Given("pipeline.py:nigthly", {"pipeline.py": PIPELINE}),
    "not_python": Given("pipeline.py", {"pipeline.py": PIPELINE.replace(b'"orders")', b'"orders"')}),
    "link_to_itself": Given("pipeline.py", {"pipeline.py": None}),
    "long_name": Given(f"{'nightly-' * 40}jobs/pipeline.py", {}),
}


@pytest.mark.parametrize("name", UNLOADABLE)
def test_what_is_said_about_a_file_that_cannot_be_loaded(
    name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    target, files = UNLOADABLE[name]
    for file, data in files.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        if data is None:
            (tmp_path / file).symlink_to(file)
        else:
            (tmp_path / file).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    check(CASES / "load" / f"{name}.err", target, tmp_path, request)


def test_every_text_has_its_case() -> None:
    cases = {path.with_suffix(".err") for path in FILES}
    cases |= {CASES / "load" / f"{name}.err" for name in UNLOADABLE}
    assert set(CASES.glob("*/*.err")) == cases


def test_every_kind_of_mistake_in_a_pipeline_has_a_case() -> None:
    goldens = CASES.glob("*/*.err")
    shown = {code for golden in goldens for code in found(golden.read_text(encoding="utf-8"))}
    missing = [f"{kind.code} {kind.__name__}" for kind in kinds() if kind.code not in shown]
    manifests = [f"{kind.code} {kind.__name__}" for kind in kinds() if kind.__module__.startswith(MANIFESTS)]
    assert sorted(set(missing) - set(manifests) - NO_TEXT) == []


def test_every_kind_has_a_code_of_its_own() -> None:
    count = Counter(kind.code for kind in kinds())
    assert [code for code, number in count.items() if number > 1] == []


def test_every_kind_is_explained() -> None:
    for kind in kinds():
        assert kind.__doc__, kind
        assert kind.title, kind
        assert kind.help, kind


def test_the_pages_are_current() -> None:
    assert [str(path.relative_to(ROOT)) for path in stale(pages(), there())] == [], (
        "run python -m tools.diagnostics"
    )
