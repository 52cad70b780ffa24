"""Parses schedules as Argo does: five fields, `@daily` and the like, `@every 1h30m`."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from flowdsl.grammar.duration import duration
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.lalr import Lalr, kind_of, span
from flowdsl.grammar.regex import regex

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
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_WORD = regex(r"@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)")
_FIVE = "five fields: minute, hour, day, month, day of the week"


class NeverComes(GrammarError):
    """A valid schedule with a day that none of its months has."""


def cron(text: str) -> tuple[frozenset[int], ...]:
    """The values that each of the five fields of a schedule allows; none for `@daily` and the like.

    Raises GrammarError, NeverComes for a day that none of its months has. Source: github.com/robfig/cron v3,
    ParseStandard; a time zone in the schedule is rejected, as the full CRD of a CronWorkflow does.
    """
    if _WORD.fullmatch(text):
        return ()
    if (usual := _usual(text.split())) is not None and _comes(usual, "*" in text.split()[4]):
        return usual
    try:
        tree: Any = _lalr().parse(text)
    except GrammarError as error:
        raise _mistake(text, error) from None
    if kind_of(tree) == "every":
        _every(text, tree.children[1])
        return ()
    fields: list[Any] = tree.children
    found = tuple(_field(text, field, position) for position, field in enumerate(fields))
    if not _comes(found, text[span(fields[4])[0]] in "*?"):
        raise NeverComes(text, span(fields[2])[0], span(fields[3])[1], "a day that one of the months has")
    return found


def _usual(fields: list[str]) -> tuple[frozenset[int], ...] | None:
    """The values of fields with only stars and numbers; None if there are others."""
    if len(fields) != len(_FIELDS):
        return None
    found: list[frozenset[int]] = []
    for field, (_, least, most) in zip(fields, _FIELDS, strict=True):
        number = int(field) if field.isascii() and field.isdecimal() and len(field) < 3 else -1
        if field != "*" and not least <= number <= most:
            return None
        found.append(frozenset(range(least, most + 1) if field == "*" else (number,)))
    return tuple(found)


def _comes(found: tuple[frozenset[int], ...], every: bool) -> bool:
    """Whether one of the months has one of the days; if not `every` day of the week, either suffices."""
    return not every or any(_LENGTHS[month - 1] >= min(found[2]) for month in found[3])


@cache
def _lalr() -> Lalr:
    # What is allowed in place of a wrong part depends on its field, and is determined there.
    return Lalr("cron.lark", lambda _, __: "", contextual=True)


def _mistake(text: str, error: GrammarError) -> GrammarError:
    """The error about an invalid schedule: about its part, or the number of fields."""
    if text.startswith("@every "):
        return GrammarError(text, 7, len(text), _TIME)
    if text.startswith("@"):
        usual = "`@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly` or `@every 1h30m`"
        return GrammarError(text, 0, len(text), usual)
    parts = list(re.finditer(r"\S+", text))
    if parts and re.match(r"(?:CRON_)?TZ=", parts[0][0]):
        return GrammarError(text, *parts[0].span(), f"{_FIVE}; the time zone has a field of its own")
    if len(parts) != len(_FIELDS):
        # A missing field is reported at the end, a superfluous one after the last field.
        start = parts[len(_FIELDS)].start() if len(parts) > len(_FIELDS) else len(text)
        return GrammarError(text, start if parts else 0, len(text), _FIVE)
    position = sum(part.end() < error.start for part in parts)
    field = parts[min(position, len(parts) - 1)]
    start = max(field.start(), text.rfind(",", 0, error.start) + 1)
    end = text.find(",", error.start, field.end())
    return _wrong(text, start, field.end() if end < 0 else end, position)


def _wrong(text: str, start: int, end: int, position: int) -> GrammarError:
    name, least, most = _FIELDS[position]
    return GrammarError(text, start, end, f"{name} from {least} to {most}")


_TIME = "a time such as `1h30m`"


def _every(text: str, time: Any) -> None:
    try:
        if duration(time) > 0 and not time.isdecimal():
            return
    except GrammarError as error:
        start = span(time)[0]
        raise GrammarError(text, start + error.start, start + error.end, _TIME) from None
    raise GrammarError(text, *span(time), _TIME)


def _field(text: str, field: Any, position: int) -> frozenset[int]:
    return frozenset(number for choice in field.children for number in _choice(text, choice, position))


def _choice(text: str, choice: Any, position: int) -> range:
    """The values that one part of a field allows: `*`, a number, a range, any of them with a step."""
    _, least, most = _FIELDS[position]
    names = _NAMES.get(position, {})
    what, step = choice.children
    every = 1 if step is None else int(step.children[0])
    if kind_of(what) == "ANY":
        ends = [least, most]
    else:
        words = [str(end) for end in what.children if end is not None]
        ends = [names.get(word.lower(), int(word) if word.isdecimal() else -1) for word in words]
        if len(ends) == 1 and step is not None:  # from there to the end
            ends.append(most)
    if not least <= ends[0] <= ends[-1] <= most or every < 1:
        raise _wrong(text, *span(choice), position)
    return range(ends[0], ends[-1] + 1, every)


def is_zone(name: str) -> bool:
    """Whether a time zone exists; true if this machine has no time zone database."""
    import zoneinfo

    if name in ("UTC", "Local"):
        return True
    zones = zoneinfo.available_timezones()
    return not zones or name in zones
