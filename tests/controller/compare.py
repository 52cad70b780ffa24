"""One workflow in one world, run by the machine and by Argo's controller, and how the two ends differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flowdsl.runtime.local.controller.machine import Machine
from flowdsl.runtime.parts import part
from flowdsl.runtime.times import seconds
from tests.controller.argo import Argo, Controller
from tests.local.simulation import Pod, Simulation, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flowdsl.runtime.local.controller import events

Json = dict[str, Any]

FIELDS = ("displayName", "type", "phase", "message", "templateName", "templateScope", "daemoned", "podIP")
TRIES = 3
FOR_EVER = "Argo would wait for ever"
ENDED = ("Succeeded", "Failed", "Error")

#: Parts of Argo's messages for which the machine deliberately has other words.
OTHER_WORDS = (
    "asInt(lastRetry.duration)",  # MOMENT is a part of it
    "Error applying PodSpecPatch",  # without details
    "could not find node named",  # with all fields of the node
    "failed to unmarshall JSON expression",  # depends on the version of Go that builds the tests
    "Maximum recursion depth exceeded",  # with a link to the documentation of its version, which a test lacks
)


class Refused(Exception):
    """Argo does not run the workflow, because it is invalid."""


class Case(NamedTuple):
    """A workflow, the objects it refers to, how its pods end, and other events, by seconds after its start."""

    manifest: Json
    objects: Sequence[Json]
    world: Callable[[events.StartPod], Pod]
    given: Sequence[events.Resumed | events.ShutDown] = ()


def differences(controller: Controller, case: Case) -> list[str]:
    """The differences between the ends of a run by Argo and by the machine, a line each. Raises Refused and Gone.

    Argo iterates over Go maps in random order, which affects locks: the runs are equal if they are in any try.
    """
    found: list[str] = []
    for _ in range(TRIES):
        start = float(int(controller.now) + 2)  # whole: Argo writes no fractions of seconds
        machine = Machine(
            case.manifest,
            [one for one in case.objects if one["kind"] != "ConfigMap"],
            {one["metadata"]["name"]: one["data"] for one in case.objects if one["kind"] == "ConfigMap"},
        )
        given = [event._replace(now=start + event.now) for event in case.given]
        here = Simulation(machine, case.world, given, start).run()
        if machine.message.startswith(FOR_EVER):  # it does not see later events
            given = [event for event in given if event.now <= here.events[-1].now]
        argo = Argo(controller, case.manifest, case.objects)
        World(argo.handle, case.world, given, start).run()
        if argo.status.get("message", "").startswith("invalid spec"):
            raise Refused(argo.status["message"])
        found = list(_lines(_end(argo.status, start), _end(_status(machine), start)))
        if not found:
            break
    return found


def _status(machine: Machine) -> Json:
    """The status as Argo would write it."""
    waits = machine.message.startswith(FOR_EVER)
    return {
        "phase": "Running" if waits else machine.phase,
        "message": "" if waits else machine.message,
        "nodes": {node.id: node.status() for node in machine.nodes.values()},
        "outputs": machine.run.outputs,
    }


def _end(status: Json, start: float) -> dict[str, Json]:
    """The compared parts of a status: the run under an empty name, and each node under its own."""
    nodes: dict[str, Json] = status.get("nodes") or {}
    names = {identity: node["name"] for identity, node in nodes.items()}
    found = {"": {"phase": status.get("phase", ""), "message": status.get("message", "")}}
    found[""] |= _values("outputs", status.get("outputs"))
    for node in nodes.values():
        made = {field: node.get(field) or None for field in FIELDS}
        made["boundary"] = names.get(node.get("boundaryID", ""))
        made["children"] = sorted(names[one] for one in node.get("children") or () if one in names) or None
        made["began"] = (seconds(node["startedAt"]) or 0) - start
        around = (node, *(nodes[one] for one in node.get("children") or () if one in nodes))
        if not any(one.get("podIP") for one in around):  # a daemon, which ends for Argo when it serves
            made["ended"] = (seconds(node["finishedAt"]) or 0) - start if node.get("finishedAt") else None
        made["lock"] = part(node, "synchronizationStatus").get("waiting") or None
        made |= {f"is {flag}": True for flag in node.get("nodeFlag") or ()}
        for side in ("inputs", "outputs"):
            made |= _values(side, node.get(side))
        found[node["name"]] = made
    return found


def _values(side: str, values: Json | None) -> Json:
    found: Json = {}
    for kind, value in (values or {}).items():
        if kind in ("parameters", "artifacts"):
            found |= {f"{side}.{kind}.{one['name']}": one.get("value", "is there") for one in value}
        else:
            found[f"{side}.{kind}"] = value
    return found


def _lines(argo: dict[str, Json], ours: dict[str, Json]) -> Iterator[str]:
    over = argo[""]["phase"] in ENDED
    for name in sorted(argo.keys() | ours.keys()):
        one, two = argo.get(name), ours.get(name)
        if one is None or two is None:
            yield f"{name}: only {'here' if one is None else 'in Argo'}: {(one or two or {})['phase']}"
        elif not (over and one["phase"] not in ENDED and two["phase"] in ENDED):  # which Argo forgets, not we
            for field in sorted(one.keys() | two.keys()):
                theirs, here = one.get(field), two.get(field)
                if field == "ended" and theirs is None and one["phase"] in ENDED:
                    continue  # the controller writes no end when it only closes the record of the run
                if theirs != here and not any(words in str(theirs) for words in OTHER_WORDS):
                    yield f"{name or 'the run'}: {field}: {here!r}, in Argo {theirs!r}"
