"""Schedules of a CronWorkflow can come true, in a time zone that exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.tree import inside
from flowdsl.compiler.problem import Problem
from flowdsl.diagnostic import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.view import View


class BadSchedule(Finding):
    """A schedule or time zone that Argo cannot read."""

    code = "FD570"
    title = "{found}"
    help = "{way}"
    found: str
    way: str


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of the month", 1, 31),
    ("month", 1, 12),
    ("day of the week", 0, 6),
)
_NAMES = {
    3: {name: number for number, name in enumerate(_MONTHS, 1)},
    4: {name: number for number, name in enumerate(_DAYS)},
}


def schedules(view: View) -> Iterator[Problem]:
    """The schedules of a CronWorkflow can come true, in a time zone that exists."""
    if view.kind != "CronWorkflow":
        return
    spec = inside(view.document, "spec")
    for index, schedule in enumerate(spec.get("schedules") or ()):
        if reason := _schedule_fault(schedule):
            found = f"the schedule `{schedule}` cannot be read: {reason}"
            finding = BadSchedule(found, "write five fields: minute, hour, day, month, day of the week")
            yield Problem(("spec", "schedules", index), finding)
    zone: str = spec.get("timezone") or ""
    if zone and not _is_zone(zone):
        way = "write a name of the time zone database, such as `Europe/Berlin`"
        yield Problem(("spec", "timezone"), BadSchedule(f"there is no time zone `{zone}`", way))


def _schedule_fault(schedule: str) -> str:
    """What is wrong with a schedule, or nothing. Source: github.com/robfig/cron v3, ParseStandard."""
    if schedule.startswith("@"):
        return ""  # the schema knows these words
    parts = schedule.split()
    if len(parts) != len(_FIELDS):
        return f"it has {len(parts)} fields"
    for position, (part, (name, least, most)) in enumerate(zip(parts, _FIELDS, strict=True)):
        for choice in part.split(","):
            if not _is_choice(choice, least, most, _NAMES.get(position, {})):
                return f"`{choice}` is no {name} from {least} to {most}"
    return ""


def _is_choice(text: str, least: int, most: int, names: dict[str, int]) -> bool:
    """Whether one part of a cron field is `*`, a number, a range, any of them with a step."""
    span, slash, step = text.partition("/")
    if slash and not (step.isascii() and step.isdigit() and int(step) > 0):
        return False
    if span in ("*", "?"):
        return True
    ends = [
        names.get(end.lower(), int(end) if end.isascii() and end.isdigit() else -1) for end in span.split("-")
    ]
    return len(ends) <= 2 and least <= ends[0] <= ends[-1] <= most


def _is_zone(name: str) -> bool:
    """Whether a time zone exists; true where this machine has no time zones to look into."""
    import zoneinfo

    if name in ("UTC", "Local"):
        return True
    zones = zoneinfo.available_timezones()
    return not zones or name in zones
