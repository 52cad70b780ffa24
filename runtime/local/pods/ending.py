"""How a container ended, and the phase and message of its pod that follow from it.

Source: inferFailedReason and assessNodeStatus in workflow/controller/operator.go of Argo 4.1.
"""

from __future__ import annotations

from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.local.controller.events import Outcome, Phase
from flowdsl.runtime.local.pods.outputs import Taken
from flowdsl.runtime.local.pods.units import Shape, Unit

_KILLED = (137, 143)


class Way(NamedTuple):
    """How a container ended: exit code, message and reason of Kubernetes, standard output (None if it never ran)."""

    code: int
    message: str = ""
    reason: str = "Error"
    result: str | None = None


def said(name: str, way: Way) -> str:
    """The message about one container."""
    text = f"{name}: {way.reason} (exit code {way.code})"
    return f"{text}: {way.message}" if way.message else text


def outcome(shape: Shape, ways: dict[str, Way], taken: Taken | None) -> Outcome:
    """The outcome of the pod: init containers count first, then the main ones, the outputs, and the sidecars."""
    phase, message = _of(shape.inits, ways, True)
    if taken is not None and taken.unsaved and "main" in ways:
        ways = {**ways, "main": Way(64, taken.unsaved)}
    if phase == "Succeeded":
        phase, message = _of(shape.mains, ways, False)
    main = ways.get("main")
    code = main.code if main is not None and any(one.name == "main" for one in shape.mains) else None
    if taken is not None:
        found = taken.outcome(phase, message, code)
    else:
        found = Outcome(phase, message, None if code is None else {"exitCode": str(code)})
    if shape.sidecars and found.phase == "Succeeded":
        phase, message = _of(shape.sidecars, ways, True)
        found = found._replace(phase=phase, message=message)
    if shape.nodes:
        found = found._replace(containers={one.name: _one(one.name, ways) for one in shape.mains})
    return found


def _of(units: list[Unit], ways: dict[str, Way], killed_is_fine: bool) -> tuple[Phase, str]:
    for one in units:
        way = ways.get(one.name)
        if way is not None and way.code != 0 and not (killed_is_fine and way.code in _KILLED):
            return "Failed", said(one.name, way)
    return "Succeeded", ""


def _one(name: str, ways: dict[str, Way]) -> tuple[Phase, str]:
    """Phase and message of a container of a containerSet; the message ends in `: ` if there is nothing to add."""
    way = ways.get(name)
    if way is None:
        return "Failed", "Pod Failed whilst container running"
    if way.code == 0:
        return "Succeeded", ""
    text = f"{name}: {way.reason} (exit code {way.code}): {way.message}"
    return ("Error" if way.code == 64 else "Failed"), text
