"""Where `run.checkpoint_dir` may stand, and where the folder is (FD690, FD691)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.checks.branches import uses
from flowdsl.compiler.findings import data as findings
from flowdsl.compiler.options import readable
from flowdsl.diagnostic import Diagnostic
from flowdsl.pipeline import PipelineDef
from flowdsl.places.place import Definition
from flowdsl.values.expr import Checkpoint, children
from flowdsl.volume import Volume

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from flowdsl.compiler.profile import Profile
    from flowdsl.tracing.trace import Call, Graph
    from flowdsl.values.expr import Expr


def kept(call: Call, root: PipelineDef, profile: Profile) -> tuple[Volume, str] | None:
    """The volume and folder of checkpoints: from the call, step, pipelines or the profile."""
    for options in _saying(call, root):
        if "checkpoints" in options:
            return _folder(options)
    if profile.checkpoints is None:
        return None
    name, folder = profile.checkpoints
    volume = Volume(name)
    volume.site = root.site
    if name in profile.volumes:
        volume.mode = profile.volumes[name].mode or volume.mode
    return volume, folder


def apart(call: Call, root: PipelineDef) -> str:
    """A text that distinguishes the checkpoints of a call from those of other calls of the step in the run."""
    owner = call.graph.owner
    first = next((one for one in _saying(call, root) if "checkpoints" in one), None)
    if owner is root or first is not owner.options:
        return ""
    own, usual = _folder(owner.options), _folder(root.options)
    if own is None or (usual is not None and own[0].name == usual[0].name and own[1] == usual[1]):
        return ""
    return f" checkpoints={own[0].name}/{own[1]}"


def _saying(call: Call, root: PipelineDef) -> tuple[Mapping[str, Any], ...]:
    return call.options, call.target.options, call.graph.owner.options, root.options


def _folder(options: Mapping[str, Any]) -> tuple[Volume, str] | None:
    found: tuple[Volume, str] | None = readable({"checkpoints": options.get("checkpoints")}).get(
        "checkpoints"
    )
    return found


def checkpoints(graph: Graph, root: PipelineDef, profile: Profile) -> Iterator[Diagnostic]:
    """The uses of `run.checkpoint_dir` in a graph."""
    if not any(inside(expr) for expr, _, _ in uses(graph)):
        return
    for call in graph.calls:
        for name, expr in call.arguments.items():
            if isinstance(expr, Checkpoint) and not isinstance(call.target, PipelineDef):
                said = any("checkpoints" in one for one in _saying(call, root))  # even if they are wrong
                if not said and kept(call, root, profile) is None:
                    yield Diagnostic(findings.NoCheckpoints(call.target.name), call.argument(name))
            elif inside(expr):
                yield Diagnostic(findings.CheckpointUse(), call.argument(name))
        columns = () if call.loop is None else (call.loop.lists, *(call.loop.rows or ())[:1])
        for column in columns:
            for name, expr in column.items():
                if inside(expr):
                    yield Diagnostic(findings.CheckpointUse(), call.argument(name))
    if graph.result is not None and inside(graph.result):
        yield Diagnostic(findings.CheckpointUse(), Definition(graph.owner.code, "return", "value"))


def inside(expr: Expr) -> bool:
    """Whether a value contains the folder of checkpoints."""
    return isinstance(expr, Checkpoint) or any(map(inside, children(expr)))
