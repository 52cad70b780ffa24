"""A reason why a run would fail on a cluster, reported before the run is submitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Problem(NamedTuple):
    """One sentence about what a cluster lacks, and a command or another remedy.

    A `problem` prevents the run from succeeding, a `note` may; what is `unchecked` could not be read.
    """

    text: str
    remedy: str = ""
    weight: Literal["problem", "note", "unchecked"] = "problem"

    def __str__(self) -> str:
        return f"{self.text}; {self.remedy}" if self.remedy else self.text


def wanted_by(steps: Sequence[str]) -> str:
    """The steps that need something, as the end of a sentence."""
    if not steps:
        return "which the workflow needs"
    shown = ", ".join(f"`{step}`" for step in steps[:5]) + (" and others" if len(steps) > 5 else "")
    return f"which the step {shown} needs" if len(steps) == 1 else f"which the steps {shown} need"
