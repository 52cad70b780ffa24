"""The accounts, roles and bindings of `--with-rbac`: each case of tests/rbac as a Workflow and for the cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from flowdsl.cli.app import run
from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from flowdsl.compiler.rbac import plural, rbac
from flowdsl.compiler.written_as import Kind
from tests.goldens import same

CASES = sorted((Path(__file__).parent / "rbac").glob("*.py"))


@pytest.mark.parametrize("kind", ["workflow", "cluster-template"])
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_the_documents_that_go_with_a_manifest(
    case: Path, kind: Kind, request: pytest.FixtureRequest
) -> None:
    alone = compile_loaded(load(case), kind=kind)
    both = compile_loaded(load(case), kind=kind, with_rbac=True)
    assert both.diagnostics == []
    assert both.text.startswith(alone.text)
    assert both.documents == alone.documents
    same(both.text.removeprefix(alone.text), case.with_name(f"{case.stem}-{kind}.yaml"), request)


def test_every_text_has_its_case() -> None:
    made = {f"{case.stem}-{kind}.yaml" for case in CASES for kind in ("workflow", "cluster-template")}
    assert {path.name for path in CASES[0].parent.glob("*.yaml")} == made


def test_the_check_knows_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = str(CASES[0]), str(tmp_path / "out.yaml")
    assert run(["compile", source, "--with-rbac", "-o", target]) == 0
    assert run(["compile", source, "--with-rbac", "-o", target, "--check"]) == 0
    assert run(["compile", source, "-o", target, "--check"]) == 1
    assert "-kind: RoleBinding" in capsys.readouterr().out


def test_the_pipelines_of_one_name_have_roles_of_their_own() -> None:
    made = [
        {**compile_loaded(load(CASES[0])).documents[0], "kind": kind}
        for kind in ("Workflow", "WorkflowTemplate")
    ]
    names = [one["metadata"]["name"] for one in rbac(made).documents if one["kind"] == "Role"]
    assert names == ["first", "first:workflowtemplate"]


@pytest.mark.parametrize(
    ("kind", "resource"),
    [
        ("Job", "jobs"),
        ("Ingress", "ingresses"),
        ("NetworkPolicy", "networkpolicies"),
        ("Endpoints", "endpoints"),
    ],
)
def test_the_resource_of_a_kind(kind: str, resource: str) -> None:
    assert plural(kind) == resource


def test_the_documents_are_yaml() -> None:
    for path in CASES[0].parent.glob("*.yaml"):
        assert all(one["kind"] for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one)
