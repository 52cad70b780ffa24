"""The language of `where=`."""

from __future__ import annotations

import operator
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.where import MOST_DEPTH, MOST_GROUPS, where

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.grammar.where import Term

Node = dict[str, str]


def matches(term: Term, node: Node) -> bool:
    """Whether a node meets a requirement, as Kubernetes decides it (labels.Requirement.Matches)."""
    value = node.get(term.key)
    match term.operator:
        case "In":
            return value in term.values
        case "NotIn":
            return value not in term.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt":
            return value is not None and int(value) > int(term.values[0])
        case "Lt":
            return value is not None and int(value) < int(term.values[0])


SIGNS: dict[str, Callable[[Decimal, Decimal], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
KEYS = ("a", "b", "zone")
NODES = st.dictionaries(st.sampled_from(KEYS), st.sampled_from([str(number) for number in range(-3, 6)]))


@st.composite
def texts(draw: st.DrawFn, depth: int = 3) -> tuple[str, Callable[[Node], bool]]:
    """A text of the language, and what it means for a node whose labels are whole numbers."""
    key = draw(st.sampled_from(KEYS))
    kinds = ["exists", "in", "is", "compared"] + (["and", "or", "not", "()"] if depth else [])
    match draw(st.sampled_from(kinds)):
        case "exists":
            return key, lambda node: key in node
        case "in":
            values = draw(st.lists(st.sampled_from(["0", "1", "2"]), min_size=1, max_size=3))
            listed = ", ".join(draw(st.sampled_from([value, f"'{value}'", f'"{value}"'])) for value in values)
            if draw(st.booleans()):
                return f"{key} in ({listed})", lambda node: node.get(key) in values
            return f"{key} not in ({listed})", lambda node: node.get(key) not in values
        case "is":
            value = draw(st.sampled_from(["0", "1", "2"]))
            if draw(st.booleans()):
                return f"{key} == {value}", lambda node: node.get(key) == value
            return f"{key}!={value}", lambda node: node.get(key) != value
        case "compared":
            limit = draw(st.sampled_from(["-1", "0", "1", "1.5", "2000m", "3", "2.5"]))
            bound = Decimal(limit.removesuffix("000m")) if limit.endswith("m") else Decimal(limit)
            sign = draw(st.sampled_from([*SIGNS]))
            holds = SIGNS[sign]
            return f"{key} {sign} {limit}", lambda node: key in node and holds(Decimal(node[key]), bound)
        case "not":
            inner, meaning = draw(texts(depth=depth - 1))
            return f"not ({inner})", lambda node: not meaning(node)
        case "()":
            inner, meaning = draw(texts(depth=depth - 1))
            return f"({inner})", meaning
        case word:
            left, first = draw(texts(depth=depth - 1))
            right, second = draw(texts(depth=depth - 1))
            text = f"({left}) {word} ({right})"
            if word == "and":
                return text, lambda node: first(node) and second(node)
            return text, lambda node: first(node) or second(node)


@given(texts(), st.lists(NODES, min_size=1, max_size=20))
def test_the_groups_mean_what_the_text_says(
    made: tuple[str, Callable[[Node], bool]], nodes: list[Node]
) -> None:
    text, meaning = made
    groups = where(text)
    assert 0 < len(groups) <= MOST_GROUPS
    for node in nodes:
        assert any(all(matches(term, node) for term in group) for group in groups) == meaning(node)
    for term in {term for group in groups for term in group}:
        assert text[term.start : term.end].startswith(term.key)


def show(text: str) -> list[list[str]]:
    return [[" ".join((term.key, term.operator, *term.values)) for term in group] for group in where(text)]


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        (
            "gpu.memory >= 40Gi and zone in (eu-1, eu-2) and not spot",
            [["gpu.memory Gt 42949672959", "zone In eu-1 eu-2", "spot DoesNotExist"]],
        ),
        ("zone == eu-1", [["zone In eu-1"]]),
        ("disk != hdd", [["disk NotIn hdd"]]),
        ("arch in (amd64)", [["arch In amd64"]]),
        ("pool not in (a, b)", [["pool NotIn a b"]]),
        ("topology.kubernetes.io/zone", [["topology.kubernetes.io/zone Exists"]]),
        ("not key", [["key DoesNotExist"]]),
        ("a or b and c", [["a Exists"], ["b Exists", "c Exists"]]),
        ("(a or b) and c", [["a Exists", "c Exists"], ["b Exists", "c Exists"]]),
        ("a and a or a", [["a Exists"]]),
        ("zone in (a, a)", [["zone In a"]]),
        ("not gpu.count > 3", [["gpu.count Lt 4"], ["gpu.count DoesNotExist"]]),
        ("n < 1.5", [["n Lt 2"]]),
        ("n <= 1.5", [["n Lt 2"]]),
        ("n > -1.5", [["n Gt -2"]]),
        ("n >= -1.5", [["n Gt -2"]]),
        ("instance in (in, 'not')", [["instance In in not"]]),
        ("instance == 'in'", [["instance In in"]]),
        ("ordinal == android", [["ordinal In android"]]),
        ('product == "NVIDIA A100 80GB"', [["product In NVIDIA A100 80GB"]]),
    ],
)
def test_texts_and_their_groups(text: str, groups: list[list[str]]) -> None:
    assert show(text) == groups


def test_a_term_knows_where_it_stands() -> None:
    text = "a and (zone in (x) or not b)"
    assert [text[term.start : term.end] for group in where(text) for term in group] == [
        "a",
        "zone in (x)",
        "a",
        "b",
    ]


@pytest.mark.parametrize(
    ("text", "expected", "found"),
    [
        ("", "a label such as `zone`, `not` or `(`", ""),
        ("a and", "a label such as `zone`, `not` or `(`", ""),
        ("zone = a", "`==`", "="),
        ("a && b", "`and`", "&"),
        ("a | b", "`or`", "|"),
        ("!a", "`not` or `!=`", "!"),
        ("a AND b", "`and` in lower case", "AND"),
        ("a b", "`==`, `!=`, `<`, `<=`, `>`, `>=`, `in`, `not in`, `and` or `or`", "b"),
        ("a == b c", "`and` or `or`", "c"),
        ("zone ==", "a value: a word, a number or quoted text", ""),
        ("zone in a", "a list in parentheses, such as `(a, b)`", "a"),
        ("zone in [a]", "`(`", "["),
        ("zone in ()", "a value: a word, a number or quoted text", ")"),
        ("zone in (a b)", "`,` or `)`", "b"),
        ("zone in (a, b", "`,` or `)`", ""),
        ("zone not a", "`in`", "a"),
        ("(a == b", "`and` or `or` or `)`", ""),
        ("a)", "`and` or `or`", ")"),
        ("-a", "a label name such as `zone` or `topology.kubernetes.io/zone`", "-a"),
        ("a and b/c/d", "a label name such as `zone` or `topology.kubernetes.io/zone`", "b/c/d"),
        ("gpu.memory >= 40GB", "`40G` or `40Gi`", "GB"),
        ("gpu.memory >= '40GB'", "`40G` or `40Gi`", "GB"),
        ("n > big", "a number with an optional suffix, such as `2`, `500m` or `4Gi`", "big"),
    ],
)
def test_what_is_malformed(text: str, expected: str, found: str) -> None:
    with pytest.raises(GrammarError) as caught:
        where(text)
    assert (caught.value.expected, caught.value.found) == (expected, found)


def test_groups_that_grow_too_many() -> None:
    text = " and ".join(f"(a{number} or b{number})" for number in range(40))
    with pytest.raises(GrammarError, match=f"at most {MOST_GROUPS} alternatives"):
        where(text)
    assert len(where(" or ".join(f"a{number}" for number in range(MOST_GROUPS)))) == MOST_GROUPS


@pytest.mark.parametrize("text", ["not " * 5000 + "a", "(a and b or " * 5000 + "a" + ")" * 5000])
def test_depth_has_an_end(text: str) -> None:
    with pytest.raises(GrammarError, match=f"at most {MOST_DEPTH} nested"):
        where(text)
