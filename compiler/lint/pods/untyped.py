"""The manifests of `resource` templates, read with a word for each tag, and helpers for rules about untyped fields."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.schema.findings import arrived
from flowdsl.compiler.schema.validate import is_whole
from flowdsl.compiler.tree import is_list, is_mapping, mapping_at, mappings_at
from flowdsl.diagnostic import instead, near
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.names import DNS_LABEL_LENGTH
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import TAG, may_be_variable

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator

    import yaml

    from flowdsl.compiler.problem import Part
    from flowdsl.compiler.tree import Object

    Flaw = tuple[str, str]
    """What is wrong with an object, and what to do about it."""


class Lacking(NamedTuple):
    """A flaw of a part that is missing, which `apply` leaves as it is in an object that exists."""

    found: str
    way: str


WORD = "qzx"
"""Replaces each tag of Argo, and stands in no other text.

A text that contains it is not judged, unless any word would be wrong.
"""


def containers_of(pod: Any) -> list[Object]:
    """The containers of a pod, init containers first."""
    return [each for field in ("initContainers", "containers") for each in mappings_at(pod, field)]


def counts(spec: Object, owner: str, fields: Iterable[str]) -> Iterator[Flaw]:
    """Fields of an object that must be whole numbers from 0."""
    for field in fields:
        value = spec.get(field)
        number = count(value)
        if isinstance(value, str):
            if WORD not in value:
                yield (
                    f"`{field}` of {owner} is text, not a whole number",
                    "write a whole number, without quotes",
                )
        elif value is not None and not is_whole(value):
            yield f"`{field}` of {owner} is {arrived(value)}, not a whole number", "write a whole number"
        elif number is not None and number < 0:
            yield f"`{field}` of {owner} is {number}", "write a whole number from 0"
        elif number is not None and number > _MOST and field not in _LONG:
            yield f"`{field}` of {owner} is {number}", f"write at most {_MOST}"


_MOST = 2**31 - 1
_LONG = ("activeDeadlineSeconds", "startingDeadlineSeconds")
"""The fields of 64 bits."""


def count(value: Any) -> int | None:
    """A whole number; None for other values, and unknown ones."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def bounds(spec: Object, owner: str) -> Iterator[Flaw]:
    """The least number of replicas, which exceeds the greatest."""
    least, most = count(spec.get("minReplicas")), count(spec.get("maxReplicas"))
    if least is not None and most is not None and least > most:
        yield (
            f"{owner} has `minReplicas` {least}, more than `maxReplicas` {most}",
            "exchange the two, or raise the other",
        )


def strings(value: Any, what: str) -> Iterator[Flaw]:
    """The flaws of a value that is not a mapping of strings; Go reads null as an empty one."""
    if is_list(value) or (value is not None and not is_mapping(value) and WORD not in str(value)):
        yield f"{what} is {arrived(value)}, not a mapping", "write `NAME: TEXT` for each"
    for key, each in value.items() if is_mapping(value) else ():
        if each is not None and not isinstance(each, str):
            yield f"`{key}` in {what} is {arrived(each)}, not text", _as_text(each)


def texts(owner: Object, what: str, fields: Iterable[str]) -> Iterator[Flaw]:
    """Fields of an object that must be texts."""
    for field in fields:
        value = owner.get(field)
        if value is not None and not isinstance(value, str):
            yield f"`{field}` of {what} is {arrived(value)}, not text", _as_text(value)


def _as_text(value: Any) -> str:
    """What to write in place of a value that is no text."""
    return "write text" if is_mapping(value) or is_list(value) else "put it in quotes"


def one_of(owner: Object, field: str, what: str, known: tuple[str, ...]) -> Iterator[Flaw]:
    """A field with an enumeration of values."""
    value = owner.get(field)
    if isinstance(value, str) and WORD not in value and value not in known:
        yield f"`{field}` of {what} cannot be `{value}`", instead(value, known)


def misspelt(owner: Object, what: str, known: Iterable[str]) -> Iterator[Flaw]:
    """Fields that resemble a known field of an object: other unknown fields may exist in a later version."""
    known = tuple(known)
    for field in map(str, owner):
        if field not in known and WORD not in field and (close := near(field, known, 0.8)) is not None:
            yield f"{what} has `{field}`, which is not a field of it", f"write `{close}`"


def named(body: Object) -> str | None:
    """The name of an object at its final length; None if it is unknown."""
    metadata = mapping_at(body, "metadata")
    name, start = metadata.get("name"), metadata.get("generateName")
    if not name and isinstance(start, str):
        name = f"{start[: DNS_LABEL_LENGTH - 5]}xxxxx"  # as the API server generates it
    return name if isinstance(name, str) and WORD not in name else None


def words(owner: Object, field: str) -> list[str]:
    """The known texts in a list of an object."""
    found = owner.get(field)
    return [each for each in found if isinstance(each, str) and WORD not in each] if is_list(found) else []


def documents_in(manifest: str) -> list[Any] | None:
    """The documents of a manifest, with words in place of its tags; None if YAML cannot read it."""
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        return [*yaml.load_all(TAG.sub(_filled, manifest), Loader=loader)]
    except (yaml.YAMLError, UnicodeEncodeError, ValueError, TypeError):
        return None


def typed_in(manifest: str) -> Any:
    """The only object of a manifest, with typed values; None if it cannot be read so."""
    from flowdsl.compiler.yaml.documents import read

    documents, problems = read(TAG.sub(_filled, manifest), "manifest")
    return None if problems or len(documents) != 1 or "<<" in manifest else documents[0].body


def containers_in(manifest: str) -> Iterator[Object]:
    """The containers of the pods in the manifest of an object; none if YAML cannot read it."""
    for pod in pods_in(manifest):
        yield from containers_of(pod)


def pods_in(manifest: str) -> Iterator[Object]:
    """The pod specs in the manifest of an object, with words for its tags; none if YAML cannot read it."""
    left = documents_in(manifest) or []
    while left:
        node = left.pop()
        if is_list(node):
            left += node
        elif is_mapping(node):
            if is_list(node.get("initContainers")) or is_list(node.get("containers")):
                yield node
            left += node.values()


def unreadable(text: str, fills: Callable[[str], bool] = may_be_variable) -> tuple[str, Part | None] | None:
    """Why and where YAML cannot read a text with words in place of its tags; None if it can.

    `fills`: whether the variable of a simple tag has a value when the text is read.
    """
    import yaml

    filled = partial(_filled, fills=fills)

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        for node in yaml.compose_all(TAG.sub(filled, text), Loader=loader):
            if (key := _no_key(node)) is not None:
                start = _before(text, key.start_mark.index, filled)
                return f"a mapping is used as a key, line {key.start_mark.line + 1}", (
                    start,
                    start + 1,
                )
    except yaml.MarkedYAMLError as error:
        if (mark := error.problem_mark) is None:
            return f"{error.problem}", None
        start = _before(text, mark.index, filled)
        return f"{error.problem}, line {mark.line + 1}", (start, min(start + 1, len(text)))
    except (yaml.YAMLError, UnicodeEncodeError):
        return "it holds a character that YAML does not have", None
    return None


_STEPS = regex(r"[^.\[\]]+|\[[^\]]*\]")


def key_at(manifest: str, path: str) -> Part | None:
    """Where the only object of a manifest has the last key of a dotted path, or of as much of it as there is."""
    import yaml

    steps = [step.strip("[]") for step in _STEPS.findall(path)]
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # Each tag is as long as before, so that the places are those in the manifest.
        node = yaml.compose(TAG.sub(lambda tag: "q" * len(tag[0]), manifest), loader)
    except (yaml.YAMLError, UnicodeEncodeError):
        return None
    found: Part | None = None
    for step in steps:
        if isinstance(node, yaml.MappingNode):
            pair = next((pair for pair in node.value if getattr(pair[0], "value", None) == step), None)
            if pair is None:
                break
            found, node = (pair[0].start_mark.index, pair[0].end_mark.index), pair[1]
        elif isinstance(node, yaml.SequenceNode) and step.isdecimal() and int(step) < len(node.value):
            node = node.value[int(step)]
        else:
            break
    return found


def _filled(tag: re.Match[str], fills: Callable[[str], bool] = may_be_variable) -> str:
    """A word in place of a tag; one that is not filled in stays as it is."""
    return WORD if tag[1].startswith("=") or fills(tag[1].strip()) else tag[0]


def _no_key(root: yaml.Node | None) -> yaml.Node | None:
    """The first key that is a mapping or list, as braces without quotes make it."""
    import yaml

    left, seen = [root], set[int]()
    for node in left:  # grows during the iteration
        if id(node) in seen:  # reached by an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    found: yaml.Node = key
                    return found
                left.append(value)
        elif isinstance(node, yaml.SequenceNode):
            left += node.value
    return None


def _before(text: str, offset: int, filled: Callable[[re.Match[str]], str]) -> int:
    """The offset in a text that corresponds to an offset in the text with tags filled in."""
    for tag in TAG.finditer(text):
        length = len(filled(tag))
        if offset < tag.start() + length:
            return offset if length == len(tag[0]) else min(offset, tag.start())
        offset += len(tag[0]) - length
    return offset
