"""The expressions of the stand-in against what a real controller answered."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowdsl.runtime.expressions.values import ExpressionError, json_of, shown
from tests.cluster.expr import evaluate
from tests.cluster.golang import quoted
from tests.cluster.syntax import ExprError, Unsupported, names

ROWS = [
    {"id": "0", "loss": "NaN"},
    {"id": "1", "loss": "Infinity"},
    {"id": "2", "loss": "0.5"},
    {"id": "3", "loss": "-Infinity"},
    {"id": "4", "loss": "0.25"},
    {"id": "5", "loss": "0.25"},
]
SCOPE: dict[str, Any] = {
    "inputs": {
        "parameters": {
            "x": "21",
            "a-b": "dashed",
            "rows": json.dumps(ROWS),
            "record": '{"k": [1, 2.5, "z"], "n": null}',
            "object": '{"b": [2], "a": "<"}',
        }
    },
    "tasks": {
        "a": {"outputs": {"parameters": {"v": None}}, "status": "Skipped"},
        "b": {"outputs": {"parameters": {"v": "vb"}}, "status": "Succeeded"},
    },
}
R = "fromJSON(inputs.parameters.rows)"
USABLE = f"filter({R}, abs(asFloat(#.loss)) < asFloat('Inf'))"


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("asFloat('1e-5')*2", "0.00002"),
        ("asFloat('0.1')+asFloat('0.2')", "0.30000000000000004"),
        ("asFloat('1e21')*1", "1e+21"),
        ("asFloat('3')", "3"),
        ("string(fromJSON('2.0'))", '"2"'),
        ("asInt('9007199254740993')+1", "9007199254740994"),
        ("fromJSON('9007199254740993')", "9007199254740992"),
        ("7/2", "3.5"),
        ("6/2", "3"),
        ("asInt('9223372036854775807') + 1", "-9223372036854775808"),
        ("int(2.9)", "2"),
        ("asFloat('1e6')", "1000000"),
        ("asFloat('1e-7')", "1e-7"),
        ("0 * asFloat('-1')", "-0"),
        ("string(asFloat('1e6'))", '"1e+06"'),
        ("string(asFloat('1e-5'))", '"1e-05"'),
        ("toJSON(fromJSON('[1, {}]'))", '"[\\n  1,\\n  {}\\n]"'),
        (
            "toJSON(fromJSON(inputs.parameters.object))",
            r'"{\n  \"a\": \"\\u003c\",\n  \"b\": [\n    2\n  ]\n}"',
        ),
        ("toJSON(nil)", '"null"'),
        ("fromJSON('null') == nil", "true"),
        (
            "fromJSON(inputs.parameters.record).k[1] > 1 && fromJSON(inputs.parameters.record)['k'][-1] == 'z'",
            "true",
        ),
        ("len(fromJSON(inputs.parameters.record)['k'])", "3"),
        ("toJSON(0..-1)", '"[]"'),
        ("0..2", "[0,1,2]"),
        ("inputs.parameters['a-b']", '"dashed"'),
        ("asInt(inputs.parameters['x']) * 2", "42"),
        ("(tasks['a'].outputs.parameters['v'] ?? tasks['b'].outputs.parameters['v'])", '"vb"'),
        ("(tasks['a'].outputs.parameters['typo'] ?? 'else')", '"else"'),
        ("tasks.a.status == 'Skipped' ? 'x' : tasks.b.outputs.parameters.v", '"x"'),
        ("not(asFloat('0.5') > 0.25)", "false"),
        ("asFloat('NaN') == asFloat('NaN')", "false"),
        ("asFloat('NaN') != asFloat('NaN')", "true"),
        ("'a' < 'b' && 'a' + 'b' == 'ab'", "true"),
        (r"'it\'s \n \u00e9 \\'", r'"it' + "'" + r's \n é \\"'),
        ("replace('a $HOME $', '$', '$$')", '"a $$HOME $$"'),
        (f"min(map({USABLE}, asFloat(#.loss)))", "0.25"),
        (f"filter({R}, asFloat(#.loss) == min(map({USABLE}, asFloat(#.loss))))[0].id", '"4"'),
        (f"filter({R}, asFloat(#['loss']) == max(map({USABLE}, asFloat(#.loss))))[0].id", '"2"'),
        (f"len({USABLE}) < 1 ? fromJSON('no trial') : 'found'", '"found"'),
    ],
)
def test_results_are_those_of_the_controller(expression: str, text: str) -> None:
    assert json_of(evaluate(expression, SCOPE)) == text


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("asInt('1e3')", "invalid operation: int(1e3)"),
        ("asInt('3.0')", "invalid operation: int(3.0)"),
        ("asInt(' 3')", "invalid operation: int( 3)"),
        ("asInt('9223372036854775808')", "invalid operation: int"),
        ("asFloat('null')", "invalid operation: float(null)"),
        ("asFloat('1e400')", "invalid operation: float(1e400)"),
        ("inputs.parameters.x * 2", "invalid operation: string * int"),
        ("fromJSON(inputs.parameters.rows)[9]", "index out of range: 9 (array length is 6)"),
        ("fromJSON('no trial of runs')", "no trial of runs"),
        ("filter(fromJSON('[]'), asFloat(#.x) > 1)[0].x", "index out of range"),
        ("nosuch.x", "unknown name nosuch"),
        ("tasks.typo.outputs", "cannot fetch outputs from <nil>"),
        ("workflow.name", "unknown name workflow"),
        ("a ?? b == c", "cannot be mixed"),
        ("matches.Succeeded", "unexpected token"),
        ("1 +", "unexpected token"),
        ("'open", "literal not terminated"),
        ("9223372036854775808", "invalid integer literal"),
        ("!1", "invalid operation: ! (int)"),
        ("1 ? 2 : 3", "invalid operation: ? (int)"),
    ],
)
def test_errors_are_those_of_the_controller(expression: str, message: str) -> None:
    with pytest.raises(ExprError) as error:
        evaluate(expression, SCOPE)
    assert message in str(error.value)


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_cannot_be_written(number: float) -> None:
    with pytest.raises(ExpressionError, match="unsupported value: "):
        json_of(number)


@pytest.mark.parametrize(
    "expression",
    ["let r = 1; r", "x?.y", "[1, 2]", "1 in [1]", "x[1:]", "sprig.sha256sum('a')", "1 < 2 < 3", "2 ** 3"],
)
def test_what_the_compiler_does_not_write_is_refused(expression: str) -> None:
    with pytest.raises(Unsupported):
        evaluate(expression, {"x": "y", "sprig": {}})


def test_names_that_an_expression_needs() -> None:
    expression = "asInt(inputs.parameters['a-b']) > 1 && (tasks['x'].outputs.parameters['y'] ?? item) == 'z'"
    assert names(expression) == [
        "asInt",
        "inputs.parameters.a-b",
        "inputs.parameters",
        "inputs",
        "tasks",
        "item",
    ]


@given(st.floats())
def test_floats_are_written_so_that_they_are_read_back(number: float) -> None:
    if math.isfinite(number):
        assert float(json_of(number)) == float(shown(number)) == number


@given(st.text())
def test_quoted_text_is_json_or_refused_by_argo(text: str) -> None:
    try:
        assert json.loads(f'"{quoted(text)}"') == text
    except ValueError:
        assert any(one < " " or one == "\x7f" or one > "\uffff" for one in text)
