"""Check a manifest against the closed schema: `argo.json` made into small functions.

Each function takes a value and returns None when all is well, else what is wrong, with paths from that
value down; the paths are put together on the way back, so a good manifest pays for none of it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.problem import Problem
from flowdsl.compiler.schema import findings
from flowdsl.compiler.schema.table import API_VERSION, beside, is_type, kinds, table
from flowdsl.compiler.tree import is_list, is_mapping, is_number
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from flowdsl.compiler.tree import Path
    from flowdsl.diagnostic import Finding


class At(NamedTuple):
    """A path in a document of some kind."""

    kind: str
    path: Path
    document: Any = None

    @property
    def text(self) -> str:
        """The path as Kubernetes writes it."""
        return findings.dotted(self.path)


class Fault:
    """What is wrong at `path` below a value; `describe` makes the finding once the whole path is known."""

    __slots__ = ("describe", "on_key", "path")

    def __init__(self, path: Path, describe: Callable[[At], Finding], on_key: bool = False) -> None:
        self.path, self.describe, self.on_key = path, describe, on_key


Check = Callable[[Any], "list[Fault] | None"]


def check_schema(document: dict[str, Any]) -> Iterator[Problem]:
    """All findings about one document, FD401 to FD412.

    The schema is that of the full CRDs of Argo 4.1, and closed: a field that they
    do not have is a finding. Not here: rules between fields (one body per template and the like).
    A field with the value null counts as left out, as it does for the API server. Inside `inline`, where
    the API server does not look, sizes and ranges are free, and template tags may stand for any text.
    """
    kind = str(document.get("kind"))
    faults = check_head(document) or reading(False).object(kind)(document)
    for fault in faults or ():
        yield Problem(fault.path, fault.describe(At(kind, fault.path, document)), fault.on_key)


def findings_of(name: str, data: Any) -> Iterator[tuple[Path, Finding]]:
    """What is wrong with an object of a type, as the API server validates it, and where."""
    for fault in reading(False).object(name)(data) or ():
        yield fault.path, fault.describe(At(name, fault.path, data))


def check_head(document: dict[str, Any]) -> list[Fault]:
    """What is wrong with `apiVersion` and `kind`, which select the schema for the rest."""
    version, kind = document.get("apiVersion"), document.get("kind")
    faults: list[Fault] = []
    if version is None:
        faults.append(missing("apiVersion", f"`{API_VERSION}`"))
    if kind is None:
        faults.append(missing("kind", " or ".join(f"`{known}`" for known in kinds())))
    elif kind not in (*kinds(), *beside()):
        faults.append(Fault(("kind",), lambda _: findings.UnknownKind(str(kind), str(version))))
    elif version is not None and version != API_VERSION:
        faults.append(Fault(("apiVersion",), lambda _: findings.UnknownVersion(str(version))))
    return faults


def missing(field: str, what: str) -> Fault:
    """The fault of an object without a required field."""
    return Fault((), lambda at: findings.MissingField(findings.dotted((*at.path, field)), field, what))


def wrong(expression: str, value: object) -> list[Fault]:
    """The fault of a value of another type."""
    return [Fault((), lambda at: findings.WrongType(at.text, expression, value))]


def below(step: str | int, faults: list[Fault]) -> list[Fault]:
    """The faults of an entry as faults of its container."""
    return [Fault((step, *fault.path), fault.describe, fault.on_key) for fault in faults]


@cache
def reading(unseen: bool) -> Reading:
    """The checks for a document, or for the part that the API server does not validate."""
    return Reading(unseen)


class Reading:
    """The checks of the schema, each made when first needed."""

    def __init__(self, unseen: bool) -> None:
        self.unseen = unseen
        self.objects: dict[str, Check] = {}

    def object(self, name: str) -> Check:
        """The check for an object type."""
        if name not in self.objects:
            self.objects[name] = object_check(name, self)
        return self.objects[name]

    def expression(self, expression: str, rule: Mapping[str, Any]) -> Check:
        """The check for a type expression under the rule of its field."""
        outer, _, inner = expression.partition(":")
        if self.unseen and expression != "string":
            rule = {}
        if outer == "list":
            entry = None if inner == "any" else self.expression(inner, rule.get("each", {}))
            return list_check(expression, entry, rule)
        if outer == "map":
            return map_check(expression, self.expression(inner, {}), is_type(inner))
        if is_type(expression):
            return self.object(expression)
        if expression == "string":
            return text_check(rule, self.unseen)
        return integer_check(expression, rule) if expression in WIDTHS else SCALARS[expression]


class FieldChecks(dict[str, Check]):
    """The checks of the fields of one type; each is made from the table when first requested."""

    def __init__(self, owner: str, checks: Reading) -> None:
        super().__init__()
        made = table()["types"][owner]
        self.owner, self.checks = owner, checks
        self.fields, self.rules = made["fields"], made.get("rules", {})

    def __missing__(self, field: str) -> Check:
        if field not in self.fields:
            return self.refuse()
        rule = self.rules.get(field, {})
        checks = reading(True) if rule.get("open") else self.checks
        self[field] = check = checks.expression(self.fields[field], rule)
        return check

    def refuse(self) -> Check:
        """The check for a field that the type does not have."""

        def unknown(at: At) -> Finding:
            return findings.UnknownField(self.owner, at.kind, at.path, at.document)

        return lambda _: [Fault((), unknown, on_key=True)]


def object_check(name: str, checks: Reading) -> Check:
    """The check for an object type: its fields, and the required ones."""
    made = table()["types"][name]
    fields, required = made["fields"], made.get("required", [])
    check_of = FieldChecks(name, checks)
    # Most values are plain text or booleans, which are checked here without a call.
    classes: dict[str, type] = {"string": str, "boolean": bool}
    plain = {
        field: classes[expression]
        for field, expression in fields.items()
        if expression in classes and field not in check_of.rules
    }

    def check(value: Any) -> list[Fault] | None:
        if not is_mapping(value):
            return wrong(name, value)
        faults: list[Fault] = []
        for field, item in value.items():
            if plain.get(field) is type(item) or (item is None and field in fields):
                continue
            found = check_of[field](item)
            if found:
                faults += below(field, found)
        for field in required:
            if value.get(field) is None:
                faults.append(missing(field, findings.in_words(fields[field], check_of.rules.get(field, {}))))
        return faults

    return check


def list_check(expression: str, entry: Check | None, rule: Mapping[str, Any]) -> Check:
    """The check for a list: its entries, their number, and their uniqueness where required."""
    least, most = rule.get("minItems", 0), rule.get("maxItems", sys.maxsize)
    keys: Mapping[str, Any] | None = rule.get("keys")
    distinct = keys is not None or "set" in rule

    def check(value: Any) -> list[Fault] | None:
        if not is_list(value):
            return wrong(expression, value)
        faults: list[Fault] = []
        if entry is not None:
            for index, item in enumerate(value):
                found = entry(item)
                if found:
                    faults += below(index, found)
        count = len(value)
        if count < least:
            faults.append(Fault((), lambda at: findings.TooFewEntries(at.text, count, least)))
        if count > most:
            faults.append(Fault((), lambda at: findings.TooManyEntries(at.text, count, most, rule["advice"])))
        if distinct and count > 1 and not faults:
            faults = repeated(value, keys)
        return faults

    return check


def repeated(entries: Sequence[Any], keys: Mapping[str, Any] | None) -> list[Fault]:
    """The faults of entries that repeat an earlier one: its keys or, if there are none, the whole."""
    seen: dict[Hashable, int] = {}
    faults: list[Fault] = []
    for index, entry in enumerate(entries):
        told = [entry] if keys is None else [entry.get(key) for key in keys]
        if keys is not None and None in told:
            told = [default if one is None else one for one, default in zip(told, keys.values(), strict=True)]
        earlier = seen.setdefault(tuple(told), index)
        if earlier != index:
            faults.append(repetition(index, dict(zip(keys or ("value",), told, strict=True)), earlier))
    return faults


def repetition(index: int, told: Mapping[str, object], earlier: int) -> Fault:
    """The fault of one entry that repeats an earlier one."""
    return Fault((index,), lambda at: findings.RepeatedEntry(at.text, told, earlier))


def map_check(expression: str, entry: Check, of_objects: bool) -> Check:
    """The check for a mapping with free keys. Keys other than text become text in Argo's reader.

    A null object counts as an empty one.
    """

    def check(value: Any) -> list[Fault] | None:
        if not is_mapping(value):
            return wrong(expression, value)
        faults: list[Fault] = []
        for key, item in value.items():
            found = None if item is None and not of_objects else entry({} if item is None else item)
            if found:
                faults += below(key, found)
        return faults

    return check


def text_check(rule: Mapping[str, Any], unseen: bool) -> Check:
    """The check for text: its pattern, its length, its enumeration."""
    name: str = rule.get("pattern", "")
    matches = pattern(name) if name else None
    words: Sequence[str] = rule.get("enum", ())
    least: int | None = rule.get("minLength")
    most: int | None = rule.get("maxLength")
    low, high = least or 0, sys.maxsize if most is None else most

    def check(value: Any) -> list[Fault] | None:
        if not isinstance(value, str):
            return wrong("string", value)
        if (
            low <= len(value) <= high
            and (matches is None or matches(value))
            and (not words or value in words)
        ):
            return None
        return None if unseen and "{{" in value else unfit(value)

    def unfit(value: str) -> list[Fault]:
        faults: list[Fault] = []
        if matches is not None and not matches(value):
            faults.append(Fault((), lambda at: findings.PatternMismatch(at.text, value, name)))
        if words and value not in words:
            faults.append(Fault((), lambda at: findings.NotOneOf(at.text, value, words)))
        if not low <= len(value) <= high:
            bounds = findings.within(least, most)
            faults.append(Fault((), lambda at: findings.TextLength(at.text, len(value), bounds)))
        return faults

    return check


@cache
def pattern(name: str) -> Callable[[str], object]:
    """Whether a whole text matches a named pattern. Classes hold ASCII only, as in Go."""
    return re.compile(table()["patterns"][name][0], re.ASCII).fullmatch


WIDTHS = {"int32": 31, "integer": 63}


def integer_check(expression: str, rule: Mapping[str, Any]) -> Check:
    """The check for whole numbers: the width of the type and the range of the rule."""
    width = WIDTHS[expression]
    least, most = rule.get("min", -(2**width)), rule.get("max", 2**width - 1)

    def check(value: Any) -> list[Fault] | None:
        if not is_whole(value):
            return wrong(expression, value)
        if least <= value <= most:
            return None
        lowest = "min" in rule and "max" not in rule and value < least
        bounds = findings.within(least, None if lowest else most)
        way = rule.get("advice", f"write {bounds}" if lowest else f"write a number in the range {bounds}")
        return [Fault((), lambda at: findings.OutOfRange(at.text, value, bounds, way))]

    return check


def is_whole(value: Any) -> bool:
    """Whether the value is a whole number in JSON; 3.0 is one."""
    return is_number(value) and value == value // 1


def quantity_check(value: Any) -> list[Fault] | None:
    """The check for quantities. Argo reads them before it fills in tags, so also inside `inline`."""
    if isinstance(value, str) and not pattern("quantity")(value):
        return [Fault((), lambda at: findings.PatternMismatch(at.text, value, "quantity"))]
    return None if isinstance(value, str) or is_whole(value) else wrong("quantity", value)


def scalar(expression: str, accepts: Callable[[Any], bool]) -> Check:
    """The check for a type with a simple predicate."""
    return lambda value: None if accepts(value) else wrong(expression, value)


SCALARS: dict[str, Check] = {
    "any": lambda _: None,
    "boolean": scalar("boolean", lambda value: isinstance(value, bool)),
    "int-or-string": scalar("int-or-string", lambda value: isinstance(value, str) or is_whole(value)),
    "number": scalar("number", is_number),
    "object": scalar("object", is_mapping),
    "quantity": quantity_check,
}
