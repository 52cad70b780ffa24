from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cluster.objects import Objects
from tests.cluster.runs import PIPELINE, Cluster, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    objects = Objects()
    with served(objects, tmp_path, monkeypatch) as proxy:
        (tmp_path / "tiny.py").write_text(PIPELINE)
        yield Cluster(objects, proxy)
