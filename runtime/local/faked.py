"""Converts fake values for the outputs of steps to the texts and paths that `Fakes` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.encode import encode
from flowdsl.compiler.forms import DIGEST, ROWS
from flowdsl.compiler.ports import Writer, layout
from flowdsl.compiler.steps.script import write
from flowdsl.runtime.parts import part, several
from flowdsl.values import types as t

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Json = dict[str, Any]


def in_place_of(step: str, output: t.Output, value: object, template: Json, folder: Path) -> Iterator[str]:
    """One output and its companions, each as `step.name=text`. Raises WrongValue, OSError.

    The response of a request has no name in Argo: it is `step=text`. A file is given by its path, or by an empty
    text if there is none; a value with several files is written to `folder`.
    """
    name, kind = output.name, output.type
    declared = {str(one["name"]) for one in several(part(template, "outputs"), "parameters")}
    if not t.holds_file(kind):
        yield f"{step}.{name}={encode(value, kind)}" if name in declared else f"{step}={encode(value, kind)}"
        return
    beside = [one for one in (DIGEST + name, ROWS + name) if one in declared]
    if layout(kind) == "file" and not beside:
        yield f"{step}.{name}={'' if value is None else value}"
        return
    place = folder / step
    path, digest, rows = (str(place / one) for one in (name, DIGEST + name, ROWS + name))
    writer = Writer(
        name,
        (),
        kind,
        path,
        digest=digest if DIGEST + name in beside else "",
        rows=rows if ROWS + name in beside else "",
    )
    place.mkdir(parents=True, exist_ok=True)
    write(step, value, [writer])
    yield f"{step}.{name}={'' if value is None and layout(kind) == 'file' else path}"
    for one in beside:
        yield f"{step}.{one}={(place / one).read_text(encoding='utf-8')}"
