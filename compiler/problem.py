"""A finding about a manifest, before its file and line are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.diagnostic import Finding
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from flowdsl.compiler.tree import Path

Part = tuple[int, int]
"""A part of a text, by its offsets in code points from 0; the end is exclusive."""


class Various(Finding):
    """The base of kinds that have other texts for each case: what is `found`, and the `way` out."""

    title = "{found}"
    help = "{way}"
    found: str
    way: str


class Problem(NamedTuple):
    """One finding at one path of a manifest.

    `path` leads from the document down through keys and list positions to the value at fault; what is
    missing is reported at the object that lacks it. `on_key` says that the last key itself is wrong,
    not its value; `part`, that only a part of the text there is. `also` has further problems with the same
    cause: to fix this one fixes them.
    """

    path: Path
    finding: Finding
    on_key: bool = False
    part: Part | None = None
    also: tuple[Problem, ...] = ()


class Fault(NamedTuple):
    """One finding about a part of a text, before its place in a manifest is known."""

    finding: Finding
    part: Part

    def at(self, path: Path, offset: int = 0) -> Problem:
        """The problem, if the text begins at an offset of the value at a path."""
        start, end = self.part
        return Problem(path, self.finding, part=(start + offset, end + offset))
