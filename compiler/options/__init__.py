"""The options of a step or pipeline, judged and in one form.

Each concern has one module here, as in `flowdsl.options`, `ir` and `argo`: a reader for each of its options, and
what they come to together, where that is more than a record of them. A new option is a row in the `READERS` of its
concern.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from flowdsl.cache import Cache
from flowdsl.compiler import ir
from flowdsl.compiler.findings import kinds
from flowdsl.compiler.findings.kinds import WORDS
from flowdsl.compiler.findings.options import RunTimeOption, UnknownOption
from flowdsl.compiler.ir import Settings
from flowdsl.compiler.options import (
    caching,
    code,
    companions,
    control,
    daemon,
    distributed,
    environment,
    files,
    gate,
    identity,
    library,
    managed,
    patch,
    pipeline,
    placement,
    resources,
    schedule,
    store,
    volumes,
)
from flowdsl.compiler.options.reading import Doubter, Reader, Wrong, filled_in, flattened
from flowdsl.compiler.profile import NOWHERE
from flowdsl.compiler.volumes import together
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.kinds import manifest, request
from flowdsl.loop import own_words
from flowdsl.mistakes.texts import TextType
from flowdsl.pipeline import PipelineDef
from flowdsl.places.place import Argument, Place
from flowdsl.step import command
from flowdsl.tracing.trace import held_in
from flowdsl.values.later import Field, Key, Later, Position, later
from flowdsl.values.types import outputs
from flowdsl.values.value import is_value

if TYPE_CHECKING:
    from flowdsl.compiler.profile import Profile
    from flowdsl.grammar.named import NamedTuple
    from flowdsl.step import StepDef
    from flowdsl.tracing.trace import Trace

#: For steps with a container of the user's.
_READERS: dict[str, Reader] = {
    **environment.READERS,
    **resources.READERS,
    **placement.READERS,
    **control.READERS,
    **companions.READERS,
    **store.READERS,
    **files.READERS,
    **identity.READERS,
    **patch.READERS,
    **code.READERS,
    **caching.READERS,
    **distributed.READERS,
}
STEP_OPTIONS = tuple(_READERS)
_DOUBTS: dict[str, Doubter] = {**environment.DOUBTS, **resources.DOUBTS, **code.DOUBTS}
#: Options of a pipeline that are defaults for its steps.
INHERITED = (*code.READERS, *caching.READERS)

#: The options that each kind of step supports.
KINDS: dict[str, dict[str, Reader]] = {
    "python": {**_READERS, **daemon.READERS},
    "container": {**_READERS, **daemon.READERS},
    "resource": {
        **managed.READERS,
        **placement.READERS,
        **control.READERS,
        **identity.READERS,
        **patch.READERS,
    },
    "approve": {**gate.READERS, **patch.READERS},
    "http": {**control.READERS, **patch.READERS},
    "template": {**library.READERS, **patch.READERS},
}


Settled = Callable[[Mapping[str, Any], "Profile"], Any]


def _anywhere(settled: Callable[[Mapping[str, Any]], Any]) -> Settled:
    """The evaluation of options that does not depend on the cluster."""
    return lambda found, profile: settled(found)


def _by_name(record: NamedTuple) -> Settled:
    """The evaluation of options that a record has fields for."""
    return _anywhere(partial(filled_in, record))


#: For each concern of `ir.Settings` the options that determine it, and their evaluation for a cluster.
_CONCERNS: dict[str, tuple[Collection[str], Settled]] = {
    "environment": (environment.READERS, _anywhere(environment.settled)),
    "control": (control.READERS, _by_name(ir.Control())),
    "companions": (companions.READERS, _by_name(ir.Companions())),
    "daemon": (daemon.READERS, _anywhere(daemon.settled)),
    "managed": (managed.READERS, _by_name(ir.Managed())),
    "gate": (gate.READERS, _by_name(ir.Gate())),
    "library": (library.READERS, _by_name(ir.Library())),
    "files": (files.READERS, _by_name(ir.Files())),
    "identity": (identity.READERS, _by_name(ir.Identity())),
    "code": (code.READERS, _anywhere(code.settled)),
    "caching": (caching.READERS, _anywhere(caching.settled)),
    "distributed": (distributed.READERS, distributed.settled),
    "resources": (resources.READERS, resources.settled),
    "placement": ((*placement.READERS, "gpu"), placement.settled),
}

#: For each option the concerns that it determines.
_DECIDES = {
    option: [name for name, (decided_by, _) in _CONCERNS.items() if option in decided_by]
    for options, _ in _CONCERNS.values()
    for option in options
}

#: The word that describes a step of the kind, in the body of its function.
_DESCRIBING: dict[str, Callable[..., object]] = {"container": command, "resource": manifest, "http": request}

#: Options that define a step for all its calls, so that a call cannot set them.
_DECLARED = {"action", *daemon.READERS, *library.READERS}


def of_calls(kind: str) -> tuple[str, ...]:
    """The options that a call of a step of the kind may have."""
    return tuple(name for name in KINDS[kind] if name not in _DECLARED)


def kinds_of(name: str) -> tuple[str, ...]:
    """The decorators that have an option; empty if there is no such option."""
    return tuple(WORDS[kind] for kind, readers in KINDS.items() if name in readers)


def settings(
    options: Mapping[str, Any],
    place: Callable[[str], Place],
    known: tuple[str, ...],
    kind: str = "python",
    profile: Profile = NOWHERE,
) -> tuple[Settings, list[Diagnostic]]:
    """The settings that the options of a step of the kind result in on a cluster, and the errors in them.

    `place` returns where an option was written; `known` are the options to choose from.
    """
    read = partial(_read, readers=KINDS[kind], known=known, kind=kind)
    found, diagnostics = _judged(options, place, read, _DOUBTS)
    made = _made(found, profile)
    if not _TOGETHER.isdisjoint(found):
        for name, doubt in _between(made, found, options):
            diagnostics.append(_reported(doubt, place(name)))
    return made, diagnostics


def _made(found: Mapping[str, Any], profile: Profile) -> Settings:
    """The settings that normalized options result in on a cluster."""
    settled: dict[str, Any] = {}
    for word in found:
        for name in _DECIDES.get(word, ()):
            if name not in settled:
                settled[name] = _CONCERNS[name][1](found, profile)
    return together(Settings(**settled))


def conflicts(
    step: StepDef, options: Mapping[str, Any], place: Callable[[str], Place], call: Place
) -> Iterator[Diagnostic]:
    """The conflicts between the options of one call and those of its step, which neither of them has alone.

    `call` is the place of the call, for an option that only the step has.
    """
    if not options or _TOGETHER.isdisjoint((*step.options, *options)):
        return
    known = {
        (name, doubt.finding.message) for one in (step.options, options) for name, doubt in _of(step, one)
    }
    for name, doubt in _of(step, {**step.options, **options}):
        if (name, doubt.finding.message) not in known:
            found = _reported(doubt, place(name) if name in options else call)
            yield found if doubt.place is None else found._replace(related=(Related(call, "in this call"),))


def _of(step: StepDef, options: Mapping[str, Any]) -> Iterator[tuple[str, Wrong]]:
    """The conflicts between such options of a step."""
    found = readable(options, step.kind)
    return _between(_made(found, NOWHERE), found, options)


def _judged(
    options: Mapping[str, Any], place: Callable[[str], Place], read: Reader, doubts: Mapping[str, Doubter]
) -> tuple[dict[str, Any], list[Diagnostic]]:
    """The values of options, each by itself, and the errors and warnings about them."""
    found: dict[str, Any] = {}
    diagnostics: list[Diagnostic] = []
    for name, written in options.items():
        try:
            one = read(name, written)
            if one is _UNSAID:
                continue
            found[name] = one
            if name in doubts:
                diagnostics.extend(_reported(doubt, place(name)) for doubt in doubts[name](written))
        except* Wrong as group:
            diagnostics.extend(_reported(wrong, place(name)) for wrong in flattened(group))
    return found, diagnostics


def readable(options: Mapping[str, Any], kind: str = "python") -> dict[str, Any]:
    """The valid options of a step, normalized; the errors in the others are reported elsewhere."""
    readers = KINDS[kind]
    found: dict[str, Any] = {}
    for name, written in options.items():
        with contextlib.suppress(Wrong, BaseExceptionGroup):
            one = _read(name, written, readers, tuple(readers))
            if one is not _UNSAID:
                found[name] = one
    return found


#: Returns the settings of a step's decorator, computed once.
Declared = Callable[["StepDef"], "tuple[Settings, list[Diagnostic]]"]


def declared(step: StepDef, profile: Profile) -> tuple[Settings, list[Diagnostic]]:
    """The settings of the decorator of a step, and the errors in it."""
    return settings(step.options, step.option, tuple(KINDS[step.kind]), step.kind, profile)


def _read(
    name: str, written: object, readers: Mapping[str, Reader], known: tuple[str, ...], kind: str = ""
) -> Any:
    reader = readers.get(name)
    if reader is None or (name in _DECLARED and name not in known):
        where = (
            "one call" if reader is not None else f"a step under `@{WORDS[kind]}`" if kind else "a pipeline"
        )
        others = kinds_of(name) or (("pipeline",) if kind and name in pipeline.READERS else ())
        word = _DESCRIBING.get(kind)
        describing = word.__name__ if word is not None and name in own_words(word) else ""
        meant = others or describing
        wrong = kinds.OptionOfKind(name, where, others, describing) if meant else UnknownOption(name, known)
        raise Wrong(wrong, "name")
    if written is None and name != "image":
        return _UNSAID
    if name not in _SAID_BY_READER and (
        found := [_fixed(name, one) for one in later(written) if not _is_lock(one)]
    ):
        raise ExceptionGroup("later", found)
    return reader(name, written)


#: The values for None: as if neither a call nor its target set the option.
_UNSAID = object()

#: Options whose readers report values of the run themselves.
_SAID_BY_READER = frozenset(("store",))


def _is_lock(one: Later) -> bool:
    """Whether this is the name of a mutex, the only text in options that may contain fields of the run."""
    *_, last = (None, *one.way)
    return isinstance(last, Field) and (last.of, last.name) == ("Mutex", "name")


def _fixed(name: str, one: Later) -> Wrong:
    """The error for a part of an option that is known only at run time."""
    place: Argument | None = None
    path: tuple[Any, ...] = ()
    owner = ""
    for step in one.way:
        match step:
            case Key(None):
                name = f"a key of {name}"
            case Key(key):
                name, path = f"{name}[{key!r}]", (*path, key)
            case Position(index):
                path = (*path, index)
            case Field(word, argument, site, position):
                name, owner, path = argument, f" of {word}", ()
                place = Argument(site, argument, position)
    held = None if is_value(one.value) else held_in(str(one.value))
    finding = RunTimeOption(name + owner) if held is None else TextType(held)
    return Wrong(finding, path=path, place=None if place is None else place._replace(path=path))


def _reported(wrong: Wrong, place: Place) -> Diagnostic:
    if wrong.place is not None:
        return Diagnostic(wrong.finding, wrong.place)
    if (wrong.part != "value" or wrong.path) and isinstance(place, Argument):
        place = place._replace(part=wrong.part, path=wrong.path)
    return Diagnostic(wrong.finding, place)


#: Options that may conflict with others.
_TOGETHER = frozenset(
    ("action", *daemon.READERS, *companions.READERS, *distributed.READERS, *volumes.READERS)
)


def _between(
    made: Settings, found: Mapping[str, Any], given: Mapping[str, Any]
) -> Iterator[tuple[str, Wrong]]:
    """The conflicts between options: the option at fault, and why."""
    yield from managed.doubts(made, given)
    yield from daemon.doubts(made, found)
    yield from companions.doubts(made)
    yield from distributed.doubts(made, found)
    yield from volumes.doubts(made, found)


def pipeline_options(
    options: Mapping[str, Any], place: Callable[[str], Place]
) -> tuple[dict[str, Any], list[Diagnostic]]:
    """The options of a pipeline, normalized, and the errors in them."""
    read = partial(_read, readers=pipeline.READERS, known=tuple(pipeline.READERS))
    found, diagnostics = _judged(options, place, read, code.DOUBTS)
    diagnostics.extend(_reported(wrong, place(name)) for name, wrong in schedule.lonely(options))
    return found, diagnostics


#: What one call of a pipeline may set, and which of a called pipeline's own options apply.
SUBGRAPH: dict[str, Reader] = {
    "parallelism": pipeline.READERS["parallelism"],
    "retries": control.READERS["retries"],
    "locks": control.READERS["locks"],
}


def subgraph_options(
    options: Mapping[str, Any], place: Callable[[str], Place], known: tuple[str, ...]
) -> tuple[ir.Control, int | None, list[Diagnostic]]:
    """The control and the parallelism that the options of a called pipeline result in, and the errors in them."""

    def read(name: str, written: object) -> Any:
        if name in pipeline.READERS and name not in SUBGRAPH and name not in known:
            raise Wrong(UnknownOption(name, known, " of one call: it is one of `@pipeline`"), "name")
        return _read(name, written, SUBGRAPH, known)

    found, diagnostics = _judged(options, place, read, {})
    return filled_in(ir.Control(), found), found.get("parallelism"), diagnostics


def inherited(owner: PipelineDef, root: PipelineDef) -> dict[str, Any]:
    """The defaults for the steps that a pipeline calls: its own options, then those of the run."""
    if owner is root:
        return {name: root.options[name] for name in INHERITED if name in root.options}
    return {**inherited(root, root), **inherited(owner, owner)}


def applicable(defaults: Mapping[str, Any], step: StepDef, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Those defaults of a pipeline that apply to a step with such options of its own."""
    if not defaults:
        return defaults
    python = step.kind == "python"
    keeps = (
        bool(outputs(step.signature.returns)) and not options.get("distributed") and not options.get("daemon")
    )
    return {
        name: value
        for name, value in defaults.items()
        if name in KINDS[step.kind]
        and (python or name not in code.READERS)
        and (keeps or name not in caching.READERS)
    }


def cached_calls(trace: Trace, root: PipelineDef) -> frozenset[int]:
    """The ids of the calls of steps whose results are cached."""
    found: list[int] = []
    for graph in trace.graphs.values():
        defaults = inherited(graph.owner, root)
        shared = "cache" in defaults
        for call in graph.calls:
            step = call.target
            if not isinstance(step, PipelineDef) and (
                shared or "cache" in step.options or "cache" in call.options
            ):
                own = call.all_options
                options = {**applicable(defaults, step, own), **own}
                if options.get("cache") is True or isinstance(options.get("cache"), Cache):
                    found.append(id(call))
    return frozenset(found)
