"""Parses durations as Argo does: `90`, `1h30m`, `500ms`; and as users write them, with weeks and days: `7d`."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.lalr import Lalr, kind_of
from flowdsl.grammar.regex import regex

_SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "\u00b5s": 1e-6,
    "\u03bcs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
}
_USUAL = regex(r"[0-9]+|(?:[0-9]+(?:ms|[smh]))+")
_USUAL_PART = regex(r"([0-9]+)(ms|[smh])?")
_GO_NUMBER = regex(r"[0-9]+\.?[0-9]*|\.[0-9]+")
_GO_UNIT = regex(r"[^0-9.]+")
_LONGEST = 2**63 / 1e9  # Go counts nanoseconds in 63 bits, about 292 years

_LONG = regex(r"(?=[0-9]+[wd])(?:([0-9]+)w)?(?:([0-9]+)d)?(?:([0-9]+)h)?(.*)", re.DOTALL)
_WORDS = regex(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z\u00b5\u03bc]+)", re.IGNORECASE)
_MEANT = {
    "ms": ("ms", "msec", "msecs", "millisecond", "milliseconds"),
    "s": ("s", "sec", "secs", "second", "seconds"),
    "m": ("m", "min", "mins", "minute", "minutes"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
}
_HOURS = {"d": 24, "day": 24, "days": 24, "w": 168, "week": 168, "weeks": 168}


def duration(text: str) -> float:
    """A duration in seconds; it may be negative.

    Either a whole number of seconds, or numbers with the units ns us ms s m h in any order. Raises
    GrammarError; common mistakes (`5 minutes`, `1d`) are answered with the right spelling.
    Source: Argo Workflows, ParseStringToDuration, and time.ParseDuration of Go.
    """
    if _USUAL.fullmatch(text):
        seconds = sum(float(number) * _SECONDS[unit or "s"] for number, unit in _USUAL_PART.findall(text))
    else:
        seconds = _read(text)
    if abs(seconds) > _LONGEST:
        raise GrammarError(text, 0, len(text), "at most 292 years")
    return seconds


def complaint(text: str) -> str:
    """Go's error about an invalid duration, such as a number without a unit; empty for a valid one.

    Source: time.ParseDuration of Go.
    """
    quoted = f'duration "{text}"'
    rest = text[1:] if text.startswith(("+", "-")) else text
    if rest == "0":
        return ""
    seconds = 0.0
    while number := _GO_NUMBER.match(rest):
        rest = rest[number.end() :]
        unit = _GO_UNIT.match(rest)
        if unit is None:
            return f"time: missing unit in {quoted}"
        if unit[0] not in _SECONDS:
            return f'time: unknown unit "{unit[0]}" in {quoted}'
        rest = rest[unit.end() :]
        seconds += float(number[0]) * _SECONDS[unit[0]]
        if not rest and seconds <= _LONGEST:
            return ""
    return f"time: invalid {quoted}"


def in_hours(text: str) -> str:
    """A duration that may have weeks and days, converted to units that Argo has: `1d12h` is `36h`."""
    matched = _LONG.fullmatch(text)
    if matched is None:
        return text
    weeks, days, hours = (int(number or 0) for number in matched.groups()[:3])
    return f"{weeks * 168 + days * 24 + hours}h{matched[4]}"


def in_units(seconds: float) -> str:
    """A number of seconds as a duration: `1h30m`, `0.5s`."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    parts = ((hours, "h"), (minutes, "m"), (rest, "s"))
    return "".join(f"{number:g}{unit}" for number, unit in parts if number) or "0s"


def seconds_in(text: str) -> float:
    """The seconds of a duration as users write it. Raises GrammarError."""
    try:
        return duration(in_hours(text))
    except GrammarError as error:
        raise GrammarError(text, 0, len(text), error.expected) from None


def _read(text: str) -> float:
    try:
        tree: Any = _lalr().parse(text)
    except GrammarError as error:
        meant = _meant(text)
        # A known correction is one of the whole text.
        start = error.start if meant == _ANY else 0
        raise GrammarError(text, start, len(text), meant) from None
    sign, *parts = tree.children
    if kind_of(tree) == "seconds":
        seconds = float(parts[0])
    else:
        pairs = (part.children for part in parts)
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in pairs)
    return -seconds if sign == "-" else seconds


@cache
def _lalr() -> Lalr:
    return Lalr("duration.lark", lambda _, __: _ANY)


_ANY = "a duration such as `90s`, `5m` or `1h30m`"


def _meant(text: str) -> str:
    """What is allowed in place of a text that is not a duration."""
    if re.fullmatch(r"[0-9]*\.[0-9]+", text):
        return f"a unit, as in `{text}s` or `{text}m`"
    parts = _WORDS.findall(text)
    if not parts or _WORDS.sub("", text).replace(",", "").replace("and", "").strip():
        return _ANY
    spelt = ""
    for number, word in parts:
        unit = next((unit for unit, words in _MEANT.items() if word.lower() in words), None)
        if unit is not None:
            spelt += number + unit
        elif word.lower() in _HOURS:
            spelt += f"{float(number) * _HOURS[word.lower()]:g}h"
        else:
            return _ANY
    return f"`{spelt}`"
