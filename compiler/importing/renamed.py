"""Tags that are left to Argo, with the names that things have in what is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.lint.tree import is_list, is_mapping
from flowdsl.grammar.template import references, tags

if TYPE_CHECKING:
    from collections.abc import Callable

    Renaming = Callable[[tuple[str, ...]], "tuple[str, ...] | None"]


FORMULAS = ("expression", "fromExpression")
"""Fields that hold an expression without braces."""


def renamed(value: Any, other: Renaming, formulas: tuple[str, ...] = (), key: str = "") -> Any:
    """A value whose tags name things as `other` says, which gives None for what keeps its name.

    `formulas` are fields that hold expressions; `key` is the field that the value is in.
    """
    if isinstance(value, str) and key in formulas and key:
        return in_text(f"{{{{={value}}}}}", other)[3:-2]
    if isinstance(value, str):
        return in_text(value, other) if "{{" in value else value
    if is_mapping(value):
        return {name: renamed(one, other, formulas, name) for name, one in value.items()}
    return [renamed(one, other, formulas) for one in value] if is_list(value) else value


def in_text(text: str, other: Renaming) -> str:
    """A text whose tags name things as `other` says."""
    expressions = [(tag.start, tag.end) for tag in tags(text) if tag.kind == "expression"]
    for reference in reversed(references(text)):
        name = other(reference.path)
        if name is not None and name != reference.path:
            inside = any(start <= reference.start < end for start, end in expressions)
            written = spelled(name) if inside else ".".join(name)
            text = f"{text[: reference.start]}{written}{text[reference.end :]}"
    return text


def spelled(name: tuple[str, ...]) -> str:
    """A variable as expressions spell it."""
    first, *rest = name
    return first + "".join(f".{part}" if part.isidentifier() else f"['{part}']" for part in rest)
