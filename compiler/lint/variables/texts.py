"""Finds the texts of a manifest that may name variables, and templates whose texts cannot be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.tree import is_list, is_mapping, pairs
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.problem import Part
    from flowdsl.compiler.tree import Path

EXPRESSIONS = frozenset(("expression", "fromExpression"))
"""Fields that hold an expression without braces."""

QUERIES = frozenset(("jsonPath", "jqFilter"))
"""Fields that hold a query into an object."""

HTTP = ("http", "successCondition")
"""The end of the path of a condition on an HTTP response."""

_WHOLE = EXPRESSIONS | QUERIES | {HTTP[1], "from", "parameter"}

SIMPLE = regex(r"\{\{([^{}=][^{}]*)\}\}")
"""A tag with only a name, and its content."""

_READ = ('"expression":', '"fromExpression":', '"when":', '"jsonPath":', '"jqFilter":', '"successCondition":')


def is_source(path: Path) -> bool:
    """Whether a text is the name of one variable, with or without braces. Source: Argo Workflows, resolveVar."""
    return path[-2:] == ("valueFrom", "parameter") or (path[-1] == "from" and path[-3:-2] == ("artifacts",))


def strings(node: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """The texts below a node that have a tag, or are an expression or a name, each with its path."""
    stack: list[tuple[Any, Path]] = [(node, path)] if node else []
    while stack:
        node, path = stack.pop()
        for key, value in pairs(node):
            if isinstance(value, str):
                if "{{" in value or key in _WHOLE:
                    yield (*path, key), value
            elif is_mapping(value) or is_list(value):
                stack.append((value, (*path, key)))


def plain_tags(node: Any, path: Path) -> Iterator[tuple[Path, str, Part]]:
    """The tags below a node that are no expressions: the path of the text, the name, and the part."""
    for place, text in strings(node, path):
        for tag in tags(text):
            if tag.kind != "expression":
                yield place, tag.body.strip(), (tag.start, tag.end)


def naming(node: Any, path: Path, names: Container[str]) -> Iterator[tuple[str, Path, Part]]:
    """The tags below a node that name one of some variables: the first of these, the path of the text, and the part."""
    for place, text in strings(node, path):
        for tag in tags(text) if "{{" in text else ():
            if name := next(filter(names.__contains__, tag.names), ""):
                yield name, place, (tag.start, tag.end)


def harmless(template: Template, allowed: frozenset[str]) -> bool:
    """Whether a leaf has no expressions, and all tags in its texts are variables that certainly exist."""
    if any(field in template.text for field in _READ):
        return False
    return all(_plain(text, allowed) for text in (template.name, template.source, template.text))


def _plain(text: str, allowed: frozenset[str]) -> bool:
    """Whether all tags are simple ones with variables that certainly exist; in one text, or in several as JSON."""
    if "{{" not in text:
        return True
    bodies = SIMPLE.findall(text)
    return len(bodies) == text.count("{{") and allowed.issuperset(bodies)
