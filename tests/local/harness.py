"""Runs pods for tests: `StartPod` in, events out."""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from flowdsl.runtime.local.controller.events import Event, Outcome, PodEnded, PodRunning, StartPod, StopPod
from flowdsl.runtime.local.pods.pods import Pods
from flowdsl.runtime.local.pods.settings import Settings

Json = dict[str, Any]
PATIENCE = 60.0
PYTHON = f'#!/bin/sh\n"exec" "{sys.executable}" "$0" "$@"\n'
"""The first lines of a Python program: `#!` does not support a path with a space."""


class Harness(NamedTuple):
    """The pods of a test, and the events that they have reported."""

    pods: Pods
    events: deque[Event]
    folder: Path

    def start(
        self,
        template: Json,
        name: str = "one",
        *,
        result: bool = False,
        volumes: list[Json] | None = None,
        patches: tuple[str, ...] = (),
    ) -> None:
        """Start a pod of a template."""
        whole = {"name": "t", **template}
        self.pods.start(StartPod(name, f"wf.{name}", f"wf-{name}", whole, volumes or [], result, patches))

    def stop(self, name: str = "one", message: str = "") -> None:
        """Stop a pod."""
        self.pods.stop(StopPod(name, message))

    def event(self, seconds: float = PATIENCE) -> Event:
        """The next event."""
        end = time.monotonic() + seconds
        while not self.events:
            left = end - time.monotonic()
            assert left > 0, "no event came"
            self.pods.attend(left)
        return self.events.popleft()

    def running(self) -> PodRunning:
        """The next event, which must be a PodRunning."""
        found = self.event()
        assert isinstance(found, PodRunning), found
        return found

    def ended(self, count: int = 1) -> dict[str, Outcome]:
        """The outcomes of the next pods that end, by name."""
        found: dict[str, Outcome] = {}
        while len(found) < count:
            event = self.event()
            if isinstance(event, PodEnded):
                found[event.node] = event.outcome
        return found

    def run(
        self,
        template: Json,
        name: str = "one",
        *,
        result: bool = False,
        volumes: list[Json] | None = None,
        patches: tuple[str, ...] = (),
    ) -> Outcome:
        """Run a pod to its end."""
        self.start(template, name, result=result, volumes=volumes, patches=patches)
        return self.ended()[name]

    def shell(self, text: str, name: str = "one", **more: Any) -> Outcome:
        """Run a shell command as a pod, with its output as the result."""
        return self.run({**sh(text), **more}, name, result=True)

    def log(self, name: str = "one", container: str = "main") -> str:
        """The log of a container."""
        self.pods.attend(0)
        path = self.folder / "run/logs" / name / f"{container}.log"
        return path.read_text() if path.exists() else ""

    def artifact(self, key: str) -> Path:
        """The path of an artifact."""
        return self.folder / "run/artifacts" / key


@contextmanager
def harness(folder: Path, *, ready: bool = True, **settings: Any) -> Generator[Harness]:
    """Pods in a folder, which are closed at the end.

    `ready`: pods run as soon as they are started, else from the first wait for events on.
    """
    events: deque[Event] = deque()
    given: dict[str, Any] = {"workflow": "wf", "grace": 2.0, **settings}
    pods = Pods(folder / "run", events.append, Settings(**given))
    try:
        if ready:
            pods.wait()
        else:
            pods.attended = math.inf  # a start does not ask whether the supervisor is ready by then
        yield Harness(pods, events, folder)
    finally:
        pods.close()


def sh(text: str, **more: Any) -> Json:
    """A template whose container is a shell command."""
    return {"container": {"image": "busybox", "command": ["sh", "-c", text], **more}}


def result(outcome: Outcome) -> str:
    """The result of a pod, which must have succeeded."""
    assert outcome.phase == "Succeeded", outcome
    assert outcome.outputs is not None
    found: str = outcome.outputs["result"]
    return found


def until(holds: Any, seconds: float = PATIENCE) -> None:
    """Wait for a condition."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)
