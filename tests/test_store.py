"""Files on a volume: the scripts that are emitted run one after the other, and their bytes arrive."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flowdsl.compiler import compile_loaded
from flowdsl.compiler.load import load
from tests.small_argo import Failed, SmallArgo

CASES = Path(__file__).parent / "lowering"


def argo(source: Path, folder: Path) -> SmallArgo:
    compiled = compile_loaded(load(source))
    assert [one.finding.message for one in compiled.diagnostics] == []
    return SmallArgo(compiled.documents[0], folder)


def written(folder: Path, text: str) -> SmallArgo:
    """A run of a pipeline below the usual imports."""
    source = folder / "pipeline.py"
    head = "from pathlib import Path\nfrom typing import NamedTuple\nfrom flowdsl import *\nDATA = Volume('data')\n"
    source.write_text(head + text, encoding="utf-8")
    return argo(source, folder)


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("case", ["store_straight", "store_loops", "store_containers"])
def test_no_object_store_is_needed(case: str) -> None:
    text = (CASES / f"{case}.yaml").read_text(encoding="utf-8")
    assert "artifacts:" not in text
    assert "s3:" not in text


def test_a_straight_line(tmp_path: Path) -> None:
    run = argo(CASES / "store_straight.py", tmp_path)
    run.here("datasets/raw.txt").write_text("one\nlonger\nx\nlongest\n")
    outputs = run.start()
    assert outputs == {"return": "/flowdsl/volumes/datasets/runs/run-x7k2p/report/return"}
    assert run.here(outputs["return"]).read_text() == r"3 ['one', 'longer', 'longest'] 'x\n'"
    assert files(tmp_path / "claims/datasets/runs/run-x7k2p") == [
        "cleaned/rejected",
        "cleaned/text",
        "parts/return/0-part-0",
        "parts/return/1-part-1",
        "parts/return/2-part-2",
        "report/return",
    ]


def test_an_optional_file_that_is_not_there(tmp_path: Path) -> None:
    run = argo(CASES / "store_straight.py", tmp_path)
    run.here("datasets/raw.txt").write_text("long\nlonger\n")
    outputs = run.start()
    assert run.here(outputs["return"]).read_text() == "2 ['long', 'longer'] None"


def test_loops_and_the_best_of_a_sweep(tmp_path: Path) -> None:
    run = argo(CASES / "store_loops.py", tmp_path)
    run.start(count="2")
    root = tmp_path / "claims/datasets/runs/run-x7k2p"
    assert (root / "merge/return").read_text() == "de 0, de 1, en 0, en 1"
    assert (root / "files/return/all").read_text().splitlines() == [
        "0.5: de 0, de 1, en 0, en 1 at 0.5",
        "0.75: de 0, de 1, en 0, en 1 at 0.25",
    ]
    assert (root / "files/return/best").read_text() == "de 0, de 1, en 0, en 1 at 0.25"
    assert files(root) == [
        *(f"corpora.merge/{one}/return" for one in range(2)),
        *(f"corpora.parts/{one}/{other}/return" for one in range(2) for other in range(2)),
        "files/return/all",
        "files/return/best",
        "merge/return",
        "runs/0/model",
        "runs/1/model",
        "tokens/0/return",
        "tokens/1/return",
        "tokens/2/return",
    ]
    assert run.pods[-1] == "publish"


def test_two_runs_do_not_meet(tmp_path: Path) -> None:
    text = """
@step(image="i")
def load(name: str) -> Path:
    Path("file").write_text(name)
    return Path("file")

@pipeline(store=DATA)
def main(name: str) -> Path:
    return load(name)
"""
    first = written(tmp_path, text)
    second = written(tmp_path, text)
    second.run, second.folder = "run-other", tmp_path / "other"
    paths = [first.start(name="one")["return"], second.start(name="two")["return"]]
    assert [first.here(path).read_text() for path in paths] == ["one", "two"]


def test_a_branch_and_a_file_of_the_user(tmp_path: Path) -> None:
    text = """
@step(image="i")
def train(name: str) -> Path:
    Path("file").write_text(name)
    return Path("file")

@step(image="i")
def show(model: Path) -> str:
    return model.read_text()

@pipeline(store=DATA / "runs")
def main(fresh: bool, again: bool) -> str:
    with when(fresh):
        new = train("new")
    with when(again):
        old = train("again")
    return show(either(new, either(old, DATA / "models/last")))
"""
    for fresh, again, expected in (
        ("true", "true", "new"),
        ("false", "true", "again"),
        ("false", "false", "old"),
    ):
        folder = tmp_path / f"{fresh}-{again}"
        folder.mkdir()
        run = written(folder, text)
        run.here("data/models").mkdir()
        run.here("data/models/last").write_text("old")
        assert run.start(fresh=fresh, again=again) == {"return": expected}


def test_steps_in_any_language(tmp_path: Path) -> None:
    text = """
@container(image="busybox")
def fetch(source: Path) -> Path:
    command("cp", source, output())

class Counted(NamedTuple):
    copy: Path
    words: str

@container(image="tools")
def count(text: Path, number: int) -> Counted:
    command("python3", "-c", "import os, shutil, sys; shutil.copy(sys.argv[1], os.environ['COPY']);"
            "open(os.environ['WORDS'], 'w').write(str(len(open(sys.argv[1]).read().split()) * int(sys.argv[2])))",
            text, number, env={"COPY": output("copy"), "WORDS": output("words")})

@step(image="i")
def join(found: list[Counted]) -> str:
    return " ".join(f"{one.words}:{one.copy.read_text()}" for one in found)

@pipeline(store=DATA / "runs")
def main() -> str:
    return join(fan_out(count, over={"number": [2, 3]}, text=fetch(DATA / "raw")))
"""
    run = written(tmp_path, text)
    run.here("data/raw").write_text("some words")
    assert run.start() == {"return": "4:some words 6:some words"}


ATTEMPTS = """
class Made(NamedTuple):
    many: list[Path]
    note: Path | None

@step(image="i", retries=3)
def make(marks: Path) -> Made:
    attempt = len(list(marks.iterdir()))
    (marks / str(attempt)).touch()
    Path("a").write_text(f"a{attempt}")
    Path("b").write_text(f"b{attempt}")
    Path("note").write_text("note")
    missing = [] if attempt % 2 else [Path("missing")]
    return Made([Path("a"), Path("b"), *missing], Path("note") if attempt == 1 else None)

@pipeline(store=DATA / "runs")
def main() -> Made:
    return make(DATA / "marks")
"""


def test_what_a_failed_attempt_wrote_is_never_taken_for_an_output(tmp_path: Path) -> None:
    run = written(tmp_path, ATTEMPTS)
    run.here("data/marks").mkdir()
    folder = tmp_path / "claims/data/runs/run-x7k2p/make"
    with pytest.raises(Failed, match=r"output many \(list\[Path\]\): the path missing does not exist"):
        run.start()
    assert files(folder) == []  # two of three files were copied
    run.start()
    assert files(folder) == ["many/0-a", "many/1-b", "note"]
    with pytest.raises(Failed):
        run.start()
    assert (folder / "many/0-a").read_text() == "a1"  # whole, though of an earlier attempt
    run.start()
    assert files(folder) == ["many/0-a", "many/1-b"]  # the note of the second attempt is gone
    assert (folder / "many/0-a").read_text() == "a3"
    assert sorted(path.name for path in folder.iterdir()) == ["many"]


def test_a_pod_that_is_killed_leaves_no_half_of_an_output(tmp_path: Path) -> None:
    text = """
import os

@step(image="i")
def make() -> list[Path]:
    class Late(type(Path())):
        def __str__(self):
            os._exit(9)
    Path("a").write_text("a")
    return [Path("a"), Late("b")]

@pipeline(store=DATA)
def main() -> list[Path]:
    return make()
"""
    run = written(tmp_path, text)
    with pytest.raises(Failed):
        run.start()
    (left,) = (tmp_path / "claims/data/run-x7k2p/make").iterdir()
    assert left.name != "return"
    assert files(left) == ["new/0-a"]


def test_records_and_bundles(tmp_path: Path) -> None:
    text = """
class Score(NamedTuple):
    model: Path
    loss: float

@step(image="i")
def scores(count: int) -> dict[str, list[Path]]:
    for number in range(count):
        Path(f"m{number}").write_text(str(number))
    return {"all": [Path(f"m{number}") for number in range(count)]}

@step(image="i")
def one(files: dict[str, list[Path]]) -> Score:
    return Score(files["all"][-1], 0.5)

@step(image="i")
def read(score: Score, folder: Path) -> list[str]:
    return [score.model.read_text(), str(score.loss), folder.read_text()]

@pipeline
def inner(count: int) -> Score:
    return one(scores(count))

@pipeline(store=DATA / "runs")
def main() -> list[str]:
    made = inner(3)
    return read(made, made.model)
"""
    assert json.loads(written(tmp_path, text).start()["return"]) == ["2", "0.5", "2"]
