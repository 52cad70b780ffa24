"""The state that the pods of a run share."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flowdsl.runtime.local.pods import environment
from flowdsl.runtime.local.pods.paths import Links
from flowdsl.runtime.local.pods.sandbox import in_thread, remove
from flowdsl.runtime.local.pods.settings import Settings
from flowdsl.runtime.local.pods.store import Store
from flowdsl.runtime.local.pods.supervisor_client import SupervisorClient
from flowdsl.runtime.local.pods.units import shims

Json = dict[str, Any]

_NUMBERS = itertools.count()


class Plain:
    """A pool of folders that serve as the root of containers without a file system of their own."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.free: list[Path] = []
        self.made = 0
        self.lock = threading.Lock()

    def take(self) -> Path:
        """Take an empty folder from the pool, with only what a container needs."""
        with self.lock:
            if self.free:
                return self.free.pop()
            self.made += 1
            root = self.scratch / f"plain-{self.made}"
        for one in ("tmp", "root", "argo", "var/run/argo"):
            (root / one).mkdir(parents=True)
        return root

    def give(self, root: Path) -> None:
        """Return a folder to the pool."""
        kept = {"": {"tmp", "root", "argo", "var"}, "tmp": set[str](), "root": set[str](), "argo": set[str]()}
        kept |= {"var": {"run"}, "var/run": {"argo"}, "var/run/argo": set()}
        try:
            for path, names in kept.items():
                for name in [one.name for one in (root / path).iterdir()]:
                    if name not in names:
                        remove(f"{root}/{path}/{name}")
        except OSError:
            return  # a program has removed it
        with self.lock:
            self.free.append(root)


class Context:
    """The state that the pods of a run share: its folders, its store, and the supervisor that starts its programs.

    `folder`: of the run; `scratch`: removed when the pods end; `programs`: the callbacks for the answers about each
    program; `broken`: exceptions of threads, which are bugs of flowdsl.
    """

    def __init__(self, folder: Path, settings: Settings, supervisor: SupervisorClient) -> None:
        self.supervisor = supervisor
        self.folder = folder.absolute()
        # A unique name: the folder of an earlier process may still be being removed.
        self.scratch = self.folder / f"pods-{os.getpid()}-{next(_NUMBERS)}"
        self.logs = self.folder / "logs"
        self.shared = settings.volumes or self.folder.parent / "volumes"
        self.settings = settings
        self.store = Store(self.folder / "artifacts")
        self.notices: list[str] = []
        self.lock = threading.RLock()
        self.numbers = itertools.count()
        self.programs: dict[str, Callable[[Json], None]] = {}
        self.logs.mkdir(parents=True, exist_ok=True)
        self.scratch.mkdir(exist_ok=True)
        self.base = environment.base(settings, shims(self.folder, settings.python))
        self.plain = Plain(self.scratch)
        self.links = Links()
        self.isolated = False
        self.broken: list[BaseException] = []

    def notice(self, text: str) -> None:
        """Add a notice, unless it was already added."""
        with self.lock:
            if text not in self.notices:
                self.notices.append(text)

    def run(self, name: str, what: Json | None, answered: Callable[[Json], None]) -> None:
        """Start a program; if none is given, it was already sent."""
        self.programs[name] = answered
        if what is not None:
            self.supervisor.run(what)

    def apart(self, function: Callable[[], None]) -> None:
        """Call a slow function in a thread; `Pods.attend` raises its exceptions. Raises OSError if there is none."""
        wake = self.supervisor.wake

        def work() -> None:
            try:
                function()
            except BaseException as error:
                self.broken.append(error)
            wake()

        in_thread(work)
