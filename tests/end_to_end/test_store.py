"""Files on a volume: what the compiled pipelines give is what their Python says, and no object store is asked."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from flowdsl import Volume
from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from flowdsl.compiler.lowering import split
from flowdsl.pipeline import Pipeline
from flowdsl.runtime.phases import FAILED, SUCCEEDED
from tests.end_to_end import expected
from tests.end_to_end.inside import small
from tests.end_to_end.run import Json, Run
from tests.end_to_end.test_pipelines import FIRST, LOWERING, SPLIT, check, drop_fakes, one_of_many
from tests.end_to_end.world import Case, World, compiled, points


@pytest.fixture
def world(world: World) -> World:
    world.volumes["kept"] = world.folder / "volumes/kept"
    return world


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


# --- what runs with an object store runs without one -------------------------------------------------


def stored(file: Path, name: str | None = None) -> tuple[Any, Json]:
    """The module of a file, and the manifest of its pipeline with its files on a volume."""
    loaded = load(file)
    pipelines: list[Any] = [one for one in vars(loaded.module).values() if isinstance(one, Pipeline)]
    for one in pipelines:
        one._definition.options.setdefault("store", Volume("kept") / "runs")
    result = compile_loaded(loaded, name)
    assert not result.failed, [one.finding.message for one in result.diagnostics]
    (document,) = result.documents
    assert '"s3"' not in json.dumps(document)
    return loaded.module, document


IN_GROUPS = {case.pipeline: case for case in SPLIT if case.pipeline not in ("items", "records", "trials")}


@pytest.mark.parametrize("case", FIRST.values(), ids=lambda case: case.id)
def test_any_pipeline_runs_on_a_volume(case: Case, world: World) -> None:
    run = check(case, world, stored(case.file, case.name), small)
    assert not run.objects


@pytest.mark.parametrize("case", IN_GROUPS.values(), ids=lambda case: case.id)
def test_a_graph_in_groups_runs_on_a_volume(
    case: Case, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(split, "LIMIT", 4)
    run = check(case, world, stored(case.file, case.name), small)
    assert not run.objects


def test_the_best_of_very_many_trials_is_on_a_volume(world: World) -> None:
    module, document = stored(LOWERING / "sweeps.py")
    drawn = points(document, "trials", {"rate": float, "layers": int})
    expected.sweeps(world.plain, module, world.volumes, drawn)
    run = world.run(document, fake=one_of_many)
    drop_fakes(world, run)
    run.nodes.pop(f"{run.entry.name}.many-best")
    world.agree(run)
    assert not run.objects


# --- pipelines that say `store` ----------------------------------------------------------------------


def values(run: Run) -> dict[str, str]:
    assert run.phase == SUCCEEDED, run.errors()
    return run.entry.parameters or {}


def kept(run: Run, path: str) -> str:
    found = run.kept(path)
    assert found is not None
    return found.read_text(encoding="utf-8")


def written(world: World, source: str) -> Json:
    """The manifest of a pipeline below the usual imports, whose volume is empty."""
    file = world.folder / "pipeline.py"
    head = "from pathlib import Path\nfrom typing import NamedTuple\nfrom flowdsl import *\n"
    file.write_text(f"{head}DATA = Volume('kept')\nOUT = DATA / 'runs'\n{source}", encoding="utf-8")
    world.volumes["kept"].mkdir()
    return compiled(file, "main")[1]


@pytest.mark.parametrize("case", ["straight", "loops", "containers"])
def test_nothing_is_kept_elsewhere(case: str) -> None:
    """The only artifacts are inputs whose text stands in the manifest: what loops hand on."""
    documents = list(yaml.safe_load_all((LOWERING / f"store_{case}.yaml").read_text(encoding="utf-8")))
    inputs: list[Json] = []
    others: list[str] = []
    for template in (one for each in documents for one in each["spec"]["templates"]):
        inputs += template.get("inputs", {}).pop("artifacts", [])
        others += re.findall(r"artifacts|s3", json.dumps(template))
    assert others == []
    assert [one for one in inputs if one.keys() != {"name", "path", "raw"}] == []
    assert bool(inputs) == (case == "loops")


@pytest.mark.parametrize(
    ("raw", "report", "rejected"),
    [
        ("one\nlonger\nx\nlongest\n", r"3 ['one', 'longer', 'longest'] 'x\n'", ["cleaned/rejected"]),
        ("long\nlonger\n", "2 ['long', 'longer'] None", []),
    ],
)
def test_a_straight_line(world: World, raw: str, report: str, rejected: list[str]) -> None:
    (world.volumes["datasets"] / "raw.txt").write_text(raw)
    run = world.run(compiled(LOWERING / "store_straight.py")[1], {"shortest": "2"})
    root = f"runs/{run.entry.name}"
    path = f"/flowdsl/volumes/datasets/{root}/report/return"
    assert values(run) == {"return": path}
    assert kept(run, path) == report
    found = files(world.volumes["datasets"] / root)
    assert [one for one in found if not one.startswith("parts/")] == [
        *rejected,
        "cleaned/text",
        "report/return",
    ]
    assert found[-2] == f"parts/return/{len(found) - len(rejected) - 3}-part-{len(found) - len(rejected) - 3}"


def test_loops_and_the_best_of_a_sweep(world: World) -> None:
    run = world.run(compiled(LOWERING / "store_loops.py")[1], {"count": "2"})
    assert run.phase == SUCCEEDED, run.errors()
    root = world.volumes["datasets"] / "runs" / run.entry.name
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
    assert "publish" in str(run.nodes.keys())


@pytest.mark.parametrize(("fresh", "model"), [("true", "model of raw"), ("false", "the last")])
def test_both_kinds_of_places_in_one_run(world: World, fresh: str, model: str) -> None:
    world.volumes["models.archive"] = world.folder / "archive"
    data = world.folder / "data"
    (data / "models").mkdir(parents=True)
    (data / "models/last").write_text("the last")
    (data / "raw").write_text("  raw ")
    world.volumes["datasets"] = data
    run = world.run(compiled(LOWERING / "store_mixed.py")[1], {"fresh": fresh})
    assert run.phase == SUCCEEDED, run.errors()
    name = run.entry.name
    said = {one: run.task(one).log for one in ("chosen", "other", "again", "temporary")}
    assert said == {
        "chosen": f"{model} of {name}\n",
        "other": "raw by key\n",
        "again": "raw on the volume\n",
        "temporary": "raw an artifact\n",
    }
    assert files(data / "runs/nightly" / name) == [
        "again-clean/return",
        "corpus.clean/return",
        "corpus.first/return",
    ]
    assert files(world.folder / "archive") == ([f"{name}/trained/return"] if fresh == "true" else [])


def test_two_runs_do_not_meet(world: World) -> None:
    document = written(
        world,
        """
@step(image="i:1")
def load(name: str) -> Path:
    Path("file").write_text(name)
    return Path("file")

@pipeline(store=OUT)
def main(name: str) -> Path:
    return load(name)
""",
    )
    runs = [world.run(document, {"name": name}) for name in ("one", "two")]
    assert [kept(run, values(run)["return"]) for run in runs] == ["one", "two"]


@pytest.mark.parametrize(
    ("fresh", "again", "model"),
    [("true", "true", "new"), ("false", "true", "again"), ("false", "false", "old")],
)
def test_branches_and_a_file_of_the_user(world: World, fresh: str, again: str, model: str) -> None:
    document = written(
        world,
        """
@step(image="i:1")
def train(name: str) -> Path:
    Path("file").write_text(name)
    return Path("file")

@step(image="i:1")
def show(model: Path) -> str:
    return model.read_text()

@pipeline(store=OUT)
def main(fresh: bool, again: bool) -> str:
    with when(fresh):
        new = train("new")
    with when(again):
        old = train("again")
    return show(either(new, either(old, DATA / "last")))
""",
    )
    (world.volumes["kept"] / "last").write_text("old")
    run = world.run(document, {"fresh": fresh, "again": again})
    assert values(run) == {"return": model}


def test_steps_in_any_language(world: World) -> None:
    document = written(
        world,
        """
@container(image="busybox:1.37")
def fetch(source: Path) -> Path:
    command("cp", source, output())

class Counted(NamedTuple):
    copy: Path
    words: int

@container(image="tools:1")
def count(text: Path, script: Path, number: int) -> Counted:
    command("sh", script, text, number, env={"COPY": output("copy"), "WORDS": output("words")})

@step(image="i:1")
def join(found: list[Counted]) -> str:
    return " ".join(f"{one.words}:{one.copy.read_text()}" for one in found)

@pipeline(store=OUT)
def main() -> str:
    found = fan_out(count, over={"number": [2, 3]}, text=fetch(DATA / "raw"), script=DATA / "script")
    return join(found)
""",
    )
    (world.volumes["kept"] / "raw").write_text("text")
    (world.volumes["kept"] / "script").write_text('cp "$1" "$COPY"; echo $(($2 * 2)) > "$WORDS"')
    assert values(world.run(document)) == {"return": "4:text 6:text"}


def test_records_of_files_through_a_pipeline(world: World) -> None:
    document = written(
        world,
        """
class Score(NamedTuple):
    model: Path
    loss: float

@step(image="i:1")
def scores(count: int) -> dict[str, list[Path]]:
    for number in range(count):
        Path(f"m{number}").write_text(str(number))
    return {"all": [Path(f"m{number}") for number in range(count)]}

@step(image="i:1")
def last(files: dict[str, list[Path]]) -> Score:
    return Score(files["all"][-1], 0.5)

@step(image="i:1")
def read(score: Score, file: Path) -> list[str]:
    return [score.model.read_text(), str(score.loss), file.read_text()]

@pipeline
def inner(count: int) -> Score:
    return last(scores(count))

@pipeline(store=OUT)
def main() -> list[str]:
    made = inner(3)
    return read(made, made.model)
""",
    )
    assert json.loads(values(world.run(document))["return"]) == ["2", "0.5", "2"]


# --- attempts ----------------------------------------------------------------------------------------

ATTEMPTS = """
class Made(NamedTuple):
    many: list[Path]
    note: Path | None

@step(image="i:1", mounts={"/marks": DATA / "marks"}, retries=RETRIES)
def make() -> Made:
    marks = Path("/marks")
    attempt = len(list(marks.iterdir()))
    (marks / str(attempt)).touch()
    Path("a").write_text(f"a{attempt}")
    Path("b").write_text(f"b{attempt}")
    Path("note").write_text("note")
    missing = [] if attempt % 2 else [Path("missing")]
    return Made([Path("a"), Path("b"), *missing], Path("note") if attempt == 1 else None)

@step(image="i:1")
def read(made: Made) -> list[str | None]:
    return [*(one.read_text() for one in made.many), made.note.read_text() if made.note else None]

@pipeline(store=OUT)
def main() -> list[str | None]:
    return read(make())
"""


def test_a_whole_output_of_an_earlier_attempt_gives_way(world: World) -> None:
    document = written(world, ATTEMPTS.replace("RETRIES", "1"))
    run = world.run(document)
    assert json.loads(values(run)["return"]) == ["a1", "b1", "note"]
    name = run.entry.name
    folder = world.volumes["kept"] / "runs" / name / "make"
    assert sorted(path.name for path in folder.iterdir()) == ["many", "note"]
    # The same task once more in the same folder, as a retry of the run by hand does it.
    again = world.run(document, name=name)
    assert json.loads(values(again)["return"]) == ["a3", "b3", None]
    assert sorted(path.name for path in folder.iterdir()) == ["many"]


def test_what_a_failed_attempt_copied_is_no_output(world: World) -> None:
    run = world.run(written(world, ATTEMPTS.replace("RETRIES", "0")))
    assert run.phase == FAILED
    assert "output many (list[Path]): the path missing does not exist" in str(run.errors())
    assert files(world.volumes["kept"] / "runs") == []


def test_a_pod_that_is_killed_leaves_no_half_of_an_output(world: World) -> None:
    document = written(
        world,
        """
import os

@step(image="i:1")
def make() -> list[Path]:
    class Last(type(Path())):
        def __str__(self):
            os._exit(9)
    Path("a").write_text("a")
    return [Path("a"), Last("b")]

@pipeline(store=OUT)
def main() -> list[Path]:
    return make()
""",
    )
    run = world.run(document)
    assert run.phase == FAILED
    (folder,) = (world.volumes["kept"] / "runs" / run.entry.name).iterdir()
    (left,) = folder.iterdir()
    assert left.name != "return"
    assert files(left) == ["new/0-a"]


# --- results of loops inside results of loops ---------------------------------------------------------

NESTED = """
class Both(NamedTuple):
    files: list[Path]
    pair: tuple[Path, Path]
    sizes: list[int]

@step(image="i:1")
def make(name: str, number: int) -> Path:
    Path("file").write_text(f"{name}{number}")
    return Path("file")

@step(image="i:1")
def size(name: str, number: int) -> int:
    return len(name) * 10 + number

@step(image="i:1")
def count(name: str) -> list[int]:
    return list(range(len(name)))

@step(image="i:1")
def read(rows: list[Both]) -> list[list[str]]:
    return [[*(one.read_text() for one in (*row.files, *row.pair)), *map(str, row.sizes)] for row in rows]

@step(image="i:1")
def lists(rows: list[list[Path]]) -> list[list[str]]:
    return [[one.read_text() for one in row] for row in rows]

@step(image="i:1")
def numbers(rows: list[list[int]]) -> list[list[int]]:
    return rows

@step(image="i:1")
def total(sizes: list[int]) -> int:
    return sum(sizes)

@step(image="i:1")
def first(files: list[Path], sizes: list[int]) -> str:
    return f"{[one.read_text() for one in files]} {sizes}"

@step(image="i:1")
def joined(files: list[Path]) -> Path:
    Path("joined").write_text("+".join(one.read_text() for one in files))
    return Path("joined")

@step(image="i:1")
def kept(one: Both) -> Path:
    Path("kept").write_text(one.files[0].read_text() + one.pair[0].read_text())
    return Path("kept")

@pipeline
def several(name: str) -> list[Path]:
    return fan_out(make, over={"number": count(name)}, name=name)

@pipeline
def sizes(name: str) -> list[int]:
    return fan_out(size, over={"number": count(name)}, name=name)

@pipeline
def both(name: str) -> Both:
    return Both(several(name), (make(name, 8), make.options(name="last")(name, 9)), sizes(name))
"""


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("return lists(fan_out(several, over={'name': names}))", [["a0"], ["bc0", "bc1"]]),
        ("return numbers(fan_out(sizes, over={'name': names}))", [[10], [20, 21]]),
        (
            "return read(fan_out(both, over={'name': names}))",
            [["a0", "a8", "a9", "10"], ["bc0", "bc1", "bc8", "bc9", "20", "21"]],
        ),
        ("return total(sizes('abc'))", 93),
        ("rows = fan_out(sizes, over={'name': names})\n    return total(rows[1])", 41),
        (
            "parts = fan_out(total, over={'sizes': fan_out(sizes, over={'name': names})})\n    return total(parts)",
            51,
        ),
        (
            "r = fan_out(several, over={'name': names})\n    return first(fan_out(joined, over={'files': r}), [])",
            "['a0', 'bc0+bc1'] []",
        ),
        (
            "parts = fan_out(kept, over={'one': fan_out(both, over={'name': names})})\n    return first(parts, [])",
            "['a0a8', 'bc0bc8'] []",
        ),
        (
            "rows = fan_out(both, over={'name': names})\n    return first(rows[1].files, rows[1].sizes)",
            "['bc0', 'bc1'] [20, 21]",
        ),
        ("one = both('ab')\n    return first(one.files, one.sizes)", "['ab0', 'ab1'] [20, 21]"),
        ("rows = fan_out(several, over={'name': names})\n    return first(rows[0], [])", "['a0'] []"),
        ("return total([sizes('ab')[1] + 1, both('ab').sizes[1]])", 43),
        ("rows = fan_out(both, over={'name': names})\n    return total([rows[1].sizes[0], 1])", 21),
    ],
)
def test_results_of_loops_inside_results_of_loops(world: World, body: str, wanted: object) -> None:
    source = (
        f"{NESTED}\n@pipeline(store=OUT)\ndef main(names: list[str] = ['a', 'bc']) -> object:\n    {body}\n"
    )
    found = values(world.run(written(world, source)))["return"]
    assert (found if isinstance(wanted, str) else json.loads(found)) == wanted


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("return numbers(fan_out(sizes, over={'name': names}))", [[10], [20, 21]]),
        ("return total([sizes('ab')[1] + 1, 1])", 23),
        ("return first(several('ab'), sizes('ab'))", "['ab0', 'ab1'] [20, 21]"),
        ("one = both('ab')\n    return first(one.files, one.sizes)", "['ab0', 'ab1'] [20, 21]"),
    ],
)
def test_results_of_loops_in_the_repository(world: World, body: str, wanted: object) -> None:
    source = f"{NESTED}\n@pipeline\ndef main(names: list[str] = ['a', 'bc']) -> object:\n    {body}\n"
    found = values(world.run(written(world, source)))["return"]
    assert (found if isinstance(wanted, str) else json.loads(found)) == wanted
