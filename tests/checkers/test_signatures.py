"""Both type checkers, strict and without a plug-in, accept the language and find what is wrong in its use."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.checkers.checker import printed
from tests.pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SIGNATURES = ROOT / "tests" / "typing" / "signatures.py"


def wrong() -> list[int]:
    """The numbers of the lines that are marked."""
    lines = SIGNATURES.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if "# wrong: " in line]


def test_mypy_reports_the_marked_lines_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "signatures.py").write_text(SIGNATURES.read_text(encoding="utf-8"), encoding="utf-8")
    options = ("--strict", "--output=json", "--follow-imports=silent", "--config-file=", "--cache-dir=cache")
    said = printed("mypy", *options, "signatures.py", folder=tmp_path, code=1)
    found = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    lines = {one["line"] for one in found if one["severity"] == "error"}
    assert sorted(lines) == wrong(), said


def test_pyright_reports_the_marked_lines_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "signatures.py").write_text(SIGNATURES.read_text(encoding="utf-8"), encoding="utf-8")
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT)], "enableTypeIgnoreComments": True}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    said = printed("pyright", "--outputjson", "signatures.py", folder=tmp_path, code=1)
    found = json.loads(said)["generalDiagnostics"]
    # A marked line must be wrong in itself, not because its result goes nowhere.
    ours = [one for one in found if not one.get("rule", "").startswith(("reportUnused", "reportUnknown"))]
    lines = {one["range"]["start"]["line"] + 1 for one in ours if one["severity"] == "error"}
    assert lines >= {one["range"]["start"]["line"] + 1 for one in found}, said
    assert sorted(lines) == wrong(), said
