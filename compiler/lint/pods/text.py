"""Texts that are changed or rejected on their way into the pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.limits import MOST_ENVIRONMENT
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, is_list, is_mapping, pairs
from flowdsl.diagnostic import Finding
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.compiler.lint.manifest.template import Call
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.problem import Part
    from flowdsl.compiler.tree import Object, Path


class ControlCharacter(Finding):
    """A value with a character that Argo cannot put into a template."""

    code = "FD590"
    title = "the value of `{name}` contains the character {character}, on which Argo fails"
    label = "contains {character}"
    help = "remove the character, or pass the value on as a file"
    name: str
    character: str


class NoText(Finding):
    """A text with a character that UTF-8 does not have, or that no program can be given."""

    code = "FD842"
    title = "`{holder}` contains the character {character}, which {why}"
    label = "contains {character}"
    help = "{way}"
    holder: str
    character: str

    def words(self) -> dict[str, str]:
        """The fields, why the character is not allowed there, and the remedy."""
        why, way = "is half of one", "decode the bytes as UTF-8, or remove it"
        if self.character == "U+0000":
            why, way = "ends a text on Linux", "remove it, or let the program read it from a file"
        return {**super().words(), "why": why, "way": way}


class EscapedItem(Finding):
    """An item whose text arrives with its quotes, backslashes or line breaks escaped."""

    code = "FD591"
    severity = "warning"
    title = "the value of `{key}` in an item arrives with {what} escaped"
    label = "arrives as JSON text"
    help = "make each item one JSON text, and read it by `fromJSON(item)`"
    key: str
    what: str


class ChangedSource(Finding):
    """Source whose `$$` or `$(NAME)` Kubernetes replaces on the way to the pod."""

    code = "FD592"
    severity = "warning"
    title = "`{found}` in the source arrives as {arrives}"
    label = "Kubernetes replaces it on the way to the pod"
    help = "{way}"
    found: str
    arrives: str
    way: str


_UNSAFE = regex("[\x00-\x07\x0b\x0e-\x1f\x7f]")
_HALF = regex("[\ud800-\udfff]")
_GIVEN = frozenset(("args", "command", "env"))
"""What the kernel passes to a program: strings that end at their first NUL. Source: execve(2)."""
_CHANGED = regex(r"\$\$|\$\((?:ARGO_POD_NAME|ARGO_POD_UID|ARGO_WORKFLOW_NAME|ARGO_WORKFLOW_UID)\)")


def unsafe(text: str) -> str:
    """The first character of a text that Argo cannot substitute, or nothing.

    Argo writes values into JSON with Go's strconv.Quote: control characters but tab, line feed, carriage
    return, backspace and form feed, and unprintable characters above U+FFFF, become escapes that JSON
    does not have. Source: Argo Workflows, util/template/simple_template.go.
    """
    if text.isprintable():
        return ""
    if (match := _UNSAFE.search(text)) is not None:
        return match[0]
    if text.isascii():
        return ""
    return next((each for each in text if each > "\uffff" and not each.isprintable()), "")


def texts(view: View) -> Iterator[Problem]:
    """All texts can be encoded as UTF-8, and those for programs have no NUL."""
    waiting: list[tuple[Any, Path, bool]] = [(view.document, (), False)]
    while waiting:
        node, path, given = waiting.pop()
        for key, value in pairs(node):
            if isinstance(value, str):
                found = "\x00" if given and "\x00" in value else ""
                if not found and not value.isascii() and (match := _HALF.search(value)) is not None:
                    found = match[0]
                if found:
                    holder = (
                        path[-1] if isinstance(key, int) else node.get("name", key) if key == "value" else key
                    )
                    yield Problem(
                        (*path, key), NoText(str(holder), f"U+{ord(found):04X}"), part=_part(value, found)
                    )
            elif is_mapping(value) or is_list(value):
                waiting.append((value, (*path, key), given or key in _GIVEN))


def characters(view: View) -> Iterator[Problem]:
    """Values hold only characters that Argo can substitute into a template."""
    yield from _values(entries(view.spec, "arguments", "parameters"), (*view.path, "arguments", "parameters"))
    for template in view.templates:
        inputs = entries(template.data, "inputs", "parameters")
        if inputs:
            yield from _values(inputs, (*template.path, "inputs", "parameters"))
    if unsafe(" ".join(view.values)):
        for call in view.calls:
            path = (*call.path, "arguments", "parameters")
            yield from _values(entries(call.data, "arguments", "parameters"), path)
    for call in view.looping:
        if call.data.get("withItems"):
            yield from _items(view, call)


def _values(parameters: list[Object] | None, path: Path) -> Iterator[Problem]:
    for index, parameter in enumerate(parameters or ()):
        for field in ("value", "default"):
            value = parameter.get(field)
            if isinstance(value, str) and (character := unsafe(value)):
                finding = ControlCharacter(parameter.get("name") or "", f"U+{ord(character):04X}")
                yield Problem((*path, index, field), finding, part=_part(value, character))


def _part(text: str, character: str) -> Part:
    return text.index(character), text.index(character) + 1


_ESCAPED = regex(r'["\\\n\r\t]')
_ESCAPES = {'"': "quotes", "\\": "backslashes", "\n": "line breaks", "\r": "line breaks", "\t": "tabs"}


def _items(view: View, call: Call) -> Iterator[Problem]:
    """The findings about the items of a loop; one of each kind, at the first item."""
    found = view.survey(call)
    path = (*call.path, "withItems")
    if not found.text.isprintable() and unsafe(found.text):
        index, key, value = next(each for each in _texts(call.data["withItems"]) if unsafe(each[2]))
        character = unsafe(value)
        finding = ControlCharacter(f"item {index}", f"U+{ord(character):04X}")
        place = (*path, index) if key is None else (*path, index, key)
        yield Problem(place, finding, part=_part(value, character))
    if dict in found.kinds and any(each in found.text for each in _ESCAPES):
        for index, key, value in _texts(call.data["withItems"]):
            if key is not None and (match := _ESCAPED.search(value)) is not None:
                escaped = EscapedItem(key, _ESCAPES[match[0]])
                yield Problem((*path, index, key), escaped, part=match.span())
                return


def _texts(items: list[Any]) -> Iterator[tuple[int, str | None, str]]:
    """The texts among items and directly inside them: the item's position, the key in a mapping, the text."""
    for index, item in enumerate(items):
        pairs: Iterable[tuple[str | None, Any]] = [(None, item)]
        if is_mapping(item):
            pairs = item.items()
        elif is_list(item):
            pairs = ((None, each) for each in item)
        for key, value in pairs:
            if isinstance(value, str):
                yield index, key, value


def sources(view: View) -> Iterator[Problem]:
    """Scripts contain nothing that Kubernetes replaces before the script is written.

    A template up to 128 KiB is passed in an environment variable, where `$$` stands for `$`.
    """
    for template in view.templates:
        source = template.source
        if "$" not in source or len(source) >= MOST_ENVIRONMENT:
            continue
        first: dict[str, Part] = {}
        for match in _CHANGED.finditer(source):
            first.setdefault(match[0], match.span())
        for found, part in first.items():
            arrives, way = (
                "the value of that variable",
                "write `$` and `(` in such a way that they are not together",
            )
            if found == "$$":
                arrives, way = "`$`", "write the second `$` as `\\x24` in Python, or by a variable in a shell"
            finding = ChangedSource(found, arrives, way)
            yield Problem((*template.path, "script", "source"), finding, part=part)
