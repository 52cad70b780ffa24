"""Requests that can be sent, and gates that open with what they are to give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.findings.kinds import BadRequest
from flowdsl.compiler.lint.tree import entries, inside, string
from flowdsl.compiler.problem import Problem
from flowdsl.diagnostic import Finding
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.view import View


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


_ADDRESS = regex(r"(?i:https?)://[^\s/?#][^\x00-\x1f\x7f]*")
_METHOD = regex(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+")
_BEGUN = regex(r"(?i:https?)://[^\x00-\x1f\x7f]*")


def requests(view: View) -> Iterator[Problem]:
    """A request has a method, an address that there can be, and time for an answer. Source: Go, net/http."""
    for template in view.templates:
        url = string(template.data, "http", "url")
        known, tag, _ = url.partition("{{")
        fits = (_BEGUN if tag else _ADDRESS).fullmatch(known)
        if url and not fits and not (tag and not known):
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
