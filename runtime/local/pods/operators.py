"""Emulates the operators of a cluster: the pods of objects that `resource` steps create run on this machine.

An object whose pods have ended is kept with its status, for steps that read it later.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from flowdsl.runtime.local.controller.events import Outcome, PodEnded, PodRunning, StopPod
from flowdsl.runtime.local.objects import replaced
from flowdsl.runtime.local.pods.ports import Ports
from flowdsl.runtime.local.pods.refusal import failed
from flowdsl.runtime.local.pods.train_jobs import JOB_SET, TRAINING, Trainings, Wanted, kind_of
from flowdsl.runtime.parts import name_of, part

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.runtime.local.controller.events import StartPod
    from flowdsl.runtime.local.pods.context import Context
    from flowdsl.runtime.local.pods.jobs import Job
    from flowdsl.runtime.local.pods.pod import Pod
    from flowdsl.runtime.local.pods.settings import Settings

Json = dict[str, Any]
Key = tuple[str, str]
"""The kind and the name of an object."""


class PodRunner(Protocol):
    """The pods of a run, among them those of emulated objects."""

    settings: Settings
    context: Context

    def wait(self) -> None:
        """Wait until steps can be started."""
        ...

    def begin(
        self, pod: StartPod, ended: Callable[[Pod, Outcome], None], meets: bool, leads: tuple[str, ...]
    ) -> Pod | None:
        """Run the containers of a pod."""
        ...

    def other(self, pod: StartPod) -> None:
        """Run a leaf without a container."""
        ...

    def stop(self, stop: StopPod) -> None:
        """Stop a pod."""
        ...

    def ended(self, pod: Pod, outcome: Outcome) -> None:
        """Report that a pod has ended, and release its resources."""
        ...

    def report(self, event: PodRunning | PodEnded) -> None:
        """Report an event."""
        ...


class Operators:
    """The objects of one run; used from the thread of its pods."""

    def __init__(self, pods: PodRunner) -> None:
        self._pods = pods
        self._trainings = Trainings()
        self._ports = Ports()
        self._nodes: dict[Key, str] = {}  # of the objects whose pods run
        self._over: dict[Key, Json] = {}  # the objects whose pods have ended
        self._awaited: dict[str, tuple[Key, Job]] = {}  # nodes that wait for the object of another one

    def apply(self, pod: StartPod) -> None:
        """Run the pods of an object, if it has any."""
        from flowdsl.runtime.local.pods.jobs import job, outcome, why_not

        if why_not(pod.template) or self._pods.settings.engine is not None:
            self._pods.other(pod)  # which reports the option that allows it
            return
        wanted = self._training(pod.template["resource"])
        if isinstance(wanted, str):
            self._end(pod.node, failed(wanted))
            return
        context = self._pods.context
        hosts = context.scratch / f"hosts-{next(context.numbers)}"
        emulated = job(pod, self._pods.settings, hosts, wanted)
        if emulated is None:
            self._change(pod.template["resource"])
            self._pods.report(PodRunning(time.time(), pod.node))
            self._end(pod.node, Outcome("Succeeded", "", {"exitCode": "0"}))
        elif emulated.key in self._over:
            self._end(pod.node, outcome(emulated, self._over[emulated.key], again=True))
        elif wanted is not None and emulated.key in self._nodes:
            self._pods.report(PodRunning(time.time(), pod.node))
            self._awaited[pod.node] = emulated.key, emulated
        else:
            self._begin(emulated, hosts)

    def know(self, resource: Json, phase: str) -> None:
        """Take into account a step of an earlier run that has ended: the object that it created exists."""
        wanted = self._training(resource)
        if isinstance(wanted, Wanted):
            found = wanted.job_set
            state = "Completed" if phase == "Succeeded" else "Failed"
            condition = {"type": state, "status": "True"}
            status = {"terminalState": state, "conditions": [condition]}
            self._over[found["kind"], found["metadata"]["name"]] = {**found, "status": status}
        else:
            self._change(resource)

    def leave(self, stop: StopPod) -> bool:
        """End a node that only waits for the pods of another one; returns whether it is such a node."""
        if self._awaited.pop(stop.node, None) is None:
            return False
        self._end(stop.node, Outcome("Failed", stop.message))
        return True

    def _begin(self, emulated: Job, hosts: Path) -> None:
        """Start the pods of an object, which find each other by their names and at free ports."""
        self._pods.wait()
        template, ports = self._ports.settled(self._named(emulated, hosts).template)
        node, began, late = emulated.start.node, time.time(), threading.Event()
        self._say_moved(ports, emulated.start.name)

        def end_late() -> None:
            late.set()
            self._pods.stop(StopPod(node, ""))

        timer = threading.Timer(emulated.deadline or 0, end_late)
        timer.daemon = True

        def ended(made: Pod, found: Outcome) -> None:
            self._nodes.pop(emulated.key, None)
            self._ports.give(ports)
            timer.cancel()
            self._pods.ended(made, self._outcome(emulated, made, found, began, late.is_set()))
            self._tell(emulated.key)

        self._nodes[emulated.key] = node
        start = emulated.start._replace(template=template)
        if self._pods.begin(start, ended, bool(emulated.names), emulated.leads) is None:
            del self._nodes[emulated.key]
            self._ports.give(ports)
        elif emulated.deadline is not None:
            timer.start()

    def _named(self, emulated: Job, hosts: Path) -> StartPod:
        """The pod to start, with the names of its members in its hosts file, or replaced by addresses."""
        from flowdsl.runtime.local.pods.jobs import hosts_file, renamed

        if not emulated.names:
            return emulated.start
        if not self._pods.context.isolated:
            hosts.touch()
            return renamed(emulated.start, emulated.names)
        usual = Path("/etc/hosts")
        text = usual.read_text(encoding="utf-8", errors="replace") if usual.is_file() else ""
        hosts.write_text(hosts_file(emulated.names, text), encoding="utf-8")
        return emulated.start

    def _say_moved(self, ports: dict[int, int], name: str) -> None:
        """Report the ports at which the pods of a step meet instead of those that are in use."""
        which = name.removeprefix(f"{self._pods.settings.workflow}.")
        for asked, port in ports.items():
            if asked != port:
                self._pods.context.notice(
                    f"port {asked} of this machine is in use: the pods of {which} meet at port {port}"
                )

    def _outcome(self, emulated: Job, made: Pod, found: Outcome, began: float, late: bool) -> Outcome:
        """The outcome of a step whose pods have ended; stores the status of its object."""
        from flowdsl.runtime.local.pods.jobs import outcome, over

        if not made.stopped and (late or found.containers is not None):
            self._over[emulated.key] = over(emulated, found, made.tried, began, late)
            found = outcome(emulated, self._over[emulated.key])
        return found._replace(containers=None)

    def _tell(self, key: Key) -> None:
        """End the nodes that wait for the pods of another node, now that these have ended."""
        from flowdsl.runtime.local.pods.jobs import outcome

        there = self._over.get(key)
        for node, (awaited, emulated) in list(self._awaited.items()):
            if awaited == key:
                del self._awaited[node]
                gone = f'{emulated.kind.plural} "{emulated.name}" has been deleted'
                self._end(node, failed(gone) if there is None else outcome(emulated, there))

    def _training(self, resource: Json) -> Wanted | str | None:
        """What to emulate for a `resource` whose object is one of Kubeflow's Trainer; or why it fails."""
        (found, *_) = replaced(resource) or [Json()]
        kind = kind_of(found)
        if not kind or resource["action"] == "patch" or (kind == JOB_SET and resource["action"] != "get"):
            return None
        return self._trainings.asked(resource, found)

    def _change(self, resource: Json) -> None:
        """Patch or delete an object: its pods are stopped, and a deleted one can be created again."""
        if resource["action"] not in ("patch", "delete"):
            return
        for one in replaced(resource):
            name, kind = name_of(one), str(one.get("kind"))
            key = (JOB_SET if kind == TRAINING else kind, name)
            deleted = resource["action"] == "delete"
            if key in self._nodes and (deleted or part(one, "spec").get("suspend")):
                self._pods.stop(StopPod(self._nodes[key], ""))
            if deleted:
                self._over.pop(key, None)

    def _end(self, node: str, outcome: Outcome) -> None:
        self._pods.report(PodEnded(time.time(), node, outcome))
