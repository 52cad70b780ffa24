"""Nests the operands of `&&` or `||`: any order gives the same value, so a long chain does not make a deep tree."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Part = TypeVar("Part")

CHAINED = frozenset(("&&", "||"))
"""The operators whose operands may be nested in any order."""
_FEW = 50


def nested(parts: Sequence[Part], join: Callable[[Part, Part], Part]) -> Part:
    """Operands joined from the left, as parsers do, and by halves if they are many: trees are walked by recursion."""
    if len(parts) <= _FEW:
        return reduce(join, parts)
    middle = len(parts) // 2
    return join(nested(parts[:middle], join), nested(parts[middle:], join))
