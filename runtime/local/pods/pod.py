"""Runs one pod: fetches its inputs, runs its init containers, then the others together, and takes its outputs."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from flowdsl.grammar.reason import said
from flowdsl.runtime.local.controller.events import Outcome, PodRunning, StartPod
from flowdsl.runtime.local.controller.templates import located
from flowdsl.runtime.local.pods import ending, units
from flowdsl.runtime.local.pods.amounts import gpus
from flowdsl.runtime.local.pods.context import Context
from flowdsl.runtime.local.pods.ending import Way
from flowdsl.runtime.local.pods.environment import About
from flowdsl.runtime.local.pods.expansion import carried
from flowdsl.runtime.local.pods.outputs import Taken
from flowdsl.runtime.local.pods.program import Program
from flowdsl.runtime.local.pods.refusal import Refusal, in_executor, of_the_step
from flowdsl.runtime.local.pods.slots import Amount
from flowdsl.runtime.local.pods.units import Unit
from flowdsl.runtime.local.pods.volumes import Volumes
from flowdsl.runtime.local.pods.workload_kind import ENDLESS
from flowdsl.runtime.parts import part, several

_OFTEN = 0.05
"""Seconds between two checks whether to stop waiting."""
_SEEN_AFTER = 1.0
"""Seconds after which Argo's controller knows that a container has failed."""

Json = dict[str, Any]


class Pod:
    """One pod, before, while and after it runs; `ended` is called once, in any thread.

    `rests` is called when its containers have ended, and its outputs are still to be collected. `leads`: of the pods
    of a workload, which are containers here. The first failure stops the others; after the success of the leads, if
    there are any, the others are stopped, and count as succeeded. None: a pod of Argo's, whose controller stops the
    others, too, but takes a moment to see the failure (podHasContainerNeedingTermination).

    Everything that changes it holds the lock of the context.
    """

    def __init__(
        self,
        start: StartPod,
        context: Context,
        running: Callable[[PodRunning], None],
        rests: Callable[[Pod], None],
        ended: Callable[[Pod, Outcome], None],
        leads: tuple[str, ...] | None = None,
    ) -> None:
        self.start = start
        self.leads = leads
        self.led = False
        self.failed = ""
        self.context = context
        self.running = running
        self.rests = rests
        self.ended = ended
        settings = context.settings
        self.template = carried(start.template, self._names)
        self.own = f"{context.scratch}/pod-{next(context.numbers)}"
        self.inputs: list[Json] = [
            one for one in several(part(self.template, "inputs"), "artifacts") if one.get("path")
        ]
        there = [one for one in self.inputs if located(one)]
        self.shape = units.shape(start, settings, there)
        self.about = About(start, self.shape.account, settings)
        self._volumes: Volumes | None = None  # most pods have none
        self.gpus: dict[str, list[str]] = {}
        self.begun = False
        self.programs: dict[str, Program] = {}
        self.ways: dict[str, Way] = {}
        self.tried: dict[str, int] = {}
        self.passed: dict[str, int] = {}
        """The exit codes of dependencies, by the containers that do not run for them and pass them on as their own."""
        self.stopped: str | None = None
        self.halted = False
        self.over = False
        self.refusal: Outcome | None = None
        self.lacks: set[str] = set()
        self.done = False
        self.made: tuple[Program, Json | Way] | None = None
        self.sent = False

    def _names(self) -> dict[str, str]:
        """The environment variables of Argo's init container."""
        settings = self.context.settings
        return {
            "ARGO_POD_NAME": self.start.pod,
            "ARGO_POD_UID": settings.uid,
            "ARGO_WORKFLOW_NAME": settings.workflow,
            "ARGO_WORKFLOW_UID": settings.uid,
            "ARGO_CONTAINER_NAME": "init",
        }

    @property
    def volumes(self) -> Volumes:
        """Its volumes, as folders of this machine."""
        if self._volumes is None:
            context = self.context
            self._volumes = Volumes(
                self.shape.volumes, self.about, self.own, context.folder, context.shared, context.notice
            )
        return self._volumes

    # --- the life of a pod -------------------------------------------------------------------------

    def begin(self, gpus: dict[str, list[str]]) -> None:
        """Run it, with these GPUs of the machine, by vendor."""
        self.begun = True
        self.gpus = gpus
        if not self.start.template.get("daemon"):
            self.running(PodRunning(time.time(), self.start.node))
        if self.inputs:
            self.context.apart(self._load)
        else:
            self._guarded(self._next)

    def alone(self, wanted: Amount) -> Json | None:
        """Its program, if the supervisor can start that before `begin` is called, as soon as there is room.

        That requires that nothing has to be prepared for it, or known of the sandbox, and nothing runs beside or after
        it. It keeps its resources until the program ends.
        """
        shape = self.shape
        more = shape.volumes or self.inputs or shape.tries > 1 or gpus(wanted)
        if not shape.alone or more or self.context.settings.engine is not None:
            return None
        program = Program(self, shape.mains[0], 1)
        try:
            what = program.asked()
        except Refusal:
            return None  # reported when it begins
        self.made = program, what
        self.sent = not isinstance(what, Way)
        return None if isinstance(what, Way) else what

    def _guarded(self, function: Callable[[], None]) -> None:
        """Call a function; a Refusal that it raises ends the pod."""
        with self.context.lock:
            try:
                function()
            except Refusal as refusal:
                self._refused(refusal.outcome)
            except OSError as error:
                of_the_step(error)
                self._refused(Outcome("Error", said(error, self.own)))

    def _refused(self, outcome: Outcome) -> None:
        if any(name not in self.ways for name in self.programs):
            self.refusal = outcome
            self._stop_others()
        else:
            self.end(outcome)

    def _load(self) -> None:
        from flowdsl.runtime.local.pods.inputs import failed, load

        def bring() -> None:
            bodies = [one.body for one in self.shape.mains]
            for one in self.inputs:
                target = Path(self.own, "inputs", one["name"])
                mount = units.overlapping(one, bodies)
                if mount is not None:
                    source, _ = self.volumes.mount(mount, {}, bodies[0])
                    target = source / one["path"][len(mount["mountPath"]) :].lstrip("/")
                    remove(target)
                if not load(one, target, self.context.store, self.context.settings) and mount is None:
                    self.lacks.add(one["name"])

        try:
            bring()
        except Refusal as refusal:
            self.end(refusal.outcome)
        except OSError as error:
            self.end(failed(of_the_step(error)).outcome)
        else:
            self._guarded(self._next)

    def _next(self) -> None:
        """Start the containers that can start now: one init container after the other, then the rest."""
        if self.stopped is not None and not self.programs:
            self.end(Outcome("Failed", self.stopped))
            return
        for one in self.shape.inits:
            if one.name not in self.programs:
                self._run(one)
            if self.ways.get(one.name, Way(1)).code != 0:
                return
        for one in [*self.shape.sidecars, *self.shape.mains]:
            if one.name in self.tried or one.name in self.ways:
                continue
            awaited = next((name for name in one.depends if self.ways.get(name, Way(1)).code != 0), None)
            if awaited is None:
                self._run(one)
            elif awaited in self.ways:
                code = self.passed.setdefault(one.name, self.passed.get(awaited, self.ways[awaited].code))
                self.ways[one.name] = Way(64, f'dependency "{awaited}" exited with non-zero code: {code}')
                self._next()  # others may depend on it

    def _run(self, unit: Unit, before: Program | None = None) -> None:
        """Start a container, or go on with it after an attempt that failed."""
        number = self.tried[unit.name] = self.tried.get(unit.name, 0) + 1
        if self.made is None:
            again = self.leads is None and number < self.shape.tries
            program = Program(self, unit, number, before, again=again)
            what = program.asked()
        else:
            program, what = self.made
        self.programs[unit.name] = program
        if isinstance(what, Way):
            self._ended(unit, what)
        else:
            self.context.run(
                program.id,
                None if self.sent else what,
                lambda answer: self._guarded(lambda: self._answered(unit, program, answer)),
            )

    def _answered(self, unit: Unit, program: Program, answer: Json) -> None:
        if self.over:
            return
        if "short" in answer and self.stopped is None:
            raise OSError(answer["short"], os.strerror(answer["short"]))
        if "started" in answer:
            self._started(unit, program)
        else:
            self._ended(unit, program.ended(answer))

    def _started(self, unit: Unit, program: Program) -> None:
        """The main container of a daemon has started: it is ready now, or when its probe succeeds."""

        def wait() -> None:
            from flowdsl.runtime.local.pods.readiness import ready

            if ready(unit.body.get("readinessProbe"), program, lambda: self.over or unit.name in self.ways):
                with self.context.lock:
                    if not self.over:
                        self.running(PodRunning(time.time(), self.start.node, "127.0.0.1"))

        self.context.apart(wait)

    def _ended(self, unit: Unit, way: Way) -> None:
        """A container has ended: start others, or end the pod."""
        stopping = self.halted or self.stopped is not None
        if self.led:
            way = way._replace(code=0)
        if (
            unit.role == "main"
            and way.code != 0
            and not stopping
            and self.tried[unit.name] < self.shape.tries
        ):
            program = self.programs.pop(unit.name)
            if self.shape.tries >= ENDLESS:
                which = self.start.name.partition(".")[2]
                self.context.notice(
                    f"{unit.name} of {which} has failed, and is begun again after {self.shape.pause:g} seconds, "
                    "as often as it fails: its object has no `backoffLimit`"
                )
            self.context.apart(lambda: self._again(unit, program))
            return
        self.ways[unit.name] = way
        mains = self.shape.mains
        if unit.role == "init":
            if way.code == 0 and not stopping:
                self._next()
            else:
                self._finish()
            return
        if unit.role == "main":
            if way.code != 0 and not stopping:
                self.failed = self.failed or unit.name
            if stopping or (way.code != 0 and self.leads is not None):
                self._halt()
            else:
                self._next()
                if way.code != 0 and any(one.name not in self.ways for one in mains):
                    self.context.apart(self._halt_late)
            leads = self.leads or ()
            self.led = bool(leads) and all(self.ways.get(name, Way(1)).code == 0 for name in leads)
            if self.led or all(one.name in self.ways for one in mains):
                self._stop_others()
        ended = all(name in self.ways for name in self.programs) and all(
            one.name in self.ways for one in mains
        )
        if ended and not self.over:
            self._finish()

    def _again(self, unit: Unit, failed: Program) -> None:
        """Start a container again: Argo its program in the same container, a workload a pod of its own."""
        _pause(self.shape.pause, lambda: self.over or self._is_ending)

        def begin() -> None:
            if self.over or self._is_ending or self.leads is not None:
                failed.free()
            if self.over:
                return
            if self._is_ending:
                self._ended(unit, Way(143))
            else:
                self._run(unit, failed if self.leads is None else None)

        self._guarded(begin)

    def _halt_late(self) -> None:
        _pause(_SEEN_AFTER, lambda: self.over)
        self._guarded(self._halt)

    def _halt(self) -> None:
        """Start no further container, and stop those that run."""
        self.halted = True
        for one in self.shape.mains:
            if one.name not in self.tried:
                self.ways.setdefault(one.name, Way(143))
        self._stop_others()

    @property
    def _is_ending(self) -> bool:
        """Whether no further container will start."""
        return self.led or self.halted or self.stopped is not None

    def _stop_others(self) -> None:
        """Stop the containers that still run."""
        for name, program in self.programs.items():
            if name not in self.ways:
                program.stop(self.shape.grace)

    def stop(self, message: str) -> None:
        """Stop the pod: it ends with its own outcome, or Failed with the message."""
        with self.context.lock:
            if self.over or self.stopped is not None:
                return
            self.stopped = message
            self._stop_others()

    # --- the end ----------------------------------------------------------------------------------

    def _finish(self) -> None:
        """All containers have ended: collect the outputs."""
        self.over = True
        if self.failed and len(self.programs) > 1:  # the log that was written last has the reason
            now = time.time_ns()  # finer than the clock of files
            with suppress(OSError):  # it printed nothing
                os.utime(self.context.logs / self.programs[self.failed].log, ns=(now, now))
        wanted = part(self.start.template, "outputs")
        archive = part(self.start.template, "archiveLocation").get("archiveLogs")
        logs = self.context.settings.archive_logs if archive is None else bool(archive)
        if wanted.get("parameters") or wanted.get("artifacts") or logs:
            self.rests(self)
            self.context.apart(lambda: self._take(logs))
        else:
            self._take(False)

    def _take(self, logs: bool) -> None:
        """Collect the outputs, and report how the pod ended."""
        try:
            outcome = ending.outcome(self.shape, self.ways, self._taken(logs))
        except OSError as error:
            outcome = Outcome("Error", in_executor("wait", of_the_step(error)))
        if self.start.template.get("daemon") and outcome.phase == "Succeeded":
            outcome = outcome._replace(phase="Failed")
        if self.refusal is not None:
            outcome = self.refusal
        self.end(outcome)

    def _taken(self, logs: bool) -> Taken | None:
        """The outputs of its main container, or of the first that ran; None where there are none. Raises OSError."""
        ran = {one.name: self.programs[one.name] for one in self.shape.mains if one.name in self.programs}
        keeps = self.start.keeps_result
        if not ran or not (keeps or logs or self.start.template.get("outputs")):
            return None
        program = ran.get("main") or next(iter(ran.values()))
        key = f"{self.context.settings.workflow}/{self.start.pod}"
        taken = Taken(
            self.template,
            program.view(),
            self.context.store,
            key,
            program.there,
            folder=program.folder,
            copied=self.stopped is None,
        )
        files = {name: self.context.logs / one.log for name, one in ran.items()} if logs else {}
        way = self.ways.get("main")
        taken.all(way.result if way and keeps else None, files)
        return taken

    def end(self, outcome: Outcome) -> None:
        """Give back its files, and report how the pod ended, once."""
        with self.context.lock:
            self.over = True
            if self.done:
                return
            self.done = True
        for one in self.programs.values():
            one.free()
        if self.stopped:
            outcome = outcome._replace(phase="Failed", message=self.stopped)
        if self.inputs or self.shape.volumes or not self.shape.alone:
            shutil.rmtree(self.own, ignore_errors=True)
        self.ended(self, outcome)


def _pause(seconds: float, over: Callable[[], bool]) -> None:
    """Sleep, but no longer than until the pause is `over`."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and not over():
        time.sleep(min(left, _OFTEN))


def remove(path: Path) -> None:
    """Remove the file or folder at a path."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
