"""Type inference: all ports that a value passes through have one type.

A value is a text, unless all that is known of it are numbers, or it is used as a number or a list.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.importing.layout import Code, Parts, call, flat, listed, literal, quoted
from flowdsl.compiler.tree import is_list, is_mapping
from flowdsl.grammar.numbers import json_number
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable

_WHOLE = regex(r"0|-?[1-9][0-9]{0,17}")
_HTML = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"})  # as Go writes JSON
_NUMBER = regex(r"-?[0-9]+(?:\.[0-9]+)?")


Keys = Callable[[dict[str, Any]], list[str]]
"""The order of the keys of an object: sorted, as Go does, or as they are in a text, which Argo hands on."""


class Record:
    """A class whose fields are those that are read from the items of a list."""

    def __init__(self, name: str, fields: dict[str, Port] | None = None) -> None:
        self.name = name
        self.fields = {} if fields is None else fields
        self.whole = fields is not None  # whether the items have no other fields
        self.loose = False  # whether programs print such objects, which therefore get no class

    @property
    def kind(self) -> str:
        """The type, as an annotation."""
        return "dict[str, str]" if self.loose else self.name

    def part(self, of: str, name: str) -> str:
        """The expression for a field of such an object."""
        return f"{of}[{quoted(name)}]" if self.loose else f"{of}.{name}"

    def field(self, name: str) -> Port:
        """The port of a field."""
        return self.fields.setdefault(name, Port(unknown=True))

    def take(self, item: dict[str, Any]) -> None:
        """Add an item that is a literal."""
        for name, port in self.fields.items():
            port.take(part_text(item.get(name, "")))

    def value(self, item: dict[str, Any], keys: Keys = sorted) -> Code:
        """A literal item as code."""
        said = {name: part_text(item.get(name, ""), keys) for name in self.fields}
        return call(self.name, **{name: port.value(said[name]) for name, port in self.fields.items()})


class Port:
    """A place where a value is passed, and what is known about the values there."""

    def __init__(
        self,
        choices: Iterable[str] = (),
        *,
        unknown: bool = False,
        number: bool = False,
        items: bool = False,
        text: bool = False,
        shown: bool = False,
    ) -> None:
        self._same: Port | None = None
        self.constants: list[str] = []
        self.forms = {*_FORMS}  # those that all constants have
        self.compared_whole = True  # whether the literals that it is compared with as a number are whole
        self.given = False  # whether a literal is passed, not only compared
        self.choices = tuple(choices)
        self.unknown = unknown  # whether a value comes from outside of the documents
        self.number = number  # whether it is used as a number in comparisons or computations
        self.whole = False  # whether it is a count
        self.items = items  # whether a loop runs over it
        self.text = text  # whether it is used in a way that only texts allow
        self.shown = shown  # whether it becomes part of a text, or is read by a program
        self.record: Record | None = None  # the class of the value, or of the items if it is a list

    @property
    def root(self) -> Port:
        """The port that represents all ports of the same type."""
        found = self
        while found._same is not None:
            found = found._same
        return found

    def join(self, other: Port) -> None:
        """Merge with another port: both have the same type."""
        one, two = self.root, other.root
        if one is two:
            return
        two._same = one
        one.constants += two.constants
        one.forms = one.forms & two.forms
        one.compared_whole = one.compared_whole and two.compared_whole
        one.record = one.record or two.record
        one.choices = tuple(
            name for name in one.choices or two.choices if name in (two.choices or one.choices)
        )
        for flag in _FLAGS:
            setattr(one, flag, getattr(one, flag) or getattr(two, flag))

    def take(self, text: str, *, compared: bool = False) -> None:
        """Add a literal that is passed to this port, or compared with its value."""
        root = self.root
        root.constants.append(text)
        root.forms = {form for form in root.forms if _FORMS[form](text)}
        root.given = root.given or not compared

    def compare(self, literal: str) -> None:
        """Record a literal that the value is compared with as a number."""
        root = self.root
        root.compared_whole = root.compared_whole and _whole(literal)

    def asked(
        self,
        *,
        number: bool = False,
        whole: bool = False,
        items: bool = False,
        text: bool = False,
        shown: bool = False,
    ) -> None:
        """Record how a value is used."""
        root = self.root
        root.number, root.whole = root.number or number or whole, root.whole or whole
        root.items, root.text, root.shown = root.items or items, root.text or text, root.shown or shown

    @property
    def kind(self) -> str:
        """The type, as an annotation."""
        root = self.root
        known = root.constants
        if root.record is not None and all(records(one) is not None for one in known):
            return f"list[{root.record.kind}]" if root.items else root.record.kind
        if root.items and root.record is None and "list" in root.forms:
            return "list[str]"
        if root.choices and not root.unknown and set(known) <= {*root.choices}:
            return flat(_choices(root.choices))
        if root.text:
            return "str"
        whole = "whole" in root.forms
        fractions = "fraction" in root.forms
        if root.number:
            exact = root.whole or root.given or (not root.unknown and root.compared_whole)
            # A number is printed as Python formats it, so 2.50 remains a text where it is printed.
            kept = root.shown and root.given
            numbers = fractions if kept else "number" in root.forms
            return "int" if whole and exact else "float" if numbers else "str"
        if root.unknown or not known:
            return "str"
        return "int" if whole else "float" if fractions else "str"

    @property
    def annotation(self) -> Code:
        """The type, as code that may take several lines."""
        kind = self.kind
        return _choices(self.root.choices) if kind.startswith("Literal[") else kind

    @property
    def counts(self) -> bool:
        """Whether its values are numbers."""
        return self.kind in ("int", "float")

    def value(self, text: str) -> Code:
        """A literal as a value of the type."""
        kind = self.kind
        record = self.root.record
        if record is not None and kind == f"list[{record.kind}]":
            return listed(record.value(one, list) for one in records(text) or ())
        if kind.startswith("list"):
            items = parsed(text) or []
            return literal([item_text(one) for one in items])
        return number(text) if kind in ("int", "float") else quoted(text)


_FLAGS = ("given", "unknown", "number", "whole", "items", "text", "shown")


def number(text: str) -> str:
    """A numeric literal in Python's notation."""
    return text if _whole(text) or _fraction(text) else repr(float(text))


def is_number(text: str) -> bool:
    """Whether a literal is a number."""
    return _NUMBER.fullmatch(text) is not None


class Exact(float):
    """A number of a JSON text, which keeps its original notation.

    Source: Argo Workflows, Item in item.go, which holds the text.
    """

    text: str

    def __new__(cls, text: str) -> Exact:
        """The number that a text represents."""
        found = super().__new__(cls, text)
        found.text = text
        return found


_DECODER = json.JSONDecoder(parse_float=Exact)


def parsed(text: str) -> list[Any] | None:
    """The items of a list; None for anything else."""
    try:
        found: object = _DECODER.decode(text)
    except ValueError:
        return None
    return found if is_list(found) else None


def all_texts(text: str) -> bool:
    """Whether a list literal contains only texts."""
    return all(isinstance(one, str) for one in parsed(text) or ())


def _choices(texts: Iterable[str]) -> Parts:
    """The type of these texts."""
    return Parts("Literal[", tuple(("", quoted(one)) for one in texts), "]")


def records(text: str) -> list[dict[str, Any]] | None:
    """The items of a list of objects; None for anything else."""
    try:
        found: object = _DECODER.decode(text)
    except ValueError:
        return None
    items = found if is_list(found) else [None]
    objects = [one for one in items if is_mapping(one)]
    return objects if len(objects) == len(items) else None


def _whole(text: str) -> bool:
    """Whether a text is an integer of 64 bits in Python's notation."""
    return _WHOLE.fullmatch(text) is not None


def _fraction(text: str) -> bool:
    """Whether a text is a number in Python's notation, but no integer."""
    return _NUMBER.fullmatch(text) is not None and "." in text and repr(float(text)) == text


_FORMS: dict[str, Callable[[str], bool]] = {
    "list": lambda text: parsed(text) is not None,
    "whole": _whole,
    "fraction": _fraction,
    "number": is_number,
}
"""What literals may be read as."""


def as_text(value: object) -> str:
    """A scalar of YAML or JSON as Argo formats it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return value.text if isinstance(value, Exact) else json_number(value)
    return value if isinstance(value, str) else json.dumps(value)


def item_text(item: Any) -> str:
    """An item as Argo formats it."""
    return part_text(item).translate(_HTML) if isinstance(item, (dict, list)) else as_text(item)


def part_text(part: Any, keys: Keys = sorted) -> str:
    """A field of an item as Argo formats it; `keys` is the order of those of objects."""
    return _json(part, keys) if isinstance(part, (dict, list)) else as_text(part)


def _json(item: Any, keys: Keys) -> str:
    """JSON with numbers as Go formats them."""
    if is_mapping(item):
        return f"{{{','.join(f'{_json(key, keys)}:{_json(item[key], keys)}' for key in keys(item))}}}"
    if is_list(item):
        return f"[{','.join(_json(one, keys) for one in item)}]"
    return json.dumps(item, ensure_ascii=False) if isinstance(item, str) else as_text(item)
