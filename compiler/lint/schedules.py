"""Schedules of a CronWorkflow can come true, in a time zone that exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.tree import inside
from flowdsl.compiler.problem import Problem
from flowdsl.diagnostic import Finding
from flowdsl.grammar.cron import NeverComes, cron, is_zone
from flowdsl.grammar.error import GrammarError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.view import View


class BadSchedule(Finding):
    """A schedule or time zone that Argo cannot read, or that never comes."""

    code = "FD570"
    title = "{found}"
    help = "{way}"
    found: str
    way: str


def schedules(view: View) -> Iterator[Problem]:
    """The schedules of a CronWorkflow can come true, in a time zone that exists."""
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
            finding = BadSchedule(found, "write five fields: minute, hour, day, month, day of the week")
            yield Problem(("spec", "schedules", index), finding, part=(error.start, error.end))
    zone: str = spec.get("timezone") or ""
    if zone and not is_zone(zone):
        way = "write a name of the time zone database, such as `Europe/Berlin`"
        yield Problem(("spec", "timezone"), BadSchedule(f"there is no time zone `{zone}`", way))
