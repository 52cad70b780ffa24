"""Converts loops: the items of a task, and what each of them passes on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.findings.importing import Otherwise
from flowdsl.compiler.importing.layout import call, listed
from flowdsl.compiler.importing.ports import Port, as_text, item_text, parsed, part_text
from flowdsl.compiler.importing.tagged import value_of
from flowdsl.compiler.tree import compact, entries, is_mapping
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import only_tag, references, tags

if TYPE_CHECKING:
    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.model import Json, Render, Value
    from flowdsl.compiler.importing.reading import Scope
    from flowdsl.compiler.tree import Path

_MOST = 1000  # maximal number of items that are written out


class Loop:
    """The items of a task: literals, or a list of the run."""

    def __init__(
        self,
        scope: Scope,
        items: list[Any] | None,
        listing: Value | None = None,
        numbers: Render | None = None,
        each: bool = False,
        first: int = 0,
    ) -> None:
        self.scope = scope
        self.items = items
        self.listing = listing
        self.numbers = numbers
        self.each = each  # whether the port of the list is that of its items
        self.first = first  # the first of the numbers

    @property
    def count(self) -> int | None:
        """The number of items, if they are literals."""
        return None if self.items is None else len(self.items)

    def named(self, text: str) -> bool:
        """Whether a text refers to the item."""
        return any(one.path[:1] == ("item",) for one in references(text))

    def is_taken_apart(self, task: Json, path: Path) -> bool:
        """Whether a task has a condition on its items, or needs parts of them."""
        if self.first or self.named(as_text(task.get("when", ""))):
            return True
        if any(self.named(compact(one)) for one in entries(task, "arguments", "artifacts")):
            return True
        given = entries(task, "arguments", "parameters")
        texts = {index: as_text(one.get("value", "")) for index, one in enumerate(given)}
        named = {index: text for index, text in texts.items() if self.named(text)}
        if self.items is not None:
            return any(tag.kind == "expression" for text in named.values() for tag in tags(text))
        return any(
            not only_tag(text.strip())
            or _item(tags(text)[0].body) != ()
            or self.scope.is_apart((*path, "arguments", "parameters", index, "value"))
            for index, text in named.items()
        )

    def values(self, text: str, port: Port | None, path: Path) -> Render:
        """The list of the values that the items pass."""
        port = Port() if port is None else port
        if self.items is not None:
            made = [value_of(self.filled(text, item, path), self.scope, path, port) for item in self.items]
            spans = self.span(port) if all(one.exact is not None for one in made) else None
            exact = [one.exact for one in made]

            def written() -> Code:
                if spans is not None and port.kind == "int" and exact == spans[1]:
                    return spans[0]
                return listed(one.code() for one in made)

            return written
        if not only_tag(text.strip()) or _item(tags(text)[0].body) != ():
            what = f"`{text}` for each item of a list of the run"
            self.scope.refuse(path, what, "let the step that makes the list compute it for each item")
            return lambda: "[]"
        if self.listing is not None:
            assert self.listing.port is not None
            if self.each:
                port.join(self.listing.port)
                return self.listing.code
            port.root.unknown = True
            port.asked(text=True)
            return self.listing.code
        port.asked(number=True)
        self.scope.counted(path, port)
        return self.numbers if self.numbers is not None else (lambda: "[]")

    def counted(self, port: Port | None) -> Render:
        """The numbers of the items."""
        count = self.count or 0
        for number in range(count):
            if port is not None:
                port.take(str(number))
        return lambda: f"range({count})"

    def span(self, port: Port) -> tuple[Code, list[str]] | None:
        """The items as a range, if they are consecutive numbers."""
        items = self.items or []
        if len(items) < 3 or not all(isinstance(one, str) and _is_whole(one) for one in items):
            return None
        first, last = int(items[0]), int(items[-1])
        if items != [str(number) for number in range(first, last + 1)]:
            return None
        return (f"range({last + 1})" if first == 0 else f"range({first}, {last + 1})"), items

    def filled(self, text: str, item: Any, path: Path) -> str:
        """A text with an item in place of the tags that refer to it."""
        for tag in reversed(tags(text)):
            name = _item(tag.body)
            if name is None:
                continue
            if tag.kind != "simple" or len(name) > 1:
                self.scope.refuse(path, f"`{text[tag.start : tag.end]}`", "write it out in the items")
                continue
            value = item.get(name[0], "") if name and is_mapping(item) else item
            if name:
                made = _escaped(value) if isinstance(value, str) else part_text(value)
            else:
                made = item_text(value)
            text = f"{text[: tag.start]}{made}{text[tag.end :]}"
        return text


def _escaped(text: str) -> str:
    """A field of an item as text, which keeps its escapes. Source: Argo Workflows, processItem in operator.go."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _item(body: str) -> tuple[str, ...] | None:
    """The part of the item that a tag refers to; None for other tags."""
    root, *rest = body.strip().split(".")
    return tuple(rest) if root == "item" else None


def loop_of(task: Json, path: Path, scope: Scope) -> Loop | None:
    """The loop of a task, if it has one."""
    if (items := task.get("withItems")) is not None:
        return Loop(scope, list(items))
    if (text := task.get("withParam")) is not None:
        return _listed(as_text(text), (*path, "withParam"), scope)
    if (sequence := task.get("withSequence")) is not None:
        return _sequence(sequence, (*path, "withSequence"), scope)
    return None


def _listed(text: str, path: Path, scope: Scope) -> Loop:
    if not tags(text) and (items := parsed(text)) is not None:
        return Loop(scope, items)
    if only_tag(text.strip()) and (results := scope.results(tags(text)[0].path)) is not None:
        return Loop(scope, None, results, each=True)
    found = value_of(text, scope, path)
    if found.port is None or found.exact is not None or not only_tag(text.strip()):
        scope.refuse(path, f"`{text}` as a list", "write its items in `withItems`, where tags are allowed")
        return Loop(scope, [""])
    found.port.asked(items=True, text=True)
    return Loop(scope, None, found)


def _sequence(sequence: Json, path: Path, scope: Scope) -> Loop:
    said = {key: as_text(one) for key, one in sequence.items() if one is not None}
    form = said.pop("format", "")
    if all(_is_whole(one) for one in said.values()):
        first = int(said.get("start", "0"))
        last = int(said["end"]) if "end" in said else first + int(said.get("count", "0")) - 1
        numbers = range(first, last + 1) if last >= first or "count" in said else range(first, last - 1, -1)
        if len(numbers) <= _MOST:
            try:
                return Loop(scope, [form % number if form else str(number) for number in numbers])
            except (ValueError, TypeError):
                scope.refuse((*path, "format"), f"the format `{form}`", "write the items out")
                return Loop(scope, [""])
    begin = said.get("start", "0")
    if form or not _is_whole(begin) or not {"count", "end"} & {*said}:
        what = "a sequence of the run with a `format`" if form else "a sequence with a beginning of the run"
        scope.refuse(path, what, "let a step print the list, and loop over that")
        return Loop(scope, [""])
    return _counted(said, int(begin), path, scope)


def _counted(said: dict[str, str], first: int, path: Path, scope: Scope) -> Loop:
    """A sequence whose length is known only at run time."""
    until = "end" if "end" in said else "count"
    given = value_of(said[until], scope, (*path, until))
    if given.port is None:
        return Loop(scope, [""])
    given.port.asked(whole=True)
    more = 1 - first if until == "end" else 0
    if until == "end":
        what = f"no item where the sequence ends before {first}; in the manifest it counts down then"
        scope.tell(path, Otherwise(what, "look whether it may end there"))

    def numbers() -> Code:
        code = given.code()
        return call("numbers", f"{code} {'+' if more > 0 else '-'} {abs(more)}" if more else code)

    return Loop(scope, None, numbers=numbers, first=first)


def _is_whole(text: str) -> bool:
    return _WHOLE.fullmatch(text) is not None


_WHOLE = regex(r"-?[0-9]{1,18}")
