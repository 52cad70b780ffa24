"""Evaluates label selectors, for objects that no server filters.

Source: k8s.io/apimachinery, pkg/labels/selector.go: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`,
`a>1`, `a<1`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEY, _VALUE = r"[\w./-]+", r"[\w.-]*"
_ONE = regex(
    rf"\s*(?:(?P<key>{_KEY})\s*(?:(?:(?P<sign>==|=|!=)\s*(?P<value>{_VALUE})|(?P<than>[<>])\s*(?P<number>-?\d+))"
    rf"|\s(?P<word>in|notin)\s*\((?P<values>[^()]*)\))?|!\s*(?P<absent>{_KEY}))\s*(?P<end>,|$)",
    re.ASCII,
)

_WHOLE = regex(r"[+-]?\d+", re.ASCII)


def matches(selector: str, labels: Mapping[str, str]) -> bool:
    """Whether a selector matches labels. Raises ValueError for an invalid selector."""
    found = True
    at = 0
    more = bool(selector.strip())
    while more:
        matched = _ONE.match(selector, at)
        if matched is None:
            raise ValueError(f"`{selector[at:].strip() or selector}` is not a condition on labels")
        found = _holds(matched, labels) and found
        at, more = matched.end(), matched["end"] == ","
    return found


def _holds(one: re.Match[str], labels: Mapping[str, str]) -> bool:
    if one["absent"]:
        return one["absent"] not in labels
    has = labels.get(one["key"])
    if one["sign"] == "!=":
        return has != one["value"]
    if one["sign"]:
        return has == one["value"]
    if one["than"]:
        number = int(has) if has is not None and _WHOLE.fullmatch(has) else None
        least = int(one["number"])
        return number is not None and (number > least if one["than"] == ">" else number < least)
    if one["word"]:
        values = {value.strip() for value in one["values"].split(",")}
        return (has in values) == (one["word"] == "in")
    return has is not None
