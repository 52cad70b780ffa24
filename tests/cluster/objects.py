"""A small API server in the process: it keeps objects, and answers as the real one does where clients look.

What it does is proven against the real one: the tests of `tests/apiserver` ask the same of both.
"""

from __future__ import annotations

import contextlib
import copy
import gzip
import json
import re
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qs, urlsplit

from tests.loopback import Loopback

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

Object = dict[str, Any]

_PATH = re.compile(
    r"/(?:api|apis/(?P<group>[^/]+))/(?P<version>v[^/]+)(?:/namespaces/(?P<namespace>[^/]+))?"
    r"/(?P<plural>[a-z]+)(?:/(?P<name>[^/]+))?"
)


class Refused(Exception):
    """An answer that is no."""

    def __init__(self, code: int, reason: str, message: str, name: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.status = {
            "kind": "Status",
            "code": code,
            "reason": reason,
            "message": message,
            "details": {"name": name} if name else {},
        }


class Objects:
    """Objects by their path. `serve()` gives it a port; tests change objects with `put` and `drop`."""

    def __init__(self) -> None:
        self.known: dict[str, Object] = {}
        self.events: list[tuple[int, str, str, Object]] = []
        self.version = 100
        self.compacted = 0
        """Versions up to this one are forgotten."""
        self.tokens: set[str] | None = None
        """The tokens that are let in; None lets everybody in."""
        self.headers: list[tuple[str, str]] = []
        """Those of the last request."""
        self.admit: Callable[[Object], Object] = lambda body: body
        """What becomes of an object that is created, as a webhook may change it."""
        self.warnings: list[str] = []
        """What is said beside what is created."""
        self.changed = threading.Condition()

    def put(self, collection: str, body: Object) -> Object:
        """Create or replace an object as a controller would."""
        with self.changed:
            path = f"{collection}/{body['metadata']['name']}"
            return self._store(path, "MODIFIED" if path in self.known else "ADDED", body)

    def drop(self, path: str) -> None:
        """Delete an object."""
        with self.changed:
            self._forget(path)

    def compact(self) -> None:
        """Forget all versions up to now."""
        with self.changed:
            self.version += 1
            self.compacted = self.version
            self.events.clear()
            self.changed.notify_all()

    def _store(self, path: str, kind: str, body: Object) -> Object:
        self.version += 1
        kept = copy.deepcopy(body)
        before = self.known.get(path, {"metadata": {}})["metadata"]
        kept["metadata"]["resourceVersion"] = str(self.version)
        kept["metadata"]["uid"] = before.get("uid") or kept["metadata"].get("uid") or str(uuid.uuid4())
        kept["metadata"].setdefault("creationTimestamp", "2026-01-31T10:00:00Z")
        self.known[path] = kept
        self.events.append((self.version, kind, path, kept))
        self.changed.notify_all()
        return kept

    def _forget(self, path: str) -> Object:
        self.version += 1
        gone = self.known.pop(path)
        gone = {**gone, "metadata": {**gone["metadata"], "resourceVersion": str(self.version)}}
        self.events.append((self.version, "DELETED", path, gone))
        self.changed.notify_all()
        return gone

    def answer(self, method: str, path: str, query: dict[str, str], body: Object | None) -> Object:
        """What a request other than a watch comes to. Raises Refused."""
        found = _PATH.fullmatch(path)
        if found is None:
            raise Refused(404, "NotFound", "the server could not find the requested resource")
        name = found["name"] or ""
        resource = found["plural"] + (f".{found['group']}" if found["group"] else "")
        with self.changed:
            if method == "POST" and body is not None:
                made = f"{path}/{body['metadata']['name']}"
                if made in self.known:
                    name = body["metadata"]["name"]
                    raise Refused(409, "AlreadyExists", f'{resource} "{name}" already exists', name)
                body = self.admit(copy.deepcopy(body))
                if query.get("dryRun") == "All":
                    return body
                namespace = {"namespace": found["namespace"]} if found["namespace"] else {}
                body = {**body, "metadata": {**body["metadata"], **namespace}}
                return self._store(made, "ADDED", body)
            if not name:
                return self.listed(path, query)
            if path not in self.known:
                raise Refused(404, "NotFound", f'{resource} "{name}" not found', name)
            now = self.known[path]
            if method == "GET":
                return now
            if method == "DELETE":
                conditions: Object = (body or {}).get("preconditions") or {}
                uid = conditions.get("uid")
                if uid and uid != now["metadata"]["uid"]:
                    raise Refused(409, "Conflict", "the UID in the precondition does not match", name)
                return self._forget(path)
            assert body is not None
            if method == "PUT":
                if body["metadata"].get("resourceVersion") not in (None, now["metadata"]["resourceVersion"]):
                    raise Refused(409, "Conflict", "the object has been modified", name)
                return self._store(path, "MODIFIED", body)
            uid = body.get("metadata", {}).get("uid")
            if uid and uid != now["metadata"]["uid"]:
                raise Refused(409, "Conflict", "the uid does not match", name)
            return self._store(path, "MODIFIED", _merged(now, body))

    def listed(self, path: str, query: dict[str, str]) -> Object:
        """The objects below a path that match."""
        items = [
            each
            for where, each in sorted(self.known.items())
            if where.rpartition("/")[0] == path and _matches(each, query)
        ]
        return {"items": items, "metadata": {"resourceVersion": str(self.version)}}

    def watch(
        self, path: str, query: dict[str, str], send: Callable[[Object], None], until: Callable[[], bool]
    ) -> None:
        """Send what happens after a version, until it is time to end."""
        at = int(query["resourceVersion"])
        end = time.monotonic() + float(query.get("timeoutSeconds", 60))
        asked = query.get("allowWatchBookmarks") == "true"
        while True:
            with self.changed:
                if at < self.compacted:
                    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
                    send({"type": "ERROR", "object": status})
                    return
                new = [one for one in self.events if one[0] > at]
                if not new and asked:
                    asked = False
                    send({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": str(at)}}})
                if not new:
                    left = end - time.monotonic()
                    if left <= 0 or until():
                        return
                    self.changed.wait(min(left, 0.2))
                    continue
            for version, kind, where, each in new:
                at = version
                if where.rpartition("/")[0] == path and _matches(each, query):
                    send({"type": kind, "object": each})


@contextlib.contextmanager
def serving(objects: Objects) -> Generator[Loopback]:
    """The objects behind a port of this machine."""
    closing = threading.Event()
    with Loopback(_handler(objects, closing)) as listener:
        yield listener
        closing.set()


def kubeconfig(url: str, path: Path, namespace: str = "default", user: Object | None = None) -> Path:
    """Settings for a server without TLS, and a user with a token if no other."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": url}}],
        "users": [{"name": "test", "user": {"token": "secret"} if user is None else user}],
        "contexts": [
            {"name": "test", "context": {"cluster": "test", "user": "test", "namespace": namespace}}
        ],
        "current-context": "test",
    }
    path.write_text(json.dumps(config))
    return path


def _handler(objects: Objects, closing: threading.Event) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            objects.headers = self.headers.items()
            try:
                token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
                if objects.tokens is not None and token not in objects.tokens:
                    raise Refused(401, "Unauthorized", "Unauthorized")
                if query.get("watch") == "1":
                    self._watch(parts.path, query)
                    return
                given: Object | None = json.loads(body) if body else None
                self._send(200, objects.answer(self.command, parts.path, query, given))
            except Refused as refused:
                self._send(refused.code, refused.status)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815 -- names of http.server

        def _send(self, code: int, found: Object) -> None:
            if "as=PartialObjectMetadataList" in self.headers.get("Accept", "") and "items" in found:
                found = {**found, "items": [{"metadata": one["metadata"]} for one in found["items"]]}
            text = json.dumps(found).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            if self.headers.get("Accept-Encoding") == "gzip":
                self.send_header("Content-Encoding", "gzip")
                text = gzip.compress(text)
            self.send_header("Content-Length", str(len(text)))
            for warning in objects.warnings if self.command == "POST" else ():
                self.send_header("Warning", f'299 - "{warning}"')
            self.end_headers()
            self.wfile.write(text)

        def _watch(self, path: str, query: dict[str, str]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()

            def send(event: Object) -> None:
                line = json.dumps(event).encode() + b"\n"
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                self.wfile.flush()

            try:
                objects.watch(path, query, send, closing.is_set)
                self.wfile.write(b"0\r\n\r\n")
            except OSError:
                self.close_connection = True

    return Handler


def _matches(found: Object, query: dict[str, str]) -> bool:
    """Selectors of equality alone."""
    labels: Object = found["metadata"].get("labels") or {}
    for term in filter(None, query.get("labelSelector", "").split(",")):
        key, _, value = term.partition("=")
        if labels.get(key) != value.removeprefix("="):
            return False
    for term in filter(None, query.get("fieldSelector", "").split(",")):
        key, _, value = term.partition("=")
        if key != "metadata.name" or found["metadata"]["name"] != value:
            return False
    return True


def _merged(now: object, patch: Object) -> Object:
    """A merge patch applied (RFC 7396)."""
    found = dict(cast("Object", now)) if isinstance(now, dict) else {}
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = _merged(found.get(key), cast("Object", value)) if isinstance(value, dict) else value
    return found
