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
    """The result of a pod, or of its substitute. Source: inferFailedReason of Argo 4.1.

    `outputs` has Argo's format: `parameters`, `artifacts`, `result`, `exitCode` (a text); missing outputs are left
    out. `containers` holds phase and message of each container of a containerSet.
    """

    phase: Phase
    message: str = ""
    outputs: Json | None = None
    containers: dict[str, tuple[Phase, str]] | None = None


# --- events -----------------------------------------------------------------------------------------


class Started(NamedTuple):
    """The run has started."""

    now: float


class PodRunning(NamedTuple):
    """The containers of a pod are running; of a daemon: they are ready, and other steps reach it at `ip`."""

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
    """A suspended node, or a run that began suspended, is resumed, with values for the node's supplied outputs."""

    now: float
    node: str
    supplied: dict[str, str]


class TakenUp(NamedTuple):
    """The run is resumed after an interruption: its pods have started again, the time in between does not count."""

    now: float


class ShutDown(NamedTuple):
    """The run is stopped: `Stop` lets the exit handlers run, `Terminate` does not."""

    now: float
    strategy: Strategy


Event = Started | PodRunning | PodEnded | Woken | Resumed | TakenUp | ShutDown


# --- actions ----------------------------------------------------------------------------------------


class StartPod(NamedTuple):
    """Start a leaf: a container, script, containerSet, resource, data or http template.

    `template` is Argo's, fully substituted: inputs have their values and artifacts their locations. `volumes` are
    those of the workflow, including the claims created for the run. `keeps_result`: standard output is needed as
    `outputs.result`. `patches` are those of the workflow's `podSpecPatch`; they precede that of the template.
    """

    node: str
    name: str
    pod: str
    template: Json
    volumes: list[Json]
    keeps_result: bool
    patches: tuple[str, ...] = ()


class StopPod(NamedTuple):
    """Stop a pod: TERM, the grace period of its template, KILL. Its `PodEnded` is still awaited.

    `message` becomes that of the outcome, with the phase `Failed`; without one, the pod's own outcome stands.
    """

    node: str
    message: str = ""


class WakeAt(NamedTuple):
    """Request a `Woken` at this time, or later."""

    at: float


class Ended(NamedTuple):
    """The run has ended: nothing runs, and nothing more will happen."""

    phase: Phase
    message: str


Action = StartPod | StopPod | WakeAt | Ended
