"""The steps of a run by the names that its author gave them, with what each handed on.

A Workflow object is all that is read, so runs of this machine and of a cluster are told alike.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from flowdsl.runtime.local.shapes import part, several

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Json = dict[str, Any]

_ROUND = re.compile(r"\((\d+):.*\)$", re.DOTALL)
_RUNNING = ("Pending", "Running", "")


class Step(NamedTuple):
    """A step, or a graph of steps. `folder` are the names on the way to it, a round of a loop by its number."""

    path: str
    """What its author calls it: `search.train(3)`."""
    folder: tuple[str, ...]
    node: Json
    """What its outputs are read from."""
    pod: Json
    """What ran: of a step that was tried several times, the last attempt."""
    leaf: bool
    """Whether it has no steps of its own."""

    @property
    def outputs(self) -> Json:
        """What it handed on, in Argo's words."""
        return part(self.node, "outputs") or part(self.pod, "outputs")

    @property
    def phase(self) -> str:
        """Its phase in Argo's words."""
        return str(self.node.get("phase") or "Pending")

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.phase in _RUNNING


def steps(workflow: Json) -> list[Step]:
    """The steps of a run, in the order in which they began, each graph before its steps."""
    run = str(part(workflow, "metadata").get("name"))
    return list(_Tree(run, part(part(workflow, "status"), "nodes")).steps())


def own(workflow: Json, kind: str) -> list[Json]:
    """What the run itself handed on, `parameters` or `artifacts`: its entrypoint, and steps with a global name."""
    status = part(workflow, "status")
    tree = _Tree(str(part(workflow, "metadata").get("name")), part(status, "nodes"))
    tops = [one for one in tree.tops if one.get("name") == tree.run]
    made = [one for node in tops for one in several(part(node, "outputs"), kind)]
    names = {one.get("name") for one in made}
    return [*made, *(one for one in several(part(status, "outputs"), kind) if one.get("name") not in names)]


class _Tree:
    """The nodes of a run by the node that they are part of."""

    def __init__(self, run: str, nodes: Mapping[str, Json]) -> None:
        self.run = run
        self.nodes = nodes
        attempts = {
            child
            for node in nodes.values()
            if node.get("type") == "Retry"
            for child in _texts(node, "children")
            if child in nodes and not part(nodes[child], "nodeFlag").get("hooked")
        }
        self.tops: list[Json] = []
        self.inside: dict[str, list[Json]] = {}
        for node in sorted(nodes.values(), key=_order):
            if node.get("type") in ("StepGroup", "Container") or node.get("id") in attempts:
                continue
            boundary = str(node.get("boundaryID") or "")
            (self.inside.setdefault(boundary, []) if boundary else self.tops).append(node)

    def steps(self) -> Iterator[Step]:
        """All of them."""
        for node in self.tops:
            if node.get("name") == self.run:
                body = self._last(node)
                if body.get("type") in ("DAG", "Steps"):
                    yield from self._below(body, "", ())
                else:
                    name = str(node.get("templateName") or self.run)
                    yield from self._step(node, name, (name,))
            else:
                name = str(node.get("displayName")).removeprefix(f"{self.run}.")
                yield from self._step(node, name, (name,))

    def _step(self, node: Json, path: str, folder: tuple[str, ...]) -> Iterator[Step]:
        body = self._last(node)
        leaf = not self.inside.get(str(body.get("id")))
        yield Step(path, folder, node, body, leaf)
        if not leaf:
            yield from self._below(body, path, folder)

    def _below(self, node: Json, above: str, folder: tuple[str, ...]) -> Iterator[Step]:
        nodes = self.inside.get(str(node.get("id")), [])
        loops = {matched[0] for one in nodes if (matched := _split(one)) is not None}
        # A graph that is there for a loop: its rounds are called after it.
        named = [one for one in nodes if _split(one) is None and one.get("type") != "TaskGroup"]
        alone = len(loops) == 1 and not named and bool(above)
        for one in nodes:
            matched = _split(one)
            if matched is None:
                name = str(one.get("displayName"))
                path = f"{above}.{name}" if above else name
                if one.get("type") != "TaskGroup":
                    yield from self._step(one, path, (*folder, name))
                continue
            base, number = matched
            path = above if alone else f"{above}.{base}" if above else base
            place = folder if alone else (*folder, base)
            yield from self._step(one, f"{path}({number})", (*place, number))

    def _last(self, node: Json) -> Json:
        """Of a step that may be tried again, its last attempt."""
        if node.get("type") != "Retry":
            return node
        found = [self.nodes[one] for one in _texts(node, "children") if one in self.nodes]
        kept = [one for one in found if not part(one, "nodeFlag").get("hooked")]
        return kept[-1] if kept else node


def _split(node: Json) -> tuple[str, str] | None:
    """The name of a loop, and the number of the round that a node is."""
    display = str(node.get("displayName"))
    matched = _ROUND.search(display)
    return None if matched is None else (display[: matched.start()], matched[1])


def _order(node: Json) -> tuple[str, str]:
    return str(node.get("startedAt") or "~"), _numbered(str(node.get("name")))


def _numbered(name: str) -> str:
    """A name whose numbers sort as numbers."""
    return re.sub(r"\d+", lambda found: found[0].zfill(9), name)


def _texts(of: Json, name: str) -> list[str]:
    found: list[str] = of.get(name) or []
    return found


def templates(workflow: Json) -> dict[str, Json]:
    """The templates of a run by name: its own, and those that the controller keeps of what it refers to."""
    spec = effective(workflow)
    found = {str(one.get("name")): one for one in several(spec, "templates")}
    stored: dict[str, Json] = part(workflow, "status").get("storedTemplates") or {}
    for key, one in stored.items():
        found.setdefault(str(one.get("name") or key.rpartition("/")[2]), one)
    return found


def effective(workflow: Json) -> Json:
    """The spec that a run was executed by: under `workflowTemplateRef`, the one that the controller keeps."""
    return part(part(workflow, "status"), "storedWorkflowTemplateSpec") or part(workflow, "spec")
