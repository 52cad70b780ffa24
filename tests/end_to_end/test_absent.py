"""Values of a branch that does not run: `either` gives what stands in for them, and for their parts."""

from __future__ import annotations

import pytest

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.load import load
from tests.end_to_end.inside import small
from tests.end_to_end.world import World

SOURCE = """\
from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, either, fan_out, minimize, pipeline, step, sweep, when

PYTHON = "python:3.12-slim"
DATA = Volume("data")


class Fit(NamedTuple):
    loss: float
    model: Path


@step(image=PYTHON)
def fit(size: float) -> Fit:
    model = Path("model.txt")
    model.write_text(str(size))
    return Fit(size, model)


@step(image=PYTHON)
def show(model: Path | None) -> str:
    return model.read_text() if model else "none"


@pipeline
def main(begin: bool) -> None:
    with when(begin):
        each = fan_out(fit, over={"size": [1.0, 2.0]})
        tried = sweep(fit, over={"size": [3.0, 4.0]}, objective=minimize("loss"))
    show.options(name="row")(either(each[1].model, None))
    show.options(name="best")(either(tried.best.model, None))
    show.options(name="several")(either(either(tried.best.model, each[0].model), None))
    show.options(name="mixed")(either(each[0].model, DATA / "spare.txt"))
"""
GIVEN = {"row": "2.0", "best": "3.0", "several": "3.0", "mixed": "1.0"}
ABSENT = {"row": "none", "best": "none", "several": "none", "mixed": "spare"}


@pytest.mark.parametrize("store", ["", '(store=DATA / "runs")'])
@pytest.mark.parametrize("begin", [True, False])
def test_a_file_of_a_loop_that_did_not_run(begin: bool, store: str, world: World) -> None:
    world.volumes["data"].mkdir(parents=True, exist_ok=True)
    (world.volumes["data"] / "spare.txt").write_text("spare", encoding="utf-8")
    file = world.folder / "pipeline.py"
    file.write_text(SOURCE.replace("@pipeline\n", f"@pipeline{store}\n"), encoding="utf-8")
    result = compile_loaded(load(file))
    assert result.diagnostics == []
    done = world.run(result.documents[-1], {"begin": str(begin).lower()})
    assert done.phase == "Succeeded"
    wanted = GIVEN if begin else ABSENT
    assert {name: (done.task(name).parameters or {})["return"] for name in wanted} == wanted


PARTS = """\
from flowdsl import either, otherwise, pipeline, step, when


@step(image="python:3.12-slim")
def some(given: list[int | None]) -> list[int | None]:
    return given


@step(image="python:3.12-slim")
def show(number: int) -> int:
    return number


@pipeline
def main(known: list[int | None], begin: bool) -> None:
    with when(begin):
        one = some([1, None])
    with otherwise():
        two = some([2, None])
    show.options(name="usual")(either(either(one, known)[0], -1))
    show.options(name="other")(either(either(one, two)[0], -1))
    show.options(name="second")(either(either(one, known)[1], -1))
    show.options(name="both")(either(either(either(one, known)[1], known[0]), -1))
"""


@pytest.mark.parametrize(("begin", "found"), [(True, [1, 1, -1, 7]), (False, [7, 2, -1, 7])])
def test_a_part_of_what_either_gives(begin: bool, found: list[int], world: World) -> None:
    file = world.folder / "pipeline.py"
    file.write_text(PARTS, encoding="utf-8")
    result = compile_loaded(load(file))
    assert not result.failed
    given = {"known": "[7, null]", "begin": str(begin).lower()}
    done = world.run(result.documents[-1], given, fake=small)
    names = ("usual", "other", "second", "both")
    assert [int((done.task(name).parameters or {})["return"]) for name in names] == found


PASSED_ON = """\
from pathlib import Path

from flowdsl import Raw, either, pipeline, step, when


@step(image="python:3.12-slim")
def upper(file: Path) -> Path:
    made = Path("made.txt")
    made.write_text(file.read_text().upper())
    return made


@step(image="python:3.12-slim")
def show(file: Path) -> str:
    return file.read_text()


@pipeline
def checked(file: Path) -> Path:
    show(file)
    return file


@pipeline
def main(begin: bool) -> None:
    raw = checked(Raw("raw"))
    with when(begin):
        made = upper(raw)
    show.options(name="branch")(either(made, raw))
    tried = upper.options(may_fail=True)(raw)
    show.options(name="failure")(either(tried, raw))
"""


@pytest.mark.parametrize("begin", [True, False])
def test_a_file_that_a_pipeline_passes_on_stands_in_for_another(begin: bool, world: World) -> None:
    file = world.folder / "pipeline.py"
    file.write_text(PASSED_ON, encoding="utf-8")
    result = compile_loaded(load(file))
    assert result.diagnostics == []
    done = world.run(result.documents[-1], {"begin": str(begin).lower()})
    found = [(done.task(name).parameters or {})["return"] for name in ("branch", "failure")]
    assert found == ["RAW" if begin else "raw", "RAW"]


MAY_FAIL = """\
from pathlib import Path

from flowdsl import either, pipeline, step


@step(image="python:3.12-slim")
def parts(good: bool) -> list[Path]:
    if not good:
        raise ValueError("no parts")
    Path("part").write_text("part")
    return [Path("part")]


@step(image="python:3.12-slim")
def show(file: Path | None) -> str:
    return file.read_text() if file else "none"


@pipeline
def main(good: bool) -> None:
    tried = parts.options(may_fail=True)(good)
    show.options(name="tried")(either(tried[0], None))
    show.options(name="several")(either(tried[0], parts(True)[-1]))
"""


@pytest.mark.parametrize("good", [True, False])
def test_a_file_of_a_list_whose_step_failed(good: bool, world: World) -> None:
    file = world.folder / "pipeline.py"
    file.write_text(MAY_FAIL, encoding="utf-8")
    result = compile_loaded(load(file))
    assert result.diagnostics == []
    done = world.run(result.documents[-1], {"good": str(good).lower()})
    found = [(done.task(name).parameters or {})["return"] for name in ("tried", "several")]
    assert found == ["part" if good else "none", "part"]


INTO_A_GRAPH = """\
from pathlib import Path

from flowdsl import Volume, either, fan_out, pipeline, step

DATA = Volume("data")


@step(image="python:3.12-slim")
def perhaps(there: bool) -> Path | None:
    Path("made").write_text("made")
    return Path("made") if there else None


@step(image="python:3.12-slim")
def show(file: Path | None, number: int = 0) -> str:
    return file.read_text() if file else "none"


@step(image="python:3.12-slim")
def read(file: Path) -> str:
    return file.read_text()


@pipeline
def inner(file: Path | None) -> str:
    return show(file)


@pipeline
def main(there: bool) -> None:
    made = perhaps(there)
    tried = show.options(may_fail=True)(either(made, None))
    other = read.options(may_fail=True)(either(made, DATA / "spare.txt"))
    each = fan_out(show, over={"number": [1]}, file=either(made, None))
    results = [either(tried, "failed"), either(other, "failed"), each[0], inner(either(made, None))]
    for number, result in enumerate(results):
        tell.options(name=f"tell-{number}")(result)


@step(image="python:3.12-slim")
def tell(text: str) -> str:
    return text
"""


@pytest.mark.parametrize("there", [True, False])
def test_a_choice_of_a_file_that_may_be_none_in_a_graph_of_its_own(there: bool, world: World) -> None:
    world.volumes["data"].mkdir(parents=True, exist_ok=True)
    (world.volumes["data"] / "spare.txt").write_text("spare", encoding="utf-8")
    file = world.folder / "pipeline.py"
    file.write_text(INTO_A_GRAPH, encoding="utf-8")
    result = compile_loaded(load(file))
    assert result.diagnostics == []
    done = world.run(result.documents[-1], {"there": str(there).lower()})
    found = [(done.task(f"tell-{number}").parameters or {})["return"] for number in range(4)]
    assert found == (["made"] * 4 if there else ["none", "spare", "none", "none"])


SUMS = """\
from flowdsl import either, pipeline, step, when


@step(image="python:3.12-slim")
def show(number: int) -> int:
    return number


@pipeline
def main(begin: bool) -> None:
    with when(begin):
        one, two = show(1), show(2)
    show.options(name="total")(either(one + two + one, 7))
"""


@pytest.mark.parametrize(("begin", "total"), [(True, 4), (False, 7)])
def test_each_task_of_a_value_is_asked_for_once(begin: bool, total: int, world: World) -> None:
    file = world.folder / "pipeline.py"
    file.write_text(SUMS, encoding="utf-8")
    document = compile_loaded(load(file)).documents[-1]
    assert [str(document).count(f"tasks['{name}'].status") for name in ("one", "two")] == [1, 1]
    done = world.run(document, {"begin": str(begin).lower()}, fake=small)
    assert int((done.task("total").parameters or {})["return"]) == total
