"""Times and durations as in Go's package time, with a resolution of a microsecond.

Source: the packages time of Go, and github.com/Masterminds/sprig 3.3.0 for the functions below `sprig.`.
"""

# The type of a value is known only at run time, as in Go.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownMemberType=false

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.evaluation.values import (
    ExpressionError,
    Long,
    NotHere,
    Value,
    duration_text,
    go_type,
    offset_text,
    time_text,
    word,
    zone_name,
)
from flowdsl.grammar.duration import complaint, duration
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_WORD = regex(
    r"January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|1|2006|2|_2(?!006)|3|4|5|PM|pm"
    r"|[Z-]07(?::00:00|0000|:00|00)?|[.,](?:0+|9+)(?!\d)"
)
ZERO = datetime(1, 1, 1, tzinfo=UTC)
_MICRO = timedelta(microseconds=1)


def formatted(layout: str, when: datetime) -> str:
    """A time in one of Go's layouts, such as `2006-01-02 15:04:05`."""
    return _WORD.sub(lambda match: _put(match[0], when), layout)


def _put(word: str, when: datetime) -> str:
    month, day, hour = _MONTHS[when.month - 1], _DAYS[when.isoweekday() % 7], (when.hour - 1) % 12 + 1
    if word[0] in ".,":
        digits = f"{when.microsecond:06d}000"[: len(word) - 1]
        if word[1] == "0":
            return word[0] + digits.ljust(len(word) - 1, "0")
        digits = digits.rstrip("0")
        return word[0] + digits if digits else ""
    if word[0] in "Z-":
        return "Z" if word[0] == "Z" and not when.utcoffset() else offset_text(when, word[1:])
    found: dict[str, object] = {
        "January": month, "Jan": month[:3], "Monday": day, "Mon": day[:3], "MST": zone_name(when),
        "002": f"{when.timetuple().tm_yday:03d}", "01": f"{when.month:02d}", "02": f"{when.day:02d}",
        "03": f"{hour:02d}", "04": f"{when.minute:02d}", "05": f"{when.second:02d}", "06": f"{when.year % 100:02d}",
        "15": f"{when.hour:02d}", "1": when.month, "2006": f"{when.year:04d}", "2": when.day, "_2": f"{when.day:2d}",
        "3": hour, "4": when.minute, "5": when.second, "PM": "PM" if when.hour >= 12 else "AM",
        "pm": "pm" if when.hour >= 12 else "am",
    }  # fmt: skip
    return str(found[word])


_FIELDS = {
    "January": ("month_name", "|".join(_MONTHS)),
    "Jan": ("month_name", "|".join(name[:3] for name in _MONTHS)),
    "Monday": ("", "|".join(_DAYS)),
    "Mon": ("", "|".join(name[:3] for name in _DAYS)),
    "MST": ("zone", "[A-Z]{3,4}"),
    "01": ("month", r"\d\d"),
    "1": ("month", r"\d\d?"),
    "02": ("day", r"\d\d"),
    "2": ("day", r"\d\d?"),
    "_2": ("day", r" ?\d\d?"),
    "15": ("hour", r"\d\d?"),
    "03": ("half", r"\d\d"),
    "3": ("half", r"\d\d?"),
    "04": ("minute", r"\d\d"),
    "4": ("minute", r"\d\d?"),
    "05": ("second", r"\d\d"),
    "5": ("second", r"\d\d?"),
    "06": ("short", r"\d\d"),
    "2006": ("year", r"\d{4}"),
    "PM": ("noon", "AM|PM"),
    "pm": ("noon", "am|pm"),
}


def parsed(layout: str, text: str, zone: tzinfo | None = None) -> datetime:
    """A time parsed by one of Go's layouts, in a zone if it names none. Raises ExpressionError."""
    pattern, end = "", 0
    for match in _WORD.finditer(layout):
        word = match[0]
        pattern += re.escape(layout[end : match.start()])
        end = match.end()
        if word[0] in ".,":
            pattern += (
                rf"(?P<fraction>[.,]\d{{{len(word) - 1}}})" if word[1] == "0" else r"(?P<fraction>[.,]\d+)?"
            )
        elif word[0] in "Z-":
            offset = r"[+-]\d\d" + {"": "", ":00": r":\d\d", "00": r"\d\d"}.get(word[3:], r":?\d\d:?\d\d")
            pattern += f"(?P<offset>{offset}{'|Z' if word[0] == 'Z' else ''})"
        elif word in _FIELDS:
            name, form = _FIELDS[word]
            pattern += f"(?P<{name}>{form})" if name else f"(?:{form})"
            if name == "second" and layout[end : end + 1] not in (".", ","):
                pattern += r"(?P<fraction>[.,]\d+)?"
        else:
            raise ExpressionError(f"times with the layout {layout!r} are not read here")
    pattern += re.escape(layout[end:])
    try:
        whole = re.fullmatch(pattern, text, re.ASCII)
        if whole is None:
            raise ValueError
        return _made({name: value for name, value in whole.groupdict().items() if value is not None}, zone)
    except re.error:
        raise ExpressionError(f"times with the layout {layout!r} are not read here") from None
    except ValueError:
        raise ExpressionError(f'parsing time "{text}" as "{layout}": cannot parse it') from None


def _made(found: dict[str, str], zone: tzinfo | None) -> datetime:
    year = int(found.get("year", "0"))
    if "short" in found:
        year = int(found["short"]) + (1900 if int(found["short"]) >= 69 else 2000)
    if not year:
        raise NotHere("a time without a year is not evaluated here")
    month = int(found.get("month", "1"))
    if "month_name" in found:
        month = next(n for n, name in enumerate(_MONTHS, 1) if name.startswith(found["month_name"]))
    hour = int(found.get("hour", "0"))
    if "half" in found:
        half = int(found["half"])
        if half > 12:
            raise ValueError
        hour = half % 12 + 12 if found.get("noon", "").upper() == "PM" else half
        if found.get("noon", "").upper() == "AM":
            hour = half % 12
    micros = int(found.get("fraction", ".0")[1:7].ljust(6, "0"))
    where: Any = zone or UTC
    if offset := found.get("offset"):
        digits = offset[1:].replace(":", "").ljust(6, "0")
        ahead = timedelta(hours=int(digits[:2] or 0), minutes=int(digits[2:4]), seconds=int(digits[4:]))
        where = timezone(-ahead if offset[0] == "-" else ahead) if ahead else UTC
    elif name := found.get("zone"):
        where = UTC if name == "UTC" else timezone(timedelta(), name)
    day, minute, second = (int(found.get(name, "0")) for name in ("day", "minute", "second"))
    return datetime(year, month, day or 1, hour, minute, second, micros, tzinfo=where)


_LAYOUTS = (
    "2006-01-02",
    "15:04:05",
    "2006-01-02 15:04:05",
    "2006-01-02T15:04:05Z07:00",
    "02 Jan 06 15:04 MST",
    "Monday, 02-Jan-06 15:04:05 MST",
    "Mon, 02 Jan 2006 15:04:05 MST",
)


def date(*given: Value) -> datetime:
    """`date` of expr-lang: a text, optionally with a layout and a zone. Raises ExpressionError."""
    zone = given[0] if isinstance(given[0], tzinfo) else None
    rest: list[Value] = [*given[1:]] if zone else [*given]
    if not rest or not all(isinstance(one, str) for one in rest):
        raise ExpressionError(f"invalid arguments for date: {', '.join(map(go_type, given))}")
    if len(rest) > 2:
        zone = zone_of(rest[2])
    if len(rest) > 1:
        return parsed(rest[1], rest[0], zone)
    for layout in _LAYOUTS:
        try:
            return parsed(layout, rest[0], zone)
        except ExpressionError:
            continue
    raise ExpressionError(f"invalid date {rest[0]}")


def zone_of(name: str) -> tzinfo:
    """A time zone by its name. Raises ExpressionError."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # few expressions use one

    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ExpressionError(f"unknown time zone {name}") from None


def length(text: str) -> timedelta:
    """A duration as Go reads it. Raises ExpressionError."""
    if fault := complaint(text):
        raise ExpressionError(fault)
    return timedelta(seconds=duration(text))


def _truncated(span: timedelta, unit: timedelta) -> timedelta:
    if unit <= timedelta():
        return span
    rest = abs(span) % unit
    return span + rest if span < timedelta() else span - rest


def _rounded(span: timedelta, unit: timedelta) -> timedelta:
    if unit <= timedelta():
        return span
    half = unit / 2 if span >= timedelta() else -unit / 2
    return _truncated(span + half, unit)


def _later(when: datetime, years: int, months: int, days: int) -> datetime:
    """Add years, months and days; a day beyond the end of its month overflows into the next."""
    count = when.year * 12 + when.month - 1 + months + years * 12
    return when.replace(year=count // 12, month=count % 12 + 1, day=1) + timedelta(days=when.day - 1 + days)


def _micros(when: datetime) -> int:
    return (when - datetime(1970, 1, 1, tzinfo=UTC)) // _MICRO


_OF_TIMES: dict[str, Callable[..., Value]] = {
    "Year": lambda when: when.year,
    "Month": lambda when: word(when.month, _MONTHS[when.month - 1], "time.Month"),
    "Day": lambda when: when.day,
    "Hour": lambda when: when.hour,
    "Minute": lambda when: when.minute,
    "Second": lambda when: when.second,
    "Nanosecond": lambda when: when.microsecond * 1000,
    "YearDay": lambda when: when.timetuple().tm_yday,
    "Weekday": lambda when: word(when.isoweekday() % 7, _DAYS[when.isoweekday() % 7], "time.Weekday"),
    "Unix": lambda when: _micros(when) // 10**6,
    "UnixMilli": lambda when: _micros(when) // 1000,
    "UnixMicro": _micros,
    "UnixNano": lambda when: _micros(when) * 1000,
    "Format": lambda when, layout: formatted(layout, when),
    "String": time_text,
    "Add": lambda when, span: when + span,
    "Sub": lambda when, other: when - other,
    "AddDate": _later,
    "Before": lambda when, other: when < other,
    "After": lambda when, other: when > other,
    "Equal": lambda when, other: when == other,
    "Compare": lambda when, other: (when > other) - (when < other),
    "IsZero": lambda when: when == ZERO,
    "UTC": lambda when: when.astimezone(UTC),
    "In": lambda when, zone: when.astimezone(zone),
    "Truncate": lambda when, unit: ZERO.astimezone(when.tzinfo) + _truncated(when - ZERO, unit),
    "Round": lambda when, unit: ZERO.astimezone(when.tzinfo) + _rounded(when - ZERO, unit),
}
_OF_DURATIONS: dict[str, Callable[..., Value]] = {
    "Hours": lambda span: span / timedelta(hours=1),
    "Minutes": lambda span: span / timedelta(minutes=1),
    "Seconds": lambda span: span / timedelta(seconds=1),
    "Milliseconds": lambda span: int(span / timedelta(milliseconds=1)),
    "Microseconds": lambda span: span // _MICRO,
    "Nanoseconds": lambda span: span // _MICRO * 1000,
    "String": duration_text,
    "Abs": abs,
    "Truncate": _truncated,
    "Round": _rounded,
}


def method(base: Value, name: str) -> Callable[..., Value] | None:
    """A method of a time or a duration, or None."""
    found = _OF_TIMES if isinstance(base, datetime) else _OF_DURATIONS if isinstance(base, timedelta) else {}
    return found.get(name)


# --- sprig ---------------------------------------------------------------------------------------------


def _moment(value: Value) -> datetime:
    if isinstance(value, datetime):
        return value
    whole = isinstance(value, int) and not isinstance(value, bool)
    return datetime.fromtimestamp(value, UTC) if whole else datetime.now(UTC)


def _in_zone(layout: str, when: Value, name: str) -> str:
    try:
        zone: Any = zone_of(name)
    except ExpressionError:
        zone = UTC
    return formatted(layout, _moment(when).astimezone(zone))


def _modified(text: str, when: datetime) -> datetime:
    try:
        return when + length(text)
    except ExpressionError:
        return when


def _to_date(layout: str, text: str) -> datetime:
    try:
        return parsed(layout, text)
    except ExpressionError as error:
        if "here" in str(error):
            raise
        return ZERO


def _of_seconds(value: Value) -> str:
    try:
        return duration_text(timedelta(seconds=int(value) if isinstance(value, (str, Long)) else 0))
    except ValueError:
        return "0s"


_UNITS = (("y", 365 * 86400), ("mo", 30 * 86400), ("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def _roughly(value: Value) -> str:
    """A duration in its largest unit only."""
    span = timedelta()
    if isinstance(value, datetime):
        span = datetime.now(UTC) - value
    elif isinstance(value, str):
        with suppress(ExpressionError):
            span = length(value)
    elif isinstance(value, Long):
        span = timedelta(microseconds=value / 1000)
    seconds = abs(span).total_seconds()
    return next((f"{int(seconds // size)}{unit}" for unit, size in _UNITS if seconds > size), "0s")


def _ago(value: Value) -> str:
    return duration_text(_rounded(datetime.now(UTC) - _moment(value), timedelta(seconds=1)))


SPRIG_TIMES: dict[str, Callable[..., Value]] = {
    "now": lambda: datetime.now(UTC),
    "date": lambda layout, when: formatted(layout, _moment(when)),
    "dateInZone": _in_zone,
    "date_in_zone": _in_zone,
    "htmlDate": lambda when: formatted("2006-01-02", _moment(when)),
    "htmlDateInZone": lambda when, zone: _in_zone("2006-01-02", when, zone),
    "dateModify": _modified,
    "date_modify": _modified,
    "mustDateModify": lambda text, when: when + length(text),
    "must_date_modify": lambda text, when: when + length(text),
    "toDate": _to_date,
    "mustToDate": parsed,
    "unixEpoch": lambda when: str(_micros(when) // 10**6),
    "duration": _of_seconds,
    "durationRound": _roughly,
    "ago": _ago,
}
