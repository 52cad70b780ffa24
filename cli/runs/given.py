"""Reads the inputs of a run from the command line: NAME=VALUE pairs, files, and parameters by their types."""

from __future__ import annotations

import posixpath
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.cli.runs import objects
from flowdsl.compiler.encode import encode
from flowdsl.compiler.expressions import VOLUMES
from flowdsl.compiler.ir import Reference
from flowdsl.diagnostic import together
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.names import is_data_key
from flowdsl.grammar.reason import reason
from flowdsl.runtime.documents import workflow_spec
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.faked import in_place_of
from flowdsl.runtime.local.pods.interpreter import interpreter
from flowdsl.runtime.local.prepare import valued
from flowdsl.runtime.local.substitutes import by_name
from flowdsl.runtime.names import meant, spelled
from flowdsl.runtime.parts import part, several
from flowdsl.values import types as t
from flowdsl.values.joined import CONTROL
from flowdsl.values.texts import WrongValue, typed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flowdsl.compiler.compile import Supply
    from flowdsl.compiler.ir import Program
    from flowdsl.values.signature import Parameter, Signature

Json = dict[str, Any]

GIVEN = "flowdsl-given"
"""Where the keys of files begin that the command line gives for parameters."""


def pairs(texts: Sequence[str], option: str, form: str) -> dict[str, str]:
    """Parses the NAME=VALUE pairs of an option. Raises RunError."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise RunError(f"{option} {text}: write {option} {form}")
        if name in found:
            raise RunError(f"{option} {name} is given twice")
        found[name] = value
    return found


def paths(texts: Sequence[str], option: str) -> dict[str, Path]:
    """Parses files and folders by name, which have to exist. Raises RunError."""
    found = {name: _path(option, name, text) for name, text in pairs(texts, option, "NAME=PATH").items()}
    for name, path in found.items():
        if not path.exists():
            gone = "the pipe of an earlier command is gone: give it again" if path.parts[:3] == _PIPES else ""
            raise RunError(f"{option} {name}={path}: {gone or f'there is no {path}'}")
    return {name: lasting(path) for name, path in found.items()}


_PIPES = ("/", "dev", "fd")


def lasting(path: Path) -> Path:
    """A path that is valid in any folder. A pipe, as `<(...)` of a shell, is found only by its own name."""
    return path.absolute() if path.is_fifo() else path.resolve()


def folders(texts: Sequence[str]) -> dict[str, Path]:
    """The folders of `--mount`, by claim; a missing one is created when the run begins. Raises RunError."""
    found = {
        name: _path("--mount", name, text) for name, text in pairs(texts, "--mount", "CLAIM=PATH").items()
    }
    for name, path in found.items():
        if path.exists() and not path.is_dir():
            raise RunError(f"--mount {name}={path}: {path} is a file; a claim is a folder")
        if not path.exists() and not path.absolute().parent.is_dir():
            raise RunError(f"--mount {name}={path}: there is no {path.parent}")
    return {name: path.resolve() for name, path in found.items()}


def _path(option: str, name: str, text: str) -> Path:
    """A path from the user; an empty text is an unset shell variable. Raises RunError."""
    if not text:
        raise RunError(f"{option} {name}=: the path is empty; the current folder is {option} {name}=.")
    return Path(text).expanduser()


def data(texts: Sequence[str], option: str) -> dict[str, dict[str, str]]:
    """The data of ConfigMaps or Secrets: from a folder with a file per key, a file of KEY=VALUE lines, or the object.

    Raises RunError.
    """
    found: dict[str, dict[str, str]] = {}
    for name, path in paths(texts, option).items():
        try:
            if path.is_dir():
                files = [one for one in sorted(path.iterdir()) if one.is_file()]
                found[name] = {one.name: one.read_text(encoding="utf-8") for one in files}
            elif (known := objects.data(path, name, option)) is not None:
                found[name] = known
            else:
                found[name] = _lines(path.read_text(encoding="utf-8"), f"{option} {name}={path}")
        except (OSError, UnicodeDecodeError) as error:
            raise RunError(f"{option} {name}={path} cannot be read: {reason(error)}") from None
    return found


def _lines(text: str, given: str) -> dict[str, str]:
    """Parses KEY=VALUE lines. Raises RunError, which shows nothing that may be secret."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            key, sign, value = line.partition("=")
            if not sign or not is_data_key(key.strip()):
                raise RunError(
                    f"{given}: its line {number} is not KEY=VALUE; write such lines, or name a folder with a file "
                    "for each key"
                )
            found[key.strip()] = value
    return found


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


class Parameters(NamedTuple):
    """The values of a workflow's parameters: texts, and files for its artifacts by name."""

    texts: dict[str, str]
    files: dict[str, Path]


def parameters(
    given: Mapping[str, str], document: Json, program: Program | None, mounts: Mapping[str, Path]
) -> Parameters:
    """Encodes values for parameters: of a pipeline by their types, of other workflows unchanged.

    Raises RunError.
    """
    spec = workflow_spec(document)
    arguments = part(spec, "arguments")
    files = [str(one["name"]) for one in several(arguments, "artifacts")]
    if program is None or program.signature is None:
        texts = {name: text for name, text in given.items() if name not in files}
        return Parameters(
            travelling(texts), {name: _file(name, given[name]) for name in given if name in files}
        )
    known = program.signature.by_name
    found = Parameters({}, {})
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


def _known(name: str, program: Program, known: Mapping[str, Parameter]) -> Parameter:
    if name in known:
        return known[name]
    names = ", ".join(f"{one.name}: {t.spell(one.type)}" for one in known.values())
    more = meant(name, known, f"it has {names}" if names else "it has none")
    raise RunError(f"-p {name}: the pipeline `{program.name}` has no parameter `{name}`; {more}")


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
    signature = None if program is None else program.signature
    found = Remote({}, {})
    wrong: list[RunError] = []
    for name, text in given.items():
        try:
            if name in files:
                found.keys[name] = text
            elif program is None or signature is None:
                found.texts[name] = text
            else:
                parameter = _known(name, program, signature.by_name)
                if t.holds_file(parameter.type):
                    found.texts[name] = posixpath.join(VOLUMES, _volume(parameter, spec), text)
                else:
                    found.texts[name] = _text(parameter, text)
        except RunError as error:
            wrong.append(error)
    if wrong:
        raise RunError(together("parameters", wrong))
    return Remote(travelling(found.texts), travelling(found.keys))


def fakes(
    given: Sequence[str], known: Mapping[str, Json], program: Program | None, folder: Path
) -> list[str]:
    """Encodes fake outputs of steps: of a pipeline's by their types. Raises RunError.

    `known`: templates by task; a step may also be given by its template. `folder` is where lists of files are
    written.
    """
    templates = by_name(known)
    named = [_of_step(text, templates) for text in given]
    found: list[str] = []
    for written, text in zip(given, named, strict=True):
        head, equals, value = text.partition("=")
        step, _, output = head.partition(".")
        template = templates.get(step, {})
        outputs = _outputs(program, str(template.get("name", "")))  # an inline template has no name
        one = next((one for one in outputs if output == one.name or (not output and len(outputs) == 1)), None)
        made = [text]
        if equals and one is not None:
            try:
                _, there = declaration(program, str(template.get("name", "")))
                one = one.changed(name=there.get(one.name, one.name))
                made = [*in_place_of(step, one, _faked(one.type, value), template, folder)]
            except (WrongValue, OSError) as wrong:
                called = written.partition("=")[0]
                raise RunError(f"--fake {written}: `{called}` is {t.spell(one.type)}: {wrong}") from None
        missing = [each for each in outputs if not _names(named, f"{step}.{each.name}")]
        if output and missing and all(isinstance(each.type, t.File) for each in missing):
            name = missing[0].name
            raise RunError(f"--fake {step}: the file `{name}` needs a path: --fake {step}.{name}=PATH")
        found += made
    return found


def _of_step(text: str, templates: Mapping[str, Json]) -> str:
    """STEP=VALUE or STEP.OUTPUT=VALUE with the name of the step as in templates."""
    head, equals, value = text.partition("=")
    step, dot, output = head.partition(".")
    return f"{spelled(step, templates)}{dot}{output}{equals}{value}"


def libraries(
    program: Program | None, manifest: Json, references: Sequence[Json], faked: Sequence[str]
) -> list[Json]:
    """Placeholders for faked templates of the cluster that a pipeline calls, and for which no file is given."""
    if program is None or not faked:
        return []
    from flowdsl.compiler.argo.library import declared
    from flowdsl.runtime.local.honoured import steps

    known = {(one.get("kind"), part(one, "metadata").get("name")) for one in references}
    missing = [one for one in declared(program) if (one["kind"], one["metadata"]["name"]) not in known]
    if not missing:
        return []
    tasks = by_name(steps(manifest, [*references, *missing]))
    asked = (spelled(text.partition("=")[0].partition(".")[0], tasks) for text in faked)
    wanted = [tasks[name] for name in asked if name in tasks]
    for one in missing:
        one["spec"]["templates"] = [each for each in one["spec"]["templates"] if each in wanted]
    return [one for one in missing if one["spec"]["templates"]]


def _faked(kind: t.Type, text: str) -> Any:
    """The value of a fake output; files are given by their paths. Raises WrongValue."""
    match kind:
        case t.File() | t.Maybe(t.File()):
            path = Path(text).expanduser()
            if isinstance(kind, t.Maybe) and text.strip() in ("", "null"):
                return None
            if not text or not path.exists():
                raise WrongValue(f"there is no {path}" if text else "it needs a path")
            return path.absolute()
        case _:
            return typed(text, kind, Path.cwd())


def answer(program: Program | None, template: str, name: str, text: str) -> str:
    """Encodes a user's value for an output of a step: of a pipeline's by its type. Raises RunError."""
    one = next((one for one in _outputs(program, template) if one.name == name), None)
    if one is None:
        return text
    try:
        return text if t.holds_file(one.type) else encode(typed(text, one.type), one.type)
    except WrongValue as wrong:
        raise RunError(f"{name} is {t.spell(one.type)}: {wrong}") from None


def _outputs(program: Program | None, template: str) -> tuple[t.Output, ...]:
    known, _ = declaration(program, template)
    return () if known is None else t.outputs(known.returns)


def declaration(program: Program | None, template: str) -> tuple[Signature | None, Mapping[str, str]]:
    """The signature of the function that a template comes from, if there is one.

    For a template of the cluster also its own names of what the function names differently.
    """
    if program is None:
        return None, {}
    called = [one for one in program.templates if isinstance(one.body, Reference)]
    found = [one for one in called if one.settings.library.template == template]
    if not found or template in {one.name for one in program.templates if one not in called}:
        return program.signatures.get(template), {}
    return program.signatures.get(found[0].name), found[0].settings.library.names


def _names(given: Sequence[str], name: str) -> bool:
    return any(one.partition("=")[0] == name for one in given)


def keyed(manifest: Json, keys: Mapping[str, str]) -> None:
    """Set keys of the artifact repository as the locations of a workflow's input artifacts, in place."""
    spec = part(manifest, "spec")
    arguments = part(spec, "arguments")
    if keys:
        changed = _stored(several(arguments, "artifacts"), keys)
        manifest["spec"] = {**spec, "arguments": {**arguments, "artifacts": changed}}


def _stored(artifacts: Sequence[Json], keys: Mapping[str, str]) -> list[Json]:
    return [
        {
            **{field: one[field] for field in ("name", "optional") if field in one},
            "s3": {"key": keys[one["name"]]},
        }
        if one["name"] in keys
        else one
        for one in artifacts
    ]


def judge(run: Json, texts: Mapping[str, str], others: Iterable[Json], defaults: bool = False) -> None:
    """Refuse given parameters with which a run fails by the rules of `check`. Raises RunError.

    With `defaults` also those that keep their defaults, since nobody will set them later. `others`: the documents
    whose templates the workflow may use.
    """
    declared = several(part(workflow_spec(run), "arguments"), "parameters")
    kept = {one["name"]: str(one["value"]) for one in declared if defaults and "value" in one}
    values = {**kept, **texts}
    if not values:
        return
    from flowdsl.compiler.lint import lint, shelf
    from flowdsl.compiler.lint.variables.typing_findings import FailsByDefault
    from flowdsl.compiler.schema.findings import short

    wrong: dict[str, RunError] = {}
    for problem in lint(run, shelf(others)):
        finding = problem.finding
        match problem.path:
            case (*_, "spec" | "workflowSpec", "arguments", "parameters", int(index), "value") if (
                finding.severity == "error"
            ):
                name, said = declared[index]["name"], finding.message
            case _ if isinstance(finding, FailsByDefault):
                alike = [each for each, text in values.items() if short(text) == finding.value]
                name = finding.name if finding.name in alike else next(iter(alike), "")
                said = f"`{finding.found}` fails: {finding.reason}"
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
    found = pairs(texts, "-p", "NAME=VALUE")
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
        artifacts = _stored(several(arguments, "artifacts"), values.keys)
        for field, changed in (("parameters", parameters), ("artifacts", artifacts)):
            if field in arguments:
                arguments[field] = changed
        judge(document, given, documents)


def _text(parameter: Parameter, text: str) -> str:
    try:
        return encode(typed(text, parameter.type), parameter.type)
    except WrongValue as wrong:
        spelled = t.spell(parameter.type)
        raise RunError(f"-p {parameter.name}={text}: `{parameter.name}` is {spelled}: {wrong}") from None


def _file(name: str, text: str) -> Path:
    path = _path("-p", name, text)
    if not path.exists():
        raise RunError(f"-p {name}={text}: `{name}` is a file or folder, and there is no {path}")
    return path.resolve()


def _mounted(parameter: Parameter, text: str, spec: Json, mounts: Mapping[str, Path]) -> str:
    """The path on a volume of a file in the folder that stands for it."""
    name = parameter.name
    volume = _volume(parameter, spec)
    sources = {one["name"]: part(one, "persistentVolumeClaim") for one in several(spec, "volumes")}
    claim = str(part(sources, volume).get("claimName") or volume)
    root = mounts.get(claim)
    path = _path("-p", name, text).resolve()
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
    default = next((str(one.get("value")) for one in declared if one["name"] == name), None)
    if not isinstance(kind.item if isinstance(kind, t.Maybe) else kind, t.File):
        raise RunError(
            f"-p {name}: files in {t.spell(kind)} cannot be given here; change the default of `{name}`"
        )
    if default is None or not default.startswith(f"{VOLUMES}/"):
        raise RunError(
            f"-p {name}: `{name}` is None in this pipeline; to give it a file, let its default be one: "
            f'`{name}: Path = S3("key")`'
        )
    return default.removeprefix(f"{VOLUMES}/").partition("/")[0]


def stand_for(manifest: Json, files: Mapping[str, Path]) -> dict[str, Path]:
    """Set files as input artifacts of a workflow, in place, by new keys; returns the files by key."""
    spec = part(manifest, "spec")
    arguments = part(spec, "arguments")
    found: dict[str, Path] = {}
    changed: list[Json] = []
    for one in several(arguments, "artifacts"):
        path = files.get(str(one["name"]))
        if path is None:
            changed.append(one)
            continue
        key = f"{GIVEN}/{one['name']}"
        kept: Json = {field: one[field] for field in ("name", "path", "optional") if field in one}
        changed.append({**kept, "archive": {"none": {}}, "s3": {"key": key}})
        found[key] = path
    if found:
        manifest["spec"] = {**spec, "arguments": {**arguments, "artifacts": changed}}
    return found


def stood_for(artifacts: Sequence[str]) -> dict[str, Path]:
    """The files that `stand_for` set, by artifact name, given the files of a run by key."""
    begin = f"{GIVEN}/"
    return {
        name.removeprefix(begin): path
        for name, path in paths(artifacts, "--artifact").items()
        if name.startswith(begin)
    }


def python(program: str | None) -> str:
    """The path of the interpreter of Python steps. Raises RunError."""
    if program is None:
        return sys.executable
    try:
        return interpreter(program).path
    except RunError as error:
        raise RunError(f"--python {program}: {error}") from None
