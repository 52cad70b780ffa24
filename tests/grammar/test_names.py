"""Names: what is one, and how any text becomes one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowdsl.grammar.names import (
    dns_name,
    is_argo_name,
    is_data_key,
    is_depended_upon,
    is_dns_label,
    is_dns_subdomain,
    is_env_name,
    is_label_value,
    is_parameter_name,
    is_port_name,
    is_qualified_name,
    is_relaxed_env_name,
    parameter_names,
)

LONG = "a" * 63


@pytest.mark.parametrize(
    ("predicate", "right", "wrong"),
    [
        (is_dns_label, ["a", "a-b", "0", LONG], ["", "A", "-a", "a-", "a_b", "a.b", "a\n", "é", LONG + "a"]),
        (
            is_depended_upon,
            ["a", "A", "let-1", "Let", "inn", "map", "len", "notin"],
            ["", "1a", "let", "true", "startsWith", "a_b", "a\n"],
        ),
        (
            is_dns_subdomain,
            ["a", "a.b", "a-b.c0", ".".join([LONG] * 3), LONG + "a"],
            ["", "a..b", ".a", "a.", "A.b", "a_b", "a\n", "a" * 254],
        ),
        (
            is_data_key,
            ["a", "A_b-c.d", ".a", "0", "a..b", "a" * 253],
            ["", ".", "..", "..a", "a b", "a/b", "a\n", "é", "a" * 254],
        ),
        (
            is_port_name,
            ["a", "web-2", "2a", "a" * 15],
            ["", "80", "A", "-a", "a-", "a--b", "a_b", "a\n", "a" * 16],
        ),
        (
            is_qualified_name,
            ["zone", "topology.kubernetes.io/zone", "nvidia.com/mig-1g.5gb", "A_b.C", LONG],
            ["", "/", "a/", "/a", "a/b/c", "A.com/b", "-a", "a b", "a\n", LONG + "a", "a/" + LONG + "a"],
        ),
        (
            is_label_value,
            ["", "a", "A100-SXM4-40GB", "a_b.c", LONG],
            ["-a", "a-", "a b", "a/b", "a\n", LONG + "a"],
        ),
        (is_env_name, ["A", "_a", "a-b.c", ".a"], ["", "1A", "a b", "a=b", ".", "..", "..a", "a\n"]),
        (is_relaxed_env_name, ["A", "1A", "a b", "a:b"], ["", "a=b", "a\n", "é", "a\x7f"]),
        (is_argo_name, ["a", "A-b", "0", "a-", "a" * 128], ["", "-a", "a_b", "a.b", "a\n", "a" * 129]),
        (is_parameter_name, ["a", "a_b-C", "-", "0"], ["", "a.b", "a b", "a\n", "é"]),
    ],
)
def test_predicates(predicate: object, right: list[str], wrong: list[str]) -> None:
    assert callable(predicate)
    assert [text for text in right if not predicate(text)] == []
    assert [text for text in wrong if predicate(text)] == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("train", "train"),
        ("load_data", "load-data"),
        ("__load  data!", "load-data"),
        ("TrainModel2", "trainmodel2"),
        ("größe", "grosse"),
        ("Été", "ete"),
        ("ﬁnal²", "final2"),
        ("smørbrød", "smrbrd"),
        ("数据", ""),
        ("...", ""),
        ("", ""),
    ],
)
def test_a_text_becomes_the_nearest_name(text: str, name: str) -> None:
    assert dns_name(text) == name


def test_long_texts_with_a_common_beginning_stay_apart() -> None:
    first, second = dns_name("x" * 100 + "a"), dns_name("x" * 100 + "b")
    assert first != second
    assert first[:54] == second[:54] == "x" * 54
    assert len(first) == len(second) == 63


@given(st.text(max_size=200), st.integers(9, 80))
def test_every_text_becomes_a_name_or_nothing(text: str, length: int) -> None:
    name = dns_name(text, length)
    assert len(name) <= length
    assert not name or is_dns_label(name) or len(name) > 63
    assert dns_name(name, length) == name


@given(st.text("ab-_.A0", max_size=70))
def test_every_kind_of_name_is_a_label_value_or_too_long(text: str) -> None:
    if is_dns_label(text):
        assert is_dns_subdomain(text)
        assert is_argo_name(text)
        assert is_qualified_name(text)
        assert is_label_value(text)


@given(st.lists(st.text("ab_-.1", max_size=6), unique=True, max_size=8))
def test_no_name_of_a_part_begins_like_that_of_another_with_parts(texts: list[str]) -> None:
    names = parameter_names(texts, within=True)
    assert len({*names}) == len(texts)
    assert not any("-" in name for name in names)
    assert all(is_parameter_name(name) for text, name in zip(texts, names, strict=True) if text)
    assert all(
        name == text for text, name in zip(texts, names, strict=True) if "-" not in text and "." not in text
    )


@given(st.lists(st.text("ab-.1", max_size=6), unique=True, max_size=8))
def test_parts_have_names_of_their_own_and_keep_those_that_argo_takes(texts: list[str]) -> None:
    names = parameter_names(texts)
    assert len({*names}) == len(texts)
    assert all(is_parameter_name(name) for text, name in zip(texts, names, strict=True) if text)
    assert all(name == text for text, name in zip(texts, names, strict=True) if is_parameter_name(text))
