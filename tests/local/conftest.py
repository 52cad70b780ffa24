from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.harness import Harness, harness


@pytest.fixture(params=["isolated", "plain"])
def pods(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Harness]:
    """Pods with file systems of their own if this machine allows it, and pods without."""
    with harness(tmp_path, isolate=None if request.param == "isolated" else False) as made:
        yield made
