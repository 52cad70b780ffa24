"""HTTP requests that cannot be sent, and suspend templates that do not get their outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.findings.kinds import BadRequest
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries_at, inside, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.names import is_http_token
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path


class NoAnswer(Finding):
    """A gate that opens by itself without a value for its output: the run fails."""

    code = "FD819"
    severity = "warning"
    title = "if nobody supplies `{name}` within {duration}, the run fails at `{gate}`"
    label = "then it has no value"
    help = "add `default`, or remove `duration` to wait for an answer"
    gate: str
    name: str
    duration: str


class NotSent(Finding):
    """Two bodies for one request, or two values for a header: Argo sends those of `bodyFrom` and `valueFrom`."""

    code = "FD828"
    severity = "warning"
    title = "`{field}` is not sent, because `{field}From` is set"
    label = "not sent"
    help = "keep one of them"
    field: str


_HOST = r"(?:\[[^\]\s/?#]*\]|(?:[-\w.~!$&'()*+,;=<>\"\]]|[^\x00-\x7f]|%[89A-Fa-f][0-9A-Fa-f])+)"
_TEXT = r"(?:[^%{}\x00-\x1f\x7f]|%[0-9A-Fa-f]{{2}})*"
_ADDRESS = regex(
    rf"(?i:https?)://(?:(?:[-A-Za-z0-9._:~!$&'()*+,;=@]|%[0-9A-Fa-f]{{2}})*@)?"
    rf"(?:{_HOST}(?::(?P<port>[0-9]*))?|:[0-9]+)"
    rf"(?:/{_TEXT.format('?#')})?(?:\?[^#\x00-\x1f\x7f]*)?(?:#{_TEXT.format('')})?"
)
"""What Go's url.Parse accepts as a URL with a host: escapes are checked everywhere but in the query."""
_MOST_PORT = "65535"

_BEGUN = regex(r"(?i:https?)://[^\x00-\x1f\x7f]*")


def requests(view: View) -> Iterator[Problem]:
    """A request has a method, a valid URL, headers, and time for a response. Source: Go, net/http."""
    for template in view.templates:
        url = string(template.data, "http", "url")
        place = (*template.path, "http", "url")
        if not may_be_address(url):
            yield Problem(place, _no_address(url))
        elif inside(template.data, "http").get("url") == "" and not string(view.defaults, "http", "url"):
            yield Problem(place, BadRequest("the address", "is empty", "write where the request goes"))
        yield from _headers(inside(template.data, "http"), (*template.path, "http"))
        method = string(template.data, "http", "method")
        if method and "{{" not in method and not is_http_token(method):
            finding = BadRequest("the method", f"is `{method}`, which is none", "write `GET`, or what it is")
            yield Problem((*template.path, "http", "method"), finding)
        seconds = inside(template.data, "http").get("timeoutSeconds")
        if isinstance(seconds, int) and seconds < 1:
            found = f"is over after {seconds} seconds, before there is an answer"
            finding = BadRequest("the time", found, "write at least 1, or remove it")
            yield Problem((*template.path, "http", "timeoutSeconds"), finding)
        yield from _body(inside(template.data, "http"), (*template.path, "http"))


def _no_address(url: str) -> Finding:
    """What is wrong with an invalid URL."""
    way = whole_address(url, "https://example.com/ready")
    return BadRequest("the address", f"is `{url}`, to which nothing can be sent", way)


def _headers(request: Object, path: Path) -> Iterator[Problem]:
    """The findings about headers that cannot be sent."""
    for place, part, problem, way in header_faults(request, path):
        yield Problem(place, BadRequest(part, problem, way))
    for place, header in entries_at(request, path, "headers"):
        if string(header, "value") and inside(header, "valueFrom").get("secretKeyRef") is not None:
            yield Problem((*place, "value"), NotSent("value"), on_key=True)


def header_faults(request: Object, path: Path) -> Iterator[tuple[Path, str, str, str]]:
    """Headers that cannot be sent: where, which part of them, what is wrong, and the remedy."""
    for place, header in entries_at(request, path, "headers"):
        name, value = string(header, "name"), string(header, "value")
        if "{{" not in name and not is_http_token(name):
            way = "write letters, digits and `-`, as in `Content-Type`"
            yield (*place, "name"), "the name of a header", f"is `{name}`, which is none", way
        if _CONTROL.search(value):
            way = "write its value on one line"
            yield (*place, "value"), f"the header `{name}`", "has several lines", way


_CONTROL = regex(r"[\x00-\x08\x0a-\x1f\x7f]")


def may_be_address(url: str) -> bool:
    """Whether a text may be a valid URL, as far as it is known; an empty one counts as such."""
    known, tag, _ = url.partition("{{")
    if tag:
        return not known or bool(_BEGUN.fullmatch(known))
    found = _ADDRESS.fullmatch(known)
    port = "" if found is None else (found["port"] or "").lstrip("0")
    return not url or (found is not None and len(port) <= len(_MOST_PORT) and port.zfill(5) <= _MOST_PORT)


def whole_address(url: str, example: str) -> str:
    """What to write in place of a text that is no address, or of one whose port is too high."""
    whole = f"write the whole address, such as `{example}`"
    return f"write a port up to {_MOST_PORT}" if _ADDRESS.fullmatch(url) else whole


def _body(request: Object, path: Path) -> Iterator[Problem]:
    """The findings about the body of a request. Source: Argo Workflows, executeHTTPTemplateRequest."""
    source = request.get("bodyFrom")
    if source is not None and source.get("bytes") is None:
        finding = BadRequest("the body", "has no source", "add `bytes` to `bodyFrom`, or write `body`")
        yield Problem((*path, "bodyFrom"), finding)
    elif source is not None and request.get("body"):
        yield Problem((*path, "body"), NotSent("body"), on_key=True)


def gates(view: View) -> Iterator[Problem]:
    """A `suspend` template that resumes by itself has values for its outputs.

    Source: Argo Workflows, addRawOutputFields and OverrideOutputParametersWithDefault.
    """
    for template in view.templates:
        duration = string(template.data, "suspend", "duration")
        if not duration:
            continue
        filled = {name for name, each in template.parameters.items() if each.get("default") is not None}
        for path, output in entries_at(template.data, template.path, "outputs", "parameters"):
            source = inside(output, "valueFrom")
            name = string(output, "name")
            if source.get("supplied") is not None and source.get("default") is None and name not in filled:
                yield Problem((*path, "valueFrom"), NoAnswer(template.title, name, duration))
