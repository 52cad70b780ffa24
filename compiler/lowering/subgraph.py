"""Options of a called pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.ir import Control
from flowdsl.compiler.options import SUBGRAPH, subgraph_options
from flowdsl.grammar.named import NamedTuple
from flowdsl.places.place import Argument

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.places.place import Place
    from flowdsl.tracing.trace import Call


class Own(NamedTuple):
    """The options of a called pipeline, or of one call of it; `places` by option."""

    control: Control = Control()
    parallelism: int | None = None
    places: Mapping[str, Place] = {}

    @property
    def spelled(self) -> str:
        """What distinguishes templates of a pipeline; empty without options."""
        return repr(self[:2]) if self[:2] != SILENT[:2] else ""


SILENT = Own()


def own(call: Call) -> Own:
    """The options of a called pipeline: those of its decorator that apply to a part of a run too."""
    target = call.target
    declared = {name: target.options[name] for name in SUBGRAPH if name in target.options}
    if not declared and not call.options:
        return SILENT
    places = {name: target.option(name) for name in declared}
    if call.override is not None:
        places |= {name: Argument(call.override, name) for name in call.options}
    # Errors in them were reported by the checks.
    control, parallelism, _ = subgraph_options({**declared, **call.options}, places.__getitem__, ())
    return Own(control, parallelism, places)
