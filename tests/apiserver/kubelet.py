"""A stand-in for the kubelet: the logs of pods, over TLS on loopback, in the manner of the real one.

The API server asks it for `/containerLogs/NAMESPACE/POD/CONTAINER` on behalf of those who ask the API server for a
log. Who plays the pods says what the kubelet knows of them, with `observe`, and what they print, with `append`.
Which bytes are given for which options, and what is refused in which words, is as in Kubernetes 1.35:
pkg/kubelet/kubelet_pods.go, pkg/kubelet/server/server.go, and pkg/logs of k8s.io/cri-client.
"""

from __future__ import annotations

import contextlib
import select
import ssl
import subprocess
import threading
import time
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import parse_qs, unquote, urlsplit

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator
    from pathlib import Path

Object = dict[str, Any]
Key = tuple[str, str, str]

WAITING = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}


class Entry(NamedTuple):
    """One entry of a log file: when, and bytes that end with a newline, or do not: then the line goes on."""

    stamp: str
    text: bytes


class Options(NamedTuple):
    """What of a log is wanted. `since` is in nanoseconds; -1 stands for all."""

    follow: bool = False
    timestamps: bool = False
    previous: bool = False
    since: int = 0
    tail: int = -1
    limit: int = -1


class NoLog(Exception):
    """There is nothing to give: `code` of HTTP, and the kubelet's words."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def nanoseconds(stamp: str) -> int:
    """A time of RFC 3339 in nanoseconds since 1970."""
    whole, dot, rest = stamp.partition(".")
    digits = rest.rstrip("Zz").partition("+")[0].partition("-")[0] if dot else ""
    zone = rest[len(digits) :] if dot else ""
    return int(datetime.fromisoformat(whole + zone).timestamp()) * 10**9 + int(digits.ljust(9, "0")[:9] or 0)


def state(pod: Object, container: str) -> Object | None:
    """The status of a container, of any kind."""
    for kind in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        for each in pod.get("status", {}).get(kind, ()):
            if each["name"] == container:
                found: Object = each
                return found
    return None


def runs(pod: Object, container: str) -> bool:
    found = state(pod, container)
    return found is not None and "running" in found.get("state", {})


def reason_against(pod: Object, container: str, previous: bool) -> str | None:
    """Why a container has no log yet, as validateContainerLogStatus says it."""
    name = pod["metadata"]["name"]
    there = f'container "{container}" in pod "{name}"'
    status = state(pod, container)
    if status is None:
        return f"{there} is not available"
    now = status.get("state", {})
    last = status.get("lastState", {}).get("terminated")
    if previous:
        if last and last.get("containerID"):
            return None
        return f'previous terminated container "{container}" in pod "{name}" not found'
    if "running" in now:
        return None
    ended = now.get("terminated") or last
    if ended is not None:
        known = ended.get("containerID") or (last and last.get("containerID"))
        return None if known else f"{there} is terminated"
    if "waiting" in now:
        why = now["waiting"].get("reason", "")
        return f"{there} is waiting to start: {WAITING.get(why, why)}"
    return f"{there} is waiting to start - no logs yet"


class Kubelet:
    """The kubelet of all pods, at work until `close`. `cut` breaks the next answer off after so many bytes of log."""

    def __init__(self, folder: Path) -> None:
        self.certificate = folder / "kubelet.crt"
        key = folder / "kubelet.key"
        words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=kubelet"
        names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(self.certificate)]
        subprocess.run(["openssl", *words.split(), *names], check=True, capture_output=True)
        self._news = threading.Condition()
        self._pods: dict[tuple[str, str], Object] = {}
        self._logs: dict[Key, list[Entry]] = {}
        self._closed = False
        self.cut: int | None = None
        self.asked: list[str] = []
        """The paths that were asked for, with their options."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self._server = _Server(self, context)
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), name="kubelet", daemon=True).start()

    def close(self) -> None:
        """Stop serving; answers under way are ended."""
        with self._news:
            self._closed = True
            self._news.notify_all()
        self._server.shutdown()
        self._server.server_close()

    def observe(self, pod: Object) -> None:
        """Learn the state of a pod, before the API server does."""
        with self._news:
            self._pods[pod["metadata"]["namespace"], pod["metadata"]["name"]] = pod
            self._news.notify_all()

    def forget(self, namespace: str, pod: str) -> None:
        """The pod is gone, with its logs."""
        with self._news:
            self._pods.pop((namespace, pod), None)
            for key in [key for key in self._logs if key[:2] == (namespace, pod)]:
                del self._logs[key]
            self._news.notify_all()

    def append(self, namespace: str, pod: str, container: str, text: bytes, stamp: str = "") -> None:
        """Print one entry; the time is now, or a text of RFC 3339 with nanoseconds."""
        if not stamp:
            seconds, rest = divmod(time.time_ns(), 10**9)
            stamp = f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"
        with self._news:
            self._logs.setdefault((namespace, pod, container), []).append(Entry(stamp, text))
            self._news.notify_all()

    def read(self, key: Key, options: Options, gone: socket.socket) -> Iterator[bytes]:
        """The pieces of a log; with `follow` until the container has ended. Raises NoLog at the first piece."""
        namespace, name, container = key
        with self._news:
            pod = self._pods.get((namespace, name))
            if pod is None:
                raise NoLog(404, f'pod "{name}" does not exist')
            spec = pod["spec"]
            if all(
                each["name"] != container for each in [*spec["containers"], *spec.get("initContainers", ())]
            ):
                raise NoLog(404, f'container "{container}" not found in pod "{name}"')
            why = reason_against(pod, container, options.previous)
            if why is not None:
                raise NoLog(400, why)
            entries = self._logs.setdefault(key, [])
            at = max(0, len(entries) - options.tail) if options.tail >= 0 else 0
        yield b""
        left = options.limit if options.limit >= 0 else None
        fresh = True
        while True:
            with self._news:
                new = entries[at:]
                more = (
                    options.follow
                    and not self._closed
                    and runs(self._pods.get((namespace, name), {}), container)
                )
                if not new and more:
                    self._news.wait(0.5)
                    new = entries[at:]
            at += len(new)
            for entry in new:
                if nanoseconds(entry.stamp) >= options.since:
                    piece = (
                        entry.stamp.encode() + b" " if options.timestamps and fresh else b""
                    ) + entry.text
                    piece = piece if left is None else piece[:left]
                    yield piece
                    left = None if left is None else left - len(piece)
                    if left == 0:
                        return
                fresh = entry.text.endswith(b"\n") or not entry.text
            if not options.follow or (not new and (not more or _hung_up(gone))):
                return


def _hung_up(connection: socket.socket) -> bool:
    """Whether the other end is gone: it has nothing more to say while it waits for an answer."""
    return bool(select.select([connection], [], [], 0)[0])


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, kubelet: Kubelet, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.kubelet = kubelet
        # The handshake is left to the first read, in the connection's own thread.
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks is the other side's business."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        kubelet = cast("_Server", self.server).kubelet
        kubelet.asked.append(self.path)
        place = urlsplit(self.path)
        parts = [unquote(part) for part in place.path.split("/")]
        if len(parts) != 5 or parts[1] != "containerLogs":
            self._refuse(404, "404 page not found")
            return
        options = _options({name: values[-1] for name, values in parse_qs(place.query).items()})
        pieces = kubelet.read((parts[2], parts[3], parts[4]), options, self.connection)
        try:
            next(pieces)
        except NoLog as no:
            self._refuse(no.code, str(no))
            return
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        left, kubelet.cut = kubelet.cut, None
        with contextlib.suppress(OSError):
            for piece in pieces:
                sent = piece if left is None else piece[:left]
                if sent:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(sent), sent))
                if left is not None:
                    left -= len(sent)
                    if left <= 0:
                        self.close_connection = True
                        return
            self.wfile.write(b"0\r\n\r\n")

    def _refuse(self, code: int, text: str) -> None:
        body = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _options(query: dict[str, str]) -> Options:
    since = nanoseconds(query["sinceTime"]) if "sinceTime" in query else 0
    if "sinceSeconds" in query:
        since = max(since, time.time_ns() - int(query["sinceSeconds"]) * 10**9)
    return Options(
        query.get("follow") == "true",
        query.get("timestamps") == "true",
        query.get("previous") == "true",
        since,
        int(query.get("tailLines", -1)),
        int(query.get("limitBytes", -1)),
    )
