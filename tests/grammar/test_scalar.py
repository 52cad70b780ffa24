"""Plain scalars of YAML: what kubectl makes of them, as measured with sigs.k8s.io/yaml v1.6.0."""

from __future__ import annotations

import json

import pytest

from flowdsl.grammar.scalar import plain

READ = {
    "true": "y Y yes Yes YES true True TRUE on On ON",
    "false": "n N no No NO false False FALSE off Off OFF",
    "null": "~ null Null NULL",
    "15": "15 +15 0o17 017 0xf 0XF 0b1111 0B1111 1_5 15. 15.0 1.5e1 1_5.0",
    "8": "8 08 +08 0_8 8e0",
    "-1": "-1 -0b1 -0x1 -01 -1.0",
    "0": "0 00 -0 -0.0 0.0",
    "0.5": ".5 +.5 0.5e0 .5_0 5e-1",
    "18446744073709551615": "18446744073709551615",
}
TEXT = "yES oN tRUE nUll 1e400 -1e400 2020-01-01 1:30 . + - .5e .5_ 0x 0o8 0b2 _1 1,5 5Gi inf nan <<"


@pytest.mark.parametrize(
    ("value", "text"), [(value, text) for value, texts in READ.items() for text in texts.split()]
)
def test_values(value: str, text: str) -> None:
    read = plain(text)
    assert (json.dumps(read), type(read)) == (value, type(json.loads(value)))


@pytest.mark.parametrize("text", TEXT.split())
def test_texts(text: str) -> None:
    assert plain(text) == text


def test_what_json_has_not() -> None:
    assert [plain(text) for text in (".inf", "+.Inf", "-.INF")] == [float("inf"), float("inf"), float("-inf")]
    assert plain(".nan") != plain(".nan")
    assert plain("") is None
