"""Requests to the API server, with nothing between the test and the wire but the standard library."""

from __future__ import annotations

import contextlib
import http.client
import json
import ssl
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path

Object = dict[str, Any]

JSON = "application/json"
YAML = "application/yaml"
MERGE = "application/merge-patch+json"
WORKFLOWS = "/apis/argoproj.io/v1alpha1/namespaces/{}/workflows"
PODS = "/api/v1/namespaces/{}/pods"


class Refused(Exception):
    """The server's answer was no: `code` of HTTP, `status` the object that came with it."""

    def __init__(self, code: int, status: Object) -> None:
        super().__init__(f"{code} {status.get('reason', '')}: {status.get('message', '')}")
        self.code = code
        self.status = status


class Client:
    """One user at a server; a connection for each request, so it may be used by many threads."""

    def __init__(self, url: str, authority: Path, token: str, seconds: float = 30) -> None:
        self.url = url
        self.token = token
        self.seconds = seconds
        self._place = urlsplit(url)
        self._tls = ssl.create_default_context(cafile=str(authority))

    @contextlib.contextmanager
    def open(
        self,
        path: str,
        query: Mapping[str, object] | None = None,
        *,
        method: str = "GET",
        body: bytes | None = None,
        kind: str = JSON,
    ) -> Generator[http.client.HTTPResponse, None, None]:
        """An answer that is read by the caller. Raises Refused, and OSError or HTTPException of the connection."""
        connection = http.client.HTTPSConnection(
            self._place.hostname or "", self._place.port, timeout=self.seconds, context=self._tls
        )
        with contextlib.closing(connection):
            headers = {"Authorization": f"Bearer {self.token}", "Accept": JSON}
            if body is not None:
                headers["Content-Type"] = kind
            connection.request(method, path + (f"?{urlencode(query)}" if query else ""), body, headers)
            with connection.getresponse() as response:
                if response.status >= 400:
                    raise Refused(response.status, _status(response.read()))
                yield response

    def raw(self, path: str, query: Mapping[str, object] | None = None) -> bytes:
        """The bytes at a path."""
        with self.open(path, query) as response:
            return response.read()

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Mapping[str, object] | None = None,
        kind: str = JSON,
    ) -> Object:
        """The object that answers a request; a body that is bytes is sent as it is."""
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        with self.open(path, query, method=method, body=sent, kind=kind) as response:
            found: Object = json.loads(response.read())
            return found

    def get(self, path: str, query: Mapping[str, object] | None = None) -> Object:
        return self.call("GET", path, query=query)

    def create(self, path: str, body: object, kind: str = JSON) -> Object:
        return self.call("POST", path, body, kind=kind)

    def patch(self, path: str, body: object) -> Object:
        return self.call("PATCH", path, body, kind=MERGE)

    def delete(self, path: str, body: object = None) -> Object:
        return self.call("DELETE", path, body)

    def watch(self, path: str, version: str, **query: object) -> Generator[Object, None, None]:
        """The events after a version of a list, until the server ends the answer."""
        with self.open(path, {"watch": "1", "resourceVersion": version, **query}) as response:
            for line in response:
                event: Object = json.loads(line)
                yield event


def _status(body: bytes) -> Object:
    try:
        found: Object = json.loads(body)
    except ValueError:
        return {"message": body.decode(errors="replace")}
    return found
