"""Outputs of tasks and steps in volumes of the spec, which the calls that mount them wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import BODY_OF
from flowdsl.compiler.lint.variables.failures import Missing
from flowdsl.compiler.lint.variables.outputs import Outputs
from flowdsl.compiler.lint.variables.texts import strings
from flowdsl.compiler.lint.variables.uses import (
    Late,
    Place,
    Spot,
    late_problems,
    producer_of,
)
from flowdsl.compiler.tree import entries_at, string
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Call, Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.problem import Problem


def mounted(view: View) -> Iterator[Problem]:
    """A task or step that mounts a volume of the spec waits for those whose outputs the volume names.

    Source: Argo Workflows, substituteParamsInVolumes, which has the outputs of the calls before this one.
    """
    in_volumes: dict[str, list[InVolume]] = {}
    for each in _in_volumes(view):
        in_volumes.setdefault(each.volume, []).append(each)
    late: list[Late] = []
    for graph in view.templates if in_volumes else ():
        outputs = Outputs(view, graph, late)
        for call in graph.calls:
            named = (one for volume in _mounted(call.callee) for one in in_volumes.get(volume, ()))
            for _, name, spot, alone in named:
                producer = _producer(graph, name)
                if producer is not None:
                    yield from outputs.order(spot, graph, producer, call)
                    use = Missing(name, spot.path, True, alone)
                    yield from outputs.missing(spot, Place(graph, call), use)
    yield from late_problems(late)


class InVolume(NamedTuple):
    """An output of a task or step, in a volume of the spec with a name: where, and whether it is the whole text."""

    volume: str
    name: str
    spot: Spot
    alone: bool


def _in_volumes(view: View) -> Iterator[InVolume]:
    """The outputs of tasks and steps that the volumes of the spec name, if only one graph has a call of that name.

    Else the value is that of the graph that Argo comes to first.
    """
    for place, volume in entries_at(view.spec, view.path, "volumes"):
        for path, text in strings(volume, place):
            for tag in tags(text) if "{{" in text else ():
                name = tag.body.strip()
                graphs = (_producer(each, name) for each in view.templates)
                if (
                    tag.kind == "simple"
                    and name.partition(".")[0] in BODY_OF
                    and sum(each is not None for each in graphs) == 1
                ):
                    spot, alone = Spot.of_name(path, name, tag), len(tag.body) + 4 == len(text)
                    yield InVolume(string(volume, "name"), name, spot, alone)


def _producer(graph: Template, name: str) -> Call | None:
    """The task or step of a graph of which a variable is an output, if any."""
    root, _, rest = name.partition(".")
    return producer_of(graph, root, rest.partition(".")[0])


def _mounted(template: Template | None) -> dict[str, None]:
    """The names of the volumes that the pods of a template mount."""
    mounts = () if template is None else template.mounts
    return dict.fromkeys(string(mount, "name") for _, mount in mounts)
