"""Retries a run that has ended: which of its nodes run again, and the run without their results.

Source of all rules: Argo 4.1.2, FormulateRetryWorkflow in workflow/util/util.go; except that the parts of a step on
several pods run again together, since an object that has ended is of no use to the part that waits for it.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from flowdsl.compiler.ports import WORKERS
from flowdsl.grammar.labels import ARCHIVING, COMPLETED
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.cluster.trouble import Unfit
from flowdsl.runtime.parts import part, several, texts
from flowdsl.runtime.phases import FAILURES, RUNNING, SKIPPED, SUCCEEDED, over, phase

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from flowdsl.runtime.cluster.seam import Json

_GROUPS = ("DAG", "TaskGroup", "StepGroup", "Steps")
_ITEMS = ("TaskGroup", "StepGroup")
_EXECUTED = ("Container", "Pod", "HTTP", "Plugin")
_LABELS = (COMPLETED, ARCHIVING)


class Retried(NamedTuple):
    """A run to be retried, and the nodes whose pods have to be deleted first: new ones get their names.

    The same holds for the `objects` of steps on several pods, where they have ended: their names, which a number
    may follow.
    """

    workflow: Json
    gone: frozenset[str]
    objects: frozenset[str]


def retried(workflow: Json, chosen: Collection[str], parameters: Mapping[str, str], now: str) -> Retried:
    """A run in the state from which the controller continues; the given one is not changed.

    What failed runs again, and what comes after it; and so do the nodes `chosen` by their ids, even if they
    succeeded. `now` is the time in RFC 3339. Raises Unfit.
    """
    name = str(workflow["metadata"]["name"])
    if not over(workflow):
        raise Unfit(f"`{name}` is still going on ({phase(workflow)}): only what has ended is retried")
    if phase(workflow) == SUCCEEDED and not chosen:
        raise Unfit(
            f"`{name}` succeeded: name the step from which it runs again, as in flowdsl retry {name} STEP"
        )
    graph = _Graph(name, part(workflow, "status").get("nodes") or {})
    everything = bool(parameters)
    removed, reset = graph.effect(graph.seeds(chosen), everything=everything)
    if parts := graph.first_parts(removed):
        removed, reset = graph.effect(graph.seeds({*chosen, *parts}), everything=everything)
    leaving = {each for each, node in graph.nodes.items() if _of_exit(name, str(node["name"]))}
    made = copy.deepcopy(workflow)
    _begin(made, parameters, now)
    made["status"]["nodes"] = {
        each: _reset(node, now) if each in reset else node
        for each, node in made["status"].get("nodes", {}).items()
        if each not in removed and each not in leaving
    }
    for node in made["status"]["nodes"].values():
        for key in ("children", "outboundNodes"):
            kept = [each for each in texts(node, key) if each not in removed]
            node.pop(key, None)
            if kept:
                node[key] = kept
    gone = frozenset(removed | leaving)
    return Retried(made, gone, frozenset(graph.objects(gone)))


def _begin(made: Json, parameters: Mapping[str, str], now: str) -> None:
    """Remove the fields and labels of a workflow that mark it as ended."""
    for label in _LABELS:
        part(made["metadata"], "labels").pop(label, None)
    spec, status = made["spec"], made["status"]
    stored = status.get("storedWorkflowTemplateSpec")
    for key in ("message", "phase", "finishedAt", "persistentVolumeClaims"):
        status.pop(key, None)
    status["startedAt"] = now
    others = [one for one in several(status, "conditions") if one.get("type") != "Completed"]
    status["conditions"] = [*others, {"type": "Completed", "status": "False"}]
    for each in (spec, stored):
        if each is not None:
            each.pop("shutdown", None)
    if spec.get("activeDeadlineSeconds") == 0:  # 0 is a way to end a run
        del spec["activeDeadlineSeconds"]
    if parameters:
        arguments = spec.setdefault("arguments", {})
        given = [{"name": name, "value": value} for name, value in parameters.items()]
        kept = [one for one in several(arguments, "parameters") if one["name"] not in parameters]
        arguments["parameters"] = [*given, *kept]
        if stored is not None:
            stored.setdefault("arguments", {})["parameters"] = copy.deepcopy(arguments["parameters"])


def _reset(node: Json, now: str) -> Json:
    """A node with children, in the state in which it was while they ran."""
    node.pop("message", None)
    node.pop("finishedAt", None)
    node["startedAt"] = now
    if node["phase"] != SKIPPED:
        node["phase"] = RUNNING
    return node


def _of_exit(run: str, name: str) -> bool:
    """Whether a node is, or is inside of, the exit handler of the run."""
    rest = name.removeprefix(f"{run}.onExit")
    return rest != name and rest[:1] in ("", ".", "[", "(")


def _object_of(node: Json) -> str:
    """The name of the object of a step on several pods that contains a node; else nothing."""
    inputs = several(part(node, "inputs"), "parameters")
    return next((str(one.get("value") or "") for one in inputs if one["name"] == WORKERS), "")


class _Graph:
    """The nodes of a run and their parents. A node with several parents counts as below the one with the last id."""

    def __init__(self, run: str, nodes: Mapping[str, Json]) -> None:
        self.run = run
        self.nodes = nodes
        self._parent = {
            child: each
            for each in sorted(nodes)
            for child in texts(nodes[each], "children")
            if child in nodes
        }
        for each, node in nodes.items():
            if each not in self._parent and node["name"] != run and not _of_exit(run, str(node["name"])):
                raise Unfit(
                    f"`{run}` cannot be retried: its node {node['name']} has no parent, as one of a hook "
                    "of the whole run; submit it again instead"
                )
        if nodes and not any(node["name"] == run for node in nodes.values()):
            raise Unfit(f"`{run}` cannot be retried: its first node is missing; submit it again instead")

    def below(self, start: str) -> set[str]:
        """All descendants and parts of a node, without the node."""
        found: set[str] = set()
        waiting = [start]
        while waiting:
            for child in texts(self.nodes[waiting.pop()], "children"):
                if child in self.nodes and child not in found:
                    found.add(child)
                    waiting.append(child)
        return found

    def objects(self, among: Collection[str]) -> set[str]:
        """The names of the objects of which nodes are parts."""
        return {found for each in among if (found := _object_of(self.nodes[each]))}

    def first_parts(self, removed: Collection[str]) -> set[str]:
        """Of the objects of which parts run again, the part that precedes all others."""
        asked = self.objects(removed)
        parts = [each for each, node in self.nodes.items() if _object_of(node) in asked] if asked else []
        later = {below for each in parts for below in self.below(each)}
        return {each for each in parts if each not in later}

    def seeds(self, chosen: Collection[str]) -> list[str]:
        """The topmost nodes to run again: those chosen, and failures that nothing compensated."""
        wanted = set(chosen)
        retries = {
            child: each
            for each, node in self.nodes.items()
            if node["type"] == "Retry"
            for child in texts(node, "children")
        }
        for each, node in self.nodes.items():
            if node.get("phase") not in FAILURES or node["type"] not in _EXECUTED:
                continue
            attempt = bool(part(node, "nodeFlag").get("retried"))
            after = self.below(retries.get(each, each) if attempt else each)
            if not any(self.nodes[one].get("phase") == SUCCEEDED for one in after if one not in chosen):
                wanted.add(each)
        return [each for each in self._from_the_top() if each in wanted]

    def _from_the_top(self) -> list[str]:
        """All nodes except the exit handler, each after one of its parents."""
        found = {each: None for each, node in self.nodes.items() if node["name"] == self.run}
        waiting = list(found)
        for each in waiting:
            for child in texts(self.nodes[each], "children"):
                if child in self.nodes and child not in found:
                    found[child] = None
                    waiting.append(child)
        return list(found)

    def effect(self, seeds: list[str], *, everything: bool) -> tuple[set[str], set[str]]:
        """The nodes that are removed, and those around them that continue.

        With `everything`, the items of the surrounding loops are computed again: they may differ.
        """
        removed: set[str] = set()
        reset: set[str] = set()
        for each in seeds:
            if each not in removed:
                removed |= {each} | self.below(each)
                if each in self._parent:
                    self._around(each, reset, removed)
        if everything:
            for each in reset - removed:
                if self.nodes[each]["type"] in _ITEMS:
                    removed |= self.below(each)
        return removed, reset - removed

    def _around(self, start: str, reset: set[str], removed: set[str]) -> None:
        """The nodes around one that runs again, up to the root."""
        at: str | None = start
        while at is not None:
            node = self.nodes[at]
            if node["type"] in _GROUPS:
                reset.add(at)
                at = self._bounds(at, reset)
                continue
            if node["type"] == "Container":  # containers of one pod run again together
                at = self._up(at, "type", "Pod")
                removed |= {at} | self.below(at)
            elif node["type"] == "Retry" and node.get("phase") in FAILURES:
                reset.add(at)
            at = self._parent.get(at)

    def _bounds(self, at: str, reset: set[str]) -> str | None:
        """The nodes that contain a group, up to the outermost; and the parent of that."""
        while True:
            above = self._parent.get(at)
            if above is not None and self.nodes[above]["type"] == "Retry":
                reset.add(above)
                at, above = above, self._parent.get(above)
            if above is not None and self.nodes[above]["type"] in _ITEMS:
                reset.add(above)
            boundary = self.nodes[at].get("boundaryID")
            if not boundary:
                return above
            at = self._up(at, "id", boundary)
            reset.add(at)

    def _up(self, at: str, key: str, value: str) -> str:
        """The first node with a value, from a node upwards."""
        found: str | None = at
        while found is not None:
            if self.nodes[found][key] == value:
                return found
            found = self._parent.get(found)
        raise Unfit(f"`{self.run}` cannot be retried: its node {self.nodes[at]['name']} has lost its place")
