"""JSONPath of Argo's `jsonpath()`; what paths lead to is in tests/expressions."""

from __future__ import annotations

import pytest

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.json_path import (
    Compared,
    Constant,
    Current,
    Deep,
    Every,
    Index,
    Joined,
    Key,
    Not,
    Range,
    Several,
    Step,
    Where,
    parse,
)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("$", []),
        ("$.a.b[0]", [Key("a"), Key("b"), Index(0)]),
        ("$.a-b['c d'][\"e\"]", [Key("a-b"), Key("c d"), Key("e")]),
        ("$[*].*", [Every(), Every()]),
        ("$..a", [Deep(), Key("a")]),
        ("$..[0]", [Deep(), Index(0)]),
        ("$[ 'a' , -1 ]", [Several((Key("a"), Index(-1)))]),
        ("$[1:]", [Range(1, None, None)]),
        ("$[:-1:2]", [Range(None, -1, 2)]),
        ("$[?(@.a)]", [Where(Current((Key("a"),)))]),
        ("$[?(@['a b'] >= 1.5)].c", [Where(Compared(">=", Current((Key("a b"),)), Constant(1.5))), Key("c")]),
        (
            "$[?(!@.a && (@.b == 'x' || true != @.c))]",
            [
                Where(
                    Joined(
                        True,
                        (
                            Not(Current((Key("a"),))),
                            Joined(
                                False,
                                (
                                    Compared("==", Current((Key("b"),)), Constant("x")),
                                    Compared("!=", Constant(True), Current((Key("c"),))),
                                ),
                            ),
                        ),
                    )
                )
            ],
        ),
    ],
)
def test_steps(text: str, steps: list[Step]) -> None:
    assert parse(text) == tuple(steps)


@pytest.mark.parametrize(
    ("text", "start", "found", "expected"),
    [
        ("", 0, "", "`$`"),
        ("a.b", 0, "a", "`$`"),
        ("$a", 0, "$", "`$`, then `.` or `[`"),
        ("$.", 2, "", "a name or `*`"),
        ("$.a.[0]", 4, "[", "a name or `*`"),
        ("$.a b", 4, "b", "`.` or `[`"),
        ("$['a", 2, "'a", "a second ' after this one"),
        ("$[0", 3, "", "`]`"),
        ("$[?(@.a > )]", 10, ")", "a path such as `@.name`, or a value"),
        ("$[?(@.a = 1)]", 8, "=", "`==`"),
        ("$[?(@.a & @.b)]", 8, "&", "`&&`"),
    ],
)
def test_what_cannot_be_read(text: str, start: int, found: str, expected: str) -> None:
    with pytest.raises(GrammarError) as caught:
        parse(text)
    error = caught.value
    assert (error.start, error.found, error.expected) == (start, found, expected)
