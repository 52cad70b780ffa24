"""Rules of the machine that a picture of the nodes at the end does not show."""

from __future__ import annotations

from typing import Any

import pytest

from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.controller.machine import Machine
from tests.local.simulation import FOR_EVER, START, Pod, Simulation, leaf, simulate, workflow

Json = dict[str, Any]
FAILS = Pod(events.Outcome("Failed", "main: Error (exit code 1)"))
NEVER = Pod(takes=FOR_EVER)


def graph(*tasks: Json, name: str = "main", **more: Any) -> Json:
    return {"name": name, "dag": {"tasks": list(tasks)}, **more}


@pytest.mark.parametrize("body", ["dag", "steps"])
def test_templates_may_be_ninety_nine_deep(body: str) -> None:
    call = {"name": "again", "template": "main"}
    template: Json = {"name": "main", body: {"tasks": [call]} if body == "dag" else [[call]]}
    run = simulate(workflow(template))
    assert run.ended is not None
    deepest = max(run.machine.nodes.values(), key=lambda node: len(node.name))
    assert deepest.name.count("again") == 99
    assert (deepest.type, deepest.phase) == ("Skipped", "Error")
    assert deepest.message.startswith("Maximum recursion depth exceeded.")
    assert sum(node.type in ("DAG", "Steps") for node in run.machine.nodes.values()) == 99
    assert run.ended.phase == ("Error" if body == "dag" else "Failed")


def test_recursion_ends_by_its_condition() -> None:
    again: Json = {
        "name": "again",
        "template": "count",
        "when": "{{=asInt(inputs.parameters.n) < 5}}",
        "arguments": {"parameters": [{"name": "n", "value": "{{=asInt(inputs.parameters.n) + 1}}"}]},
    }
    count: Json = {"inputs": {"parameters": [{"name": "n", "default": "0"}]}, **graph(again, name="count")}
    run = simulate(workflow(count))
    assert run.ended == events.Ended("Succeeded", "")
    assert [node.type for node in run.machine.nodes.values()] == [*["DAG"] * 6, "Skipped"]


def test_nothing_follows_the_end() -> None:
    run = simulate(workflow(leaf("main")))
    (pod,) = run.pods
    assert run.ended is not None
    assert run.machine.handle(events.PodEnded(START + 9, pod, events.Outcome("Failed"))) == []
    assert run.machine.handle(events.Woken(START + 10)) == []
    assert run.machine.handle(events.ShutDown(START + 10, "Stop")) == []


def test_an_end_waits_for_the_pods_that_are_being_stopped() -> None:
    machine = Machine(workflow(leaf("main")))
    (started,) = machine.handle(events.Started(START))
    assert isinstance(started, events.StartPod)
    machine.handle(events.PodRunning(START, started.node))
    assert machine.handle(events.ShutDown(START + 1, "Terminate")) == [events.StopPod(started.node)]
    ended = machine.handle(events.PodEnded(START + 9, started.node, events.Outcome("Failed", "killed")))
    assert ended == [events.Ended("Failed", "Stopped with strategy 'Terminate'")]
    assert machine.finished == START + 9
    assert machine.nodes["run"].message == "killed"


def test_time_does_not_go_back() -> None:
    machine = Machine(workflow(leaf("main")))
    (started,) = machine.handle(events.Started(START))
    assert isinstance(started, events.StartPod)
    machine.handle(events.PodRunning(START + 5, started.node))
    machine.handle(events.PodEnded(START + 2, started.node, events.Outcome("Succeeded")))
    assert machine.nodes["run"].finished == START + 5


def test_a_wake_that_comes_too_early_changes_nothing() -> None:
    machine = Machine(workflow({"name": "main", "suspend": {"duration": "10"}}))
    assert machine.handle(events.Started(START)) == [events.WakeAt(START + 10)]
    assert machine.handle(events.Woken(START + 3)) == []
    assert machine.handle(events.Woken(START + 10)) == [events.Ended("Succeeded", "")]


def test_time_in_which_nothing_went_on_does_not_count() -> None:
    machine = Machine(workflow(leaf("main", timeout="60s"), activeDeadlineSeconds=100))
    first, _ = machine.handle(events.Started(START))
    assert isinstance(first, events.StartPod)
    assert machine.handle(events.PodRunning(START + 30, first.node)) == []
    machine.handle(events.TakenUp(START + 1000))  # nothing was recorded after START + 30
    assert machine.handle(events.Woken(START + 1059)) == []
    assert machine.handle(events.Woken(START + 1060)) == [
        events.StopPod(first.node, "Pod was active on the node longer than the specified deadline"),
        events.WakeAt(START + 1070),  # the workflow had run for thirty seconds before
    ]
    again = Machine(workflow(leaf("main", timeout="60s"), activeDeadlineSeconds=100))
    again.handle(events.Started(START))
    again.handle(events.TakenUp(START + 50))
    again.handle(events.TakenUp(START + 1000))
    assert again.handle(events.Woken(START + 1059)) == []


def test_retries_have_as_long_as_the_run_went_on() -> None:
    strategy = {"limit": "9", "backoff": {"duration": "10s", "maxDuration": "100s"}}
    machine = Machine(workflow(leaf("main", retryStrategy=strategy)))
    first, *_ = machine.handle(events.Started(START))
    assert isinstance(first, events.StartPod)
    failed = events.Outcome("Failed", "main: Error (exit code 1)")
    assert machine.handle(events.PodEnded(START + 50, first.node, failed)) == [events.WakeAt(START + 60)]
    assert machine.handle(events.TakenUp(START + 1000)) == [events.WakeAt(START + 1010)]
    second, *_ = machine.handle(events.Woken(START + 1010))
    assert isinstance(second, events.StartPod)
    assert machine.handle(events.PodEnded(START + 1015, second.node, failed)) == [events.WakeAt(START + 1025)]
    third, *_ = machine.handle(events.Woken(START + 1025))
    assert isinstance(third, events.StartPod)
    ended = machine.handle(events.PodEnded(START + 1045, third.node, failed))
    assert ended == [events.Ended("Failed", "Backoff would exceed max duration limit")]


def test_a_timer_that_nobody_needs_any_more_is_not_waited_for() -> None:
    tasks: list[Json] = [
        {"name": "a", "template": "slow"},
        {"name": "b", "template": "leaf", "dependencies": ["a"]},
    ]
    tasks[1]["arguments"] = {"parameters": [{"name": "v", "value": "{{tasks.a.outputs.parameters.typo}}"}]}
    run = simulate(workflow(graph(*tasks), leaf("slow", timeout="1h"), leaf("leaf", "v")))
    assert run.ended is not None
    assert run.ended.message.startswith("Argo would wait for ever: run.b: ")
    assert run.now == 1


def test_a_pod_that_was_stopped_is_not_stopped_again() -> None:
    run = simulate(
        workflow(leaf("main", activeDeadlineSeconds=3), activeDeadlineSeconds=5),
        lambda _: Pod(takes=FOR_EVER, grace=10),
        events.ShutDown(START + 7, "Terminate"),
    )
    assert [at for at, _ in run.stopped] == [3, 5]
    assert run.machine.nodes["run"].phase == "Failed"


def test_shutting_down_twice_ends_once() -> None:
    manifest = workflow(leaf("main"), leaf("bye"), onExit="bye")
    stop, terminate = events.ShutDown(START + 1, "Stop"), events.ShutDown(START + 2, "Terminate")
    run = simulate(manifest, lambda _: NEVER, stop, terminate)
    assert run.ended == events.Ended("Failed", "Stopped with strategy 'Terminate'")
    assert [stop.node for _, stop in run.stopped] == [pod.node for pod in run.pods.values()]


def test_a_workflow_that_is_submitted_as_stopped_starts_no_pod() -> None:
    run = simulate(workflow(leaf("main"), shutdown="Stop"))
    assert run.ended == events.Ended("Failed", "Stopped with strategy 'Stop'")
    assert run.pods == {}
    assert run.machine.nodes["run"].message == "workflow shutdown with strategy: Stop"


def test_a_step_that_is_not_suspended_is_not_resumed() -> None:
    machine = Machine(workflow(leaf("main")))
    machine.handle(events.Started(START))
    assert machine.handle(events.Resumed(START + 1, "run", {})) == []
    assert machine.handle(events.Resumed(START + 1, "nobody", {})) == []


def test_outcomes_of_retried_pods_are_those_of_their_attempts() -> None:
    ends = iter([FAILS, FAILS, Pod()])
    run = simulate(workflow(leaf("main", retryStrategy={})), lambda _: next(ends))
    assert [node.phase for node in run.machine.nodes.values()] == [
        "Succeeded",
        "Failed",
        "Failed",
        "Succeeded",
    ]


def test_the_result_is_wanted_where_the_graph_mentions_it() -> None:
    tasks: list[Json] = [
        {"name": "a-b", "template": "leaf"},
        {"name": "c", "template": "leaf"},
        {"name": "d", "template": "leaf"},
        {"name": "e", "template": "takes", "dependencies": ["a-b", "c"]},
    ]
    value = "{{tasks.a-b.outputs.result}} {{=tasks['c'].outputs.result}}"
    tasks[3]["arguments"] = {"parameters": [{"name": "v", "value": value}]}
    machine = Machine(workflow(graph(*tasks), leaf(), leaf("takes", "v")))
    started = machine.handle(events.Started(START))
    wanted = {one.name: one.keeps_result for one in started if isinstance(one, events.StartPod)}
    assert wanted == {"run.a-b": True, "run.c": True, "run.d": False}


def test_actions_are_told_as_soon_as_they_are_known() -> None:
    each = {"name": "each", "template": "leaf", "withSequence": {"count": "50"}}
    manifest = workflow(graph(each), leaf())
    asked = Machine(manifest).handle(events.Started(START))
    machine = Machine(manifest)
    told: list[events.Action] = []
    known: list[int] = []

    def act(action: events.Action) -> None:
        told.append(action)
        known.append(len(machine.nodes))

    machine.act = act
    assert machine.handle(events.Started(START)) == []
    assert told == asked
    assert known[0] < 10 < known[-1], "the first pod runs while the machine comes to the others"


def test_the_spec_is_not_changed_by_running_it() -> None:
    manifest = workflow(
        graph({"name": "t", "template": "leaf", "withItems": [{"a": 1}]}),
        leaf("leaf", retryStrategy={"limit": 1}),
        templateDefaults={"timeout": "1m"},
        arguments={"parameters": [{"name": "p", "value": 1}]},
    )
    before = repr(manifest)
    simulate(manifest)
    assert repr(manifest) == before


@pytest.mark.parametrize(
    ("duration", "words"),
    [
        ("500ms", "0 seconds"),
        ("1", "1 second"),
        ("59s", "59 seconds"),
        ("1m", "1 minute 0 seconds"),
        ("1h30m", "1 hour 30 minutes"),
        ("24h", "1 day 0 hours"),
        ("75h", "3 days 3 hours"),
        ("200h", "1 week 8 hours"),
        ("750h", "1 month 6 hours"),
    ],
)
def test_a_wait_is_told_in_two_units(duration: str, words: str) -> None:
    strategy: Json = {"limit": "3", "backoff": {"duration": duration}}
    stop = events.ShutDown(START + 1e9, "Stop")
    run = Simulation(Machine(workflow(leaf("main", retryStrategy=strategy))), lambda _: FAILS, [stop])
    seen: list[str] = []
    run.looks.append(lambda run: seen.append(run.machine.nodes["run"].message))
    run.run()
    assert f"Backoff for {words}" in seen


def test_the_message_while_a_retry_waits_says_how_long() -> None:
    strategy: Json = {"limit": "3", "backoff": {"duration": "90s", "factor": "2"}}
    run = Simulation(Machine(workflow(leaf("main", retryStrategy=strategy))), lambda _: FAILS)
    seen: list[str] = []
    run.looks.append(lambda run: seen.append(run.machine.nodes["run"].message))
    run.run()
    found = [text for text in dict.fromkeys(seen) if text]
    assert found == [
        "Backoff for 1 minute 30 seconds",
        "Backoff for 3 minutes 0 seconds",
        "Backoff for 6 minutes 0 seconds",
        "No more retries left",
    ]
