"""A cluster on a small API server in the process, with runs that end when a test says so."""

from __future__ import annotations

import contextlib
import http.client
import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.cluster.faults import Proxy
from tests.cluster.objects import kubeconfig, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    import pytest

    from tests.cluster.objects import Objects

WORKFLOWS = "/apis/argoproj.io/v1alpha1/namespaces/default/workflows"
TEMPLATES = "/apis/argoproj.io/v1alpha1/namespaces/default/workflowtemplates"
PIPELINE = """
from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def train(lr: float) -> float:
    return 1.0 - lr


@pipeline
def tiny(lr: float = 0.5) -> None:
    train(lr)
"""


@contextlib.contextmanager
def served(objects: Objects, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Proxy]:
    """A proxy in front of an API server with the objects, to which commands talk that are run in the folder."""
    with serving(objects) as server:
        with Proxy(
            partial(http.client.HTTPConnection, "127.0.0.1", server.port, timeout=60), late=1.2
        ) as proxy:
            monkeypatch.setenv("KUBECONFIG", str(kubeconfig(proxy.url, folder / "kubeconfig")))
            monkeypatch.chdir(folder)
            yield proxy


class Cluster:
    """The fixture of a test: the objects, the proxy in front of them, and the results of commands."""

    def __init__(self, objects: Objects, proxy: Proxy) -> None:
        self.objects = objects
        self.proxy = proxy

    @property
    def runs(self) -> list[str]:
        return [path.rpartition("/")[2] for path in self.objects.known if path.startswith(f"{WORKFLOWS}/")]

    def end_when_there(self, name: str) -> None:
        """End a run shortly after it was created."""
        while name not in self.runs:
            time.sleep(0.02)
        time.sleep(0.2)
        self.end(name)

    def once_watched(self, done: Callable[[], object]) -> threading.Thread:
        """Call a function as soon as the next watch of runs begins."""
        before = len(self.proxy.seen)

        def wait() -> None:
            while not any("watch=1" in one.path for one in self.proxy.seen[before:]):
                time.sleep(0.02)
            done()

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        return thread

    def end(self, name: str, phase: str = "Succeeded", **status: object) -> None:
        """End a run, as the controller does."""
        found = self.objects.known[f"{WORKFLOWS}/{name}"]
        labels = {
            **found["metadata"].get("labels", {}),
            "workflows.argoproj.io/completed": "true",
            "workflows.argoproj.io/phase": phase,
        }
        times = {"startedAt": "2026-01-31T10:00:00Z", "finishedAt": "2026-01-31T10:03:20Z"}
        metadata = {**found["metadata"], "labels": labels}
        self.objects.put(
            WORKFLOWS, {**found, "metadata": metadata, "status": {"phase": phase, **times, **status}}
        )


def later(seconds: float, done: Any, *arguments: object) -> threading.Timer:
    timer = threading.Timer(seconds, done, arguments)
    timer.daemon = True
    timer.start()
    return timer
