import pytest

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.space_condition import condition

PARAMETER = "a parameter, which comes first, as in `layers > 3`; or `not`; or `(`"


@pytest.mark.parametrize(
    ("text", "expected", "found"),
    [
        ("", PARAMETER, ""),
        ("> 3", PARAMETER, ">"),
        ("layers > 3 and", PARAMETER, ""),
        ("layers = 3", "`==`", "="),
        ("layers & deep", "`and`", "&"),
        ("layers >", "a value: a word, a number or quoted text", ""),
        ("layers not 3", "`in`", "3"),
        ("layers in 3", "values in parentheses, such as `(2, 4)`", "3"),
        ("layers in {2, 3}", "`(`", "{"),
        ("layers in (2 3)", "`,` or `)`", "3"),
        ("layers in [2 3]", "`,` or `]`", "3"),
        ("layers 3", "`==`, `!=`, `<`, `<=`, `>`, `>=`, `in`, `not in`, `and` or `or`", "3"),
        ("layers > 3 4", "`and` or `or`", "4"),
        ("(layers > 3", "`and` or `or` or `)`", ""),
    ],
)
def test_what_is_malformed(text: str, expected: str, found: str) -> None:
    with pytest.raises(GrammarError) as caught:
        condition(text)
    assert (caught.value.expected, caught.value.found) == (expected, found)
