"""What the compiler writes is accepted by Argo's own definitions, with every object closed."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from flowdsl.compiler.written_as import Kind
from tests.corpus.closed import validate_with_crd, validate_with_schema

ROOT = Path(__file__).resolve().parents[2]
FILES = {path.parent.name: path for path in sorted(ROOT.glob("examples/*/pipeline.py"))}

#: 10 layers of 100 tasks each; every task of a layer takes one of the layer before.
THOUSAND = """
    from flowdsl import pipeline, step

    @step(image="python:3.12-slim")
    def begin(number: int) -> int:
        return number

    @step(image="python:3.12-slim")
    def work(value: int, layer: int) -> int:
        return value + layer

    @pipeline
    def thousand() -> None:
        values = [begin(number) for number in range(100)]
        for layer in range(1, 10):
            values = [work(value, layer) for value in values]
"""


def verdict(document: dict[str, Any]) -> list[str]:
    return [*validate_with_crd(document), *validate_with_schema(document)]


@pytest.mark.parametrize("kind", [kind for kind in get_args(Kind) if kind != "cron"])  # they have no schedule
@pytest.mark.parametrize("name", FILES)
def test_an_example_is_accepted(name: str, kind: Kind) -> None:
    compiled = compile_loaded(load(FILES[name]), kind=kind)
    assert compiled.documents
    for document in compiled.documents:
        assert verdict(document) == []


@pytest.mark.parametrize("path", sorted(ROOT.glob("tests/objects/*.yaml")), ids=lambda path: path.stem)
def test_an_object_of_each_kind_is_accepted(path: Path) -> None:
    for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
        assert verdict(document) == []


@pytest.mark.parametrize("file", sorted(ROOT.glob("examples/clusters/*.yaml")), ids=lambda path: path.stem)
def test_the_yaml_for_a_cluster_is_accepted(file: Path) -> None:
    assert verdict(yaml.safe_load(file.read_text("utf-8"))) == []


def test_a_thousand_tasks_are_accepted(tmp_path: Path) -> None:
    file = tmp_path / "pipeline.py"
    file.write_text(textwrap.dedent(THOUSAND), encoding="utf-8")
    compiled = compile_loaded(load(file))
    assert compiled.diagnostics == []
    (document,) = compiled.documents
    assert verdict(document) == []
    templates = document["spec"]["templates"]
    tasks = [task for one in templates for task in one.get("dag", {}).get("tasks", ())]
    graphs = {one["name"] for one in templates if "dag" in one}
    assert sum(task["template"] not in graphs for task in tasks) == 1000


def test_a_field_that_argo_does_not_know_is_refused() -> None:
    (document,) = compile_loaded(load(FILES["stages"])).documents
    document["spec"]["templates"][1]["script"]["imagine"] = True
    assert len(validate_with_crd(document)) == 1
    assert len(validate_with_schema(document)) >= 1
