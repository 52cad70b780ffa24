"""A finding about a manifest, before anybody knows which file and line it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from flowdsl.diagnostic import Finding


class Problem(NamedTuple):
    """One finding at one path of a manifest.

    `path` leads from the document down through keys and list positions to the value at fault; what is
    missing is reported at the object that lacks it. `on_key` says that the last key itself is wrong,
    not its value.
    """

    path: tuple[str | int, ...]
    finding: Finding
    on_key: bool = False
