"""Argo's examples and the recorded workflows as pipelines: most can be said, and do the same."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

from tests.corpus.imports import manifests, verdict

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

_FAILURES = "`workflow.failures` tells of the graph around the first template, too, and its quotes are data"
#: What is not run as it is meant, or does not print the same, and why.
EXCEPTIONS = {
    "data-transformations": "its bucket cannot be listed, over which a list of steps fails and a DAG has an error",
    "exit-handlers": _FAILURES,
    "recordings/exit-handlers": _FAILURES,
    "influxdb-ci": "its repository cannot be fetched, over which a list of steps fails and a DAG has an error",
    "workflow-event-binding/event-consumer-workflowtemplate": "who starts a run has to give it a parameter",
}

#: Of 107 examples and 41 recordings. `loops-arbitrary-sequential-steps` is refused: as a pipeline it would never end.
SAME = 111
COMPILED = 124


def test_what_is_imported_does_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names, texts = zip(*manifests(), strict=True)
    with ProcessPoolExecutor(4, get_context("spawn")) as pool:  # most of the time programs are waited for
        told = dict(zip(names, pool.map(verdict, texts, [tmp_path / name for name in names]), strict=True))
    counts = Counter(said.partition(":")[0] for said in told.values())
    with capsys.disabled():
        print(f"\n{len(told)} manifests: {dict(counts)}")  # noqa: T201 -- the numbers are what it is about
    other = {name for name, said in told.items() if said.startswith(("differs", "does not load"))}
    assert other == {*EXCEPTIONS}, [told[name] for name in other]
    assert counts["same"] >= SAME
    assert counts["same"] + counts["not run"] >= COMPILED
