"""`run`: executes a pipeline, or any Argo workflow, on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from flowdsl.cli.files import shown
from flowdsl.cli.pipelines.compiling import parted
from flowdsl.cli.pipelines.documents import right_documents
from flowdsl.cli.process import DONE, INTERRUPTED, NO, UNKNOWN, WRONG, Refused, err, out, say
from flowdsl.cli.root import filled, written
from flowdsl.cli.runs import faking, given, objects
from flowdsl.cli.runs.asking import ask, unasked, waiting
from flowdsl.cli.runs.beginning import Found, begun, resumed
from flowdsl.cli.runs.options import ANEW
from flowdsl.grammar.reason import said
from flowdsl.runtime.documents import base_of, is_cron, is_run
from flowdsl.runtime.local.journal import of_run
from flowdsl.runtime.local.means import cache_of, volumes_of
from flowdsl.runtime.local.places import Files
from flowdsl.runtime.local.prepare import chosen
from flowdsl.runtime.local.runner import Runner, Waits
from flowdsl.runtime.parts import part
from flowdsl.runtime.phases import SUCCEEDED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flowdsl.cli.display.progress import View
    from flowdsl.cli.pipelines.compiling import Target
    from flowdsl.cli.runs.beginning import Ready
    from flowdsl.cli.runs.options import Again, New, Options
    from flowdsl.compiler.sweeping import Search
    from flowdsl.runtime.local.controller.events import Event, Outcome, StartPod
    from flowdsl.runtime.local.controller.machine import Machine
    from flowdsl.runtime.local.controller.node import Node


def run_files(
    targets: Sequence[str],
    new: New,
    options: Options,
    goal: Target,
    *,
    again: Again = ANEW,
    search: Search | None = None,
) -> int:
    """Run the workflow of a file, or a sweep over it, from the beginning; returns the exit code.

    Further files contain templates that it refers to. Raises Refused and RunError.
    """
    filled("--only", again.only)
    filled("--from", *again.since)
    if again.only and again.since:
        raise Refused("--only runs one step, --from it and what follows: leave one of them out")
    if again.earlier and not (again.only or again.since):
        raise Refused("--of names the earlier run for --only or --from: say which step")
    # What has no value here has that of the earlier run.
    values = None if again.only or again.since else new.parameters
    right = right_documents(targets, goal, search=search, given=values)
    if right is None:
        return WRONG
    document, references = chosen(right.meant, right.others)
    program = right.program_of(document)
    repeated = () if search is not None else targets
    named = parted(Path(targets[0]))[1] is not None  # then nobody expects the others of its file
    left = [base_of(one) for one in right.others if not named and (is_run(one) or is_cron(one))]
    config_maps = objects.given(targets, "--config-map", options.config_maps)
    secrets = objects.given(targets, "--secret", options.secrets)
    found = Found(document, references, program, new, again, repeated, left, config_maps, secrets)
    return _Run(begun(found, options)).follow()


def resume_run(name: str, changed: Sequence[str], options: Options) -> int:
    """Resume an interrupted run; returns the exit code. Raises Refused and RunError.

    `changed`: further options that were given, which it cannot take.
    """
    changed = [one for one in (*changed, *written(options)) if one not in _LATER]
    if changed:
        raise Refused(f"--resume continues a run as it was begun: leave out {', '.join(changed)}")
    return _Run(resumed(name, options)).follow()


_LATER = ("--resume", "--config-map", "--secret", "--fake", "--approve", "--quiet", "--json")
"""What may be given to a run that goes on."""


class _Run:
    """A run in progress, with its executor, its display, and the answers to its questions."""

    def __init__(self, ready: Ready) -> None:
        from flowdsl.cli.display.progress import view
        from flowdsl.runtime.local.pods.pods import Pods

        manifest, options = ready.manifest, ready.options
        self.name = str(part(manifest, "metadata")["name"])
        self.folder = ready.folder.resolve()
        self.settings = ready.settings
        self.options = options
        self.stand_ins = ready.stand_ins
        self.program = ready.program
        self.inputs = ready.inputs
        self.notes = ready.notes
        self.stood_in: dict[str, str] = {}
        """What stood in for the pods of nodes."""
        self.view: View = view(self.folder, self.stood_in, quiet=options.quiet or options.json)
        self.notices: Callable[[], list[str]] = list
        self.said = 0
        mounted = given.folders(options.mounts)
        self.files = Files(self.folder, volumes_of(manifest, mounted, options.volumes, self.folder))
        artifacts = given.paths(options.artifacts, "--artifact")

        def pods(report: Callable[[Event], None]) -> Pods:
            made = Pods(self.folder, report, ready.pods)
            self.notices = lambda: made.notices
            return made

        self.runner = Runner(
            self.folder,
            pods,
            fake=self.fake,
            watch=self.watch,
            supplied=self.supplied,
            approve=self.approve,
            caches=cache_of((options.folder / "cache").resolve(), artifacts),
        )

    def fake(self, pod: StartPod) -> Outcome | None:
        """The substitute for a pod, if there is one."""
        for one in self.stand_ins:
            found = one(pod)
            if found is not None:
                self.stood_in[pod.node] = one.called
                return found
        return None

    def watch(self, machine: Machine, batch: list[Event]) -> None:
        """Show what has happened."""
        notices = self.notices()
        if len(notices) > self.said:
            new, self.said = notices[self.said :], len(notices)
            self.view.notice(new)
        self.view(machine, batch)

    def supplied(self, node: Node) -> dict[str, str] | None:
        """The answer for a suspended node, if it has a substitute, or nobody has to be asked."""
        found = (one.supplied(node) for one in self.stand_ins)
        approved = unasked(node) if self.options.approve else None
        return next((given for given in found if given is not None), approved)

    def approve(self, node: Node) -> dict[str, str] | None:
        """The answer for a suspended node, if the user approves it."""
        self.view.pause()
        return ask(node, lambda name, text: faking.answer(self.program, node.template, name, text))

    def follow(self) -> int:
        """Run to the end, and show it; returns the exit code. Raises RunError."""
        again, inputs = f"flowdsl run --resume {self.name}", self.inputs
        self.view.begin(self.notes, resumed=inputs is None)
        try:
            try:
                machine: Machine = self.runner.resume() if inputs is None else self.runner.begin(inputs)
            finally:
                self.view.close()
        except KeyboardInterrupt:
            err(f"\ninterrupted: nothing is running any more; continue with\n  {again}\n")
            return INTERRUPTED
        except Waits as waits:
            err(waiting(waits.nodes, again))
            return UNKNOWN
        except OSError as error:
            why = said(error, shown(self.folder))
            if not of_run(self.folder).exists():
                raise Refused(f"the run cannot begin: {why}") from None
            say(f"{why}: the run is stopped; when that is fixed, continue with", f"  {again}")
            return UNKNOWN
        try:
            self._end(machine)
        except Refused as error:
            say(f"{error}: the run has ended; when that is mended, see its end with", f"  {again}")
            return UNKNOWN
        return DONE if machine.phase == SUCCEEDED else NO

    def _end(self, machine: Machine) -> None:
        from flowdsl.cli.display.ending import brief, summary

        if self.options.json:
            found = {
                **brief(machine, self.files, self.settings),
                "notes": [*self.notes, *self.notices()],
            }
            out(json.dumps(found, ensure_ascii=False, indent=2) + "\n")
            return
        if self.runner.past():
            err(f"the run {self.name} had ended already\n")
        out(summary(machine, self.files, self.settings, self.stood_in))
