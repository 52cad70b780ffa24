"""What the compiled manifests give when they run is what the Python of the pipelines says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from flowdsl.compiler import split
from tests.cluster import expected
from tests.cluster.kubelet import Python
from tests.cluster.node import ERROR, FAILED, OMITTED, SUCCEEDED
from tests.cluster.run import Run
from tests.cluster.world import Case, World, compiled, points, text

ROOT = Path(__file__).resolve().parents[1]
PIPELINES = Path(__file__).parent / "cluster/pipelines"
LOWERING = Path(__file__).parent / "lowering"


@pytest.fixture(scope="session")
def python() -> Iterator[Python]:
    found = Python()
    yield found
    found.close()


@pytest.fixture
def world(tmp_path: Path, python: Python) -> World:
    return World(tmp_path, python)


CASES = [
    Case(LOWERING / "straight.py", {}),
    Case(LOWERING / "straight.py", {"title": 'a "title" $$', "base": -1e-07}),
    Case(LOWERING / "branches.py", {}),
    Case(LOWERING / "branches.py", {"kind": "exact"}),
    Case(LOWERING / "branches.py", {"limit": 2.0}),
    Case(LOWERING / "branches.py", {"limit": 9.5, "force": True}),
    Case(LOWERING / "containers.py", {"target": "a 'file' $(HOME)", "level": 3}),
    Case(LOWERING / "loops.py", {}),
    Case(LOWERING / "loops.py", {"total": 11}),
    Case(LOWERING / "nested.py", {}),
    Case(LOWERING / "volume.py", {}),
    Case(PIPELINES / "choices.py", {}),
    Case(PIPELINES / "choices.py", {"size": 1, "word": "x", "force": True}),
    Case(PIPELINES / "choices.py", {"size": 6, "kind": "b"}),
    Case(PIPELINES / "choices.py", {"size": 5}),
    Case(PIPELINES / "items.py", {"size": 1}),
    Case(PIPELINES / "items.py", {"size": 4}),
    Case(PIPELINES / "texts.py", {}),
    Case(PIPELINES / "texts.py", {"text": "\ttwo\nlines\\ \U0001f600 '\"`$(PATH)`\"' }} { "}),
    Case(PIPELINES / "texts.py", {"text": ""}),
    Case(PIPELINES / "records.py", {}),
    Case(PIPELINES / "records.py", {"loss": 0.75}),
    Case(PIPELINES / "files.py", {}),
    Case(PIPELINES / "files.py", {"count": 2}),
    Case(PIPELINES / "trials.py", {}, "trials"),
    Case(PIPELINES / "trials.py", {"least": 3.5, "name": 'a "b"'}, "trials"),
    Case(PIPELINES / "trials.py", {"names": ["a", "b'c"]}, "in_loops"),
    Case(PIPELINES / "trials.py", {"names": []}, "in_loops"),
    Case(PIPELINES / "large.py", {}, "large"),
    Case(ROOT / "examples/shards/pipeline.py", {"least": 2}),
    Case(ROOT / "examples/stages/pipeline.py", {"epochs": 2, "threshold": 0.5}),
    Case(ROOT / "examples/generations/pipeline.py", {"epochs": 10}, "nightly"),
    Case(ROOT / "examples/generations/pipeline.py", {"epochs": 5}, "nightly"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_tasks_give_what_their_functions_give(case: Case, world: World) -> None:
    check(case, world)


def check(case: Case, world: World) -> None:
    module, document = compiled(case.file, case.name)
    volumes = (
        {**world.volumes, "datasets": world.volumes["nested"]}
        if case.file.stem == "nested"
        else world.volumes
    )
    world.cluster.volumes = volumes
    name = case.pipeline
    getattr(expected, name)(world.plain, module, volumes, **case.arguments)
    failing = [one for one in world.plain.calls.values() if one.error is not None]
    run = world.cluster.run(document, {name: text(value) for name, value in case.arguments.items()})
    world.agree(run)
    assert run.phase == (FAILED if failing and name != "trials" else SUCCEEDED)


# --- sweeps over points that are drawn -------------------------------------------------------------


def test_a_sweep_of_a_pipeline_and_one_with_very_many_trials(world: World) -> None:
    module, document = compiled(LOWERING / "sweeps.py")
    drawn = points(document, "trials", {"rate": float, "layers": int})
    assert (len(drawn), len(points(document, "many", {"rate": float}))) == (6, 502)
    expected.sweeps(world.plain, module, world.volumes, drawn)
    run = world.cluster.run(document)
    picked = run.nodes.pop(f"{run.entry.name}.many-best")
    world.agree(run)
    first = run.nodes[f"{run.entry.name}.many.train(0)"].parameters
    assert first is not None
    assert picked.parameters == {"model": first["model"], "loss": first["loss"]}
    assert picked.log == f"the best loss of 502 trials is {first['loss']}\n"


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # the design's own example leaves it open
def test_the_sentiment_example(world: World) -> None:
    module, document = compiled(ROOT / "examples/sentiment/pipeline.py")
    drawn = points(document, "runs", {"lr": float, "layers": int})
    expected.sentiment(world.plain, module, world.volumes, drawn, 0.9)
    run = world.cluster.run(document)
    world.agree(run)
    assert "publish" in world.plain.calls


def test_the_sweep_example(world: World) -> None:
    module, document = compiled(ROOT / "examples/sweep/pipeline.py")
    drawn = points(document, "runs", {"rate": float, "hidden": int})
    expected.moons(world.plain, module, world.volumes, drawn)
    world.agree(world.cluster.run(document))
    assert "publish" in world.plain.calls
    published = world.plain.folder / "models/moons/network.json"
    assert (world.volumes["models"] / "moons/network.json").read_bytes() == published.read_bytes()


# --- runs that fail --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "task", "sentence"),
    [
        ("too_few", "use", "fewer than 2 trials of runs returned a usable return"),
        ("none_left", "publish", "no trial of runs returned a usable score"),
        ("all_fail", "use", "no trial of number returned a usable return"),
    ],
)
def test_a_sweep_without_a_usable_trial_fails_with_a_sentence(
    world: World, name: str, task: str, sentence: str
) -> None:
    _, document = compiled(PIPELINES / "trials.py", name)
    run = world.cluster.run(document)
    assert run.phase == ERROR
    node = run.nodes[f"{run.entry.name}.{task}"]
    assert node.phase == ERROR
    assert sentence in node.message


def phases(run: Run) -> dict[str, str]:
    return {name.partition(".")[2]: node.phase for name, node in run.nodes.items()}


def test_what_waits_for_a_failed_task_is_omitted_and_the_rest_runs(world: World) -> None:
    _, document = compiled(PIPELINES / "failures.py", "failures")
    run = world.cluster.run(document, {"number": "7"})
    found = phases(run)
    assert run.phase == FAILED
    assert (found["checked"], found["after"]) == (FAILED, OMITTED)
    assert [found[f"each.check({number})"] for number in range(3)] == [SUCCEEDED, FAILED, SUCCEEDED]
    assert (found["each"], found["rows"]) == (FAILED, OMITTED)
    assert (found["alone"], found["total"]) == (SUCCEEDED, SUCCEEDED)
    assert "ValueError: 7 is more than 3" in run.nodes[f"{run.entry.name}.checked"].log


@pytest.mark.parametrize(("needed", "phase"), [(1, SUCCEEDED), (3, SUCCEEDED), (4, FAILED)])
def test_a_step_is_tried_again(world: World, needed: int, phase: str) -> None:
    _, document = compiled(PIPELINES / "failures.py", "failures")
    run = world.cluster.run(document, {"needed": str(needed)})
    assert (run.phase, phases(run)["tried"]) == (phase, phase)
    assert (world.volumes["data"] / "attempts/tried").read_text() == str(min(needed, 3))


def test_a_result_of_another_type_ends_the_step_with_a_sentence(world: World) -> None:
    _, document = compiled(PIPELINES / "failures.py", "wrongs")
    run = world.cluster.run(document)
    assert (
        run.nodes[f"{run.entry.name}.wrong"].log
        == "step wrong, output return (str): expected str, got int 1\n"
    )


def test_a_value_that_is_too_long_ends_the_step_with_a_sentence(world: World) -> None:
    _, document = compiled(PIPELINES / "failures.py", "failures")
    run = world.cluster.run(document, {"size": "70"})
    assert phases(run)["sizes"] == FAILED
    assert (
        "are too many for a value, 65536 is the most: return a Path"
        in run.nodes[f"{run.entry.name}.sizes"].log
    )


@pytest.mark.parametrize("size", [1, 3])
def test_lists_that_are_walked_together_have_one_length(world: World, size: int) -> None:
    _, document = compiled(PIPELINES / "failures.py", "walked")
    run = world.cluster.run(document, {"size": str(size)})
    assert run.phase == ERROR
    assert any("the lists that are walked together differ in length" in one for one in run.errors())


# --- large graphs ----------------------------------------------------------------------------------


def written(folder: Path, source: str) -> Path:
    file = folder / "pipeline.py"
    file.write_text(
        f"from flowdsl import either, fan_out, pipeline, step, when\n\n{source}", encoding="utf-8"
    )
    return file


def value(run: Run) -> str:
    assert run.phase == SUCCEEDED, run.errors()
    assert run.entry.parameters is not None
    return run.entry.parameters["return"]


def test_steps_that_are_written_inline_take_their_own_inputs(world: World) -> None:
    """The inputs of some have the names of the pipeline's own, with other values; one is the body of a loop."""
    steps = "".join(
        f'@step(image="a:1")\ndef work{number}(x: int, y: int) -> int:\n    return x + y + {number}\n\n\n'
        for number in range(206)
    )
    body = ["t = work0(x, 1)", *(f't = work{n}.options(name="t{n}")(t, x)' for n in range(1, 204))]
    body += ['rows = fan_out(work204, over={"x": [1, 2]}, y=t)', "return work205(rows[1], t)"]
    lines = "".join(f"    {line}\n" for line in body)
    module, document = compiled(
        written(world.folder, f"{steps}@pipeline\ndef main(x: int = 1) -> int:\n{lines}")
    )
    assert len(document["spec"]["templates"]) == 200
    assert "inline" in str(document)
    wanted = module.work0(5, 1)
    for number in range(1, 204):
        wanted = getattr(module, f"work{number}")(wanted, 5)
    wanted = module.work205(module.work204(2, wanted), wanted)
    assert value(world.cluster.run(document, {"x": "5"})) == str(wanted)


WIDE = """@step(image="a:1")
def work(x: int, ys: list[int]) -> int:
    return x + sum(ys)


@step(image="a:1")
def perhaps(x: int) -> int | None:
    return x if x > 300 else None


@pipeline
def main(limit: int) -> int:
    t = work(0, [])
    for number in range(19):
        t = work.options(name=f"t{number}")(number, [t])
    with when(t > limit):
        yes = perhaps(t + limit)
    wide = [work.options(name=f"w{number}")(number, [either(yes, 5)]) for number in range(20)]
    return work.options(name="end")(0, [*wide, either(yes, 7)])
"""


@pytest.mark.parametrize(("limit", "taken"), [(150, 150 + 171), (5, 5), (200, 5)])
def test_a_branch_between_groups(
    world: World, limit: int, taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task that may not run stands alone between two groups that take its value, which may be None."""
    monkeypatch.setattr(split, "LIMIT", 20)
    _, document = compiled(written(world.folder, WIDE))
    names = [task["name"] for task in document["spec"]["templates"][0]["dag"]["tasks"]]
    assert names == ["main-part-1", "yes", "main-part-2", "end"]
    wanted = 20 * taken + sum(range(20)) + (7 if taken == 5 else taken)
    assert value(world.cluster.run(document, {"limit": str(limit)})) == str(wanted)


SPLIT = [
    Case(PIPELINES / "large.py", {"start": 3, "text": "$(A)"}, "small"),
    Case(PIPELINES / "large.py", {"start": 3000}, "small"),
    *(
        one
        for one in CASES
        if one.file.stem in ("branches", "choices", "items", "records", "files", "trials")
    ),
]


@pytest.mark.parametrize("limit", [4])
@pytest.mark.parametrize("case", SPLIT, ids=lambda case: case.id)
def test_a_graph_means_the_same_in_groups(
    case: Case, limit: int, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(split, "LIMIT", limit)
    check(case, world)
