"""Durations as Argo reads them: `90`, `1h30m`, `500ms`."""

from __future__ import annotations

import re

from flowdsl.grammar.error import GrammarError

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
_UNIT = "|".join(_SECONDS)
_WHOLE = re.compile(r"[+-]?[0-9]+")
_DURATION = re.compile(rf"([+-]?)((?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:{_UNIT}))+)")
_PART = re.compile(rf"([0-9]*\.?[0-9]*)({_UNIT})")
_LONGEST = 2**63 / 1e9  # Go counts nanoseconds in 63 bits, about 292 years

_WORDS = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z\u00b5\u03bc]+)", re.IGNORECASE)
_MEANT = {
    "ms": ("ms", "msec", "msecs", "millisecond", "milliseconds"),
    "s": ("s", "sec", "secs", "second", "seconds"),
    "m": ("m", "min", "mins", "minute", "minutes"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
}
_HOURS = {"d": 24, "day": 24, "days": 24, "w": 168, "week": 168, "weeks": 168}


def duration(text: str) -> float:
    """The seconds that a duration stands for; it may be negative.

    Either a whole number of seconds, or numbers with the units ns us ms s m h in any order. Raises
    GrammarError; common mistakes (`5 minutes`, `1d`) are answered with the right spelling.
    Source: Argo Workflows, ParseStringToDuration, and time.ParseDuration of Go.
    """
    if _WHOLE.fullmatch(text):
        seconds = float(text)
    elif match := _DURATION.fullmatch(text):
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(match[2]))
        seconds = -seconds if match[1] == "-" else seconds
    else:
        raise GrammarError(text, 0, len(text), _meant(text))
    if abs(seconds) > _LONGEST:
        raise GrammarError(text, 0, len(text), "at most 292 years")
    return seconds


def _meant(text: str) -> str:
    """What may stand in place of a text that is not a duration."""
    usual = "a duration such as `90s`, `5m` or `1h30m`"
    if re.fullmatch(r"[0-9]*\.[0-9]+", text):
        return f"a unit, as in `{text}s` or `{text}m`"
    parts = _WORDS.findall(text)
    if not parts or _WORDS.sub("", text).replace(",", "").replace("and", "").strip():
        return usual
    spelt = ""
    for number, word in parts:
        unit = next((unit for unit, words in _MEANT.items() if word.lower() in words), None)
        if unit is not None:
            spelt += number + unit
        elif word.lower() in _HOURS:
            spelt += f"{float(number) * _HOURS[word.lower()]:g}h"
        else:
            return usual
    return f"`{spelt}`"
