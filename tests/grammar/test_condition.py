"""The language of conditions on objects of the cluster."""

from __future__ import annotations

import pytest

from flowdsl.grammar.condition import conditions
from flowdsl.grammar.error import GrammarError


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("status.succeeded == 4", [("status.succeeded", "==", ("4",))]),
        ("status.phase=Done", [("status.phase", "==", ("Done",))]),
        (
            "status.failed > 0, status.active<2",
            [("status.failed", ">", ("0",)), ("status.active", "<", ("2",))],
        ),
        ("a in (b,c) , d notin ( e )", [("a", "in", ("b", "c")), ("d", "notin", ("e",))]),
        (
            "status.completionTime, !metadata.deletionTimestamp",
            [("status.completionTime", "exists", ()), ("metadata.deletionTimestamp", "missing", ())],
        ),
        ("status.conditions.2.type == Succeeded", [("status.conditions.2.type", "==", ("Succeeded",))]),
        ("a ==, b !=", [("a", "==", ("",)), ("b", "!=", ("",))]),
    ],
)
def test_comparisons_in_order(text: str, found: list[tuple[str, str, tuple[str, ...]]]) -> None:
    read = conditions(text)
    assert [(one.key, one.operator, one.values) for one in read] == found
    assert all(text[one.start : one.end].strip() == text[one.start : one.end] for one in read)


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("", "", "a path"),
        ("a,", "", "a path"),
        ("status.succeeded >= 4", "=", "a whole number (for `>= 4` write `> 3`, for `<= 4` write `< 5`)"),
        ('status.phase == "Done"', '"Done"', "without quotes"),
        ('status.conditions.#(type=="Ready").status == True', "status.conditions.#", "a path of letters"),
        ("a.b > 1.5", "1.5", "a whole number"),
        ("a.b >", "", "a value"),
        ("a in b", "b", "`(`"),
        ("a in (b", "", "`,` or `)`"),
        ("a ~ b", "~", "`==`"),
        ("a b", "b", "`==`"),
        ("a == b c", "c", "`,`"),
        ("!a == b", "==", "`,`"),
        ("a|b == 1", "a|b", "a path of letters"),
    ],
)
def test_what_argo_could_not_read(text: str, part: str, expected: str) -> None:
    with pytest.raises(GrammarError) as caught:
        conditions(text)
    assert (caught.value.found, expected in caught.value.expected) == (part, True)


def test_what_holds_of_an_object_that_has_nothing() -> None:
    held = [
        one.operator
        for one in conditions("a != 1, b notin (c), !d, e, f == 1, g > 0")
        if one.holds_of_nothing
    ]
    assert held == ["!=", "notin", "missing"]
