"""What a called pipeline returns as another type than the value has: text where there may be None, or anything."""

from __future__ import annotations

import json

import pytest

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from tests.end_to_end.inside import small
from tests.end_to_end.world import World

SOURCE = """\
from typing import Any, NamedTuple

from flowdsl import either, fan_out, otherwise, pipeline, run, step, when

PYTHON = "python:3.12-slim"


class Noted(NamedTuple):
    size: float
    note: str | None


@step(image=PYTHON)
def quote(text: str) -> str:
    return f'"{text}"'


@step(image=PYTHON)
def perhaps(there: bool) -> str | None:
    return "there" if there else None


@step(image=PYTHON)
def show(text: str | None, chosen: str, anything: Any) -> str:
    return f"{text!r} {chosen} {anything!r}"


@pipeline
def plain(text: str, begin: bool) -> str | None:
    return quote(text)


@pipeline
def record(text: str, begin: bool) -> Noted:
    return Noted(1, quote(text))


@pipeline
def branch(text: str, begin: bool) -> str | None:
    with when(begin):
        one = quote(text)
    return either(one, None)


@pipeline
def either_way(text: str, begin: bool) -> str | None:
    with when(begin):
        one = quote(text)
    with otherwise():
        other = perhaps(True)
    return either(one, other)


@pipeline
def default(text: str, begin: bool) -> str | None:
    return either(perhaps(begin), text)


@pipeline
def certain(text: str, begin: bool) -> str:
    return either(perhaps(begin), "none")


@pipeline
def joined(text: str, begin: bool) -> str | None:
    return f"{run.name} {quote(text)}"


@pipeline
def anything(text: str, begin: bool) -> Any:
    return quote(text)


@pipeline
def main(text: str, begin: bool) -> None:
    for one in (plain, branch, either_way, default, certain, joined):
        name = one.__name__.replace("_", "-")
        found = one.options(name=f"of-{name}")(text, begin)
        show.options(name=name)(found, either(found, "-"), found)
    noted = record(text, begin).note
    show.options(name="in-a-record")(noted, either(noted, "-"), noted)
    show.options(name="as-anything")(None, "", anything(text, begin))
    each = fan_out(plain, over={"text": [text, "b"]}, begin=begin)
    show.options(name="in-a-loop")(each[0], either(each[1], "-"), None)
"""


@pytest.mark.parametrize("begin", [True, False])
def test_it_arrives_as_it_was(begin: bool, world: World) -> None:
    file = world.folder / "pipeline.py"
    file.write_text(SOURCE, encoding="utf-8")
    result = compile_loaded(load(file), "main")
    assert result.diagnostics == []
    done = world.run(result.documents[-1], {"text": "a\\b", "begin": str(begin).lower()}, fake=small)
    assert done.phase == "Succeeded"

    def shown(text: str | None, chosen: str, anything: object) -> str:
        return f"{text!r} {chosen} {anything!r}"

    quoted = '"a\\b"'
    joined = f"{done.entry.name} {quoted}"
    there = "there" if begin else None
    wanted = {
        "plain": shown(quoted, quoted, quoted),
        "branch": shown(quoted, quoted, quoted) if begin else shown(None, "-", None),
        "either-way": shown(quoted, quoted, quoted) if begin else shown("there", "there", "there"),
        "default": shown(there or "a\\b", there or "a\\b", there or "a\\b"),
        "certain": shown(there or "none", there or "none", there or "none"),
        "joined": shown(joined, joined, joined),
        "in-a-record": shown(quoted, quoted, quoted),
        "as-anything": shown(None, "", quoted),
        "in-a-loop": shown(quoted, '"b"', None),
    }
    assert {name: (done.task(name).parameters or {})["return"] for name in wanted} == wanted


ZIPPED = """\
from pathlib import Path
from typing import NamedTuple

from flowdsl import pipeline, step

PYTHON = "python:3.12-slim"


class Made(NamedTuple):
    whole: Path
    extra: Path | None
    many: list[Path]


@step(image=PYTHON, archive={"whole": "zip", "extra": "zip", "many": "zip"})
def make(alone: bool) -> Made:
    file = Path("file")
    file.write_text("text")
    folder = Path("folder")
    folder.mkdir()
    (folder / "file").write_text("inside")
    return Made(file if alone else folder, None, [file])


@step(image=PYTHON)
def show(made: Made) -> str:
    return f"{(made.whole / 'file').read_text()} {made.extra} {made.many[0].read_text()}"


@pipeline
def main(alone: bool) -> None:
    show(make(alone))
"""


@pytest.mark.parametrize("alone", [True, False])
def test_a_file_is_not_zipped_alone(alone: bool, world: World) -> None:
    file = world.folder / "pipeline.py"
    file.write_text(ZIPPED, encoding="utf-8")
    result = compile_loaded(load(file), "main")
    assert result.diagnostics == []
    done = world.run(result.documents[-1], {"alone": str(alone).lower()})
    if alone:
        assert done.phase == "Failed"
        said = "Argo zips folders only, and file is a file: return its folder, or pack it as tar"
        assert done.task("make").log == f"step make, output whole (Path): {said}\n"
    else:
        assert (done.task("show").parameters or {})["return"] == "inside None text"


LOOPS = """\
from enum import Enum
from typing import Any, NamedTuple

from flowdsl import fan_out, maximize, pipeline, step, sweep

PYTHON = "python:3.12-slim"


class Kind(Enum):
    SMALL = 1


class Row(NamedTuple):
    size: int
    kind: Kind
    pair: tuple[Kind, int]


@step(image=PYTHON)
def make(x: int) -> Row:
    return Row(x, Kind.SMALL, (Kind.SMALL, 2))


@step(image=PYTHON)
def mixed(x: int) -> tuple[Row, Kind, dict[int, tuple[int, ...]]]:
    return make(x), Kind.SMALL, {1: (2, 3)}


@step(image=PYTHON)
def named(x: int) -> dict[str, Row | None]:
    return {"made": make(x), "none": None}


@step(image=PYTHON)
def anything(value: Any) -> str:
    return repr(value)


@step(image=PYTHON)
def perhaps(value: list[Any] | None) -> str:
    return repr(value)


@step(image=PYTHON)
def partly(value: list[tuple[Any, Kind, Any]]) -> str:
    return repr(value)


@step(image=PYTHON)
def within(value: list[dict[str, Any]]) -> str:
    return repr(value)


@pipeline
def main() -> None:
    rows = fan_out(make, over={"x": [1]})
    anything.options(name="rows")(rows)
    anything.options(name="inside")({"in": [rows]})
    anything.options(name="points")(sweep(make, over={"x": [1]}, objective=maximize("size")).results)
    both = fan_out(mixed, over={"x": [1]})
    perhaps.options(name="both")(both)
    partly.options(name="partly")(both)
    within.options(name="within")(fan_out(named, over={"x": [1]}))
"""


def test_results_of_a_loop_arrive_as_json_has_them_where_anything_is_wanted(world: World) -> None:
    file = world.folder / "pipeline.py"
    file.write_text(LOOPS, encoding="utf-8")
    result = compile_loaded(load(file), "main")
    assert {one.finding.code for one in result.diagnostics} == {"FD397"}
    done = world.run(result.documents[-1], {}, fake=small)
    assert done.phase == "Succeeded"
    row = "{'size': 1, 'kind': 'SMALL', 'pair': ['SMALL', 2]}"
    wanted = {
        "rows": f"[{row}]",
        "inside": f"{{'in': [[{row}]]}}",
        "points": f"[{row}]",
        "both": f"[[{row}, 'SMALL', {{'1': [2, 3]}}]]",
        "partly": f"[({row}, <Kind.SMALL: 1>, {{'1': [2, 3]}})]",
        "within": f"[{{'made': {row}, 'none': None}}]",
    }
    found = {name: (done.task(name).parameters or {})["return"] for name in wanted}
    assert found == wanted


KEYS = """\
from pathlib import Path

from flowdsl import Volume, fan_out, pipeline, step

PYTHON = "python:3.12-slim"


@step(image=PYTHON)
def make(text: str) -> Path:
    Path("made").write_text(text, encoding="utf-8")
    return Path("made")


@step(image=PYTHON)
def show(files: dict[str, Path], x: int = 0) -> str:
    return repr({key: file.read_text(encoding="utf-8") for key, file in files.items()})


@pipeline
def part(files: dict[str, Path], x: int) -> str:
    return show(files)


@pipeline
def made() -> dict[str, Path]:
    return {"a.txt": make("one"), "b/c ü": make.options(name="other")("two")}


@pipeline
def main() -> None:
    one, two = make("one"), make("two")
    files = {"a.txt": one, "a-txt": two, "": one}
    show.options(name="straight")(files)
    fan_out(show.options(name="steps"), over={"x": [1]}, files=files)
    fan_out(part.options(name="parts"), over={"x": [1]}, files=files)
    show.options(name="of-a-pipeline")(made())
    fan_out(show.options(name="items"), over={"files": [{"a.txt": Volume("datasets") / "words"}]})
"""


def test_files_keep_the_keys_that_no_input_could_be_named_by(world: World) -> None:
    file = world.folder / "pipeline.py"
    file.write_text(KEYS, encoding="utf-8")
    result = compile_loaded(load(file), "main")
    assert result.diagnostics == []
    done = world.run(result.documents[-1], {})
    assert done.phase == "Succeeded"
    kept = "{'a.txt': 'one', 'a-txt': 'two', '': 'one'}"
    wanted = {
        "straight": kept,
        "of-a-pipeline": "{'a.txt': 'one', 'b/c ü': 'two'}",
        "steps": kept,
        "parts": kept,
        "items": "{'a.txt': 'the file words'}",
    }
    outputs = {name: done.task(name).parameters or {} for name in wanted}
    loops = {name: json.loads(one["results"]) for name, one in outputs.items() if "results" in one}
    assert {
        name: loops[name][0]["return"] if name in loops else one["return"] for name, one in outputs.items()
    } == wanted


TAKEN = """\
from typing import Any

from flowdsl import fan_out, pipeline, step

PYTHON = "python:3.12-slim"


@step(image=PYTHON)
def by_name(x: int) -> dict[str, float]:
    return {"return": x / 2, "other": 3.0}


@step(image=PYTHON)
def by_number(x: int) -> dict[int, list[int]]:
    return {7: [x]}


@step(image=PYTHON)
def anything(x: int) -> Any:
    return {"a": [x]}


@step(image=PYTHON)
def show(x: float, y: int, z: int) -> str:
    return f"{x} {y} {z}"


@pipeline
def part(x: int) -> dict[str, float]:
    return by_name(x)


@pipeline
def main() -> None:
    named = fan_out(by_name, over={"x": [1, 2]})
    numbered = fan_out(by_number, over={"x": [3, 4]})
    some = fan_out(anything, over={"x": [5, 6]})
    parts = fan_out(part, over={"x": [7]})
    show(named[1]["other"] + parts[0]["return"], numbered[0][7][0], some[-1]["a"][0])
"""


def test_elements_of_dicts_are_taken_out_of_the_results_of_a_loop(world: World) -> None:
    file = world.folder / "pipeline.py"
    file.write_text(TAKEN, encoding="utf-8")
    result = compile_loaded(load(file), "main")
    assert result.diagnostics == []
    done = world.run(result.documents[-1], {}, fake=small)
    assert (done.task("show").parameters or {})["return"] == "6.5 3 6"


KEYED = """\
from dataclasses import dataclass
from enum import Enum, StrEnum
from pathlib import Path
from typing import Literal, NewType

from flowdsl import Raw, either, fan_out, pipeline, step, when

PYTHON = "python:3.12-slim"
Name = NewType("Name", str)
Split = Literal["train", "test"]


class Task(Enum):
    SUM = 1
    ASK = 2


class Word(StrEnum):
    ONE = "one of them"


@dataclass
class Scores:
    by_task: dict[Task, float]
    rows: dict[Split, list[int]]


@step(image=PYTHON)
def score(least: dict[Task, float], words: dict[Word, int]) -> Scores:
    return Scores({task: one + words[Word.ONE] for task, one in least.items()}, {"train": [8], "test": [2]})


@step(image=PYTHON)
def make(x: int) -> dict[Task, float]:
    return {Task.ASK: x / 2}


@step(image=PYTHON)
def show(scores: Scores, words: dict[Word, int], names: dict[Name, int], all: list[dict[Task, float]]) -> str:
    return f"{scores} {words} {names} {all}"


@step(image=PYTHON)
def files(given: dict[Split, Path]) -> str:
    return repr({split: file.read_text() for split, file in given.items()})


@step(image=PYTHON)
def number(x: float, y: int) -> str:
    return f"{x} {y}"


@pipeline
def main(least: dict[Task, float] = {Task.SUM: 0.5}) -> None:
    scores = score(least, {Word.ONE: 1})
    made = fan_out(make, over={"x": [1, 2]})
    show(scores, {Word.ONE: 3}, {Name("a"): 4}, [made[0], least])
    files({"train": Raw("1"), "test": Raw("2")})
    with when(scores.by_task[Task.SUM] > 1):
        number(scores.by_task[Task.SUM] + made[1][Task.ASK], scores.rows["train"][0])
    fan_out(show.options(name="each"), over={"words": [{Word.ONE: 5}]}, scores=scores, names={}, all=made)
"""


def test_dicts_keep_their_keys(world: World) -> None:
    file = world.folder / "pipeline.py"
    file.write_text(KEYED, encoding="utf-8")
    result = compile_loaded(load(file), "main")
    assert result.diagnostics == []
    done = world.run(result.documents[-1], {"least": '{"SUM": 0.25}'})
    assert done.phase == "Succeeded"
    scores = "Scores(by_task={<Task.SUM: 1>: 1.25}, rows={'train': [8], 'test': [2]})"
    both = "[{<Task.ASK: 2>: 0.5}, {<Task.SUM: 1>: 0.25}]"
    wanted = {
        "show": f"{scores} {{<Word.ONE: 'one of them'>: 3}} {{'a': 4}} {both}",
        "files": "{'train': '1', 'test': '2'}",
        "number": "2.25 8",
    }
    assert {name: (done.task(name).parameters or {})["return"] for name in wanted} == wanted
    each = json.loads((done.task("each").parameters or {})["results"])
    all_made = "[{<Task.ASK: 2>: 0.5}, {<Task.ASK: 2>: 1.0}]"
    assert each[0]["return"] == f"{scores} {{<Word.ONE: 'one of them'>: 5}} {{}} {all_made}"


FLOATS = """\
from typing import NamedTuple

from flowdsl import fan_out, minimize, pipeline, step, sweep

PYTHON = "python:3.12-slim"


class Scores(NamedTuple):
    loss: float
    rows: int


@step(image=PYTHON)
def loss(x: int) -> float:
    return float(x)


@step(image=PYTHON)
def score(x: int) -> Scores:
    return Scores(1e22, x)


@step(image=PYTHON)
def show(text: str) -> str:
    return text


@pipeline
def part(x: int) -> Scores:
    found = score(x)
    return Scores(found.loss, found.rows + 1)


@pipeline
def tell(rate: float) -> None:
    show(f"{rate}")


@pipeline
def main() -> None:
    losses = fan_out(loss, over={"x": [1, 2]})
    parts = fan_out(part, over={"x": [3]})
    scores = sweep(score, over={"x": [4]}, objective=minimize("loss"))
    show(f"{losses[0]} {parts[0].loss} {parts[0].rows} {scores.best.loss} {scores.results[0].loss}")
    tell.options(name="told")(losses[1])
    fan_out(tell.options(name="each"), over={"rate": [1.0]})
"""


def test_floats_stand_in_texts_as_a_step_has_written_them(world: World) -> None:
    file = world.folder / "pipeline.py"
    file.write_text(FLOATS, encoding="utf-8")
    result = compile_loaded(load(file), "main")
    assert result.diagnostics == []
    done = world.run(result.documents[-1], {}, fake=small)
    told = [node.parameters or {} for name, node in done.nodes.items() if name.endswith(".show")]
    assert sorted(one["return"] for one in told) == ["1.0", "1.0 1e+22 4 1e+22 1e+22", "2.0"]
