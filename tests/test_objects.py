"""The objects that pipelines become: each case of tests/objects as each kind that it can be."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import get_args

import pytest
import yaml

from flowdsl.compiler.argo import provenance
from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from flowdsl.compiler.written_as import KINDS, Kind
from tests.goldens import same

CASES = sorted((Path(__file__).parent / "objects").glob("*.py"))


@pytest.mark.parametrize("kind", get_args(Kind))
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_the_yaml_of_each_kind(case: Path, kind: Kind, request: pytest.FixtureRequest) -> None:
    compiled = compile_loaded(load(case), kind=kind)
    codes = [one.finding.code for one in compiled.diagnostics]
    if kind == "cron" and "schedule=" not in case.read_text(encoding="utf-8"):
        assert set(codes) <= {"FD729", "FD730"}
        assert "FD729" in codes
        return
    assert codes == []
    assert {each["kind"] for each in compiled.documents} == {KINDS[kind]}
    same(compiled.text, case.with_name(f"{case.stem}-{kind}.yaml"), request)


@pytest.mark.parametrize(("name", "kind"), [("scheduled", "CronWorkflow"), ("plain", "Workflow")])
def test_a_pipeline_with_a_schedule_is_a_cron_workflow(name: str, kind: str) -> None:
    (case,) = (path for path in CASES if path.stem == name)
    assert [each["kind"] for each in compile_loaded(load(case)).documents] == [kind]


def test_every_text_has_its_case() -> None:
    made = {f"{case.stem}-{kind}.yaml" for case in CASES for kind in get_args(Kind)}
    assert {path.name for path in CASES[0].parent.glob("*.yaml")} <= made


# --- where an object comes from --------------------------------------------------------------------

STEPS = """\
from flowdsl import step

@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)
"""
PIPELINE = """\
from flowdsl import pipeline
from steps_of_nightly import load

@pipeline
def nightly(table: str = "orders") -> None:
    load(table)
"""


def digests(folder: Path, steps: str = STEPS, pipeline: str = PIPELINE) -> tuple[str, str]:
    """The digests of the sources and of the spec."""
    folder.mkdir()
    (folder / "steps_of_nightly.py").write_text(steps, encoding="utf-8")
    (folder / "pipeline.py").write_text(pipeline, encoding="utf-8")
    sys.modules.pop("steps_of_nightly", None)
    (document,) = compile_loaded(load(folder / "pipeline.py")).documents
    metadata = document["metadata"]
    assert metadata["labels"][provenance.PIPELINE] == "nightly"
    return metadata["annotations"][provenance.SOURCE], metadata["labels"][provenance.SPEC]


def test_a_comment_changes_the_source_and_a_constant_both(tmp_path: Path) -> None:
    source, spec = digests(tmp_path / "a")
    assert digests(tmp_path / "b") == (source, spec)
    commented = digests(tmp_path / "c", STEPS + "# more\n")
    assert commented[0] != source
    assert commented[1] == spec
    changed = digests(tmp_path / "d", pipeline=PIPELINE.replace("orders", "customers"))
    assert changed[0] not in (source, commented[0])
    assert changed[1] != spec


def test_the_place_of_a_file_changes_nothing(tmp_path: Path) -> None:
    texts: list[str] = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        file = tmp_path / name / f"{name}.py"
        ends = "\n" if name == "here" else "\r\n"
        file.write_bytes(CASES[0].read_bytes().replace(b"\n", ends.encode()))
        texts.append(compile_loaded(load(file)).text)
    assert texts[0] == texts[1]


@pytest.mark.parametrize("kind", get_args(Kind))
def test_the_digest_of_a_spec_can_be_told_from_its_text(kind: Kind) -> None:
    (case,) = (path for path in CASES if path.stem == "scheduled")
    text = compile_loaded(load(case), kind=kind).text
    spec = text[text.index("\nspec:\n") + 1 :]
    assert yaml.safe_load(text)["metadata"]["labels"][provenance.SPEC] == provenance.spec_digest(spec)
