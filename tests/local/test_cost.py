"""What a run costs: each event what it changes, and the whole in proportion to its nodes."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flowdsl.runtime.local.controller import events
from tests.local.simulation import Pod, leaf, simulate, workflow

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]

FEW, MANY = 400, 1_600
LAPTOP = 10_000
GROWTH = 1.05 * MANY / FEW
MEMORY = 300_000_000 // 1024  # KiB
ROOT = Path(__file__).parents[2]
PEAK = """
import resource, sys
from pathlib import Path
from tests.local import test_cost as cost

assert cost.walked(getattr(cost, sys.argv[1])(cost.LAPTOP)) >= cost.LAPTOP
status = Path("/proc/self/status")
if status.exists():  # there the other number begins with that of the process before
    print(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM:")))
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1))
"""


def skipped_rounds(number: int) -> Json:
    """A loop whose rounds are all skipped."""
    task = {"name": "t", "template": "leaf", "when": "'{{item}}' == 'x'", "withSequence": {"count": number}}
    return workflow({"name": "main", "dag": {"tasks": [task]}}, leaf())


def loop_that_is_skipped(number: int) -> Json:
    """A loop with a false condition that does not use the item."""
    task = {"name": "t", "template": "leaf", "when": "false", "withItems": list(range(number))}
    return workflow({"name": "main", "dag": {"tasks": [task]}}, leaf())


def chains(number: int) -> Json:
    """Graphs of 200 sequential tasks, all of them skipped, one graph after the other."""
    graphs: list[Json] = []
    calls: list[Json] = []
    for position in range(number // 200):
        tasks: list[Json] = [{"name": f"t{one}", "template": "leaf", "when": "1 == 2"} for one in range(200)]
        for before, after in pairwise(tasks):
            after["depends"] = before["name"]
        graphs.append({"name": f"g{position}", "dag": {"tasks": tasks}})
        calls.append({"name": f"c{position}", "template": f"g{position}"})
        if position:
            calls[-1]["depends"] = f"c{position - 1}"
    return workflow({"name": "main", "dag": {"tasks": calls}}, *graphs, leaf())


def chain(number: int) -> Json:
    """One graph of sequential tasks, all of them skipped."""
    tasks: list[Json] = [
        {"name": f"t{one}", "template": "leaf", "when": "1 == 2"} for one in range(number // 2)
    ]
    for before, after in pairwise(tasks):
        after["depends"] = before["name"]
    return workflow({"name": "main", "dag": {"tasks": tasks}}, leaf())


def followers(number: int) -> Json:
    """Tasks that all follow one with an exit hook, and come before one."""
    hook = {"exit": {"template": "leaf"}}
    between: list[Json] = [
        {"name": f"t{one}", "template": "leaf", "depends": "first"} for one in range(number // 2)
    ]
    last = {"name": "last", "template": "leaf", "dependencies": [one["name"] for one in between]}
    tasks = [{"name": "first", "template": "leaf", "hooks": hook}, *between, last]
    return workflow({"name": "main", "dag": {"tasks": tasks}}, leaf())


def steps(number: int) -> Json:
    """Lists of 100 sequential steps, all of them skipped."""
    groups = [[{"name": f"s{one}", "template": "leaf", "when": "1 == 2"}] for one in range(100)]
    calls = [{"name": f"c{one}", "template": "list"} for one in range(number // 200)]
    return workflow({"name": "main", "dag": {"tasks": calls}}, {"name": "list", "steps": groups}, leaf())


def suspensions(number: int) -> Json:
    """Suspended steps with a duration of zero."""
    task = {"name": "t", "template": "wait", "withSequence": {"count": number}}
    return workflow(
        {"name": "main", "dag": {"tasks": [task]}}, {"name": "wait", "suspend": {"duration": "0"}}
    )


def loop_of_pods(number: int) -> Json:
    """A loop of pods, all at the same time, whose outputs are collected."""
    task = {
        "name": "t",
        "template": "leaf",
        "withSequence": {"count": number // 2},
        "arguments": {"parameters": [{"name": "i", "value": "{{item}}"}]},
    }
    made = leaf("leaf", "i", outputs={"parameters": [{"name": "v", "valueFrom": {"path": "/v"}}]})
    outputs = {"parameters": [{"name": "vs", "valueFrom": {"parameter": "{{tasks.t.outputs.parameters}}"}}]}
    main: Json = {"name": "main", "outputs": outputs, "parallelism": 50, "dag": {"tasks": [task]}}
    return workflow(main, made, parallelism=40)


def locked_pods(number: int) -> Json:
    """Pods that all need one lock, with retries."""
    task = {"name": "t", "template": "leaf", "withSequence": {"count": number // 2}}
    made = leaf(synchronization={"mutexes": [{"name": "m"}]}, retryStrategy={"limit": "2"})
    return workflow({"name": "main", "dag": {"tasks": [task]}}, made)


def hooks(number: int) -> Json:
    """Pods with hooks, in nested graphs."""
    hook = {"exit": {"template": "leaf"}, "look": {"expression": "true", "template": "leaf"}}
    task = {"name": "t", "template": "leaf", "hooks": hook}
    inner: Json = {"name": "inner", "dag": {"tasks": [task]}}
    loop = {"name": "l", "template": "inner", "withSequence": {"count": number // 4}}
    return workflow({"name": "main", "dag": {"tasks": [loop]}}, inner, leaf())


def timed_pods(number: int) -> Json:
    """Pods with a deadline, one after the other."""
    task = {"name": "t", "template": "leaf", "withSequence": {"count": number // 2}}
    return workflow({"name": "main", "parallelism": 1, "dag": {"tasks": [task]}}, leaf(timeout="1h"))


SHAPES = [
    skipped_rounds,
    loop_that_is_skipped,
    chains,
    chain,
    followers,
    steps,
    suspensions,
    loop_of_pods,
    locked_pods,
    hooks,
    timed_pods,
]


def world(_: events.StartPod) -> Pod:
    outputs = {"parameters": [{"name": "v", "value": "x"}]}
    return Pod(events.Outcome("Succeeded", "", outputs))


def walked(manifest: Json) -> int:
    """The number of nodes of a run, which must succeed."""
    run = simulate(manifest, world)
    assert run.ended == events.Ended("Succeeded", "")
    return len(run.machine.nodes)


def calls(manifest: Json) -> int:
    """How many functions were called while a workflow ran, including those in C."""
    count = 0

    def called(_frame: object, what: str, _argument: object) -> None:
        nonlocal count
        count += what in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        walked(manifest)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("shape", SHAPES)
def test_a_run_costs_in_proportion_to_its_nodes(shape: Callable[[int], Json]) -> None:
    walked(shape(MANY))  # fill the caches first
    assert calls(shape(MANY)) / calls(shape(FEW)) < GROWTH


@pytest.mark.parametrize("shape", [skipped_rounds, chains, suspensions])
def test_ten_thousand_nodes_fit_into_the_memory_of_a_laptop(shape: Callable[[int], Json]) -> None:
    command = [sys.executable, "-c", PEAK, shape.__name__]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < MEMORY
