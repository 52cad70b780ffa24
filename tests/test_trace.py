"""Calls, conditions and choices: what a pipeline's body adds to the graph, and what is said of its mistakes."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from flowdsl import pipeline, run, step
from flowdsl.compiler.load import LoadError, load
from flowdsl.diagnostic import Finding
from flowdsl.places.place import Argument, Definition, Site
from flowdsl.tracing.body import BodyError, trace_pipeline
from flowdsl.tracing.trace import OutsidePipeline
from flowdsl.values.expr import Const, Either, Join, Op, Out, Param, RunField, leaves
from flowdsl.values.value import RunTimeValue
from tests.snippets import HEAD, Found, compile_body, compile_text, marked, plain

if TYPE_CHECKING:
    from pathlib import Path

    from flowdsl.tracing.trace import Trace

LATER = "\nuse_int.options(name='later')(«'later'»)"

# --- binding: every mistake of a call, each with its own place ---------------------------------------

CALLS = [
    ("two()", ["FD202"], "«two()»"),
    ("two(1, 'a', 2.0)", ["FD201"], "two(1, 'a', «2.0»)"),
    ("two(1, 'a', 2.0, 3)", ["FD201"], "two(1, 'a', «2.0», 3)"),
    ("two(1, secnd='a')", ["FD203"], "two(1, «secnd»='a')"),
    ("two(frist=1)", ["FD203"], "two(«frist»=1)"),
    # One unknown and one missing name are one mistake, even if they are not similar.
    ("two(learning_rate=1)", ["FD203"], "two(«learning_rate»=1)"),
    ("two(1, first=2)", ["FD204"], "two(1, «first»=2)"),
    ("two('a', 2, third='b')", ["FD205"] * 3, "two(«'a'», «2», third=«'b'»)"),
    ("two('a', thrid=1.0, other=2)", ["FD205", "FD203", "FD203"], "two(«'a'», «thrid»=1.0, «other»=2)"),
    ("two(third='a')", ["FD202", "FD205"], "«two(third='a')»"),
    ("two(\n    n,\n    second=n,\n)", ["FD205"], "two(\n    n,\n    second=«n»,\n)"),
    ("two(*['a'])", ["FD205"], "«two(*['a'])»"),
    ("two(**{'first': 'a'})", ["FD205"], "«two(**{'first': 'a'})»"),
    ("functools.partial(two, 'a')()", ["FD205"], "«functools.partial(two, 'a')()»"),
    ("functools.partial(two, 1)(2)", ["FD205"], "«functools.partial(two, 1)(2)»"),
    ("list(map(two, ['a']))", ["FD205"], "list(«map(two, ['a'])»)"),
    ("[two(k) for k in 'a']", ["FD205"], "[two(«k») for k in 'a']"),
    ("(lambda k: two(k))('a')", ["FD205"], "(lambda k: two(«k»))('a')"),
    ("two(two('a'))", ["FD205", "FD205"], "two(«two(«'a'»)»)"),
    ("two(number().field)", ["FD224"], "two(«number().field»)"),
    ("two.options(memory='1Gi')('a')", ["FD205"], "two.options(memory='1Gi')(«'a'»)"),
    ("two(1, 'é' + s, third='ü')", ["FD205"], "two(1, 'é' + s, third=«'ü'»)"),
    ("two(1); two(2, 3)", ["FD205"], "two(1); two(2, «3»)"),
]


def nested(text: str) -> list[str]:
    """The marked texts, which may be nested, in the order in which they begin."""
    starts: list[int] = []
    found: list[tuple[int, str]] = []
    for at, character in enumerate(text):
        if character == "«":
            starts.append(at)
        elif character == "»":
            start = starts.pop()
            found.append((start, plain(text[start : at + 1])))
    return [one for _, one in sorted(found)]


@pytest.mark.parametrize(("body", "codes", "places"), CALLS, ids=[body for body, *_ in CALLS])
def test_each_mistake_of_a_call_has_its_own_place(
    body: str, codes: list[str], places: str, tmp_path: Path
) -> None:
    found = compile_body(tmp_path, body + LATER)
    texts = nested(places)
    if body == "two(third='a')":
        texts.append("'a'")
    assert found.findings() == [*zip(codes, texts, strict=True), ("FD205", "'later'")]


def test_a_loop_names_what_a_call_takes_by_position(tmp_path: Path) -> None:
    before = """
        @step(image="python:3.12-slim")
        def weigh(first: int, /, second: int) -> float:
            return first / second
    """
    body = "fan_out(weigh, over={'second': [1, 2]}, first=n)\nweigh(«first»=1, second=2)"
    assert compile_body(tmp_path, body, before).findings() == [("FD203", "first")]


def test_a_mistake_of_a_call_shows_the_signature(tmp_path: Path) -> None:
    found = compile_body(tmp_path, "two(1, secnd='a')")
    ((diagnostic,), (related,)) = found.compiled.diagnostics, found.compiled.diagnostics[0].related
    assert diagnostic.finding.caption == "did you mean `second`?"
    assert related.message == "two(first: int, second: str = 's', *, third: float = 1.0)"
    span = found.loaded.sources.resolve(related.place)
    assert span is not None
    assert found.loaded.sources.excerpt(span)[0][span.column - 1 : span.end_column - 1] == "two"


def test_a_mistake_in_a_helper_points_into_the_helper(tmp_path: Path) -> None:
    before = """
        def both_ways(value):
            use_int(«value»)
            return use_str.options(name="again")(«1»)
    """
    found = compile_body(tmp_path, "both_ways('a')\nboth_ways('a')", before)
    assert found.findings() == [("FD205", "value"), ("FD205", "1")]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return float(value)", [("FD226", "checked(n)")]),
        (
            'raise ValueError(f"1 error\\nnot {type(value)} but {value!r}")',
            [("FD226", "checked(n)")],
        ),
        ("return float(value)\nimport flowdsl", [("FD209", "float(value)")]),
        ("return float(value)\nimport loads_parts", [("FD226", "checked(n)")]),
    ],
)
def test_a_mistake_in_an_installed_package_is_one_of_its_caller(
    body: str, told: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site-packages"
    site.mkdir()
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])
    inside, _, after = body.partition("\n")
    (site / "checks_values.py").write_text(
        f"{after}\n\ndef checked(value):\n    {inside}\n", encoding="utf-8"
    )
    (site / "loads_parts").mkdir()
    (site / "loads_parts/__init__.py").write_text(
        "def __getattr__(name): raise ImportError(name)\n", encoding="utf-8"
    )
    monkeypatch.delitem(sys.modules, "checks_values", raising=False)
    found = compile_body(tmp_path, "checked(n)", "from checks_values import checked\n")
    assert found.findings() == told


def test_a_call_with_mistakes_still_answers_its_type(tmp_path: Path) -> None:
    body = """
        found = train(lr=«"a"»)
        use_float(found.accuracy)
        use_float.options(name="b")(found.«» accuracy if False else «found.acuracy»)
    """.replace("«» ", "")
    assert compile_body(tmp_path, body).findings() == [("FD205", '"a"'), ("FD206", "found.acuracy")]


def test_a_step_that_a_decorator_wraps_keeps_its_signature_and_place(tmp_path: Path) -> None:
    before = """
        def timed(function):
            @functools.wraps(function)
            def inner(*args, **named):
                return function(*args, **named)
            return inner

        @step(image="i:1")
        @timed
        def fit(lr: float, layers: «complex», depth: int = «"a"») -> float: ...

        @step(image="i:1")
        @timed
        def score_it(value: float) -> float: return value
    """
    found = compile_body(tmp_path, "fit(x, layer=1)\nuse_float(score_it(«s»))", before)
    assert found.findings() == [("FD286", "complex"), ("FD238", '"a"'), ("FD203", "layer"), ("FD205", "s")]


def test_a_pipeline_that_a_decorator_wraps_is_traced(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
def timed(function):
    @functools.wraps(function)
    def inner(*args, **named):
        return function(*args, **named)
    return inner

@pipeline
@timed
def main(n: int = 1) -> None:
    use_int(«n.field»)
    two(«s»=1)
    if «n is None»:
        pass
"""
    )
    assert compile_text(tmp_path, text).findings() == [
        ("FD224", "n.field"),
        ("FD203", "s"),
        ("FD298", "n is None"),
    ]


def test_a_step_without_parentheses_is_a_step(tmp_path: Path) -> None:
    before = """
        @step
        def bare(k: int) -> int: return k
    """
    assert compile_body(tmp_path, "use_int(bare.options(image='i:1')(n))", before).messages() == []
    (message,) = compile_body(tmp_path, "use_int(bare(n))", before).messages()
    assert message == "`bare` has no image"


def test_annotations_that_cannot_be_read_are_one_mistake(tmp_path: Path) -> None:
    before = """
        @step(image="i:1")
        def torn(a: «Missing», b: int) -> None: ...
    """
    found = compile_body(tmp_path, "torn(1)\ntorn.options(name='b')(1, 2, 3, c=4)", before)
    assert found.findings() == [("FD288", "Missing")]


# --- conditions --------------------------------------------------------------------------------------

CONDITIONS = {
    "with when(flag):\n    use(1)": {"use": "{{=inputs.parameters['flag'] == 'true'}}"},
    "with unless(flag):\n    use(1)": {"use": "{{=not(inputs.parameters['flag'] == 'true')}}"},
    "with when(n > 1):\n    use(1)\nwith otherwise():\n    nothing()": {
        "use": "{{=asInt(inputs.parameters['n']) > 1}}",
        "nothing": "{{=not(asInt(inputs.parameters['n']) > 1)}}",
    },
    "with unless(flag):\n    use(1)\nwith otherwise():\n    nothing()": {
        "use": "{{=not(inputs.parameters['flag'] == 'true')}}",
        "nothing": "{{=not(not(inputs.parameters['flag'] == 'true'))}}",
    },
    "with when(flag), when(n > 1):\n    use(1)": {
        "use": "{{=(inputs.parameters['flag'] == 'true') && (asInt(inputs.parameters['n']) > 1)}}"
    },
    "with when(flag):\n    with when(n > 1):\n        use(1)\n    with otherwise():\n        nothing()": {
        "use": "{{=(inputs.parameters['flag'] == 'true') && (asInt(inputs.parameters['n']) > 1)}}",
        "nothing": "{{=(inputs.parameters['flag'] == 'true') && (not(asInt(inputs.parameters['n']) > 1))}}",
    },
    "with when(flag):\n    with when(n > 1):\n        use(1)\nwith otherwise():\n    nothing()": {
        "use": "{{=(inputs.parameters['flag'] == 'true') && (asInt(inputs.parameters['n']) > 1)}}",
        "nothing": "{{=not(inputs.parameters['flag'] == 'true')}}",
    },
    "with when(opt != None):\n    use(1)\nuse.options(name='b')(2)": {
        "use": "{{=inputs.parameters['opt'] != 'null'}}"
    },
    "with when(ready()):\n    use(1)": {"use": "{{=tasks['ready'].outputs.parameters['return'] == 'true'}}"},
    "with when(mode == Mode.FAST):\n    nothing()\nwith otherwise():\n    use(1)": {
        "nothing": "{{=inputs.parameters['mode'] == 'FAST'}}",
        "use": "{{=not(inputs.parameters['mode'] == 'FAST')}}",
    },
}


@pytest.mark.parametrize("body", CONDITIONS)
def test_a_condition_holds_for_the_tasks_in_its_block(body: str, tmp_path: Path) -> None:
    found = compile_body(tmp_path, body)
    assert found.messages() == []
    conditions = {name: task["when"] for name, task in found.tasks().items() if "when" in task}
    assert conditions == CONDITIONS[body]


MISUSED = [
    ("FD230", "with when(«True»):\n    use(1)"),
    ("FD230", "with unless(«1 > 2»):\n    use(1)"),
    ("FD230", "with when(«[n]»):\n    use(1)"),
    ("FD230", "with when(«f'{n}'»):\n    use(1)"),
    ("FD230", "when(«True»)"),
    ("FD231", "with when(«n»):\n    use(1)"),
    ("FD231", "with when(«opt»):\n    use(1)"),
    ("FD380", "with when(«nothing()»):\n    use(1)"),
    ("FD231", "with when(condition=«n»):\n    use(1)"),
    ("FD207", "with when(«not flag»):\n    use(1)"),
    ("FD207", "with when(«flag and n > 1»):\n    use(1)"),
    ("FD212", "with when(«n > 'a'»):\n    use(1)"),
    ("FD232", "with «otherwise()»:\n    use(1)"),
    ("FD232", "with when(flag):\n    use(1)\nnothing()\nwith «otherwise()»:\n    use(2)"),
    ("FD232", "with when(flag):\n    use(1)\n    with «otherwise()»:\n        use(2)"),
    ("FD232", "with when(flag):\n    use(1)\nwith otherwise():\n    use(2)\nwith «otherwise()»:\n    use(3)"),
    ("FD249", "«when(flag)»"),
    ("FD249", "«unless(n > 1)»\nuse(1)"),
    ("FD249", "with when(flag):\n    use(1)\n«otherwise()»"),
    ("FD249", "for _ in range(2):\n    «when(flag)»"),
]


@pytest.mark.parametrize(("code", "body"), MISUSED, ids=[f"{code} {plain(body)}" for code, body in MISUSED])
def test_a_misused_condition_is_reported_and_the_body_goes_on(code: str, body: str, tmp_path: Path) -> None:
    found = compile_body(tmp_path, body + LATER)
    assert found.findings() == [(code, *marked(body)), ("FD205", "'later'")]


# --- values of branches and of other pipelines -----------------------------------------------------

ESCAPES = [
    "with when(flag):\n    k = number()\nuse(«k»)",
    "with when(flag):\n    k = number()\nuse(«[1, k]»)",
    "with when(flag):\n    k = word()\nuse_str(«f'<{k}>'»)",
    "with when(flag):\n    k = number()\nuse_int(«k + 1»)",
    "with when(flag):\n    k = train()\nuse_path(«k.model»)",
    "with when(flag):\n    k = number()\nwith otherwise():\n    use(«k»)",
    "with when(flag):\n    k = number()\nwith when(flag):\n    use(«k»)",
    "with when(flag):\n    k = number()\nwith when(«k > 1»):\n    use(1)\nwith otherwise():\n    use(2)",
    "with when(flag):\n    k = number()\nuse(«either(k + 1, k)»)",
    "with when(flag):\n    k = number()\n    j = number()\nuse(«either(k, j)»)",
    "with when(flag):\n    k = number()\nuse(v=«k»)",
]


@pytest.mark.parametrize("body", ESCAPES, ids=plain)
def test_a_value_of_a_branch_stays_in_it(body: str, tmp_path: Path) -> None:
    found = compile_body(tmp_path, body)
    assert found.findings() == [("FD291", *marked(body))]
    (diagnostic,) = found.compiled.diagnostics
    (related,) = diagnostic.related
    span = found.loaded.sources.resolve(related.place)
    assert span is not None
    assert found.loaded.sources.excerpt(span)[0].strip().startswith("with when(flag)")


STAYS = [
    "with when(flag):\n    k = number()\n    use(k)",
    "with when(flag):\n    k = number()\n    with when(k > 1):\n        use(k)",
    "with when(flag):\n    k = number()\nuse(either(k, 0))",
    "with when(flag):\n    k = number()\nwith otherwise():\n    j = number()\nuse(either(k, j))",
    "with when(flag):\n    k = number()\nwith when(n > 1):\n    j = number()\nuse(either(k, either(j, 0)))",
    "with when(flag):\n    k = number()\nnothing.options(after=[k])()",
]


@pytest.mark.parametrize("body", STAYS)
def test_what_may_be_done_with_a_value_of_a_branch(body: str, tmp_path: Path) -> None:
    assert compile_body(tmp_path, body).messages() == []


def test_values_of_another_pipeline_are_reported(tmp_path: Path) -> None:
    before = """
        KEPT = []

        @pipeline
        def inner(n: int) -> int:
            use_int(«KEPT[0]»)
            use_int.options(name="b")(«KEPT[1] + n»)
            with when(«KEPT[2]»):
                nothing.options(after=«KEPT[1]»)()
            return number()
    """
    body = "KEPT.extend([n, number(), flag])\nuse_int(inner(n))"
    found = compile_body(tmp_path, body, before)
    assert found.findings() == [
        ("FD292", "KEPT[0]"),
        ("FD292", "KEPT[1] + n"),
        ("FD292", "KEPT[2]"),
        ("FD228", "KEPT[1]"),
    ]


def test_what_a_loop_hands_on_is_taken_whole_or_by_its_rows(tmp_path: Path) -> None:
    body = """
        found = fan_out(double, over={"k": [1, 2]})
        use_list(found)
        use_int(found[0])
        use_list.options(name="a")(«[found[0], *[k for k in [1]]] if False else found»)
        use([found])
        use_dict(«{"a": found[0], "b": found}»)
    """
    before = """
        @step(image="i:1")
        def double(k: int) -> int: return 2 * k
    """
    found = compile_body(tmp_path, body, before)
    assert found.findings() == [("FD205", "found")]


# --- either --------------------------------------------------------------------------------------------

OPT, OPTN = "inputs.parameters['opt']", "inputs.parameters['optn']"
A, B = "tasks['a'].outputs.parameters['return']", "tasks['b'].outputs.parameters['return']"
BRANCH = "with when(flag):\n    a = {}()\nwith otherwise():\n    b = {}()\n"

CHOICES = {
    "use_str(either(opt, 'none'))": f"{{{{=({OPT} == 'null' ? 'none' : fromJSON({OPT}))}}}}",
    "use_str(either(opt, s))": f"{{{{=({OPT} == 'null' ? inputs.parameters['s'] : fromJSON({OPT}))}}}}",
    "use_int(either(optn, 3))": f"{{{{=({OPTN} == 'null' ? '3' : {OPTN})}}}}",
    "use_float(either(optn, 1.5))": f"{{{{=({OPTN} == 'null' ? '1.5' : {OPTN})}}}}",
    "use_int(either(optn, 3) + 1)": f"{{{{=asInt(({OPTN} == 'null' ? '3' : {OPTN})) + 1}}}}",
    "use_str(f'<{either(opt, s)}>')": f"<{{{{=({OPT} == 'null' ? inputs.parameters['s'] : fromJSON({OPT}))}}}}>",
    BRANCH.format("number", "number") + "use_int(either(a, b))": f"{{{{=({A} ?? {B})}}}}",
    BRANCH.format("word", "word") + "use_optional(either(a, b))": f"{{{{=toJSON(({A} ?? {B}))}}}}",
    BRANCH.format("note", "note") + "use_optional(either(a, b))": (
        f"{{{{=(({A} ?? 'null') == 'null' ? ({B} ?? 'null') : ({A} ?? 'null'))}}}}"
    ),
    BRANCH.format("word", "note")
    + "use_optional(either(a, b))": f"{{{{=toJSON({A} ?? fromJSON(({B} ?? 'null')))}}}}",
    BRANCH.format("share", "number") + "use_float(either(a, b))": f"{{{{=({A} ?? {B})}}}}",
    BRANCH.format("number", "share") + "use_float(either(a, b))": f"{{{{=({A} ?? {B})}}}}",
    BRANCH.format("a_file", "a_file") + "use_path(either(a, b))": f"{{{{=({A} ?? {B})}}}}",
    BRANCH.format("train", "train") + "use_path(either(a, b).model)": (
        "{{=(tasks['a'].outputs.parameters['model'] ?? tasks['b'].outputs.parameters['model'])}}"
    ),
    BRANCH.format("pair", "pair") + "left, right = either(a, b)\nuse_int(left)": (
        "{{=(tasks['a'].outputs.parameters['left'] ?? tasks['b'].outputs.parameters['left'])}}"
    ),
    "with when(flag):\n    a = score()\nuse_float(either(a, Score(0.5)).loss)": (
        "{{=(tasks['a'].outputs.parameters['loss'] ?? '0.5')}}"
    ),
    "with when(flag):\n    a = numbers()\nuse_list(either(a, [n]))": (
        f"{{{{=({A} ?? ('[' + inputs.parameters['n'] + ']'))}}}}"
    ),
}


@pytest.mark.parametrize("body", CHOICES)
def test_either_is_the_value_of_whichever_ran(body: str, tmp_path: Path) -> None:
    found = compile_body(tmp_path, body)
    assert found.messages() == []
    assert found.argument() == CHOICES[body]


NO_CHOICE = [
    ("FD210", "use_paths(either(«maybe_files()», [a_file()]))"),
    ("FD233", "use(either(«1», 2))"),
    ("FD233", "use(either(«None», n))"),
    ("FD234", "use(either(opt, «3»))"),
    ("FD234", "use(either(n, «'a'»))"),
    ("FD234", "use(either(n, «s»))"),
    ("FD234", "use(either(score(), «pair()»))"),
    ("FD234", "use(either(flag, «1»))"),
    ("FD205", "use_str(«either(opt, note())»)"),
    ("FD205", "use_str(«either(opt, None)»)"),
    ("FD205", "use_int(«either(optn, 1.5)»)"),
    ("FD219", "use(either(s, «'{{=x}}'»))"),
    ("FD222", "use_path(either(a_file(), «'a/b'»))"),
    ("FD223", "use(«either(opt, note()).upper»())"),
]


@pytest.mark.parametrize(
    ("code", "body"), NO_CHOICE, ids=[f"{code} {plain(body)}" for code, body in NO_CHOICE]
)
def test_a_choice_that_is_none_is_reported(code: str, body: str, tmp_path: Path) -> None:
    before = """
        @step(image="i:1")
        def maybe_files() -> list[Path] | None: ...
        @step(image="i:1")
        def use_paths(x: list[Path]) -> None: ...
    """
    found = compile_body(tmp_path, body + LATER, before)
    assert found.findings() == [(code, *marked(body)), ("FD205", "'later'")]


# --- after and the other options of a call ----------------------------------------------------------------


def test_order_without_data(tmp_path: Path) -> None:
    body = """
        first = nothing()
        second = pair.options(after=[first])()
        rows = fan_out(double, over={"k": [1, 2]})
        third = use.options(name="third", after=(first, second.left, rows))(1)
        use.options(after=third)(2)
    """
    before = """
        @step(image="i:1")
        def double(k: int) -> int: return 2 * k
    """
    found = compile_body(tmp_path, body, before)
    assert found.messages() == []
    waits = {name: task.get("depends", "") for name, task in found.tasks().items()}
    assert {name: waits[name] for name in ("second", "third", "use")} == {
        "second": "first",
        "third": "first && second && rows",
        "use": "third",
    }


OPTIONS = [
    ("FD228", "nothing.options(after=«[1]»)()"),
    ("FD228", "nothing.options(after=«[n]»)()"),
    ("FD228", "nothing.options(after=«number»)()"),
    ("FD228", "nothing.options(after=«'a'»)()"),
    ("FD270", "nothing.options(«afer»=[number()])()"),
    ("FD270", "for _ in range(2):\n    nothing.options(«afer»=[number()])()"),
    ("FD602", "use(inner.options(«memory»='1Gi')())"),
    ("FD273", "nothing.options(memory=«'8GB'»)()"),
    ("FD271", "nothing.options(memory=«s»)()"),
]


@pytest.mark.parametrize(("code", "body"), OPTIONS, ids=[f"{code} {plain(body)}" for code, body in OPTIONS])
def test_what_one_call_may_not_say(code: str, body: str, tmp_path: Path) -> None:
    before = """
        @pipeline
        def inner() -> int:
            return number()
    """
    found = compile_body(tmp_path, body + LATER, before)
    assert found.findings() == [(code, *marked(body)), ("FD205", "'later'")]


def test_options_judges_only_what_it_overrides(tmp_path: Path) -> None:
    before = """
        @step(image="i:1", memory=«"8GB"»)
        def big() -> None: ...
    """
    body = "big()\nbig.options(name='a')()\nbig.options(name='b', timeout='1h')()"
    assert compile_body(tmp_path, body, before).findings() == [("FD273", '"8GB"')]


# --- pipelines ---------------------------------------------------------------------------------------------


def test_a_mistake_in_a_pipeline_that_two_others_call_is_shown_once(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
@pipeline
def inner(k: int) -> int:
    if «k»:
        pass
    return number()

@pipeline
def first(k: int = 1) -> None:
    use_int(inner(k))
    use_int.options(name="again")(inner.options(name="more")(k))

@pipeline
def second(k: int = 1) -> None:
    use_int(inner(k))
"""
    )
    found = compile_text(tmp_path, text)
    assert set(found.findings()) == {("FD207", "k")}


def test_a_pipeline_that_calls_itself_is_reported(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
@pipeline
def main(k: int = 1) -> None:
    use_int(k)
    other(k)

@pipeline
def other(k: int) -> None:
    nothing()
    main(k)
"""
    )
    ((code, place),) = compile_text(tmp_path, text).findings()
    assert (code, place) == ("FD235", "other(k)")


def test_a_plain_function_that_calls_steps_is_inlined(tmp_path: Path) -> None:
    body = """
        def publish(value, name):
            with when(value > 1):
                use_int.options(name=name)(value)
        for name in ("a", "b"):
            publish(n, name)
    """
    assert list(compile_body(tmp_path, body).tasks()) == ["a", "b"]


# --- by themselves --------------------------------------------------------------------------------------------


@step(image="python:3.12-slim")
def double(value: int) -> int:
    return 2 * value


@step(image="python:3.12-slim")
def label(text: str) -> str:
    return text


@pipeline
def small(value: int = 1) -> str:
    return label(f"{run.name}: {double(value) + value}")


@pipeline
def wrong(value: Any = 1) -> int:
    double(value=value.field)
    raise RuntimeError("after a mistake")


@pipeline
def raising() -> None:
    raise LookupError("its own")


def definition(of: Any) -> Any:
    return of._definition


def test_a_trace_is_the_calls_and_the_result() -> None:
    trace = trace_pipeline(definition(small))
    (graph,) = trace.graphs.values()
    first, second = graph.calls
    assert (first.target.name, second.target.name) == ("double", "label")
    assert first.arguments == {"value": Param("value", graph.inputs["value"].type)}
    text = second.arguments["text"]
    assert isinstance(text, Join)
    one, colon, total = text.parts
    assert isinstance(one, RunField)
    assert colon == ": "
    assert isinstance(total, Op)
    assert [leaf.task is first for leaf in leaves(total) if isinstance(leaf, Out)] == [True]
    assert isinstance(graph.result, Out)
    assert graph.result.task is second
    assert trace.problems == []


def test_the_mistakes_before_an_exception_are_kept() -> None:
    trace: Trace = trace_pipeline(definition(wrong))
    assert [one.finding.code for one in trace.problems] == ["FD224", "FD229"]
    assert isinstance(trace.problems[0].place, Site)


def test_an_exception_of_the_body_itself_is_raised() -> None:
    with pytest.raises(BodyError) as caught:
        trace_pipeline(definition(raising))
    assert isinstance(caught.value.original, LookupError)


def test_tracing_leaves_nothing_behind() -> None:
    trace_pipeline(definition(small))
    assert double(2) == 4
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(double(3)))
    thread.start()
    thread.join()
    assert found == [6]


def test_words_of_the_language_outside_a_pipeline_say_so() -> None:
    with pytest.raises(OutsidePipeline, match="its steps can be called as functions"):
        small(1)
    with pytest.raises(OutsidePipeline, match="no attribute `upper`"):
        run.name.upper()
    with pytest.raises(OutsidePipeline, match="used as a class"):
        RunTimeValue()


def test_the_place_of_an_argument_knows_how_many_arrived() -> None:
    trace = trace_pipeline(definition(small))
    (graph,) = trace.graphs.values()
    first, second = graph.calls
    assert first.argument("value") == Argument(first.site, None, 0, arrived=1)
    assert second.argument("text") == Argument(second.site, None, 0, arrived=1)
    assert second.argument("other") == Argument(second.site, "other")


def test_a_definition_is_that_of_the_function_inside_its_decorators(tmp_path: Path) -> None:
    path = tmp_path / "pipeline.py"
    path.write_text(
        "import functools\nfrom flowdsl import step\n"
        "def timed(f):\n    @functools.wraps(f)\n    def inner(*a): return f(*a)\n    return inner\n"
        "@step(image='i')\n@timed\ndef fit(lr: float) -> float: return lr\n"
    )
    loaded = load(path)
    found = definition(vars(loaded.module)["fit"])
    span = loaded.sources.resolve(Definition(found.code, "lr"))
    assert span is not None
    assert (span.line, span.column) == (9, 9)
    assert vars(loaded.module)["fit"](0.5) == 0.5


@pytest.mark.parametrize("name", ["message", "caption", "advice", "words", "title", "label", "help", "code"])
def test_a_finding_has_no_field_with_the_name_of_another_part(name: str) -> None:
    with pytest.raises(TypeError, match=name):
        type("Wrong", (Finding,), {"__annotations__": {name: "str"}})


def test_an_expression_is_frozen_and_compares_by_content() -> None:
    kind = Param("a", Const(1, RunField("name").type).type)
    assert kind == Param("a", kind.type)
    assert len({kind, Param("a", kind.type)}) == 1
    assert Either((kind,), kind.type) != Either((), kind.type)


def test_a_file_that_fails_while_it_is_loaded_is_not_traced(tmp_path: Path) -> None:
    with pytest.raises(LoadError):
        compile_text(tmp_path, HEAD + "raise ValueError\n")


def test_found_is_in_the_order_of_the_file(tmp_path: Path) -> None:
    found: Found = compile_body(tmp_path, "use_int('a')\nuse_int('b')")
    assert found.findings() == [("FD205", "'a'"), ("FD205", "'b'")]
