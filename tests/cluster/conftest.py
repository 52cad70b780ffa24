from __future__ import annotations

import http.client
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.cluster.faults import Proxy
from tests.cluster.objects import Objects, Served, kubeconfig
from tests.cluster.runs import PIPELINE, Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    objects = Objects()
    with Served(objects) as served:
        port = int(served.url.rpartition(":")[2])
        with Proxy(partial(http.client.HTTPConnection, "127.0.0.1", port, timeout=60), late=1.2) as proxy:
            monkeypatch.setenv("KUBECONFIG", str(kubeconfig(proxy.url, tmp_path / "kubeconfig")))
            monkeypatch.chdir(tmp_path)
            (tmp_path / "tiny.py").write_text(PIPELINE)
            yield Cluster(objects, proxy)
