"""Metrics that Argo rejects or leaves out, or that measure nothing."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.kinds import PROGRAM_BODIES
from flowdsl.compiler.lint.variables import reading
from flowdsl.compiler.lint.variables.kinds import GO_NUMBER
from flowdsl.compiler.lint.variables.metric_variables import Measured
from flowdsl.compiler.lint.variables.unreplaced import left_open
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries_at, inside, is_number, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path


class BadMetric(Finding):
    """A metric that Argo refuses, or that measures nothing."""

    code = "FD567"
    title = "metric `{name}` {found}"
    help = "{way}"
    name: str
    found: str
    way: str


METRIC_KINDS = ("gauge", "counter", "histogram")

_WORDS = ("node.name", "pod.name", "status", "workflow.failures", "workflow.name", "workflow.status")
"""Variables with a value that is never a number."""

_TAG = regex(r"\{\{ *([\w.]+) *\}\}")


def metrics(view: View) -> Iterator[Problem]:
    """Metrics measure something that is known at the time. Source: Argo Workflows, computeMetrics."""
    first: dict[str, Object] = {}
    measured = {view.path: view.first, **{template.path: template for template in view.templates}}
    for owner, path in view.owners:
        for place, metric in entries_at(owner, path, "metrics", "prometheus"):
            yield from _named(metric, (*place, "name"))
            yield from _alike(first.setdefault(string(metric, "name"), metric), metric, place)
            yield from _values(metric, place)
            yield from _gauge(metric, place, owner is view.spec)
            template = measured.get(path)
            told = template is not None and template.is_leaf and owner is not view.spec
            yield from _when(metric, (*place, "when"), told)
            yield from _names(metric, place, Measured(view, template, whole=owner is view.spec))
            if template is not None and _is_never_kept(view, template, whole=owner is view.spec):
                yield from _results(metric, place)


_OWN = frozenset(
    (
        *("client_rate_limiter_latency", "cronworkflows_concurrencypolicy_triggered", "deprecated_feature"),
        *("cronworkflows_triggered_total", "error_count", "gauge", "is_leader", "k8s_request_duration"),
        *("k8s_request_total", "locks_held", "locks_pending", "locks_taken_total", "log_messages"),
        *("operation_duration_seconds", "pod_missing", "pod_pending_count", "pod_restarts_total"),
        *("pods_gauge", "pods_total_count", "queue_adds_count", "queue_depth_gauge", "queue_duration"),
        *("queue_latency", "queue_longest_running", "queue_retries", "queue_unfinished_work"),
        *("resource_rate_limiter_latency", "total_count", "version", "workers_busy_count"),
        *("workflow_condition", "workflowtemplate_runtime", "workflowtemplate_triggered_total"),
    )
)
"""Argo's own metrics. Source: Argo Workflows, util/telemetry/metrics_list.go."""


def _named(metric: Object, place: Path) -> Iterator[Problem]:
    """The finding about a metric name that Argo does not accept.

    Source: validateInstrumentName in the SDK of OpenTelemetry for Go, and AddInstrument in util/telemetry of
    Argo 4.1.
    """
    name = string(metric, "name")
    if name.startswith("_"):
        way = "begin the name with a letter"
        yield Problem(place, BadMetric(name, "is not measured: its name begins with `_`", way))
    elif name in _OWN:
        yield Problem(place, BadMetric(name, "is one of Argo's own", f"give it another name: `my_{name}`"))


def _is_never_kept(view: View, template: Template, *, whole: bool) -> bool:
    """Whether Argo certainly stores no result of a pod: it looks for a use of it in the template that calls the pod.

    Source: Argo Workflows, includeScriptOutput.
    """
    if template.body not in PROGRAM_BODIES or not view.runs or view.external:
        return False
    if whole or view.begins_or_ends_with(template):
        return True
    calls = view.callers.get(id(template), ())
    return bool(calls) and all(
        call.parent is None and call.name not in call.owner.results_used for call in calls
    )


def _results(metric: Object, place: Path) -> Iterator[Problem]:
    """The findings about uses of a result that Argo does not store."""
    for fields, text in _texts(metric):
        for tag in tags(text) if "outputs.result" in text else ():
            if "outputs.result" in tag.names:
                found = (
                    "names `outputs.result`, which Argo does not keep: no task reads the result of this one"
                )
                way = "write the value to a file, and name an output parameter that comes from it"
                finding = BadMetric(string(metric, "name"), found, way)
                yield Problem((*place, *fields), finding, part=(tag.start, tag.end))


def _alike(first: Object, metric: Object, place: Path) -> Iterator[Problem]:
    """The finding about a metric that differs from the first one of its name. Source: matchExistingMetric."""
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
    """The findings about the type of a metric, and its literal value."""
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
        tag = _TAG.fullmatch(text)
        if tag is not None and tag[1] in _WORDS:
            way = "measure a number, such as `1`, and put the word into the value of a label"
            found = f"measures `{tag[1]}`, which is a word and no number"
            yield Problem((*place, kind, "value"), BadMetric(name, found, way), part=tag.span())
    buckets: list[Any] = inside(metric, "histogram").get("buckets") or []
    for index, (one, other) in enumerate(pairwise(buckets), 1):
        if is_number(one) and is_number(other) and other <= one:
            path = (*place, "histogram", "buckets", index)
            found = f"has the bucket {other} after {one}"
            yield Problem(path, BadMetric(name, found, "write the bounds of the buckets in rising order"))


def _gauge(metric: Object, place: Path, is_whole: bool) -> Iterator[Problem]:
    """The finding about a realtime gauge, which can only measure a duration."""
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


def _when(metric: Object, path: Path, told: bool) -> Iterator[Problem]:
    """The findings about a condition; `told`: conditions with tags are reported with the tags, as for a leaf."""
    text = string(metric, "when")
    if told and "{{" in text:
        return
    if not any(map(left_open, tags(text))):
        yield from (fault.at(path) for fault in reading.condition(text))


def _names(metric: Object, place: Path, measured: Measured) -> Iterator[Problem]:
    """The findings about variables that metrics do not have."""
    name = string(metric, "name")
    # In others, tags that look like Argo's are reported with the other texts.
    of_graph = measured.template is not None and not (measured.is_leaf or measured.whole)
    for fields, text in _texts(metric):
        path = (*place, *fields)
        for tag in tags(text) if "{{" in text else ():
            if tag.kind == "unclosed" and (of_graph or not left_open(tag)):
                found, way = (
                    "has a tag without its closing braces",
                    "write `{{...}}`, with two braces at each end",
                )
                yield Problem(path, BadMetric(name, found, way), part=(tag.start, tag.end))
        for each in measured.strange(text):
            yield Problem(path, BadMetric(name, each.found, each.way), part=each.part)
        yield from measured.of_workflow(path, text)


def _texts(metric: Object) -> Iterator[tuple[Path, str]]:
    """The texts of a metric that may have tags, each with its path; that of a gauge only if it is not realtime."""
    running = bool(inside(metric, "gauge").get("realtime"))
    for field in ("name", "help", "when"):
        yield (field,), string(metric, field)
    for kind in METRIC_KINDS:
        if not (running and kind == "gauge"):
            yield (kind, "value"), string(metric, kind, "value")
    for place, label in entries_at(metric, (), "labels"):
        yield (*place, "value"), string(label, "value")
