"""The options of a step or pipeline, judged and in one form.

Each concern has one module here, as in `flowdsl.options`, `ir` and `argo`: a reader for each of its options, and
what they come to together. A new option is a row in the `READERS` of its concern.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from flowdsl.cache import Cache
from flowdsl.compiler import mistakes
from flowdsl.compiler.ir import Settings
from flowdsl.compiler.options import caching, code, control, environment, pipeline, placement, resources
from flowdsl.compiler.options.reading import Reader, Wrong
from flowdsl.diagnostic import Diagnostic
from flowdsl.gpu import GPU
from flowdsl.pipeline import PipelineDef
from flowdsl.place import Argument, Place
from flowdsl.types import outputs
from flowdsl.value import is_value

if TYPE_CHECKING:
    from flowdsl.step import StepDef
    from flowdsl.trace import Trace

_READERS: dict[str, Reader] = {
    **environment.READERS,
    **resources.READERS,
    **placement.READERS,
    **control.READERS,
    **code.READERS,
    **caching.READERS,
}
STEP_OPTIONS = tuple(_READERS)
_DOUBTED = frozenset(("gpu", "env", "packages", "code"))
#: Options of a pipeline that hold for the steps which say nothing themselves.
INHERITED = (*code.READERS, *caching.READERS)


def settings(
    options: Mapping[str, Any], place: Callable[[str], Place], known: tuple[str, ...]
) -> tuple[Settings, list[Diagnostic]]:
    """The settings that options come to, and what is wrong with them.

    `place` says where an option was written.
    """
    found: dict[str, Any] = {}
    diagnostics: list[Diagnostic] = []
    for name, written in options.items():
        try:
            found[name] = _read(name, written, _READERS, known)
            if name in _DOUBTED:
                diagnostics.extend(_reported(doubt, place(name)) for doubt in _doubts(name, written))
        except* Wrong as group:
            diagnostics.extend(_reported(wrong, place(name)) for wrong in _each(group))
    made = Settings(
        resources.settled(found),
        placement.settled(found),
        environment.settled(found),
        control.settled(found),
        code.settled(found),
        caching.settled(found),
    )
    return made, diagnostics


#: Gives the settings of a step's decorator, made once.
Declared = Callable[["StepDef"], "tuple[Settings, list[Diagnostic]]"]


def declared(step: StepDef) -> tuple[Settings, list[Diagnostic]]:
    """The settings that the decorator of a step asks for, and what is wrong with them."""
    return settings(step.options, partial(Argument, step.site), STEP_OPTIONS)


def _read(name: str, written: object, readers: Mapping[str, Reader], known: tuple[str, ...]) -> Any:
    reader = readers.get(name)
    if reader is None:
        raise Wrong(mistakes.UnknownOption(name, known), "name")
    if is_value(written):
        raise Wrong(mistakes.RunTimeOption(name))
    return reader(name, written)


def _each(group: BaseExceptionGroup[Wrong]) -> Iterator[Wrong]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _each(error)
        else:
            yield error


def _reported(wrong: Wrong, place: Place) -> Diagnostic:
    if wrong.part != "value" and isinstance(place, Argument):
        place = place._replace(part=wrong.part)
    return Diagnostic(wrong.finding, place)


def _doubts(name: str, written: Any) -> Iterator[Wrong]:
    """What can be used as written, and is probably not meant."""
    if name == "gpu" and isinstance(written, GPU):
        yield from resources.gpu_doubts(written)
    elif name == "env":
        yield from environment.env_doubts(written)
    elif name in code.READERS:
        yield from code.doubts(name, written)


def pipeline_options(
    options: Mapping[str, Any], place: Callable[[str], Place]
) -> tuple[dict[str, Any], list[Diagnostic]]:
    """The options of a pipeline in one form, and what is wrong with them."""
    found: dict[str, Any] = {}
    diagnostics: list[Diagnostic] = []
    for name, written in options.items():
        try:
            found[name] = _read(name, written, pipeline.READERS, tuple(pipeline.READERS))
            if name in code.READERS:
                diagnostics.extend(_reported(doubt, place(name)) for doubt in code.doubts(name, written))
        except* Wrong as group:
            diagnostics.extend(_reported(wrong, place(name)) for wrong in _each(group))
    return found, diagnostics


def inherited(owner: PipelineDef, root: PipelineDef) -> dict[str, Any]:
    """What the steps that a pipeline calls find where they say nothing: its own words, then those of the run."""
    if owner is root:
        return {name: root.options[name] for name in INHERITED if name in root.options}
    return {**inherited(root, root), **inherited(owner, owner)}


def applicable(defaults: Mapping[str, Any], step: StepDef) -> Mapping[str, Any]:
    """Those defaults of a pipeline that mean something for a step."""
    if not defaults:
        return defaults
    python = step.kind == "python"
    keeps = bool(outputs(step.signature.returns))
    return {
        name: value
        for name, value in defaults.items()
        if (python or name not in code.READERS) and (keeps or name not in caching.READERS)
    }


def cached_calls(trace: Trace, root: PipelineDef) -> frozenset[int]:
    """The ids of the calls of steps whose results are kept."""
    found: list[int] = []
    for graph in trace.graphs.values():
        defaults = inherited(graph.owner, root)
        shared = "cache" in defaults
        for call in graph.calls:
            step = call.target
            if not isinstance(step, PipelineDef) and (
                shared or "cache" in step.options or "cache" in call.options
            ):
                options = {**applicable(defaults, step), **step.options, **call.options}
                if options.get("cache") is True or isinstance(options.get("cache"), Cache):
                    found.append(id(call))
    return frozenset(found)
