"""Schedules as Argo reads them: five fields, `@daily` and the like, `@every 1h30m`."""

from __future__ import annotations

import re

from flowdsl.grammar.duration import duration
from flowdsl.grammar.error import GrammarError

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (
    ("a minute", 0, 59),
    ("an hour", 0, 23),
    ("a day of the month", 1, 31),
    ("a month", 1, 12),
    ("a day of the week", 0, 6),
)
_NAMES = {
    3: {name: number for number, name in enumerate(_MONTHS, 1)},
    4: {name: number for number, name in enumerate(_DAYS)},
}
_WORDS = ("yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly")
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_USUAL = "five fields: minute, hour, day, month, day of the week"


def cron(text: str) -> tuple[frozenset[int], ...]:
    """What each of the five fields of a schedule allows; nothing for `@daily` and the like.

    Raises GrammarError, also for a day that none of its months has. Source: github.com/robfig/cron v3,
    ParseStandard; a time zone in the schedule is refused, as the full CRD of a CronWorkflow does.
    """
    if text.startswith("@"):
        _word(text)
        return ()
    parts = list(re.finditer(r"\S+", text))
    if not parts:
        raise GrammarError(text, 0, len(text), _USUAL)
    if re.match(r"(?:CRON_)?TZ=", parts[0][0]):
        raise GrammarError(text, *parts[0].span(), f"{_USUAL}; the time zone stands beside the schedule")
    if len(parts) != len(_FIELDS):
        # What is missing is missed at the end, what is too much begins behind the last field.
        start = parts[len(_FIELDS)].start() if len(parts) > len(_FIELDS) else len(text)
        raise GrammarError(text, start, len(text), _USUAL)
    found = [_field(text, part, position) for position, part in enumerate(parts)]
    days, months = found[2], found[3]
    every = parts[4][0][0] in "*?"  # else a day of either sort will do
    if every and not any(_LENGTHS[month - 1] >= min(days) for month in months):
        raise GrammarError(text, parts[2].start(), parts[3].end(), "a day that one of the months has")
    return tuple(found)


def _word(text: str) -> None:
    if text.startswith("@every "):
        try:
            if duration(text[7:].strip()) > 0 and not text[7:].strip().isdigit():
                return
        except GrammarError:
            pass
        raise GrammarError(text, 7, len(text), "a time such as `1h30m`")
    if text[1:] not in _WORDS:
        usual = "`@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly` or `@every 1h30m`"
        raise GrammarError(text, 0, len(text), usual)


def _field(text: str, part: re.Match[str], position: int) -> frozenset[int]:
    found: set[int] = set()
    at = part.start()
    for choice in part[0].split(","):
        found.update(_choice(text, at, choice, position))
        at += len(choice) + 1
    return frozenset(found)


def _choice(text: str, at: int, choice: str, position: int) -> range:
    """What one part of a field allows: `*`, a number, a range, any of them with a step."""
    name, least, most = _FIELDS[position]
    names = _NAMES.get(position, {})
    wrong = GrammarError(text, at, at + len(choice), f"{name} from {least} to {most}")
    span, slash, step = choice.partition("/")
    if slash and not (_is_number(step) and int(step) > 0):
        raise wrong
    if span in ("*", "?"):
        ends = [least, most]
    else:
        ends = [names.get(end.lower(), int(end) if _is_number(end) else -1) for end in span.split("-")]
        if len(ends) == 1 and slash:  # from there on
            ends.append(most)
    if len(ends) > 2 or not least <= ends[0] <= ends[-1] <= most:
        raise wrong
    return range(ends[0], ends[-1] + 1, int(step) if slash else 1)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def is_zone(name: str) -> bool:
    """Whether a time zone exists; true where this machine has no time zones to look into."""
    import zoneinfo

    if name in ("UTC", "Local"):
        return True
    zones = zoneinfo.available_timezones()
    return not zones or name in zones
