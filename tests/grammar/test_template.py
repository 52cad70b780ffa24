"""Template tags, the variables they name, and the texts that nothing can read."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flowdsl.grammar.template import is_filled, references, tags, unbalanced, variables

PIECES = st.lists(st.sampled_from(["{{", "}}", "{", "}", "=", "a.b", " ", "'", "\n", "ü"]), max_size=12).map(
    "".join
)


def fasttemplate(text: str) -> list[tuple[str, bool]]:
    """The tags as github.com/valyala/fasttemplate finds them: the text of each, and whether it is closed."""
    found: list[tuple[str, bool]] = []
    while (start := text.find("{{")) >= 0:
        text = text[start + 2 :]
        end = text.find("}}")
        if end < 0:
            return [*found, (text, False)]
        found.append((text[:end], True))
        text = text[end + 2 :]
    return found


@example("{{=")
@given(PIECES)
def test_tags_are_those_of_argo(text: str) -> None:
    found = tags(text)
    assert [
        (tag.body if tag.kind != "expression" else "=" + tag.body, tag.kind != "unclosed") for tag in found
    ] == fasttemplate(text)
    for tag in found:
        before = "{{=" if tag.kind == "expression" else "{{"
        assert text[tag.start : tag.end] == before + tag.body + ("" if tag.kind == "unclosed" else "}}")


def test_kinds_of_tags() -> None:
    text = "x {{ a.b }} {{=1 + 2}} {{ =c}} {{{d}}} {{e"
    assert [(tag.body, tag.kind, text[tag.start : tag.end]) for tag in tags(text)] == [
        (" a.b ", "simple", "{{ a.b }}"),
        ("1 + 2", "expression", "{{=1 + 2}}"),
        (" =c", "simple", "{{ =c}}"),
        ("{d", "simple", "{{{d}}"),
        ("e", "unclosed", "{{e"),
    ]


def test_references_of_a_text() -> None:
    text = "{{ inputs.parameters.a-b }}, {{=tasks['c d'].outputs.result + \"workflow.name\"}}, {{x.{{y}}}}"
    found = references(text)
    assert [reference.path for reference in found] == [
        ("inputs", "parameters", "a-b"),
        ("tasks", "c d", "outputs", "result"),
    ]
    assert [text[each.start : each.end] for each in found] == [
        "inputs.parameters.a-b",
        "tasks['c d'].outputs.result",
    ]
    assert found[0].dotted == "inputs.parameters.a-b"


@given(PIECES)
def test_references_lie_in_their_text(text: str) -> None:
    for reference in references(text):
        assert 0 <= reference.start < reference.end <= len(text)


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("inputs.parameters.x", ["inputs.parameters.x"]),
        ("inputs.parameters['a-b']", ["inputs.parameters.a-b"]),
        ('inputs["parameters"].x', ["inputs.parameters.x"]),
        ("inputs.parameters[`a`]", ["inputs.parameters.a"]),
        (r"tasks['it\'s'].status", ["tasks.it's.status"]),
        ("tasks[item].status", ["tasks", "item"]),
        ("asInt(inputs.parameters.x) * 2", ["inputs.parameters.x"]),
        ("sprig.trim(workflow.name)", ["workflow.name"]),
        ("fromJSON(x)[0].name", ["x"]),
        ("filter(rows, #.loss < #acc && .lr > 1)", ["rows"]),
        ("{a: b, 'c': d}", ["b", "d"]),
        ("a ? b : c", ["a", "b", "c"]),
        ("let r = x; r.y + z", ["x", "z"]),
        ("a and not b or nil in [true]", ["a", "b"]),
        ("'workflow.name' + \"a\" + `b`", []),
        ("a // b.c", ["a"]),
        ("a /* b.c */ + d", ["a", "d"]),
        ("1e5 + 0x1f + 3.a", []),
        ("", []),
        ("((", []),
        ("'open", ["open"]),
    ],
)
def test_variables_of_an_expression(expression: str, names: list[str]) -> None:
    assert [reference.dotted for reference in variables(expression)] == names


@pytest.mark.parametrize(
    ("expression", "guarded"),
    [
        ("a.b", [False]),
        ("a.b ?? 'c'", [True]),
        ("a?.b", [True]),
        ("a?.['b']", [True]),
        ("a?.b + c", [True, False]),
    ],
)
def test_guarded_variables(expression: str, guarded: list[bool]) -> None:
    assert [reference.guarded for reference in variables(expression)] == guarded


@given(st.text(max_size=40) | st.text("ab.['](){}?\"`\\ #let=:,", max_size=40))
def test_variables_of_any_text(text: str) -> None:
    for reference in variables(text):
        assert all(part for part in reference.path[:1])
        assert text[reference.start : reference.end].startswith(reference.path[0])


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("", None),
        ("a && (b || [c, {d: 1}])", None),
        ("'(' + \"[\" + `{`", None),
        ("a // )", None),
        ("((", (1, "a closing `)`")),
        ("asInt(lastRetry.exitCode >", (5, "a closing `)`")),
        ('"a" === ((', (9, "a closing `)`")),
        ("a)", (1, "an opening bracket before this `)`")),
        ("(a]", (2, "an opening bracket before this `]`")),
        ("a == 'b", (5, "a second ' after this one")),
        (r"'a\'", (0, "a second ' after this one")),
    ],
)
def test_what_cannot_be_read(expression: str, fault: tuple[int, str] | None) -> None:
    assert unbalanced(expression) == fault


@given(
    st.recursive(
        st.sampled_from(["a", "'('", '"]"']),
        lambda inner: st.tuples(st.sampled_from(["()", "[]", "{}"]), inner, inner).map(
            lambda made: f"{made[0][0]}{made[1]}, {made[2]}{made[0][1]}"
        ),
    )
)
def test_brackets_in_pairs_can_be_read(text: str) -> None:
    assert unbalanced(text) is None
    assert unbalanced(text + "(") is not None
    assert unbalanced(")" + text) is not None


def test_many_unclosed_braces_are_one_tag_and_read_once() -> None:
    text = "{{a}}" + "{{" * 200_000
    assert [(tag.kind, tag.start) for tag in tags(text)] == [("simple", 0), ("unclosed", 5)]
    assert is_filled(text)
