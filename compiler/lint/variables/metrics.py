"""Metrics that Argo refuses, that measure nothing, or that it leaves out with a warning."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.lint.variables import conditions, reading
from flowdsl.compiler.lint.variables.kinds import GO_NUMBER
from flowdsl.compiler.lint.variables.scope import OF_METRICS
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.schema.validate import is_number
from flowdsl.compiler.tree import entries, inside, string
from flowdsl.diagnostic import Finding, near
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flowdsl.compiler.lint.manifest.view import Template, View
    from flowdsl.compiler.tree import Object, Path


class BadMetric(Finding):
    """A metric that Argo refuses or that measures nothing."""

    code = "FD567"
    title = "metric `{name}` {found}"
    help = "{way}"
    name: str
    found: str
    way: str


METRIC_KINDS = ("gauge", "counter", "histogram")

_TAG = regex(r"\{\{ *([\w.]+) *\}\}")


def metrics(view: View) -> Iterator[Problem]:
    """Metrics measure something, at a time when it is known. Source: Argo Workflows, computeMetrics."""
    first: dict[str, Object] = {}
    entry = view.named.get(view.setting("entrypoint"))
    measured = {view.path: entry, **{template.path: template for template in view.templates}}
    for owner, path in view.owners:
        for index, metric in enumerate(entries(owner, "metrics", "prometheus")):
            place = (*path, "metrics", "prometheus", index)
            yield from _alike(first.setdefault(string(metric, "name"), metric), metric, place)
            yield from _values(metric, place)
            yield from _gauge(metric, place, owner is view.spec)
            yield from _when(metric, (*place, "when"))
            yield from _names(metric, place, measured.get(path), whole=owner is view.spec)


def _alike(first: Object, metric: Object, place: Path) -> Iterator[Problem]:
    """The finding about a metric that differs from the first of its name. Source: matchExistingMetric."""
    name = string(metric, "name")
    if first is metric:
        return
    kind, other = (next((kind for kind in METRIC_KINDS if kind in each), "") for each in (metric, first))
    way = "measure the same in both, with labels for what differs, or give it another name"
    if kind and other and kind != other:
        yield Problem(
            (*place, kind), BadMetric(name, f"is a {other} already, and no {kind}", way), on_key=True
        )
    texts = [string(each, "help") for each in (metric, first)]
    if kind == other and all(texts) and texts[0] != texts[1] and "{{" not in "".join(texts):
        yield Problem(
            (*place, "help"), BadMetric(name, "has another `help` already", "write the same `help`")
        )


def _values(metric: Object, place: Path) -> Iterator[Problem]:
    """The findings about the kind of a metric, and its value as it is written."""
    name = string(metric, "name")
    kinds = [kind for kind in METRIC_KINDS if metric.get(kind) is not None]
    if len(kinds) != 1:
        found = "is of several kinds: " + ", ".join(kinds) if kinds else "is of no kind"
        yield Problem(place, BadMetric(name, found, "give exactly one of gauge, counter and histogram"))
    for kind in kinds:
        text = string(metric, kind, "value")
        if text and "{{" not in text and GO_NUMBER.fullmatch(text) is None:
            way = "write a number, or a tag that gives one"
            yield Problem((*place, kind, "value"), BadMetric(name, f"has the value `{text}`", way))
    buckets: list[Any] = inside(metric, "histogram").get("buckets") or []
    for index, (one, other) in enumerate(pairwise(buckets), 1):
        if is_number(one) and is_number(other) and other <= one:
            path = (*place, "histogram", "buckets", index)
            found = f"has the bucket {other} behind {one}"
            yield Problem(path, BadMetric(name, found, "write the bounds of the buckets in rising order"))


def _gauge(metric: Object, place: Path, is_whole: bool) -> Iterator[Problem]:
    """The finding about a gauge that is measured while something runs: how long that has taken."""
    gauge, name = inside(metric, "gauge"), string(metric, "name")
    text = string(gauge, "value")
    if not gauge.get("realtime") or not text:
        return
    if "resourcesDuration." in text:
        way = "set `realtime: false`: the resources are known at the end"
        yield Problem((*place, "gauge"), BadMetric(name, "reads `resourcesDuration` while running", way))
        return
    tag, known = (
        _TAG.fullmatch(text),
        ("workflow.duration",) if is_whole else ("duration", "workflow.duration"),
    )
    if tag is None or tag[1] not in known:
        way = f"write `{{{{{known[0]}}}}}`, or set `realtime: false`"
        finding = BadMetric(name, f"is measured while running, where `{text}` is not known", way)
        yield Problem((*place, "gauge", "value"), finding)


def _when(metric: Object, path: Path) -> Iterator[Problem]:
    """The findings about a condition without tags; those of others are found with their tags."""
    text = string(metric, "when")
    if text and "{{" not in text and not conditions.plain(text):
        yield from (fault.at(path) for fault in reading.condition(text))


def _names(metric: Object, place: Path, template: Template | None, *, whole: bool) -> Iterator[Problem]:
    """The findings about variables that metrics do not have; `template`: what is measured, where that is known.

    `whole`: it is the whole run. Source: Argo Workflows, prepareMetricScope.
    """
    running = bool(inside(metric, "gauge").get("realtime"))
    values = [kind for kind in METRIC_KINDS if not (running and kind == "gauge")]
    texts: list[tuple[Path, str]] = [((field,), string(metric, field)) for field in ("name", "help", "when")]
    texts += (((kind, "value"), string(metric, kind, "value")) for kind in values)
    for index, label in enumerate(entries(metric, "labels")):
        texts.append((("labels", index, "value"), string(label, "value")))
    for fields, text in texts:
        for tag in tags(text) if "{{" in text else ():
            name = tag.body.strip()
            if tag.kind != "simple":
                continue
            known = _known(name, template, whole=whole)
            if known and name not in known:
                found = f"names `{name}`, which metrics do not have"
                finding = BadMetric(string(metric, "name"), found, _way(name, known))
                yield Problem((*place, *fields), finding, part=(tag.start, tag.end))


def _known(name: str, template: Template | None, *, whole: bool) -> Sequence[str]:
    """The variables of which one has to be one that metrics have; none where other rules look at it."""
    root, _, rest = name.partition(".")
    if not rest:
        return OF_METRICS if root.isidentifier() and root != "item" else ()
    leaf = template is not None and template.is_leaf and not whole
    if template is None or root not in (("outputs",) if leaf else _OF_TEMPLATES):
        return ()
    own = [f"inputs.parameters.{each}" for each in template.parameters]
    outputs = [f"outputs.parameters.{each}" for each in template.output_parameters]
    return (*OF_METRICS, *own, "outputs.result", *outputs)


_OF_TEMPLATES = ("inputs", "outputs", "tasks", "steps", "item", "pod")


def _way(name: str, known: Sequence[str]) -> str:
    """What was probably meant by a variable that metrics do not have, as something to do."""
    above, _, last = name.rpartition(".")
    if above and last in OF_METRICS:
        return f"write `{{{{{last}}}}}`"
    close = near(last, [each.rpartition(".")[2] for each in known if each.rpartition(".")[0] == above])
    meant = f"{above}.{close}".lstrip(".")
    return f"write `{{{{{meant}}}}}`" if close else f"known here: {', '.join(f'`{each}`' for each in known)}"
