"""A store and a cluster for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from flowdsl.cli.clusters.reach import Reach
from flowdsl.runtime.cluster.seam import Cluster
from tests.artifacts.objects import Objects
from tests.artifacts.runs import Known


@pytest.fixture
def objects() -> Iterator[Objects]:
    made = Objects()
    yield made
    made.close()


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[dict[str, Any]], Known]:
    """Have commands talk to a cluster with this run."""
    monkeypatch.chdir(tmp_path)

    def connect(run: dict[str, Any]) -> Known:
        known = Known(run)

        def reached(self: Reach) -> Cluster:
            return cast("Cluster", known)

        monkeypatch.setattr(Reach, "connect", reached)
        return known

    return connect
