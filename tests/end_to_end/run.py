"""A run of a compiled manifest on this machine, with its processes, as the tests look at it."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from flowdsl.compiler.expressions import VOLUMES
from flowdsl.runtime.local import prepare
from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.controller.machine import Machine
from flowdsl.runtime.local.controller.node import Node as Known
from flowdsl.runtime.local.journal import Inputs
from flowdsl.runtime.local.pods.inputs import load
from flowdsl.runtime.local.pods.pods import Pods
from flowdsl.runtime.local.pods.settings import Settings
from flowdsl.runtime.local.pods.store import Store, place
from flowdsl.runtime.local.runner import Runner
from flowdsl.runtime.phases import ERROR, FAILED, SUCCEEDED
from tests.end_to_end.inside import Done

Json = dict[str, Any]
Fake = Callable[[events.StartPod], Done | None]
_TAG = re.compile(r"\{\{\s*(?:=|(?:inputs|outputs|tasks|steps|workflow)[.}\s])(?s:.*?)\}\}")


class Hang(Exception):
    """A run that would stay Running in a cluster, though nothing runs any more."""


class LiteralTag(Exception):
    """A step that would be given the text of a tag instead of a value."""


class Clash(Exception):
    """Two outputs in one place: of these the last one stays, without a word."""


class Node(NamedTuple):
    """One task of a run, or one item of a loop: how it ended, what it handed on, and what it printed."""

    name: str
    phase: str
    message: str
    pod: bool
    parameters: dict[str, str] | None
    artifacts: dict[str, Json]
    log: str


class Run:
    """A finished run: its entry node, and all nodes by the names of their tasks."""

    def __init__(self, machine: Machine, folder: Path, settings: Settings) -> None:
        self.machine = machine
        self.phase = machine.phase
        self.folder = folder
        self.settings = settings
        self.nodes = {_name(one): self._node(one) for one in machine.nodes.values() if not one.retried}
        self.entry = self.nodes[str(machine.manifest["metadata"]["name"])]
        _check_places(machine)

    def _node(self, node: Known) -> Node:
        made = node.result()
        outputs = node.outputs or {}
        parameters: list[Json] | None = outputs.get("parameters")
        log = self.folder / "logs" / made.id / "main.log"
        return Node(
            _name(node),
            node.phase,
            node.message,
            made.type == "Pod",
            None
            if parameters is None
            else {one["name"]: one["value"] for one in parameters if "value" in one},
            {one["name"]: one for one in outputs.get("artifacts", [])},
            log.read_text(encoding="utf-8", errors="replace") if log.exists() else "",
        )

    def phases(self) -> dict[str, str]:
        """How each task, loop and item ended, by its name without that of the run; the run itself has no name."""
        return {name.partition(".")[2]: node.phase for name, node in self.nodes.items()}

    def task(self, name: str) -> Node:
        """A task, loop or item, by its name without that of the run."""
        return self.nodes[f"{self.entry.name}.{name}"]

    @property
    def objects(self) -> list[str]:
        """The keys of all that was stored as artifacts."""
        return list(Store(self.folder / "artifacts").keys(""))

    def file(self, node: str, output: str, folder: Path) -> Path | None:
        """A copy of a file that a node handed on, or None where there is none."""
        found = self.nodes[node].artifacts.get(output)
        if found is None:
            path = (self.nodes[node].parameters or {}).get(output, "")
            return self.kept(path) if path.startswith(VOLUMES) else None
        target = folder / f"{len(list(folder.iterdir()))}-{output}"
        if not load(found, target, Store(self.folder / "artifacts"), self.settings):
            target.mkdir()  # it had no files, and may be missing
        return target

    def kept(self, path: str) -> Path | None:
        """The file at a path on a volume, or None where there is none."""
        claim, _, rest = path.removeprefix(f"{VOLUMES}/").partition("/")
        found = self.settings.mounts[claim] / rest
        return found if found.exists() else None

    def errors(self) -> list[str]:
        """What went wrong, node by node."""
        return [
            f"{one.name}: {one.phase}: {one.message}\n{one.log}"
            for one in self.nodes.values()
            if one.phase in (FAILED, ERROR)
        ]


def _name(node: Known) -> str:
    """The name of a node by those of the tasks that it is in; an item of a loop has its number only."""
    if node.boundary is None:
        return node.name
    rest = node.name.removeprefix(f"{node.boundary.name}.")
    item = re.match(r"([\w-]+)\((\d+):", rest)
    return f"{_name(node.boundary)}.{f'{item[1]}({item[2]})' if item else rest}"


def _check_places(machine: Machine) -> None:
    """Raise `Clash` where outputs of pods share a place, or one is in the other; a hit of a cache has no pod."""
    pods = (node for node in machine.nodes.values() if node.type == "Pod" and node.phase == SUCCEEDED)
    made = [node for node in pods if not (node.memo or {}).get("hit")]
    found = sorted(f"{place(one)[1]}/" for node in made for one in (node.outputs or {}).get("artifacts", []))
    for one, other in itertools.pairwise(found):
        if other.startswith(one):
            raise Clash(f"{one} and {other}")


def run(
    folder: Path,
    document: Json,
    arguments: Mapping[str, str],
    name: str,
    settings: Settings,
    fake: Fake | None = None,
) -> Run:
    """Run a Workflow under a name; `fake` says which pods no processes are made for, and how they end."""
    named = {**document, "metadata": {**document["metadata"], "name": name}}
    used = settings._replace(workflow=name)

    def checked(pod: events.StartPod) -> events.Outcome | None:
        tag = _TAG.search(json.dumps(pod.template, ensure_ascii=False))
        if tag:
            raise LiteralTag(f"{pod.name} would get the text {tag[0]}")
        done = fake(pod) if fake is not None else None
        if done is None:
            return None
        log = folder / "logs" / pod.node / "main.log"
        log.parent.mkdir(parents=True)
        log.write_text(done.printed, encoding="utf-8")
        return done.outcome

    runner = Runner(folder, lambda report: Pods(folder, report, used), fake=checked)
    machine = runner.begin(Inputs(prepare.workflow(named, dict(arguments)), [], {}, {}))
    if machine.message.startswith("Argo would wait for ever"):
        raise Hang(machine.message)
    return Run(machine, folder, used)
