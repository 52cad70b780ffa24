"""The steps of a run by the names that its author gave them, each with the folder that its files go to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.runtime.status.node import Node
    from flowdsl.runtime.status.run import Run
    from flowdsl.runtime.status.tree import Entry

Json = dict[str, Any]


class Step(NamedTuple):
    """A step, or a graph of steps. `folder`: the names on the path to it, with rounds of loops by number."""

    path: str
    """Its name for the author of the pipeline: `search.train(3)`."""
    folder: tuple[str, ...]
    node: Node
    leaf: bool
    """Whether it has no steps of its own."""

    @property
    def pod(self) -> Node:
        """The node that ran: of a retried step, the last attempt."""
        return self.node.result()

    @property
    def outputs(self) -> Json:
        """Its outputs, in Argo's format."""
        return self.node.outputs or self.pod.outputs or {}


def steps(run: Run) -> list[Step]:
    """The steps of a run, in the order in which they began, each graph before its steps."""
    return [step for top in run.entries for step in _steps(run, top, (top.name,))]


def _steps(run: Run, entry: Entry, folder: tuple[str, ...]) -> Iterator[Step]:
    if entry.node is not None:
        yield Step(entry.path, folder, run.nodes[entry.node.id], entry.leaf)
    for one in entry.rounds:
        yield from _steps(run, one, (*folder, one.name[1:-1]))
    for one in entry.children:
        # The root of a run that was retried as a whole is not part of the names below it.
        above = folder if one.path != one.name else ()
        yield from _steps(run, one, (*above, one.name))
