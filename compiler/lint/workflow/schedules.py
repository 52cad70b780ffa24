"""Schedules, time zones and `when` of a CronWorkflow: values that are invalid or never come true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.problem import Problem, Various
from flowdsl.compiler.tree import inside, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar import expression_tree as t
from flowdsl.grammar import govaluate
from flowdsl.grammar.cron import NeverComes, cron, is_zone
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.expression import parse
from flowdsl.grammar.template import Tag, masked, tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object


class BadSchedule(Various):
    """A schedule, time zone or condition that Argo cannot read, or a schedule that never starts a run."""

    code = "FD570"


class BelowZero(Finding):
    """A number of runs to keep that is below zero: Argo ignores it."""

    code = "FD792"
    severity = "warning"
    title = "`{field}: {limit}` is ignored"
    label = "{kept}"
    help = "write how many runs to keep: 0 for none, or a large number for all"
    field: str
    limit: str
    kept: str


def schedules(view: View) -> Iterator[Problem]:
    """The schedules of a CronWorkflow match some time, in an existing time zone."""
    if view.kind != "CronWorkflow":
        return
    spec = inside(view.document, "spec")
    for index, schedule in enumerate(spec.get("schedules") or ()):
        try:
            cron(schedule)
        except NeverComes as error:
            found = f"the schedule `{schedule}` never comes: none of its months has the day"
            finding = BadSchedule(found, f"name {error.expected}")
            yield Problem(("spec", "schedules", index), finding, part=(error.start, error.end))
        except GrammarError as error:
            found = f"the schedule `{schedule}` cannot be read: {error}"
            finding = BadSchedule(found, _way(error))
            yield Problem(("spec", "schedules", index), finding, part=(error.start, error.end))
    zone: str = spec.get("timezone") or ""
    if zone and not is_zone(zone):
        way = "write a name of the time zone database, such as `Europe/Berlin`"
        yield Problem(("spec", "timezone"), BadSchedule(f"there is no time zone `{zone}`", way))
    yield from _when(spec)
    if spec.get("stopStrategy") is not None and not string(spec, "stopStrategy", "expression"):
        way = "write when no run is to begin any more, such as `cronworkflow.failed >= 3`"
        yield Problem(("spec", "stopStrategy"), BadSchedule("`stopStrategy` has no `expression`", way))
    for field, kept in _KEPT.items():
        limit = spec.get(field)
        if isinstance(limit, int) and limit < 0:
            yield Problem(("spec", field), BelowZero(field, str(limit), kept))


_KEPT = {
    "failedJobsHistoryLimit": "the last failed run is kept",
    "successfulJobsHistoryLimit": "the last 3 runs that succeeded are kept",
}
"""The number of runs that Argo keeps by default. Source: enforceHistoryLimit in workflow/cron/operator.go."""


def _way(error: GrammarError) -> str:
    """The fix for an invalid part of a schedule."""
    if error.expected.startswith("a time"):
        return "write hours, minutes and seconds: a day is `24h`"
    if "time zone" in error.expected:
        return "write the zone as `timezone`, and the five fields alone"
    for field, words in _IN_WORDS.items():
        if error.expected.startswith(field):
            return f"write {words}; a range such as `1-5`, upwards; a step such as `*/2`; or several, with commas"
    return "write five fields: minute, hour, day, month, day of the week"


_IN_WORDS = {
    "a day of the week": "`SUN` to `SAT`, or 0 for Sunday to 6",
    "a month": "`JAN` to `DEC`, or 1 to 12",
    "a ": "a number or `*`",
}
"""The valid values of the fields of a schedule, fields with names first."""


def _when(spec: Object) -> Iterator[Problem]:
    """The findings about the condition of a CronWorkflow; if it cannot be evaluated, no run starts.

    Unlike in the condition of a step, an unquoted word is a variable, and there are none. Source: Argo
    Workflows, shouldExecute and expressionEnv in workflow/cron/operator.go.
    """
    text = string(spec, "when")
    try:
        parts = list(govaluate.walk(govaluate.parse(masked(text)))) if text else []
    except GrammarError:
        return  # which is reported with other conditions
    for word in parts:
        if not isinstance(word, govaluate.Text) or word.quoted:
            continue
        written = text[word.start : word.end]
        if all(one.kind != "expression" and one.body.strip() in _TEXTS for one in tags(written)):
            finding = BadSchedule(
                f"`{written}` in `when` of a CronWorkflow needs quotes", f"write `'{written}'`"
            )
            yield Problem(("spec", "when"), finding, part=(word.start, word.end))
    for tag in tags(text):
        if tag.kind == "simple" and tag.body.strip() in _NUMBERS and len(text.strip()) == tag.end - tag.start:
            finding = BadSchedule(
                f"`{text.strip()}` is a number, and no condition", "compare it, as in `{{...}} < 3`"
            )
            yield Problem(("spec", "when"), finding, part=(tag.start, tag.end))
        if tag.kind == "expression" and _never_begins(tag):
            found = f"`{'.'.join(_LAST)}` is nil until a run has begun, and none begins"
            finding = BadSchedule(found, f"write `{'.'.join(_LAST)} == nil || ...`")
            yield Problem(("spec", "when"), finding, part=(tag.start, tag.end))


_TEXTS = ("cronworkflow.name", "cronworkflow.namespace")
_NUMBERS = ("cronworkflow.failed", "cronworkflow.succeeded")
_LAST = ("cronworkflow", "lastScheduledTime")


def _never_begins(tag: Tag) -> bool:
    """Whether an expression uses the time of the last run without a check for nil."""
    try:
        nodes = list(t.walk(parse(tag.body)))
    except GrammarError:
        return False
    guards = (isinstance(one, t.Literal) and one.value is None for one in nodes)
    return any(t.path(one) == _LAST for one in nodes) and not any(guards)
