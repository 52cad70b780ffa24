"""Caching: what the key of a step's result is made of, and which digests of files it needs.

A key is the SHA-256 of the step as it is compiled and of what it is given when it runs; so it is always one that
Argo takes, and a step that would do something else never finds an earlier result.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

from flowdsl.compiler import ir
from flowdsl.compiler.argo.pod import pod_text
from flowdsl.compiler.findings import caching as findings
from flowdsl.compiler.forms import (
    DIGEST,
    PLAIN,
    Absent,
    File,
    Form,
    Gathered,
    Mark,
    Mounted,
    Parts,
    part_names,
    port_names,
)
from flowdsl.compiler.lowering.normal_form import statements
from flowdsl.compiler.naming import slug
from flowdsl.compiler.options.code import is_pinned
from flowdsl.compiler.placing import INDEX
from flowdsl.compiler.ports import IN, OUT
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.grammar.digest import digest
from flowdsl.grammar.regex import regex
from flowdsl.places.place import Argument
from flowdsl.step import StepDef
from flowdsl.tracing.trace import Call
from flowdsl.values import types as t
from flowdsl.values.expr import Best, Const, Out, Param, Rows, RunField, children, leaves
from flowdsl.volume import Config, Scratch, Secret

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from flowdsl.compiler.carry.carry import Carried
    from flowdsl.compiler.lowering.plans import CallPlan
    from flowdsl.places.place import Place
    from flowdsl.values.expr import Expr

FORMAT = "1"
"""The version of how scripts read, call and write: it changes when the result could be another one."""

Port = TypeVar("Port", ir.Input, ir.Output, ir.Argument)

_LONGEST = 63
_CAPACITY = 1024 * 1024  # bytes in a ConfigMap. Source: core/v1 ConfigMap
_ENTRY = 400  # bytes of an entry besides its outputs: its key, the node, two times, quotes
_MARKS: Mapping[Mark, str] = {
    "digest": "the digest of its content",
    "fixed": "where it is, which says what it is",
    "place": "where it is",
    "run": "the run",
}
_MOVING = regex(r"(?:[^:@]|:\d+/)*(?::latest)?")


def memo(
    pipeline: str,
    template: ir.Template,
    step: StepDef,
    forms: tuple[tuple[str, Form], ...],
    carried: Carried | None,
) -> ir.Memo | None:
    """Where the results of a template are cached, and under which key; None if they are not."""
    caching = template.settings.caching
    if caching.max_age is None:
        return None
    found = [_fixed("format", FORMAT, "how this version of flowdsl writes steps")]
    found += _interface(step)
    found += _environment(template.settings)
    if carried is not None:
        found += _code(step, carried)
    elif isinstance(template.body, ir.Pod):
        found += _command(template, template.body)
    for patch in template.patches:
        fields = json.dumps(patch.fields, sort_keys=True)
        found.append(_fixed("argo", digest(fields), "argo={...}, which may say what is run"))
    if caching.salt:
        found.append(_fixed("salt", caching.salt, "cache=Cache(salt=...)"))
    for name, form in forms:
        found += _given(name, form)
    if any(one.name == INDEX for one in template.outputs):
        # Rows of a loop are distinguished by the index that they output.
        found.append(ir.Ingredient("number of the item", None, "the place in the loop", INDEX))
    return ir.Memo(_config_map(pipeline, template.name), caching.max_age, tuple(found))


def completed(template: ir.Template) -> ir.Template:
    """A template whose key includes its outputs: an earlier result without one of them cannot be used."""
    if template.memo is None:
        return template
    shown = ", ".join(f"{one.name}: {one.kind}" for one in template.outputs)
    ingredients = (*template.memo.ingredients, _fixed("outputs", shown, shown))
    return template._replace(memo=template.memo._replace(ingredients=ingredients))


def _config_map(pipeline: str, template: str) -> str:
    """One ConfigMap for each template: its size is limited."""
    name = f"flowdsl-cache-{slug(pipeline)}-{template}"
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 9].rstrip('-')}-{digest(name)[:8]}"


def _fixed(name: str, text: str, origin: str) -> ir.Ingredient:
    return ir.Ingredient(name, digest(text), origin)


def _interface(step: StepDef) -> Iterator[ir.Ingredient]:
    """How the step is called: names and types of its parameters and results."""
    signature = step.signature
    takes = ", ".join(f"{one.name}: {t.spell(one.type)}" for one in signature.parameters)
    gives = ", ".join(f"{out.name}: {t.spell(out.type)}" for out in t.outputs(signature.returns))
    shown = f"({takes}) -> ({gives})"
    yield _fixed("signature", f"{step.kind} {shown}", shown)


def _environment(settings: ir.Settings) -> Iterator[ir.Ingredient]:
    """The image, and everything else in the options for the environment and the code."""
    usual = ir.Settings()
    for concern in ("environment", "code", "companions"):
        for name, value in getattr(settings, concern)._asdict().items():
            if value == getattr(getattr(usual, concern), name):
                continue
            if name == "env":
                for variable, text in value:
                    shown = (
                        text
                        if isinstance(text, str)
                        else f"{type(text).__name__} {text.name}, key {text.key}"
                    )
                    whole = f"{type(text).__name__} {variable}={shown}"
                    yield _fixed(f"env {variable}", whole, f"{variable}={shown}")
            elif name == "packages":
                for requirement in value:
                    yield _fixed(f"package {requirement}", requirement, "packages=")
            elif name == "repository":
                words = value.artifact.words
                shown = f"{words['url']} at {words['revision']}"
                yield _fixed("code", shown, shown)
            elif name != "volumes":
                shown = value if isinstance(value, str) else repr(value)
                yield _fixed(name, shown, shown)


def _code(step: StepDef, carried: Carried) -> Iterator[ir.Ingredient]:
    """The user's statements in the script: the step, and what it uses of its module."""
    file = PurePath(step.code.co_filename).name
    for (name, found), line in zip(statements(carried.text), carried.lines(), strict=True):
        yield ir.Ingredient(f"code {name}", found, f"{file}:{line}")


def _command(template: ir.Template, pod: ir.Pod) -> Iterator[ir.Ingredient]:
    """The command line of a container step, with its script, its variables, and the paths that it names itself."""
    words = [pod_text(word) for word in pod.command]
    yield _fixed("command", digest(*words), "the command line")
    if pod.source is not None:
        yield _fixed("source", digest(pod.source), "the script of the command")
    for name, value in pod.env:
        text = repr(value) if isinstance(value, (Config, Secret)) else pod_text(value)
        yield _fixed(f"env {name}", f"{name}={text}", "the variable of the command")
    places = [(one.name, one.path) for one in template.inputs]
    places += [(one.name, one.path) for one in template.outputs]
    for name, path in places:
        if path is not None and not path.startswith((IN, OUT)):
            yield _fixed(f"path {name}", path, "command(paths={...})")


def _given(name: str, form: Form) -> Iterator[ir.Ingredient]:
    """What the step is passed at run time."""
    match form:
        case File(_, mark) if mark:
            yield ir.Ingredient(f"input {name}", None, _MARKS[mark], DIGEST + name)
        case File():
            yield ir.Ingredient(f"input {name}", None, "the place of the file in the store", name)
        case Mounted():
            yield ir.Ingredient(f"input {name}", None, "the path on the volume", name)
        case Gathered(item, _, _, others, digests):
            forms: dict[str, Form] = {out.name: PLAIN for out in t.outputs(item)}
            forms |= {out: File(True, "digest") for out in digests} | dict(others)
            columns = [one for out, form in forms.items() for one in _columns(out, form)]
            known = any(map(_is_digest, columns))
            origin = "what the items returned, files by their digests" if known else "what the items returned"
            yield ir.Ingredient(f"input {name}", None, origin, name, (INDEX, *columns))
        case Parts(_, inner):
            yield _fixed(f"input {name}", " ".join((name, *part_names(form))), "its parts")
            for part, one in zip(port_names(form), inner, strict=True):
                yield from _given(f"{name}-{part}", one)
        case Absent():
            yield _fixed(f"input {name}", f"{name} is None", "None")
        case _:
            yield ir.Ingredient(f"input {name}", None, "its value", name)


def _columns(name: str, form: Form) -> Iterator[str]:
    """The ports of an output in the rows of a loop that tell its values apart."""
    match form:
        case File(_, mark) if mark:
            yield DIGEST + name
        case Parts(_, forms):
            for part, inner in zip(port_names(form), forms, strict=True):
                yield from _columns(f"{name}-{part}", inner)
        case Absent():
            pass
        case _:
            yield name


# --- errors and warnings -------------------------------------------------------------------------------


def judged(
    plan: CallPlan,
    settings: ir.Settings,
    forms: tuple[tuple[str, Form], ...],
    cached: frozenset[int],
    said: Callable[[str], Place],
) -> Iterator[Diagnostic]:
    """The errors and warnings about the caching of one call. `said` returns where an option was written."""
    place = said("cache")
    step = plan.call.target
    salted = bool(settings.caching.salt)
    image = settings.environment.image or ""
    if plan.store is not None:
        yield Diagnostic(findings.CachedOnVolume(step.name, plan.store.volume), place)
    if _MOVING.fullmatch(image):
        here = (Related(place, "its results are kept"),)
        yield Diagnostic(findings.MovingImage(step.name, image), said("image"), here)
    if not salted:
        yield from _known_by_place(step.name, settings, said)
    for name, form in forms:
        for port, one in _files(name, form):
            argument = plan.call.argument(name)
            if _is_placed(one):
                if not salted:
                    yield Diagnostic(findings.KnownByPath(step.name, port), argument)
            elif isinstance(one, File) and one.mark in ("", "run") and not _kept(plan.call, name, cached):
                why, of = _reason(plan.call, name)
                yield Diagnostic(findings.KnownByKey(step.name, name, why, of), argument)
            elif isinstance(one, Gathered) and _keyed(one):
                why = "a file in the list does not come directly from one Python step"
                yield Diagnostic(findings.KnownByKey(step.name, name, why, "results"), argument)
    for name, value in plan.call.arguments.items():
        for leaf in leaves(value):
            if isinstance(leaf, RunField) and leaf.name != "namespace":
                yield Diagnostic(findings.RunInKey(step.name, name, leaf.name), plan.call.argument(name))
    yield from _size(plan, place)


def _known_by_place(step: str, settings: ir.Settings, said: Callable[[str], Place]) -> Iterator[Diagnostic]:
    """What the key has only by address or name, not by content: changing the salt is the remedy."""
    code, environment = settings.code, settings.environment
    where = "volume" if code.volume is not None else ""
    if code.repository is not None and not is_pinned(code.repository.artifact.words["revision"]):
        where = "revision"
    if where:
        yield Diagnostic(findings.UnknownCode(step, where), said("cache"))
    mounts = zip(environment.mounts, environment.volumes, strict=True)
    for mount in (mount for mount, volume in mounts if not isinstance(volume, Scratch)):
        yield Diagnostic(findings.KnownByPath(step, mount.path), said("cache"))
    for variable, given in environment.env:
        if type(given) is Config:
            spot = said("env")
            spot = spot._replace(part=f"item:{variable}") if isinstance(spot, Argument) else spot
            yield Diagnostic(findings.KnownByName(step, repr(given)), spot)


def _files(name: str, form: Form) -> Iterator[tuple[str, Form]]:
    if isinstance(form, Parts):
        for part, inner in zip(part_names(form), form.forms, strict=True):
            yield from _files(f"{name}.{part}", inner)
    else:
        yield name, form


def _keyed(form: Form, inner: bool = False) -> bool:
    """Whether the rows of a loop have only the key of a file; those of a loop `inner` to it are one text."""
    match form:
        case Gathered(_, files, _, others, digests):
            return len(files) > (0 if inner else len(digests)) or any(_keyed(one, True) for _, one in others)
        case Parts(_, forms):
            return any(_keyed(one, inner) for one in forms)
        case File(mark=mark):
            return not mark
        case _:
            return False


def _is_placed(form: Form) -> bool:
    """Whether only the location of a file is known: a folder for checkpoints is on no volume it names."""
    return (
        bool(form.volumes) if isinstance(form, Mounted) else isinstance(form, File) and form.mark == "place"
    )


def _handed(call: Call, name: str) -> Expr | None:
    """What a call is given for a parameter; for one that it loops over, the list."""
    return call.arguments.get(name, call.loop.lists.get(name) if call.loop is not None else None)


def _kept(call: Call, name: str, cached: frozenset[int]) -> bool:
    """Whether the steps that create a file are cached, too: then an earlier file is where it was."""
    given = _handed(call, name)
    makers = [leaf for leaf in leaves(given) if type(leaf) is not Const] if given is not None else []
    return bool(makers) and all(
        isinstance(leaf, (Out, Rows, Best)) and id(leaf.task) in cached for leaf in makers
    )


def _reason(call: Call, name: str) -> tuple[str, str]:
    """Why the content of a file is not known, and what kind of value the file is in."""
    given = _handed(call, name)
    if isinstance(given, Out) and isinstance(given.task, Call) and isinstance(given.task.target, StepDef):
        step = given.task.target
        if step.kind != "python":
            what = "a template of the cluster" if step.kind == "template" else "a container step"
            return f"`{step.name}` is {what}, which passes on no digest", "file"
        if name not in call.arguments:
            return "a file in a list has no digest of its own", "item"
    if given is not None and any(isinstance(leaf, Rows) and leaf.name for leaf in leaves(given)):
        return "a file in a list has no digest of its own", "item"
    if isinstance(given, Param):
        return "a run may be given another file", "file"
    return "it does not come directly from one Python step", "file"


def _size(plan: CallPlan, place: Place) -> Iterator[Diagnostic]:
    """A loop so much of which is known that its results will not fit."""
    loop = plan.call.loop
    if loop is None or loop.rows is None:
        return
    step = plan.call.target
    entry = _ENTRY + sum(_bytes(out.type) for out in t.outputs(step.signature.returns))
    count = len(loop.rows)
    if count * entry > _CAPACITY:
        yield Diagnostic(findings.CacheTooLarge(step.name, count, count * entry // 1024), place)


def _bytes(kind: t.Type) -> int:
    """The minimum size of an output in an entry: a name, and the least that its type takes."""
    return 250 if t.holds_file(kind) else 60


# --- which digests are needed --------------------------------------------------------------------------


def pruned(templates: list[ir.Template]) -> list[ir.Template]:
    """The templates without the digests of files that are not part of any key."""
    while True:
        done = _prune(templates)
        if done == templates:
            return done
        templates = done


def _prune(templates: list[ir.Template]) -> list[ir.Template]:
    takes = {one.name: {port.name for port in one.inputs} for one in templates}
    used: defaultdict[str, set[str]] = defaultdict(set)  # outputs by template
    loose: set[str] = set()  # those that are read from rows
    found: list[ir.Template] = []
    for template in templates:
        if template.memo is not None:
            loose.update(name for one in template.memo.ingredients for name in one.columns)
        if not isinstance(template.body, ir.Graph):
            found.append(template)
            continue
        tasks = tuple(
            task._replace(arguments=_needed(task.arguments, takes.get(task.template, ())))
            for task in template.body.tasks
        )
        names = {task.name: task.template for task in tasks}
        own: set[str] = set()
        values = [one.value for task in tasks for one in task.arguments]
        values += [one.value for one in template.outputs if one.value is not None]
        for value in values:
            for leaf in _digests(value):
                match leaf:
                    case Param(name):
                        own.add(name)
                    case Out(str() as task, name):
                        used[names.get(task, task)].add(name)
                    case _:
                        loose.add(leaf.name)
        body = template.body._replace(tasks=tasks)
        found.append(template._replace(inputs=_needed(template.inputs, own), body=body))
    return [one._replace(outputs=_needed(one.outputs, loose | used[one.name])) for one in found]


def _needed(ports: Iterable[Port], used: Collection[str]) -> tuple[Port, ...]:
    """The inputs, outputs or arguments that are not digests, and the digests that are used."""
    return tuple(one for one in ports if not _is_digest(one.name) or one.name in used)


def _is_digest(name: str) -> bool:
    return name.startswith(DIGEST)


def _digests(value: Any) -> Iterator[Any]:
    """The parts of an expression that refer to digests."""
    if _is_digest(getattr(value, "name", "")):
        yield value
    for child in children(value):
        yield from _digests(child)
