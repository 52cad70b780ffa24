"""Values on their way from the script of one step to that of the next: exact, or refused."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowdsl.compiler.encode import too_large
from flowdsl.compiler.steps import script_parts
from flowdsl.values.textual import ROWS, Textual
from tests.script.pods import PYTHONS, Python, Step, argo, check, every_python

# Texts that a step may return; the comments say what became of each on a cluster.
EXACT = [
    *("quotes \" and '", "line\nbreak", "tab\there", "back\\slash\\n", "\\u0041", "emoji 🙂", "flag 🇩🇪"),
    *("zwj 👩\u200d🔬", "\u2028\u2029", "", '"x"', "null", "true", "1e-5", '{"a":{"b":"}}"}}', "{ {", "}} {"),
    *("a{", "$(NAME)", "$$", "$$$", "end\n", "ends\n\n", "\n", " blank ", "\r\n", "ü", "\ufeff", "\ufffd"),
    *("\u00a0", "%s %d", "#", "---", "'"),
]

REFUSED = [
    "{{workflow.name}}",  # became the name of the run
    "{{=1+1}}",  # became 2
    "{{=bad syntax",  # node Error
    "{{ x }}",
    "\x07",  # node Error: Go quotes it as no JSON reader expects
    "\x00",
    "\x1b[0m",
    "\x7f",
    "\U000e0067",
    "\U0010fffd",
]


def test_the_pythons(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\nscripts run on {len(PYTHONS)} Pythons: {', '.join(map(str, PYTHONS))}\n")
    assert PYTHONS


# Values that are passed from one step to the next.
MAKER = """
import json
from pathlib import Path
from typing import Any, NamedTuple

class Item(NamedTuple):
    text: str
    number: float

class Made(NamedTuple):
{fields}
    listed: list[str]
    by_key: dict[str, str]
    records: list[Item]
    pair: tuple[str, float]
    anything: Any
    choice: str | None

@step(image="python")
def step(source: Path) -> Made:
    given = json.loads(source.read_text())
    texts, more = given["texts"], given["listed"]
    return Made(*texts, more, {{one: one for one in more}}, [Item(one, 0.1) for one in more],
                ("".join(more), 1e-7), given["anything"], more[0] if more else None)
"""

TAKER = """
import json
from pathlib import Path
from typing import Any, NamedTuple

class Item(NamedTuple):
    text: str
    number: float

@step(image="python")
def step({parameters}, listed: list[str], by_key: dict[str, str], records: list[Item],
         pair: tuple[str, float], anything: Any, choice: str | None) -> Path:
    assert all(type(one) is Item for one in records) and type(pair) is tuple
    texts = [{names}]
    Path("got").write_text(json.dumps([texts, listed, by_key, records, pair, anything, choice]))
    return Path("got")
"""


def hand_over(
    folder: Path, texts: list[str], listed: list[str], anything: Any, python: Python | None = None
) -> list[Any]:
    """Pass values from one step to the next; returns them as the next one receives them."""
    names = [f"text_{number}" for number in range(len(texts))]
    first, second = folder / "first", folder / "second"
    (first / "in").mkdir(parents=True)
    second.mkdir()
    given = {"texts": texts, "listed": listed, "anything": anything}
    (first / "in" / "source").write_text(json.dumps(given))
    maker = Step(MAKER.format(fields="\n".join(f"    {name}: str" for name in names)), first)
    values = check(maker.run(first, python=python)).values
    for name in ("listed", "by_key", "records", "pair", "anything", "choice"):
        assert values[name].isascii()
        assert values[name].isprintable()
        assert "$" not in values[name]
    parameters = ", ".join(f"{name}: str" for name in names)
    taker = Step(TAKER.format(parameters=parameters, names=", ".join(names)), second)
    found = check(taker.run(second, values, python=python)).out / "return"
    got: list[Any] = json.loads(found.read_text())
    return got


def expected(texts: list[str], listed: list[str], anything: Any) -> list[Any]:
    return [
        texts,
        listed,
        {one: one for one in listed},
        [[one, 0.1] for one in listed],
        ["".join(listed), 1e-7],
        anything,
        listed[0] if listed else None,
    ]


@every_python
def test_values_arrive_byte_for_byte(python: Python, tmp_path: Path) -> None:
    listed = [*EXACT, *REFUSED]
    anything = {"deep": [{one: [one]} for one in listed], "numbers": [1e21, 10**30, -0.0, 5e-324, True, None]}
    assert hand_over(tmp_path, EXACT, listed, anything, python) == expected(EXACT, listed, anything)


JSON_TEXT = st.text(st.characters(codec=None)) | st.text("{}$()=\\\"' \n\x07\x7f\U000e0067n0")

SAFE_TEXT = st.text(
    st.characters(codec="utf-8", max_codepoint=0xFFFF, exclude_categories=["Cc", "Cs"])
    | st.sampled_from("\t\n\r")
).filter(lambda text: "{{" not in text and "\x00" not in text)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | JSON_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(JSON_TEXT, inner, max_size=4),
    max_leaves=8,
)

FOLDERS = itertools.count()


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.lists(SAFE_TEXT, min_size=20, max_size=60),
    st.lists(JSON_TEXT, max_size=40),
    st.lists(JSON, min_size=5, max_size=20),
)
def test_any_values_arrive(tmp_path: Path, texts: list[str], listed: list[str], anything: Any) -> None:
    folder = tmp_path / str(next(FOLDERS))
    assert hand_over(folder, texts, listed, anything) == expected(texts, listed, anything)


PARTS: dict[str, Callable[..., Any]] = {}
exec(f"import {', '.join(script_parts.IMPORTS)}\n" + "\n".join(script_parts.PARTS.values()), PARTS)


@settings(max_examples=200)
@given(JSON)
def test_the_safe_json(value: Any) -> None:
    anything = PARTS["anything"]
    text = PARTS["as_json"](anything)(value)
    assert text.isascii()
    assert text.isprintable()
    assert not {"{{", "$"} & {text[at : at + size] for at in range(len(text)) for size in (1, 2)}
    assert PARTS["parsed"](anything)(text) == value
    assert json.loads(text) == value


@settings(max_examples=200)
@given(st.text() | st.text("{\n\x07\x7f\U000e0067\U0001f642\ue000"))
def test_text_is_exact_or_refused(text: str) -> None:
    encode = PARTS["as_text"](PARTS["string"])
    try:
        written = encode(text)
    except ValueError:
        return
    assert argo(written.encode()) == text


@pytest.mark.parametrize("value", [[2**53 + 1], {"a": [{"b": -(2**60)}]}, [1, [2, 2**53 + 2]]])
def test_what_argo_would_round_is_refused_where_it_takes_parts(value: Any) -> None:
    with pytest.raises(ValueError, match=r"Argo would round -?\d+ when it takes it out: return it as a str"):
        PARTS["exact"](PARTS["anything"])(value)


@settings(max_examples=100)
@given(JSON)
def test_what_argo_keeps_is_handed_on(value: Any) -> None:
    if too_large(value) is None:
        assert PARTS["exact"](PARTS["anything"])(value) == value
    else:
        with pytest.raises(ValueError, match="Argo would round"):
            PARTS["exact"](PARTS["anything"])(value)


def test_the_rows_of_a_list_with_files() -> None:
    def cells(file: Callable[..., str], value: Any) -> dict[str, str]:
        return {"text": PARTS["as_text"](PARTS["string"])(value[0]), "file": file(value[1])}

    rows = PARTS["rows_of"](cells)
    assert rows([("a\n", Path("x/a b.txt")), ("b", None), ("c", Path("x/a b.txt"))]) == [
        {"text": "a\n", "file": "0-a b.txt", "flowdsl-index": "/0"},
        {"text": "b", "file": "none", "flowdsl-index": "/1"},
        {"text": "c", "file": "1-a b.txt", "flowdsl-index": "/2"},
    ]
    for name in ("a$$b", "$(HOME)", "{{=1}}", "bell\x07"):
        with pytest.raises(ValueError, match="Argo"):
            rows([("", Path(name))])


REFUSING = """
import json
from pathlib import Path

@step(image="python")
def step(number: int) -> str:
    return json.loads(Path("../in/texts").read_text())[number]
"""


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_unsafe_text_is_refused(number: int, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "texts").write_text(json.dumps(REFUSED))
    pod = Step(REFUSING, tmp_path).run(tmp_path, {"number": str(number)})
    assert pod.code == 1
    assert pod.stderr.startswith("step step, output return (str): Argo ")
    assert pod.stderr.endswith("return a Path, or a list of str\n")
    assert pod.stderr.count("\n") == 1
    assert not pod.values


TEXTUAL = {
    "date": st.dates(),
    "time": st.times(),
    "datetime": st.datetimes(timezones=st.none() | st.timezones()),
    "timedelta": st.timedeltas(),
    "UUID": st.uuids(),
    "Decimal": st.decimals(),
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@given(st.data())
def test_a_class_of_the_table_is_written_in_steps_as_outside(row: Textual, data: st.DataObject) -> None:
    write, read = (PARTS[name](row.cls) for name in (row.form, f"from_{row.form}"))
    value = data.draw(TEXTUAL[row.name])
    text = write(value)
    assert row.text(value) == text
    assert repr(row.value(text)) == repr(read(text))
    assert row.text(row.value(text)) == text


@pytest.mark.parametrize("text", ["20260131", "2026-W05-6"])
def test_a_date_that_argo_would_compare_as_another_is_refused(text: str) -> None:
    (row,) = (one for one in ROWS if one.name == "date")
    with pytest.raises(ValueError, match="it is written 2026-01-31"):
        row.value(text)
    with pytest.raises(ValueError, match=f"expected 2026-01-31, got '{text}'"):
        PARTS[f"from_{row.form}"](row.cls)(text)


@pytest.mark.parametrize(
    "text", ["7d", "1w2d", "-500ms", "1.5h", "5us", "0s", "", "-", "1", "1y", "1h 2m", "1.2.3s"]
)
def test_a_duration_is_read_in_steps_as_outside(text: str) -> None:
    (row,) = (one for one in ROWS if one.name == "timedelta")
    read: Callable[[str], Any] = PARTS[f"from_{row.form}"](row.cls)
    try:
        value = row.value(text)
    except ValueError:
        with pytest.raises(ValueError, match=r"expected a duration|could not convert"):
            read(text)
    else:
        assert read(text) == value
