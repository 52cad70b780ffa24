"""The machine leaves what the real controller left, when its pods end as they did."""

from __future__ import annotations

import pytest

from tests.corpus import CORPUS
from tests.corpus.recordings import EXCEPTIONS, Recording, differences, histories, recordings

RUNS = [*recordings(), *histories()] if (CORPUS / "recordings").is_dir() else []


@pytest.mark.parametrize("recording", RUNS, ids=lambda one: one.name)
def test_a_run_ends_as_it_was_recorded(recording: Recording) -> None:
    explained = {what for name, what in EXCEPTIONS if name == recording.name}
    found = dict(differences(recording))
    assert {what: how for what, how in found.items() if what not in explained} == {}
    assert explained <= found.keys()


def test_all_recordings_were_there() -> None:
    assert len(recordings()) == 41
    assert len(histories()) == 8
    assert len(EXCEPTIONS) <= 3
