"""The evaluator of expressions against what the Go libraries of Argo 4.1 answered, one line for each expression.

`tests/expressions` has the answers as JSON, or `error`: of expr-lang 1.17.8 with sprig 3.3.0, cast 1.10.0 and the
functions that Argo adds, and of govaluate at 7625b7f8c03d with words as texts; `recorded.txt` and `types.txt`: of a
controller of version 4.1.2.
"""

from __future__ import annotations

import math
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowdsl.compiler.evaluation import chance, conditions
from flowdsl.compiler.evaluation.evaluate import evaluate, text_of
from flowdsl.compiler.evaluation.functions import FUNCTIONS
from flowdsl.compiler.evaluation.values import ExpressionError, NotHere, json_of, shown
from flowdsl.grammar.expression import MOST_IN_A_ROW
from flowdsl.grammar.functions import builtins, sprig
from flowdsl.grammar.govaluate import is_time

FOLDER = Path(__file__).with_name("expressions")
ROWS = '[{"id":"0","loss":"NaN"},{"id":"1","loss":"0.5"},{"id":"2","loss":"0.25"},{"id":"3","loss":"0.25"}]'
SIX = """[{"id":"0","loss":"NaN"},{"id":"1","loss":"Infinity"},{"id":"2","loss":"0.5"},{"id":"3","loss":"-Infinity"},
{"id":"4","loss":"0.25"},{"id":"5","loss":"0.25"}]"""
SCOPE: dict[str, Any] = {
    "inputs": {
        "parameters": {
            "x": "21",
            "f": "1.5",
            "t": "true",
            "l": "[1,2,3]",
            "o": '{"b":[2],"a":"<&>"}',
            "s": "Hello World",
            "rows": ROWS,
            "six": SIX,
            "a-b": '{"k": [1, 2.5, "z"], "n": null}',
        }
    },
    "tasks": {
        "a": {"status": "Skipped", "outputs": {"parameters": {"v": None}}},
        "b": {"status": "Succeeded", "outputs": {"parameters": {"v": "vb"}}},
    },
    "item": "5",
    "list": [1.0, 2.5, "z", None, True, [1.0], {"k": "v"}],
}


def lines(name: str) -> list[tuple[str, str]]:
    """The expressions of a file, each with its expected result."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [(line.rpartition("  =>  ")[0], line.rpartition("  =>  ")[2]) for line in text.splitlines()]


_BOOL = "interface conversion: interface {}"
_JSON = "invalid character"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        *lines("expr.txt"),
        *lines("sprig.txt"),
        *lines("times.txt"),
        *lines("types.txt"),
        *lines("recorded.txt"),
    ],
)
def test_expressions(expression: str, expected: str) -> None:
    if expected == "error":
        with pytest.raises(ExpressionError):
            text_of(evaluate(expression, SCOPE))
    else:
        assert json_of(evaluate(expression, SCOPE)) == expected


def test_an_expression_of_many_parts_is_refused_in_words() -> None:
    assert evaluate("+".join(["1"] * MOST_IN_A_ROW), SCOPE) == MOST_IN_A_ROW
    with pytest.raises(ExpressionError, match="at most 200 operators in a row"):
        evaluate("+".join(["1"] * (MOST_IN_A_ROW + 1)), SCOPE)
    numbers = f"({'+'.join(['1'] * 50)})"  # 99 nodes
    assert evaluate("+".join([numbers] * 100), SCOPE) == 5000  # and 99 for the sum
    with pytest.raises(ExpressionError, match="at most 10000 names, values and operators"):
        evaluate("+".join([numbers] * 101), SCOPE)


@pytest.mark.parametrize("sign", ["&&", "||"])
def test_a_chain_of_conditions_may_be_long(sign: str) -> None:
    truth = "true" if sign == "&&" else "false"
    long = f" {sign} ".join([truth] * 2000)
    for value in (True, False):
        for whole in (f"{long} {sign} x == 'a'", f"x == 'a' {sign} {long}"):
            assert evaluate(whole, {"x": "a" if value else "b"}) is value
            assert conditions.evaluate(whole.replace("x", "a" if value else "b")) is value


def test_a_value_of_many_levels_is_refused_in_words() -> None:
    text = "[" * 9000 + "]" * 9000  # the limits of parsing and comparing depend on the version of Python
    with pytest.raises(ExpressionError, match=r"nested too deeply|exceeded max depth"):
        evaluate("fromJSON(x) == fromJSON(x)", {"x": text})


@pytest.mark.parametrize(("text", "expected"), lines("when.txt"))
def test_conditions(text: str, expected: str) -> None:
    if expected == "error":
        with pytest.raises(ExpressionError):
            conditions.evaluate(text)
    else:
        assert json_of(conditions.evaluate(text)) == expected


def test_a_condition_is_true_or_false() -> None:
    assert conditions.condition("")
    assert conditions.condition("yes == 'yes'")
    with pytest.raises(ExpressionError, match=r"Expected boolean evaluation for 'yes'\. Got yes"):
        conditions.condition("yes")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b == c", "Cannot transition token types from VARIABLE [a] to VARIABLE [b]"),
        (" == x", "Cannot transition token types from UNKNOWN [<nil>] to COMPARATOR [==]"),
        ("x = y", "Invalid token: '=' (hint: try wrapping the affected expression in quotes (\"))"),
        (
            "true && s3://x",
            "Invalid token: '://' (hint: try wrapping the affected expression in quotes (\"))",
        ),
        ("it's == x", "Unclosed string literal"),
        ("[a == b", "Unclosed parameter bracket"),
        ("f(x) == 1", "Undefined function f"),
        ("(a == b", "Unbalanced parenthesis"),
        ("a ==", "Unexpected end of expression"),
        ("1.2.3 == 3", "Unable to parse numeric value '1.2.3' to float64\n"),
        ("0xg == 1", "Unable to parse hex value '' to uint64\n"),
        ("a.b == x", "Unable to access unexported field 'b' in token 'a.b'"),
        ("a. == x", "Hanging accessor on token 'a.'"),
        ("a\\ b c == d", "Cannot transition token types from VARIABLE [a b] to VARIABLE [c]"),
        ("a ? : b", "Cannot transition token types from TERNARY [?] to TERNARY [:]"),
        ("(2.5 x)", "Cannot transition token types from NUMERIC [2.5] to VARIABLE [x]"),
        ("true in a.B c", "Cannot transition token types from ACCESSOR [[a B]] to VARIABLE [c]"),
    ],
)
def test_why_a_condition_is_none(text: str, message: str) -> None:
    assert _error(text) == f"Invalid 'when' expression '{text}': {message}"


def test_why_a_condition_of_words_is_none() -> None:
    assert _error("-a == 1") == (
        "Failed to parse 'when' expression '-a == 1': "
        "Cannot transition token types from PREFIX [-] to STRING [a]"
    )
    assert _error("v1.2 == x") == (
        "Failed to evaluate 'when' expresion 'v1.2 == x': No parameter 'v1' found."
    )


def _error(text: str) -> str:
    with pytest.raises(ExpressionError) as error:
        conditions.condition(text)
    return str(error.value)


def test_text_goes_in_as_it_is() -> None:
    assert text_of(evaluate("'<é>\\n'", {})) == "<é>\n"
    assert text_of(evaluate("['<']", {})) == '["\\u003c"]'
    with pytest.raises(ExpressionError, match="nil"):
        text_of(None)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("inputs.parameters.x * 2", "invalid operation: string * int"),
        ("asInt('1e3')", "invalid operation: int(1e3)"),
        ("asInt(nil)", "reflect: call of reflect.Value.Type on zero Value"),
        ("sprig.dig('a', 'd', 'x')", "interface {} is string, not map[string]interface {}"),
        ("asInt('3.0')", "invalid operation: int(3.0)"),
        ("asInt(' 3')", "invalid operation: int( 3)"),
        ("asInt('9223372036854775808')", "invalid operation: int"),
        ("asFloat('null')", "invalid operation: float(null)"),
        ("asFloat('1e400')", "invalid operation: float(1e400)"),
        ("join(inputs.parameters.l, ',')", "invalid argument for join (type string)"),
        ("join(tasks.a.outputs.parameters.v, ',')", "invalid argument for join (type %!s(<nil>))"),
        ("map(tasks.a.outputs.parameters.v, #)", "reflect: call of reflect.Value.Len on zero Value"),
        ("fromJSON('1') contains '1'", "interface {} is float64, not string"),
        ("keys(fromJSON('[1]'))", "cannot get keys from slice"),
        ("toPairs(fromJSON('[1]'))", "cannot transform slice to pairs"),
        ("jsonpath(fromJSON('[1]'), '$')", "reflect: Call using []interface {} as type string"),
        ("jsonpath(tasks.a.outputs.parameters.v, '$')", "unexpected end of JSON input"),
        ("jsonpath('[1]', '$.x')", "key: invalid token target. expected [map] got [slice]"),
        ("jsonpath('[1]', '$[3]')", "index: invalid token out of range"),
        ("jsonpath('{\"a\": null}', '$.a.b')", "key: invalid token target. expected [map] got [nil]"),
        ("jsonpath('{\"a\": 1}', '$.b')", "key: invalid token key 'b' not found"),
        (
            "jsonpath('{\"a\": 1}', '$.a[1:]')",
            "range: invalid token target. expected [array slice] got [float64]",
        ),
        ("1/0", "unsupported value: +Inf"),
        ("asFloat('NaN')", "unsupported value: "),
        ("fromJSON('[1]')[3]", "index out of range: 3 (array length is 1)"),
        ("filter(fromJSON('[]'), asFloat(#.x) > 1)[0].x", "index out of range"),
        ("fromJSON('no trial of runs')", "no trial of runs"),
        ("tasks.typo.outputs", "cannot fetch outputs from <nil>"),
        ("nosuch.x", "unknown name nosuch"),
        ("workflow.name", "unknown name workflow"),
        ("false ? nosuch : 1", "unknown name nosuch"),
        ("sprig.upper(nosuch.x)", "cannot fetch x from <nil>"),
        ("let sprig = tasks; sprig.upper(nosuch.x)", "unknown name nosuch"),
        ("a ?? b == c", "`??` does not mix with other operators"),
        ("matches.Succeeded", "unexpected token"),
        ("1 +", "unexpected token"),
        ("'open", "expected a second '"),
        ("9223372036854775808", "expected a number of 64 bits"),
    ],
)
def test_messages(expression: str, message: str) -> None:
    with pytest.raises(ExpressionError) as error:
        text_of(evaluate(expression, SCOPE))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("expression", "message", "place", "line"),
    [
        ("asInt('abc')", "invalid operation: int(abc)", (1, 1), "asInt('abc')"),
        ("1 + (2 +\n asInt('x'))", "invalid operation: int(x)", (2, 2), " asInt('x'))"),
        ("'x' | asInt()", "invalid operation: int(x)", (1, 7), "'x' | asInt()"),
        ("[1] |\tmap(asInt('é'))", "invalid operation: int(é)", (1, 11), "[1] | map(asInt('é'))"),
        ("map(nosuch('[1]'), {#})", "unknown name nosuch", (1, 5), "map(nosuch('[1]'), {#})"),
        ("texts.none.x == 1", "cannot fetch x from <nil>", (1, 12), "texts.none.x == 1"),
        ("texts['a']['b']", "cannot fetch b from <nil>", (1, 11), "texts['a']['b']"),
        ("(texts.a).b", "cannot fetch b from <nil>", (1, 11), "(texts.a).b"),
        ("[1, 2][5]", "index out of range: 5 (array length is 2)", (1, 7), "[1, 2][5]"),
        ("asInt('1')[2:3]", "cannot slice 1", (1, 11), "asInt('1')[2:3]"),
        ("sprig.fail('no')", "no", (1, 7), "sprig.fail('no')"),
        ("(texts.one) * texts.one", "invalid operation: string * string", (1, 13), "(texts.one) * texts.one"),
        ("!texts.one", f"{_BOOL} is string, not bool", (1, 1), "!texts.one"),
        ("(texts.one) && texts.x", f"{_BOOL} is string, not bool", (1, 13), "(texts.one) && texts.x"),
        ("texts.one ? 1 : 2 ", f"{_BOOL} is string, not bool", (1, 18), "texts.one ? 1 : 2 "),
        ("[texts.one ? 1 : (2), 3]", f"{_BOOL} is string, not bool", (1, 21), "[texts.one ? 1 : (2), 3]"),
        ("if texts.one {1} else {2}", f"{_BOOL} is string, not bool", (1, 1), "if texts.one {1} else {2}"),
        ("fromJSON('')", "unexpected end of JSON input", (1, 1), "fromJSON('')"),
        ("fromJSON('nul')", f"{_JSON} ' ' in literal null (expecting 'l')", (1, 1), "fromJSON('nul')"),
        ("fromJSON('[1,]')", f"{_JSON} ']' looking for beginning of value", (1, 1), "fromJSON('[1,]')"),
    ],
)
def test_messages_name_the_place(expression: str, message: str, place: tuple[int, int], line: str) -> None:
    """As Argo's own functions say it, called with the same scope."""
    with pytest.raises(ExpressionError) as error:
        evaluate(expression, {"texts": {"one": "text"}})
    at, column = place
    assert str(error.value) == f"{message} ({at}:{column})\n | {line}\n | {'.' * (column - 1)}^"


def test_every_function_is_evaluated_or_says_so() -> None:
    predicates = {
        "all",
        "any",
        "one",
        "none",
        "filter",
        "map",
        "find",
        "findIndex",
        "findLast",
        "findLastIndex",
    }
    predicates |= {"groupBy", "sortBy", "reduce"}
    assert set(builtins()) == set(FUNCTIONS) | predicates
    missing = 0
    tried = set(
        re.findall(r"\bsprig\.(\w+)\(", "".join(path.read_text("utf-8") for path in FOLDER.iterdir()))
    )
    for name, signature in sprig().items():
        values = {"text": "'a'", "whole": "1", "number": "1.5", "flag": "true", "list": "[]", "map": "{}"}
        arguments = ", ".join(values.get(kind, "'a'") for kind in signature.arguments)
        try:
            evaluate(f"sprig.{name}({arguments})", {})
        except ExpressionError as error:
            if "is not evaluated here" in str(error):
                missing += 1
                continue
        assert name in tried or any(f"sprig.{name}(" in one for one in CHANCES), (
            f"no line has Go's answer of {name}"
        )
    assert missing <= 45


CHANCES = {
    "sprig.uuidv4()": r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
    "sprig.randAlphaNum(5)": r"[A-Za-z0-9]{5}",
    "sprig.randAlpha(300)": r"[A-Za-z]{300}",
    "sprig.randNumeric(3) + sprig.randAscii(2)": r"[0-9]{3}[ -~]{2}",
    "sprig.randAlpha(-1) + sprig.randBytes(0)": "",
    "sprig.randBytes(4)": r"[A-Za-z0-9+/]{6}==",
    "string(sprig.randInt(3, 5))": r"[34]",
    "sprig.shuffle('a\u00fcb')": r"(?=.*a)(?=.*\u00fc)(?=.*b)...",
    "join(map(1..3, sprig.trim(sprig.randAlpha(9))), ' ')": r"(\w{9}) (?!\1)(\w{9}) (?!\2)\w{9}",
    "join(map(1..2, join(map(1..2, sprig.randAlpha(9)), '')), ' ')": r"(\w{18}) (?!\1)\w{18}",
}


@pytest.mark.parametrize("expression", CHANCES)
def test_what_is_made_by_chance_is_the_same_for_the_same_seed(expression: str) -> None:
    def made() -> Any:
        with chance.by(chance.Chance("seed")):
            return evaluate(expression, {})

    assert re.fullmatch(CHANCES[expression], made())
    assert made() == made()
    with pytest.raises(NotHere):  # without a run, its value is unknown
        evaluate(expression, {})


def test_a_chance_among_no_numbers_is_an_error() -> None:
    with chance.by(chance.Chance("seed")), pytest.raises(ExpressionError, match="invalid argument to Intn"):
        evaluate("sprig.randInt(3, 3)", {})


@given(st.floats())
def test_floats_are_read_back(number: float) -> None:
    if math.isfinite(number):
        assert float(json_of(number)) == float(shown(number)) == number
        assert evaluate(f"asFloat('{number!r}')", {}) == number


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(-1e9, 1e9) | st.text(max_size=5), st.lists, max_leaves=5
    )
)
def test_values_survive_json(value: Any) -> None:
    scope = {"x": json_of(value)}
    assert json_of(evaluate("fromJSON(x)", scope)) == json_of(value)
    assert json_of(evaluate("fromJSON(toJSON(fromJSON(x)))", scope)) == json_of(value)


HOURS = (
    r"(?a)( [0-2]\d(:[0-6]\d){1,2}([+-]\d\d:?\d\d)?|T[0-2]\d(:[0-6]\d){0,2}(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)?)?"
)


@given(st.dates(), st.from_regex(HOURS, fullmatch=True))
def test_what_is_surely_a_time_is_read_as_a_number(day: date, hours: str) -> None:
    text = f"{day}{hours}"
    assert is_time(str(day))
    if is_time(text):
        assert isinstance(conditions.evaluate(f"'{text}'"), float)
