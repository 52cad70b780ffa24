"""Runs the pipeline of a test on this machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.pipeline import Pipeline, PipelineDef
from flowdsl.testing.arguments import check, values
from flowdsl.testing.error import IS_TOLD, CannotRun
from flowdsl.testing.result import Run
from flowdsl.values import types as t
from flowdsl.values.lift import lift

if TYPE_CHECKING:
    import re

    from flowdsl.compiler.ir import Program
    from flowdsl.runtime.local.controller.events import Event
    from flowdsl.runtime.local.controller.machine import Machine
    from flowdsl.runtime.local.controller.node import Node
    from flowdsl.runtime.local.pods.pods import Pods
    from flowdsl.runtime.local.pods.settings import Settings
    from flowdsl.runtime.local.substitutes import Fakes

R = TypeVar("R")
Json = dict[str, Any]
Located = Mapping[str, str | Path]
Data = Mapping[str, Mapping[str, str]]

_OF_THE_CLUSTER = regex(
    r"(?m)(template \S+ not found in workflow template \S+$"
    r"|runs a template of the \w+ \S+, which is not here)(?:: name its file.*)?$"
)
_OPTION = regex(r"--(mount|artifact|secret|config-map) ([^\s=]+?)(?:=(\S+)|(?=:?\s))")

__tracebackhide__ = IS_TOLD
_LONGEST = 50  # characters of the name of a pipeline at the beginning of the name of its run


class _Ready(NamedTuple):
    """A run that is ready to start."""

    manifest: Json
    references: list[Json]
    fake: Fakes
    settings: Settings
    volumes: Mapping[str, Path]
    """The folders of its claims, by the names of its volumes."""


class RunPipeline:
    """Runs pipelines in a folder, each call a run of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._count = 0

    def __call__(
        self,
        pipeline: Callable[..., R],
        /,
        *,
        mounts: Located | None = None,
        artifacts: Located | None = None,
        config_maps: Data | None = None,
        secrets: Data | None = None,
        fakes: Mapping[str, object] | None = None,
        approve: bool = False,
        python: str = sys.executable,
        cluster: str | None = None,
        parameters: Mapping[str, object] | None = None,
        **named: object,
    ) -> Run[R]:
        """Run a pipeline to its end.

        Its own parameters are given by their names, or as `parameters`. `mounts` are folders for claims, `artifacts`
        files for artifacts that no step makes, `config_maps` and `secrets` data by name and key. `fakes` are what
        steps return, by task or step: these do not run. `approve` lets suspended steps go on. Raises CannotRun; a
        run that fails is returned.
        """
        from flowdsl.runtime.local.error import RunError
        from flowdsl.runtime.local.means import claim_of
        from flowdsl.runtime.local.places import Files
        from flowdsl.runtime.local.pods.interpreter import interpreter
        from flowdsl.runtime.local.pods.settings import Settings

        if not _is_pipeline(pipeline):
            raise CannotRun(f"{pipeline!r} is no pipeline: a step is called as a function")
        given = {
            "mounts": mounts,
            "artifacts": artifacts,
            "config_maps": config_maps,
            "secrets": secrets,
            "fakes": fakes,
            "approve": approve,
            "python": python,
            "cluster": cluster,
            "parameters": parameters,
        }
        signature = pipeline._definition.signature  # pyright: ignore[reportPrivateUsage] -- as in compile.py
        check(given, signature.by_name)
        own = values(named, parameters or {}, signature.by_name)
        program, document = _compiled(pipeline, cluster)
        self._count += 1
        name = f"{program.name[:_LONGEST]}-{self._count}"
        settings = Settings(
            python=interpreter(python).path,
            mounts={claim_of(document, one): place for one, place in _located(mounts).items()},
            volumes=self.folder / "volumes",
            artifacts=_located(artifacts),
            config_maps=config_maps or {},
            secrets=secrets or {},
        )
        try:
            ready = _ready(name, self.folder, program, document, own, fakes or {}, settings)
            machine = _run(self.folder, ready, approve)
        except RunError as error:
            raise CannotRun(_in_python(str(error))) from None
        folder = self.folder / "runs" / name
        returns = {template: one.returns for template, one in program.signatures.items()}
        return Run(machine, folder, signature.returns, returns, Files(folder, ready.volumes))


def _is_pipeline(thing: object) -> TypeGuard[Pipeline[..., Any]]:
    return isinstance(thing, Pipeline)


def _in_python(text: str) -> str:
    """A message about what prevents a run, with arguments of `run_pipeline` in place of command-line options."""
    text = _OF_THE_CLUSTER.sub(r"\1; say in fakes what it returns", text)
    return _OPTION.sub(_argument, text.replace("--fake ", "fakes: ").replace("-p ", ""))


def _argument(option: re.Match[str]) -> str:
    word, name, path = option.groups()
    if path is None:
        return f'{word.replace("-", "_")}s["{name}"]'
    value = '{"KEY": "..."}' if word in ("secret", "config-map") else f'"{path}"'
    return f'{word.replace("-", "_")}s={{"{name}": {value}}}'


def _ready(
    name: str,
    folder: Path,
    program: Program,
    document: Json,
    parameters: Mapping[str, object],
    fakes: Mapping[str, object],
    settings: Settings,
) -> _Ready:
    """Prepare a run with its values. Raises RunError, CannotRun."""
    from flowdsl.cli.runs.faking import libraries
    from flowdsl.cli.runs.parameters import stand_for
    from flowdsl.runtime.local.honoured import Asked, judged
    from flowdsl.runtime.local.means import of_workflow, volumes_of
    from flowdsl.runtime.local.prepare import scheduled, workflow
    from flowdsl.runtime.local.substitutes import Fakes
    from flowdsl.runtime.local.uses import steps

    texts, files = _parameters(parameters, document, program, settings.mounts)
    manifest = scheduled(document, workflow(document, texts))
    manifest["metadata"]["name"] = name
    given = settings.artifacts
    settings = settings._replace(artifacts={**given, **stand_for(manifest, {**given, **files})})
    # Templates of the cluster are not run here, but faked.
    references = libraries(program, manifest, [], [f"{step}=" for step in fakes])
    known = steps(manifest, references)
    place = folder / "runs" / name
    volumes = volumes_of(manifest, settings.mounts, folder / "volumes", place)
    fake = Fakes(place, name, _fakes(fakes, known, program, place / "faked"), volumes)
    fake.check(known)
    asked = Asked(
        fakes=fake.names,
        mounts=frozenset(settings.mounts),
        artifacts=frozenset(settings.artifacts),
        config_maps=settings.config_maps,
        secrets=settings.secrets,
    )
    refusals = judged(manifest, references, asked).refusals
    if refusals:
        raise CannotRun(_in_python("\n".join(refusals)))
    return _Ready(manifest, references, fake, of_workflow(settings, manifest), volumes)


def _run(folder: Path, ready: _Ready, approve: bool) -> Machine:
    """Run to the end. Raises RunError, CannotRun."""
    from flowdsl.cli.runs.asking import unasked
    from flowdsl.runtime.local.journal import Inputs
    from flowdsl.runtime.local.means import cache_of
    from flowdsl.runtime.local.pods.pods import Pods
    from flowdsl.runtime.local.runner import Runner, Waits

    place = folder / "runs" / str(ready.manifest["metadata"]["name"])

    def executor(report: Callable[[Event], None]) -> Pods:
        return Pods(place, report, ready.settings)

    def supplied(node: Node) -> dict[str, str] | None:
        given = ready.fake.supplied(node)
        return unasked(node) if given is None and approve else given

    caches = cache_of(folder / "cache", ready.settings.artifacts)
    runner = Runner(place, executor, fake=ready.fake, supplied=supplied, caches=caches)
    configs = {name: dict(data) for name, data in ready.settings.config_maps.items()}
    try:
        return runner.begin(Inputs(ready.manifest, ready.references, configs, {}))
    except Waits as waits:
        raise CannotRun(
            f"the run waits for {waits}: let it go on with approve=True, or give its answer in fakes"
        ) from None


def _compiled(pipeline: Pipeline[..., Any], cluster: str | None) -> tuple[Program, Json]:
    """The program and the document of a pipeline in an imported module. Raises CannotRun."""
    from flowdsl.cli.config import project
    from flowdsl.cli.display.report import render_all
    from flowdsl.compiler.compile import compile_loaded
    from flowdsl.compiler.load import LoadError, imported

    definition = pipeline._definition  # pyright: ignore[reportPrivateUsage] -- as in compile.py
    key = (definition, cluster)
    if key in _COMPILED:
        return _COMPILED[key]
    module = sys.modules.get(pipeline.__module__)
    names = (
        []
        if module is None
        else [
            name
            for name, value in vars(module).items()
            if isinstance(value, Pipeline) and value._definition is definition  # pyright: ignore[reportPrivateUsage]
        ]
    )
    if module is None or not names:
        raise CannotRun(f"the pipeline `{definition.name}` does not stand at the top of an imported module")
    try:
        loaded = imported(module)
        profile, _, wrong = project(loaded.path, cluster)
        if wrong:
            raise CannotRun("\n" + render_all([(wrong, loaded.sources)], "text", False))
        compiled = compile_loaded(loaded, names[0], profile=profile)
    except LoadError as error:
        raise CannotRun(error.traceback or error.message) from None
    if compiled.failed:
        raise CannotRun("\n" + render_all([(compiled.diagnostics, loaded.sources)], "text", False))
    _COMPILED[key] = compiled.programs[0], compiled.documents[0]
    return _COMPILED[key]


_COMPILED: dict[tuple[PipelineDef, str | None], tuple[Program, Json]] = {}


def _located(given: Located | None) -> dict[str, Path]:
    return {name: Path(path).resolve() for name, path in (given or {}).items()}


def _parameters(
    given: Mapping[str, object], document: Json, program: Program, mounts: Mapping[str, Path]
) -> tuple[dict[str, str], dict[str, Path]]:
    """The encoded parameters, and the files of artifacts. Raises RunError, CannotRun."""
    from flowdsl.cli.runs.parameters import local
    from flowdsl.compiler.encode import encode, plain
    from flowdsl.values.texts import WrongValue, rebuilt

    known = program.signature.by_name if program.signature is not None else {}
    texts: dict[str, str] = {}
    rest: dict[str, str] = {}
    for name, value in given.items():
        if name not in known or t.holds_file(known[name].type):
            rest[name] = str(value)
            continue
        kind = known[name].type

        def complain(word: str, **data: object) -> None:
            if word == "WrongType":
                raise WrongValue(str(data.get("part") or f"{data['have']} is not {data['want']}"))

        try:
            lift(value, kind, complain)
            rebuilt(plain(value, kind), kind)
            texts[name] = encode(value, kind)
        except (WrongValue, TypeError, ValueError, AttributeError, KeyError) as error:
            raise CannotRun(f"`{name}` is {t.spell(kind)}, not {value!r}: {error}") from None
    found = local(rest, document, program, mounts)
    return {**texts, **found.texts}, found.files


def _fakes(
    given: Mapping[str, object], known: Mapping[str, Json], program: Program, folder: Path
) -> list[str]:
    """The encoded outputs of faked steps; lists of files go to `folder`."""
    from flowdsl.cli.runs.faking import declaration
    from flowdsl.compiler.encode import field, plain
    from flowdsl.runtime.local.faked import in_place_of
    from flowdsl.runtime.local.substitutes import by_name
    from flowdsl.runtime.names import spelled
    from flowdsl.values.texts import WrongValue, rebuilt

    templates = by_name(known)
    found: list[str] = []
    for asked, value in given.items():
        step = spelled(asked, templates)
        template = templates.get(step, {})
        signature, there = declaration(program, str(template.get("name", "")))
        if signature is None:
            found.append(f"{step}={value}")
            continue
        kind = signature.returns
        outputs = t.outputs(kind)
        if not outputs:
            found.append(f"{step}=")
        for one in outputs:
            try:
                part = value
                for key in one.keys:
                    part = field(part, str(key))
                if not t.holds_file(one.type):
                    rebuilt(plain(part, one.type), one.type)
                made = one.changed(name=there.get(one.name, one.name))
                found += in_place_of(step, made, part, template, folder)
            except (WrongValue, ValueError, OSError) as error:
                raise CannotRun(f"fakes: `{step}` returns {t.spell(kind)}, not {value!r}: {error}") from None
            except (TypeError, LookupError, AttributeError):  # a value without the parts of its type
                raise CannotRun(f"fakes: `{step}` returns {t.spell(kind)}, not {value!r}") from None
    return found
