"""Golden files: real files with the real extension beside their input, renewed with `--snapshot-update`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def same(text: str, golden: Path, request: pytest.FixtureRequest) -> None:
    """Assert that a text equals a golden file; with `--snapshot-update`, write the file."""
    if request.config.getoption("--snapshot-update"):
        if not golden.exists() or golden.read_text(encoding="utf-8") != text:
            golden.write_text(text, encoding="utf-8")
        return
    assert golden.exists(), f"{golden.name} is missing: run pytest with --snapshot-update, and read it"
    assert text == golden.read_text(encoding="utf-8")
