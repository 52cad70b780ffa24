"""The objects that pipelines become: each case of tests/objects as each kind that it can be."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from flowdsl.compiler.compile import KINDS, Kind, compile_loaded
from flowdsl.compiler.load import load
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
