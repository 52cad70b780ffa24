"""A manifest and what an import of it compiles to, run on this machine and compared."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.labels import SCHEDULED
from flowdsl.grammar.names import dns_name
from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.journal import Inputs
from flowdsl.runtime.local.pods.pods import Pods
from flowdsl.runtime.local.pods.settings import Settings
from flowdsl.runtime.local.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Json = dict[str, Any]
Fake = Callable[[events.StartPod], events.Outcome | None]

#: Programs that wait, or use the network or random numbers: they are taken to succeed.
_ELSEWHERE = re.compile(r"sleep +'?(?:[3-9]|\d\d)|random|curl|kubectl|wget|http|seq 1")
#: Suffixes that distinguish templates of several documents of a file, and of a hook and a step.
_NUMBER = re.compile(r"-(?:\d|hook)$")
#: What differs in each run: times, and the identifiers of pods and nodes.
_OWN = re.compile(r"\d\d:\d\d:\d\d|[.]\d{4,}|-\d{6,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def differences(
    theirs: Json,
    ours: Json,
    folder: Path,
    *,
    names: bool = False,
    library: Sequence[Json] = (),
    compiled: Sequence[Json] = (),
) -> Iterator[str]:
    """The differences between the runs of two manifests; `names`: also in the names of pods outside of loops.

    `library` are documents that they may call; for the second run, `compiled` replaces those it was compiled from.
    """
    again = {one["metadata"]["name"] for one in compiled}
    others = [*compiled, *(one for one in library if one["metadata"].get("name") not in again)]
    one, two = ran(theirs, folder / "theirs", library), ran(ours, folder / "ours", others)
    if names and (missing := one["names"] - two["known"]):
        yield f"names: {sorted(two['known'])}, without {sorted(missing)}"
    for what in ("phase", "pods", "outputs", "printed"):
        if one[what] != two[what]:
            yield f"{what}: {two[what]}, not {one[what]}"


def ran(manifest: Json, folder: Path, library: Sequence[Json] = (), fake: Fake | None = None) -> Json:
    """The result of a run: its phase, its pods by template and phase, its outputs, and the logs of its pods."""
    folder.mkdir(parents=True)
    document = json.loads(json.dumps(manifest))
    made: Json = {"name": "run"}
    if document["kind"] == "CronWorkflow":
        document = {**document, "spec": document["spec"]["workflowSpec"]}
        made["annotations"] = {SCHEDULED: "2026-01-31T03:00:00Z"}
    document["kind"] = "Workflow"
    document["metadata"] = made
    volumes, logs = folder / "volumes", folder.glob("logs/*/main.log")
    settings = Settings(workflow="run", cpu=64, memory=1 << 40, grace=1, volumes=volumes)
    runner = Runner(folder, lambda report: Pods(folder, report, settings), fake=fake or faked)
    machine = runner.begin(Inputs(document, [*library], {}, {}))
    nodes: list[Json] = list(
        json.loads((folder / "workflow.json").read_text("utf-8"))["status"]["nodes"].values()
    )
    pods = Counter(
        (_NUMBER.sub("", dns_name(_template(node))), node["phase"])
        for node in nodes
        if node["type"] in ("Pod", "Suspend", "HTTP", "Container")
    )
    shown = [(node["type"], str(node["displayName"]).replace(".onExit", "-exit")) for node in nodes]
    names = {dns_name(name) for kind, name in shown if kind == "Pod" and "(" not in name and name != "run"}
    known = {dns_name(name) for _, name in shown}
    outputs = machine.run.outputs or {}
    values = sorted(str(one.get("value")) for one in outputs.get("parameters", ()))
    return {
        "phase": machine.phase,
        "pods": sorted(pods.items()),
        "outputs": values,
        "printed": sorted(filter(None, (_OWN.sub("*", log.read_text("utf-8")) for log in logs))),
        "names": names,
        "known": known,
    }


def _template(node: Json) -> str:
    called: Json = node.get("templateRef") or {}
    return str(node.get("templateName") or called.get("template") or node["displayName"])


def faked(pod: events.StartPod) -> events.Outcome | None:
    """The outcome of a pod that cannot run here."""
    body: Json = pod.template.get("container") or pod.template.get("script") or {}
    program = [str(one) for one in body.get("command") or ()]
    text = json.dumps(pod.template)
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))  # as a run has it
    here = program and shutil.which(program[0], path=path) and not _ELSEWHERE.search(text)
    if here and not pod.template.get("daemon"):
        return None
    given: Json = pod.template.get("outputs") or {}
    parameters = [{**one, "value": one.get("value", "7")} for one in given.get("parameters") or ()]
    several: Json = pod.template.get("containerSet") or {}
    containers: list[Json] = several.get("containers") or []
    outputs: Json = {
        "exitCode": "0",
        "result": "7",
        "parameters": parameters,
        "artifacts": given.get("artifacts") or [],
    }
    return events.Outcome(
        "Succeeded", "", outputs, {str(one["name"]): ("Succeeded", "") for one in containers} or None
    )
