"""Quantities and durations: what they stand for, and what a mistake is answered with."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowdsl.grammar.duration import duration, in_hours, seconds_in
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.quantity import quantity, spelled

DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", "0"),
        ("2", "2"),
        ("+2", "2"),
        ("-1.5", "-1.5"),
        (".5", "0.5"),
        ("1.", "1"),
        ("500m", "0.5"),
        ("1k", "1000"),
        ("1Ki", "1024"),
        ("1.5Gi", "1610612736"),
        ("40Gi", "42949672960"),
        ("1e3", "1000"),
        ("1E3", "1000"),
        ("1E", "1000000000000000000"),
        ("12e-2", "0.12"),
        ("123456789012345678901234567890Ei", str(123456789012345678901234567890 * 2**60)),
    ],
)
def test_quantities(text: str, value: str) -> None:
    assert quantity(text) == Decimal(value)


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("0", "0"),
        ("0.5", "0.5"),
        ("1536", "1536"),
        ("1048576", "1Mi"),
        ("1610612736", "1536Mi"),
        ("8589934592", "8Gi"),
        ("2199023255552", "2Ti"),
        ("1E+19", "10000000000000000000"),
    ],
)
def test_an_amount_is_spelled_in_the_largest_unit_of_which_it_is_a_whole_number(
    amount: str, text: str
) -> None:
    assert spelled(Decimal(amount)) == text
    assert quantity(text) == Decimal(amount)


@given(st.integers(0, 10**40), st.integers(0, 999), st.sampled_from([*DECIMAL, *BINARY]))
def test_a_quantity_is_exact(whole: int, thousandths: int, suffix: str) -> None:
    factor = 10 ** DECIMAL[suffix] if DECIMAL.get(suffix, -1) >= 0 else 1
    factor *= 1024 ** BINARY.get(suffix, 0)
    divisor = 10 ** -min(DECIMAL.get(suffix, 0), 0) * 1000
    numerator, denominator = quantity(f"{whole}.{thousandths:03}{suffix}").as_integer_ratio()
    assert numerator * divisor == (whole * 1000 + thousandths) * factor * denominator


@pytest.mark.parametrize(
    ("text", "expected", "found"),
    [
        ("8GB", "`8G` or `8Gi`", "GB"),
        ("8gb", "`8G` or `8Gi`", "gb"),
        ("64kb", "`64k` or `64Ki`", "kb"),
        ("8K", "`8k` or `8Ki`", "K"),
        ("8gi", "`8Gi`", "gi"),
        ("8GiB", "`8Gi`", "GiB"),
        ("4 Gi", "`4Gi`", " Gi"),
        ("2 cores", "`2`", " cores"),
        (" 4 ", "`4` without white space", " 4 "),
        ("4x", "a suffix of n u m k M G T P E or Ki Mi Gi Ti Pi Ei", "x"),
        ("50%", "a suffix of n u m k M G T P E or Ki Mi Gi Ti Pi Ei", "%"),
        ("1e1.5", "a suffix of n u m k M G T P E or Ki Mi Gi Ti Pi Ei", "e1.5"),
        ("1e1000", "a suffix of n u m k M G T P E or Ki Mi Gi Ti Pi Ei", "e1000"),
        ("four", "a number with an optional suffix, such as `2`, `500m` or `4Gi`", "four"),
        ("", "a number with an optional suffix, such as `2`, `500m` or `4Gi`", ""),
        ("٤", "a number with an optional suffix, such as `2`, `500m` or `4Gi`", "٤"),
        ("4\n", "`4` without white space", "4\n"),
    ],
)
def test_a_wrong_quantity_names_the_right_one(text: str, expected: str, found: str) -> None:
    with pytest.raises(GrammarError) as caught:
        quantity(text)
    assert (caught.value.expected, caught.value.found) == (expected, found)
    assert caught.value.text == text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("90", 90),
        ("-90", -90),
        ("90s", 90),
        ("5m", 300),
        ("1h30m", 5400),
        ("30m1h", 5400),
        ("1m1m", 120),
        ("1.5h", 5400),
        (".5s", 0.5),
        ("1.s", 1),
        ("-5s", -5),
        ("+1h1s", 3601),
        ("250ms", 0.25),
        ("4us", 4e-6),
        ("4µs", 4e-6),
        ("4μs", 4e-6),
        ("7ns", 7e-9),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "hours", "seconds"),
    [
        ("7d", "168h", 604800),
        ("1d12h", "36h", 129600),
        ("2w1d", "360h", 1296000),
        ("1d30m", "24h30m", 88200),
        ("90", "90", 90),
        ("90m", "90m", 5400),
    ],
)
def test_durations_of_users_have_days_and_weeks(text: str, hours: str, seconds: float) -> None:
    assert (in_hours(text), seconds_in(text), duration(hours)) == (hours, seconds, seconds)


@pytest.mark.parametrize("text", ["1d30", "1.5d", "12h1d", "d", "1d1d"])
def test_what_is_no_duration_of_users(text: str) -> None:
    with pytest.raises(GrammarError) as caught:
        seconds_in(text)
    assert caught.value.found == text


@given(st.integers(0, 2**40), st.integers(0, 59), st.integers(0, 59))
def test_parts_of_a_duration_add_up(hours: int, minutes: int, seconds: int) -> None:
    text = f"{hours % 10**5}h{minutes}m{seconds}s"
    assert duration(text) == (hours % 10**5) * 3600 + minutes * 60 + seconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5 minutes", "`5m`"),
        ("5 min", "`5m`"),
        ("1d", "`24h`"),
        ("1.5 days", "`36h`"),
        ("2 weeks", "`336h`"),
        ("1h 30m", "`1h30m`"),
        ("1 hour and 30 minutes", "`1h30m`"),
        ("5M", "`5m`"),
        ("10S", "`10s`"),
        ("1.5", "a unit, as in `1.5s` or `1.5m`"),
        ("1 fortnight", "a duration such as `90s`, `5m` or `1h30m`"),
        ("soon", "a duration such as `90s`, `5m` or `1h30m`"),
        ("", "a duration such as `90s`, `5m` or `1h30m`"),
        ("9999999h", "at most 292 years"),
        ("9" * 400, "at most 292 years"),
    ],
)
def test_a_wrong_duration_names_the_right_one(text: str, expected: str) -> None:
    with pytest.raises(GrammarError) as caught:
        duration(text)
    assert caught.value.expected == expected


@pytest.mark.parametrize(
    ("text", "found"),
    [("1h30x", "x"), ("5 fortnights", " fortnights"), ("-", ""), ("1 day", "1 day"), ("soon", "soon")],
)
def test_where_a_duration_is_wrong(text: str, found: str) -> None:
    with pytest.raises(GrammarError) as caught:
        duration(text)
    assert caught.value.found == found


@given(st.text(max_size=12) | st.text("0123456789.hmsdnu -", max_size=12))
def test_any_text_is_a_duration_or_an_error_whose_example_is_one(text: str) -> None:
    try:
        duration(text)
    except GrammarError as caught:
        error = caught
    else:
        return
    assert 0 <= error.start <= error.end == len(text)
    for example in error.expected.split("`")[1::2]:
        duration(example)
