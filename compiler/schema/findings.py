"""What can be wrong with a manifest by the schema alone."""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.schema.misplaced import emptied, entry_with, home, meant, nowhere, same
from flowdsl.compiler.schema.table import (
    API_VERSION,
    expression_at,
    fields,
    gone,
    is_type,
    kinds,
    rules,
    table,
)
from flowdsl.compiler.tree import is_list, is_mapping, value_at
from flowdsl.diagnostic import Finding, near, suggest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flowdsl.compiler.tree import Path

TAGS = "the API server reads this text before Argo fills tags in, so write the value itself"
WORDS = {
    "any": "any value",
    "boolean": "true or false",
    "int-or-string": "a whole number or text",
    "int32": "a whole number",
    "integer": "a whole number",
    "list": "a list",
    "map": "a mapping",
    "number": "a number",
    "object": "a mapping",
    "quantity": "a whole number or text such as 500m or 4Gi",
    "string": "text",
}


def dotted(path: Sequence[object]) -> str:
    """A path as Kubernetes writes it: `spec.templates[3].name`, `metadata.labels[app.kubernetes.io/name]`."""
    text = ""
    for step in path:
        if isinstance(step, str) and re.fullmatch(r"[A-Za-z_$][\w-]*", step):
            text += f".{step}" if text else step
        else:
            text += f"[{step}]"
    return text


def in_words(expression: str, rule: Mapping[str, Any] | None = None) -> str:
    """A type expression in words, without its element type; of a text with an enumeration, its words."""
    outer = expression.partition(":")[0]
    if is_type(outer):
        return f"a mapping with the fields of {outer}"
    if rule and "enum" in rule:
        return "one of " + ", ".join(f"`{each}`" for each in rule["enum"] if each)
    return WORDS[outer]


def within(least: int | None, most: int | None) -> str:
    """Bounds in words."""
    if least is None or most is None:
        return f"at most {most}" if least is None else f"{least} or more"
    return f"{least} to {most}"


def short(text: str) -> str:
    """A text, truncated if long."""
    return text if len(text) <= 60 else text[:57] + "..."


def quoted(text: str) -> str:
    """A text in quotes, truncated if long."""
    return json.dumps(short(text), ensure_ascii=False)


def arrived(value: object) -> str:
    """A value in words, short."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, list) else f"a value of type {type(value).__name__}"


def way_to(expression: str, value: object, written: str = "") -> str:
    """How to convert a value, which may be in another notation, to the expected type."""
    outer, _, inner = expression.partition(":")
    given: Any = value
    if value is None:
        return "write a value, or remove the entry"
    if outer == "int-or-string" and isinstance(value, float):
        return "write a whole number"
    if outer in ("string", "int-or-string", "quantity") and isinstance(value, (bool, int, float)):
        return f'put it in quotes: "{written or json.dumps(value)}"'
    if outer in ("boolean", "integer", "int32", "number") and isinstance(value, str):
        tagged = "Argo fills tags in only where text is expected: write the value itself"
        return tagged if "{{" in value else f"write {WORDS[outer]}, without quotes"
    one = value_at(value, (0,)) if isinstance(value, list) else None
    if outer == "string" and _is_braced(given):
        return "put it in quotes: YAML takes a brace for a mapping"
    if outer == "string" and isinstance(one, str):
        return f"write one text, such as `{one}`"
    if outer == "list":
        return _as_list(inner, given) or f"start each entry with `- `; an entry is {in_words(inner)}"
    if is_type(expression):
        known = fields(expression)
        if expression == "ValueFrom" and isinstance(value, str):
            return f"write `{'parameter' if '{{' in value else 'path'}: ...` below it, with this text"
        name, sign, given_value = value.partition("=") if isinstance(value, str) else ("", "", "")
        if sign and name and {"name", "value"} <= known.keys():
            return f"write `name: {name}`, and `value: {json.dumps(given_value, ensure_ascii=False)}` below"
        if isinstance(value, str) and is_type(known.get(value, "-")):
            return f"write `{{{value}: {{}}}}`"
        if isinstance(value, str) and (chosen := _chooses(expression, value)):
            return f"write `{{{chosen}: {value}}}`"
        names = ["name"] if "name" in known else [each for each in known if each.endswith("Name")]
        if len(names) == 1 and isinstance(value, str) and not value.startswith("/"):  # which is a path
            return f"write `{names[0]}: {value}`, if that is its name, and its other fields below"
        if value is True and known:
            return f"write `{{}}`, or its fields; {suggest('', known)}"
        if listed := _lists_of(expression, value_at(value, (0,))):
            return f"write the list below {' or '.join(f'`{each}:`' for each in listed)}"
        return f"write its fields as `key: value` lines; {suggest('', known)}" if known else "write {}"
    if outer == "map":
        return f"write `key: value` lines; a value is {in_words(inner)}"
    return "write `key: value` lines" if outer == "object" else f"write {WORDS[outer]}"


def _is_braced(value: Any) -> bool:
    """Whether a value is a word in a brace, as in `{item}`, which YAML takes for a mapping."""
    return is_mapping(value) and [*value.values()] == [None]


def _chooses(owner: str, word: str) -> str | None:
    """The field of a type that takes a word, as one of those that it chooses from."""
    return next((field for field, rule in rules(owner).items() if word in rule.get("enum", ())), None)


def _as_list(inner: str, value: object) -> str:
    """How to convert a value to a list, if there is more to say than the notation of lists."""
    if isinstance(value, str) and inner == "string" and value:
        if _is_json_list(value):
            return "take the quotes around the list off"
        words = [value.strip()] if "{{" in value or _OF_SHELLS.search(value) else value.split()
        return f"write a list: `{json.dumps(words, ensure_ascii=False)}`"
    if not is_mapping(value) or not value or not is_type(inner):
        return ""
    if inner == "WorkflowStep":
        return "write two dashes, `- - `: a step is in a list of steps that begin together"
    key, one = next(iter(value.items()))
    known = fields(inner)
    if key in known or "name" not in known:
        return ""
    if "value" in known and not isinstance(one, (dict, list)):
        return f"write each as an entry: `- {_entry(key, one)}`"
    return f"write each as an entry: `- name: {key}`, with its fields below"


def _is_json_list(text: str) -> bool:
    try:
        return isinstance(json.loads(text), list)
    except (ValueError, RecursionError):
        return False


_OF_SHELLS = re.compile(r"[|&;<>()$`\"'*?\n]")
"""Characters that a shell interprets, and the end of a line of a script."""


def _lists_of(owner: str, one: object) -> list[str]:
    """The fields of a type that are lists of objects like the first entry of a list."""
    found: list[str] = []
    for field, expression in fields(owner).items():
        outer, _, inner = expression.partition(":")
        if (
            outer == "list"
            and isinstance(one, dict)
            and is_type(inner)
            and one.keys() <= fields(inner).keys()
        ):
            found.append(field)
    return sorted(found, reverse=True)  # parameters are more usual than artifacts


class UnknownKind(Finding):
    """A document whose kind is none of Argo's four kinds of workflow."""

    code = "FD401"
    title = "`{found}` is not a kind of workflow"
    label = "{hint}"
    help = "write {way}"
    found: str
    version: str = ""
    """The `apiVersion` beside it."""

    def words(self) -> dict[str, str]:
        """The kind found, the probable one, and what to write."""
        if exchanged := exchanged_kind(self.version, self.found):
            way = f"`apiVersion: {API_VERSION}` and `kind: {exchanged}`"
            return {"found": self.found, "hint": "exchanged with `apiVersion`", "way": way}
        close = near(self.found, kinds())
        hint = f"did you mean `{close}`?" if close else "not a kind of workflow"
        known = ", ".join(f"`{kind}`" for kind in kinds())
        return {"found": self.found, "hint": hint, "way": f"one of {known}"}


def exchanged_kind(version: object, kind: object) -> str | None:
    """The kind of workflow that was written as `apiVersion`, where the group and version became the kind."""
    return near(str(version), kinds()) if "/" in str(kind) and "/" not in str(version) else None


class UnknownVersion(Finding):
    """A document of an API version other than Argo's."""

    code = "FD402"
    title = "`apiVersion: {found}` is not what Argo Workflows serves"
    label = "another group, or another version"
    help = f"write `apiVersion: {API_VERSION}`"
    found: str


def _entry(name: str, value: object) -> str:
    """A name and a value as an entry of a list."""
    return f"{{name: {name}, value: {json.dumps(str(value), ensure_ascii=False)}}}"


class UnknownField(Finding):
    """A field that the type does not have; the API server refuses it or drops it."""

    code = "FD403"
    title = "`{path}` is not a field of {owner}"
    label = "{hint}"
    help = "{way}"
    owner: str
    kind: str
    steps: Path
    document: Any = None

    def words(self) -> dict[str, str]:
        """Its path, the probable name, and the remedy."""
        hint, way = self.guess()
        return {"path": dotted(self.steps), "owner": self.owner, "hint": hint, "way": way}

    def guess(self) -> tuple[str, str]:
        """The probable intention, in short and as advice."""
        known, there = fields(self.owner), self.target
        if self.pair is not None:
            name, value = self.pair
            return "unknown field", f"write `{_entry(name, value)}`"
        if way := gone(self.owner).get(str(self.steps[-1])):
            return "removed in Argo Workflows 4.0", f"{way}; or check for an older Argo: --argo-version 3.7"
        if there is None:
            if way := nowhere(self.owner, self.steps, self.kind):
                return "unknown field", way
            if entry := entry_with(self.kind, self.steps, self.document):
                return "is in the wrong place", entry
            if holders := self._holders():
                return "unknown field", f"write it below {' or '.join(f'`{each}`' for each in holders)}"
            return "unknown field", suggest("", known) if known else f"{self.owner} has no fields: write {{}}"
        if there[:-1] != self.steps[:-1]:
            around = expression_at(self.kind, there[:-1])
            return "is in the wrong place", f"it is a field of {around}: move it to `{dotted(there)}`"
        return f"did you mean `{there[-1]}`?", f"write `{there[-1]}`, or remove the field"

    @cached_property
    def pair(self) -> tuple[str, object] | None:
        """The name and the value of an entry that is written as `NAME: VALUE`; None for any other field."""
        field, known = str(self.steps[-1]), fields(self.owner)
        entry: object = value_at(self.document, self.steps[:-1])
        if not {"name", "value"} <= known.keys() or not is_mapping(entry) or list(entry) != [self.steps[-1]]:
            return None
        value: object = next(iter(entry.values()))
        is_scalar = isinstance(value, (str, int, float))
        return (
            (field, value)
            if is_scalar and same(self.owner, field) is None and not meant(field, known)
            else None
        )

    def _holders(self) -> list[str]:
        """The fields with free keys, if that is what most objects of the type are for, and for a single value."""
        if isinstance(value_at(self.document, self.steps), (dict, list)):
            return []
        known = [each for each in fields(self.owner).items() if each[0] not in _OF_ALL]
        maps = [field for field, each in known if each.startswith("map:")]
        return maps if 2 * len(maps) >= len(known) else []

    @cached_property
    def target(self) -> Path | None:
        """Where in the document it probably belongs."""
        field, known = str(self.steps[-1]), fields(self.owner)
        if self.pair is not None:
            return None
        if (below := emptied(self.owner, self.steps, self.document)) is not None:
            return below
        close = same(self.owner, field)
        if close is None and field not in gone(self.owner):
            if nowhere(self.owner, self.steps, self.kind):
                return None
            if (elsewhere := home(self.kind, self.steps, self.document)) is not None:
                return elsewhere
            if entry_with(self.kind, self.steps, self.document):
                return None
        close = close or meant(field, known)
        return None if close is None else (*self.steps[:-1], close)


class MissingField(Finding):
    """An object without a field that its type must have."""

    code = "FD404"
    title = "`{path}` is missing"
    label = "needs `{field}`"
    help = "add `{field}` ({what})"
    path: str
    field: str
    what: str


_OF_ALL = ("apiVersion", "kind", "metadata")
_OF_PARAMETER = re.compile(r"\.parameters\[\d+\]\.(?:value|default)$")
_OF_LINES = re.compile(r"^(?:data|stringData)[.\[]|YAML$")
"""Texts that are whole files: those of ConfigMaps and Secrets, and YAML in YAML."""
_WITH_UNIT = (".timeout", ".maxAge", ".containerSet.retryStrategy.duration")
"""Texts that are not a duration without a unit."""


class WrongType(Finding):
    """A value of another type than the field's."""

    code = "FD405"
    title = "`{path}` is {found}, not {wanted}"
    label = "not {wanted}"
    help = "{way}"
    path: str
    expression: str
    value: Any
    written: str = ""

    def words(self) -> dict[str, str]:
        """Both types in words, and how to convert one to the other."""
        way = way_to(self.expression, self.value, self.written)
        if self.path.endswith(_WITH_UNIT) and type(self.value) is int:
            way = f'write it with its unit, in quotes: "{self.value}s"'
        if (
            self.expression == "quantity"
            and type(self.value) is float
            and "/" in self.path.rpartition("[")[2]
        ):
            way = "write a whole number: a device is not divided"
        if _OF_LINES.search(self.path) and (is_mapping(self.value) or is_list(self.value)):
            way = "write text: with a `|` after the key, the lines below are text"
        if self.path.endswith(".selector.matchLabels") and self.expression == "string":
            way = "write its labels below `selector` itself: it has nothing else"
        if self.path.endswith(".withItems") and isinstance(self.value, str):
            way = "write `withParam`, which takes a list in a text, or a list"
        if self.path.endswith(".withParam") and is_list(self.value):
            way = "write `withItems`, which takes a list"
        given: Any = self.value
        if (
            _OF_PARAMETER.search(self.path)
            and (is_list(given) or is_mapping(given))
            and not _is_braced(given)
        ):
            text = json.dumps(given, ensure_ascii=False, default=str)
            way = "write it in JSON, as text: " + short("'{}'".format(text.replace("'", "''")))
        return {
            "path": self.path,
            "found": arrived(self.value),
            "wanted": in_words(self.expression),
            "way": way,
        }


class NotOneOf(Finding):
    """A text that is none of those that the field takes."""

    code = "FD406"
    title = "`{path}` cannot be {found}"
    label = "{hint}"
    help = "write one of {known}{note}"
    path: str
    value: str
    choices: Sequence[str]

    def words(self) -> dict[str, str]:
        """The choices, and the nearest."""
        choices = [choice for choice in self.choices if choice]
        close = near(self.value, choices)
        return {
            "path": self.path,
            "found": quoted(self.value),
            "known": ", ".join(f"`{choice}`" for choice in choices),
            "hint": f"did you mean `{close}`?" if close else "",
            "note": f"; {TAGS}" if "{{" in self.value else "",
        }


class PatternMismatch(Finding):
    """A text that does not have the form that the field needs."""

    code = "FD407"
    title = "`{path}` cannot be {found}"
    label = "not a valid {pattern}"
    help = "{way}"
    path: str
    value: str
    pattern: str

    def words(self) -> dict[str, str]:
        """The text, and the form in words."""
        way = TAGS if "{{" in self.value else table()["patterns"][self.pattern][1]
        return {"path": self.path, "found": quoted(self.value), "pattern": self.pattern, "way": way}


class TooManyEntries(Finding):
    """A list that is longer than the API server takes."""

    code = "FD408"
    title = "`{path}` has {count} entries; the API server takes at most {most}"
    label = "{count} entries, at most {most} are taken"
    help = "{way}"
    path: str
    count: int
    most: int
    way: str


class TooFewEntries(Finding):
    """A list that is shorter than the API server takes."""

    code = "FD409"
    title = "`{path}` has {count} entries; the API server takes at least {least}"
    label = "{count} entries"
    help = "add an entry, or remove the whole field where it is optional"
    path: str
    count: int
    least: int


class OutOfRange(Finding):
    """A number below or above what the field takes."""

    code = "FD410"
    title = "`{path}` is {value}; the API server takes {bounds}"
    label = "out of range"
    help = "{way}"
    path: str
    value: float
    bounds: str
    way: str


class TextLength(Finding):
    """A text that is too short or too long for the field."""

    code = "FD411"
    title = "`{path}` has {length} characters; the API server takes {bounds}"
    label = "{length} characters"
    help = "write {bounds} characters"
    path: str
    length: int
    bounds: str


class RepeatedEntry(Finding):
    """An entry of a list with the same key as an earlier one; the API server tells entries apart by it."""

    code = "FD412"
    title = "`{path}` repeats {same} of entry {earlier}"
    label = "{same} again"
    help = "remove one of the two, or give it another {names}"
    path: str
    key: Mapping[str, object]
    earlier: int

    def words(self) -> dict[str, str]:
        """What the two have in common."""
        return {
            "path": self.path,
            "same": ", ".join(f"{name} {json.dumps(value)}" for name, value in self.key.items()),
            "earlier": f"[{self.earlier}]",
            "names": " or ".join(self.key),
        }
