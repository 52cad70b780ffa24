"""What a user puts on top of what is written: `argo={...}`, plain JSON that only the compiler's end reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from flowdsl.compiler.findings.objects import NotJson
from flowdsl.compiler.findings.options import OptionType
from flowdsl.compiler.ir import Patch
from flowdsl.compiler.options.reading import Wrong, said
from flowdsl.places.place import Argument
from flowdsl.step import StepDef

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.options.reading import Reader
    from flowdsl.compiler.tree import Path
    from flowdsl.places.place import Place
    from flowdsl.tracing.trace import Call

TASK = "task"
"""The entry of a step's patch for its tasks, not its template."""

METADATA, CRON = "metadata", "cron"
"""The entries of a pipeline's patch for its object, not for the spec of its runs."""


def of_template(call: Call) -> tuple[Patch, ...]:
    """The patches of the template of a call: that of the step, then that of the call."""
    if "argo" not in call.options and "argo" not in call.target.options:
        return ()
    return tuple(
        one._replace(fields={field: value for field, value in one.fields.items() if field != TASK})
        for one in _of(call)
        if one.fields.keys() - {TASK}
    )


def of_task(call: Call) -> tuple[Patch, ...]:
    """The patches of the task of a call: that of the step, then that of the call."""
    found = [
        (cast("Mapping[str, object]", one.fields[TASK]), one.place) for one in _of(call) if TASK in one.fields
    ]
    return tuple(Patch(fields, place) for fields, place in found)


def own(call: Call) -> str:
    """What the call alone patches in its template, as text that distinguishes templates."""
    if "argo" not in call.options:
        return ""
    if call.options["argo"] is None:
        return " argo=None" if call.target.options.get("argo") is not None else ""
    return "".join(f" argo={one.fields!r}" for one in of_template(call)[-1:] if one.place == _place(call))


def _of(call: Call) -> Iterator[Patch]:
    """The patches of a call of a step, whose options were found to be valid."""
    step = call.target
    if isinstance(step, StepDef):
        for options, place in ((step.options, Argument(step.site, "argo")), (call.options, _place(call))):
            if options.get("argo") is not None and call.options.get("argo", ...) is not None:
                yield Patch(read("argo", options["argo"]), place)


def _place(call: Call) -> Place:
    return Argument(call.override or call.site, "argo")


def read(name: str, written: object) -> dict[str, Any]:
    """A patch as plain dicts, lists and scalars; raises a group of `Wrong` for what JSON cannot represent."""
    if not isinstance(written, Mapping):
        raise Wrong(OptionType(name, "a dict of Argo's fields", said(written)))
    wrong: list[Wrong] = []
    found = _plain(cast("object", written), (), wrong, ())
    for part in (TASK, METADATA, CRON):
        inner = cast("Mapping[object, object]", written).get(part, {})
        if not isinstance(inner, Mapping):
            have = OptionType(f"{name}[{part!r}]", "a dict of Argo's fields", said(inner))
            wrong.append(Wrong(have, path=(part,)))
    if wrong:
        raise ExceptionGroup("patch", wrong)
    return cast("dict[str, Any]", found)


def _plain(value: Any, path: Path, wrong: list[Wrong], around: tuple[int, ...]) -> object:
    if value is None or isinstance(value, (bool, str)):
        if isinstance(value, str) and not _is_utf8(value):
            wrong.append(Wrong(NotJson("a string with half a character"), path=path))
        return value
    elif isinstance(value, (int, float)):
        if not math.isfinite(value) or not -(2**63) <= value < 2**63:
            wrong.append(Wrong(NotJson(f"the number {said(value)}"), path=path))
        return value
    elif (key := id(cast("object", value))) in around:
        wrong.append(Wrong(NotJson("something that holds itself"), path=path))
    elif isinstance(value, Mapping):
        return _mapping(cast("Mapping[object, object]", value), path, wrong, (*around, key))
    elif isinstance(value, (list, tuple)):
        entries = enumerate(cast("list[object]", value))
        return [_plain(one, (*path, index), wrong, (*around, key)) for index, one in entries]
    else:
        wrong.append(Wrong(NotJson(f"a `{type(value).__name__}`"), path=path))
    return None


def _mapping(
    given: Mapping[object, object], path: Path, wrong: list[Wrong], around: tuple[int, ...]
) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, one in given.items():
        if not isinstance(key, str) or not _is_utf8(key):
            wrong.append(Wrong(NotJson(f"the key {said(key)}"), path=path))
            continue
        found[key] = _plain(one, (*path, key), wrong, around)
    return found


def _is_utf8(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


READERS: dict[str, Reader] = {"argo": read}
