"""The examples: their YAML is current and the same everywhere, and their steps work."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flowdsl.cli.app import run
from flowdsl.compiler.compile import Compiled, compile_loaded
from flowdsl.compiler.load import load

ROOT = Path(__file__).resolve().parents[1]
NAMES = sorted(path.parent.name for path in ROOT.glob("examples/*/pipeline.py"))

#: Argo's own examples, rewritten, and those that are not compiled to the default kind.
UPSTREAM = sorted(path.stem for path in ROOT.glob("examples/upstream/*.py"))
KINDS = {"input_artifacts": "template"}

#: Compiles the given files, and writes the bytes of each to standard output.
ALL = """
import sys
from flowdsl.cli.app import run
sys.exit(max(run(["compile", file]) for file in sys.argv[1:]))
"""


def file(name: str) -> Path:
    return ROOT / "examples" / name / "pipeline.py"


def compiled(name: str) -> Compiled:
    return compile_loaded(load(file(name)))


def steps(name: str) -> Any:
    """The module of an example, whose steps are functions outside a pipeline."""
    return load(file(name)).module


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder: a step writes its files there."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_is_an_example_of_each_kind() -> None:
    assert NAMES == [
        "containers",
        "distributed",
        "generations",
        "job",
        "sentiment",
        "shards",
        "stages",
        "sweep",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_the_yaml_beside_it_is_current(name: str, pytestconfig: pytest.Config) -> None:
    beside = file(name).with_suffix(".yaml")
    if pytestconfig.getoption("update_snapshots"):
        assert run(["compile", str(file(name)), "--output", str(beside)]) == 0
    assert beside.read_bytes() == compiled(name).text.encode()
    assert run(["compile", str(file(name)), "--check"]) == 0


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_found_in_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(file(name)), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_image_has_a_tag(name: str) -> None:
    images = re.findall(r"^ +image: (.*)$", compiled(name).text, re.MULTILINE)
    assert images
    for image in images:
        assert re.fullmatch(r"[a-z0-9./-]+:[0-9][\w.-]*", image)


@pytest.mark.parametrize("name", NAMES)
def test_compiling_again_changes_nothing(name: str) -> None:
    assert compiled(name).text == compiled(name).text


@pytest.mark.parametrize("name", UPSTREAM)
def test_the_yaml_of_an_upstream_example_is_current(name: str, pytestconfig: pytest.Config) -> None:
    file = ROOT / f"examples/upstream/{name}.py"
    beside = file.with_suffix(".yaml")
    command = ["compile", str(file), *(["--as", KINDS[name]] if name in KINDS else [])]
    if pytestconfig.getoption("update_snapshots"):
        assert run([*command, "--output", str(beside)]) == 0
    assert run([*command, "--check"]) == 0


@pytest.mark.parametrize("name", UPSTREAM)
def test_nothing_is_found_in_an_upstream_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(ROOT / f"examples/upstream/{name}.py"), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_nothing_is_found_in_any_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--strict", str(ROOT / "examples"), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_each_upstream_example_has_its_yaml() -> None:
    assert sorted(path.stem for path in ROOT.glob("examples/upstream/*.yaml")) == UPSTREAM


@pytest.mark.parametrize("seed", ["0", "1", "random"])
def test_the_bytes_are_the_same_everywhere(seed: str, tmp_path: Path) -> None:
    """With another hash seed, folder, form of the path, locale, time zone, and a read-only home."""
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    places: dict[str, tuple[Path, str, str]] = {
        "0": (ROOT, "C", "Asia/Kathmandu"),
        "1": (ROOT / "examples", "C.UTF-8", "America/St_Johns"),
        "random": (tmp_path, "POSIX", "UTC0"),
    }
    where, locale, zone = places[seed]
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": seed,
        "LC_ALL": locale,
        "TZ": zone,
        "HOME": str(home),
        "COLUMNS": "20",
    }
    files = [file(name) if where == tmp_path else file(name).relative_to(where) for name in NAMES]
    command = [sys.executable, "-W", "error", "-c", ALL, *map(str, files)]
    done = subprocess.run(command, cwd=where, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"".join(compiled(name).text.encode() for name in NAMES)
    assert not list(home.iterdir())


# --- the steps, as functions -----------------------------------------------------------------------


def table(path: Path, rows: list[tuple[str, ...]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows(rows)
    return path


def test_five_stages_find_the_urgent_tickets(folder: Path) -> None:
    stages = steps("stages")
    calm = [("0", f"please send invoice number {number} again") for number in range(60)]
    loud = [("1", f"production down since {number} minutes, customers waiting") for number in range(60)]
    mixed = [row for pair in zip(calm, loud, strict=True) for row in pair]
    labelled = table(folder / "labelled.csv", [("urgent", "text"), *mixed, ("1", "help")])
    new = table(folder / "new.csv", [("text",), ("where is my invoice?",), ("Production is down, again!",)])

    examples = stages.preprocess(labelled)
    assert len(examples.read_text(encoding="utf-8").splitlines()) == 120  # not the one of a single word
    trained = stages.train(examples, epochs=3)
    assert trained.accuracy == 1.0
    report = stages.postprocess(stages.infer(stages.export(trained.weights), new), trained.accuracy, 0.5)
    assert report.urgent == 1
    assert report.page.read_text(encoding="utf-8").splitlines()[-1].endswith(" Production is down, again!")


def test_export_keeps_the_weights_that_matter_most(folder: Path) -> None:
    (folder / "weights.json").write_text('{"b": -2.0, "a": 1.0, "c": 0.1}', encoding="utf-8")
    model = steps("stages").export(folder / "weights.json", keep=2)
    assert model.read_text(encoding="utf-8") == '{"a": 1.0, "b": -2.0}'


def test_a_trial_learns_with_a_sensible_rate(folder: Path) -> None:
    sweep = steps("sweep")
    data = sweep.generate()
    assert sweep.train(data, rate=1e-4, hidden=2).accuracy < 0.7
    assert sweep.train(data, rate=0.03, hidden=8).accuracy > 0.95
    network = json.loads(sweep.train(data, rate=0.03, hidden=4).model.read_text(encoding="utf-8"))
    assert len(network["units"]) == 4


def test_the_sweep_finds_a_model_that_is_good_enough(folder: Path) -> None:
    sweep = steps("sweep")
    templates = compiled("sweep").documents[0]["spec"]["templates"]
    (loop,) = (
        task for one in templates for task in one.get("dag", {}).get("tasks", ()) if "withItems" in task
    )
    trials = [(float(item["rate"]), int(item["hidden"])) for item in loop["withItems"]]
    assert len(set(trials)) == 20
    data = sweep.generate()
    found = [sweep.train(data, rate, hidden).accuracy for rate, hidden in trials]
    assert min(found) < 0.7
    assert max(found) > 0.95


def test_a_model_is_published_where_it_is_looked_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "network.json").write_text("{}", encoding="utf-8")
    steps("sweep").publish(folder / "network.json", 0.97, str(folder / "models/moons"))
    assert (folder / "models/moons/network.json").read_text(encoding="utf-8") == "{}"
    assert capsys.readouterr().out == "published with an accuracy of 0.97\n"


def test_a_model_with_a_high_loss_ends_the_run(folder: Path) -> None:
    judge = steps("generations").judge
    (folder / "model.pt").write_bytes(b"\0")
    with pytest.raises(SystemExit, match=re.escape("a loss of 0.6 is more than 0.5")):
        judge(folder / "model.pt", 0.6, 0.5)
    release = judge(folder / "model.pt", 0.4, 0.5)
    assert sorted(path.name for path in release.iterdir()) == ["about.json", "model.pt"]


def test_shards_are_counted_and_joined(folder: Path) -> None:
    shards = steps("shards")
    crawl = folder / "crawl"
    crawl.mkdir()
    for number in range(250):
        (crawl / f"{number:03}.txt").write_text(f"The page {number} the end", encoding="utf-8")
    (crawl / "notes.md").write_text("not a page", encoding="utf-8")
    planned = shards.plan(crawl)
    assert [len(names) for names in planned] == [3] * 50 + [2] * 50
    counted: list[Any] = []
    for number, names in enumerate(planned):
        one = shards.count(crawl, names)
        counted.append(one._replace(words=one.words.rename(f"{number}.json")))
    found = shards.join(counted, least=5)
    assert (found.size, found.documents) == (3, 250)
    assert found.words.read_text(encoding="utf-8").split() == ["the", "page", "end"]


def test_fewer_files_than_shards_make_no_empty_shard(folder: Path) -> None:
    (folder / "only.txt").write_text("", encoding="utf-8")
    assert steps("shards").plan(folder, shards=100) == [["only.txt"]]


# The text of this example is given: a step that lives for one pod leaves its files open.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_the_sentiment_steps_hand_on_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sentiment = steps("sentiment")
    (folder / "raw.txt").write_text("short\na review of more than twenty characters\n", encoding="utf-8")
    with_text = sentiment.preprocess(folder / "raw.txt")
    trained = sentiment.train(with_text, lr=0.25, layers=4)
    sentiment.publish(trained.model, trained.accuracy)
    assert capsys.readouterr().out == "40 0.25 4 0.75\n"


def test_the_commands_of_the_containers_count_words(folder: Path) -> None:
    """The commands of an example in a shell, as the pod would run them."""
    (folder / "text").write_text("to be or not\nto be considered\n", encoding="utf-8")
    environment = {"PATH": os.environ["PATH"], "TEXT": "text", "WORDS": "words", "LONGEST": "longest"}
    done = subprocess.run(
        ["sh", "-ec", steps("containers").COUNT], env=environment, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (folder / "words").read_text(encoding="utf-8").strip() == "7"
    assert (folder / "longest").read_text(encoding="utf-8") == "considered\n"
