"""Converts texts with Argo's tags to expressions of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.importing.expressions import expression
from flowdsl.compiler.importing.model import Value
from flowdsl.compiler.importing.ports import Port
from flowdsl.compiler.importing.texts import formatted, joined
from flowdsl.grammar.template import is_filled, tags

if TYPE_CHECKING:
    from flowdsl.compiler.importing.reading import Scope
    from flowdsl.compiler.importing.texts import Piece
    from flowdsl.compiler.tree import Path
    from flowdsl.grammar.template import Tag


def pieces(text: str, scope: Scope, path: Path) -> list[Piece]:
    """A text split into literals and the values of its tags."""
    found: list[Piece] = []
    end = 0
    for tag in tags(text):
        if tag.start > end:
            found.append(text[end : tag.start])
        written = text[tag.start : tag.end]
        end = tag.end
        if tag.kind == "expression":
            value = expression(tag.body, scope)
        elif tag.kind == "simple" and is_filled(written):
            value = scope.variable(tag.path)
        else:
            found.append(written)
            continue
        if value is None or value.held is not None:
            scope.refuse(path, f"`{written}`", _way(tag))
        elif value.exact is not None:
            found.append(value.exact)
        else:
            found.append(value)
    return [*found, text[end:]] if end < len(text) or not found else found


_EACH = "pass on the parameters that are needed, each by its name"

#: Remedies for names that cannot be expressed, by parts of the names.
_WAYS = {
    "outputs.result": "let the program write what it prints to a file, and say that as one more of its outputs",
    "exitCode": "let the program end well in any case, and print or write what is asked about its end",
    "workflow.outputs": "return it from the template that makes it, and pass it on from there",
    "workflow.uid": "take `{{workflow.name}}`, which no other run of the namespace has",
    "workflow.creationTimestamp": "take `{{workflow.scheduledTime}}` in a CronWorkflow; else let a step print the "
    "time, or let the one who starts a run give it",
    "workflow.parameters.json": _EACH,
    "inputs.parameters.": "only the step knows this value: pass it where the step is called, or let the program "
    "write it to a file, and read the output from that",
    "pod.name": "take `{{workflow.name}}` and what tells the tasks apart",
}


def way_out(text: str) -> str:
    """The remedy for a text with a name that cannot be expressed; empty if none is known."""
    if text.strip().endswith(".outputs.parameters"):  # of a loop
        return f"take one of them by its name, as in `{{{{{text.strip()}.NAME}}}}`: the list of its values"
    if text.strip() == "workflow.parameters":
        return _EACH
    return next((way for words, way in _WAYS.items() if words in text), "")


def _way(tag: Tag) -> str:
    computed = "let a step compute it, and pass on what that gives" if tag.kind == "expression" else ""
    return computed or way_out(tag.body)


def unsaid(text: str, scope: Scope) -> Tag | None:
    """The first tag of a text that cannot be expressed."""
    for tag in tags(text):
        if tag.kind == "expression":
            value = expression(tag.body, scope)
        elif is_filled(text[tag.start : tag.end]):
            value = scope.variable(tag.path)
        else:
            continue
        if value is None or value.held is not None:
            return tag
    return None


def value_of(text: str, scope: Scope, path: Path, port: Port | None = None) -> Value:
    """A text as a value for the port that takes it."""
    port = Port() if port is None else port
    found = joined(pieces(text, scope, path))
    if found.exact is not None:
        port.take(found.exact)
        exact = found.exact
        return Value(lambda: port.value(exact), port, exact)
    if found.port is None:
        scope.refuse(path, f"`{text}`: the text of a file")
    elif scope.apart(path, given := found.port, port):
        return Value(lambda: formatted([found]) if given.counts and not port.counts else found.code(), port)
    else:
        port.join(found.port)
    return Value(found.code, port)
