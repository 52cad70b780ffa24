"""Schedules: when they come, and what a mistake is answered with."""

from __future__ import annotations

import pytest

from flowdsl.grammar.cron import cron
from flowdsl.grammar.error import GrammarError


@pytest.mark.parametrize(
    ("text", "position", "allowed"),
    [
        ("0 3 * * *", 0, {0}),
        ("0 3 * * *", 4, set(range(7))),
        ("*/15 * * * *", 0, {0, 15, 30, 45}),
        ("5/20 * * * ?", 0, {5, 25, 45}),
        ("0 9-17/4 * * *", 1, {9, 13, 17}),
        ("0 0 1,15 * *", 2, {1, 15}),
        ("0 0 1 jan,JUL-sep *", 3, {1, 7, 8, 9}),
        ("  0 0 * *  mon-fri ", 4, {1, 2, 3, 4, 5}),
        ("0 0 30 2 1", 2, {30}),
    ],
)
def test_what_a_field_allows(text: str, position: int, allowed: set[int]) -> None:
    assert cron(text)[position] == allowed


@pytest.mark.parametrize("text", ["@daily", "@midnight", "@every 1h30m", "@every 90s"])
def test_words(text: str) -> None:
    assert cron(text) == ()


@pytest.mark.parametrize(
    ("text", "found", "expected"),
    [
        ("", "", "five fields"),
        ("0 3 * *", "", "five fields"),
        ("0 3 * * * *", "*", "five fields"),
        ("TZ=UTC 0 3 * * *", "TZ=UTC", "a field of its own"),
        ("0 25 * * *", "25", "an hour from 0 to 23"),
        ("0 3 * * 1-9", "1-9", "a day of the week from 0 to 6"),
        ("0 3 * * mon-", "mon-", "a day of the week from 0 to 6"),
        ("0,60,x 3 * * *", "60", "a minute from 0 to 59"),
        ("0,6.0,5 3 * * *", "6.0", "a minute from 0 to 59"),
        ("*/0 3 * * *", "*/0", "a minute from 0 to 59"),
        ("mon 3 * * *", "mon", "a minute from 0 to 59"),
        ("0 3 30 2 *", "30 2", "a day that one of the months has"),
        ("@dayly", "@dayly", "`@daily`"),
        ("@every 1 hour", "1 hour", "a time such as `1h30m`"),
        ("@every 90", "90", "a time such as `1h30m`"),
        ("@every ", "", "a time such as `1h30m`"),
        ("@every  5m", " 5m", "a time such as `1h30m`"),
    ],
)
def test_what_argo_could_not_read(text: str, found: str, expected: str) -> None:
    with pytest.raises(GrammarError) as caught:
        cron(text)
    assert (caught.value.found, expected in caught.value.expected) == (found, True)
