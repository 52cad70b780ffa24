"""Texts as values: what is typed for a parameter, and what travelled as an output."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict
from uuid import UUID

import pytest

from flowdsl.compiler.encode import encode
from flowdsl.values import types as t
from flowdsl.values.texts import WrongValue, decoded, typed


class Color(Enum):
    RED = 1
    BLUE = 2


@dataclass
class Conf:
    depth: int
    rate: float = 0.5


class Pair(NamedTuple):
    name: str
    conf: Conf | None


class Dated(TypedDict, total=False):
    on: date
    by: str


RIGHT: list[tuple[Any, str, object]] = [
    (int, "3", 3),
    (int, " -3 ", -3),
    (float, "3", 3.0),
    (float, "1e-3", 0.001),
    (bool, "True", True),
    (bool, "false", False),
    (str, "", ""),
    (str, "null", "null"),
    (Color, "RED", Color.RED),
    (Literal["a", "b"], "b", "b"),
    (Literal[1, 2], "2", 2),
    (Literal[True, "x"], "true", True),
    (int | None, "null", None),
    (int | None, "4", 4),
    (str | None, "x", "x"),
    (list[int], "[1, 2]", [1, 2]),
    (list[Color], '["RED"]', [Color.RED]),
    (dict[str, float], '{"a": 1}', {"a": 1.0}),
    (dict[int, float], '{"1": 1, "-2": 0.5}', {1: 1.0, -2: 0.5}),
    (tuple[int, str], '[1, "a"]', (1, "a")),
    (Conf, '{"depth": 2}', Conf(2)),
    (Pair, '{"name": "x", "conf": {"depth": 1, "rate": 2}}', Pair("x", Conf(1, 2.0))),
    (Pair, '{"name": "x", "conf": null}', Pair("x", None)),
    (Dated, '{"on": "2026-01-31"}', {"on": date(2026, 1, 31)}),
    (date, " 2026-01-31", date(2026, 1, 31)),
    (time | None, "06:30", time(6, 30)),
    (datetime, "2026-01-31T06:00:00+00:00", datetime(2026, 1, 31, 6, tzinfo=UTC)),
    (dict[date, list[time]], '{"2026-01-31": ["06:00:00"]}', {date(2026, 1, 31): [time(6)]}),
    (timedelta, "7d", timedelta(7)),
    (timedelta, "-1h30m0.5s", -timedelta(hours=1, minutes=30, milliseconds=500)),
    (list[timedelta], '["0s", "500ms"]', [timedelta(), timedelta(milliseconds=500)]),
    (dict[UUID, Decimal], f'{{"{UUID(int=1)}": "1.00"}}', {UUID(int=1): Decimal("1.00")}),
    (Decimal | None, "1E+2", Decimal("1E+2")),
    (object, "text", "text"),
    (object, "[1]", [1]),
]


@pytest.mark.parametrize(("annotation", "text", "value"), RIGHT)
def test_what_is_typed_is_a_value(annotation: Any, text: str, value: object) -> None:
    kind = t.describe(annotation)
    found = typed(text, kind)
    assert (found, type(found)) == (value, type(value))
    travelled = decoded(encode(found, kind), kind)
    assert (travelled, type(travelled)) == (value, type(value))


WRONG: list[tuple[Any, str, str]] = [
    (int, "3.5", "it is not a whole number"),
    (int, "1_000", "it is not a whole number"),
    (int, "9" * 5000, "it has more digits than Python reads"),
    (float, "fast", "it is not a number"),
    (int | None, "None", "it is not a whole number; None is `null`"),
    (bool, "1", "it must be true or false"),
    (Color, "red", "it must be one of RED, BLUE; did you mean `RED`?"),
    (Literal["a", "b"], "c", "it must be one of a, b"),
    (list[int], "1, 2", "it is not JSON, such as [1]"),
    (dict[str, list[Path]], "a.txt", 'it is not JSON, such as {"a": ["a.txt"]}'),
    (tuple[float, bool, Any], "0.5 true", 'it is not JSON, such as [0.5, true, "a"]'),
    (list[Literal["é", "b"]], "b", 'it is not JSON, such as ["é"]'),
    (list[Color], "RED", 'it is not JSON, such as ["RED"]'),
    (Pair, "x", 'it is not JSON, such as {"name": "a", "conf": {"depth": 1'),
    (list[str | None], "a", 'it is not JSON, such as ["a"]'),
    (list[int], '["a"]', '[0]: "a" is no int'),
    (list[int], "[Infinity]", "[0]: Infinity is no int"),
    (list[int], "[NaN]", "[0]: NaN is no int"),
    (list[int], "[" * 20_000, "it is not JSON, such as [1]"),
    (list[int], "[true]", "[0]: true is no int"),
    (dict[str, int], '{"a": 1.5}', "['a']: 1.5 is no int"),
    (dict[int, float], "{1: 0.5}", 'it is not JSON, such as {"1": 0.5}'),
    (dict[int, float], '{"a": 0.5}', "the key 'a' is not a whole number"),
    (dict[int, float], '{"01": 0.5}', "the key '01' is not written as 1"),
    (dict[str, dict[date, int]], '{"a": {"x": 1}}', "['a']: the key 'x': it is no date, such as 2026-01-31"),
    (date, "31.1.2026", "it is no date, such as 2026-01-31"),
    (list[time], '["6"]', "[0]: it is no time, such as 06:00:00"),
    (dict[date, datetime], "x", 'it is not JSON, such as {"2026-01-31": "2026-01-31T06:00:00+00:00"}'),
    (Dated, '{"at": "06:00"}', "Dated has no field `at`; it has on, by"),
    (tuple[int, str], "[1]", "it has 2 parts, not 1"),
    (Conf, '{"dept": 1}', "Conf has no field `dept`; did you mean `depth`?"),
    (Conf, "{}", "the field `depth` of Conf is missing"),
    (Pair, '{"name": "x", "conf": {"depth": "a"}}', 'conf.depth: "a" is no int'),
    (Conf, "3", "3 is no Conf"),
    (datetime, "now", "it is no datetime, such as 2026-01-31T06:00:00+00:00"),
    (timedelta, "90", "it is no timedelta, such as 1h30m"),
    (timedelta, "1.5.2s", "it is no timedelta, such as 1h30m"),
    (timedelta, "99999999999999d", "it is no timedelta, such as 1h30m"),
    (list[Decimal], '["1,5"]', "[0]: it is no Decimal, such as 19.99"),
    (list[Decimal], "[1.5]", '[0]: 1.5 is no Decimal, such as "19.99"'),
    (UUID, "1", "it is no UUID, such as 6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
    (UUID, f"{{{UUID(int=10)}}}", f"it is written {UUID(int=10)}"),
]


@pytest.mark.parametrize(("annotation", "text", "message"), WRONG)
def test_a_wrong_value_is_told(annotation: Any, text: str, message: str) -> None:
    with pytest.raises(WrongValue) as caught:
        typed(text, t.describe(annotation))
    assert message in str(caught.value)
