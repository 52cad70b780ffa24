"""A proxy that breaks requests, in front of the real server."""

from __future__ import annotations

import contextlib
import http.client
import json
import ssl
from functools import partial
from typing import TYPE_CHECKING

from tests.cluster.faults import Proxy

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.apiserver.server import ApiServer


@contextlib.contextmanager
def behind(
    server: ApiServer, kubeconfig: Path, namespace: str = "default", *, late: float
) -> Generator[Proxy]:
    """The proxy, to which the file leads whoever reads it as `$KUBECONFIG`; delayed answers take `late` seconds."""
    context = ssl.create_default_context(cafile=str(server.authority))
    connect = partial(http.client.HTTPSConnection, "127.0.0.1", server.port, timeout=600, context=context)
    with Proxy(connect, late) as proxy:
        config = json.loads(server.kubeconfig("admin", namespace).read_text())
        config["clusters"][0]["cluster"] = {"server": proxy.url}
        kubeconfig.write_text(json.dumps(config))
        yield proxy
