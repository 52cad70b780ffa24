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

#: Words of Argo in place of which the machine is meant to say something else.
OTHER_WORDS = (
    "\n | ",  # expr-lang shows the expression that it cannot evaluate
    "Invalid 'when' expression",  # govaluate names its own kinds of tokens
    "Error applying PodSpecPatch",  # which says no more
    "failed to unmarshall JSON expression",  # in the words of the Go that the tests build it with
    "Maximum recursion depth exceeded",  # with a link to the documents of its version, which a test has not
)


class Refused(Exception):
    """Argo does not run the workflow: it finds it invalid."""


class Case(NamedTuple):
    """A workflow, the objects that it names, how its pods end, and what else happens, by seconds after it began."""

    manifest: Json
    objects: Sequence[Json]
    world: Callable[[events.StartPod], Pod]
    given: Sequence[events.Resumed | events.ShutDown] = ()


def differences(controller: Controller, case: Case) -> list[str]:
    """How the end of a run differs between Argo and the machine, a line each. Raises Refused and Gone.

    Argo goes through maps of Go in any order, and locks are handed on in that order: what is the same once is the same.
    """
    found: list[str] = []
    for _ in range(TRIES):
        start = float(int(controller.now) + 2)  # whole: Argo writes no parts of seconds
        machine = Machine(
            case.manifest,
            [one for one in case.objects if one["kind"] != "ConfigMap"],
            {one["metadata"]["name"]: one["data"] for one in case.objects if one["kind"] == "ConfigMap"},
        )
        given = [event._replace(now=start + event.now) for event in case.given]
        here = Simulation(machine, case.world, given, start).run()
        if machine.message.startswith(FOR_EVER):  # what people would do later, it does not see
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
    """What is compared of a status: the run, by no name, and each node by its own."""
    nodes: dict[str, Json] = status.get("nodes") or {}
    names = {identity: node["name"] for identity, node in nodes.items()}
    found = {"": {"phase": status.get("phase", ""), "message": status.get("message", "")}}
    found[""] |= _values("outputs", status.get("outputs"))
    for node in nodes.values():
        made = {field: node.get(field) or None for field in FIELDS}
        made["boundary"] = names.get(node.get("boundaryID", ""))
        made["children"] = sorted(names[one] for one in node.get("children") or () if one in names) or None
        made["began"] = (seconds(node["startedAt"]) or 0) - start
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
                if theirs != here and not any(words in str(theirs) for words in OTHER_WORDS):
                    yield f"{name or 'the run'}: {field}: {here!r}, in Argo {theirs!r}"
