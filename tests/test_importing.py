"""`flowdsl import`: YAML becomes a pipeline in Python that does the same.

A case is a manifest in tests/importing; beside it lie the pipeline, which `make types` reads as well, and what is said
about it on the way.
"""

from __future__ import annotations

import copy
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from flowdsl.cli.app import run as flowdsl
from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.importing.compiled import refusals
from flowdsl.compiler.importing.importing import imported
from flowdsl.compiler.load import load
from flowdsl.compiler.manifests import check_manifests, is_argo, manifests
from flowdsl.compiler.tree import is_list, is_mapping, pairs
from flowdsl.compiler.yaml.documents import read
from tests.goldens import same
from tests.importing_runs import differences

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
CASES = sorted((ROOT / "tests" / "importing").glob("*.yaml"))
WRITTEN = [case for case in CASES if case.with_suffix(".py").exists()]
RUN = [case for case in WRITTEN if "call_template" not in case.with_suffix(".py").read_text("utf-8")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_what_is_written(
    case: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(case.parent)
    code = flowdsl(["import", case.name])
    text, said = capsys.readouterr()
    assert (code, bool(text)) in ((0, True), (2, False))
    if text or case in WRITTEN:
        same(text, case.with_suffix(".py"), request)
    if said or case.with_suffix(".err").exists():
        same(said, case.with_suffix(".err"), request)


def name(body: dict[str, Any]) -> str:
    """The name of an object, or the prefix of its generated name."""
    metadata = body["metadata"]
    return str(metadata.get("name") or metadata["generateName"]).rstrip("-")


def runnable(case: Path, compiled: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The documents of a case from which objects were compiled."""
    names = {name(one) for one in compiled}
    bodies = [one.body for one in read(case.read_text("utf-8"), case.name)[0]]
    return [one for one in bodies if "spec" in one and name(one) in names]


@pytest.mark.parametrize("case", WRITTEN, ids=lambda case: case.stem)
def test_it_compiles_to_an_object_of_the_same_kind_where_that_can_be_said(case: Path) -> None:
    compiled = compile_loaded(load(case.with_suffix(".py")))
    assert [one.finding.code for one in compiled.diagnostics if one.finding.severity == "error"] == []
    kinds = [body["kind"] for body in runnable(case, compiled.documents)]
    written = {"CronWorkflow": "CronWorkflow"}
    assert [one["kind"] for one in compiled.documents] == [written.get(kind, "Workflow") for kind in kinds]


def called(body: dict[str, Any]) -> set[str]:
    """The names of the templates of an object."""
    return {str(one["name"]) for one in body["spec"]["templates"]}


@pytest.mark.parametrize("case", RUN, ids=lambda case: case.stem)
def test_it_runs_as_the_manifest_does(case: Path, tmp_path: Path) -> None:
    library = [one.body for one in read(case.read_text("utf-8"), case.name)[0]]
    compiled = compile_loaded(load(case.with_suffix(".py")))
    both = [*zip(runnable(case, compiled.documents), compiled.documents, strict=True)]
    again = [
        {**ours, "kind": theirs["kind"], "metadata": {"name": name(theirs)}}
        for theirs, ours in both
        if theirs["kind"].endswith("Template") and called(theirs) <= called(ours)
    ]
    for index, (theirs, ours) in enumerate(both):
        found = differences(theirs, ours, tmp_path / str(index), names=True, library=library, compiled=again)
        assert list(found) == []


LEFT = """
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata: {name: left-volumes}
spec:
  entrypoint: main
  templates:
  - name: main
    steps: [[{name: build, template: build}]]
  - name: build
    container:
      image: alpine:3.20
      command: [make]
      volumeMounts: [{name: workdir, mountPath: /work}]
"""


def test_a_template_leaves_volumes_to_the_workflow_that_uses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("left.yaml").write_text(LEFT, "utf-8")
    assert flowdsl(["import", "left.yaml", "-o", "left.py"]) == 0
    assert flowdsl(["compile", "left.py", "--as", "template", "-o", "again.yaml"]) == 0
    Path("as_workflow.yaml").write_text(LEFT.replace("kind: WorkflowTemplate", "kind: Workflow"), "utf-8")
    assert flowdsl(["import", "as_workflow.yaml"]) == 2


@pytest.mark.parametrize(("said", "told"), [("default: ann", True), ("value: ann", False)])
def test_what_is_only_shown_to_who_opens_a_gate_is_no_default(
    said: str, told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    case = next(one for one in WRITTEN if one.stem == "kinds")
    text = case.read_text("utf-8")
    assert "default: ann" in text
    Path("kinds.yaml").write_text(text.replace("default: ann", said), "utf-8")
    assert flowdsl(["import", "kinds.yaml"]) == 0
    assert ("`who` of `release` has no default" in capsys.readouterr().err) == told


def test_a_parameter_that_every_run_is_given_has_no_default(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("needed.yaml").write_text((ROOT / "tests/wrong/FD797.yaml").read_text("utf-8"), "utf-8")
    assert flowdsl(["import", "needed.yaml"]) == 0
    assert "def train(rate: str) -> None:" in capsys.readouterr().out


def test_it_is_formatted() -> None:
    files = [case.with_suffix(".py") for case in WRITTEN]
    for command in (["format", "--check", "--diff"], ["check", "--select", "E4,E7,E9,F,I"]):
        line = [sys.executable, "-m", "ruff", *command, "--isolated", "--no-cache", *map(str, files)]
        said = subprocess.run(line, capture_output=True, text=True, check=False)
        assert said.returncode == 0, said.stdout


def test_it_goes_to_a_file_that_is_not_there_yet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    case = next(one for one in WRITTEN if one.stem == "diamond")
    assert flowdsl(["import", str(case), "-o", "pipeline.py"]) == 0
    assert Path("pipeline.py").read_text("utf-8") == case.with_suffix(".py").read_text("utf-8")
    Path("pipeline.py").write_text("mine", encoding="utf-8")
    assert flowdsl(["import", str(case), "-o", "pipeline.py"]) == 2
    assert "pipeline.py is there already" in capsys.readouterr().err
    assert Path("pipeline.py").read_text("utf-8") == "mine"


def test_python_is_not_imported(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(WRITTEN[0].parent)
    assert flowdsl(["import", WRITTEN[0].with_suffix(".py").name]) == 2
    assert (
        "is Python already, no YAML: `flowdsl compile`, `check` and `run` take it" in capsys.readouterr().err
    )


def test_python_of_another_tool_has_another_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("flow.py").write_text("from hera.workflows import Workflow\n", encoding="utf-8")
    assert flowdsl(["import", "flow.py"]) == 2
    assert (
        "give the YAML that Hera prints, `print(w.to_yaml())`, to `flowdsl import`" in capsys.readouterr().err
    )


def test_it_comes_from_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = next(one for one in WRITTEN if one.stem == "diamond")
    monkeypatch.setattr("sys.stdin", io.StringIO(case.read_text("utf-8")))
    assert flowdsl(["import", "-"]) == 0
    assert capsys.readouterr().out == case.with_suffix(".py").read_text("utf-8")


def test_a_manifest_that_is_wrong_is_not_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(CASES[0].read_text("utf-8").replace("entrypoint: ", "entrypoint: no-"), encoding="utf-8")
    assert flowdsl(["import", str(file)]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "text", ["kind: ConfigMap\napiVersion: v1\n", "kind: List\napiVersion: v1\nitems: []\n", ""]
)
def test_a_file_without_a_workflow_is_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "other.yaml"
    file.write_text(text, encoding="utf-8")
    assert flowdsl(["import", str(file), "-o", str(tmp_path / "pipeline.py")]) == 2
    assert "error[FD124]: there is no Argo manifest in " in capsys.readouterr().err
    assert not (tmp_path / "pipeline.py").exists()


UNDECLARED = """
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
metadata: {name: undeclared}
spec:
  entrypoint: main
  arguments: {parameters: [{name: dry_run, value: "1"}]}
  templates:
  - name: main
    steps: [[{name: dry-run-2, template: dry-run-2}]]
  - name: dry-run-2
    container:
      image: busybox:1.37.0
      command: [echo, "{{workflow.parameters.dry-run}} {{workflow.parameters.dry_run}}"]
"""


def test_a_parameter_that_only_a_run_says_has_a_name_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "undeclared.yaml"
    file.write_text(UNDECLARED, encoding="utf-8")
    assert flowdsl(["import", str(file)]) == 0
    text, said = capsys.readouterr()
    assert "def undeclared(dry_run_2: str, dry_run: int = 1) -> None:" in text
    assert "def dry_run_2_(" in text  # as the parameter would hide the step
    assert "warning[FD862]: the parameter `dry-run` is called `dry_run_2`" in said


def places(node: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """All paths in a document."""
    if is_mapping(node) or is_list(node):
        for key, one in pairs(node):
            yield (*path, key)
            yield from places(one, (*path, key))


BODIES = [one.body for case in CASES for one in read(case.read_text("utf-8"), case.name)[0]]
PLACES = [(index, path) for index, body in enumerate(BODIES) for path in places(body)]
TAGS = ("{{item}}", "{{item.a}}", "{{inputs.parameters.text}}", "{{workflow.parameters.a-b}}", "{{pod.name}}")
INSTEAD: tuple[Any, ...] = (None, "", "x", "7", *TAGS, "{{=asInt('1') + 1}}", "a || b", [], {}, 3)


NAMELESS = next(
    at
    for at in PLACES
    if at[1][-2:] == ("steps", 0) and "outputs" in BODIES[at[0]]["spec"]["templates"][at[1][2]]
)


@settings(max_examples=300)
@example(NAMELESS, "")  # `check` took the step without a name for a target
@example(next(at for at in PLACES if at[1] == ("kind",)), [])
@given(st.sampled_from(PLACES), st.sampled_from([*INSTEAD, "away"]))
def test_any_manifest_is_imported_or_refused(place: tuple[int, tuple[Any, ...]], instead: Any) -> None:
    index, path = place
    body = copy.deepcopy(BODIES[index])
    holder = body
    for step in path[:-1]:
        holder = holder[step]
    if instead == "away":
        del holder[path[-1]]
    else:
        holder[path[-1]] = instead
    text = json.dumps(body)
    (found,) = check_manifests([manifests(text, "changed.yaml")])
    if all(one.finding.severity == "warning" for one in found):
        made = imported([part for one in read(text, "changed.yaml")[0] for part in one.listed])
        refused = any(one.finding.severity == "error" for one in made.diagnostics)
        assert made.text or refused or not path[1:] or not is_argo(body)
        assert all(one.place is not None for one in made.diagnostics)
        if made.text:
            compile(made.text, "pipeline.py", "exec")


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples").glob("*/pipeline.yaml")), ids=lambda path: path.parent.name
)
def test_what_was_compiled_is_imported_or_refused(path: Path) -> None:
    made = imported([part for one in read(path.read_text("utf-8"), path.name)[0] for part in one.listed])
    wrong = [*(one for one in made.diagnostics if one.finding.severity == "error"), *refusals(made)]
    assert all(one.place is not None for one in wrong)
    assert bool(wrong) != bool(made.text and not refusals(made))
