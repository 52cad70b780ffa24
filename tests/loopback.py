"""A server of HTTP on this machine, for the time of a test."""

from __future__ import annotations

import threading
from http.server import ThreadingHTTPServer
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from http.server import BaseHTTPRequestHandler


class Loopback:
    """Answers requests at a free port, each in a thread, until it is closed. A context."""

    def __init__(self, handler: Callable[..., BaseHTTPRequestHandler], address: str = "127.0.0.1") -> None:
        self._server = ThreadingHTTPServer((address, 0), handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self.url = f"http://{address}:{self.port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
