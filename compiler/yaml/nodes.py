"""The nodes of YAML, as PyYAML's parser makes them, and their values.

Scalars and keys are resolved as the readers of Kubernetes' tools resolve them.
"""

from __future__ import annotations

import re
from itertools import count
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

import yaml

from flowdsl.compiler.tree import is_mapping
from flowdsl.compiler.yaml.findings import InvalidYaml, KeyNotText, NotFinite, RepeatedKey
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.scalar import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.tree import Object
    from flowdsl.diagnostic import Finding

CORE = "tag:yaml.org,2002:"
PLAIN = "plain"
"""The tag of plain scalars without a tag."""
_TEXTS = frozenset(f"{CORE}{name}" for name in ("str", "binary", "timestamp"))
_KINDS: dict[str, tuple[type, ...]] = {
    f"{CORE}null": (type(None),),
    f"{CORE}bool": (bool,),
    f"{CORE}int": (int,),
    f"{CORE}float": (int, float),
}


def unresolved(base: Any) -> Any:
    """A loader of PyYAML that tags all plain, untagged scalars as PLAIN."""
    resolvers = {first: [(PLAIN, re.compile(""))] for first in (None, "")}
    return type("Loader", (base,), {"yaml_implicit_resolvers": resolvers})


_LOADER = unresolved(getattr(yaml, "CSafeLoader", yaml.SafeLoader))


class _LastAnchor(yaml.SafeLoader):
    """A loader for which the last anchor of a name counts, as in other parsers."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: object = cast("Any", self).peek_event()
        if not isinstance(event, yaml.AliasEvent):
            self.anchors.pop(getattr(event, "anchor", None), None)
        return super().compose_node(parent, index)


_PATIENT = unresolved(_LastAnchor)

_LIMIT = 1_000_000
"""The most values to which a document with aliases may expand."""


class Merged(NamedTuple):
    """A key repeated by a `<<` merge: where it is reported, the name, the other source, and which value counts."""

    key: yaml.ScalarNode
    name: str
    again: str
    taken: str


class Refused(Exception):
    """A node whose value cannot be read; `other` is the node that it clashes with, if any."""

    def __init__(self, finding: Finding, node: yaml.Node, other: yaml.Node | None = None) -> None:
        super().__init__(finding.message)
        self.finding = finding
        self.node = node
        self.other = other


def nodes(text: str) -> Iterator[yaml.Node]:
    """The documents as nodes. If an anchor is repeated, which only PyYAML refuses, its slower parser reads on."""
    done = 0
    for kind in (_LOADER, _PATIENT):
        loader = kind(text)
        try:
            for at in count():
                if not loader.check_node():
                    return
                node = loader.get_node()
                if at >= done:
                    done += 1
                    yield node
        except yaml.MarkedYAMLError as error:
            if kind is _PATIENT or "duplicate anchor" not in f"{error.context} {error.problem}":
                raise
        finally:
            loader.dispose()


class Values:
    """Makes values of nodes. `slashed`: their whole text, if it may have an escaped slash that YAML 1.1 refuses."""

    def __init__(self, slashed: str) -> None:
        self.slashed = slashed
        self.made = 0
        self.open: set[int] = set()
        self.renamed: list[yaml.ScalarNode] = []
        self.merged: list[Merged] = []
        self.tagged: list[yaml.Node] = []
        self.asking: set[yaml.Node] = set()

    def of(self, node: yaml.Node, *, in_flow: bool) -> Any:
        """The value of a node, which is in a flow collection or not."""
        self.made += 1
        if not _is_known(node):
            self.tagged.append(node)
        if isinstance(node, yaml.ScalarNode):
            self.judge(node, in_flow=in_flow)
            value = scalar(node)
            if isinstance(value, float) and not isfinite(value):
                raise Refused(NotFinite(node.value), node)
            return value
        if self.made > _LIMIT or id(node) in self.open:
            raise Refused(InvalidYaml("its aliases never end"), node)
        self.open.add(id(node))
        try:
            flow = isinstance(node, yaml.CollectionNode) and bool(node.flow_style)
            if isinstance(node, yaml.SequenceNode):
                return [self.of(item, in_flow=flow) for item in node.value]
            return self.mapping(node, in_flow=flow)
        finally:
            self.open.discard(id(node))

    def judge(self, node: yaml.ScalarNode, *, in_flow: bool) -> None:
        """Refuse what the parsers of Kubernetes' tools, which support YAML 1.1, do not read."""
        if "?" in node.value and not node.style and node not in self.asking:
            self.asking.add(node)  # at its anchor; an alias may be anywhere
            if in_flow:
                reason = "within brackets, a text without quotes ends at a `?`"
                raise Refused(InvalidYaml(reason, f'put the text in quotes: "{node.value}"'), node)
        if self.slashed and node.style == '"':
            written = self.slashed[node.start_mark.index : node.end_mark.index]
            if any(found[0] == "\\/" for found in _ESCAPES.finditer(written)):
                raise Refused(InvalidYaml("`\\/` is not a valid escape", "write `/` alone"), node)

    def mapping(self, node: Any, *, in_flow: bool) -> dict[str, Any]:
        """A mapping. Keys merged by `<<` override the keys before it, and not those after it.

        Source: goyaml.v2 of sigs.k8s.io/yaml, which kubectl and the API server read with.
        """
        found: dict[str, Any] = {}
        merged: set[str] = set()
        keys: dict[str, yaml.ScalarNode] = {}
        for key, value in node.value:
            if is_merge(key):
                brought = self.brought(key, value)
                for name in brought:
                    if name in keys:
                        self.merged.append(
                            Merged(keys[name], name, _TOO, "what `<<` brings, which comes later")
                        )
                    elif name in merged:
                        self.merged.append(Merged(key, name, _BEFORE, "this one"))
                merged |= brought.keys()
                found |= brought
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise Refused(KeyNotText(), key)
            self.judge(key, in_flow=in_flow)
            name = key_text(key)
            if name != key.value:
                self.renamed.append(key)
            if name in keys:
                raise Refused(RepeatedKey(name, key.value), key, keys[name])
            if name in merged:
                self.merged.append(Merged(key, name, _TOO, "this one"))
            keys[name] = key
            found[name] = self.of(value, in_flow=in_flow)
        return found

    def brought(self, merge: Any, value: Any) -> dict[str, Any]:
        """What a `<<` brings into a mapping; of several mappings, the first that has a key counts."""
        brought: dict[str, Any] = {}
        for one in value.value if isinstance(value, yaml.SequenceNode) else (value,):
            inner = self.of(one, in_flow=False)
            if not is_mapping(inner):
                raise Refused(InvalidYaml("`<<` takes a mapping, or a list of them", _MERGED), one)
            fields: Object = inner
            twice = [name for name in fields if name in brought]
            self.merged += [Merged(merge, name, _TWICE, "that of the first") for name in twice]
            brought = {**fields, **brought}
        return brought


def scalar(node: yaml.ScalarNode) -> Any:
    """The value of a scalar."""
    tag, text = node.tag, node.value
    if tag in _TEXTS:
        return text
    if tag == PLAIN:
        return plain(text)
    value = plain(text)
    return value if type(value) in _KINDS.get(tag, ()) else text


def _is_known(node: yaml.Node) -> bool:
    """Whether the tag of a node is one of YAML's own; other nodes are text, or what they look like."""
    if not isinstance(node, yaml.ScalarNode):
        return node.tag.startswith(CORE)
    return node.tag in _TEXTS or node.tag == PLAIN or node.tag in _KINDS


def is_merge(key: yaml.Node) -> bool:
    """Whether a key is `<<`, which merges other mappings into its own."""
    return key.tag == f"{CORE}merge" or (key.tag == PLAIN and key.value == "<<")


_ESCAPES = re.compile(r"\\.", re.DOTALL)
_TOO = "`<<` brings too"
_TWICE = "two mappings of `<<` have"
_BEFORE = "a `<<` before has brought"
_MERGED = "name the anchor of a mapping: `<<: *defaults`; quote the key if it is meant to be `<<`"


def key_text(key: yaml.ScalarNode) -> str:
    """A key as in JSON. Fractions are left as written: Kubernetes rounds them."""
    value = scalar(key)
    if value is None:
        what = f"`{key.value}`, which means nothing," if key.value else "nothing"
        raise Refused(KeyNotText(what, "write a key; put `null` and `~` in quotes if they are keys"), key)
    if type(value) is bool:
        return "true" if value else "false"
    return str(value) if type(value) is int else str(key.value)
