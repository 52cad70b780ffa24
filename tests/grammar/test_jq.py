"""Filters of jq."""

from __future__ import annotations

import pytest

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.jq import check


@pytest.mark.parametrize(
    "text",
    [
        ".",
        ".status.conditions[0].type",
        '.a["b c"] | ."d" | .e."f".["g"]?',
        ".a[1:2], .a[:2], .a[1:], .[]?",
        "..",
        '[.[] | select(.type == "Ready" and .status != null) | .status] | first // empty',
        '"\\(.a) of \\("x" + "\\(1)")"',
        '@base64 "a\\(.b)" | @text',
        '{a: 1, "b": .c | length, (.d): [], e, $ENV, if: 2,}',
        ". as [$a, {b: $c}] ?// $a | $a + 1",
        "reduce .[] as $each (0; . + $each) / 2",
        "foreach .[] as $each (0; . + $each; [., $each])",
        "if .a then 1 elif .b then 2 else 3 end | if . then 4 end",
        'try error("x") catch . | (try .a) + 1',
        "label $out | 1, break $out",
        "def f: . + 1; def g(x; $y): x | f + $y + y; g(.; 2)",
        "def map(f): f; map(1)",
        ".a = 1 | .b |= . + 1 | .c //= 2",
        "-.a - -1.5e3 * .5",
        ".a # what remains\n| .b",
        ". and true or not",
        'to_entries[] | "\\(.key)=\\(.value)"',
        'split("a"), split("a"; "g"), sub("a"; "b")',
    ],
)
def test_filters(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    ("text", "start", "found", "expected"),
    [
        (".a |", 4, "", "a value, such as `.status.phase`"),
        ("select(.a == )", 13, ")", "a value, such as `.status.phase`"),
        (".a[0", 4, "", "a closing `]`"),
        ("[.a", 3, "", "a closing `]`"),
        ("if .a then 1", 12, "", "a closing `end`"),
        (".a && .b", 3, "&&", "`and`"),
        (".a || .b", 3, "||", "`or`"),
        (".['a']", 2, "'a'", 'double quotes: `"a"`'),
        ('.a == "b', 6, '"b', 'a text up to a second `"`, with escapes as in JSON'),
        ('"\\x"', 0, '"\\x"', 'a text up to a second `"`, with escapes as in JSON'),
        (".a == .b == .c", 9, "=", "`,` or `|`"),
        (".a .b c", 6, "c", "an operator, or the end"),
        (".a?//1", 2, "?", "an operator, or the end"),
        (". as | 1", 5, "|", "a variable such as `$x`"),
        ("{a: 1 2}", 6, "2", "an operator"),
        ("{1: 2}", 1, "1", "`}` or a name or a variable such as `$x`"),
        ("reduce . as $x (1)", 17, ")", "`;`"),
        ("status", 0, "status", "a function of jq"),
        (".a | lenght", 5, "lenght", "a function of jq"),
        ("input", 0, "input", "a function of jq"),
        ("length(1)", 0, "length", "`length` alone"),
        ("map", 0, "map", "`map` with 1 argument"),
        ("sub(1)", 0, "sub", "`sub` with 2 or 3 arguments"),
        (".a == $b", 6, "$b", "a variable that `as` binds before"),
        ("1.2.3", 0, "1.2.3", "a value, such as `.status.phase`"),
    ],
)
def test_what_jq_could_not_read(text: str, start: int, found: str, expected: str) -> None:
    with pytest.raises(GrammarError) as caught:
        check(text)
    error = caught.value
    assert (error.start, error.found, error.expected) == (start, found, expected)
