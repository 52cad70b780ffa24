"""`run`: a pipeline, or any workflow of Argo, executed on this machine."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.cli.pipelines.compiling import USUAL, parted
from flowdsl.cli.pipelines.documents import right_documents
from flowdsl.cli.process import DONE, INTERRUPTED, NO, UNKNOWN, WRONG, Refused, err, out, said
from flowdsl.cli.runs import given, objects
from flowdsl.cli.runs.asking import ask, unasked, waiting
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.documents import base_of, is_cron, is_run
from flowdsl.runtime.local import earlier as past
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.files import Files
from flowdsl.runtime.local.honoured import Asked, judged, steps
from flowdsl.runtime.local.journal import of_run
from flowdsl.runtime.local.means import volumes_of
from flowdsl.runtime.local.pods.store import RUNS
from flowdsl.runtime.local.prepare import chosen, named, scheduled, workflow
from flowdsl.runtime.local.rounds import texts
from flowdsl.runtime.local.runner import Inputs, Runner, Waits
from flowdsl.runtime.local.substitutes import Earlier, Fakes, only
from flowdsl.runtime.names import suffix
from flowdsl.runtime.parts import part

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flowdsl.cli.display.progress import View
    from flowdsl.cli.pipelines.compiling import Target
    from flowdsl.compiler.ir import Program
    from flowdsl.compiler.sweeping import Search
    from flowdsl.runtime.local.controller.events import Event, Outcome, StartPod
    from flowdsl.runtime.local.controller.machine import Machine
    from flowdsl.runtime.local.controller.node import Node

Json = dict[str, Any]

_KEPT = ("mounts", "artifacts", "config_maps", "secrets", "fakes", "python", "engine", "kubectl")
_PATHS = ("mounts", "artifacts", "config_maps", "secrets")


class Options(NamedTuple):
    """How a run is asked for."""

    parameters: Sequence[str] = ()
    mounts: Sequence[str] = ()
    artifacts: Sequence[str] = ()
    config_maps: Sequence[str] = ()
    secrets: Sequence[str] = ()
    fakes: Sequence[str] = ()
    python: str | None = None
    engine: str | None = None
    kubectl: bool = False
    approve: bool = False
    quiet: bool = False
    json: bool = False
    name: str | None = None
    only: str | None = None
    since: str | None = None
    """The step from which on everything runs again."""
    earlier: str | None = None
    """The run whose outputs or inputs are taken; the last one otherwise."""
    folder: Path = Path(RUNS)

    @property
    def runs(self) -> Path:
        """The folder of the runs."""
        return self.folder / "runs"

    @property
    def volumes(self) -> Path:
        """The folder of the claims that no folder is named for."""
        return (self.folder / "volumes").resolve()


class _Found(NamedTuple):
    """What is to be run: a document, what it may refer to, and of a pipeline its program."""

    document: Json
    references: list[Json]
    program: Program | None
    targets: Sequence[str]
    """What to name for another run of it; nothing for a sweep, whose steps are not run by themselves."""
    left: Sequence[str] = ()
    """The workflows in more files, which are not run."""


def run_files(
    targets: Sequence[str], options: Options, goal: Target = USUAL, search: Search | None = None
) -> int:
    """Run what a file holds, or a sweep over it, from its beginning; the exit code.

    More files hold templates that it refers to.
    """
    if options.only and options.since:
        raise Refused("--only runs one step, --from it and what follows: leave one of them out")
    if options.earlier and not (options.only or options.since):
        raise Refused("--of names the earlier run for --only or --from: say which step")
    right = right_documents(targets, goal, search=search, given=options.parameters)
    if right is None:
        return WRONG
    options = options._replace(
        config_maps=[*options.config_maps, *objects.given(targets, "--config-map", options.config_maps)],
        secrets=[*options.secrets, *objects.given(targets, "--secret", options.secrets)],
    )
    try:
        document, references = chosen(right.meant, right.others)
        program = next((one for each, one in right.programs if each is document), None)
        again = () if search is not None else targets
        named = parted(Path(targets[0]))[1] is not None  # then nobody expects the others of its file
        left = [base_of(one) for one in right.others if not named and (is_run(one) or is_cron(one))]
        return _begin(_Found(document, references, program, again, left), options)
    except RunError as error:
        raise Refused(str(error)) from None


def resume_run(name: str, options: Options) -> int:
    """Go on with a run that was interrupted; the exit code."""
    changed = [
        word
        for word, value in (
            ("-p", options.parameters),
            ("--mount", options.mounts),
            ("--artifact", options.artifacts),
            ("--only", options.only),
            ("--from", options.since),
            ("--of", options.earlier),
            ("--name", options.name),
            ("--python", options.python),
            ("--engine", options.engine),
            ("--kubectl", options.kubectl),
        )
        if value
    ]
    if changed:
        raise Refused(f"--resume goes on with a run as it was begun: leave out {', '.join(changed)}")
    try:
        folder = past.existing(options.runs, name)
        name = folder.name
        header = past.header(folder)
        kept = {key: value for key, value in header["settings"].items() if key in _KEPT}
        for field in "config_maps", "secrets", "fakes":
            kept[field] = _with(kept.get(field, ()), getattr(options, field))
        options = options._replace(**kept)
        mounts = given.folders(options.mounts, "--mount")
        volumes = volumes_of(header["manifest"], mounts, options.volumes, folder)
        fakes = Fakes(folder, name, options.fakes, volumes)
        fakes.check(steps(header["manifest"], header["references"]))
        stand_ins: list[Fakes | Earlier] = [fakes]
        since = header["settings"].get("from")
        if since:
            stand_ins.append(Earlier(options.runs / since[0], folder, since[1], name, "--from"))
        run = _Run(folder, header["manifest"], header["settings"], options, _data(options), stand_ins)
        return run.follow(None, [])
    except RunError as error:
        raise Refused(str(error)) from None


def _begin(found: _Found, options: Options) -> int:
    with contextlib.ExitStack() as refused:
        run, inputs, notes = _ready(found, options, refused)
        refused.pop_all()
    return run.follow(inputs, notes)


def _ready(found: _Found, options: Options, refused: contextlib.ExitStack) -> tuple[_Run, Inputs, list[str]]:
    """A run that can begin, and what is to be said before; `refused` takes back what was written for another."""
    document = found.document
    mounts = given.folders(options.mounts, "--mount")
    asked = given.parameters(
        given.pairs(options.parameters, "-p", "NAME=VALUE"), document, found.program, mounts
    )
    texts = asked.texts
    before = taken = None
    now, files = options, asked.files
    if options.only or options.since:
        before = past.chosen(options.runs, document, options.earlier)
        texts = {**past.parameters(before, document), **texts}
        options = _as_before(options, before)
    manifest = scheduled(document, workflow(document, texts))
    given.judge(manifest, asked.texts, found.references)
    name = _name(manifest, options)
    manifest["metadata"]["name"] = name
    folder = options.runs / name
    more = given.libraries(found.program, manifest, found.references, options.fakes)
    found = found._replace(references=[*found.references, *more])
    tasks = steps(manifest, found.references)
    refused.callback(_take_back, folder / "faked", options.folder)
    options = options._replace(fakes=given.fakes(options.fakes, tasks, found.program, folder / "faked"))
    mounted = given.folders(options.mounts, "--mount")
    volumes = volumes_of(manifest, mounted, options.volumes, folder)
    fakes = Fakes(folder, name, options.fakes, volumes)
    stand_ins: list[Fakes | Earlier] = [fakes]
    skipped: set[str] = set()
    settings = _kept(options, found)
    if before is not None:
        step = str(options.only or options.since)
        taken = Earlier(before, folder, step, name, "--only" if options.only else "--from")
        if options.only:
            manifest = only(manifest, taken.status, step)
            settings |= {"only": step, "of": before.name}
        else:
            stand_ins.append(taken)
            skipped |= taken.names
            settings["from"] = [before.name, step]
            files = {**given.stood_for(options.artifacts), **files}
    files = given.stand_for(manifest, {**given.paths(options.artifacts, "--artifact"), **files})
    options = options._replace(
        artifacts=_with(options.artifacts, [f"{name}={path}" for name, path in files.items()])
    )
    settings["artifacts"] = [_absolute(one) for one in options.artifacts]
    fakes.check(steps(manifest, found.references))
    skipped |= fakes.names
    stored = frozenset[str]() if taken is None else taken.keys()
    data = _data(options)
    verdict = judged(manifest, found.references, _asked(now, options, data, skipped, stored))
    if verdict.refusals:
        raise RunError(_together(verdict.refusals))
    run = _Run(folder, manifest, settings, options, data, stand_ins, found.program)
    left = [f"{', '.join(found.left)}: not run, as of more files only what the first one needs is taken"]
    notes = [*(left if found.left else ()), *verdict.notes, *_make_room(options.folder, mounts, taken)]
    return run, Inputs(manifest, found.references, data.config_maps, settings), notes


def _make_room(folder: Path, mounts: Mapping[str, Path], taken: Earlier | None) -> list[str]:
    """Make the folders that a run needs, and bring what it takes of an earlier one; what is to be said of it."""
    notes: list[str] = []
    try:
        _keep_apart(folder)
        for claim, path in mounts.items():
            if not path.exists():
                path.mkdir()
                notes.append(f"the folder of the claim {claim} was not there and is made: {path}")
        if taken is not None:
            taken.bring()
    except OSError as error:
        raise Refused(f"the run cannot begin: {said(error)}") from None
    return notes


def _take_back(folder: Path, last: Path) -> None:
    """Remove a folder, and those around it that are empty then, up to the last one."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        while folder != last:
            folder = folder.parent
            folder.rmdir()


def _keep_apart(folder: Path) -> None:
    """Make the folder of the runs, which no repository is to hold."""
    folder.mkdir(parents=True, exist_ok=True)
    ignored = folder / ".gitignore"
    if not ignored.exists():
        ignored.write_text("*\n", encoding="utf-8")


def _together(sentences: list[str]) -> str:
    if len(sentences) == 1:
        return sentences[0]
    return "this cannot run here:\n" + "\n".join(f"  - {one}" for one in sentences)


def _name(manifest: Json, options: Options) -> str:
    """The name of a run, which no other one has. Raises RunError."""
    name = str(manifest["metadata"]["name"])
    if options.name is not None:
        name = named(options.name)
        if of_run(options.runs / name).exists():
            raise RunError(
                f"there is a run `{name}` already: choose another name, or go on with it: --resume {name}"
            )
    elif of_run(options.runs / name).exists():
        name = f"{name}-{suffix()}"
    return name


def _as_before(options: Options, folder: Path) -> Options:
    """The options, with what the earlier run was given besides."""
    before = past.header(folder)["settings"]
    kept: dict[str, Any] = {}
    for field in _PATHS:
        now: Sequence[str] = getattr(options, field)
        names = {one.partition("=")[0] for one in now}
        then: list[str] = before.get(field) or []
        kept[field] = [*now, *(one for one in then if one.partition("=")[0] not in names)]
    for field in ("python", "engine", "kubectl"):
        kept[field] = getattr(options, field) or before.get(field)
    return options._replace(**kept)


class _Data(NamedTuple):
    """The data of ConfigMaps and Secrets, by name and key: read once, as from a pipe."""

    config_maps: dict[str, dict[str, str]]
    secrets: dict[str, dict[str, str]]


def _data(options: Options) -> _Data:
    """What is given. Raises RunError."""
    return _Data(given.data(options.config_maps, "--config-map"), given.data(options.secrets, "--secret"))


def _asked(now: Options, options: Options, data: _Data, fakes: set[str], stored: frozenset[str]) -> Asked:
    """`now`: what this command says; `options`: with what the earlier run was given besides; `stored`: its files."""

    def names(texts: Sequence[str]) -> frozenset[str]:
        return frozenset(one.partition("=")[0] for one in texts)

    return Asked(
        options.engine,
        options.kubectl,
        frozenset(fakes),
        names(now.mounts),
        names(now.artifacts),
        data.config_maps,
        data.secrets,
        _has,
        stored | names(options.artifacts),
        options.approve,
    )


def _has(program: str) -> bool:
    return shutil.which(program) is not None


def _kept(options: Options, found: _Found) -> Json:
    """What a run that is taken up again has to know."""
    kept: Json = {field: getattr(options, field) for field in _KEPT}
    for field in _PATHS:
        kept[field] = [_absolute(text) for text in kept[field]]
    kept["fakes"] = list(options.fakes)
    kept["targets"] = list(found.targets)
    kept["workflow"] = base_of(found.document)
    if found.program is not None and found.program.objectives:
        kept["objectives"] = {template: [metric, goal] for template, metric, goal in found.program.objectives}
    if found.program is not None:
        kept["texts"] = {name: texts(one) for name, one in found.program.signatures.items()}
    return kept


def _with(pairs: Sequence[str], more: Sequence[str]) -> list[str]:
    """NAME=VALUE, and more of them, which count where both give a name."""
    names = {one.partition("=")[0] for one in more}
    return [*(one for one in pairs if one.partition("=")[0] not in names), *more]


def _absolute(pair: str) -> str:
    name, _, path = pair.partition("=")
    return f"{name}={given.lasting(Path(path).expanduser())}"


class _Run:
    """A run that is followed: what executes it, what shows it, and who answers its questions."""

    def __init__(
        self,
        folder: Path,
        manifest: Json,
        settings: Json,
        options: Options,
        data: _Data,
        stand_ins: Sequence[Fakes | Earlier],
        program: Program | None = None,
    ) -> None:
        from flowdsl.cli.display.progress import view
        from flowdsl.runtime.local.means import Means, cache_of, settings_of
        from flowdsl.runtime.local.pods.pods import Pods

        if options.engine is not None:
            from flowdsl.runtime.local.pods.engine import trouble

            if (reason := trouble(options.engine)) is not None:
                raise RunError(f"--engine {options.engine}: {reason}")
        self.name = str(part(manifest, "metadata")["name"])
        self.folder = folder.resolve()
        self.settings = settings
        self.options = options
        self.stand_ins = stand_ins
        self.program = program
        self.stood_in: dict[str, str] = {}
        """What stood in for the pods of nodes."""
        self.view: View = view(self.folder, self.stood_in, quiet=options.quiet or options.json)
        self.notices: Callable[[], list[str]] = list
        self.said = 0
        mounted = given.folders(options.mounts, "--mount")
        artifacts = given.paths(options.artifacts, "--artifact")
        self.files = Files(self.folder, volumes_of(manifest, mounted, options.volumes, self.folder))
        of_pods = settings_of(
            manifest,
            Means(
                given.interpreter(options.python),
                options.volumes,
                mounted,
                artifacts,
                data.config_maps,
                data.secrets,
                options.engine,
                options.kubectl,
            ),
        )

        def pods(report: Callable[[Event], None]) -> Pods:
            made = Pods(self.folder, report, of_pods)
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
        """What stands in for a pod, if anything does."""
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
        """What a suspended node is given, if something stands in for it, or nobody is to be asked."""
        found = (one.supplied(node) for one in self.stand_ins)
        approved = unasked(node) if self.options.approve else None
        return next((given for given in found if given is not None), approved)

    def approve(self, node: Node) -> dict[str, str] | None:
        """What a suspended node goes on with, if somebody says that it may."""
        self.view.pause()
        return ask(node, lambda name, text: given.answer(self.program, node.template, name, text))

    def follow(self, inputs: Inputs | None, notes: list[str]) -> int:
        """Run to the end, and show it; the exit code. Raises RunError."""
        again = f"flowdsl run --resume {self.name}"
        self.notes = notes
        self.view.begin(notes, resumed=inputs is None)
        try:
            machine: Machine = self.runner.resume() if inputs is None else self.runner.begin(inputs)
        except KeyboardInterrupt:
            self.view.close()
            err(f"\ninterrupted: nothing is running any more; go on with\n  {again}\n")
            return INTERRUPTED
        except Waits as waits:
            self.view.close()
            err(waiting(waits.nodes, again))
            return UNKNOWN
        except OSError as error:
            self.view.close()
            if not of_run(self.folder).exists():
                raise Refused(f"the run cannot begin: {said(error)}") from None
            err(f"flowdsl: {said(error)}: the run is stopped; when that is mended, go on with\n  {again}\n")
            return UNKNOWN
        finally:
            self.view.close()
        try:
            self._end(machine)
        except Refused as error:
            err(f"flowdsl: {error}: the run has ended; when that is mended, see its end with\n  {again}\n")
            return UNKNOWN
        return DONE if machine.phase == "Succeeded" else NO

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
