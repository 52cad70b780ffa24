"""Suspended steps of a run: which values each waits for, and the run with these values set.

Source: Argo 4.1, ResumeWorkflow and updateSuspendedNode in workflow/util/util.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.cluster.trouble import Unfit
from flowdsl.runtime.logs.source import called
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.phases import RUNNING, SUCCEEDED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flowdsl.runtime.cluster.seam import Json


class Answer(NamedTuple):
    """A value that a user supplies: its name, its default or description, and its allowed values (any, if empty)."""

    name: str
    default: str | None
    choices: tuple[str, ...]
    about: str

    @property
    def said(self) -> str:
        """How it is given on a command line: `-p verdict=VALUE (ship or hold)`."""
        more = f" ({' or '.join(self.choices)})" if self.choices else f" ({self.about})" if self.about else ""
        return f"-p {self.name}=VALUE{more}"


class Gate(NamedTuple):
    """A suspended step."""

    node: str
    step: str
    answers: tuple[Answer, ...]


def gates(workflow: Json) -> list[Gate]:
    """The suspended steps at which the run waits, in the order in which it reached them."""
    nodes: Mapping[str, Json] = part(workflow, "status").get("nodes") or {}
    active = [node for node in nodes.values() if node["type"] == "Suspend" and node.get("phase") == RUNNING]
    active.sort(key=lambda node: (str(node.get("startedAt")), str(node["name"])))
    run = str(workflow["metadata"]["name"])
    return [Gate(str(node["id"]), called(run, str(node["name"])), _answers(node)) for node in active]


def _answers(node: Json) -> tuple[Answer, ...]:
    inputs = {one["name"]: one for one in several(part(node, "inputs"), "parameters")}
    found: list[Answer] = []
    for one in several(part(node, "outputs"), "parameters"):
        source = part(one, "valueFrom")
        if "supplied" not in source:
            continue
        beside: Json = inputs.get(one["name"], {})
        default = source.get("default")
        choices = tuple(str(each) for each in beside.get("enum") or one.get("enum") or ())
        about = " ".join(str(beside.get("description") or one.get("description") or "").split())
        found.append(Answer(str(one["name"]), None if default is None else str(default), choices, about))
    return tuple(found)


def supplied(workflow: Json, gate: str, parameters: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The values for each gate, by its node: of all gates, or of the one whose node is given.

    Raises Unfit for a value that is missing, that is not allowed, or that no gate takes.
    """
    run = workflow["metadata"]["name"]
    waiting = gates(workflow)
    chosen = [one for one in waiting if not gate or one.node == gate]
    if gate and not chosen:
        raise Unfit(f"`{run}` does not wait at {_step(workflow, gate)}{_instead(waiting)}")
    for name in parameters:
        takers = [one.step for one in chosen if any(each.name == name for each in one.answers)]
        if not takers:
            known = [each.name for one in chosen for each in one.answers]
            more = f": what it asks for is {', '.join(known)}" if known else ": it asks for nothing"
            raise Unfit(f"nothing that `{run}` waits at asks for `{name}`{more}")
        if len(takers) > 1:
            raise Unfit(f"{', '.join(takers)} all ask for `{name}`: answer one at a time, with --step STEP")
    return {one.node: _values(one, parameters) for one in chosen}


def _values(gate: Gate, parameters: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in gate.answers:
        value = parameters.get(one.name, one.default)
        if value is None:
            raise Unfit(f"{gate.step} needs an answer: {one.said}")
        if one.name in parameters and one.choices and value not in one.choices:
            raise Unfit(f"{gate.step}: `{one.name}` is {' or '.join(one.choices)}, not `{value}`")
        found[one.name] = value
    return found


def _instead(waiting: Sequence[Gate]) -> str:
    return f": it waits at {', '.join(one.step for one in waiting)}" if waiting else ", nor anywhere else"


def _step(workflow: Json, node: str) -> str:
    found = part(part(part(workflow, "status"), "nodes"), node)
    return called(str(workflow["metadata"]["name"]), str(found["name"])) if found else node


def is_suspended(workflow: Json) -> bool:
    """Whether a run waits to be resumed."""
    return bool(workflow["spec"].get("suspend")) or bool(gates(workflow))


def resume(workflow: Json, gate: str, parameters: Mapping[str, str], now: str) -> bool:
    """Resume a run in place, all of it or one gate; returns whether that changed it. Raises Unfit."""
    answers = supplied(workflow, gate, parameters)
    changed = bool(answers)
    if not gate and workflow["spec"].pop("suspend", None):
        changed = True
    for node, values in answers.items():
        _let_go(workflow, workflow["status"]["nodes"][node], values, now)
    return changed


def _let_go(workflow: Json, node: Json, values: Mapping[str, str], now: str) -> None:
    node["phase"] = SUCCEEDED
    node["finishedAt"] = now
    for one in several(part(node, "outputs"), "parameters"):
        if one["name"] in values:
            one["value"] = values[one["name"]]
            del one["valueFrom"]
            if one.get("globalName"):
                _publish(workflow, str(one["globalName"]), one["value"])


def _publish(workflow: Json, name: str, value: Any) -> None:
    """Add an output to the run. Source: AddParamToGlobalScope."""
    outputs: list[Json] = workflow["status"].setdefault("outputs", {}).setdefault("parameters", [])
    for one in outputs:
        if one["name"] == name:
            one["value"] = value
            return
    outputs.append({"name": name, "value": value})
