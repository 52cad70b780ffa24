"""The outputs of a run, by the names that its author knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.runtime.names import is_hidden, is_log
from flowdsl.runtime.parts import several

if TYPE_CHECKING:
    from flowdsl.runtime.status.tree import RunNode

Json = dict[str, Any]


def given(entry: RunNode | None, shared: Json | None) -> tuple[dict[str, Json], dict[str, Json]]:
    """The parameters and artifacts of the entrypoint, and of steps with a global name; its result counts as one.

    `shared`: the outputs of the run, which contain those of such steps.
    """
    of = entry.result().outputs if entry is not None else None
    parameters, artifacts = (_named(kind, of, shared) for kind in ("parameters", "artifacts"))
    if of is not None and of.get("result") is not None:
        parameters.setdefault("result", {"name": "result", "value": of["result"]})
    return parameters, artifacts


def _named(kind: str, *outputs: Json | None) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for one in (one for each in outputs for one in several(each, kind)):
        name = str(one.get("name") or "")
        if not (is_hidden(name) or is_log(name)):
            found.setdefault(name, one)
    return found
