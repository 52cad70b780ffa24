"""Finds the objects of given schema types in a manifest."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.schema.table import fields, is_type
from flowdsl.compiler.tree import pairs
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path


class Typed(NamedTuple):
    """An object of a known type, and its path in the document."""

    type: str
    data: Object
    path: Path


def typed(view: View, wanted: frozenset[str], within: Iterable[Template] | None = None) -> list[Typed]:
    """The objects of the wanted types around the templates, and in those that the view checks, or that are given."""
    found: list[Typed] = []
    _collect(found, view.kind, view.document, (), wanted)
    for template in view.templates if within is None else within:
        _collect(found, "Template", template.data, template.path, wanted)
        for call in template.outlines:
            if call.parent is None:
                _collect(found, _CALLS[template.body], call.data, call.path, wanted)
    return found


def typed_below(name: str, data: Object, wanted: frozenset[str]) -> list[Typed]:
    """The objects of the wanted types within one of a known type, including itself."""
    found: list[Typed] = []
    _collect(found, name, data, (), wanted)
    return found


_APART = frozenset(("templates", "inline", "tasks", "steps"))
"""The fields of templates and calls, which the view has collected."""

_CALLS = {"dag": "DAGTask", "steps": "WorkflowStep"}
"""The types of the calls of graphs."""


def _collect(found: list[Typed], name: str, data: Object, path: Path, wanted: frozenset[str]) -> None:
    """Collect an object, if its type is wanted, and those below it."""
    if name in wanted:
        found.append(Typed(name, data, path))
    for field, inner, depth in _ways(name, wanted):
        value = data.get(field)
        if value is not None:
            _enter(found, inner, depth, value, (*path, field), wanted)


def _enter(found: list[Typed], name: str, depth: int, node: Any, path: Path, wanted: frozenset[str]) -> None:
    """Collect from the value of a field: an object, or lists or mappings nested to a depth."""
    if not depth:
        _collect(found, name, node, path, wanted)
        return
    for step, each in pairs(node):
        if each is not None:
            _enter(found, name, depth - 1, each, (*path, step), wanted)


@cache
def _ways(type_name: str, wanted: frozenset[str]) -> list[tuple[str, str, int]]:
    """The fields of a type that lead to a wanted one: the name, the type, and the depth of nested lists or mappings."""
    found: list[tuple[str, str, int]] = []
    for field, expression in fields(type_name).items():
        *around, inner = expression.split(":")
        if field not in _APART and not wanted.isdisjoint(_reached(inner)):
            found.append((field, inner, len(around)))
    return found


@cache
def _reached(name: str) -> frozenset[str]:
    """A type and all types below it; recursive types are visited once."""
    found: set[str] = set()
    open_types = [name]
    while open_types:
        one = open_types.pop()
        if is_type(one) and one not in found:
            found.add(one)
            open_types += [
                each.rpartition(":")[2] for field, each in fields(one).items() if field not in _APART
            ]
    return frozenset(found)
