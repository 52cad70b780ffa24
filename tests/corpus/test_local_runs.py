"""A run on this machine ends as the real controller ended it, with real processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus import CORPUS
from tests.corpus.local_runs import EXCEPTIONS, differences
from tests.corpus.recordings import Recording, recordings

RUNS = recordings() if (CORPUS / "recordings").is_dir() else []


@pytest.mark.parametrize("recording", RUNS, ids=lambda one: one.name)
def test_a_run_here_ends_as_it_was_recorded(recording: Recording, tmp_path: Path) -> None:
    found = dict(differences(recording, tmp_path / "run"))
    if recording.name in EXCEPTIONS:
        assert found, f"not needed any more: {EXCEPTIONS[recording.name]}"
    else:
        assert found == {}


def test_all_recordings_ran_here() -> None:
    assert len(RUNS) == 41
    assert len(EXCEPTIONS) <= 3
