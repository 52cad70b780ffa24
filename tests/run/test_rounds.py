"""The rounds of loops at the end of a run: a row for each, with what it took and what it gave."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowdsl.cli.app import run
from flowdsl.runtime.local.rounds import value_of
from tests.commands import Result, finished
from tests.run.files import FLAGS, rows

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_loop_of_one_round_shows_its_item(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "one.py").write_text(
        """\
from flowdsl import fan_out, pipeline, step

@step(image="python:3.12-slim")
def half(number: float) -> float:
    return number / 2

@pipeline
def halves() -> list[float]:
    return fan_out(half, over={"number": [1.5]})
"""
    )
    lines = rows(flowdsl("one.py", "-q").out)
    assert ["#", "number", "return"] in lines
    assert ["0", "1.5", "0.75"] in lines


def test_of_many_rounds_some_are_shown_and_how_to_see_the_others(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "many.py").write_text(
        """\
from flowdsl import fan_out, pipeline, step

@step(image="python:3.12-slim")
def half(number: float) -> float:
    return number / 2

@pipeline
def halves() -> list[float]:
    return fan_out(half, over={"number": [float(number) for number in range(60)]})
"""
    )
    out = flowdsl("many.py", "-q", "--fake", "half=1", "--name", "many").out
    assert "\n29    29.0     1.0\n... 30 more: flowdsl get many --rounds -o wide\n" in out
    assert "\n49    49.0     1.0\n... 10 more: -o wide\n" in finished("get", "many", "--rounds").out
    assert "more" not in finished("get", "many", "--rounds", "-o", "wide").out


def test_a_round_that_prints_no_json_is_named(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "rounds.yaml").write_text(
        """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: rounds}
spec:
  entrypoint: main
  templates:
    - name: main
      steps:
        - - {name: each, template: each, withItems: [1, 2], arguments: {parameters: [{name: x, value: "{{item}}"}]}}
        - - {name: all, template: all, arguments: {parameters: [{name: x, value: "{{steps.each.outputs.result}}"}]}}
    - name: each
      inputs: {parameters: [{name: x}]}
      container: {image: "busybox:1.36", command: [sh, -c, "test {{inputs.parameters.x}} = 1 && echo 1 || uname"]}
    - name: all
      inputs: {parameters: [{name: x}]}
      container: {image: "busybox:1.36", command: [echo, "{{inputs.parameters.x}}"]}
"""
    )
    done = flowdsl("rounds.yaml", "-q")
    assert (done.code, "invalid character 'L' looking for beginning of value" in done.out) == (1, True)
    (said,) = [line for line in done.out.splitlines() if "printed" in line]
    assert said.startswith('each(1): it printed "Linux", and Argo reads each result of a loop as JSON: ')


def test_what_a_loop_handed_on_is_shown_as_the_values_of_its_items() -> None:
    nested = json.dumps([{"flowdsl-index": "/0/1", "return": "b"}, {"flowdsl-index": "/0/0", "return": "a"}])
    rows = [{"flowdsl-index": "/10", "x": "1", "y": nested}, {"flowdsl-index": "/9", "return": "[2]"}]
    text = json.dumps(rows)
    assert value_of(text, "r", None) == ["[2]", {"x": "1", "y": ["a", "b"]}]
    assert value_of(text, "r", ["r.x"]) == [[2], {"x": "1", "y": ["a", "b"]}]
    for text in ("", "[1]", "flowdsl-index", '["flowdsl-index"]', '[{"flowdsl-index": 1}]', "[flowdsl-index"):
        assert value_of(text, "r", None) == text
    assert [value_of(one, "r", ()) for one in ("2", "NaN", '"2"', "2 a")] == [2, "NaN", "2", "2 a"]


def test_flags_of_a_loop_are_shown_as_flags(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "flags.py").write_text(FLAGS, encoding="utf-8")
    done = flowdsl("flags.py")
    assert '  flags   [false, true]\n  words   [null, "word"]\n  digits  ["1", "2"]\n' in done.out


LETTERS = r"""
from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def count(row: dict[str, str]) -> dict[str, int]:
    return {"größe": len(row), "\u009bm": 2}


@pipeline
def letters(rows: list[dict[str, str]] = [{"b": "ü", "a": "1"}]) -> None:
    fan_out(count, over={"row": rows})
"""


def test_values_in_the_rows_of_loops_are_shown_as_they_are_read(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "letters.py").write_text(LETTERS, encoding="utf-8")
    assert '{"größe": 2, "\\x9bm": 2}' in flowdsl("letters.py").out


LOOP_IN_LOOP = """
from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def scale(word: str, times: int) -> tuple[str, int]:
    return word * times, times


@pipeline
def scaled(word: str) -> list[tuple[str, int]]:
    return fan_out(scale, over={"times": [1, 2]}, word=word)


@pipeline
def words() -> list[list[tuple[str, int]]]:
    return fan_out(scaled, over={"word": ["a", "b"]})
"""


def test_what_a_loop_in_a_loop_gave_is_a_list_in_its_row(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "words.py").write_text(LOOP_IN_LOOP, encoding="utf-8")
    out = flowdsl("words.py", "-q").out
    assert '1  b     [{"item-0": "b", "item-1": 1}, {"item...' in out
    assert "flowdsl-index" not in out


FAILING_ROUND = """
from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def tag(n: int) -> str:
    return "a" * (1 // n - 1)


@pipeline
def tags() -> None:
    fan_out(tag, over={"n": [0, 1]})
"""


def test_what_a_failed_round_did_not_give_is_null_and_an_empty_text_is_not(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "tags.py").write_text(FAILING_ROUND, encoding="utf-8")
    (loop,) = json.loads(flowdsl("tags.py", "--json").out)["loops"]
    assert [one["values"] for one in loop["rounds"]] == [{"n": 0, "return": None}, {"n": 1, "return": ""}]


STOPPED_EARLY = """
from typing import NamedTuple

from flowdsl import choice, minimize, pipeline, step, sweep


class Fit(NamedTuple):
    name: str
    kind: str
    epochs: int


@step(image="python:3.12-slim")
def fit(name: str, kind: str, epochs: int) -> Fit:
    return Fit(name, kind.upper(), min(epochs, 9 - len(kind)))


@pipeline
def search() -> int:
    over = {"name": choice("1", "2"), "kind": choice("1e3"), "epochs": choice(8, 20)}
    return sweep(fit, over=over, objective=minimize("epochs")).best.epochs
"""


def test_outputs_with_the_names_of_inputs_have_columns_of_their_own(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "search.py").write_text(STOPPED_EARLY, encoding="utf-8")
    done = flowdsl("search.py", "--name", "one", "-q")
    assert ["#", "name", "epochs", "(input)", "kind", "epochs"] in rows(done.out)
    assert ["0", "1", "8", "1E3", "6", "best"] in rows(done.out)
    (loop,) = json.loads(flowdsl("search.py", "--json").out)["loops"]
    assert loop["rounds"][1]["values"] == {"name": "1", "epochs (input)": 20, "epochs": 6, "kind": "1E3"}
    code, out, err = finished("get", "one", "--rounds", "-o", "csv")
    assert (code, err) == (0, "")
    assert out.splitlines()[:2] == [
        "loop,#,name,epochs (input),kind,epochs,phase,message",
        "fit,0,1,8,1E3,6,Succeeded,",
    ]


RETURNED = """
from typing import NamedTuple

from flowdsl import fan_out, pipeline, step


class Tile(NamedTuple):
    zone: int
    row: str


class Scene(NamedTuple):
    tile: Tile
    clouds: float


@step(image="python:3.12-slim")
def tiles() -> list[Tile]:
    return [Tile(32, "U"), Tile(33, "U")]


@step(image="python:3.12-slim")
def load(tile: Tile) -> Scene:
    return Scene(tile, tile.zone / 100)


@pipeline
def scenes() -> None:
    fan_out(load, over={"tile": tiles()})
"""


def test_an_output_that_is_the_input_shares_its_column(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "scenes.py").write_text(RETURNED, encoding="utf-8")
    assert ["#", "tile", "clouds"] in rows(flowdsl("scenes.py", "-q").out)


UNEVEN = """
from flowdsl import fan_out, numbers, pipeline, step


@step(image="python:3.12-slim")
def half(n: int) -> int:
    return n // 2


@step(image="python:3.12-slim")
def add(n: int, other: int) -> int:
    return n + other


@pipeline
def uneven(n: int = 6) -> None:
    fan_out(add, over={"n": numbers(half(n)), "other": [1, 2]})
"""


def test_lists_of_unlike_length_are_told_in_a_sentence(
    flowdsl: Callable[..., Result], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "uneven.py").write_text(UNEVEN, encoding="utf-8")
    sentence = "the lists that are walked together differ in length\n"
    assert f" 0.0s  {sentence}" in re.sub(r"\d\.\ds", "0.0s", flowdsl("uneven.py", "--name", "uneven").out)
    assert run(["get", "uneven"]) == 0
    out = capsys.readouterr().out
    assert f"Message:   add.add: {sentence}" in out
    assert out.endswith(sentence)
