"""A world for the machine: virtual time, and pods whose ends are given.

Time passes only from event to event. Nothing here knows Argo: a pod that is asked for runs, takes its time and ends
as it is told, unless it is stopped before.
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, Any, NamedTuple

from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.controller.machine import Machine
from flowdsl.runtime.local.pods.patch import judged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from flowdsl.runtime.local.controller.node import Node

Json = dict[str, Any]

START = 1_700_000_000.0
FOR_EVER = math.inf
MOST = 200_000  # events; a test run with more is in an endless loop


class Pod(NamedTuple):
    """What a pod does in this world. If it is stopped, it takes its `grace` and ends as `stopped` says."""

    outcome: events.Outcome = events.Outcome("Succeeded")
    takes: float = 1.0
    pends: float = 0.0
    ip: str = ""
    grace: float = 0.0
    stopped: events.Outcome = events.Outcome("Failed", "main: Error (exit code 143)", {"exitCode": "143"})


def succeeds(_: events.StartPod) -> Pod:
    """A world in which each pod takes a second and succeeds."""
    return Pod()


class World:
    """A run in such a world. Events and actions are recorded in order."""

    def __init__(
        self,
        controller: Callable[[events.Event], list[events.Action]],
        world: Callable[[events.StartPod], Pod] = succeeds,
        given: Iterable[events.Event] = (),
        start: float = START,
    ) -> None:
        self.controller = controller
        self.world = world
        self.given = list(given)
        self.start = start
        self.events: list[events.Event] = []
        self.actions: list[list[events.Action]] = []
        """The actions after each event."""
        self.pods: dict[str, events.StartPod] = {}
        self.stopped: list[tuple[float, events.StopPod]] = []
        self.spans: dict[str, tuple[float, float]] = {}
        """When the pods started and ended, by the names of their nodes."""
        self.ended: events.Ended | None = None
        self.queue: list[tuple[float, int, events.Event]] = []
        """The future events, by time; a heap."""
        self._made = 0
        self._as_told: dict[str, Pod] = {}
        self._gone: set[str] = set()

    def run(self) -> Self:
        """Run to the end, or until there are no more events."""
        self._push(events.Started(self.start))
        for one in self.given:
            self._push(one)
        return self.go_on()

    def go_on(self) -> Self:
        """Give the future events to the machine."""
        while self.queue and self.ended is None:
            assert len(self.events) < MOST, "the run does not end"
            _, _, event = heapq.heappop(self.queue)
            self.handle(event)
        return self

    def handle(self, event: events.Event) -> None:
        """Give an event to the machine, and perform its actions."""
        if isinstance(event, (events.PodRunning, events.PodEnded)) and event.node in self._gone:
            return
        if isinstance(event, events.PodEnded):
            self._gone.add(event.node)
            name = self.pods[event.node].name
            self.spans[name] = (self.spans[name][0], event.now)
        self.events.append(event)
        found = self.controller(event)
        self.actions.append(found)
        for action in found:
            self._take(action, event.now)

    @property
    def now(self) -> float:
        """Seconds since the run began."""
        return self.events[-1].now - self.start

    @property
    def running(self) -> set[str]:
        """The names of the nodes whose pods have not ended."""
        return {pod.name for node, pod in self.pods.items() if node not in self._gone}

    # --- the world ---------------------------------------------------------------------------------

    def _push(self, event: events.Event) -> None:
        self._made += 1
        heapq.heappush(self.queue, (event.now, self._made, event))

    def _take(self, action: events.Action, now: float) -> None:
        match action:
            case events.StartPod():
                assert action.node not in self.pods, f"{action.name} is started twice"
                self.pods[action.node] = action
                self.spans[action.name] = (now, FOR_EVER)
                pod = self.world(action)
                self._as_told[action.node] = pod
                if pod.pends < FOR_EVER and "http" not in action.template:
                    self._push(events.PodRunning(now + pod.pends, action.node, pod.ip))
                if pod.pends + pod.takes < FOR_EVER:
                    self._push(events.PodEnded(now + pod.pends + pod.takes, action.node, pod.outcome))
            case events.StopPod(node, message):
                assert node in self.pods, f"{node} is stopped, and was not started"
                self.stopped.append((now - self.start, action))
                pod = self._as_told[node]
                outcome = events.Outcome("Failed", message) if message else pod.stopped
                self._push(events.PodEnded(now + pod.grace, node, outcome))
            case events.WakeAt(at):
                self._push(events.Woken(max(at, now)))
            case events.Ended():
                assert self.ended is None, "the run ends twice"
                self.ended = action


class Simulation(World):
    """A run of the machine in such a world."""

    def __init__(
        self,
        machine: Machine,
        world: Callable[[events.StartPod], Pod] = succeeds,
        given: Iterable[events.Event] = (),
        start: float = START,
    ) -> None:
        super().__init__(machine.handle, world, given, start)
        machine.run.patched = judged
        self.machine = machine
        self.looks: list[Callable[[Simulation], None]] = []
        """Checks to call after each event."""

    def handle(self, event: events.Event) -> None:
        """Give an event to the machine, perform its actions, and call the checks."""
        super().handle(event)
        for look in self.looks:
            look(self)

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes by display name; the last one if several share it."""
        return {node.display: node for node in self.machine.nodes.values()}

    def phases(self) -> dict[str, str]:
        """The phases by display name."""
        return {node.display: node.phase for node in self.machine.nodes.values()}

    def inputs(self, display: str) -> dict[str, str]:
        """The values of a node's input parameters."""
        return _values(self.nodes[display].inputs)

    def outputs(self, display: str) -> dict[str, str]:
        """The values of a node's output parameters."""
        return _values(self.nodes[display].outputs)


def _values(of: Json | None) -> dict[str, str]:
    found: list[Json] = (of or {}).get("parameters") or []
    return {one["name"]: one["value"] for one in found if "value" in one}


def workflow(*templates: Json, name: str = "run", **spec: Any) -> Json:
    """A workflow of templates, the first of which is the entrypoint."""
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": name},
        "spec": {"entrypoint": templates[0]["name"], "templates": list(templates), **spec},
    }


def leaf(name: str = "leaf", *inputs: str, **more: Any) -> Json:
    """A container template with input parameters."""
    made: Json = {"name": name, "container": {"image": "busybox", "command": ["true"]}, **more}
    return {**made, "inputs": {"parameters": [{"name": one} for one in inputs]}} if inputs else made


def simulate(
    manifest: Json,
    world: Callable[[events.StartPod], Pod] = succeeds,
    *given: events.Event,
    **machine: Any,
) -> Simulation:
    """Run a workflow to its end."""
    return Simulation(Machine(manifest, **machine), world, given).run()
