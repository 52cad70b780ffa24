"""Pictures of manifests, against the nodes that the real controller made of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.graph.manifest import picture
from tests.corpus.recordings import recordings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.compiler.graph.picture import Node

#: What Argo adds to the name of a task: the number of an attempt or container, or of an item with the item.
ADDED = re.compile(r"\(\d+(?::.*)?\)$", re.DOTALL)


def named(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        yield node.name
        yield from named(node.inside)


def made(result: dict[str, Any]) -> set[str]:
    """The names of the tasks, steps and hooks of a run."""
    nodes: list[dict[str, Any]] = list(result["status"]["nodes"].values())
    attempts = {child for node in nodes if node["type"] == "Retry" for child in node.get("children", ())}
    found = {
        node["displayName"]
        for node in nodes
        if node["id"] not in attempts
        and node["type"] not in ("StepGroup", "Container")
        and node.get("boundaryID")
    }
    return {ADDED.sub("", name) for name in found}


def test_what_ran_is_in_the_picture() -> None:
    count = 0
    for one in recordings():
        expected = made(one.result)
        assert expected <= set(named(picture(one.manifest, {}).nodes)), one.name
        count += len(expected)
    assert count == 91
