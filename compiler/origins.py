"""Maps parts of a manifest to places in the user's file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.tree import is_description
from flowdsl.diagnostic import AGAIN, Diagnostic, Related
from flowdsl.grammar.regex import regex
from flowdsl.places.place import Argument, Definition, Site
from flowdsl.values import types as t

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType

    from flowdsl.compiler.argo import Manifest
    from flowdsl.compiler.problem import Problem
    from flowdsl.compiler.tree import Path
    from flowdsl.diagnostic import Finding
    from flowdsl.places.place import Place
    from flowdsl.places.source import Sources
    from flowdsl.tracing.trace import Call, Trace


_WORDS = {
    "activeDeadlineSeconds": "`timeout` of the pipeline",
    "pendingTimeout": "`queue_timeout`",
    "maxDuration": "`within`",
    "retryPolicy": "`policy`",
    "successCondition": "`success`",
    "failureCondition": "`failure`",
    "mirrorVolumeMounts: true": "`mirror=True`",
    "retryStrategy.affinity": "`elsewhere` of Retry",
}
"""The options that fields of Argo are written for, where their names differ."""
_FIELD = regex(rf"`({'|'.join(map(re.escape, _WORDS))})`")


def placed(problem: Problem, manifest: Manifest, traces: Iterable[Trace]) -> Diagnostic | None:
    """A problem of a manifest at the source text that determines it; None where no text of the user does."""
    place, *others = (_placed(each, manifest, traces) for each in (problem, *problem.also))
    if place is None:
        return None
    related = tuple(Related(other, AGAIN) for other in others if other not in (None, place))
    return Diagnostic(_worded(problem.finding, place), place, related)


def _worded(finding: Finding, place: Place) -> Finding:
    """A finding about an option, with the language's names for fields that the user did not write."""
    if not isinstance(place, Argument) or place.name == "argo":
        return finding
    return finding.with_texts(lambda text: _FIELD.sub(lambda found: _WORDS[found[1]], text))


def in_source(one: Diagnostic, sources: Sources) -> Diagnostic:
    """A finding that quotes an expression, with the Python text that it was compiled from."""
    from flowdsl.compiler.lint.variables.typing_findings import FailsByDefault, Uncomputable

    finding, place = one.finding, one.place
    if not isinstance(finding, (FailsByDefault, Uncomputable)):
        return one
    if not isinstance(place, Argument) or place.name == "argo":
        return one
    span = sources.resolve(place)
    if span is None or span == sources.resolve(place.site) or span.line != span.end_line:
        return one
    text = "".join(sources.excerpt(span))[span.column - 1 : span.end_column - 1]
    quoted = finding.found
    if not text or quoted in text:  # an option, in which the user wrote an Argo expression
        return one
    return one._replace(finding=finding.with_texts(lambda said: text if said == quoted else said))


def _placed(problem: Problem, manifest: Manifest, traces: Iterable[Trace]) -> Place | None:
    place = origin(manifest, problem.path)
    if place is None:
        return None
    if problem.on_key and isinstance(place, Argument) and place.path[-1:] == problem.path[-1:]:
        place = place._replace(part="key")
    return _exact(place, manifest, problem.path, traces)


def origin(manifest: Manifest, path: Path) -> Place | None:
    """The source location of the innermost part of a path that a text of the user determines."""
    # An error of an object as a whole is reported at its pipeline.
    found = None if path else manifest.origins.get((id(manifest.body), "spec"))
    node: Any = manifest.body
    for key in path:
        found = manifest.origins.get((id(node), key), found)
        try:
            node = node[key]
        except (KeyError, IndexError, TypeError):
            break
    return found


def _exact(place: Place, manifest: Manifest, path: Path, traces: Iterable[Trace]) -> Place:
    """The argument or default that a path leads to, if the place is that of its call or pipeline.

    Only done for what is reported: to note it for every argument would cost more than the search.
    """
    name = _parameter(manifest, path)
    if isinstance(place, Definition) and place.name is None and name is not None:
        return place._replace(name=name, part="annotation" if is_description(path) else "default")
    if isinstance(place, Definition) and place.name is None and (port := _output(manifest, path)) is not None:
        return place._replace(name="return", part=_part(place.code, port, traces))
    if not isinstance(place, Site):
        return place
    call = _call(place, traces)
    if call is None:
        return place
    name = name and _of_call(call, name)
    if call.loop is not None and name not in call.loop.lists and ("withItems" in path or "withParam" in path):
        return Argument(place, "over")
    return place if name is None else call.argument(name)


def _parameter(manifest: Manifest, path: Path) -> str | None:
    """The name of the argument that a path leads to, `... arguments parameters 0 value`, or of what it describes."""
    if path[-4:-2] != ("arguments", "parameters") and not is_description(path):
        return None
    node: Any = manifest.body
    for key in path[:-1]:
        node = node[key]
    return str(node["name"])


def _output(manifest: Manifest, path: Path) -> str | None:
    """The name of the output of a graph that a path leads to: `dag` beside `outputs parameters 0 ...`."""
    if "outputs" not in path:
        return None
    at = path.index("outputs")
    node: Any = manifest.body
    for key in path[:at]:
        node = node[key]
    if "dag" not in node or len(path) < at + 3:
        return None
    return str(node["outputs"][path[at + 1]][path[at + 2]]["name"])


def _part(code: CodeType, port: str, traces: Iterable[Trace]) -> str:
    """The part of what a pipeline returns that an output belongs to; those of a record are separate outputs."""
    graphs = (graph for trace in traces for graph in trace.graphs.values() if graph.owner.code is code)
    outs = (out for graph in graphs for out in t.outputs(graph.owner.signature.returns))
    keys = next((out.keys for out in outs if port == out.name or port.startswith(f"{out.name}-")), ())
    return f"item:{keys[0]}" if keys else "value"


def _call(site: Site, traces: Iterable[Trace]) -> Call | None:
    return next((call for trace in traces for call in trace.calls if call.site is site), None)


def _of_call(call: Call, port: str) -> str:
    """The parameter that a port belongs to: the parts of a record are separate ports."""
    names = [parameter.name for parameter in call.target.signature.parameters]
    return next((name for name in names if port == name or port.startswith(f"{name}-")), port)
