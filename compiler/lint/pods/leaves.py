"""Requests that can be sent, and gates that open with what they are to give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.findings.kinds import BadRequest
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, inside, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path


class NoAnswer(Finding):
    """A gate that opens by itself, and then has no value for what it is to give: the run fails."""

    code = "FD819"
    severity = "warning"
    title = "if nobody supplies `{name}` within {duration}, the run fails at `{gate}`"
    label = "no value then"
    help = "add `default`, or take `duration` out to wait for an answer"
    gate: str
    name: str
    duration: str


class TwoBodies(Finding):
    """Two bodies for one request: Argo sends that of `bodyFrom`."""

    code = "FD828"
    severity = "warning"
    title = "`body` is not sent, because there is `bodyFrom`"
    label = "not sent"
    help = "keep one of them"


_ADDRESS = regex(r"(?i:https?)://[^\s/?#][^\x00-\x1f\x7f]*")
_METHOD = regex(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+")
_BEGUN = regex(r"(?i:https?)://[^\x00-\x1f\x7f]*")


def requests(view: View) -> Iterator[Problem]:
    """A request has a method, an address that there can be, and time for an answer. Source: Go, net/http."""
    for template in view.templates:
        url = string(template.data, "http", "url")
        if not may_be_address(url):
            way = "write the whole address, such as `https://example.com/ready`"
            finding = BadRequest("the address", f"is `{url}`, to which nothing can be sent", way)
            yield Problem((*template.path, "http", "url"), finding)
        method = string(template.data, "http", "method")
        if method and "{{" not in method and not _METHOD.fullmatch(method):
            finding = BadRequest("the method", f"is `{method}`, which is none", "write `GET`, or what it is")
            yield Problem((*template.path, "http", "method"), finding)
        seconds = inside(template.data, "http").get("timeoutSeconds")
        if isinstance(seconds, int) and seconds < 1:
            found = f"is over after {seconds} seconds, before there is an answer"
            finding = BadRequest("the time", found, "write at least 1, or take it out")
            yield Problem((*template.path, "http", "timeoutSeconds"), finding)
        yield from _body(inside(template.data, "http"), (*template.path, "http"))


def may_be_address(url: str) -> bool:
    """Whether a text is an address that a request can go to, as far as it is known; nothing is none yet."""
    known, tag, _ = url.partition("{{")
    return not url or bool(tag and not known) or bool((_BEGUN if tag else _ADDRESS).fullmatch(known))


def _body(request: Object, path: Path) -> Iterator[Problem]:
    """The findings about the body of a request. Source: Argo Workflows, executeHTTPTemplateRequest."""
    source = request.get("bodyFrom")
    if source is not None and source.get("bytes") is None:
        finding = BadRequest("the body", "has no source", "add `bytes` to `bodyFrom`, or write `body`")
        yield Problem((*path, "bodyFrom"), finding)
    elif source is not None and request.get("body"):
        yield Problem((*path, "body"), TwoBodies(), on_key=True)


def gates(view: View) -> Iterator[Problem]:
    """A gate that opens by itself has values for its outputs.

    Source: Argo Workflows, addRawOutputFields and OverrideOutputParametersWithDefault.
    """
    for template in view.templates:
        duration = string(template.data, "suspend", "duration")
        if not duration:
            continue
        filled = {name for name, each in template.parameters.items() if each.get("default") is not None}
        for index, output in enumerate(entries(template.data, "outputs", "parameters")):
            source = inside(output, "valueFrom")
            name = string(output, "name")
            if source.get("supplied") is not None and source.get("default") is None and name not in filled:
                path = (*template.path, "outputs", "parameters", index, "valueFrom")
                yield Problem(path, NoAnswer(template.title, name, duration))
