"""How long a gate waits for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.ir import Gate
from flowdsl.compiler.options.control import timeout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.compiler.options.reading import Reader


def settled(found: Mapping[str, Any]) -> Gate:
    """The gate that the options of a step result in."""
    return Gate(found.get("duration"))


READERS: dict[str, Reader] = {"duration": timeout}
