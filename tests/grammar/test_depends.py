"""The language of `depends`."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowdsl.grammar.depends import depends, holds
from flowdsl.grammar.error import GrammarError

NAMES = st.from_regex(r"[a-zA-Z0-9][-a-zA-Z0-9]{0,5}", fullmatch=True)
OPERANDS = st.tuples(NAMES, st.none() | st.sampled_from(["Succeeded", "Failed", "AnySucceeded", "wrong"]))
SPACES = st.sampled_from(["", " ", "  ", "\n"])


@st.composite
def texts(draw: st.DrawFn, depth: int = 3) -> tuple[str, list[tuple[str, str | None]]]:
    """A text of the language, and its operands in order."""
    space = draw(SPACES)
    if depth == 0 or draw(st.booleans()):
        task, result = draw(OPERANDS)
        return f"{space}{task}" + (f".{result}" if result else "") + draw(SPACES), [(task, result)]
    left, first = draw(texts(depth=depth - 1))
    match draw(st.sampled_from(["!", "()", "&&", "||"])):
        case "!":
            return f"{space}!{left}", first
        case "()":
            return f"{space}({left}){space}", first
        case operator:
            right, second = draw(texts(depth=depth - 1))
            return left + operator + right, first + second


@given(texts())
def test_operands_in_order(made: tuple[str, list[tuple[str, str | None]]]) -> None:
    text, expected = made
    found = depends(text)
    assert [(operand.task, operand.result) for operand in found] == expected
    for operand in found:
        written = operand.task if operand.result is None else f"{operand.task}.{operand.result}"
        assert text[operand.start : operand.end] == written


@pytest.mark.parametrize(
    ("text", "expected", "found"),
    [
        ("", "a task", ""),
        ("a &&", "a task", ""),
        ("&& a", "a task", "&&"),
        ("a || || b", "a task", "||"),
        ("()", "a task", ")"),
        ("!", "a task", ""),
        ("a b", "`&&` or `||`", "b"),
        ("a !b", "`&&` or `||`", "!"),
        ("a (b)", "`&&` or `||`", "("),
        ("a & b", "`&&`", "&"),
        ("a | b", "`||`", "|"),
        ("& a", "a task", "&"),
        ("a)", "`&&` or `||`; this `)` has no `(`", ")"),
        ("((a)", "a `)` for this `(`", "("),
        ("a_b", "a task, or a task and one result such as `a.Failed`", "a_b"),
        ("a.Failed.b", "a task, or a task and one result such as `a.Failed`", "a.Failed.b"),
        ("a == b", "`&&` or `||`", "=="),
        ("{{x}}", "a task, or a task and one result such as `a.Failed`", "{{x}}"),
        ("a and b", "`&&` or `||`", "and"),
    ],
)
def test_what_is_malformed(text: str, expected: str, found: str) -> None:
    with pytest.raises(GrammarError) as caught:
        depends(text)
    assert (caught.value.expected, caught.value.found) == (expected, found)


def test_depth_is_free() -> None:
    deep = "(" * 20_000 + "a" + ")" * 20_000
    assert [operand.task for operand in depends(deep)] == ["a"]
    assert holds(deep, [True])
    assert not holds("!" + "(!" * 20_001 + "a" + ")" * 20_001, [False])


@given(texts(), st.randoms(use_true_random=False))
def test_a_text_holds_as_python_has_it(
    case: tuple[str, list[tuple[str, str | None]]], source: random.Random
) -> None:
    text, _ = case
    operands = depends(text)
    answers = [source.random() < 0.5 for _ in operands]
    spelled = text
    for operand, answer in reversed([*zip(operands, answers, strict=True)]):
        spelled = f"{spelled[: operand.start]} {answer} {spelled[operand.end :]}"
    spelled = spelled.replace("!", " not ").replace("&&", " and ").replace("||", " or ")
    assert holds(text, answers) is eval(" ".join(spelled.split()))  # noqa: S307 -- words and signs of the test
