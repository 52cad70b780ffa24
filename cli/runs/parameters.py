"""The parameters of a run as given by `-p`: by their types, here or on a cluster, and what is wrong with them."""

from __future__ import annotations

import posixpath
from functools import partial
from typing import TYPE_CHECKING, Any

from flowdsl.cli.runs.given import pairs, path_of, paths
from flowdsl.compiler.argo.provenance import PIPELINE
from flowdsl.compiler.encode import encode
from flowdsl.compiler.expressions import VOLUMES
from flowdsl.diagnostic import together
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.names import parameter_names
from flowdsl.runtime.documents import claims, workflow_spec
from flowdsl.runtime.local import GIVEN
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.prepare import valued
from flowdsl.runtime.names import meant, on_volume
from flowdsl.runtime.parts import part, several
from flowdsl.values import types as t
from flowdsl.values.joined import CONTROL
from flowdsl.values.texts import WrongValue, typed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from flowdsl.compiler.compile import Supply
    from flowdsl.compiler.ir import Program
    from flowdsl.values.signature import Parameter, Signature

Json = dict[str, Any]


def untyped(texts: Sequence[str]) -> dict[str, str]:
    """The values of `-p` for parameters whose types are not known here. Raises RunError."""
    return travelling(pairs(texts, "-p"))


def travelling(texts: Mapping[str, str]) -> dict[str, str]:
    """Texts for parameters, unchanged. Raises RunError for those that would not arrive unchanged."""
    for name, text in texts.items():
        if "{{" in text:
            raise RunError(
                f"-p {name}={text}: Argo would evaluate what follows `{{{{`; a value cannot hold it"
            )
        if not CONTROL.isdisjoint(text):
            raise RunError(f"-p {name}={text!r}: Argo cannot pass on control characters")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise RunError(f"-p {name}: its value is not UTF-8 text") from None
    return dict(texts)


class Local(NamedTuple):
    """The values of a workflow's parameters on this machine: texts, and files for its artifacts by name."""

    texts: dict[str, str]
    files: dict[str, Path]


def local(
    given: Mapping[str, str], document: Json, program: Program | None, mounts: Mapping[str, Path]
) -> Local:
    """Encodes values for parameters on this machine: of a pipeline by their types, of other workflows unchanged.

    Raises RunError.
    """
    spec = workflow_spec(document)
    arguments = part(spec, "arguments")
    files = [str(one["name"]) for one in several(arguments, "artifacts")]
    if program is None or program.signature is None:
        texts = {name: text for name, text in given.items() if name not in files}
        return Local(travelling(texts), {name: _file(name, given[name]) for name in given if name in files})
    known = _settable(program.signature)
    found = Local({}, {})
    wrong: list[RunError] = []
    for name, text in given.items():
        try:
            parameter = _known(name, program, known)
            if not t.holds_file(parameter.type):
                found.texts[name] = _text(parameter, text)
            elif name in files:
                found.files[name] = _file(name, text)
            else:
                found.texts[name] = _mounted(parameter, text, spec, mounts)
        except RunError as error:
            wrong.append(error)
    if wrong:
        raise RunError(together("parameters", wrong))
    return found._replace(texts=travelling(found.texts))


class Remote(NamedTuple):
    """The values of a workflow's parameters on a cluster: texts, and keys for its artifacts by name."""

    texts: dict[str, str]
    keys: dict[str, str]


def remote(given: Mapping[str, str], document: Json, program: Program | None) -> Remote:
    """Encodes values for parameters on a cluster, where a file is given by its key or its path on a volume.

    Raises RunError.
    """
    spec = workflow_spec(document)
    files = [str(one["name"]) for one in several(part(spec, "arguments"), "artifacts")]
    known = {} if program is None or program.signature is None else _settable(program.signature)
    found = Remote({}, {})
    wrong: list[RunError] = []
    for name, text in given.items():
        try:
            if name in files:
                found.keys[name] = text
            elif program is None or program.signature is None:
                found.texts[name] = text
            else:
                parameter = _known(name, program, known)
                if t.holds_file(parameter.type):
                    found.texts[name] = posixpath.join(VOLUMES, _volume(parameter, spec), text)
                else:
                    found.texts[name] = _text(parameter, text)
        except RunError as error:
            wrong.append(error)
    if wrong:
        raise RunError(together("parameters", wrong))
    return Remote(travelling(found.texts), travelling(found.keys))


def _settable(signature: Signature) -> dict[str, Parameter]:
    """What a run can be given: the parameters of a pipeline, and the parts of those that hold files."""
    parts = {
        name: parameter._replace(name=name, type=kind)
        for parameter in signature.parameters
        for name, kind in _parts(parameter.name, parameter.type)
    }
    return {**parts, **signature.by_name}


def _parts(name: str, kind: t.Type) -> Iterator[tuple[str, t.Type]]:
    """The parameters of a workflow that one of its pipeline is: of a record with files, one for each part."""
    if isinstance(kind, (t.Record, t.Fixed)) and t.holds_file(kind):
        parts = t.keyed(kind)
        nested = any(t.holds_file(one) and not isinstance(t.without_none(one), t.File) for _, one in parts)
        names = parameter_names([str(key) for key, _ in parts], within=nested)
        for key, (_, inner) in zip(names, parts, strict=True):
            yield from _parts(f"{name}-{key}", inner)
    else:
        yield name, kind


def _known(name: str, program: Program, known: Mapping[str, Parameter]) -> Parameter:
    if name in known:
        return known[name]
    names = ", ".join(f"{one.name}: {t.spell(one.type)}" for one in known.values())
    more = meant(name, known, f"it has {names}" if names else "it has none")
    raise RunError(f"-p {name}: the pipeline `{program.name}` has no parameter `{name}`; {more}")


def _text(parameter: Parameter, text: str) -> str:
    try:
        return encode(typed(text, parameter.type), parameter.type)
    except WrongValue as wrong:
        spelled = t.spell(parameter.type)
        raise RunError(f"-p {parameter.name}={text}: `{parameter.name}` is {spelled}: {wrong}") from None


def _file(name: str, text: str) -> Path:
    path = path_of("-p", name, text)
    if not path.exists():
        raise RunError(f"-p {name}={text}: `{name}` is a file or folder, and there is no {path}")
    return path.resolve()


def _mounted(parameter: Parameter, text: str, spec: Json, mounts: Mapping[str, Path]) -> str:
    """The path on a volume of a file in the folder that stands for it."""
    name = parameter.name
    volume = _volume(parameter, spec)
    claim = claims(several(spec, "volumes")).get(volume, volume)
    root = mounts.get(claim)
    path = path_of("-p", name, text).resolve()
    if root is None or not path.is_relative_to(root):
        folder = path.parent if root is None else root
        raise RunError(
            f"-p {name}={text}: `{name}` is on the volume `{claim}`: mount a folder that the file is in, "
            f"--mount {claim}={folder}"
            + ("" if root is None else f", or name a file in it: {text} is not below {root}")
        )
    if not path.exists():
        raise RunError(f"-p {name}={text}: there is no {path}")
    return posixpath.join(VOLUMES, volume, *path.relative_to(root).parts)


def _volume(parameter: Parameter, spec: Json) -> str:
    """The volume of a file that a parameter names. Raises RunError."""
    name, kind = parameter.name, parameter.type
    declared = several(part(spec, "arguments"), "parameters")
    default = on_volume(next((str(one.get("value")) for one in declared if one["name"] == name), ""))
    if not isinstance(t.without_none(kind), t.File):
        parts = [each for each, _ in _parts(name, kind) if each != name]
        way = f"change the default of `{name}`"
        if parts:
            way = f"give its parts: {', '.join(f'-p {each}=...' for each in parts)}"
        raise RunError(f"-p {name}: files in {t.spell(kind)} cannot be given here; {way}")
    if default is None:
        raise RunError(
            f"-p {name}: `{name}` is None in this pipeline; to give it a file, let its default be one, "
            'such as `S3("key")`'
        )
    return default[0]


def judge(run: Json, texts: Mapping[str, str], others: Iterable[Json], defaults: bool = False) -> None:
    """Refuse given parameters with which a run fails by the rules of `check`. Raises RunError.

    With `defaults` also those that keep their defaults, since nobody will set them later. `others`: the documents
    whose templates the workflow may use.
    """
    spec = workflow_spec(run)
    declared = several(part(spec, "arguments"), "parameters")
    kept = {one["name"]: str(one["value"]) for one in declared if defaults and "value" in one}
    values = {**kept, **texts}
    if not values:
        return
    from flowdsl.compiler.lint import lint, shelf
    from flowdsl.compiler.lint.variables.typing_findings import FailsByDefault, Uncomputable, WrappedNumber
    from flowdsl.compiler.schema.findings import short

    labels = {**part(run["metadata"], "labels"), **part(part(spec, "workflowMetadata"), "labels")}
    compiled = PIPELINE in labels
    wrong: dict[str, RunError] = {}
    for problem in lint(run, shelf(others)):
        finding = problem.finding
        match problem.path:
            case (*_, "spec" | "workflowSpec", "arguments", "parameters", int(index), "value") if (
                finding.severity == "error"
            ):
                name, said = declared[index]["name"], finding.message
            case _ if isinstance(finding, (FailsByDefault, Uncomputable)):
                alike = [each for each, text in values.items() if short(text) == finding.value]
                own = finding.name if isinstance(finding, FailsByDefault) else ""
                name = own if own in alike else next(iter(alike), "")
                said = f"`{finding.found}` fails: {finding.reason}"
            case _ if isinstance(finding, WrappedNumber) and compiled:  # Python's result is another one
                name = next((each for each, text in texts.items() if short(text) == finding.value), "")
                said = f"{finding.message}; Argo would make it {finding.result}"
            case _:
                continue
        if name in values and said not in wrong:
            way = f"\n  {finding.advice}" if finding.advice else ""
            value = f"-p {name}={short(values[name])}"
            who = value if name in texts else f"without another value than {value}"
            wrong[said] = RunError(f"{who}: {said}{way}")
    if wrong:
        raise RunError(together("values of parameters", list(wrong.values())))


def supplying(texts: Sequence[str]) -> Supply:
    """A function that sets these values for the parameters of the compiled pipeline; it raises RunError."""
    return partial(_supply, texts)


def _supply(texts: Sequence[str], programs: Sequence[Program], documents: Sequence[Json]) -> None:
    found = pairs(texts, "-p")
    if len(programs) > 1:
        names = ", ".join(f"`{one.name}`" for one in programs)
        raise RunError(f"-p is for one pipeline, and here are {names}: name it, FILE:NAME")
    for program, document in zip(programs, documents, strict=True):
        values = remote(found, document, program)
        arguments = part(workflow_spec(document), "arguments")
        given = values.texts
        parameters = [
            valued(one, given[one["name"]]) if one["name"] in given else one
            for one in several(arguments, "parameters")
        ]
        locations = {name: _at(key) for name, key in values.keys.items()}
        artifacts = _relocated(several(arguments, "artifacts"), locations)
        for field, changed in (("parameters", parameters), ("artifacts", artifacts)):
            if field in arguments:
                arguments[field] = changed
        judge(document, given, documents)


def keyed(manifest: Json, keys: Mapping[str, str]) -> None:
    """Set keys of the artifact repository as the locations of a workflow's input artifacts, in place."""
    _relocate(manifest, {name: _at(key) for name, key in keys.items()})


def stand_for(manifest: Json, files: Mapping[str, Path]) -> dict[str, Path]:
    """Set files as input artifacts of a workflow, in place, by new keys; returns the files by key."""
    declared = several(part(part(manifest, "spec"), "arguments"), "artifacts")
    keys = {name: f"{GIVEN}/{name}" for one in declared if (name := str(one["name"])) in files}
    _relocate(manifest, {name: {"archive": {"none": {}}, **_at(key)} for name, key in keys.items()})
    return {key: files[name] for name, key in keys.items()}


def _at(key: str) -> Json:
    """The location of an artifact in the repository."""
    return {"s3": {"key": key}}


def _relocate(manifest: Json, locations: Mapping[str, Json]) -> None:
    """Change the locations of a workflow's input artifacts, in place."""
    if locations:
        spec = part(manifest, "spec")
        arguments = part(spec, "arguments")
        changed = _relocated(several(arguments, "artifacts"), locations)
        manifest["spec"] = {**spec, "arguments": {**arguments, "artifacts": changed}}


def _relocated(artifacts: Sequence[Json], locations: Mapping[str, Json]) -> list[Json]:
    return [
        {
            **{field: one[field] for field in ("name", "path", "optional") if field in one},
            **locations[one["name"]],
        }
        if one["name"] in locations
        else one
        for one in artifacts
    ]


def stood_for(artifacts: Sequence[str]) -> dict[str, Path]:
    """The files that `stand_for` set, by artifact name, given the files of a run by key."""
    begin = f"{GIVEN}/"
    return {
        name.removeprefix(begin): path
        for name, path in paths(artifacts, "--artifact").items()
        if name.startswith(begin)
    }
