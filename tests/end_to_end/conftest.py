from __future__ import annotations

import venv
from pathlib import Path

import pytest

from tests.end_to_end.world import World


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has the standard library only, as that of the image of a step."""
    folder = tmp_path_factory.mktemp("python")
    venv.create(folder, symlinks=True)
    return folder / "bin/python3"


@pytest.fixture
def world(tmp_path: Path, python: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Volumes with what the pipelines read, and a folder for runs."""
    monkeypatch.setenv("PATH", f"{tmp_path}/programs:/usr/local/bin:/usr/bin:/bin")
    return World(tmp_path, python)
