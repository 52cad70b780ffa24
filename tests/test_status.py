"""What a Workflow object says about its run: order, trees, GPUs, reasons, templates, labels."""

from __future__ import annotations

import random
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowdsl.grammar.devices import is_gpu
from flowdsl.runtime.status import gpu
from flowdsl.runtime.status.node import nodes
from flowdsl.runtime.status.reasons import usual, why
from flowdsl.runtime.status.run import Run
from flowdsl.runtime.status.selector import matches
from flowdsl.runtime.status.tree import Entry
from flowdsl.runtime.times import seconds
from tests.reading.runs import BEGAN, NOW, RUNS, There, gate, retry, stopped, sweep

Json = dict[str, Any]


def drawn(entries: list[Entry] | tuple[Entry, ...], depth: int = 0) -> list[str]:
    """The paths of a tree, indented; attempts before the last one after `!`."""
    found: list[str] = []
    for one in entries:
        found.append("  " * depth + one.path)
        found.extend(f"!{each}" for each in drawn(one.earlier, depth + 1))
        found.extend(drawn((*one.rounds, *one.children), depth + 1))
    return found


def run(there: There, **status: Any) -> Run:
    workflow = there.workflow
    return Run({**workflow, "status": {**workflow["status"], **status}}, there.pods)


def of_nodes(*given: Json, **more: Any) -> Run:
    made = {one["id"]: {"name": one["id"], "type": "Pod", "phase": "Succeeded", **one} for one in given}
    return Run({"metadata": {"name": "r"}, **more, "status": {"nodes": made}})


# --- nodes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUNS)
def test_nodes_come_in_the_order_in_which_they_began(name: str) -> None:
    workflow = RUNS[name]().workflow
    found = [*nodes(workflow).values()]
    at = {node.id: position for position, node in enumerate(found)}
    assert len(found) == len(workflow["status"]["nodes"])
    assert [node.started for node in found] == sorted(node.started for node in found)
    assert all(at[node.id] < at[child.id] for node in found for child in node.children)


@given(st.randoms())
def test_a_circle_of_nodes_loses_none(source: random.Random) -> None:
    names = [f"n{at}" for at in range(6)]
    given = {
        name: {
            "id": name,
            "boundaryID": source.choice([*names, "none", ""]),
            "children": source.choices(names, k=2),
        }
        for name in names
    }
    found = Run({"metadata": {"name": "r"}, "status": {"nodes": given}})
    assert sorted(found.nodes) == names


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = """
name displayName type phase message startedAt finishedAt boundaryID children inputs outputs nodeFlag templateName
templateRef templateScope memoizationStatus resourcesDuration synchronizationStatus hostNodeName daemoned
"""


@given(
    st.dictionaries(st.text(max_size=3), st.dictionaries(st.sampled_from(FIELDS.split()), JUNK), max_size=4),
    JUNK,
    JUNK,
)
def test_fields_of_any_kind_are_read(given: Json, spec: Any, status: Any) -> None:
    """Only the API server validates an object; a folder does not."""
    more: Json = cast("Json", status) if isinstance(status, dict) else {}
    found = Run(
        {"metadata": {"name": "r"}, "spec": spec, "status": {**more, "nodes": given, "conditions": status}}
    )
    assert len(found.nodes) == len(given)
    for node in found.nodes.values():
        assert isinstance(found.why(node), str)
        assert found.gpus(node) == {} or node.type == "Pod"
    assert found.gpu_hours(NOW) >= 0
    given_back = (*found.parameters().items(), *found.outputs().items(), *found.conditions(), (found.status,))
    assert all(isinstance(text, str) for texts in given_back for text in texts)


def test_times() -> None:
    assert seconds("2027-01-15T08:00:00Z") == seconds("2027-01-15T08:00:00.000000Z") == BEGAN
    assert [seconds(one) for one in (None, 3, "", "soon")] == [None] * 4


# --- trees ------------------------------------------------------------------------------------------------


def test_trees() -> None:
    assert drawn(Run(retry().workflow).entries) == ["train", "!  train.attempt 1", "!  train.attempt 2"]
    assert drawn(Run(stopped().workflow).entries) == [
        "fold", "  fold(0)", "    fold(0).fit", "    fold(0).score", "  fold(1)", "    fold(1).fit",
        "    fold(1).score", "onExit",
    ]  # fmt: skip
    assert drawn(of_nodes({"id": "r", "type": "DAG", "phase": "Running"}).entries) == []
    assert drawn(of_nodes({"id": "r", "templateName": "main"}).entries) == ["main"]
    (_, trials) = Run(sweep().workflow).entries
    assert [one.name for one in trials.rounds] == [f"({at})" for at in range(6)]
    assert trials.phase == "Running"


def test_a_run_that_was_tried_again_as_a_whole_shows_its_attempts() -> None:
    flag = {"retried": True}
    found = of_nodes(
        {"id": "r", "type": "Retry", "templateName": "main", "children": ["a", "b"]},
        {
            "id": "a",
            "type": "DAG",
            "phase": "Failed",
            "displayName": "r(0)",
            "nodeFlag": flag,
            "boundaryID": "",
        },
        {"id": "b", "type": "DAG", "displayName": "r(1)", "nodeFlag": flag},
        {"id": "c", "displayName": "fit", "phase": "Failed", "boundaryID": "a"},
        {"id": "d", "displayName": "fit", "boundaryID": "b"},
    )
    assert drawn(found.entries) == ["main", "!  main.attempt 1", "!    main.attempt 1.fit", "  fit"]


# --- status -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phase", "spec", "said"),
    [
        ("", {}, "Pending"),
        ("Running", {}, "Running"),
        ("Running", {"suspend": True}, "Running (Suspended)"),
        ("Running", {"shutdown": "Stop"}, "Running (Stopping)"),
        ("Running", {"shutdown": "Terminate"}, "Running (Terminating)"),
        ("Failed", {"shutdown": "Stop"}, "Failed (Stopped)"),
        ("Failed", {"shutdown": "Terminate"}, "Failed (Terminated)"),
        ("Succeeded", {"shutdown": "Stop"}, "Succeeded"),
        ("Failed", {"suspend": True}, "Failed"),
    ],
)
def test_what_somebody_did_stands_behind_the_phase(phase: str, spec: Json, said: str) -> None:
    assert Run({"metadata": {"name": "r"}, "spec": spec, "status": {"phase": phase}}).status == said


def test_a_gate_with_a_duration_waits_for_no_one() -> None:
    there = gate()
    assert Run(there.workflow).status == "Running (Suspended)"
    there.workflow["spec"]["templates"] = [{"name": "approve", "suspend": {"duration": "1h"}}]
    assert Run(there.workflow).status == "Running"


def test_conditions_that_are_bad() -> None:
    assert Run(gate().workflow).conditions() == [("SpecWarning", "the field `x` is deprecated")]


def test_what_a_run_was_given_and_gave() -> None:
    assert Run(sweep().workflow).parameters() == {"epochs": "10", "data": "s3://reviews/2026"}
    assert Run(stopped().workflow).outputs() == {"best": "0.25", "model": "nested-9/model"}


# --- GPUs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.5gb", "amd.com/gpu", "gpu.intel.com/i915",
        "gpu.intel.com/xe", "google.com/tpu", "habana.ai/gaudi", "huawei.com/Ascend910", "aliyun.com/gpu",
        "aliyun.com/gpu-count", "aws.amazon.com/neuroncore", "volcano.sh/vgpu", "example.com/gpu",
    ],
)  # fmt: skip
def test_devices(name: str) -> None:
    assert is_gpu(name)


@pytest.mark.parametrize(
    "name",
    [
        "cpu", "memory", "gpu", "nvidia.com/gpumem", "gpu.intel.com/memory.max", "gpu.intel.com/millicores",
        "gpu.intel.com/i915_monitoring", "aliyun.com/gpu-mem", "aliyun.com/gpu-core.percentage", "rdma/hca",
        "ephemeral-storage", "hugepages-2Mi",
    ],
)  # fmt: skip
def test_what_is_no_device(name: str) -> None:
    assert not is_gpu(name)


def container(**limits: Any) -> Json:
    return {
        "resources": {
            "limits": {name.replace("_", ".", 1).replace("_", "/"): one for name, one in limits.items()}
        }
    }


def test_the_gpus_of_a_pod_are_those_of_its_containers_or_of_one_before_them() -> None:
    pod = {
        "spec": {
            "containers": [
                container(nvidia_com_gpu="2", cpu="4"),
                container(nvidia_com_gpu=1, amd_com_gpu="1k"),
                {},
            ],
            "initContainers": [
                container(nvidia_com_gpu="2"),
                container(google_com_tpu="8"),
                container(nvidia_com_gpu="x"),
            ],
        }
    }
    assert gpu.of_pod(pod) == {"nvidia.com/gpu": 3, "amd.com/gpu": 1000, "google.com/tpu": 8}
    assert gpu.total([gpu.of_pod(pod), {"a.b/gpu": 1}]) == 1012


@pytest.mark.parametrize(
    "template",
    [
        {"container": container(nvidia_com_gpu=2)},
        {"script": container(nvidia_com_gpu="2")},
        {"containerSet": {"containers": [container(nvidia_com_gpu=1), container(nvidia_com_gpu=1)]}},
        {"script": container(nvidia_com_gpu=1), "sidecars": [container(nvidia_com_gpu=1)]},
    ],
)
def test_the_gpus_of_a_template(template: Json) -> None:
    assert gpu.of_template(template) == {"nvidia.com/gpu": 2}


def test_gpu_hours_are_those_of_the_controller_else_counted() -> None:
    found = run(sweep())
    counted = (3600 + 3638 + 838) / 3600  # pods that have ended
    assert found.gpu_hours(BEGAN + 3700) == pytest.approx(counted)
    assert found.gpu_hours(BEGAN + 7300) == pytest.approx(counted + 1)  # one is running, two have no node yet
    assert found.requested() == 3
    assert Run(stopped().workflow).gpu_hours(NOW) == pytest.approx(2 * 4 * 89 / 3600)
    assert (
        gpu.used_by_all({"status": {"resourcesDuration": {"nvidia.com/gpu": 7, "cpu": 9, "amd.com/gpu": 1}}})
        == 8
    )


@pytest.mark.parametrize(
    "label", ["nvidia.com/gpu.product", "amd.com/gpu.product-name", "cloud.google.com/gke-accelerator"]
)
def test_the_card_is_what_the_node_is_labelled_with(label: str) -> None:
    assert gpu.card({"metadata": {"labels": {"a": "b", label: "H100"}}}) == "H100"
    assert gpu.card({"metadata": {}}) == ""


# --- reasons ----------------------------------------------------------------------------------------------


def pending(**status: Any) -> Json:
    return {"status": {"phase": "Pending", **status}}


def waiting(name: str, reason: str, message: str = "") -> Json:
    return {"name": name, "state": {"waiting": {"reason": reason, "message": message}}}


UNSCHEDULED = [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": "kueue"}]


@pytest.mark.parametrize(
    ("pod", "said"),
    [
        (pending(), ""),
        (pending(conditions=UNSCHEDULED), "SchedulingGated: kueue"),
        (pending(containerStatuses=[waiting("wait", "ErrImagePull", "a"), waiting("main", "InvalidImageName", "b")]),
         "InvalidImageName: b"),
        (pending(containerStatuses=[waiting("main", "PodInitializing")],
                 initContainerStatuses=[waiting("init", "ErrImagePull", "a")]), "ErrImagePull: a"),
        (pending(containerStatuses=[waiting("main", "CreateContainerConfigError", 'secret "hub" not found')]),
         'CreateContainerConfigError: secret "hub" not found'),
        (pending(containerStatuses=[waiting("main", "ContainerCreating")]), ""),
        ({"status": {"phase": "Running", "conditions": UNSCHEDULED}}, ""),
        ({"status": None}, ""),
    ],
)  # fmt: skip
def test_why_a_pod_waits(pod: Json, said: str) -> None:
    assert why(pod) == said


def test_what_only_events_say() -> None:
    pod = pending(containerStatuses=[waiting("main", "ContainerCreating")])
    events = [
        {"type": "Normal", "reason": "Pulling", "message": "c", "lastTimestamp": "2027-01-15T08:09:00Z"},
        {"type": "Warning", "reason": "FailedMount", "message": "b", "lastTimestamp": "2027-01-15T08:02:00Z"},
        {
            "type": "Warning",
            "reason": "FailedAttachVolume",
            "message": "a",
            "eventTime": "2027-01-15T08:01:00.5Z",
        },
    ]
    assert why(pod, events) == "FailedMount: b"
    assert why(pod, events[:1]) == ""
    assert usual(pod) == "ContainerCreating"


def test_a_lock_is_named() -> None:
    found = of_nodes(
        {"id": "a", "phase": "Pending", "synchronizationStatus": {"waiting": "ns/ConfigMap/locks/gpu"}}
    )
    assert found.why(found.nodes["a"]) == "waits for the lock ns/ConfigMap/locks/gpu"


def worker(number: int, made_by: str, attempt: str | None, **status: Any) -> Json:
    """A pod of the Job that a node has created."""
    notes = {"flowdsl/node": made_by, **({} if attempt is None else {"flowdsl/attempt": attempt})}
    containers = [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "2"}}}]
    return {
        "metadata": {"name": f"job-{number}", "annotations": notes},
        "spec": {"containers": containers, "nodeName": f"host-{number % 2}"},
        "status": {"phase": "Running", **status},
    }


@pytest.mark.parametrize("attempt", [None, "1"])
def test_the_pods_of_a_job_are_counted_with_the_node_that_made_it(attempt: str | None) -> None:
    name = "r.train.workers" if attempt is None else "r.train.workers(1)"
    there = {"id": "a", "name": name, "phase": "Running", "startedAt": BEGAN, "hostNodeName": "executor"}
    status = {"nodes": {"a": {"type": "Pod", **there}}, "phase": "Running"}
    pods = [worker(number, "r.train.workers", attempt) for number in range(3)]
    pods.append(worker(3, "r.train.workers", attempt, phase="Pending", conditions=UNSCHEDULED))
    pods.append(worker(4, "r.other", attempt))
    hosts = {"host-0": {"metadata": {"labels": {"nvidia.com/gpu.product": "H100"}}}}
    found = Run({"metadata": {"name": "r"}, "status": status}, pods, hosts)
    node = found.nodes["a"]
    assert (found.gpus(node), found.requested()) == ({"nvidia.com/gpu": 8}, 8)
    assert (found.host(node), found.card(node)) == ("host-0, host-1", "H100")
    assert found.why(node) == found.reason == "1 of 4 pods wait: SchedulingGated: kueue"


def test_what_the_list_says_of_a_run() -> None:
    assert run(sweep()).reason.startswith("Unschedulable: 0/4 nodes are available")
    assert run(sweep(), message="child failed").reason == "child failed"
    assert run(gate()).reason == "ContainerCreating"
    for message in ("", "child 'a' failed", "template has failed or errored children and failFast enabled"):
        assert run(stopped(), message=message).reason == "fold(0).fit: workflow shutdown with strategy:  Stop"
    assert run(stopped()).reason == "Stopped with strategy 'Stop'"


# --- templates --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "where"),
    [
        ({"templateName": "t"}, {"spec": {"templates": ["t"]}}),
        ({"templateName": "t", "templateScope": "local/r"}, {"spec": {"templates": ["t"]}}),
        ({"templateName": "t", "templateScope": "namespaced/lib"}, {"stored": "namespaced/lib/t"}),
        ({"templateName": "t", "templateScope": "cluster/lib"}, {"stored": "cluster/lib/t"}),
        ({"templateRef": {"name": "lib", "template": "t"}}, {"stored": "namespaced/lib/t"}),
        (
            {"templateRef": {"name": "lib", "template": "t", "clusterScope": True}},
            {"stored": "cluster/lib/t"},
        ),
        ({"templateName": "t"}, {"whole": ["t"]}),
    ],
)
def test_where_the_template_of_a_node_is(node: Json, where: Json) -> None:
    template = {"name": "t", "container": container(nvidia_com_gpu=3)}
    status: Json = {"nodes": {"r-1": {"id": "r-1", "name": "r.a", "type": "Pod", "phase": "Pending", **node}}}
    workflow: Json = {"metadata": {"name": "r"}, "spec": {}, "status": status}
    if "stored" in where:
        status["storedTemplates"] = {where["stored"]: template}
    elif "whole" in where:
        status["storedWorkflowTemplateSpec"] = {"templates": [template]}
    else:
        workflow["spec"] = {"templates": [template]}
    found = Run(workflow)
    assert found.requested() == 3
    assert found.nodes["r-1"].template == "t"


# --- labels -----------------------------------------------------------------------------------------------

LABELS = {"team": "vision", "flowdsl.dev/pipeline": "tune", "empty": "", "size": "3"}


@pytest.mark.parametrize(
    ("selector", "answer"),
    [
        ("", True), ("team=vision", True), ("team==vision", True), (" team = vision ", True), ("team!=vision", False),
        ("team=text", False), ("other!=x", True), ("team", True), ("!team", False), ("!other", True), ("other", False),
        ("team in (vision, text)", True), ("team notin (vision,text)", False), ("other notin (a)", True),
        ("other in (a)", False), ("team=vision,!other", True), ("team=vision,other", False), ("empty=", True),
        ("flowdsl.dev/pipeline in (tune),team", True), ("size>2", True), ("size > 3", False), ("size<-1,team", False),
        ("team>0", False), ("other<1", False),
    ],
)  # fmt: skip
def test_labels_are_selected(selector: str, answer: bool) -> None:
    assert matches(selector, LABELS) is answer


@pytest.mark.parametrize(
    "selector", [",", "team=vision,", "a b", "a in b", "a in (b", "=b", "a=b=c", "!", "a=(b)", "a>b", "a>=1"]
)
def test_what_is_no_selector(selector: str) -> None:
    with pytest.raises(ValueError, match="is not a condition on labels"):
        matches(selector, LABELS)
