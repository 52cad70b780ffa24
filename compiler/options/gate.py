"""How long a gate waits for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.options.reading import period

if TYPE_CHECKING:
    from flowdsl.compiler.options.reading import Reader


READERS: dict[str, Reader] = {"duration": period}
