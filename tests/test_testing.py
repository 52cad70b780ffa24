"""The fixture `run_pipeline`: what it gives back is typed, and what failed is shown."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple, assert_type

import pytest

from flowdsl import (
    S3,
    Pipeline,
    Volume,
    approve,
    call_template,
    choice,
    command,
    container,
    either,
    fan_out,
    maximize,
    numbers,
    otherwise,
    pipeline,
    step,
    sweep,
    when,
)
from flowdsl.testing import CannotRun, Run, RunFailed, RunPipeline

pytest_plugins = ["flowdsl.testing.plugin"]

ROOT = Path(__file__).resolve().parents[1]
PYTHON = "python:3.12-slim"
DATA = Volume("data")
RAW = S3("raw.txt")


class Color(Enum):
    RED = 1
    BLUE = 2


class Trained(NamedTuple):
    model: Path
    accuracy: float
    color: Color


@step(image=PYTHON)
def read(raw: Path, upper: bool = False) -> Path:
    out = Path("text.txt")
    text = raw.read_text(encoding="utf-8")
    out.write_text(text.upper() if upper else text, encoding="utf-8")
    return out


@step(image=PYTHON)
def train(text: Path, rate: float, color: Color = Color.RED) -> Trained:
    print("training with", rate)  # noqa: T201 -- its log
    if rate > 1:
        raise ValueError("too fast")
    model = Path("model.txt")
    model.write_text(f"{text.read_text(encoding='utf-8')} {rate}", encoding="utf-8")
    return Trained(model, 1 - rate, color)


@pipeline
def single(raw: Path = RAW, rate: float = 0.5, color: Color = Color.RED) -> Trained:
    return train(read(raw, upper=True), rate, color)


@pipeline
def mounted(raw: Path = DATA / "raw.txt") -> Path:
    return read(raw)


@pipeline
def searched(raw: Path = DATA / "raw.txt") -> list[Trained]:
    runs = sweep(
        train,
        over={"rate": choice(0.5, 0.1, 2.0)},
        objective=maximize("accuracy"),
        text=read(raw),
    )
    return runs.results


@step(image=PYTHON)
def half(number: int) -> float:
    return number / 2


@step(image=PYTHON)
def add(numbers: list[float]) -> float:
    return sum(numbers)


@approve()
def gate() -> str:
    raise NotImplementedError


@pipeline
def halves(numbers: list[int], least: float = 0.0) -> float:
    total = add(fan_out(half, over={"number": numbers}))
    with when(total < least):
        half(1)
    return total


@approve(duration="1h")
def timed_gate() -> None:
    raise NotImplementedError


@pipeline
def asked() -> str:
    return gate()


@pipeline
def timed() -> None:
    timed_gate()


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    path = tmp_path / "raw.txt"
    path.write_text("words", encoding="utf-8")
    return path


def test_outputs_have_the_types_of_the_pipeline(run_pipeline: RunPipeline, raw: Path) -> None:
    run = run_pipeline(single, raw=raw, rate=0.25, color=Color.BLUE)
    assert_type(run, Run[Trained])
    assert run.phase == "Succeeded"
    assert run.outputs.model.read_text(encoding="utf-8") == "WORDS 0.25"
    assert run.outputs.accuracy == 0.75
    assert run.outputs.color is Color.BLUE
    assert run.steps["train"].outputs == run.outputs
    assert run.steps["train"].log == "training with 0.25\n"
    assert run.steps["train"].inputs["rate"] == "0.25"


def test_a_file_on_a_mounted_volume(run_pipeline: RunPipeline, raw: Path) -> None:
    run = run_pipeline(mounted, mounts={"data": raw.parent})
    assert run.outputs.read_text(encoding="utf-8") == "words"
    other = raw.with_name("other.txt")
    other.write_text("other", encoding="utf-8")
    run = run_pipeline(mounted, mounts={"data": raw.parent}, raw=other)
    assert run.outputs.read_text(encoding="utf-8") == "other"


def test_the_rounds_of_a_sweep(run_pipeline: RunPipeline, raw: Path) -> None:
    run = run_pipeline(searched, mounts={"data": raw.parent})
    assert run.phase == "Succeeded"
    assert [one.accuracy for one in run.outputs] == [0.5, 0.9]
    assert [one.model.read_text(encoding="utf-8") for one in run.outputs] == ["words 0.5", "words 0.1"]
    loop = run.steps["runs"]
    assert [one.phase for one in loop.rounds] == ["Succeeded", "Succeeded", "Failed"]
    assert "ValueError: too fast" in loop.rounds[2].log
    with pytest.raises(RunFailed, match="ValueError: too fast"):
        _ = loop.rounds[2].outputs


class Part(NamedTuple):
    file: Path
    number: int


class Split(NamedTuple):
    files: list[Path]
    parts: list[Part]
    by_name: dict[str, Path]


@step(image=PYTHON)
def split(number: int) -> Split:
    files = [Path(f"part-{at}") for at in range(number)]
    for at, file in enumerate(files):
        file.write_text(str(at), encoding="utf-8")
    return Split(files, [Part(file, at) for at, file in enumerate(files)], {"last of all": files[-1]})


@step(image=PYTHON)
def files_of(number: int) -> list[Path]:
    files = [Path(f"part-{at}") for at in range(number)]
    for at, file in enumerate(files):
        file.write_text(str(at), encoding="utf-8")
    return files


@step(image=PYTHON)
def size(file: Path) -> int:
    return file.stat().st_size


@pipeline
def parted() -> Split:
    fan_out(size, over={"file": files_of(2)})
    return split(12)


def test_lists_and_dicts_of_files(run_pipeline: RunPipeline) -> None:
    run = run_pipeline(parted)
    assert [file.read_text() for file in run.outputs.files] == [str(number) for number in range(12)]
    assert [(part.number, part.file.read_text()) for part in run.outputs.parts][9:11] == [
        (9, "9"),
        (10, "10"),
    ]
    assert [(name, file.read_text()) for name, file in run.outputs.by_name.items()] == [("last of all", "11")]
    assert [file.read_text() for file in run.steps["files-of"].outputs] == ["0", "1"]


@step(image=PYTHON)
def newest(files: list[Path], at: int) -> Path | None:
    return None


@step(image=PYTHON)
def told(sizes: list[int], newest: Path | None) -> str:
    return f"{sizes} {newest and newest.read_text(encoding='utf-8')}"


@pipeline
def kept() -> str:
    files = files_of(2)
    return told(fan_out(size, over={"file": files}), newest(files, 1))


@pipeline(store=DATA / "runs")
def stored() -> str:
    files = files_of(2)
    return told(fan_out(size, over={"file": files}), newest(files, 1))


@pytest.mark.parametrize("given", [kept, stored], ids=["repository", "store"])
def test_lists_of_files_are_faked(given: Pipeline[[], str], run_pipeline: RunPipeline, raw: Path) -> None:
    other = raw.with_name("other.txt")
    other.write_text("more words", encoding="utf-8")
    run = run_pipeline(given, fakes={"files": [raw, other, raw], "newest": None})
    assert run.outputs == "[5, 10, 5] None"
    run = run_pipeline(given, fakes={"files-of": [], "newest": raw})
    assert run.outputs == "[] words"


@pytest.mark.parametrize("given", [kept, stored], ids=["repository", "store"])
def test_a_list_of_files_that_cannot_be_faked_is_told(
    given: Pipeline[[], str], run_pipeline: RunPipeline
) -> None:
    with pytest.raises(CannotRun, match=r"the path nowhere\.txt does not exist"):
        run_pipeline(given, fakes={"files-of": [Path("nowhere.txt")]})
    with pytest.raises(CannotRun, match=r"`files-of` returns list\[Path\], not 3: expected list, got int 3"):
        run_pipeline(given, fakes={"files-of": 3})


def test_records_with_files_are_faked(run_pipeline: RunPipeline, raw: Path) -> None:
    fake = Split([raw], [Part(raw, 3)], {"one": raw})
    found = run_pipeline(parted, fakes={"split": fake}).outputs
    files = (found.files[0], found.parts[0].file, found.by_name["one"])
    assert [one.read_text() for one in files] == ["words"] * 3


class Halved(NamedTuple):
    halves: list[float]
    files: list[Path]
    total: float


@pipeline
def halved(numbers: list[int]) -> Halved:
    halves = fan_out(half, over={"number": numbers})
    return Halved(halves, fan_out(copied, over={"number": numbers}), total=add(halves))


@step(image=PYTHON)
def copied(number: int) -> Path:
    out = Path("copy.txt")
    out.write_text(str(number), encoding="utf-8")
    return out


@pipeline
def together(numbers: list[int]) -> tuple[list[float], Halved]:
    found = halved(numbers)
    return fan_out(summed, over={"more": [[found.total], [0.5]]}, numbers=found.halves), found


@step(image=PYTHON)
def summed(numbers: list[float], more: list[float]) -> float:
    return sum(numbers) + sum(more)


def test_a_pipeline_returns_the_results_of_loops_among_others(run_pipeline: RunPipeline) -> None:
    sums, found = run_pipeline(together, numbers=[1, 3]).outputs
    assert sums == [4.0, 2.5]
    assert (found.halves, found.total) == ([0.5, 1.5], 2.0)
    assert [one.read_text(encoding="utf-8") for one in found.files] == ["1", "3"]


@dataclass(frozen=True)
class Layers:
    """Hashable values with tuples of any length."""

    sizes: tuple[int, ...] = (64, 32)
    kinds: tuple[str, ...] = ()


@step(image=PYTHON)
def layered(layers: Layers, more: tuple[int, ...]) -> tuple[int, ...]:
    return {layers: layers.sizes + more}[layers]


@step(image=PYTHON)
def longer(size: int, more: tuple[int, ...]) -> int:
    return size + len({more})


@pipeline
def layering(layers: Layers, more: tuple[int, ...] = (1,)) -> tuple[tuple[int, ...], list[int], Layers]:
    every = layered(layers, more)
    sizes = fan_out(longer, over={"size": every}, more=(every[0], 3))
    return every, sizes, Layers(more, ("a", "b"))


def test_tuples_of_any_length_are_tuples_on_both_sides(run_pipeline: RunPipeline) -> None:
    found = run_pipeline(layering, layers=Layers((4, 2)), more=(9,)).outputs
    assert found == ((4, 2, 9), [5, 3, 10], Layers((9,), ("a", "b")))


class Entry(NamedTuple):
    name: str
    rate: float
    file: Path


@step(image=PYTHON)
def entered(rate: float) -> Entry:
    out = Path("out.txt")
    out.write_text("text", encoding="utf-8")
    return Entry("first", rate, out)


@step(image=PYTHON)
def recited(one: Entry, every: list[Entry]) -> str:
    return f"{one.name} {one.rate} {one.file.read_text(encoding='utf-8')} {[each.rate for each in every]}"


@pipeline
def replacing(rate: float) -> tuple[str, Entry]:
    first = entered(rate)
    second = first._replace(name=f"{first.name}, again", rate=first.rate * 2)
    return recited(second, [first, second]), second._replace(rate=0.0)


def test_a_tuple_with_names_is_replaced_in_the_body(run_pipeline: RunPipeline) -> None:
    text, found = run_pipeline(replacing, rate=0.25).outputs
    assert text == "first, again 0.5 text [0.25, 0.5]"
    assert (found.name, found.rate, found.file.read_text(encoding="utf-8")) == ("first, again", 0.0, "text")


@dataclass
class Rate:
    """A class whose fields differ from its arguments."""

    name: str
    value: float = 0.5

    def __post_init__(self) -> None:
        self.name = f"<{self.name}>"
        self.value *= 2


@step(image=PYTHON)
def slower(rate: Rate) -> Rate:
    rate.value -= 0.25
    return rate


@step(image=PYTHON)
def texts(rates: list[Rate], one: Rate) -> list[str]:
    return [f"{rate.name} {rate.value}" for rate in (*rates, one)]


class Rates(NamedTuple):
    slow: Rate
    shown: list[str]


@pipeline
def settled(first: Rate = Rate("first")) -> Rates:  # noqa: B008 -- no one changes it
    slow = slower(first)
    rates = fan_out(slower.options(name="each"), over={"rate": [Rate("a", 1.0), Rate("b", 2.0)]})
    return Rates(slow, texts(rates, slow))


class Point(NamedTuple):
    name: str
    weight: float
    good: bool


@step(image=PYTHON)
def quoted(number: int) -> str:
    return f'"{number}" {{x}} $HOME \\ <é>'


@step(image=PYTHON)
def point(number: int) -> Point:
    return Point(f"n{number}", number / 2, number > 1)


@step(image=PYTHON)
def pair(number: int) -> tuple[int, str]:
    return number, "p"


@container(image="busybox:1.37.0")
def shown(names: list[str], weights: list[float], points: list[Point], pairs: list[tuple[int, str]]) -> str:
    script = 'printf "[%s, %s, %s, %s]" "$1" "$2" "$3" "$4"'
    return command("sh", "-c", script, "sh", names, weights, points, pairs, stdout=True)


@pipeline
def within(names: list[str], weights: list[float], points: list[Point], pairs: list[tuple[int, str]]) -> str:
    return shown(names, weights, points, pairs)


@pipeline
def in_lists(count: int = 2) -> tuple[str, str]:
    numbers_ = numbers(count)
    names = fan_out(quoted, over={"number": numbers_})
    weights = fan_out(half, over={"number": numbers_})
    points = fan_out(point, over={"number": numbers_})
    pairs = fan_out(pair, over={"number": numbers_})
    return shown(names, weights, points, pairs), within(names, weights, points, pairs)


@pytest.mark.parametrize("count", [0, 2])
def test_a_program_in_another_language_gets_the_results_of_a_loop_as_a_list(
    count: int, run_pipeline: RunPipeline
) -> None:
    given = range(count)
    names = [quoted(number) for number in given]
    weights = [half(number) for number in given]
    points = [point(number)._asdict() for number in given]
    pairs = [[*pair(number)] for number in given]
    for text in run_pipeline(in_lists, count=count).outputs:
        assert json.loads(text) == [names, weights, points, pairs]
        assert str(weights) in text  # numbers are unchanged


def test_a_float_is_no_whole_number(run_pipeline: RunPipeline) -> None:
    with pytest.raises(CannotRun, match=r"`count` is int, not 1\.0: float 1\.0 is not int"):
        run_pipeline(in_lists, count=1.0)


def test_what_a_record_makes_of_its_fields_it_makes_once(run_pipeline: RunPipeline) -> None:
    run = run_pipeline(settled)
    assert run.outputs.shown == ["<a> 1.75", "<b> 3.75", "<first> 0.75"]
    assert (run.outputs.slow.name, run.outputs.slow.value) == ("<first>", 0.75)


@step(image=PYTHON)
def tried(rate: float) -> float | None:
    return rate if rate < 1 else None


@step(image=PYTHON)
def named(rate: float) -> Rate | None:
    return Rate("made", rate) if rate < 1 else None


@step(image=PYTHON)
def said(*, rate: float, one: Rate, inner: float) -> str:
    return f"{rate} {one.name} {one.value} {inner}"


@pipeline
def branches(deep: bool, rate: float, deeper: bool = False) -> str:
    with when(deep):
        first = either(tried(rate), 5.0)
        one = either(named(rate), Rate("default", 2.0))
        with when(deeper):
            found = either(tried.options(name="found")(rate + 10), 6.0)
        with otherwise():
            other = tried.options(name="other")(0.25)
        inner = either(found, either(other, 0.0))
    with otherwise():
        second = tried.options(name="second")(0.5)
        two = named.options(name="two")(0.75)
    chosen = either(one, either(two, Rate("none")))
    with when(either(first, either(second, 0.0)) > 4.5):
        said.options(name="five")(rate=0.0, one=chosen, inner=0.0)
    return said(rate=either(first, either(second, 0.0)), one=chosen, inner=either(inner, -1.0))


@pytest.mark.parametrize(
    ("deep", "rate", "deeper", "text"),
    [
        (True, 0.125, False, "0.125 <made> 0.25 0.25"),
        (True, 1.5, True, "5.0 <default> 4.0 6.0"),
        (False, 1.5, True, "0.5 <made> 1.5 -1.0"),
    ],
)
def test_what_either_gives_in_a_branch_is_there_if_it_runs(
    deep: bool, rate: float, deeper: bool, text: str, run_pipeline: RunPipeline
) -> None:
    run = run_pipeline(branches, deep=deep, rate=rate, deeper=deeper)
    assert run.outputs == text
    assert (run.steps["five"].phase == "Succeeded") == text.startswith("5.0")


def test_a_loop_and_a_condition(run_pipeline: RunPipeline) -> None:
    run = run_pipeline(halves, numbers=[1, 2, 3])
    assert run.outputs == 3.0
    assert run.steps["half"].outputs == [0.5, 1.0, 1.5]
    assert run.steps["half-1"].phase == "Skipped"
    assert len(run.steps) == 6


def test_a_step_that_is_faked_does_not_run(run_pipeline: RunPipeline, raw: Path) -> None:
    trained = Trained(raw, 0.125, Color.BLUE)
    run = run_pipeline(single, raw=raw, fakes={"train": trained})
    assert run.outputs.accuracy == 0.125
    assert run.outputs.color is Color.BLUE
    assert run.outputs.model.read_text(encoding="utf-8") == "words"
    assert run.steps["train"].log == ""


def test_a_gate_is_answered(run_pipeline: RunPipeline) -> None:
    assert run_pipeline(asked, fakes={"gate": "yes"}).outputs == "yes"
    assert run_pipeline(timed, approve=True).steps["timed_gate"].phase == "Succeeded", "an hour is not waited"
    with pytest.raises(CannotRun, match="the run waits for gate"):
        run_pipeline(asked, approve=True)
    with pytest.raises(CannotRun, match="the run waits for gate"):
        run_pipeline(asked)


def test_a_run_that_fails_is_told(run_pipeline: RunPipeline, raw: Path) -> None:
    run = run_pipeline(single, raw=raw, rate=2.0)
    assert run.phase == "Failed"
    assert run.phase != "Succeeded"
    assert "training with 2.0" in run.steps["train"].log
    with pytest.raises(RunFailed, match="ValueError: too fast"):
        _ = run.outputs


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rat": 0.5}, "has no parameter `rat`; did you mean `rate`?"),
        ({"rate": "fast"}, "`rate` is float, not 'fast'"),
        ({"raw": "nowhere.txt"}, "there is no nowhere.txt"),
        ({"fakes": {"trian": 1}}, "there is no step `trian`; did you mean `train`?"),
        ({"fakes": {"train": 0.5}}, "`train` returns Trained, not 0.5"),
        ({"mounts": {"data": "nowhere"}}, 'mounts["data"]: there is no'),
    ],
)
def test_what_cannot_run_is_told(
    given: dict[str, Any], message: str, run_pipeline: RunPipeline, raw: Path
) -> None:
    arguments: dict[str, Any] = {"raw": raw, **given}
    with pytest.raises(CannotRun) as caught:
        run_pipeline(single, **arguments)
    assert message in str(caught.value)


def test_a_file_that_nobody_gave(run_pipeline: RunPipeline) -> None:
    with pytest.raises(CannotRun, match=r"is in a store, under raw\.txt"):
        run_pipeline(single)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"mounts": ["data=raw"]},
            """mounts is a dict by names, mounts={"CLAIM": "PATH"}, not ['data=raw']""",
        ),
        ({"mounts": {"data": None}}, 'mounts["data"] is a path, not None'),
        ({"mounts": {"data": "nowhere"}}, 'mounts["data"]: there is no '),
        ({"config_maps": {"settings": 1}}, 'config_maps["settings"] is a dict of texts by keys, not int'),
        ({"secrets": {"store": {"key": b"x"}}}, 'secrets["store"]["key"] is a text, not bytes'),
        ({"fakes": {1: 2}}, 'fakes is a dict by names, fakes={"STEP": VALUE}, not {1: 2}'),
        ({"approve": "yes"}, "approve is True or False, not 'yes'"),
        ({"python": None}, "python is the path of an interpreter, not None"),
        ({"python": "pythn"}, "python: there is no program pythn"),
        ({"python": "true"}, 'python="true": it is not an interpreter of Python 3'),
        ({"cluster": 1}, "cluster is a text, not 1"),
        (
            {"cluster": 1, "artifacts": {"raw": 2, "more": 3}},
            '3 arguments are wrong:\n  artifacts["raw"] is a path, not 2\n  artifacts["more"] is a path, ',
        ),
        (
            {"artifacts": {"rw": __file__}},
            'artifacts["rw"]: the workflow has no artifact `rw`; did you mean `raw`?',
        ),
    ],
)
def test_an_argument_of_another_type(run_pipeline: RunPipeline, given: dict[str, Any], message: str) -> None:
    with pytest.raises(CannotRun) as caught:
        run_pipeline(single, **given)
    assert message in str(caught.value)


def test_an_interpreter_is_named_as_in_a_shell(
    run_pipeline: RunPipeline, raw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert run_pipeline(single, raw=raw, python=Path(sys.executable).name).phase == "Succeeded"


@step(image="python:3.12-slim")
def joined_up(cluster: int, python: int, rate: int) -> int:
    return cluster + python + rate


@pipeline
def like_arguments(cluster: int = 1, python: int = 2, approve: bool = False, rate: int = 0) -> int:
    return joined_up(cluster, python, rate)


def test_parameters_that_are_called_like_arguments(run_pipeline: RunPipeline) -> None:
    given = {"cluster": 10, "python": 20, "approve": True}
    assert run_pipeline(like_arguments, parameters=given, rate=5).outputs == 35
    assert run_pipeline(like_arguments, rate=5).outputs == 8


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"cluster": "gke", "python": "3.12"},
            '2 arguments are wrong:\n  python is also a parameter of the pipeline: say what that is, parameters={"',
        ),
        ({"approve": True}, 'parameters={"approve": VALUE}'),
        ({"parameters": {"rate": 1}, "rate": 2}, "`rate` is given twice: by its name, and in parameters"),
        ({"parameters": ["rate"]}, """parameters={"NAME": VALUE}, not ['rate']"""),
        ({"parameters": {"rat": 1}}, "has no parameter `rat`; did you mean `rate`?"),
        ({"mount": {}}, "the pipeline has no parameter `mount`; did you mean the argument `mounts`?"),
        ({"aprove": 1}, "has no parameter `aprove`; did you mean `approve`?"),
    ],
)
def test_parameters_that_are_not_told_from_arguments(
    given: dict[str, Any], message: str, run_pipeline: RunPipeline
) -> None:
    with pytest.raises(CannotRun) as caught:
        run_pipeline(like_arguments, **given)
    assert message in str(caught.value)


def test_a_step_is_no_pipeline(run_pipeline: RunPipeline) -> None:
    with pytest.raises(CannotRun, match="is no pipeline"):
        run_pipeline(half, number=1)


def test_an_unknown_step_is_near_another(run_pipeline: RunPipeline) -> None:
    run = run_pipeline(halves, numbers=[1])
    with pytest.raises(KeyError, match="did you mean 'total'"):
        _ = run.steps["totl"]


def test_a_mistake_in_a_test_is_shown_at_its_line_alone(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        """
from flowdsl import pipeline, step
from flowdsl.testing import RunPipeline

@step(image="python:3.12-slim")
def fails(rows: int) -> int:
    raise SystemExit(rows)

@pipeline
def all_of_it(rows: int = 3) -> int:
    return fails(rows)

def test_parameter(run_pipeline: RunPipeline) -> None:
    run_pipeline(all_of_it, row=1)

def test_type(run_pipeline: RunPipeline) -> None:
    run_pipeline(all_of_it, rows="x")

def test_argument(run_pipeline: RunPipeline) -> None:
    run_pipeline(all_of_it, mounts=["data"])

def test_step(run_pipeline: RunPipeline) -> None:
    run_pipeline(all_of_it).steps["fail"]

def test_outputs(run_pipeline: RunPipeline) -> None:
    run_pipeline(all_of_it).outputs
""",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "flowdsl.testing.plugin"]
    done = subprocess.run([*command, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "5 failed" in done.stdout
    assert re.findall(r"^(?:\S*/)?(\w+\.py):\d+: \w+$", done.stdout, re.MULTILINE) == ["test_it.py"] * 5
    assert "has no parameter `row`; did you mean `rows`?" in done.stdout


def test_a_failed_assertion_shows_the_log(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        """
from flowdsl import pipeline, step
from flowdsl.testing import RunPipeline

@step(image="python:3.12-slim")
def fails() -> None:
    print("the first words")
    for depth in range(30):
        print(depth)
    print("the last words")
    raise SystemExit(3)

@pipeline
def all_of_it() -> None:
    fails()

def test_it(run_pipeline: RunPipeline) -> None:
    assert run_pipeline(all_of_it).phase == "Succeeded"
""",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "flowdsl.testing.plugin"]
    done = subprocess.run(
        [*command, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "AssertionError: assert 'Failed' == 'Succeeded'" in done.stdout
    assert "step fails: Failed: main: Error (exit code 3)" in done.stdout
    assert "| the last words" in done.stdout, "also where pytest cuts the report"


def test_the_plugin_loads_little() -> None:
    script = "import sys, flowdsl.testing.plugin; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True
    )
    loaded = done.stdout.split()
    assert not {"yaml", "lark", "rich", "cyclopts", "flowdsl.compiler", "flowdsl.runtime"} & set(loaded)


@step(image=PYTHON)
def count_words(text: str) -> int:
    return len(text.split())


@pipeline
def words_of(text: str = "a few words") -> int:
    return count_words(text)


def test_a_step_has_the_name_of_its_function_too(run_pipeline: RunPipeline) -> None:
    assert run_pipeline(words_of, fakes={"count_words": 7}).outputs == 7
    run = run_pipeline(words_of)
    assert run.steps["count_words"].outputs == run.steps["count-words"].outputs == 3


@pipeline
def named_words(text: str = "one two") -> int:
    words = count_words(text)
    more = count_words(f"{text} {words}")
    return last_words(f"{more}")


@step(image=PYTHON)
def last_words(text: str) -> int:
    return int(text) + 1


def test_a_step_is_found_by_its_function_where_only_one_calls_it(run_pipeline: RunPipeline) -> None:
    run = run_pipeline(named_words)
    assert run.outputs == run.steps["last_words"].outputs == 4
    assert list(run.steps) == ["words", "more", "last-words"]
    with pytest.raises(KeyError, match="several steps are 'count_words': name one of words, more"):
        run.steps["count_words"]


def test_a_step_is_found_by_its_function(run_pipeline: RunPipeline) -> None:
    assert run_pipeline(one_of_words).steps["count_words"].outputs == 2


@pipeline
def one_of_words(text: str = "one two") -> int:
    found = count_words(text)
    return last_words(f"{found}")


def test_what_stands_against_a_run_is_told_in_the_arguments_of_a_test(
    run_pipeline: RunPipeline, raw: Path
) -> None:
    with pytest.raises(CannotRun, match=r'mount a folder that the file is in, mounts=\{"data": "'):
        run_pipeline(mounted, raw=raw)


@call_template("library", "trainer", names={"accuracy": "model-accuracy"})
def fit(raw: Path) -> Trained:
    raise NotImplementedError


@call_template("library", "count", names={"return": "size"})
def sizes_of(raw: Path) -> int:
    raise NotImplementedError


@pipeline
def borrowed() -> float:
    fitted = fit(S3("raw.txt"))
    return sum_of(sizes_of(fitted.model), fitted.accuracy)


@step(image=PYTHON)
def sum_of(size: int, accuracy: float) -> float:
    return size + accuracy


def test_templates_of_the_cluster_are_faked(run_pipeline: RunPipeline, raw: Path) -> None:
    fakes = {"fitted": Trained(raw, 0.5, Color.RED), "sizes_of": 4}
    found = run_pipeline(borrowed, fakes=fakes, artifacts={"raw": raw})
    assert found.outputs == 4.5
    with pytest.raises(
        CannotRun, match="template count not found in workflow template library; say in fakes what it returns"
    ):
        run_pipeline(borrowed, fakes={"fitted": fakes["fitted"]})
    said = "the step `fitted` runs a template of the WorkflowTemplate library, which is not here; say in fakes what"
    with pytest.raises(CannotRun, match=said):
        run_pipeline(borrowed, artifacts={"raw": raw})
    with pytest.raises(CannotRun, match=r"`fitted` returns Trained, not 4$"):
        run_pipeline(borrowed, fakes={**fakes, "fitted": 4})


@step(image=PYTHON, cache=True)
def sized(raw: Path) -> int:
    assert raw.is_file(), "pytest rewrites this line in memory, and a step has it as it stands here"
    return raw.stat().st_size


@pipeline
def sizes(raw: Path = RAW) -> tuple[int, int]:
    default, fixed = sized(raw), sized(S3("fixed.txt"))
    return default, fixed


def test_another_file_in_place_of_an_artifact_is_no_earlier_result(
    run_pipeline: RunPipeline, tmp_path: Path
) -> None:
    for text in ("a", "abc", "a"):
        file = tmp_path / f"{text}.txt"
        if not file.exists():
            file.write_text(text, encoding="utf-8")
        run = run_pipeline(sizes, raw=file, artifacts={"fixed.txt": file})
        assert run.outputs == (len(text), len(text))


def test_a_module_that_was_found_through_another_folder(
    run_pipeline: RunPipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tests", "pipelines"):
        (tmp_path / name).mkdir()
    (tmp_path / "pipelines" / "found_through_another.py").write_text(
        "from flowdsl import pipeline, step\n\n\n"
        '@step(image="python:3.12-slim")\ndef one() -> int:\n    return 1\n\n\n'
        "@pipeline\ndef main() -> int:\n    return one()\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(sys, "path", [f"{tmp_path}/tests/../pipelines", *sys.path])
    module = importlib.import_module("found_through_another")
    assert run_pipeline(module.main).outputs == 1


def test_a_file_with_the_name_of_a_module_of_python(
    run_pipeline: RunPipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sched.py"
    path.write_text(
        "from flowdsl import pipeline, step\n"
        '@step(image="python:3.12-slim")\ndef half(n: int) -> float:\n    return n / 2\n'
        "@pipeline\ndef halves(n: int = 3) -> float:\n    first = half(n)\n    return first\n"
    )
    spec = importlib.util.spec_from_file_location("sched", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "sched", module)
    spec.loader.exec_module(module)
    run = run_pipeline(module.halves)
    assert [*run.steps] == ["first"], "named after the variable in the pipeline, not after that of the test"
