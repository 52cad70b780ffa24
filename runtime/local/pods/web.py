"""HTTP requests, formatted as Go's net/url and net/http format them."""

from __future__ import annotations

import re
import ssl
import urllib.request
from http.client import HTTPException
from urllib.parse import quote, unquote, urlsplit

from flowdsl.grammar.regex import regex

UNANSWERED = (OSError, ValueError, HTTPException)
"""The exceptions when there is no response, or the request is invalid."""

_LABEL = regex(r"[^.:@\[\]]*[^\x00-\x7f][^.:@\[\]]*")
_PATH = regex(r"[-\w.~!$&'()*+,/:;=@\[\]%]*", re.ASCII)
_QUERY = "".join(map(chr, range(128)))


def request(url: str, *, data: bytes | None = None, method: str = "GET") -> urllib.request.Request:
    """A request for a URL, which may contain any characters. Raises ValueError."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"unsupported protocol scheme {parts.scheme!r}")
    path = parts.path if _PATH.fullmatch(parts.path) else quote(unquote(parts.path), safe="$&+,/:;=@")
    made = parts._replace(
        netloc=_LABEL.sub(_ascii, parts.netloc), path=path, query=quote(parts.query, safe=_QUERY)
    )
    return urllib.request.Request(made.geturl(), data=data, method=method)


def _ascii(label: re.Match[str]) -> str:
    return label[0].encode("idna").decode("ascii")


def add_header(to: urllib.request.Request, name: str, value: str) -> None:
    """Add a header to a request, encoded as UTF-8."""
    to.add_header(name, value.encode().decode("latin-1"))


def unverified() -> ssl.SSLContext:
    """A TLS context that does not verify the server."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
