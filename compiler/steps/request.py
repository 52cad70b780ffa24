"""The request of an `http` step, learned once.

Source of the rules: Argo Workflows, workflow/executor/agent.go; RFC 9110 for the names of headers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

from flowdsl.compiler.findings import kinds as findings
from flowdsl.compiler.options.reading import Wrong, is_mapping, said, seconds
from flowdsl.compiler.steps.described import described
from flowdsl.diagnostic import Diagnostic, suggest
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.names import is_dns_subdomain, is_http_token
from flowdsl.grammar.template import unbalanced, variables
from flowdsl.kinds import Method
from flowdsl.mistakes import mistake
from flowdsl.places.place import Argument, Place
from flowdsl.tracing.trace import TOKEN
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Expr, Join, Poison, leaves
from flowdsl.values.joined import text
from flowdsl.values.later import of_run
from flowdsl.values.lift import is_dict, items_of, lift, spelled
from flowdsl.values.value import is_value
from flowdsl.volume import Secret

if TYPE_CHECKING:
    from flowdsl.step import Described, StepDef

_METHODS: tuple[str, ...] = get_args(Method)


class Request(NamedTuple):
    """A request over the inputs of its step; `json`: the body is sent as JSON."""

    method: str
    url: Expr
    headers: tuple[tuple[str, Expr | Secret], ...]
    body: Expr | None
    json: bool
    success: str | None
    timeout: int | None
    insecure: bool


def request(definition: StepDef) -> tuple[Request | None, list[Diagnostic]]:
    """The request of a step, and the errors in it."""
    return described(definition, _read)


class _Reader:
    """Reads the parts of one request."""

    def __init__(self, told: Described, found: list[Diagnostic]) -> None:
        self.said = told
        self.found = found

    def wrong(self, part: str, problem: str, way: str, place: Place) -> None:
        self.found.append(Diagnostic(findings.BadRequest(part, problem, way), place))

    def lifted(self, part: str, written: object, want: t.Type, place: Place) -> Expr | None:
        """A part of the request as an expression; None after an error."""
        wrong: list[str] = []

        def complain(kind: str, **data: Any) -> None:

            wrong.append(kind)
            if kind == "WrongType":
                self.wrong(part, f"is {data['have']}", "write a string, or an input that is one", place)
            else:
                self.found.append(Diagnostic(mistake(kind, **data), place))

        if is_value(written):
            made: Expr = lift(written, t.JSON, complain)
        elif isinstance(want, t.Text) and isinstance(written, str):
            made = text(written)
            if isinstance(made, Const):
                made = lift(written, want, complain)
        elif isinstance(want, t.Text) and isinstance(written, (int, float)) and not isinstance(written, bool):
            made = Const(str(written), t.TEXT)
        else:
            made = lift(written, t.JSON, complain, nested=not isinstance(want, t.Text))
        if isinstance(made, Poison) or wrong:
            return None
        if any(t.holds_file(leaf.type) for leaf in leaves(made)):
            self.wrong(part, "holds a file", "send a string: read the file in a step before this one", place)
            return None
        return made


def _read(step: StepDef, told: Described, found: list[Diagnostic]) -> Request:
    reader = _Reader(told, found)
    method, url = told.arguments
    first = Argument(told.site, position=0)
    if is_value(method) or not isinstance(method, str) or method not in _METHODS:
        shown = said(method) if not is_value(method) else "a run-time value"
        way = suggest(method, _METHODS) if isinstance(method, str) and not is_value(method) else ""
        reader.wrong("the method", f"is {shown}", way or "write GET, POST or another method of HTTP", first)
        method = "GET"
    second = Argument(told.site, position=1)
    address = reader.lifted("the URL", url, t.TEXT, second)
    if address is not None:
        _address(reader, address, second)
    body_place = Argument(told.site, "body")
    written = told.options["body"]
    json = not is_value(written) and (is_dict(written) or items_of(written) is not None)
    body = None
    if written is not None:
        body = reader.lifted("the body", written, t.JSON if json else t.TEXT, body_place)
    headers = _headers(reader)
    if json and not any(name.lower() == "content-type" for name, _ in headers):
        headers = (*headers, ("Content-Type", Const("application/json", t.TEXT)))
    insecure = told.options["insecure"]
    if is_value(insecure) or not isinstance(insecure, bool):
        place = Argument(told.site, "insecure")
        reader.wrong("`insecure`", f"is {spelled(insecure)}", "write True or False", place)
    return Request(
        method,
        address or Const("", t.TEXT),
        headers,
        body,
        json,
        _success(reader),
        _timeout(reader),
        insecure is True,
    )


def _address(reader: _Reader, address: Expr, place: Place) -> None:
    """Check that a URL begins with its scheme and host, or with an input that does."""
    first: object = address
    if isinstance(address, Join):
        first = address.parts[0]
    elif isinstance(address, Const):
        first = address.value
    if not isinstance(first, str):
        return
    way = 'write it whole: "https://host.example/path"'
    if not re.match(r"https?://", first):
        reader.wrong("the URL", "does not begin with https:// or http://", way, place)
    elif isinstance(address, Const) and not re.match(r"https?://[^/?#\s]+", first):
        reader.wrong("the URL", "names no host", way, place)
    parts = address.parts if isinstance(address, Join) else (first,)
    if any(isinstance(part, str) and re.search(r"\s", part) for part in parts):
        reader.wrong("the URL", "contains a space", "write %20 for a space", place)


def _headers(reader: _Reader) -> tuple[tuple[str, Expr | Secret], ...]:
    written = reader.said.options["headers"]
    whole = Argument(reader.said.site, "headers")
    if is_value(written) or not is_mapping(written):
        reader.wrong("`headers`", f"is {spelled(written)}", 'write headers={"Accept": "text/plain"}', whole)
        return ()
    found: list[tuple[str, Expr | Secret]] = []
    for name, value in written.items():
        place = whole._replace(part=f"item:{name}")
        if not isinstance(name, str) or not is_http_token(name):
            key = whole._replace(part=f"key:{name}")
            problem = f"is named {'by a run-time value' if TOKEN.search(str(name)) else said(name)}"
            reader.wrong("a header", problem, "use letters, digits and `-`", key)
            continue
        if isinstance(value, Secret):
            if not is_dns_subdomain(str(value.name)) or not re.fullmatch(r"[-._a-zA-Z0-9]+", str(value.key)):
                reader.wrong(f"the header `{name}`", "names no Secret", 'write Secret("hub", "token")', place)
            found.append((name, value))
            continue
        if not is_value(value) and isinstance(value, str) and ("\n" in value or "\r" in value):
            reader.wrong(f"the header `{name}`", "has several lines", "write it on one line", place)
            continue
        made = reader.lifted(f"the header `{name}`", value, t.TEXT, place)
        if made is not None:
            found.append((name, made))
    return tuple(found)


def _success(reader: _Reader) -> str | None:
    """The condition of success: an expression over the request and the response."""
    written = reader.said.options["success"]
    if written is None:
        return None
    place = Argument(reader.said.site, "success")
    way = 'for example success="response.statusCode == 201"'
    if of_run(written) or not isinstance(written, str) or "{{" in written:
        reader.wrong("`success`", "must be a string that is known now", way, place)
        return None
    if not written.strip():
        reader.wrong("`success`", "is empty", way, place)
        return None
    if (fault := unbalanced(written)) is not None:
        reader.wrong(
            "`success`", f"cannot be read: expected {fault[1]} at character {fault[0] + 1}", way, place
        )
        return None
    fields = {"response": ("statusCode", "body", "headers"), "request": ("method", "url", "body", "headers")}
    for one in variables(written):
        root, *rest = one.path
        if root not in fields:
            problem = f"asks for `{one.dotted}`, which is not a part of the response"
            reader.wrong("`success`", problem, suggest(root, fields) or way, place)
        elif rest and rest[0] not in fields[root]:
            problem = f"asks for `{one.dotted}`"
            reader.wrong("`success`", problem, suggest(rest[0], fields[root]), place)
    return written


def _timeout(reader: _Reader) -> int | None:
    written = reader.said.options["timeout"]
    if written is None:
        return None
    place = Argument(reader.said.site, "timeout")
    if is_value(written):
        reader.wrong("`timeout`", "is known only when the pipeline runs", 'write timeout="30s"', place)
        return None
    try:
        return max(1, round(seconds("timeout", written)))
    except Wrong as error:
        reader.found.append(Diagnostic(error.finding, place))
        return None
