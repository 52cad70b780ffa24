"""The pods of a run: executes the actions `StartPod` and `StopPod`, and reports the results as events."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flowdsl.runtime.local.controller.events import Event, Outcome, PodEnded, PodRunning, StartPod, StopPod
from flowdsl.runtime.local.pods.amounts import Allocatable, amount
from flowdsl.runtime.local.pods.context import Context
from flowdsl.runtime.local.pods.interpreter import interpreter
from flowdsl.runtime.local.pods.operators import Operators
from flowdsl.runtime.local.pods.pod import Pod
from flowdsl.runtime.local.pods.refusal import Refusal
from flowdsl.runtime.local.pods.settings import Settings
from flowdsl.runtime.local.pods.slots import Amount
from flowdsl.runtime.local.pods.supervisor_client import SupervisorClient

Json = dict[str, Any]
KINDS = ("http", "data", "resource", "plugin")
_GONE = "the process that starts the steps has ended"
AHEAD = 32
"""The most pods whose requests for resources are pending at the supervisor; the others wait here."""
_OFTEN = 0.001
"""Seconds for which pods that have ended may wait while others are started."""
_NOT_ISOLATED = (
    "this system gives steps no file system of their own: the paths of the manifest are replaced by folders of the run "
    "in commands, variables and scripts, and not in what programs make themselves"
)


class Pods:
    """Runs the pods of one run; used from one thread.

    `folder` is that of the run: `logs/<node>/<container>.log` and `artifacts/<key>` are created in it. `report` is
    called with each event, in any thread; pods make progress only while `attend` runs. `notices` are sentences for
    the user, each once. Raises OSError if the supervisor process cannot run.
    """

    def __init__(
        self, folder: Path, report: Callable[[Event], None], settings: Settings | None = None
    ) -> None:
        self.settings = settings or Settings()
        isolate = self.settings.isolate if self.settings.engine is None else False
        self.supervisor = SupervisorClient(isolate, self._answered)
        try:
            self.context = Context(folder, self.settings, self.supervisor)
        except OSError:
            self.supervisor.close()
            raise
        self._heard = report
        given = self.settings.cpu, self.settings.memory, self.settings.gpus
        self.allocatable = Allocatable(*given, self.supervisor.offer, self.context.notice)
        self.pods: dict[str, Pod] = {}
        self.line: deque[tuple[Pod, Amount]] = deque()  # pods that have not requested their resources yet
        self.asked: dict[str, Amount] = {}  # the pending requests, by node
        self.given: dict[str, dict[str, list[str]]] = {}  # the GPUs of the granted ones, by node
        self.others: dict[str, threading.Event] = {}
        self.operators = Operators(self)
        self.early: list[tuple[Pod, Amount]] = []  # pods that were started before the supervisor was ready
        self.closed = False
        self.ready = False
        self.attended = 0.0
        self.supervisor.begin(
            self.context.scratch, self.context.logs, _needed(self.context.folder, self.settings)
        )

    @property
    def notices(self) -> list[str]:
        """Notices for the user about this machine, in the order in which they occurred."""
        return self.context.notices

    def wait(self) -> None:
        """Wait until the supervisor is ready to start steps. Raises OSError when it cannot run."""
        while not self.ready:
            self.attend(None)

    def _opened(self, isolated: bool) -> None:
        """The supervisor is ready: admit the pods that were started before."""
        self.ready = True
        self.context.isolated = isolated
        if not isolated and self.settings.engine is None:
            self.context.notice(_NOT_ISOLATED)
        for made, wanted in self.early:
            self._admit(made, wanted)
        self.early.clear()

    def start(self, pod: StartPod) -> None:
        """Start the pod of a leaf template; its events come later."""
        if "resource" in pod.template and not self.settings.kubectl:
            self.operators.apply(pod)
        elif any(kind in pod.template for kind in KINDS):
            self.other(pod)
        else:
            self.begin(pod, self.ended)

    def know(self, pod: StartPod, outcome: Outcome) -> None:
        """Restore the effect of a pod that ended before the run was resumed: the object that it created exists."""
        if "resource" in pod.template and not self.settings.kubectl:
            self.operators.know(pod.template["resource"], outcome.phase)

    def begin(
        self,
        pod: StartPod,
        ended: Callable[[Pod, Outcome], None],
        meets: bool = False,
        leads: tuple[str, ...] | None = None,
    ) -> Pod | None:
        """Run the containers of a pod, as soon as there is room for them.

        `meets`: they listen at fixed ports. `leads`: see `Pod`.
        """
        try:
            made = Pod(pod, self.context, self.report, self._rests, ended, leads)
            wanted = amount([one.body for one in made.shape.together], meets)
        except Refusal as refusal:
            self.report(PodEnded(time.time(), pod.node, refusal.outcome))
            return None
        self.pods[pod.node] = made
        if self.ready:
            self._admit(made, wanted)
        else:
            self.early.append((made, wanted))
        if time.monotonic() - self.attended > _OFTEN:
            # Starting many pods does not delay those whose requests were granted meanwhile.
            self.attend(0)
        return made

    def attend(self, seconds: float | None) -> None:
        """Process the containers that have ended; block until one has, or for at most so many seconds.

        Raises the errors that occurred in threads of flowdsl itself, and OSError when the supervisor process has
        ended.
        """
        self.supervisor.attend(seconds)
        self.attended = time.monotonic()
        if self.context.broken:
            raise self.context.broken[0]

    def other(self, pod: StartPod) -> None:
        """Run a leaf template that has no container, in a thread."""
        over = threading.Event()
        with self.context.lock:
            self.others[pod.node] = over
        if "http" not in pod.template:
            self.report(PodRunning(time.time(), pod.node))

        def work() -> None:
            from flowdsl.runtime.local.pods.leaves import run

            outcome = run(pod, self.settings, self.context.store, over.is_set)
            with self.context.lock:
                known = self.others.pop(pod.node, None) is over
            if known:
                self.report(PodEnded(time.time(), pod.node, outcome))

        self.context.apart(work)

    def _admit(self, made: Pod, wanted: Amount) -> None:
        """Begin a pod that requests no resources; queue any other.

        Only once the supervisor is ready: messages sent earlier would not reach a supervisor that replaces another
        one.
        """
        if wanted:
            pod = made.start
            wanted = self.allocatable.bounded(str(pod.template.get("name") or pod.name), wanted)
        if wanted:
            self.line.append((made, wanted))
            self._ask()
        elif not made.over:
            made.begin({})

    def _ask(self) -> None:
        """Request resources for the next pods in the queue."""
        while self.line and len(self.asked) < AHEAD:
            made, wanted = self.line.popleft()
            if not made.over:
                self.asked[made.start.node] = wanted
                self.supervisor.ask(made.start.node, wanted, made.alone(wanted))

    def _may(self, nodes: list[str]) -> None:
        """Begin the pods that were granted their resources."""
        for node in nodes:
            with self.context.lock:
                wanted = self.asked.pop(node, None)
                if wanted is None:
                    continue  # it was stopped meanwhile
                made = self.pods[node]
                self.given[node] = gpus = self.allocatable.take(wanted)
                made.begun = True
            made.begin(gpus)
        self._ask()

    def stop(self, stop: StopPod) -> None:
        """Stop a pod."""
        if self.operators.leave(stop):
            return
        with self.context.lock:
            made = self.pods.get(stop.node)
            over = self.others.pop(stop.node, None)
            if over is not None:
                over.set()
                self.report(PodEnded(time.time(), stop.node, Outcome("Failed", stop.message)))
            if made is None:
                return
            if made.begun:
                made.stop(stop.message)
                return
            if self.asked.pop(stop.node, None) is not None:
                self.supervisor.leave(stop.node)
            made.stopped = stop.message
            made.end(Outcome("Failed", stop.message))

    def close(self) -> None:
        """Kill everything; no event is reported afterwards."""
        with self.context.lock:
            self.closed = True
            for over in self.others.values():
                over.set()
        self.supervisor.close()
        self.context.links.close()
        shutil.rmtree(self.context.folder / "artifacts.part", ignore_errors=True)

    def _answered(self, answer: Json) -> None:
        """Dispatch a message of the supervisor."""
        if "broken" in answer:
            self.context.broken.append(RuntimeError(answer["broken"]))
            return
        if "short" in answer and "id" not in answer:
            raise OSError(answer["short"], os.strerror(answer["short"]))
        if "isolated" in answer:
            self._opened(answer["isolated"])
            return
        if "gone" in answer:
            raise OSError(_GONE)
        programs, name = self.context.programs, answer.get("id", "")
        answered = programs.pop(name, None) if "code" in answer else programs.get(name)
        if answered is not None:
            answered(answer)
        elif "code" in answer:
            self.supervisor.free(name)  # its pod was stopped before the message that it runs arrived
        self._may(answer.get("next", []))

    def _rests(self, pod: Pod) -> None:
        """Release the resources of a pod."""
        with self.context.lock:
            gpus = self.given.pop(pod.start.node, None)
            if gpus is not None:
                self.allocatable.give(gpus)
                if not (pod.sent and pod.programs):
                    self.supervisor.leave(pod.start.node)

    def ended(self, pod: Pod, outcome: Outcome) -> None:
        """Report that a pod has ended, and release its resources."""
        with self.context.lock:
            self.pods.pop(pod.start.node, None)
        self.report(PodEnded(time.time(), pod.start.node, outcome))
        self._rests(pod)

    def report(self, event: PodRunning | PodEnded) -> None:
        """Report an event, unless everything is closed."""
        if not self.closed:
            self._heard(event)


def _needed(folder: Path, settings: Settings) -> list[str]:
    """The paths of the machine that steps can see even if they are in a folder that is hidden."""
    found = [settings.python, *interpreter(settings.python).folders, str(folder / "bin"), str(Path.cwd())]
    found += map(str, settings.mounts.values())
    found += [one for one in os.environ.get("PATH", "").split(":") if one.startswith("/")]
    found += [str(Path(one).resolve()) for one in found]
    return list(dict.fromkeys(str(Path(one).absolute()) for one in found))
