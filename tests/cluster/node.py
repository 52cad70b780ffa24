"""What a run is made of: its nodes, and what keeps them from ending as a real one would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tests.cluster.syntax import Unsupported

if TYPE_CHECKING:
    from tests.cluster.store import Artifact

Json = dict[str, Any]

SUCCEEDED, FAILED, ERROR, SKIPPED, OMITTED = "Succeeded", "Failed", "Error", "Skipped", "Omitted"
NOT_SUPPLIED = "__argo__internal__absent-optional"
"""What stands for an argument that is nothing but a reference to what was skipped."""


class Hang(Exception):
    """What would make the real workflow run for ever."""


class LiteralTag(Exception):
    """What the real controller would hand on as text instead of a value."""


class Node:
    """One task of a run, or one item of a loop: how it ended, and what it handed on."""

    def __init__(self, name: str, template: Json | None = None) -> None:
        self.name = name
        self.pod = template is not None and "dag" not in template
        self.phase = ""
        self.message = ""
        self.parameters: dict[str, str] | None = None  # None where it handed on nothing
        self.artifacts: dict[str, Artifact] = {}
        self.items: list[Node] | None = None  # of a loop
        self.log = ""

    def ended(self, phase: str, message: str = "") -> Node:
        """Note how it ended."""
        self.phase, self.message = phase, message
        return self


def only(found: Mapping[str, Any], known: set[str]) -> None:
    """Refuse fields that the compiler does not write."""
    unknown = found.keys() - known
    if unknown:
        raise Unsupported(f"the fields {sorted(unknown)}")
