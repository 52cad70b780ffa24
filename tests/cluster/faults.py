"""A proxy before the API server that breaks one request: the N-th, in one of the ways that networks have."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from tests.loopback import Loopback

if TYPE_CHECKING:
    from collections.abc import Callable

Fault = Literal[
    "unsent",
    "unanswered",
    "401",
    "403",
    "409",
    "429",
    "500",
    "503",
    "504",
    "cut",
    "late",
    "empty",
    "hang",
    "drip",
    "drip before",
]

FAULTS: tuple[Fault, ...] = ("unsent", "unanswered", "429", "500", "503", "cut", "late")
"""Dropped before it is sent, dropped after the server acted, refused for now, cut half-way, delayed too long.

The others: 401, 403 and 409 refused before it is sent, 504 refused after the server acted, an answer that is empty,
none at all, and one that comes byte by byte, or the lines before it.
"""


class Asked(NamedTuple):
    """A request that came through."""

    method: str
    path: str


class Proxy:
    """Passes requests on to a server; `break_at(n, fault)` counts from there, and breaks the n-th. A context."""

    def __init__(self, upstream: Callable[[], http.client.HTTPConnection], late: float) -> None:
        self.upstream = upstream
        """Makes a connection to the server."""
        self.late = late
        """Seconds that a delayed answer takes."""
        self.seen: list[Asked] = []
        self.broken = False
        """Whether the fault has happened."""
        self._at = 0
        self._fault: Fault | None = None
        self._always: list[tuple[str, str, Fault]] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def __enter__(self) -> Self:
        self._listener = Loopback(_handler(self))
        self.url = self._listener.url
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._listener.close()

    def break_at(self, number: int, fault: Fault | None) -> None:
        """Break the request of a number, counted from now."""
        with self._lock:
            self.seen.clear()
            self.broken = False
            self._at, self._fault = number, fault

    def break_every(self, method: str, within: str, fault: Fault) -> None:
        """Break every request of a method with a text in its path, from now on."""
        with self._lock:
            self._always.append((method, within, fault))

    def pass_all(self) -> None:
        """Break nothing any more."""
        with self._lock:
            self._always.clear()
            self._fault = None

    def fault_of(self, asked: Asked) -> Fault | None:
        """Count a request; how it is broken, if it is."""
        with self._lock:
            self.seen.append(asked)
            for method, within, fault in self._always:
                if method == asked.method and within in asked.path:
                    return fault
            if self._fault is None or len(self.seen) != self._at:
                return None
            self.broken = True
            return self._fault

    def hold(self) -> None:
        """Let time pass."""
        self._closing.wait(self.late)

    def drip(self, write: Callable[[bytes], object]) -> None:
        """Write a blank now and then, as long as a delayed answer takes."""
        end = time.monotonic() + self.late
        while time.monotonic() < end and not self._closing.wait(0.1):
            write(b" ")


def _handler(proxy: Proxy) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def handle_one_request(self) -> None:
            with contextlib.suppress(ConnectionError, TimeoutError):
                super().handle_one_request()
                return
            self.close_connection = True

        def _pass(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            fault = proxy.fault_of(Asked(self.command, self.path))
            if fault == "unsent":
                self._drop()
                return
            if fault in ("401", "403", "409", "429", "500", "503"):
                self._refuse(int(fault))
                return
            if fault == "empty":
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if fault == "drip":
                self.send_response(200)
                self.send_header("Content-Length", "100000")
                self.end_headers()
                proxy.drip(self.wfile.write)
                self._drop()
                return
            if fault == "drip before":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow:")
                proxy.drip(self.wfile.write)
                self._drop()
                return
            if fault == "hang":
                proxy.hold()
                self._drop()
                return
            with contextlib.closing(proxy.upstream()) as upstream:
                kept = ("authorization", "content-type", "accept", "accept-encoding")
                headers = {key: value for key, value in self.headers.items() if key.lower() in kept}
                try:
                    upstream.request(self.command, self.path, body or None, headers)
                    answer = upstream.getresponse()
                except (OSError, http.client.HTTPException):
                    self._drop()
                    return
                self._answer(answer, fault)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _pass  # noqa: N815 -- names of http.server

        def _answer(self, answer: http.client.HTTPResponse, fault: Fault | None) -> None:
            if fault == "504":
                answer.read()
                self._refuse(504)
                return
            if fault in ("unanswered", "late"):
                # A stream is dropped at its beginning, an answer when the server has acted.
                if answer.length is not None:
                    answer.read()
                if fault == "late":
                    proxy.hold()
                self._drop()
                return
            self.send_response(answer.status)
            for key, value in answer.getheaders():
                if key.lower() in ("content-type", "content-encoding", "warning", "retry-after"):
                    self.send_header(key, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            try:
                while piece := answer.read1(65536):
                    if fault == "cut":
                        self._chunk(piece[: len(piece) // 2])
                        self._drop()
                        return
                    self._chunk(piece)
            except (http.client.HTTPException, ConnectionResetError, TimeoutError):
                self._drop()
                return
            if fault == "cut":
                self._drop()
                return
            self._chunk(b"")

        def _chunk(self, piece: bytes) -> None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()

        def _refuse(self, code: int) -> None:
            reason = "Conflict" if code == 409 else "Trouble"
            status = {"kind": "Status", "code": code, "reason": reason, "message": "made by the test"}
            body = json.dumps(status).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            if code == 429:
                self.send_header("Retry-After", "1")
            self.end_headers()
            self.wfile.write(body)

        def _drop(self) -> None:
            self.close_connection = True
            with contextlib.suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)

    return Handler


def until_it_passes(
    proxy: Proxy, fault: Fault, operation: Callable[[int], None], *, stride: int = 1, limit: int = 200
) -> int:
    """Break the first request of an operation, then the second, until it is done before one is broken; which that was.

    The operation is told its number. With a stride not every one is broken. Source of the way: how SQLite is tested,
    "malloc_common".
    """
    for number in range(1, limit, stride):
        proxy.break_at(number, fault)
        operation(number)
        if not proxy.broken:
            return number
    raise AssertionError(f"{limit} requests were broken one after the other, and there are more")
