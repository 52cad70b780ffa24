"""The mistakes that users of other tools make: each is found at its line, or cannot be written.

The table in tests/mistakes/known lists them; the texts of the cases are those of tests/test_mistakes.py.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from flowdsl.cli.pipelines.compiling import judge
from tests.goldens import same
from tools.diagnostics import CASES, found

KNOWN = CASES / "known"
RIGHT = KNOWN / "right"

#: How many mistakes each of the two surveys has.
SURVEYS = {"A": 94, "B": 25}

_ROW = re.compile(r"^\| ([AB])(\d+) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
_LANGUAGE = re.compile(r"^\| (?![AB]\d)(.+) \| ((?:FD\d+(?:, )?)+) \| `([\w/]+)` \|$", re.MULTILINE)
_CASE = re.compile(r"`([\w/]+)(?::(\d+))?`")


class Mistake(NamedTuple):
    """A row of the table: a mistake, with the case and the line that show it."""

    survey: str
    number: int
    text: str
    found: tuple[str, ...]
    case: str
    lines: tuple[int, ...]


def mistakes() -> list[Mistake]:
    """The rows of the table."""
    rows: list[Mistake] = []
    for survey, number, text, codes, cases in _ROW.findall((KNOWN / "README.md").read_text(encoding="utf-8")):
        shown: list[tuple[str, str]] = _CASE.findall(cases)
        case = shown[0][0]
        lines = tuple(int(line) for _, line in shown if line)
        rows.append(Mistake(survey, int(number), text, tuple(re.findall(r"FD\d+", codes)), case, lines))
    return rows


def reported(case: str) -> dict[int, set[str]]:
    """The codes that are reported in a case, by line."""
    text = (KNOWN / f"{case}.err").read_text(encoding="utf-8")
    at: dict[int, set[str]] = {}
    for line, code in re.findall(r"^\w+\.py:(\d+):\d+: \w+\[(FD\d+)\]", text, re.MULTILINE):
        at.setdefault(int(line), set()).add(code)
    return at


def test_every_mistake_of_the_surveys_is_listed_once() -> None:
    numbers = Counter((one.survey, one.number) for one in mistakes())
    assert sorted(numbers) == sorted((name, n) for name, most in SURVEYS.items() for n in range(1, most + 1))
    assert set(numbers.values()) == {1}


@pytest.mark.parametrize("one", mistakes(), ids=lambda one: f"{one.survey}{one.number}")
def test_a_known_mistake_is_found_at_its_line_or_cannot_be_written(one: Mistake) -> None:
    assert (KNOWN / f"{one.case}.py").exists(), f"no case {one.case}"
    assert one.lines, "the row names no line"
    if one.case.startswith("right/"):
        assert not one.found, "what is right has no code"
        text = (KNOWN / f"{one.case}.py").read_text(encoding="utf-8").splitlines()
        assert all(text[line - 1].strip() for line in one.lines)
        return
    at = reported(one.case)
    for line in one.lines:
        assert at.get(line, set()) & set(one.found), f"line {line} of {one.case}: {at.get(line)}"


def test_every_case_is_in_the_table() -> None:
    cases = {str(path.relative_to(KNOWN).with_suffix("")) for path in KNOWN.rglob("*.py")}
    assert cases == {one.case for one in mistakes()}


def test_how_many_are_found_and_how_many_cannot_be_written() -> None:
    kinds = Counter((one.survey, bool(one.found)) for one in mistakes())
    text = (KNOWN / "README.md").read_text(encoding="utf-8")
    for survey, most in SURVEYS.items():
        caught = kinds[survey, True]
        assert f"Survey {survey}: {caught} of {most} are found, {most - caught} cannot be written." in text


@pytest.mark.parametrize("case", sorted(RIGHT.glob("*.py")), ids=lambda path: path.stem)
def test_what_cannot_be_wrong_compiles(
    case: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(case.parent)
    judged = judge(Path(case.name))
    assert not judged.traceback
    assert [one.finding.message for one in judged.diagnostics] == []
    assert judged.compiled is not None
    same(judged.compiled.text, case.with_suffix(".yaml"), request)


def test_every_text_of_a_case_shows_a_finding() -> None:
    for golden in KNOWN.glob("*.err"):
        assert found(golden.read_text(encoding="utf-8")), golden.name


def test_what_only_the_language_knows_is_shown_by_its_case() -> None:
    rows = _LANGUAGE.findall((KNOWN / "README.md").read_text(encoding="utf-8"))
    assert len(rows) > 20
    for _, codes, case in rows:
        shown = found((CASES / f"{case}.err").read_text(encoding="utf-8"))
        assert set(codes.split(", ")) <= set(shown), case
