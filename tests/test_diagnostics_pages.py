"""Each page of docs/diagnostics shows a wrong and a right example, and both are run here.

A wrong pipeline is a case of tests/mistakes, and run by its test; a wrong manifest is tests/wrong/FDnnn.yaml.
What is right is tests/right/FDnnn.py or .yaml: the wrong one, corrected. Both may lie in a folder with a
flowdsl.toml of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from flowdsl.cli.pipelines.compiling import judge
from tests.test_mistakes import asked, printed
from tools.diagnostics import RIGHT, WRONG, checked, found, kinds, right, wrong

if TYPE_CHECKING:
    from pathlib import Path

_NAMED = "what is wrong is what the command was given, and no text of a file"

#: Codes whose pages show no examples.
WITHOUT = {
    "FD101": "a file that is not Python would stop every tool that reads Python files",
    "FD102": _NAMED,
    "FD103": _NAMED,
    "FD104": "a file that is not text cannot be shown",
    "FD125": "a file that is not text cannot be shown",
    "FD106": "what is wrong is whom the file belongs to, and no text of it",
    "FD107": "as text Python's own traceback is shown instead",
    "FD111": _NAMED,
}

PIPELINES = sorted(RIGHT.rglob("FD*.py"))
MANIFESTS = sorted(RIGHT.rglob("FD*.yaml"))


def test_every_code_has_a_wrong_and_a_right_example() -> None:
    codes = {kind.code for kind in kinds()}
    assert sorted(codes - set(wrong()) - set(WITHOUT)) == [], "nothing wrong to show"
    assert sorted(codes - set(right()) - set(WITHOUT)) == [], "nothing right to show"
    assert sorted({*wrong(), *right()} & set(WITHOUT)) == [], "shown after all"


def test_every_example_has_a_code() -> None:
    codes = {kind.code for kind in kinds()}
    files = [path.stem for path in (*PIPELINES, *MANIFESTS)]
    assert sorted(set(files) - codes) == []
    assert len(set(files)) == len(files), "one code with two right examples"
    assert sorted({path.stem for path in WRONG.rglob("FD*.yaml")} - codes) == []


def test_both_examples_are_of_one_language() -> None:
    bad = wrong()
    for code, example in right().items():
        assert code not in bad or bad[code].language == example.language, code


@pytest.mark.parametrize("path", PIPELINES, ids=lambda path: path.stem)
def test_nothing_is_found_in_a_right_pipeline(path: Path) -> None:
    judged = judge(path, *asked(path))
    assert printed(judged, path.parent) == ""
    assert judged.compiled is not None


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_nothing_is_found_in_a_right_manifest(path: Path) -> None:
    assert checked(path) == ""


@pytest.mark.parametrize("path", sorted(WRONG.rglob("FD*.yaml")), ids=lambda path: path.stem)
def test_a_wrong_manifest_shows_its_code_first(path: Path) -> None:
    assert found(checked(path))[:1] == [path.stem]
