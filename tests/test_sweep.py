"""Sweeps from the command line: what each gives lies beside `tests/sweep/cases.toml`."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from flowdsl.cli.app import run as flowdsl
from flowdsl.compiler.sweeping import SPACES
from flowdsl.grammar.space import Value, Written, space
from flowdsl.grammar.space_condition import condition as parse
from tests.goldens import same

CASES = Path(__file__).parent / "sweep"
LINES: dict[str, str] = tomllib.loads((CASES / "cases.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", LINES)
def test_what_a_sweep_gives(
    case: str,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(CASES)
    code = flowdsl(["sweep", *shlex.split(LINES[case])])
    out, err = capsys.readouterr()
    assert (code, bool(out), bool(err)) in ((0, True, False), (2, False, True))
    same(out or err, CASES / f"{case}.{'err' if err else 'yaml'}", request)


def test_there_is_nothing_beside_the_cases() -> None:
    goldens = {one.stem for one in CASES.iterdir() if one.suffix in (".yaml", ".err")}
    assert goldens == LINES.keys()


def written(arguments: str, capsys: pytest.CaptureFixture[str]) -> Any:
    capsys.readouterr()
    assert flowdsl(shlex.split(arguments)) == 0
    return yaml.safe_load(capsys.readouterr().out)


BY_HAND = """
from flowdsl import choice, loguniform, maximize, pipeline, sweep
from trainer import Optimizer, Scored, reviews, DATA
from pathlib import Path


@pipeline(service_account="trainer", ttl="1h", labels={"team": "search"})
def reviews_sweep(
    corpus: Path = DATA / "raw.txt", layers: list[int] = [64], note: str | None = None
) -> Scored:
    found = sweep(
        reviews,
        over={"rate": loguniform(1e-4, 1), "optimizer": choice(Optimizer.SGD, Optimizer.ADAM)},
        objective=maximize("accuracy"),
        trials=6,
        parallel=3,
        seed=2,
        corpus=corpus,
        layers=layers,
        note=note,
    )
    return found.best
"""


def test_it_is_the_sweep_that_is_written_by_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trainer.py").write_bytes((CASES / "trainer.py").read_bytes())
    Path("by_hand.py").write_text(BY_HAND)
    asked = (
        "'rate=loguniform(1e-4,1)' optimizer=SGD,ADAM --trials 6 --parallel 3 --seed 2 --metric accuracy:max"
    )
    found = written(f"sweep trainer.py {asked}", capsys)
    wanted = written("compile by_hand.py", capsys)
    for one in (found, wanted):  # the names of the task and of its trial differ, and so do digests
        del one["metadata"]["annotations"], one["metadata"]["labels"]["flowdsl.dev/spec"]
    named = json.loads(json.dumps(wanted).replace("found", "sweep"))
    assert found == named


TAKEN_OVER = """
from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(n: int) -> int:
    return n


@pipeline
def inner(n: int) -> int:
    return load(n)


@pipeline(packages=["rich==14.0.0"], cache=True)
def outer(n: int = 1) -> int:
    return inner(n)
"""


def test_pipelines_inside_of_a_trial_have_what_its_pipeline_says_for_all_steps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "nested.py"
    file.write_text(TAKEN_OVER)
    alone, tried = (
        {one["name"]: one for one in written(command, capsys)["spec"]["templates"]}
        for command in (f"compile {file}", f"sweep {file}:outer n=1,2 --metric max")
    )
    assert tried["load"]["memoize"].pop("cache") != alone["load"]["memoize"].pop("cache")
    assert tried["load"] == alone["load"]
    assert "rich==14.0.0" in tried["load"]["script"]["source"]


@pytest.mark.parametrize("case", ["katib", "katib-numbers", "katib-grid"])
def test_a_trial_of_katib_runs_and_prints_its_metric(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = yaml.safe_load((CASES / f"{case}.yaml").read_text(encoding="utf-8"))["spec"]
    workflow = spec["trialTemplate"]["trialSpec"]
    workflow["metadata"]["name"] = "trial"
    text = json.dumps(workflow)
    for one in spec["parameters"]:  # as Katib does it: by text substitution
        space = one["feasibleSpace"]
        text = text.replace(f"${{trialParameters.{one['name']}}}", space.get("list", [space.get("min")])[0])
    Path("trial.json").write_text(text, encoding="utf-8")
    Path("raw.txt").write_text("text")
    assert flowdsl(["check", "trial.json"]) == 0
    mounts = ["--mount", "datasets=."] if case == "katib" else []
    assert flowdsl(["run", "trial.json", "--name", "trial", "--quiet", *mounts]) == 0
    capsys.readouterr()
    assert flowdsl(["logs", "trial", "report"]) == 0
    metric = spec["objective"]["objectiveMetricName"]
    # The default filter of Katib's metrics collector.
    pattern = rf"{metric}\s*=\s*([+-]?\d*(\.\d+)?([Ee][+-]?\d+)?)\n"
    found = re.fullmatch(pattern, capsys.readouterr().out)
    assert found is not None
    ended = json.loads(Path(".flowdsl/runs/trial/workflow.json").read_text(encoding="utf-8"))["status"]
    outputs = {one["name"]: one["value"] for one in ended["nodes"]["trial"]["outputs"]["parameters"]}
    assert float(found[1]) == float(outputs[metric])


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters='",()[]{}'), min_size=1).filter(
    lambda text: text == text.strip() and " if" not in text
)
NESTED: st.SearchStrategy[Any] = st.recursive(
    st.integers() | st.text() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
).filter(lambda value: isinstance(value, list | dict))


@st.composite
def values(draw: st.DrawFn) -> Value:
    """A value as users may write it: bare, in quotes, or as JSON."""
    match draw(st.sampled_from(["bare", "quoted", "json"])):
        case "bare":
            return Value(draw(TEXTS), None)
        case "quoted":
            text = draw(st.text())
            return Value(json.dumps(text), text)
        case _:
            return Value(json.dumps(draw(NESTED)), None)


@given(
    st.lists(values(), min_size=1), st.none() | st.sampled_from(SPACES), st.sampled_from([",", ", ", " , "])
)
def test_a_space_is_read_as_it_is_written(parts: list[Value], word: str | None, comma: str) -> None:
    text = comma.join(one.text for one in parts)
    assert space(f"{word}({text})" if word else text, SPACES) == Written(word, tuple(parts))


@given(
    st.sampled_from(["layers > 3", 'a in (b, "c d")', "not (warm or x>=1e-3)"]),
    st.sampled_from(["0.1,2", '"x if y", z']),
)
def test_a_condition_stands_behind_its_space(condition: str, values: str) -> None:
    for text in (f"{values} if {condition}", f"choice({values}) if ({condition})"):
        read = space(text, SPACES)
        assert read._replace(condition=None) == space(text[: text.rindex(" if ")], SPACES)
        assert parse(read.condition or "") == parse(condition)


POINTS = """
from typing import Literal
from flowdsl import choice, integer, maximize, normal, pipeline, quniform, step, sweep, uniform


@step(image="python:3.12-slim")
def train(
    layers: int, kind: str, warm: bool = False, dropout: float = 0.25, decay: float | None = None, other: float = 0.0
) -> float:
    return layers * dropout


@pipeline
def search() -> float:
    found = sweep(
        train,
        over={
            "decay": SPACE.when("dropout < 0.3 and not (kind != adam)"),
            "layers": integer(1, 6),
            "warm": choice(True, False).when("layers in (2, 4)").when("kind == 'adam'"),
            "kind": ["adam", "sgd"],
            "dropout": quniform(0.0, 0.5, 0.25).when("layers >= 4 or warm"),
            "other": [0.0, 1.0],
        },
        objective=maximize(),
        ASKED
    )
    return found.best
"""


CONDITIONS = re.compile(r'\.when\(".*?"\)')


def drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], space: str, asked: str, *, conditions: bool = True
) -> list[dict[str, Any]]:
    """The points of the sweep above, as values."""
    path = tmp_path / "points.py"
    text = POINTS.replace("SPACE", space).replace("ASKED", asked)
    path.write_text(text if conditions else CONDITIONS.sub("", text), encoding="utf-8")
    assert flowdsl(["compile", str(path)]) == 0
    rows = trials(capsys.readouterr().out)
    return [
        {name: text if name == "kind" else json.loads(text) for name, text in row.items() if name != "i"}
        for row in rows
    ]


def followed(row: dict[str, Any]) -> dict[str, Any]:
    """A point with defaults for what it does not search: the conditions above, in Python."""
    row = dict(row)
    if not (row["layers"] in (2, 4) and row["kind"] == "adam"):
        row["warm"] = False
    if not (row["layers"] >= 4 or row["warm"]):
        row["dropout"] = 0.25
    if not (row["dropout"] < 0.3 and row["kind"] == "adam"):
        row["decay"] = None
    return row


def test_a_grid_takes_each_point_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = [
        followed(
            {"decay": decay, "layers": layers, "warm": warm, "kind": kind, "dropout": dropout, "other": other}
        )
        for layers in range(1, 7)
        for kind in ("adam", "sgd")
        for other in (0.0, 1.0)
        for warm in (True, False)
        for dropout in (0.0, 0.25, 0.5)
        for decay in (0.5, 1.5)
    ]
    found = drawn(tmp_path, capsys, "choice(0.5, 1.5)", "")
    assert found == list({json.dumps(row): row for row in wanted}.values())
    every = drawn(tmp_path, capsys, "choice(0.5, 1.5)", f"trials={len(found)}, seed=4")
    assert sorted(map(json.dumps, every)) == sorted(map(json.dumps, found))


@pytest.mark.parametrize("search", ["random", "sobol"])
def test_a_condition_changes_nothing_else_of_a_point(
    search: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = f"trials=64, seed=3, search={search!r}"
    found = drawn(tmp_path, capsys, "normal(0.0, 1.0)", asked)
    assert len({row["decay"] is None for row in found}) == 2
    free = drawn(tmp_path, capsys, "normal(0.0, 1.0)", asked.replace("64", "1000"), conditions=False)
    different = list({json.dumps(one): one for one in map(followed, free)}.values())
    assert found == different[:64]


@pytest.fixture
def trainer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("trainer.py")
    path.write_bytes((CASES / "trainer.py").read_bytes())
    Path("data").mkdir()
    Path("data/raw.txt").write_text("text", encoding="utf-8")
    return path


def test_it_shows_its_end_to_programs(trainer: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = "rate=0.2,0.3 --metric accuracy:max --mount datasets=data -p note=b"
    assert flowdsl(shlex.split(f"sweep {trainer} {asked} --run --json")) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert json.loads(shown.out)["outputs"]["accuracy"] == 0.3
    assert flowdsl(shlex.split(f"sweep {trainer} rate=0.2,0.3 --metric accuracy:max --json")) == 2
    assert capsys.readouterr().err == "flowdsl: --json is for a run: add --run or --submit\n"


def test_options_of_a_run_need_the_run(trainer: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = f"sweep {trainer} rate=0.2,0.3 --metric accuracy:max"
    for options, needed in (
        ("-p note=b", "-p is for a run: add --run or --submit"),
        ("--run --label a=b", "--label is for a run: add --submit"),
        ("--submit --fake train=1", "--fake is for a run: add --run"),
    ):
        assert flowdsl(shlex.split(f"{asked} {options}")) == 2
        assert capsys.readouterr().err == f"flowdsl: {needed}\n"


def test_it_takes_the_options_of_run(trainer: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fakes = "--fake train.accuracy=0.5 --fake train.loss=1 --fake train.model=data/raw.txt"
    asked = f"rate=0.2,0.3 --metric accuracy:max -p note=b --run --json {fakes}"
    assert flowdsl(shlex.split(f"sweep {trainer} {asked}")) == 0
    assert json.loads(capsys.readouterr().out)["outputs"]["accuracy"] == 0.5


def test_it_takes_the_options_of_submit(trainer: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = "rate=0.2,0.3 --metric accuracy:max -p note=b --submit --dry-run client --label team=a"
    assert flowdsl(shlex.split(f"sweep {trainer} {asked}")) == 0
    assert "team: a\n" in capsys.readouterr().out


def test_it_runs_here(trainer: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = "rate=0.2,0.3,0.1 --metric accuracy:max --run --mount datasets=data -p note=b --name tried"
    assert flowdsl(shlex.split(f"sweep {trainer} {asked}")) == 0
    assert "accuracy  0.3" in capsys.readouterr().out
    best = Path(".flowdsl/runs/tried/artifacts/tried/sweep.train/model/1")
    assert best.read_text(encoding="utf-8") == "0.3 [64] adam b 3"
    assert flowdsl(shlex.split("get tried --rounds --metric loss:max -o json")) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert [one["values"]["rate"] for one in found["rounds"]] == [0.1, 0.2, 0.3]
    assert [one["best"] for one in found["rounds"]] == [True, False, False]
    for wrong in (
        "--rounds --metric loss",
        "--rounds --metric los:min",
        "--metric loss:min",
        "--rounds -o yaml",
    ):
        assert flowdsl(shlex.split(f"get tried {wrong}")) == 2


def test_why_a_trial_failed_is_said_of_the_step_within_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = shlex.quote(str(CASES / "failing.py"))
    assert flowdsl(shlex.split(f"sweep {path} rate=0.1,0.2 --metric max --run --name some")) == 0
    assert "1   0.2          Failed: load: ValueError: rate 0.2 is too large" in capsys.readouterr().out
    assert flowdsl(shlex.split("get some --rounds")) == 0
    assert "1   0.2          Failed: load: ValueError: rate 0.2 is too large" in capsys.readouterr().out
    for bound, words in ((1, "no trial"), (2, "fewer than 2 trials")):
        asked = f"sweep {path} rate=0.3,0.2 --metric max --min-success {bound} --run --name none-{bound}"
        assert flowdsl(shlex.split(asked)) == 1
        out = capsys.readouterr().out
        assert f"sweep-best  Error      0.0s  {words} of sweep returned a usable return\n" in out
        assert flowdsl(shlex.split(f"get none-{bound}")) == 0
        assert (
            f"Message:   sweep-best: {words} of sweep returned a usable return\n" in capsys.readouterr().out
        )


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ("--run -o sweep.yaml", "one of them"),
        ("--run --submit", "one of them"),
        ("--mount datasets=data", "add --run"),
        ("--python python3.13", "add --run"),
        ("--watch", "add --submit"),
        ("--wait", "add --submit"),
        ("--timeout 6h", "add --submit"),
        ("--submit --wait --watch", "choose one"),
        ("--submit --timeout 6h", "add --wait, --watch or --logs"),
        ("-p seed=1", "add --run or --submit"),
        ("--check", "with -o"),
    ],
)
def test_what_does_not_go_together(
    trainer: Path, asked: str, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert flowdsl(shlex.split(f"sweep {trainer} rate=0.1,0.2 --metric accuracy:max {asked}")) == 2
    out, err = capsys.readouterr()
    assert (out, word in err) == ("", True)
    assert not Path("sweep.yaml").exists()


def test_a_file_is_compared(trainer: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = f"sweep {trainer} rate=0.1,0.2 --metric accuracy:max -o sweep.yaml"
    assert [flowdsl(shlex.split(line)) for line in (f"{asked} --check", asked, f"{asked} --check")] == [
        1,
        0,
        0,
    ]
    written = Path("sweep.yaml").read_text(encoding="utf-8")
    assert [one["rate"] for one in trials(written)] == ["0.1", "0.2"]
    capsys.readouterr()
    assert flowdsl(shlex.split(f"{asked} --check".replace("0.2", "0.3"))) == 1
    assert 'rate: "0.3"' in capsys.readouterr().out
    assert Path("sweep.yaml").read_text(encoding="utf-8") == written


def trials(text: str) -> list[dict[str, str]]:
    """The items of the one loop in a text of YAML."""
    tasks = (
        one
        for each in yaml.safe_load(text)["spec"]["templates"]
        for one in each.get("dag", {}).get("tasks", ())
    )
    (found,) = (one["withItems"] for one in tasks if "withItems" in one)
    return list(found)
