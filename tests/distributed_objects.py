"""The objects that resource templates of a pipeline make, as they are in a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.controller.machine import Machine
from tests.local.simulation import Pod, Simulation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Object = dict[str, Any]


def made(case: Path, given: Mapping[str, str]) -> list[Object]:
    """The objects, in the order of their creation; `given` are parameters of the run."""
    (manifest,) = yaml.safe_load_all(compile_loaded(load(case)).text)
    parameters = manifest["spec"].get("arguments", {}).get("parameters", [])
    manifest["spec"]["arguments"] = {
        "parameters": [{**one, "value": given.get(one["name"], one.get("value"))} for one in parameters]
    }
    found: list[Object] = []

    def world(start: events.StartPod) -> Pod:
        if start.template.get("resource", {}).get("action") == "apply":
            found.append(yaml.safe_load(start.template["resource"]["manifest"]))
        outputs = start.template.get("outputs", {}).get("parameters", [])
        values = [{**one, "value": one.get("value", "0.5")} for one in outputs]
        return Pod(events.Outcome("Succeeded", "", {"parameters": values}))

    named = {**manifest, "metadata": {"name": "proof-x7k2p", "namespace": "default", "uid": "1-2-3"}}
    run = Simulation(Machine(named), world).run()
    assert run.machine.phase == "Succeeded", run.machine.message
    return found
