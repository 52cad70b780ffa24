"""Runs a workflow on this machine: its folder, the loop between the machine and the pods, and resuming it."""

from __future__ import annotations

import json
import os
import time
from collections import deque
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from flowdsl.compiler.yaml.emit import emit
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.reason import said
from flowdsl.runtime.atomic import write
from flowdsl.runtime.local import journal
from flowdsl.runtime.local.caches import Caches
from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.controller.cache import Cache, Entry
from flowdsl.runtime.local.controller.machine import Machine
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.journal import Inputs
from flowdsl.runtime.local.pods.patch import judged
from flowdsl.runtime.local.status import STATE, workflow
from flowdsl.runtime.lock import take
from flowdsl.runtime.phases import SUCCEEDED

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from flowdsl.runtime.local.controller.node import Node

Json = dict[str, Any]

_LOOK_EVERY = 0.1
"""Seconds after which `watch` is called even without events: it may have postponed an update."""
_STATUS_EVERY = 1.0
"""Seconds between two writes of workflow.json during a run."""
_HERE = "127.0.0.1"
_STOPPED = events.Outcome("Failed", "main: Error (exit code 143)", {"exitCode": "143"})
"""The outcome of a daemon that is stopped."""


class Executor(Protocol):
    """Runs the pods of a run."""

    def start(self, pod: events.StartPod) -> None:
        """Start a pod; its progress is reported as events."""

    def know(self, pod: events.StartPod, outcome: events.Outcome) -> None:
        """Restore the effects of a pod that ended before the run was resumed."""

    def stop(self, stop: events.StopPod) -> None:
        """Stop a pod."""

    def attend(self, seconds: float | None) -> None:
        """Process what has happened to the pods and report events; block for at most so many seconds."""

    def close(self) -> None:
        """Kill all pods and release everything."""


class _Left(NamedTuple):
    """What the events of a journal leave: pods that run, pods that have ended, and pods that were to be stopped."""

    running: dict[str, events.StartPod]
    ended: list[tuple[events.StartPod, events.Outcome]]
    stops: dict[str, events.StopPod]


class Waits(Exception):
    """Raised with the suspended nodes when a run can continue only after a user has answered."""

    def __init__(self, nodes: list[Node]) -> None:
        super().__init__(", ".join(node.display for node in nodes))
        self.nodes = nodes


class Runner:
    """Runs one workflow in a folder. `executor` creates the executor of its pods from the callback for events.

    `supplied` gives the answer of a suspended step that need not wait for one; `approve` asks for the answer of a
    step when nothing else can continue.
    """

    def __init__(
        self,
        folder: Path,
        executor: Callable[[Callable[[events.Event], None]], Executor],
        *,
        fake: Callable[[events.StartPod], events.Outcome | None] | None = None,
        watch: Callable[[Machine, list[events.Event]], None] | None = None,
        supplied: Callable[[Node], dict[str, str] | None] | None = None,
        approve: Callable[[Node], dict[str, str] | None] | None = None,
        caches: Path | None = None,
    ) -> None:
        self.folder = folder
        self.machine: Machine
        self._make = executor
        self._fake = fake
        self._watch = watch
        self._supplied = supplied
        self._approve = approve
        self._caches = Caches(caches, folder)
        self._events: deque[events.Event] = deque()
        self._wakes: list[float] = []
        self._served: set[str] = set()
        """The nodes of daemons that are replaced by another server."""
        self._status_at = 0.0
        self._status_due = False
        self._saved = 0
        self._ended = False
        self._over = False

    def begin(self, inputs: Inputs) -> Machine:
        """Run a workflow from its beginning to its end. Raises RunError, and Waits."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._alone():
            path = journal.of_run(self.folder)
            if path.exists():
                raise RunError(f"there is a run in {self.folder} already")
            # First, because it takes a moment until it can start steps.
            pods = self._make(self._events.append)
            try:
                log = self._written_down(path, inputs)
            except BaseException:
                pods.close()
                raise
            return self._go(pods, log, [events.Started(time.time())], [])

    def _build(self, inputs: Inputs, caches: dict[str, dict[str, Entry]]) -> None:
        self.machine = Machine(inputs.manifest, inputs.references, inputs.config, Cache(caches))
        self.machine.run.patched = judged

    def _written_down(self, path: Path, inputs: Inputs) -> journal.Journal:
        """Write the inputs of the run to its folder, and start its journal."""
        documents = [inputs.manifest, *inputs.references]
        caches = self._caches.stored(documents)
        self._build(inputs, caches)
        _replace(self.folder / "manifest.yaml", _written(documents))
        (self.folder / "artifacts").mkdir(exist_ok=True)  # a run without it has lost its files
        return journal.begin(path, inputs, caches)

    def resume(self) -> Machine:
        """Resume an interrupted run: what has ended is not run again. Raises RunError, and Waits."""
        with self._alone():
            return self._taken_up()

    def _taken_up(self) -> Machine:
        path = journal.of_run(self.folder)
        inputs, caches, past, size = journal.read(path)
        os.truncate(path, size)
        self._build(inputs, caches)
        left = self._replayed(past)
        self._saved = len(self.machine.run.cache.added)
        if self._ended:
            self._over = True
            self._save_status()  # it is rebuilt from the journal, whatever happened to the file
            return self.machine
        if self._watch is not None:
            self._watch(self.machine, [])
        log = journal.Journal(path)
        now = time.time()
        first: list[events.Event] = [events.TakenUp(now) if past else events.Started(now)]
        again: list[events.Action] = [
            *left.running.values(),
            *(one for one in left.stops.values() if one.node in left.running),
        ]
        pods = self._make(self._events.append)
        for pod, outcome in left.ended:
            pods.know(pod, outcome)
        return self._go(pods, log, first, again)

    def _replayed(self, past: Sequence[events.Event]) -> _Left:
        """Handle the events of a journal again; returns what they leave."""
        left = _Left({}, [], {})
        for event in past:
            if isinstance(event, events.PodEnded):
                if (pod := left.running.pop(event.node, None)) is not None:
                    left.ended.append((pod, event.outcome))
                left.stops.pop(event.node, None)
            for action in self.machine.handle(event):
                match action:
                    case events.StartPod():
                        left.running[action.node] = action
                    case events.StopPod():
                        left.stops[action.node] = action
                    case events.WakeAt(at):
                        self._wakes.append(at)
                    case events.Ended():
                        self._ended = True
        return left

    def past(self) -> bool:
        """Whether the resumed run had already ended."""
        return self._over

    # --- the loop ----------------------------------------------------------------------------------

    @contextmanager
    def _alone(self) -> Generator[None]:
        """Hold the lock of the folder, so that no other process runs in it. Raises RunError."""
        try:
            file = os.open(self.folder / "lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise RunError(f"the run {self.folder.name} cannot be written: {said(error)}") from None
        try:
            if not take(file):
                raise RunError(
                    f"the run {self.folder.name} is going on in another process: "
                    f"flowdsl watch {self.folder.name} shows it"
                )
            yield
        finally:
            os.close(file)

    def _go(
        self, pods: Executor, log: journal.Journal, first: list[events.Event], again: list[events.Action]
    ) -> Machine:
        with ExitStack() as ending:
            ending.callback(self._save_caches)
            ending.callback(self._save_status)
            ending.callback(log.close)
            ending.callback(pods.close)
            if isinstance(first[0], events.Started):
                self.machine.started = first[0].now
            self._save_status()  # from now on the run can be found
            self.machine.act = partial(self._do, pods)
            for action in again:
                self._do(pods, action)
            batch = first
            while not self._ended:
                if not batch:
                    batch = self._next(pods)
                log.write([journal.of_event(event) for event in batch])
                for event in batch:
                    self.machine.handle(event)
                self._note(batch)
                batch = []
        return self.machine

    def _do(self, pods: Executor, action: events.Action) -> None:
        match action:
            case events.StartPod():
                outcome = self._fake(action) if self._fake is not None else None
                if outcome is None:
                    pods.start(action)
                elif action.template.get("daemon") and outcome.phase == SUCCEEDED:
                    address = str((outcome.outputs or {}).get("result") or _HERE)
                    self._events.append(events.PodRunning(time.time(), action.node, address))
                    self._served.add(action.node)
                else:
                    self._events.append(events.PodEnded(time.time(), action.node, outcome))
            case events.StopPod() if action.node in self._served:
                self._served.remove(action.node)
                outcome = _STOPPED._replace(message=action.message or _STOPPED.message)
                self._events.append(events.PodEnded(time.time(), action.node, outcome))
            case events.StopPod():
                pods.stop(action)
            case events.WakeAt(at):
                self._wakes.append(at)
            case events.Ended():
                self._ended = True

    def _next(self, pods: Executor) -> list[events.Event]:
        """Wait for the next events, or a timer that is due. Raises Waits."""
        while True:
            now = time.time()
            due = [at for at in self._wakes if at <= now]
            if due:
                self._wakes = [at for at in self._wakes if at > now]
                return [events.Woken(now)]
            if self._events:
                return [self._events.popleft() for _ in range(len(self._events))]
            if given := self._given(self.machine.suspended(), self._supplied):
                return given
            if self._watch is not None:
                self._watch(self.machine, [])
            if waiting := self.machine.waits_for_somebody():
                self._events.extend(self._answers(waiting))
                continue
            self._save_status_in_time()
            pods.attend(self._pause(min(self._wakes, default=None), now))

    def _pause(self, soonest: float | None, now: float) -> float | None:
        """The seconds until something has to be done: a timer, a call of `watch`, or writing the status."""
        pauses = [] if soonest is None else [max(0.0, soonest - now)]
        if self._watch is not None:
            pauses.append(_LOOK_EVERY)
        if self._status_due:
            pauses.append(max(0.0, self._status_at + _STATUS_EVERY - time.monotonic()))
        return min(pauses, default=None)

    def _answers(self, waiting: list[Node]) -> list[events.Event]:
        if self._status_due:
            self._save_status()
        found = self._given(waiting, self._approve)
        if not found:
            raise Waits(waiting)
        return found

    def _given(
        self, suspended: list[Node], answer: Callable[[Node], dict[str, str] | None] | None
    ) -> list[events.Event]:
        """The events that resume suspended nodes for which there is an answer."""
        if answer is None:
            return []
        answers = ((node.id, answer(node)) for node in suspended)
        return [events.Resumed(time.time(), node, given) for node, given in answers if given is not None]

    # --- what is written ---------------------------------------------------------------------------

    def _note(self, batch: list[events.Event]) -> None:
        if self._watch is not None:
            self._watch(self.machine, batch)
        if len(self.machine.run.cache.added) > self._saved:
            self._save_caches()
        self._status_due = True
        self._save_status_in_time()

    def _save_status_in_time(self) -> None:
        if self._status_due and time.monotonic() - self._status_at >= _STATUS_EVERY:
            self._save_status()

    def _save_status(self) -> None:
        self._status_at, self._status_due = time.monotonic(), False
        _replace(self.folder / STATE, json.dumps(workflow(self.machine), ensure_ascii=False))

    def _save_caches(self) -> None:
        added = self.machine.run.cache.added[self._saved :]
        self._saved += len(added)
        self._caches.keep(added)


def going_on(folder: Path) -> bool:
    """Whether a process is executing the run in a folder."""
    try:
        lock = os.open(folder / "lock", os.O_WRONLY)
    except OSError:
        return False
    try:
        return not take(lock)
    finally:
        os.close(lock)


def _written(documents: list[Json]) -> str:
    """Documents as YAML; as JSON, which is also YAML, where they contain what YAML parsers reject."""
    try:
        return emit(documents)
    except ValueError:
        return "---\n".join(json.dumps(one) + "\n" for one in documents)


def _replace(path: Path, text: str) -> None:
    write(path, text.encode("utf-8", "surrogatepass"))
