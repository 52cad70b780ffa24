"""An object store in the manner of S3, on loopback, whose objects may be larger than the memory.

It keeps what it is given under any key, says what was asked, and breaks off where it is told to.
"""

from __future__ import annotations

import hashlib
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

BLOCK = 1 << 20


class Thing(NamedTuple):
    """An object: its size, its ETag, and its bytes from an offset on, at most so many."""

    size: int
    tag: str
    part: Callable[[int, int], bytes]


def thing(data: bytes) -> Thing:
    def part(at: int, most: int) -> bytes:
        return data[at : at + most]

    return Thing(len(data), f'"{hashlib.md5(data).hexdigest()}"', part)


def endless(size: int, seed: bytes = b"flowdsl") -> Thing:
    """An object whose blocks differ, made when they are asked for; it was uploaded in parts."""
    base = hashlib.sha256(seed).digest() * (BLOCK // 32)

    def part(at: int, most: int) -> bytes:
        number, within = divmod(at, BLOCK)
        block = number.to_bytes(8, "big") + base[8:]
        return block[within : min(BLOCK, within + min(most, size - at))]

    return Thing(size, '"0123456789abcdef0123456789abcdef-7"', part)


def whole(one: Thing) -> Iterator[bytes]:
    at = 0
    while at < one.size:
        piece = one.part(at, BLOCK)
        yield piece
        at += len(piece)


class Objects:
    """The server. `cut`: after how many bytes an answer breaks off, None for never."""

    def __init__(self) -> None:
        self.things: dict[str, Thing] = {}
        self.asked: list[tuple[str, str, str]] = []
        """Method, key and range of each request."""
        self.sent = 0
        self.sending = 0
        """How many answers are on their way: one to somebody who was killed ends when that is noticed."""
        self.signed: set[tuple[str, str]] = set()
        """The access keys, and the tokens of sessions, of those who asked."""
        self.cut: int | None = None
        self.wanted: dict[str, str] = {}
        """The headers without which nothing is given."""
        self.refusal: tuple[int, str] | None = None
        """The answer to every request: its HTTP code, and that of S3."""
        self.tags = True
        """Whether answers have an ETag."""
        self.page: bytes | None = None
        """What is answered whatever is asked for, as by a server that is no store."""
        self.lock = threading.Lock()
        self._server = _Server(self)
        self.endpoint = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def put(self, key: str, data: bytes) -> None:
        self.things[key] = thing(data)

    def encrypt(self, certificate: Path) -> None:
        """Speak TLS from now on, with a file that has the certificate and its key."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def gets(self) -> list[str]:
        return [key for method, key, _ in self.asked if method == "GET" and key]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, objects: Objects) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects = objects

    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever asked was killed."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def objects(self) -> Objects:
        assert isinstance(self.server, _Server)
        return self.server.objects

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        objects = self.objects
        parts = urlsplit(self.path)
        key = unquote(parts.path).removeprefix("/argo").removeprefix("/")
        asked = self.headers.get("Range", "")
        with objects.lock:
            objects.asked.append((self.command, key, asked))
            user = self.headers.get("Authorization", "").partition("Credential=")[2].partition("/")[0]
            objects.signed.add((user, self.headers.get("X-Amz-Security-Token", "")))
        if objects.page is not None:
            return self.answer(200, objects.page)
        if objects.refusal is not None:
            code, reason = objects.refusal
            return self.answer(code, f"<Error><Code>{reason}</Code></Error>".encode())
        if not key:
            return self.listed(parse_qs(parts.query)["prefix"][0])
        if any(self.headers.get(name) != value for name, value in objects.wanted.items()):
            return self.answer(403, b"")
        found = objects.things.get(key)
        if found is None:
            return self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
        if self.headers.get("If-Match", found.tag) != found.tag:
            return self.answer(412, b"<Error><Code>PreconditionFailed</Code></Error>")
        start = int(asked.removeprefix("bytes=").partition("-")[0]) if asked else 0
        self.send_response(206 if asked else 200)
        if objects.tags:
            self.send_header("ETag", found.tag)
        self.send_header("Last-Modified", "Sat, 21 Nov 2026 12:00:00 GMT")
        self.send_header("Content-Length", str(found.size - start))
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{found.size - 1}/{found.size}")
        self.end_headers()
        if self.command == "HEAD":
            return None
        left = objects.cut if objects.cut is not None else found.size
        with objects.lock:
            objects.sending += 1
        while start < found.size and left > 0:
            piece = found.part(start, min(BLOCK, left))
            try:
                self.wfile.write(piece)
            except OSError:
                break
            start += len(piece)
            left -= len(piece)
            with objects.lock:
                objects.sent += len(piece)
        with objects.lock:
            objects.sending -= 1
        if start < found.size:
            self.close_connection = True
        return None

    def listed(self, prefix: str) -> None:
        rows = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>2026-11-21T12:00:00.000Z</LastModified>"
            f"{f'<ETag>{escape(one.tag)}</ETag>' if self.objects.tags else ''}<Size>{one.size}</Size></Contents>"
            for key, one in sorted(self.objects.things.items())
            if key.startswith(prefix)
        )
        self.answer(
            200,
            f"<ListBucketResult><Name>argo</Name><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>".encode(),
        )

    def answer(self, code: int, body: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass
