"""Values on their way through a run: as the step that takes them reads them."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowdsl.cli.app import run
from tests.commands import Result
from tests.run.files import FLAGS, rows

if TYPE_CHECKING:
    from collections.abc import Callable


ALIKE = """
from flowdsl import pipeline, step

BY = {by}


@step(image="python:3.12-slim")
def train(rows: int) -> int:
    return rows * BY


@pipeline
def part(rows: int) -> int:
    return train(rows)
"""

ALL_ALIKE = """
import one
import other
from flowdsl import pipeline, step


def times(image: str):
    @step(image=image)
    def train(rows: int) -> int:
        return rows * 5

    return train


small, large = times("small:1"), times("large:1")


@pipeline
def alike(rows: int = 1) -> list[int]:
    a, b = one.train.options(name="a")(rows), other.train.options(name="b")(rows)
    c, d = one.part.options(name="c")(rows), other.part.options(name="d")(rows)
    e, f = small.options(name="e")(rows), large.options(name="f")(rows)
    return [a, b, c, d, e, f]
"""


def test_steps_and_pipelines_of_one_name(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "one.py").write_text(ALIKE.format(by=2), encoding="utf-8")
    (folder / "other.py").write_text(ALIKE.format(by=3), encoding="utf-8")
    (folder / "alike.py").write_text(ALL_ALIKE, encoding="utf-8")
    done = flowdsl("alike.py", "--json")
    assert json.loads(done.out)["outputs"] == {"return": [2, 3, 2, 3, 5, 5]}
    assert run(["compile", "alike.py", "-o", "alike.yaml"]) == 0
    written = (folder / "alike.yaml").read_text(encoding="utf-8")
    assert ("image: small:1" in written, "image: large:1" in written) == (True, True)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            'train(config["a"]["lr"])',
            "train: `a` of the parameter `config` has no key `lr`: did you mean `lrs`?",
        ),
        ('train(config["b"]["lr"])', "train: the parameter `config` has no key `b`: there is `a`"),
        ('train(made()["lr"] + 1)', "train: the result of `made` has no key `lr`: there are `rate`, `n`"),
        (
            'fan_out(train, over={"rate": [made()["x"], 1.0]})',
            "train: the result of `made` has no key `x`:",
        ),
        ("train(made().get('lr', 2.0))", None),
    ],
)
def test_a_key_that_a_value_does_not_have(
    flowdsl: Callable[..., Result], folder: Path, call: str, said: str | None
) -> None:
    (folder / "keys.py").write_text(
        f"""\
from flowdsl import fan_out, pipeline, step

@step(image="python:3.12-slim")
def made() -> dict[str, float]:
    return {{"rate": 0.1, "n": 1.0}}

@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return rate

@pipeline
def nightly(config: dict[str, dict[str, float]] = {{"a": {{"lrs": 1.0}}}}) -> None:
    {call}
"""
    )
    done = flowdsl("keys.py", "-q")
    found = [line for line in done.out.splitlines() if "has no key" in line]
    assert [line[: len(said or "")] for line in found] == ([] if said is None else [said])


def test_what_runs_at_the_end_of_a_failed_task_has_a_value_instead(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "end.py").write_text(
        """\
from flowdsl import either, on_exit, pipeline, step

@step(image="python:3.12-slim")
def train(part: int) -> float:
    return 1 / part

@step(image="python:3.12-slim")
def tell(text: str, loss: float) -> None:
    print(text, loss)

@pipeline
def end(part: int = 0) -> None:
    loss = train(part)
    with on_exit(loss) as training:
        tell(f"{training.status}: {either(loss, -1.0)}", either(loss * 2, -2.0))
"""
    )
    for part, told in (("0", "Failed: -1.0 -2.0"), ("4", "Succeeded: 0.25 0.5")):
        name = f"run-{part}"
        assert flowdsl("end.py", "-p", f"part={part}", "--name", name).code == (part == "0")
        logs = folder.glob(f".flowdsl/runs/{name}/logs/*/*.log")
        assert f"{told}\n" in "".join(path.read_text() for path in logs)


def test_a_choice_takes_a_record_as_it_is_and_lists_of_computed_values(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "choice.py").write_text(
        """\
from typing import NamedTuple
from flowdsl import either, pipeline, step, when

class Trained(NamedTuple):
    loss: float
    stopped: int | None

@step(image="python:3.12-slim")
def train(loss: float, stopped: int | None) -> Trained:
    return Trained(loss, stopped)

@step(image="python:3.12-slim")
def shown(trained: Trained, sizes: list[int]) -> str:
    return f"{trained.loss} {trained.stopped} {sizes}"

@step(image="python:3.12-slim")
def sized() -> list[int]:
    return [7]

@pipeline
def choice(n: int = 1, given: dict[str, int] = {"a": 5}) -> str:
    old = train(0.9, 3)
    with when(n > 1):
        new = train(0.1, None)
        sizes = sized()
    return shown(either(new, old), either(sizes, [n, n * 2, given["a"]]))
"""
    )
    for n, said in (("1", "0.9 3 [1, 2, 5]"), ("2", "0.1 None [7]")):
        done = flowdsl("choice.py", "-p", f"n={n}")
        assert (done.code, ["return", *said.split()] in rows(done.out)) == (0, True)


PARTS = """
from dataclasses import dataclass, field
from pathlib import Path

from flowdsl import Raw, Volume, pipeline, step

DATA = Volume("data")


@dataclass
class Rates:
    rate: float = 0.1
    decay: float = 0.5


@dataclass
class Settings:
    corpus: Path
    words: tuple[Path, int]
    rates: Rates = field(default_factory=Rates)
    weights: tuple[Path, int] | None = None
    größe: int = 1


@step(image="python:3.12-slim")
def show(settings: Settings) -> str:
    words, count = settings.words
    text = settings.corpus.read_text()
    return f"{text} {settings.rates} {settings.weights} {settings.größe} {words.read_text() * count}"


@pipeline
def nightly(settings: Settings = Settings(DATA / "raw.txt", (Raw("words"), 2))) -> str:
    return show(settings)
"""


def test_parts_of_a_record_with_files(
    flowdsl: Callable[..., Result], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "parts.py").write_text(PARTS, encoding="utf-8")
    (folder / "data").mkdir()
    (folder / "data/raw.txt").write_text("raw", encoding="utf-8")
    (folder / "data/other.txt").write_text("other", encoding="utf-8")
    given = ("parts.py", "--quiet", "--mount", "data=data")
    changed = (
        "-p",
        "settings-corpus=data/other.txt",
        "-p",
        'settings-rates={"rate": 2}',
        "-p",
        "settings-words-1=1",
        "-p",
        "settings-gr__e=3",
    )
    assert "raw Rates(rate=0.1, decay=0.5) None 1 wordswords" in flowdsl(*given).out
    assert "other Rates(rate=2.0, decay=0.5) None 3 words\n" in flowdsl(*given, *changed).out
    for value, told in {
        "settings={}": "-p settings-corpus=..., -p settings-words-0=..., -p settings-words-1=...",
        "settings-rates=2": "-p settings-rates=2: `settings-rates` is Rates",
        "settings-rate=2": "did you mean `settings-rates`?",
        "settings-corpus=parts.py": "is not below",
    }.items():
        done = flowdsl(*given, "-p", value)
        assert (done.code, told in done.err) == (2, True), done.err
    assert run(["compile", "parts.py", "-p", "settings-corpus=day/1.txt", "-p", "settings-words-1=1"]) == 0
    assert "{name: settings-corpus, value: /flowdsl/volumes/data/day/1.txt}" in capsys.readouterr().out


def test_text_that_ends_in_a_brace_is_text(flowdsl: Callable[..., Result], folder: Path) -> None:
    (folder / "text.py").write_text(
        """\
from flowdsl import pipeline, step

@step(image="python:3.12-slim")
def count() -> int:
    return 7

@step(image="python:3.12-slim")
def size(text: str) -> int:
    return len(text)

@pipeline
def text(prefix: str = "rows = {") -> int:
    return size(f"{prefix}{count()}")
"""
    )
    done = flowdsl("text.py")
    assert (done.code, ["return", "9"] in rows(done.out)) == (0, True)


def test_the_labels_and_annotations_that_a_run_gives_itself_are_kept(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "labelled.yaml").write_text("""\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: labelled, labels: {own: "1"}}
spec:
  entrypoint: main
  arguments: {parameters: [{name: model, value: bert}]}
  workflowMetadata:
    labels: {of: "{{workflow.parameters.model}}"}
    annotations: {note: "{{workflow.name}}"}
    labelsFrom: {kind: {expression: "workflow.labels.of + '-base'"}}
  templates:
  - {name: main, container: {image: busybox, command: ["true"]}}
""")
    assert flowdsl("labelled.yaml").code == 0
    (path,) = folder.glob(".flowdsl/runs/*/workflow.json")
    found = json.loads(path.read_text())["metadata"]
    argo = "workflows.argoproj.io"
    assert found["labels"] == {
        "own": "1",
        "of": "bert",
        "kind": "bert-base",
        f"{argo}/completed": "true",
        f"{argo}/phase": "Succeeded",
    }
    assert found["annotations"] == {"note": path.parent.name, f"{argo}/pod-name-format": "v2"}


def test_programs_get_values_by_their_types(
    flowdsl: Callable[..., Result], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "flags.py").write_text(FLAGS, encoding="utf-8")
    found = json.loads(flowdsl("flags.py", "--name", "one", "--json").out)
    lists = {"flags": [False, True], "words": [None, "word"], "digits": ["1", "2"]}
    assert found["outputs"] == {**lists, "digit": "7", "ratio": 0.5}
    assert run(["get", "one", "--rounds", "-o", "json"]) == 0
    loops = json.loads(capsys.readouterr().out)
    assert loops == found["loops"]
    assert run(["get", "one"]) == 0
    shown = capsys.readouterr().out
    assert '  words   [null, "word"]\n  digits  ["1", "2"]\n' in shown
    values = {one["path"]: [each["values"] for each in one["rounds"]] for one in loops}
    assert values["digits"] == [{"n": 1, "return": "1"}, {"n": 2, "return": "2"}]
    assert values["flags"] == [{"n": 1, "return": False}, {"n": 2, "return": True}]


DUE = """
from flowdsl import pipeline, run, step


@step(image="python:3.12-slim")
def day(due: str) -> str:
    return due[:10]


@pipeline(schedule="0 3 * * *")
def daily() -> str:
    return day(run.scheduled_time)
"""


def test_a_run_knows_when_it_was_due(
    flowdsl: Callable[..., Result], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "due.py").write_text(DUE, encoding="utf-8")
    today = datetime.now(UTC).date().isoformat()
    assert json.loads(flowdsl("due.py", "--json").out)["outputs"]["return"] >= today
    assert run(["compile", str(folder / "due.py"), "--as", "workflow"]) == 0
    annotations = "  annotations:\n    workflows.argoproj.io/scheduled-time: '2020-02-29T03:00:00Z'\n"
    text = capsys.readouterr().out.replace("  annotations:\n", annotations, 1)
    (folder / "late.yaml").write_text(text, encoding="utf-8")
    assert json.loads(flowdsl("late.yaml", "--json").out)["outputs"]["return"] == "2020-02-29"


def test_a_scheduled_workflow_has_the_time_for_which_it_runs(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "cron.yaml").write_text(
        "apiVersion: argoproj.io/v1alpha1\nkind: CronWorkflow\nmetadata: {name: nightly}\nspec:\n"
        '  schedules: ["0 2 * * *"]\n  workflowSpec:\n    entrypoint: main\n    templates:\n    - name: main\n'
        '      container: {image: "a:1", command: [echo, "at {{workflow.scheduledTime}}"]}\n',
        encoding="utf-8",
    )
    assert flowdsl("cron.yaml", "-q", "--name", "one").code == 0
    (log,) = (folder / ".flowdsl/runs/one/logs").rglob("main.log")
    assert re.fullmatch(r"at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n", log.read_text(encoding="utf-8"))


NEEDED = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: needed-}
spec:
  entrypoint: main
  arguments: {parameters: [{name: rate}]}
  templates:
    - name: main
      inputs: {parameters: [{name: rate}]}
      container: {image: "alpine:3.20", command: [echo, "{{inputs.parameters.rate}}"]}
"""


def test_a_parameter_that_the_entrypoint_needs_may_be_given_to_the_run(
    flowdsl: Callable[..., Result], folder: Path
) -> None:
    (folder / "needed.yaml").write_text(NEEDED)
    refused = flowdsl("needed.yaml")
    assert (refused.code, "error[FD797]" in refused.err) == (2, True)
    done = flowdsl("needed.yaml", "-p", "rate=1")
    assert (done.code, "FD797" in done.err) == (0, False)


READ = """\
from typing import NamedTuple

from flowdsl import fan_out, pipeline, step

class Made(NamedTuple):
    table: dict[str, str]
    squares: list[int]
    plain: str
    deep: str

@step(image="python:3.12-slim")
def table() -> dict[str, str]:
    return {"\u00e9": "{b}"}

@step(image="python:3.12-slim")
def square(i: int) -> int:
    return i * i

@step(image="python:3.12-slim")
def text(n: int) -> str:
    return "[1,2]" if not n else "[" * n + "]" * n

@pipeline
def read() -> Made:
    return Made(table(), fan_out(square, over={"i": [2, 3]}), text(0), text.options(name="deep")(5000))
"""


def test_values_are_read_as_they_were_made(
    flowdsl: Callable[..., Result], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "read.py").write_text(READ, encoding="utf-8")
    deep = "[" * 5000 + "]" * 5000
    values = {"table": '{"\u00e9": "{b}"}', "squares": "[4, 9]", "plain": "[1,2]", "deep": deep}
    done = flowdsl("read.py", "--name", "one", "-q")
    assert done.code == 0
    assert [f"  {name:<7}  {value}" in done.out for name, value in values.items()] == [True] * 4
    assert run(["get", "one"]) == 0
    shown = capsys.readouterr().out
    assert [f"  {name:<7}  {value}\n" in shown for name, value in values.items()] == [True] * 4
    assert run(["fetch", "one", "--list"]) == 0
    listed = {
        line[1]: line[3]
        for row in capsys.readouterr().out.splitlines()
        if len(line := row.split(None, 3)) > 3
    }
    assert {name: listed[name] for name in ("table", "squares", "deep")} == {
        name: values[name] for name in ("table", "squares", "deep")
    }
    assert json.loads(flowdsl("--resume", "one", "--json").out)["outputs"] == {
        "table": {"\u00e9": "{b}"},
        "squares": [4, 9],
        "plain": "[1,2]",
        "deep": deep,
    }
