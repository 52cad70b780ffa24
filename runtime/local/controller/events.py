"""The interface between the machine and the world: events in, actions out.

Times are in seconds since 1970, and never earlier than those of the event before.
"""

from __future__ import annotations

from typing import Any, Literal

from flowdsl.grammar.named import NamedTuple

Json = dict[str, Any]
Phase = Literal["Succeeded", "Failed", "Error"]
Strategy = Literal["Stop", "Terminate"]


class Outcome(NamedTuple):
    """How a pod, or what stands in for one, ended. Source: inferFailedReason of Argo 4.1.

    `outputs` has Argo's shape: `parameters`, `artifacts`, `result`, `exitCode` (a text); what there is none of is
    left out. `containers` holds phase and message of each container of a containerSet.
    """

    phase: Phase
    message: str = ""
    outputs: Json | None = None
    containers: dict[str, tuple[Phase, str]] | None = None


# --- events -----------------------------------------------------------------------------------------


class Started(NamedTuple):
    """The run begins."""

    now: float


class PodRunning(NamedTuple):
    """The containers of a pod run; of a daemon: they are ready, and other steps reach it at `ip`."""

    now: float
    node: str
    ip: str = ""


class PodEnded(NamedTuple):
    """A pod, an HTTP request, or another leaf has ended."""

    now: float
    node: str
    outcome: Outcome


class Woken(NamedTuple):
    """The time of a `WakeAt` has come."""

    now: float


class Resumed(NamedTuple):
    """A suspended node, or a run that began suspended, goes on, with values for the node's supplied outputs."""

    now: float
    node: str
    supplied: dict[str, str]


class TakenUp(NamedTuple):
    """The run goes on after it was interrupted: its pods have begun anew, and what went by meanwhile counts nowhere."""

    now: float


class ShutDown(NamedTuple):
    """The run is to stop: `Stop` lets the exit handlers run, `Terminate` does not."""

    now: float
    strategy: Strategy


Event = Started | PodRunning | PodEnded | Woken | Resumed | TakenUp | ShutDown


# --- actions ----------------------------------------------------------------------------------------


class StartPod(NamedTuple):
    """A leaf is to run: a container, script, containerSet, resource, data or http template.

    `template` is Argo's, with everything replaced: the inputs have their values and the artifacts their places.
    `volumes` are those of the workflow, with the claims that are made for the run among them. `keeps_result`:
    standard output is wanted as `outputs.result`. `patches` are those of the workflow's `podSpecPatch`; they come
    before that of the template.
    """

    node: str
    name: str
    pod: str
    template: Json
    volumes: list[Json]
    keeps_result: bool
    patches: tuple[str, ...] = ()


class StopPod(NamedTuple):
    """A pod is to be ended: TERM, the grace time of its template, KILL. Its `PodEnded` is awaited still.

    `message` is what the outcome has to say, with the phase `Failed`; no message: its own outcome stands.
    """

    node: str
    message: str = ""


class WakeAt(NamedTuple):
    """A `Woken` is wanted at this time, or later."""

    at: float


class Ended(NamedTuple):
    """The run has ended: nothing runs, and nothing is to come."""

    phase: Phase
    message: str


Action = StartPod | StopPod | WakeAt | Ended
