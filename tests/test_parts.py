"""Parts of YAML scalars: a part of a value is found in the source, behind quotes, escapes and indentation."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from flowdsl.compiler.problem import Problem
from flowdsl.compiler.yaml.documents import Document, read
from flowdsl.diagnostic import Finding
from flowdsl.places.place import Span


class Anything(Finding):
    code = "FD999"
    title = "anything"


def document(text: str) -> Document:
    (found,), problems = read(text, "a.yaml")
    assert problems == []
    return found


def place(text: str, part: tuple[int, int]) -> Span:
    return document(text).place(Problem(("v",), Anything(), part=part))


def cut(text: str, span: Span) -> str:
    lines = text.split("\n")[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column - 1]
    return "\n".join(lines)[span.column - 1 :]


@pytest.mark.parametrize(
    ("text", "part", "shown"),
    [
        ("v: one two three", "two", "two"),
        ("v: !!str two", "two", "two"),
        ("v: &a two", "two", "two"),
        ("v: 'it''s two'", "two", "two"),
        ("v: 'it''s two'", "it's", "it''s"),
        ('v: "a\\tb \\u00fc two"', "two", "two"),
        ('v: "a\\tb \\u00fc two"', "ü", "\\u00fc"),
        ('{"v": "\\ud83d\\ude00 two"}', "two", "two"),
        ('{"v": "\\ud83d\\ude00 two"}', "\U0001f600", "\\ud83d\\ude00"),
        ('{"w": "\\ud83d\\ude00",\n"v": "\\ud83d\\ude00 two"}', "two", "two"),
        ("v:\n  one\n  two\n\n  three", "two", "two"),
        ("v:\n  one\n  two\n\n  three", "three", "three"),
        ('v: "one\n  two\\\n  three"', "two", "two"),
        ('v: "one\n  two\\\n  three"', "three", "three"),
        ("v: 'one\n\n  two'", "two", "two"),
        ("v: |\n  one\n  two\n", "two", "two"),
        ("v: |\n  one\n\n    two\n", "two", "two"),
        ("v: |2-\n    one\n  two\n# behind\n", "two", "two"),
        ("v: |+ # why\n  one\n  two\n\n", "two", "two"),
        ("v: >\n  one\n  two\n\n  three\n", "two", "two"),
        ("v: >-\n  one\n    two\n  three\n", "three", "three"),
        ("v: >-\n  one\n  two\n", "one two", "one\n  two"),
        ("v: |\n  one\n  two\n", "one\n", "one"),
        ("v: |\n  one\n  \n  two\nw: 1\n", "two", "two"),
    ],
)
def test_a_part_is_found(text: str, part: str, shown: str) -> None:
    value: str = document(text).body["v"]
    start = value.index(part)
    span = place(text, (start, start + len(part)))
    assert cut(text, span) == shown


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("v: a &&", 1, 8),
        ("v: 'a && '", 1, 9),
        ("v: |\n  a\n  b &&\n\n", 3, 7),
        ("v: ''", 1, 5),
        ("v: |\n\n", 2, 1),
    ],
)
def test_what_is_missing_is_behind_the_last_word(text: str, line: int, column: int) -> None:
    size = len(document(text).body["v"])
    span = place(text, (size, size))
    assert (span.line, span.column) == (line, column)


def test_a_number_is_shown_as_a_whole() -> None:
    assert place("v: 0x10", (0, 1)) == Span("a.yaml", 1, 4, 1, 8)


CHARACTERS = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\x85\u2028\u2029\ufeff")
TEXT = st.text(CHARACTERS | st.sampled_from(" \n'\"\\\t:#"), max_size=40)
STYLES = st.sampled_from([None, "'", '"', "|", ">"])


@given(TEXT, STYLES, st.booleans(), st.sampled_from([10, 80]), st.data())
def test_every_part_of_every_text(
    text: str, style: Any, plain: bool, width: int, data: st.DataObject
) -> None:
    """The place of a word of a text holds that word, however the text is written."""
    source = yaml.dump({"k": [{"v": text}]}, default_style=style, allow_unicode=plain, width=width)
    made = document(source)
    if made.body != {"k": [{"v": text}]}:
        return
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    span = made.place(Problem(("k", 0, "v"), Anything(), part=(start, end)))
    written = cut(source, span)
    part = text[start:end]
    marks = ("\\", "''", "\n")
    if (part.isalnum() and part.isascii()) or not any(mark in written or mark in part for mark in marks):
        assert written == part


@given(TEXT, st.data())
def test_parts_of_json(text: str, data: st.DataObject) -> None:
    source = json.dumps({"v": text})
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    if start < end:
        assert cut(source, place(source, (start, end))) == json.dumps(text[start:end])[1:-1]
