"""`run`: a pipeline, or any workflow of Argo, executed on this machine."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flowdsl.cli.checking import judge_manifests
from flowdsl.cli.compiling import USUAL, judge, parted, show
from flowdsl.cli.process import DONE, INTERRUPTED, NO, STDIN, UNKNOWN, WRONG, Refused, err, out
from flowdsl.runtime.local.prepare import chosen, suffix, workflow
from flowdsl.runtime.local.runner import Inputs, RunError, Runner, Waits
from flowdsl.runtime.local.shapes import part
from flowdsl.runtime.local.substitutes import Earlier, Fakes, only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.cli.compiling import Judged, Target
    from flowdsl.runtime.local.events import Outcome, StartPod
    from flowdsl.runtime.local.machine import Machine
    from flowdsl.runtime.local.node import Node

Json = dict[str, Any]

_MANIFESTS = (".yaml", ".yml", ".json")


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
    folder: Path = Path(".flowdsl")


def run_files(targets: Sequence[str], options: Options, goal: Target = USUAL) -> int:
    """Run what a file holds, from its beginning; the exit code. More files hold templates that it refers to."""
    judged, documents = _documents(targets, goal)
    show(judged, "text", err)
    if any(one.finding.severity == "error" for each in judged for one in each.diagnostics) or not documents:
        return WRONG
    try:
        return _begin(documents, options)
    except RunError as error:
        raise Refused(str(error)) from None


def resume_run(name: str, options: Options) -> int:
    """Go on with a run that was interrupted; the exit code."""
    folder = options.folder / "runs" / name
    try:
        header = _header(folder)
        kept = options._replace(
            **{key: value for key, value in header["settings"].items() if key in Options._fields}
        )
        kept = kept._replace(
            folder=options.folder, approve=options.approve, quiet=options.quiet, json=options.json
        )
        fakes = Fakes(folder, name, list(kept.fakes))
        return _follow(_runner(folder, header["manifest"], kept, [fakes]), None, name, kept)
    except RunError as error:
        raise Refused(str(error)) from None


def _header(folder: Path) -> Json:
    from flowdsl.runtime.local.journal import JournalError, read

    try:
        return read(folder / "journal.jsonl")[0]
    except JournalError as error:
        names = sorted(one.name for one in folder.parent.glob("*") if (one / "journal.jsonl").exists())
        known = f"; there are {', '.join(names[-5:])}" if names else ""
        raise RunError(f"there is no run `{folder.name}` to go on with: {error}{known}") from None


def _begin(documents: list[Json], options: Options) -> int:
    document, references = chosen(documents)
    runs = options.folder / "runs"
    earlier = None
    if options.only or options.since:
        earlier = runs / (options.earlier or _latest(runs, document))
    given = _pairs(options.parameters, "-p", "NAME=VALUE")
    if earlier is not None:
        given = {**_parameters_of(earlier), **given}
    manifest = workflow(document, given)
    if options.name:
        manifest["metadata"]["name"] = options.name
    name = str(manifest["metadata"]["name"])
    if (runs / name / "journal.jsonl").exists() and not options.name:
        name = manifest["metadata"]["name"] = f"{name}-{suffix()}"
    folder = runs / name
    stand_ins: list[Fakes | Earlier] = [Fakes(folder, name, list(options.fakes))]
    if earlier is not None and options.only:
        past = Earlier(earlier, folder, options.only, name)
        manifest = only(manifest, past.status, options.only)
    elif earlier is not None and options.since:
        stand_ins.append(Earlier(earlier, folder, options.since, name))
    config = _files(options.config_maps, "--config-map")
    inputs = Inputs(manifest, references, config, _kept(options))
    return _follow(_runner(folder, manifest, options, stand_ins), inputs, name, options)


def _kept(options: Options) -> Json:
    """What a run that is taken up again has to know."""
    fields = ("mounts", "artifacts", "config_maps", "secrets", "fakes", "python", "engine", "kubectl")
    kept = {field: getattr(options, field) for field in fields}
    for field in ("mounts", "artifacts", "config_maps", "secrets"):
        kept[field] = [_absolute(text) for text in kept[field]]
    return kept


def _absolute(pair: str) -> str:
    name, equals, path = pair.partition("=")
    return f"{name}={Path(path).resolve()}" if equals else pair


def _latest(runs: Path, document: Json) -> str:
    """The run of the same workflow that was begun last. Raises RunError."""
    metadata = part(document, "metadata")
    base = str(metadata.get("generateName") or metadata.get("name") or "")
    found = [
        path.parent for path in runs.glob("*/journal.jsonl") if path.parent.name.startswith(base.rstrip("-"))
    ]
    if not found:
        raise RunError(f"there is no earlier run of {base.rstrip('-')} in {runs}")
    return max(found, key=lambda path: (path / "journal.jsonl").stat().st_ctime_ns).name


def _parameters_of(folder: Path) -> dict[str, str]:
    header = _header(folder)
    arguments = part(part(header["manifest"], "spec"), "arguments")
    return {
        one["name"]: one["value"] for one in arguments.get("parameters") or [] if one.get("value") is not None
    }


def _pairs(texts: Sequence[str], option: str, form: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise RunError(f"{option} {text}: write {form}")
        found[name] = value
    return found


def _paths(texts: Sequence[str], option: str) -> dict[str, Path]:
    found = {name: Path(path) for name, path in _pairs(texts, option, "NAME=PATH").items()}
    for name, path in found.items():
        if not path.exists():
            raise RunError(f"{option} {name}={path}: there is no {path}")
    return {name: path.resolve() for name, path in found.items()}


def _files(texts: Sequence[str], option: str) -> dict[str, dict[str, str]]:
    """The data of a ConfigMap or Secret: a folder with a file for each key, or a file of lines KEY=VALUE."""
    found: dict[str, dict[str, str]] = {}
    for name, path in _paths(texts, option).items():
        try:
            if path.is_dir():
                found[name] = {
                    one.name: one.read_text(encoding="utf-8")
                    for one in sorted(path.iterdir())
                    if one.is_file()
                }
            else:
                lines = path.read_text(encoding="utf-8").splitlines()
                pairs = [line.partition("=") for line in lines if line.strip() and not line.startswith("#")]
                found[name] = {key.strip(): value for key, _, value in pairs}
        except (OSError, UnicodeDecodeError) as error:
            raise RunError(f"{option} {name}={path} cannot be read: {error}") from None
    return found


def _runner(folder: Path, manifest: Json, options: Options, stand_ins: Sequence[Fakes | Earlier]) -> Runner:
    from flowdsl.cli.progress import watcher
    from flowdsl.runtime.local.pods.pods import Pods
    from flowdsl.runtime.local.pods.settings import Settings

    metadata, spec = part(manifest, "metadata"), part(manifest, "spec")
    if options.engine not in (None, "docker", "podman"):
        raise RunError(f"--engine is docker or podman, not {options.engine}")
    settings = Settings(
        python=options.python or sys.executable,
        mounts=_paths(options.mounts, "--mount"),
        volumes=(options.folder / "volumes").resolve(),
        artifacts=_paths(options.artifacts, "--artifact"),
        engine=options.engine,
        kubectl=options.kubectl,
        config_maps=_files(options.config_maps, "--config-map"),
        secrets=_files(options.secrets, "--secret"),
        namespace=str(metadata.get("namespace") or "default"),
        workflow=str(metadata["name"]),
        labels=part(metadata, "labels"),
        archive_logs=bool(spec.get("archiveLogs")),
    )

    def fake(pod: StartPod) -> Outcome | None:
        return next((found for one in stand_ins if (found := one(pod)) is not None), None)

    def approve(node: Node) -> dict[str, str] | None:
        return {} if options.approve else _ask(node)

    return Runner(
        folder.resolve(),
        lambda report: Pods(folder.resolve(), report, settings),
        fake=fake,
        watch=watcher(quiet=options.quiet or options.json),
        approve=approve,
        caches=(options.folder / "cache").resolve(),
    )


def _ask(node: Node) -> dict[str, str] | None:
    """Ask whether a suspended node may go on, where somebody can answer."""
    if not sys.stdin.isatty() or not sys.stderr.isatty():
        return None
    given: dict[str, str] = {}
    for one in (node.outputs or {}).get("parameters") or []:
        err(f"{node.display}: value of {one['name']}: ")
        text = sys.stdin.readline().rstrip("\n")
        if text:
            given[one["name"]] = text
    err(f"{node.display}: go on? [y/N] ")
    return given if sys.stdin.readline().strip().lower() in ("y", "yes") else None


def _follow(runner: Runner, inputs: Inputs | None, name: str, options: Options) -> int:
    from flowdsl.cli.progress import summary

    again = f"flowdsl run --resume {name}"
    try:
        machine: Machine = runner.resume() if inputs is None else runner.begin(inputs)
    except KeyboardInterrupt:
        err(f"\ninterrupted: nothing runs any more; go on with\n  {again}\n")
        return INTERRUPTED
    except Waits as waits:
        err(f"waits for somebody to let {waits} go on:\n  {again} --approve\n")
        return UNKNOWN
    if options.json:
        out(json.dumps(_brief(machine, runner.folder), ensure_ascii=False, indent=2) + "\n")
    else:
        out(summary(machine, runner.folder))
    return DONE if machine.phase == "Succeeded" else NO


def _brief(machine: Machine, folder: Path) -> Json:
    """The end of a run for programs."""
    entry = machine.nodes.get(machine.run.name)
    outputs = part({"outputs": entry.result().outputs if entry is not None else None}, "outputs")
    return {
        "name": machine.run.name,
        "phase": machine.phase,
        "message": machine.message,
        "folder": str(folder),
        "outputs": {one["name"]: one.get("value") for one in outputs.get("parameters") or []},
        "nodes": [node.status() for node in machine.nodes.values()],
    }


def _documents(targets: Sequence[str], goal: Target) -> tuple[list[Judged], list[Json]]:
    """The findings about some files, and the documents of Argo in them, those of the first file first."""
    manifests = [one for one in targets if one == STDIN or parted(Path(one))[0].suffix in _MANIFESTS]
    judged, documents = judge_manifests(manifests) if manifests else ([], [])
    for target in targets:
        if target not in manifests:
            found = judge(Path(target), goal=goal)
            judged.append(found)
            documents = [*(found.compiled.documents if found.compiled is not None else []), *documents]
            if found.traceback:
                return judged, []
    return judged, documents
