"""How often and how long a template may run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler import mistakes
from flowdsl.compiler.ir import Control
from flowdsl.compiler.options.reading import Wrong, said, seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.compiler.options.reading import Reader


def settled(found: Mapping[str, Any]) -> Control:
    """The control that the options of a step come to."""
    return Control(found.get("retries"), found.get("timeout"))


def _retries(name: str, written: object) -> int:
    if isinstance(written, bool) or not isinstance(written, int) or written < 0:
        raise Wrong(mistakes.OptionType(name, "a whole number of at least 0", said(written)))
    return written


def timeout(name: str, written: object) -> str:
    """A duration option as Argo reads it; raises `Wrong`."""
    seconds(name, written)
    return f"{written}s" if isinstance(written, int) or str(written).isdigit() else str(written)


READERS: dict[str, Reader] = {"retries": _retries, "timeout": timeout}
