"""Steps that write to a read-only path: one on a volume, or a read-only mount."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flowdsl.compiler.checks.paths import root
from flowdsl.compiler.findings.bodies import WritesReadOnly
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.places.place import Definition
from flowdsl.values.expr import OnVolume
from flowdsl.values.later import known_options
from flowdsl.values.lift import is_dict
from flowdsl.volume import Mountable, Named, VolumePath

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flowdsl.compiler.checks.body import Body
    from flowdsl.places.place import Place
    from flowdsl.tracing.trace import Call


def read_only(body: Body) -> Iterator[Diagnostic]:
    """Unconditional writes below a path that one of the calls passes read-only."""
    if not body.variables.writes:
        return
    step, every = body.step, body.given
    options = [{**known_options(step.options), **known_options(call.options)} for call in every]
    if not every or any("argo" in one for one in options):
        return
    for call in body.variables.certain:
        path = body.variables.writes.get(call)
        if path is None or not isinstance(call, ast.Call):
            continue
        first = root(path, body.variables)
        given: tuple[Place, str] | None = None
        if isinstance(first, ast.Name) and first.id not in body.variables.times:
            given = _argument(every, first.id)
        elif (
            isinstance(first, ast.Constant)
            and isinstance(first.value, str)
            and all(_is_read_only(one.get("mounts"), first.value) for one in options)
        ):
            given = (Definition(step.code), "mounted read-only here")
        if given is not None:
            finding = WritesReadOnly(step.name, ast.unparse(path))
            yield Diagnostic(finding, body.module.span(call), (Related(*given),))


def _argument(calls: Sequence[Call], name: str) -> tuple[Place, str] | None:
    """The place where a call passes a path on a volume for a parameter."""
    for call in calls:
        if isinstance(call.arguments.get(name), OnVolume):
            return call.argument(name), "given here: mounted read-only"
    return None


def _is_read_only(mounts: object, path: str) -> bool:
    """Whether a path is in a read-only mount."""
    if not is_dict(mounts):
        return False
    around = [at for at in mounts if isinstance(at, str) and f"{path}/".startswith(f"{at.rstrip('/')}/")]
    volume: object = mounts[max(around, key=len)] if around else None
    if isinstance(volume, VolumePath):
        volume = volume.volume
    return isinstance(volume, Named) or (isinstance(volume, Mountable) and volume.read_only)
