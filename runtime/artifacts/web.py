"""Artifacts at a plain URL."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from flowdsl.runtime.artifacts.sources import BLOCK, Entry
from flowdsl.runtime.artifacts.trouble import Broken, Changed, Missing, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from http.client import HTTPResponse

_SECONDS = 60.0
_BROKEN = (http.client.HTTPException, OSError)


class Web:
    """One object at a URL, requested anonymously, or with the headers of the artifact."""

    digests = False

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        wrong = StoreError(f"{url!r} is not an http or https address")
        try:
            parts = urlsplit(url)
        except ValueError:
            raise wrong from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise wrong
        self._url = url
        self._headers = headers

    def entries(self) -> list[Entry]:
        """The object, whose size the server has to tell."""
        with self._ask("HEAD") as answer:
            size = answer.headers.get("Content-Length", "")
            if not size.isdecimal():
                raise StoreError(f"{self._url} does not say how long it is")
            return [
                Entry("", int(size), answer.headers.get("ETag") or answer.headers.get("Last-Modified") or "")
            ]

    def read(self, entry: Entry, offset: int) -> Iterator[bytes]:
        """Its bytes; a server without support for ranges also sends the skipped ones."""
        more = {"Range": f"bytes={offset}-"} if offset else {}
        if entry.tag.startswith('"'):
            more["If-Match"] = entry.tag
        with self._ask("GET", more) as answer:
            if (answer.headers.get("ETag") or answer.headers.get("Last-Modified") or "") != entry.tag:
                raise Changed(f"{self._url} has changed")
            skip = offset if answer.status != http.client.PARTIAL_CONTENT else 0
            try:
                while block := answer.read(BLOCK):
                    if kept := block[skip:]:
                        yield kept
                    skip = max(0, skip - len(block))
            except _BROKEN as error:
                raise Broken(f"{self._url} broke off: {error}") from None

    def _ask(self, method: str, more: Mapping[str, str] | None = None) -> HTTPResponse:
        headers = {**self._headers, **(more or {}), "Accept-Encoding": "identity"}
        request = urllib.request.Request(self._url, headers=headers, method=method)
        try:
            answer: HTTPResponse = urllib.request.urlopen(request, timeout=_SECONDS)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == http.client.PRECONDITION_FAILED:
                raise Changed(f"{self._url} has changed") from None
            if error.code in (http.client.NOT_FOUND, http.client.GONE):
                raise Missing(f"there is nothing at {self._url}") from None
            kind = Broken if error.code >= 500 else StoreError
            raise kind(f"{self._url} was refused: HTTP {error.code}") from None
        except _BROKEN as error:
            reason = getattr(error, "reason", error)
            raise Broken(f"{self._url} cannot be reached: {reason}", store=self._url) from None
        return answer
