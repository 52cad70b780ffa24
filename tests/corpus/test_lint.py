"""Lint against the reference: manifests with known verdicts, Argo's examples, and what ran on a cluster."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import yaml

from flowdsl.cli.app import run
from flowdsl.compiler.lint import lint
from tests.corpus import corpus
from tests.corpus.closed import KINDS

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from flowdsl.compiler.problem import Problem

#: Examples with an error, and why it is one.
WRONG = {
    "k8s-jobs.yaml": ["FD501"],  # its name has slipped into the text of an annotation
}


def documents(path: Path) -> list[dict[str, Any]]:
    """The documents of one of Argo's kinds in a file."""
    made = yaml.load_all(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
    return [each for each in made if each and each["kind"] in KINDS]


def verdict(problems: list[Problem]) -> str:
    """The word of the table for a list of findings."""
    severities = {problem.finding.severity for problem in problems}
    return "error" if "error" in severities else "warning" if severities else "clean"


def verdicts() -> list[tuple[str, str]]:
    with corpus("lint", "verdicts.tsv").open(encoding="utf-8") as file:
        return [(row["file"], row["should be"]) for row in csv.DictReader(file, delimiter="\t")]


def test_manifests_with_known_verdicts() -> None:
    expected = dict(verdicts())
    assert len(expected) == 40
    assert {name: verdict(lint(documents(corpus("lint", name))[0])) for name in expected} == expected


def test_the_command_gives_them_the_same_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    expected = dict(verdicts())
    found: dict[str, str] = {}
    for name in expected:
        run(["check", str(corpus("lint", name)), "--format", "json"])
        severities = {one["severity"] for one in json.loads(capsys.readouterr().out)}
        found[name] = "error" if "error" in severities else "warning" if severities else "clean"
    assert found == expected


def test_both_mistakes_of_a_manifest_are_found() -> None:
    (document,) = documents(corpus("lint", "n-two-errors.yaml"))
    assert [problem.finding.code for problem in lint(document)] == ["FD514", "FD514"]


def errors(document: dict[str, Any]) -> list[str]:
    return [problem.finding.code for problem in lint(document) if problem.finding.severity == "error"]


def test_the_examples_of_argo_have_no_errors() -> None:
    paths = sorted(corpus("argo", "examples").rglob("*.yaml"))
    assert len(paths) == 107
    found = {path.name: [code for each in documents(path) for code in errors(each)] for path in paths}
    assert {name: codes for name, codes in found.items() if codes} == WRONG


def recorded() -> list[tuple[str, dict[str, Any]]]:
    """Every manifest that a real controller has run, with the name of its recording."""
    folder = corpus("recordings")
    made = [
        (path.name, json.loads(path.read_text("utf-8"))["manifest"]) for path in sorted(folder.glob("*.json"))
    ]
    for path in sorted(folder.glob("histories/*.jsonl")):
        first = json.loads(path.read_text("utf-8").splitlines()[0])
        made.append((path.name, first.get("manifest", first)))
    return made


def test_what_ran_on_a_cluster_has_no_errors() -> None:
    manifests = recorded()
    assert len(manifests) > 45
    assert {name: codes for name, manifest in manifests if (codes := errors(manifest))} == {}
