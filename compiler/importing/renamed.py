"""Tags that are left to Argo, with the new names of what they refer to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.tree import is_list, is_mapping
from flowdsl.grammar.template import references, tags

if TYPE_CHECKING:
    from collections.abc import Callable

    Renaming = Callable[[tuple[str, ...]], "tuple[str, ...] | None"]


FORMULAS = ("expression", "fromExpression")
"""Fields that hold an expression without braces."""


def renamed(value: Any, other: Renaming, key: str = "") -> Any:
    """A value, in the field `key`, whose tags are renamed by `other`, which returns None for unchanged names."""
    if isinstance(value, str):
        if key in FORMULAS and "{{" not in value:
            return in_text(f"{{{{={value}}}}}", other)[3:-2]
        return in_text(value, other) if "{{" in value else value
    if is_mapping(value):
        return {name: renamed(one, other, name) for name, one in value.items()}
    return [renamed(one, other) for one in value] if is_list(value) else value


def in_text(text: str, other: Renaming) -> str:
    """A text whose tags are renamed by `other`."""
    expressions = [(tag.start, tag.end) for tag in tags(text) if tag.kind == "expression"]
    for reference in reversed(references(text)):
        name = other(reference.path)
        if name is not None and name != reference.path:
            inside = any(start <= reference.start < end for start, end in expressions)
            written = spelled(name) if inside else ".".join(name)
            text = f"{text[: reference.start]}{written}{text[reference.end :]}"
    return text


def spelled(name: tuple[str, ...]) -> str:
    """A variable in the notation of expressions."""
    first, *rest = name
    return first + "".join(f".{part}" if part.isidentifier() else f"['{part}']" for part in rest)
