"""Graphs of more than 200 tasks: nested DAGs that keep order, dependencies and outputs."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

import pytest

from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.findings.tasks import Waiting
from flowdsl.compiler.load import load

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
from flowdsl import either, pipeline, step, when

@step(image="python:3.12-slim")
def work(number: int, before: list[int]) -> int:
    return number

"""
TAG = re.compile(r"\{\{(.*?)\}\}")


def compiled(tmp_path: Path, body: list[str], head: str = HEAD) -> tuple[dict[str, Any], list[str]]:
    """The manifest of a pipeline with these statements, and the codes of its findings."""
    file = tmp_path / "large.py"
    lines = "".join(f"    {line}\n" for line in body)
    file.write_text(f"{head}\n@pipeline\ndef main() -> None:\n{lines}")
    result = compile_loaded(load(file))
    assert not result.failed, [one.finding.message for one in result.diagnostics]
    return result.documents[0], [one.finding.code for one in result.diagnostics]


def graph(edges: dict[int, list[int]]) -> list[str]:
    return [
        f"t{task} = work({task}, [{', '.join(f't{other}' for other in before)}])"
        for task, before in edges.items()
    ]


class Run:
    """What each task of a manifest waits for and reads, through nested DAGs."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.templates = {one["name"]: one for one in document["spec"]["templates"]}
        self.waits: dict[str, set[str]] = {}
        self.takes: dict[str, set[str]] = {}
        self.sizes: list[int] = []
        self.walk(document["spec"]["entrypoint"], set(), {})

    def walk(self, template: str, outer: set[str], inputs: dict[str, set[str]]) -> dict[str, set[str]]:
        """Walk a DAG that starts after `outer`; returns the origins of its outputs by name."""
        tasks = self.templates[template]["dag"]["tasks"]
        self.sizes.append(len(tasks))
        inside: dict[str, set[str]] = {}
        outputs: dict[str, dict[str, set[str]]] = {}
        for task in ordered(tasks):
            names = re.findall(r"[-\w]+", task.get("depends", ""))
            before = outer.union(*(inside[name] for name in names)) if names else set(outer)
            given = {
                one["name"]: origins(one["value"], inputs, outputs)
                for one in task.get("arguments", {}).get("parameters", [])
            }
            called = self.templates.get(task.get("template", ""), {})
            if "dag" in called:
                ran = set(self.waits)
                outputs[task["name"]] = self.walk(task["template"], before, given)
                inside[task["name"]] = before | (set(self.waits) - ran)
            else:
                self.waits[task["name"]] = before
                self.takes[task["name"]] = set().union(*given.values())
                inside[task["name"]] = before | {task["name"]}
                outputs[task["name"]] = {"return": {task["name"]}}
        return {
            one["name"]: origins(str(one["valueFrom"].get("parameter", "")), inputs, outputs)
            for one in self.templates[template].get("outputs", {}).get("parameters", [])
        }


def ordered(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    done: set[str] = set()
    rest, found = list(tasks), list[dict[str, Any]]()
    while rest:
        ready = [one for one in rest if set(re.findall(r"[-\w]+", one.get("depends", ""))) <= done]
        assert ready, "a cycle"
        found.extend(ready)
        done.update(one["name"] for one in ready)
        rest = [one for one in rest if one["name"] not in done]
    return found


def origins(text: str, inputs: dict[str, set[str]], outputs: dict[str, dict[str, set[str]]]) -> set[str]:
    found: set[str] = set()
    for tag in TAG.findall(text):
        root, _, rest = tag.partition(".")
        if root == "inputs":
            found |= inputs[rest.removeprefix("parameters.")]
        else:
            task, _, name = rest.partition(".outputs.parameters.")
            found |= outputs[task][name]
    return found


def closure(edges: dict[int, list[int]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for task, before in edges.items():
        names = {f"t{other}" for other in before}
        found[f"t{task}"] = names.union(*(found[name] for name in names))
    return found


def chain(count: int) -> dict[int, list[int]]:
    return {one: [one - 1] if one else [] for one in range(count)}


def independent(count: int) -> dict[int, list[int]]:
    return {one: [] for one in range(count)}


def diamond(count: int) -> dict[int, list[int]]:
    return {0: [], **{one: [0] for one in range(1, count - 1)}, count - 1: list(range(1, count - 1))}


def chains(count: int, length: int) -> dict[int, list[int]]:
    return {one: [one - 1] if one % length else [] for one in range(count * length)}


def rounds(count: int, width: int) -> dict[int, list[int]]:
    """A sequence of fan-outs, each followed by a join."""
    edges: dict[int, list[int]] = {0: []}
    last = 0
    for _ in range(count):
        first = len(edges)
        edges.update({first + one: [last] for one in range(width)})
        last = len(edges)
        edges[last] = list(range(first, last))
    return edges


def trees(count: int, width: int) -> dict[int, list[int]]:
    """Independent parts, each larger than one DAG."""
    edges: dict[int, list[int]] = {}
    for _ in range(count):
        root = len(edges)
        edges[root] = []
        edges.update({root + one: [root] for one in range(1, width)})
    return edges


def epochs(count: int) -> dict[int, list[int]]:
    """A state that is passed on, with a task for each state beside the chain."""
    edges: dict[int, list[int]] = {0: [], 1: [0]}
    for _ in range(count):
        state, judged, said = (len(edges) + one for one in range(3))
        edges.update(
            {state: [0, state - 3] if state > 2 else [0, 1], judged: [0, state], said: [judged, state]}
        )
    return edges


def sums(count: int) -> dict[int, list[int]]:
    """A running sum, to which each task adds the result of an independent task."""
    return {one: [one - 2, one - 1] if one % 2 == 0 and one else [] for one in range(2 * count + 1)}


def pairs(count: int) -> dict[int, list[int]]:
    """Two states, each of which takes both previous ones, with a third task beside them that does so, too."""
    return {one: [] if one < 3 else [one - one % 3 - 3, one - one % 3 - 2] for one in range(3 * count)}


@pytest.mark.parametrize(
    "edges",
    [
        chain(200),
        chain(201),
        chain(1000),
        independent(450),
        diamond(650),
        chains(300, 3),
        rounds(4, 150),
        rounds(2, 420),
        trees(3, 230),
        epochs(600),
        sums(1100),
        pairs(700),
    ],
    ids=[
        *("200", "201", "chain", "independent", "diamond", "chains", "rounds", "wide rounds", "trees"),
        *("epochs", "sums", "pairs"),
    ],
)
def test_order_and_values_are_kept(tmp_path: Path, edges: dict[int, list[int]]) -> None:
    document, codes = compiled(tmp_path, graph(edges))
    run = Run(document)
    assert max(run.sizes) <= 200
    assert run.waits == closure(edges)
    assert run.takes == {f"t{task}": {f"t{one}" for one in before} for task, before in edges.items()}
    assert Waiting.code not in codes


def test_a_list_of_very_many_results_goes_through_no_group(tmp_path: Path) -> None:
    """A group with all of them would need more inputs than the API server allows for a template."""
    edges = {**independent(1500), 1500: list(range(1500)), 1501: [1500]}
    document, codes = compiled(tmp_path, graph(edges))
    templates = document["spec"]["templates"]
    assert max(len(one.get("inputs", {}).get("parameters", [])) for one in templates) == 2
    assert not codes
    run = Run(document)
    assert (
        len(run.sizes) == 1 + 7
    )  # the last hundred are in the graph itself, beside the groups of the others
    assert run.waits == closure(edges)


@pytest.mark.parametrize("seed", range(6))
def test_random_series_and_parallel_parts_never_wait_for_each_other(tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    edges: dict[int, list[int]] = {}

    def grow(size: int, before: list[int]) -> list[int]:
        """Add a part of that size after `before`; returns its last tasks."""
        if size == 1:
            edges[len(edges)] = list(before)
            return [len(edges) - 1]
        cut = source.randint(1, size - 1)
        if source.random() < 0.5:
            return grow(size - cut, grow(cut, before))
        return grow(cut, before) + grow(size - cut, before)

    grow(420, [])
    document, codes = compiled(tmp_path, graph(edges))
    run = Run(document)
    assert run.waits == closure(edges)
    assert max(run.sizes) <= 200
    assert Waiting.code not in codes


@pytest.mark.parametrize("seed", range(3))
def test_what_cannot_be_parted_waits_and_says_so(tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    edges = {one: source.sample(range(one), min(one, 2)) for one in range(300)}
    document, codes = compiled(tmp_path, graph(edges))
    run = Run(document)
    assert max(run.sizes) <= 200
    for task, before in closure(edges).items():
        assert before <= run.waits[task]
    assert Waiting.code in codes


def test_branches_are_kept_across_groups(tmp_path: Path) -> None:
    body = [
        "first = work(0, [])",
        "with when(first > 1):",
        "    yes = work(1, [first])",
        "with when(first < 1):",
        "    no = work(2, [first])",
        "last = work(3, [either(yes, no)])",
        *(f"t{one} = work({one}, [{f't{one - 1}' if one > 4 else 'last'}])" for one in range(4, 260)),
        "end = work(300, [either(yes, 5), t259])",
    ]
    document, _ = compiled(tmp_path, body)
    text = str(document)
    assert "flowdsl:absent" in text
    names = {one["name"] for one in document["spec"]["templates"]}
    assert all(len(one.get("dag", {}).get("tasks", [])) <= 200 for one in document["spec"]["templates"])
    assert any("part" in name for name in names)


def test_floats_of_branches_are_kept_across_groups(tmp_path: Path) -> None:
    head = """from flowdsl import either, otherwise, pipeline, step, when

@step(image="python:3.12-slim")
def work(x: float) -> float:
    return x

"""
    body = [
        "first = work(0.0)",
        "with when(first > 1.0):",
        "    yes = work(1.0)",
        "with otherwise():",
        "    no = work(2.0)",
        *(f"t{one} = work({f't{one - 1}' if one else 'either(yes, no)'})" for one in range(260)),
        "with when(t259 > 1.0):",
        "    end = work(either(yes, no) * t259)",
    ]
    document, _ = compiled(tmp_path, body, head)
    assert "flowdsl:absent" in str(document)


def test_the_best_of_a_sweep_is_picked_where_its_trials_are_in_another_group(tmp_path: Path) -> None:
    head = """from flowdsl import maximize, pipeline, step, sweep

@step(image="python:3.12-slim")
def work(x: float, last: float) -> float:
    return x

"""
    trials = "sweep(work, over={'x': [1.0, 2.0]}, objective=maximize(), last=s%d.best)"
    body = ["s0 = sweep(work, over={'x': [1.0, 2.0]}, objective=maximize(), last=work(0.0, 0.0))"]
    body += [f"s{one} = {trials % (one - 1)}" for one in range(1, 130)]
    document, _ = compiled(tmp_path, body, head)
    graphs = [one["dag"]["tasks"] for one in document["spec"]["templates"] if "dag" in one]
    names = [{task["name"] for task in tasks} for tasks in graphs]
    apart = [one for one in range(130) if not any({f"s{one}", f"s{one}-best"} <= each for each in names)]
    assert apart
    for one in range(130):
        assert f"no trial of s{one} returned a usable return" in str(document)


def test_what_waits_only_for_cached_results_is_found_in_groups_too(tmp_path: Path) -> None:
    head = """from flowdsl import pipeline, step

@step(image="python:3.12-slim", cache=True, retries=1)
def work(x: int) -> int:
    return x

"""
    body = ["t0 = work(0)", *(f"t{one} = work(t{one - 1})" for one in range(1, 260))]
    document, _ = compiled(tmp_path, body, head)  # without an error
    graphs = [one["dag"]["tasks"] for one in document["spec"]["templates"] if "dag" in one]
    assert all(len(tasks) <= 200 for tasks in graphs)
    waiting = [task["depends"] for tasks in graphs for task in tasks if "depends" in task]
    assert all("start" in depends for depends in waiting)


def test_many_steps_are_written_inline(tmp_path: Path) -> None:
    head = "from flowdsl import pipeline, step\n" + "".join(
        f'\n@step(image="python:3.12-slim")\ndef work{one}(x: int) -> int:\n    return x\n'
        for one in range(210)
    )
    body = ["t0 = work0(1)", *(f"t{one} = work{one}(t{one - 1})" for one in range(1, 210))]
    document, _ = compiled(tmp_path, body, head)
    templates = document["spec"]["templates"]
    assert len(templates) == 200
    tasks = [task for one in templates for task in one.get("dag", {}).get("tasks", [])]
    inline = [task for task in tasks if "inline" in task]
    assert len(inline) == 210 + 2 - 200
    assert all("name" not in task["inline"] and "template" not in task for task in inline)
