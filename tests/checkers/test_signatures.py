"""Both type checkers, strict and without a plug-in, accept the language and find what is wrong in its use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIGNATURES = ROOT / "tests" / "typing" / "signatures.py"


def wrong() -> list[int]:
    """The numbers of the lines that are marked."""
    lines = SIGNATURES.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if "# wrong: " in line]


def run(*command: str | Path, folder: Path) -> str:
    """The output of a checker that must find something."""
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_mypy_reports_the_marked_lines_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "signatures.py").write_text(SIGNATURES.read_text(encoding="utf-8"), encoding="utf-8")
    options = ("--strict", "--output=json", "--follow-imports=silent", "--config-file=", "--cache-dir=cache")
    said = run(sys.executable, "-m", "mypy", *options, "signatures.py", folder=tmp_path)
    found = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    lines = {one["line"] for one in found if one["severity"] == "error"}
    assert sorted(lines) == wrong(), said


def test_pyright_reports_the_marked_lines_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "signatures.py").write_text(SIGNATURES.read_text(encoding="utf-8"), encoding="utf-8")
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT)], "enableTypeIgnoreComments": True}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    said = run(sys.executable, "-m", "pyright", "--outputjson", "signatures.py", folder=tmp_path)
    found = json.loads(said)["generalDiagnostics"]
    # A marked line must be wrong in itself, not because its result goes nowhere.
    ours = [one for one in found if not one.get("rule", "").startswith(("reportUnused", "reportUnknown"))]
    lines = {one["range"]["start"]["line"] + 1 for one in ours if one["severity"] == "error"}
    assert lines >= {one["range"]["start"]["line"] + 1 for one in found}, said
    assert sorted(lines) == wrong(), said
