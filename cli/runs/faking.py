"""The values that users give in place of steps: those of `--fake`, and the answers of gates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.encode import encode
from flowdsl.compiler.ir import Reference
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.faked import in_place_of
from flowdsl.runtime.local.substitutes import by_name, step_of
from flowdsl.runtime.names import spelled
from flowdsl.runtime.parts import part
from flowdsl.values import types as t
from flowdsl.values.texts import WrongValue, typed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flowdsl.compiler.ir import Program
    from flowdsl.values.signature import Signature

Json = dict[str, Any]


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
    from flowdsl.runtime.local.uses import steps

    known = {(one.get("kind"), part(one, "metadata").get("name")) for one in references}
    missing = [one for one in declared(program) if (one["kind"], one["metadata"]["name"]) not in known]
    if not missing:
        return []
    tasks = by_name(steps(manifest, [*references, *missing]))
    asked = (spelled(step_of(text), tasks) for text in faked)
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
