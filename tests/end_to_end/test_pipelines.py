"""What the compiled manifests give when they run is what the Python of the pipelines says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from flowdsl.compiler.lowering import split
from flowdsl.runtime.local.controller.events import Outcome, StartPod
from flowdsl.runtime.phases import ERROR, FAILED, OMITTED, SKIPPED, SUCCEEDED
from tests.end_to_end import expected
from tests.end_to_end.inside import Done, small
from tests.end_to_end.run import Json, Run
from tests.end_to_end.world import Case, World, compiled, points, text

ROOT = Path(__file__).resolve().parents[2]
PIPELINES = Path(__file__).parent / "pipelines"
LOWERING = ROOT / "tests/lowering"


CASES = [
    Case(LOWERING / "straight.py", {}),
    Case(LOWERING / "straight.py", {"title": 'a "title" $$', "base": -1e-07}),
    Case(LOWERING / "branches.py", {}),
    Case(LOWERING / "branches.py", {"kind": "exact"}),
    Case(LOWERING / "branches.py", {"limit": 2.0}),
    Case(LOWERING / "branches.py", {"limit": 9.5, "force": True}),
    Case(LOWERING / "combinations.py", {}),
    Case(LOWERING / "containers.py", {"target": "a 'file' $(HOME)", "level": 3}),
    Case(LOWERING / "computed.py", {}),
    Case(LOWERING / "computed.py", {"rows": 2, "rate": 0.3, "name": "{a} $(b)"}),
    Case(LOWERING / "files_of_loops.py", {}),
    Case(LOWERING / "files_of_loops.py", {"more": False}),
    Case(LOWERING / "lists.py", {}),
    Case(LOWERING / "loops.py", {}),
    Case(LOWERING / "loops.py", {"total": 11}),
    Case(LOWERING / "nested.py", {}),
    Case(LOWERING / "returned.py", {}),
    Case(LOWERING / "scattered.py", {}),
    Case(LOWERING / "scattered.py", {"names": ["b", "c", "a"]}),
    Case(LOWERING / "volume.py", {}),
    Case(PIPELINES / "bundles.py", {}),
    Case(PIPELINES / "choices.py", {}),
    Case(PIPELINES / "choices.py", {"size": 1, "word": "x", "force": True}),
    Case(PIPELINES / "choices.py", {"size": 6, "kind": "b"}),
    Case(PIPELINES / "choices.py", {"size": 5}),
    Case(PIPELINES / "items.py", {"size": 2}),
    Case(PIPELINES / "items.py", {"size": 1}),
    Case(PIPELINES / "integers.py", {}),
    Case(PIPELINES / "literals.py", {}),
    Case(PIPELINES / "literals.py", {"given": 1}),
    Case(PIPELINES / "taken.py", {}),
    Case(PIPELINES / "taken.py", {"count": 2}),
    Case(PIPELINES / "unpacked.py", {}),
    Case(PIPELINES / "unpacked.py", {"rates": [0.75, 2.0], "least": 1.0}),
    Case(PIPELINES / "ways.py", {}),
    Case(PIPELINES / "ways.py", {"word": "", "big": True}),
    Case(PIPELINES / "deep.py", {}, "deep"),
    Case(PIPELINES / "deep.py", {"more": False}, "deep"),
    Case(PIPELINES / "deep.py", {"base": 0.25}, "deep"),
    Case(PIPELINES / "deep.py", {"far": False}, "deep"),
    Case(PIPELINES / "left_out.py", {}, "left_out"),
    Case(PIPELINES / "texts.py", {}),
    Case(PIPELINES / "texts.py", {"text": "\ttwo\nlines\\ \U0001f600 '\"`$(PATH)`\"' }} { "}),
    Case(PIPELINES / "texts.py", {"text": ""}),
    Case(PIPELINES / "records.py", {}),
    Case(PIPELINES / "records.py", {"loss": 0.75}),
    Case(PIPELINES / "measured.py", {}),
    Case(PIPELINES / "measured.py", {"x": 9.0}),
    Case(PIPELINES / "numbered.py", {}),
    Case(PIPELINES / "numbered.py", {"known": {10: "", -1: "a", 3: "b"}, "least": 9.0}),
    Case(PIPELINES / "parts.py", {}),
    Case(PIPELINES / "parts.py", {"rows": 3}),
    Case(PIPELINES / "entries.py", {}),
    Case(PIPELINES / "moments.py", {}),
    Case(PIPELINES / "moments.py", {"day": date(1999, 9, 9)}),
    Case(PIPELINES / "amounts.py", {}),
    Case(PIPELINES / "amounts.py", {"price": Decimal("1e-7"), "order": UUID(int=1)}),
    Case(PIPELINES / "files.py", {}),
    Case(PIPELINES / "files.py", {"count": 2}),
    Case(PIPELINES / "trials.py", {}, "trials"),
    Case(PIPELINES / "trials.py", {"least": 3.5, "name": 'a "b"'}, "trials"),
    Case(PIPELINES / "trials.py", {"names": ["a", "b'c"]}, "in_loops"),
    Case(PIPELINES / "trials.py", {"names": []}, "in_loops"),
    Case(PIPELINES / "inside.py", {}, "inside"),
    Case(PIPELINES / "inside.py", {"size": 4}, "inside"),
    Case(PIPELINES / "large.py", {}, "large"),
    Case(ROOT / "examples/shards/pipeline.py", {"least": 2}),
    Case(ROOT / "examples/stages/pipeline.py", {"epochs": 2, "threshold": 0.5}),
    Case(ROOT / "examples/generations/pipeline.py", {"epochs": 10}, "nightly"),
    Case(ROOT / "examples/generations/pipeline.py", {"epochs": 5}, "nightly"),
]


def check(
    case: Case,
    world: World,
    manifest: tuple[Any, Json],
    fake: Callable[[StartPod], Done | None] | None = None,
) -> Run:
    """A run of a case, of which each task gave what its function gives."""
    module, document = manifest
    if case.file.stem == "nested":
        world.volumes["datasets"] = world.volumes["nested"]
    getattr(expected, case.pipeline)(world.plain, module, world.volumes, **case.arguments)
    run = world.run(document, {name: text(value) for name, value in case.arguments.items()}, fake=fake)
    world.agree(run)
    if case.pipeline not in ("trials", "measured", "left_out"):  # whose failures are borne
        failing = any(one.error is not None for one in world.plain.calls.values())
        assert run.phase == (FAILED if failing else SUCCEEDED)
    return run


FIRST = {case.pipeline: case for case in reversed(CASES)}
LAST = {case.pipeline: case for case in CASES}
"""Of each pipeline one case."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_tasks_give_what_their_functions_give(case: Case, world: World) -> None:
    whole = case in FIRST.values() and case.pipeline != "large"
    check(case, world, compiled(case.file, case.name), None if whole else small)


# --- sweeps over points that are drawn -------------------------------------------------------------


def one_of_many(pod: StartPod) -> Done | None:
    """What one of very many trials would give; but the first of them run."""
    if not (match := re.search(r"\.many\.train\((\d+):", pod.name)) or int(match[1]) < 3:
        return None
    given = {one["name"]: one["value"] for one in pod.template["inputs"]["parameters"]}
    loss = {"value": repr(float(given["rate"]) * int(given["layers"]))}
    outputs = dict(pod.template["outputs"])
    outputs["parameters"] = [one if "value" in one else {**one, **loss} for one in outputs["parameters"]]
    return Done(Outcome("Succeeded", "", outputs), "")


def drop_fakes(world: World, run: Run) -> None:
    """Forget the trials that did not run."""
    for number in range(3, 502):
        del world.plain.calls[f"many.train({number})"]
        del run.nodes[f"{run.entry.name}.many.train({number})"]


def test_a_sweep_of_a_pipeline_and_one_with_very_many_trials(world: World) -> None:
    module, document = compiled(LOWERING / "sweeps.py")
    drawn = points(document, "trials", {"rate": float, "layers": int})
    assert (len(drawn), len(points(document, "many", {"rate": float}))) == (6, 502)
    expected.sweeps(world.plain, module, world.volumes, drawn)
    run = world.run(document, fake=one_of_many)
    drop_fakes(world, run)
    picked = run.nodes.pop(f"{run.entry.name}.many-best")
    world.agree(run)
    first = run.task("many.train(0)").parameters
    assert first is not None
    assert picked.parameters is not None
    assert json.loads(picked.parameters["row"]) == first
    assert picked.log == f"the best loss of 502 trials is {first['loss']}\n"


def test_one_value_of_the_best_is_handed_on_by_each_sweep_of_a_name(world: World) -> None:
    module, document = compiled(PIPELINES / "trials.py", "handed_on")
    expected.handed_on(world.plain, module, world.volumes)
    run = world.run(document)
    scores = {"highest": "4.0", "lowest": "1.0", "each.lowest(0)": "1.0", "each.lowest(1)": "1.0"}
    for name, score in scores.items():
        assert run.nodes[f"{run.entry.name}.{name}.result"].parameters == {"return": score}
    world.agree(run)


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # the design's own example leaves it open
def test_the_sentiment_example(world: World) -> None:
    module, document = compiled(ROOT / "examples/sentiment/pipeline.py")
    drawn = points(document, "runs", {"lr": float, "layers": int})
    expected.sentiment(world.plain, module, world.volumes, drawn, 0.9)
    run = world.run(document)
    world.agree(run)
    assert "publish" in world.plain.calls


def test_the_sweep_example(world: World) -> None:
    module, document = compiled(ROOT / "examples/sweep/pipeline.py")
    drawn = points(document, "runs", {"rate": float, "hidden": int})
    expected.moons(world.plain, module, world.volumes, drawn)
    world.agree(world.run(document))
    assert "publish" in world.plain.calls
    published = world.plain.folder / "models/moons/network.json"
    assert (world.volumes["models"] / "moons/network.json").read_bytes() == published.read_bytes()


# --- runs that fail --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "task", "sentence"),
    [
        ("too_few", "runs-best", "fewer than 2 trials of runs returned a usable return"),
        ("none_left", "runs-best", "no trial of runs returned a usable score"),
        ("all_fail", "number-best", "no trial of number returned a usable return"),
        ("unused", "number-best", "fewer than 2 trials of number returned a usable return"),
        ("clashing", "number-best-2", "no trial of number returned a usable return"),
        ("untaken", "runs-best", "no trial of runs returned a usable return"),
    ],
)
def test_a_sweep_without_a_usable_trial_fails_with_a_sentence(
    world: World, name: str, task: str, sentence: str
) -> None:
    _, document = compiled(PIPELINES / "trials.py", name)
    run = world.run(document)
    assert run.phase == ERROR
    node = run.task(task)
    assert node.phase == ERROR
    assert sentence in node.message


@pytest.mark.parametrize("least", [0.5, 2.0])
def test_a_sweep_with_a_usable_trial_succeeds_where_it_runs(world: World, least: float) -> None:
    _, document = compiled(PIPELINES / "trials.py", "branched")
    run = world.run(document, {"least": str(least)})
    assert run.phase == SUCCEEDED
    assert run.phases()["runs-best"] == (SUCCEEDED if least > 1 else SKIPPED)
    assert ("runs.number(0)" in run.phases()) == (least > 1)


def test_what_waits_for_a_failed_task_is_omitted_and_the_rest_runs(world: World) -> None:
    _, document = compiled(PIPELINES / "failures.py", "failures")
    run = world.run(document, {"number": "7"})
    found = run.phases()
    assert run.phase == FAILED
    assert (found["checked"], found["after"]) == (FAILED, OMITTED)
    assert [found[f"each.check({number})"] for number in range(3)] == [SUCCEEDED, FAILED, SUCCEEDED]
    assert (found["each"], found["rows"]) == (FAILED, OMITTED)
    assert (found["alone"], found["total"]) == (SUCCEEDED, SUCCEEDED)
    assert "ValueError: 7 is more than 3" in run.task("checked").log


@pytest.mark.parametrize(("needed", "phase"), [(1, SUCCEEDED), (3, SUCCEEDED), (4, FAILED)])
def test_a_step_is_tried_again(world: World, needed: int, phase: str) -> None:
    _, document = compiled(PIPELINES / "failures.py", "failures")
    run = world.run(document, {"needed": str(needed)})
    assert (run.phase, run.phases()["tried"]) == (phase, phase)
    assert (world.volumes["data"] / "attempts/tried").read_text() == str(min(needed, 3))


def test_a_result_of_another_type_ends_the_step_with_a_sentence(world: World) -> None:
    _, document = compiled(PIPELINES / "failures.py", "wrongs")
    run = world.run(document)
    assert run.task("wrong").log == "step wrong, output return (str): expected str, got int 1\n"


def test_a_value_that_is_too_long_ends_the_step_with_a_sentence(world: World) -> None:
    _, document = compiled(PIPELINES / "failures.py", "failures")
    run = world.run(document, {"size": "70"})
    assert run.phases()["sizes"] == FAILED
    assert "are too many for a value, 65536 is the most: return a Path" in run.task("sizes").log


@pytest.mark.parametrize("size", [1, 3])
def test_lists_that_are_walked_together_have_one_length(world: World, size: int) -> None:
    _, document = compiled(PIPELINES / "failures.py", "walked")
    run = world.run(document, {"size": str(size)})
    assert run.phase == ERROR
    assert any("the lists that are walked together differ in length" in one for one in run.errors())


@pytest.mark.parametrize(
    ("kind", "items"),
    [
        ("dict[str, int]", '[{"a": one()}, {"b": 2}]'),
        ("list[int]", "[[one()], [2]]"),
        ("int | None", "[either(one(), 2), None]"),
    ],
)
def test_a_number_that_argo_would_round_in_a_list_ends_the_step_with_a_sentence(
    world: World, kind: str, items: str
) -> None:
    source = f"""
@step(image="a:1")
def one() -> int:
    return 2**53 + 1


@step(image="a:1")
def take(item: {kind}) -> None: ...


@pipeline
def main() -> None:
    fan_out(take, over={{"item": {items}}})
"""
    _, document = compiled(written(world.folder, source))
    run = world.run(document)
    assert "Argo would round 9007199254740993 when it takes it out" in run.task("one").log


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("dict[str, float]", 'take(one()["a"])'),
        ("list[float]", 'fan_out(take, over={"item": one()})'),
        ("Any", 'take(one()["b"])'),
    ],
)
def test_a_number_that_json_does_not_have_ends_the_step_that_argo_takes_parts_of(
    world: World, kind: str, body: str
) -> None:
    made = '[0.5, float("nan")]' if kind.startswith("list") else '{"a": 0.5, "b": float("nan")}'
    source = f"""
from typing import Any
from uuid import UUID


@step(image="a:1")
def one() -> {kind}:
    return {made}


@step(image="a:1")
def take(item: {"Any" if kind == "Any" else "float"}) -> None: ...


@pipeline
def main() -> None:
    {body}
"""
    _, document = compiled(written(world.folder, source))
    run = world.run(document)
    assert "Argo cannot take parts out of a value with nan in it" in run.task("one").log


def test_the_step_ends_also_where_pipelines_put_the_number_into_another_value(world: World) -> None:
    source = """
from typing import NamedTuple


class Scored(NamedTuple):
    name: str
    scores: list[float]


@step(image="a:1")
def one() -> Scored:
    return Scored("a", [float("inf")])


@step(image="a:1")
def take(item: str) -> None: ...


@pipeline
def inner() -> Scored:
    return one()


@pipeline
def outer() -> tuple[Scored, str]:
    return inner(), "b"


@pipeline
def main() -> None:
    scored, name = outer()
    take(f"{scored.name} {name}")
"""
    _, document = compiled(written(world.folder, source))
    run = world.run(document)
    assert "Argo cannot take parts out of a value with inf in it" in run.task("outer.inner.one").log


# --- large graphs ----------------------------------------------------------------------------------


def written(folder: Path, source: str) -> Path:
    file = folder / "pipeline.py"
    file.write_text(
        f"from flowdsl import either, fan_out, maximize, pipeline, step, sweep, when\n\n{source}",
        encoding="utf-8",
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
    assert value(world.run(document, {"x": "5"}, fake=small)) == str(wanted)


SKIPS = """@step(image="a:1")
def number(x: int) -> int:
    return 6 // x

@step(image="a:1")
def publish(x: int) -> None:
    print(x)

@pipeline
def main() -> None:
    runs = sweep(number, over={"x": [0, 1, 2]}, objective=maximize())
    with when(runs.best > 9):
        publish(runs.best)
"""


def test_trials_that_fail_do_not_make_the_run_fail(world: World) -> None:
    _, document = compiled(written(world.folder, SKIPS))
    run = world.run(document, fake=small)
    assert (run.task("runs").phase, run.task("publish").phase) == (SUCCEEDED, SKIPPED)
    assert run.phase == SUCCEEDED


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
    assert value(world.run(document, {"limit": str(limit)}, fake=small)) == str(wanted)


SPLIT = [
    Case(PIPELINES / "large.py", {"start": 3, "text": "$(A)"}, "small"),
    Case(PIPELINES / "large.py", {"start": 3000}, "small"),
    *(one for one in CASES if one.pipeline in ("branches", "choices")),
    *(LAST[name] for name in ("items", "records", "files", "trials", "in_loops")),
]


@pytest.mark.parametrize("case", SPLIT, ids=lambda case: case.id)
def test_a_graph_means_the_same_in_groups(case: Case, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split, "LIMIT", 4)
    check(case, world, compiled(case.file, case.name), small)
