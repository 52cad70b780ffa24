"""What the tests of the stand-in share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.kubelet import Python
from tests.cluster.run import Cluster


@pytest.fixture(scope="module")
def python() -> Iterator[Python]:
    """A Python that runs scripts, for all tests of a module."""
    found = Python()
    yield found
    found.close()


@pytest.fixture
def cluster(tmp_path: Path, python: Python) -> Cluster:
    """A cluster with one claim and one secret."""
    (tmp_path / "claim").mkdir()
    return Cluster(tmp_path / "cluster", python, {"claim": tmp_path / "claim"}, {("hub", "token"): "$$s"})
