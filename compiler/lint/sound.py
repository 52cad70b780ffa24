"""A manifest as the rules may see it: values of a wrong type taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.schema.findings import UnknownField, WrongType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flowdsl.compiler.problem import Problem

    Changes = dict[str | int, "Changes | WrongType | None"]


def sound(document: dict[str, Any], problems: Iterable[Problem]) -> dict[str, Any]:
    """The document without unknown fields, and with every value of a wrong type replaced by a harmless one.

    A scalar where text is wanted becomes the text that is written there, so that a name such as `1` is still
    found; anything else counts as left out. Only what lies on the way to a replaced value is copied.
    """
    changes: Changes = {}
    for problem in problems:
        finding = problem.finding
        if isinstance(finding, (WrongType, UnknownField)) and problem.path:
            below: Any = changes
            for step in problem.path[:-1]:
                below = below.setdefault(step, {})
            below[problem.path[-1]] = finding if isinstance(finding, WrongType) else None
    return _rebuilt(document, changes) if changes else document


def _rebuilt(node: Any, changes: Changes) -> Any:
    """A copy of a mapping or list with the changes made below it."""
    copy: Any = node.copy()
    for step, change in changes.items():
        value: Any = copy[step]
        if isinstance(change, dict):
            copy[step] = _rebuilt(value, change)
        elif change is None:
            copy[step] = None
        elif change.expression == "string":
            copy[step] = change.written or str(value) if isinstance(value, (bool, int, float)) else ""
        elif isinstance(node, list):
            copy[step] = [] if change.expression.startswith("list:") else {}
        else:
            copy[step] = None
    return copy
