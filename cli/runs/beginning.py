"""Prepares a run on this machine: its manifest, its inputs, and the stand-ins for its steps."""

from __future__ import annotations

import contextlib
import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flowdsl.cli.files import shown
from flowdsl.cli.process import Refused
from flowdsl.cli.runs import faking, given, parameters
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.reason import said
from flowdsl.runtime.documents import base_of
from flowdsl.runtime.local import earlier as past
from flowdsl.runtime.local.again import Earlier, only
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.honoured import Asked, judged
from flowdsl.runtime.local.journal import Inputs, of_run
from flowdsl.runtime.local.means import claim_of, of_workflow, volumes_of
from flowdsl.runtime.local.pods.settings import Settings
from flowdsl.runtime.local.prepare import named, scheduled, workflow
from flowdsl.runtime.local.rounds import texts
from flowdsl.runtime.local.runner import going_on
from flowdsl.runtime.local.substitutes import Fakes
from flowdsl.runtime.local.uses import steps
from flowdsl.runtime.names import suffix
from flowdsl.runtime.parts import part as mapping
from flowdsl.runtime.parts import several
from flowdsl.runtime.phases import over

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from flowdsl.cli.runs.options import Again, New, Options
    from flowdsl.compiler.ir import Program

Json = dict[str, Any]


class Found(NamedTuple):
    """What is to be run: a document, those that it may refer to, and for a pipeline its program."""

    document: Json
    references: list[Json]
    program: Program | None
    new: New
    again: Again
    targets: Sequence[str]
    """What to name for another run of it; nothing for a sweep, whose steps are not run by themselves."""
    left: Sequence[str] = ()
    """The workflows in more files, which are not run."""
    config_maps: Sequence[str] = ()
    """The ConfigMaps in the files, each as NAME=PATH."""
    secrets: Sequence[str] = ()


class Data(NamedTuple):
    """The data of ConfigMaps and Secrets, by name and key: read once, as from a pipe."""

    config_maps: dict[str, dict[str, str]]
    secrets: dict[str, dict[str, str]]


class Ready(NamedTuple):
    """A run that is ready to begin, or to be resumed."""

    folder: Path
    manifest: Json
    settings: Json
    options: Options
    pods: Settings
    """What its pods are given."""
    stand_ins: Sequence[Fakes | Earlier]
    program: Program | None = None
    inputs: Inputs | None = None
    """What it begins with; nothing for one that goes on."""
    notes: Sequence[str] = ()
    """What is to be said before."""


def begun(found: Found, options: Options) -> Ready:
    """Prepare a new run. Raises RunError and Refused, and then leaves nothing behind."""
    with contextlib.ExitStack() as refused:
        ready = _begun(found, options, refused)
        refused.pop_all()
    return ready


def _begun(found: Found, options: Options, refused: contextlib.ExitStack) -> Ready:
    """`refused` removes what was written for a run that cannot begin."""
    document = found.document
    now = options = replace(options, mounts=[_of_claim(document, one) for one in options.mounts])
    mounts = given.folders(now.mounts)
    pairs = given.pairs(found.new.parameters, "-p")
    asked = parameters.local(pairs, document, found.program, mounts)
    before, texts = None, asked.texts
    if found.again.only or found.again.since:
        before = past.chosen(now.runs, document, found.again.earlier)
        texts = {**past.parameters(before, document), **texts}
        options = now.as_before(before)
    options = replace(
        options,
        config_maps=[*options.config_maps, *found.config_maps],
        secrets=[*options.secrets, *found.secrets],
    )
    manifest = scheduled(document, workflow(document, texts))
    parameters.judge(manifest, asked.texts, found.references)
    name = manifest["metadata"]["name"] = _name(manifest, found.new, options)
    folder = options.runs / name
    more = faking.libraries(found.program, manifest, found.references, options.fakes)
    found = found._replace(references=[*found.references, *more])
    refused.callback(_take_back, folder / "faked", options.folder)
    tasks = steps(manifest, found.references)
    options = replace(options, fakes=faking.fakes(options.fakes, tasks, found.program, folder / "faked"))
    fakes = _fakes(folder, manifest, options)
    part = _whole(manifest) if before is None else _part(manifest, before, folder, found.again, options)
    tasks = steps(part.manifest, found.references)
    fakes.check(tasks)
    files = given.paths(options.artifacts, "--artifact") | part.files | asked.files
    options = options.with_artifacts(parameters.stand_for(part.manifest, files))
    data = _data(options)
    skipped = part.skipped | fakes.names
    stored = part.taken.keys() if part.taken else frozenset[str]()
    verdict = judged(part.manifest, found.references, _asked(now, options, data, skipped, stored))
    if verdict.refusals:
        raise RunError(_together(verdict.refusals))
    pods = _pods(part.manifest, options, data, before)
    settings = {**options.kept(), **_known(found), **part.settings}
    notes = [*_left(found), *_as_before(found.again, pairs, part), *_in_vain(part, tasks), *verdict.notes]
    notes += _make_room(options.folder, mounts, part.taken)
    stand_ins = [fakes, *([part.taken] if part.taken and found.again.since else ())]
    inputs = Inputs(part.manifest, found.references, data.config_maps, settings)
    return Ready(folder, part.manifest, settings, options, pods, stand_ins, found.program, inputs, notes)


def resumed(name: str, options: Options) -> Ready:
    """Prepare an interrupted run, with its original options. Raises RunError."""
    folder = past.existing(options.runs, name)
    manifest, references, _, settings = past.inputs(folder)
    options = options.resumed(settings)
    fakes = _fakes(folder, manifest, options)
    fakes.check(steps(manifest, references))
    stand_ins: list[Fakes | Earlier] = [fakes]
    if since := settings.get("from"):
        stand_ins.append(Earlier(options.runs / since[0], folder, since[1:], folder.name, "--from"))
    name_before = past.source(settings)
    before = options.runs / name_before if name_before else None
    pods = _pods(manifest, options, _data(options), before)
    return Ready(folder, manifest, settings, options, pods, stand_ins)


class _Part(NamedTuple):
    """The part of a manifest that runs, and what it reuses of an earlier run."""

    manifest: Json
    taken: Earlier | None
    settings: Json
    skipped: frozenset[str]
    files: dict[str, Path]


def _whole(manifest: Json) -> _Part:
    return _Part(manifest, None, {}, frozenset(), {})


def _of_claim(document: Json, mount: str) -> str:
    """A CLAIM=FOLDER, in which CLAIM may be a volume of the workflow."""
    name, sign, folder = mount.partition("=")
    return f"{claim_of(document, name)}{sign}{folder}"


def _part(manifest: Json, before: Path, folder: Path, again: Again, options: Options) -> _Part:
    """One step, or some and their successors."""
    steps, word = ([again.only], "--only") if again.only else (again.since, "--from")
    taken = Earlier(before, folder, steps, folder.name, word)
    asked = " ".join(f"{word} {step}" for step in steps)
    if again.only:
        settings = {"only": again.only, "of": before.name}
        alone = only(manifest, taken.status, again.only)
        stood_in = given.paths(options.artifacts, "--artifact")
        inputs = several(mapping(alone["spec"], "arguments"), "artifacts")
        # Of the others `judged` says that they are not there.
        optional = [one for one in inputs if one.get("optional") and one["name"] not in stood_in]
        taken.check(optional, asked)
        return _Part(alone, taken, settings, frozenset(), {})
    taken.check(taken.made(), asked)
    files = parameters.stood_for(options.artifacts)
    return _Part(manifest, taken, {"from": [before.name, *steps]}, taken.names, files)


def _fakes(folder: Path, manifest: Json, options: Options) -> Fakes:
    mounted = given.folders(options.mounts)
    return Fakes(folder, folder.name, options.fakes, volumes_of(manifest, mounted, options.volumes, folder))


def _left(found: Found) -> list[str]:
    """What is not run."""
    if not found.left:
        return []
    return [f"{', '.join(found.left)}: not run, as of more files only what the first one needs is taken"]


def _as_before(again: Again, pairs: Mapping[str, str], part: _Part) -> list[str]:
    """Given parameters that have no effect, since a single step gets the inputs of the earlier run."""
    if not again.only or part.taken is None:
        return []
    spec = part.manifest["spec"]
    templates = several(spec, "templates")
    called = [mapping(one, "inputs") for one in templates if one["name"] == spec["entrypoint"]]
    own = {one["name"] for inputs in called for one in several(inputs, "parameters")}
    asked = "workflow.parameters" in json.dumps(templates)
    return [
        f"-p {name} is not used: {again.only} alone has the inputs that it had in {part.settings['of']}"
        for name in pairs
        if name in own or not asked
    ]


def _in_vain(part: _Part, tasks: Collection[str]) -> list[str]:
    """An earlier run of which nothing is taken, as it has no other step that this workflow has."""
    if not part.skipped or not part.skipped.isdisjoint(tasks):
        return []
    before, *_ = part.settings["from"]
    return [f"nothing is taken from {before}: it has none of the other steps of this workflow, so they run"]


def _known(found: Found) -> Json:
    """What the report at the end of a run shows of its source."""
    known: Json = {"targets": list(found.targets), "workflow": base_of(found.document)}
    if found.program is None:
        return known
    if found.program.objectives:
        known["objectives"] = {
            template: [metric, goal] for template, metric, goal in found.program.objectives
        }
    return known | {"texts": {name: texts(one) for name, one in found.program.signatures.items()}}


def _make_room(folder: Path, mounts: Mapping[str, Path], taken: Earlier | None) -> list[str]:
    """Create the folders of a run, and link what it reuses of an earlier one; returns remarks."""
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
        raise Refused(f"the run cannot begin: {said(error, shown(folder))}") from None
    return notes


def _take_back(folder: Path, last: Path) -> None:
    """Remove a folder, and its parents that are empty then, up to the last one."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        while folder != last:
            folder = folder.parent
            folder.rmdir()


def _keep_apart(folder: Path) -> None:
    """Create the folder of the runs, ignored by version control."""
    folder.mkdir(parents=True, exist_ok=True)
    ignored = folder / ".gitignore"
    if not ignored.exists():
        ignored.write_text("*\n", encoding="utf-8")


def _together(sentences: list[str]) -> str:
    if len(sentences) == 1:
        return sentences[0]
    return "this cannot run here:\n" + "\n".join(f"  - {one}" for one in sentences)


def _name(manifest: Json, new: New, options: Options) -> str:
    """A unique name for a run. Raises RunError."""
    name = str(manifest["metadata"]["name"])
    if new.name is not None:
        name = named(new.name)
        if of_run(folder := options.runs / name).exists():
            raise RunError(f"there is a run `{name}` already: choose another name, or {_way_on(folder)}")
    elif of_run(options.runs / name).exists():
        name = f"{name}-{suffix()}"
    return name


def _way_on(folder: Path) -> str:
    """What can be done with a run that there is."""
    if going_on(folder):
        return f"see how it goes on: flowdsl watch {folder.name}"
    with contextlib.suppress(OSError, ValueError):
        if over(past.state(folder)):
            return f"delete it: flowdsl delete {folder.name}"
    return f"continue it: --resume {folder.name}"


def _data(options: Options) -> Data:
    """The given data. Raises RunError."""
    return Data(given.data(options.config_maps, "--config-map"), given.data(options.secrets, "--secret"))


def _pods(manifest: Json, options: Options, data: Data, before: Path | None) -> Settings:
    """What the pods of a run are given, also by an earlier run. Raises RunError."""
    if options.engine is not None:
        from flowdsl.runtime.local.pods.engine import trouble

        if (reason := trouble(options.engine)) is not None:
            raise RunError(f"--engine {options.engine}: {reason}")
    settings = Settings(
        given.python(options.python),
        given.folders(options.mounts),
        options.volumes,
        [one.resolve() for one in past.line(before)] if before else (),
        given.paths(options.artifacts, "--artifact"),
        options.engine,
        options.kubectl,
        data.config_maps,
        data.secrets,
    )
    return of_workflow(settings, manifest)


def _asked(
    now: Options, options: Options, data: Data, fakes: frozenset[str], stored: frozenset[str]
) -> Asked:
    """`now`: what this command says; `options`: with what the earlier run was given besides; `stored`: its files."""

    def names(texts: Sequence[str]) -> frozenset[str]:
        return frozenset(one.partition("=")[0] for one in texts)

    return Asked(
        options.engine,
        options.kubectl,
        fakes,
        names(now.mounts),
        names(now.artifacts),
        data.config_maps,
        data.secrets,
        _has,
        stored | names(options.artifacts),
        options.approve,
        names([*options.config_maps, *options.secrets]) - names([*now.config_maps, *now.secrets]),
    )


def _has(program: str) -> bool:
    return shutil.which(program) is not None
