from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.commands import Result, in_process
from tests.run.files import GATE, LIBRARY, PIPELINE, STEPS

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    files = {"pipeline.py": PIPELINE, "gate.py": GATE, "steps.yaml": STEPS, "library.yaml": LIBRARY}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def flowdsl(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run `flowdsl run` in this process, in the current folder."""
    return in_process(capsys, "run")
