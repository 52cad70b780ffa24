"""The schema of Argo's objects: which fields and types it knows, and what is said of others."""

from __future__ import annotations

import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowdsl.compiler.schema import (
    API_VERSION,
    check_schema,
    expression_at,
    fields,
    is_type,
    kinds,
    required,
    rules,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.compiler.problem import Problem

ROOT = Path(__file__).resolve().parents[1]
Document = dict[str, Any]


def workflow() -> Document:
    """A small workflow with everything that the tests change."""
    task = {"name": "a", "template": "work", "arguments": {"parameters": [{"name": "lr", "value": "0.1"}]}}
    container = {
        "image": "python:3.12-slim",
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}],
        "resources": {"limits": {"cpu": 2, "memory": "4Gi"}},
    }
    templates = [
        {"name": "main", "dag": {"tasks": [task]}},
        {"name": "work", "container": container, "retryStrategy": {"limit": "2", "retryPolicy": "Always"}},
    ]
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"generateName": "w-", "labels": {"app.kubernetes.io/name": "w"}},
        "spec": {"entrypoint": "main", "templates": templates, "parallelism": 4},
    }


TASK = ("spec", "templates", 0, "dag", "tasks", 0)
CONTAINER = ("spec", "templates", 1, "container")


def at(document: Document, path: tuple[str | int, ...]) -> Any:
    for step in path:
        document = document[step]  # type: ignore[index]  # a step into a list is a number
    return document


def changed(change: Callable[[Document], object]) -> list[Problem]:
    document = workflow()
    change(document)
    return list(check_schema(document))


def put(path: tuple[str | int, ...], value: object) -> Problem:
    """The only problem of the workflow with a value replaced at a path."""

    def change(document: Document) -> None:
        at(document, path[:-1])[path[-1]] = value

    (problem,) = changed(change)
    return problem


def test_a_good_manifest_has_no_findings() -> None:
    assert list(check_schema(workflow())) == []


def test_an_unknown_field_is_named_with_its_type_and_a_near_miss() -> None:
    problem = put((*TASK, "templat"), "work")
    assert problem.path == (*TASK, "templat")
    assert problem.on_key
    assert problem.finding.code == "FD403"
    assert problem.finding.message == "`spec.templates[0].dag.tasks[0].templat` is not a field of DAGTask"
    assert problem.finding.caption == "did you mean `template`?"


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        (
            (*CONTAINER, "retryStrategy"),
            "it is a field of Template: move it to `spec.templates[1].retryStrategy`",
        ),
        (
            ("spec", "templates", 1, "image"),
            "it is a field of Container: move it to `spec.templates[1].container.image`",
        ),
        (("metadata", "entrypoint"), "it is a field of WorkflowSpec: move it to `spec.entrypoint`"),
        (("spec", "labels"), "it is a field of ObjectMeta: move it to `metadata.labels`"),
        (
            ("spec", "schedules"),
            "only a CronWorkflow has it: its `spec.workflowSpec` is the `spec` of a Workflow",
        ),
        (("spec", "container"), "it is a field of Template: write it in an entry of `templates`"),
        (("spec", "templates", 1, "withItems"), "write it at the task or step that calls the template"),
        (
            (*CONTAINER, "gpu"),
            "write it below `resources.limits`, under the name of the device, such as `nvidia.com/gpu`",
        ),
        ((*CONTAINER, "entrypoint"), "write `command`, or remove the field"),
        (
            (*TASK, "volumeMounts"),
            "it is a field of Container: move it to `spec.templates[1].container.volumeMounts`",
        ),
        (
            ("spec", "podPriority"),
            (
                "write `podPriorityClassName`, the name of a PriorityClass of the cluster; "
                "or check for an older Argo: --argo-version 3.7"
            ),
        ),
        ((*TASK, "arguments", "qqq"), "there are `artifacts`, `parameters`"),
    ],
)
def test_an_unknown_field_comes_with_a_way_out(path: tuple[str | int, ...], advice: str) -> None:
    assert put(path, "x").finding.advice == advice


def test_fields_of_a_pod_and_of_a_container_are_sent_to_each_other() -> None:
    (group,) = changed(lambda it: at(it, CONTAINER).update(securityContext={"fsGroup": 1}))
    assert group.finding.advice.endswith("move it to `spec.templates[1].securityContext.fsGroup`")
    (rights,) = changed(lambda it: it["spec"]["templates"][1].update(securityContext={"privileged": True}))
    assert rights.finding.advice.endswith(
        "move it to `spec.templates[1].container.securityContext.privileged`"
    )


def test_the_fields_of_a_store_are_sent_to_the_store_that_has_them() -> None:
    artifact = {"name": "a", "path": "/a", "bucket": "b", "endpoint": "e", "key": "k"}
    found = changed(lambda it: it["spec"]["templates"][1].update(inputs={"artifacts": [artifact]}))
    assert {each.finding.advice.rpartition(".artifacts[0].")[2][:3] for each in found} == {"s3."}


def test_a_missing_field_is_reported_at_the_object_that_lacks_it() -> None:
    (problem,) = changed(lambda document: at(document, TASK).pop("name"))
    assert problem.path == TASK
    assert problem.finding.code == "FD404"
    assert problem.finding.message == "`spec.templates[0].dag.tasks[0].name` is missing"


@pytest.mark.parametrize(
    ("path", "value", "message", "advice"),
    [
        (
            ("spec", "parallelism"),
            "3",
            '`spec.parallelism` is the text "3", not a whole number',
            "write a whole number, without quotes",
        ),
        (
            ("spec", "parallelism"),
            "{{workflow.parameters.n}}",
            '`spec.parallelism` is the text "{{workflow.parameters.n}}", not a whole number',
            "Argo fills tags in only where text is expected: write the value itself",
        ),
        (
            (*TASK, "arguments", "parameters", 0, "value"),
            0.1,
            "`spec.templates[0].dag.tasks[0].arguments.parameters[0].value` is the number 0.1, not text",
            'put it in quotes: "0.1"',
        ),
        (
            ("metadata", "labels", "app.kubernetes.io/name"),
            True,
            "`metadata.labels[app.kubernetes.io/name]` is true, not text",
            'put it in quotes: "true"',
        ),
        (
            ("spec", "templates", 0),
            None,
            "`spec.templates[0]` is null, not a mapping with the fields of Template",
            "write a value, or remove the entry",
        ),
        (
            ("spec", "tolerations"),
            {"key": "gpu"},
            "`spec.tolerations` is a mapping, not a list",
            "start each entry with `- `; an entry is a mapping with the fields of Toleration",
        ),
        (
            ("spec", "nodeSelector"),
            ["gpu"],
            "`spec.nodeSelector` is a list, not a mapping",
            "write `key: value` lines; a value is text",
        ),
        (
            (*TASK, "arguments"),
            "lr",
            (
                '`spec.templates[0].dag.tasks[0].arguments` is the text "lr", '
                "not a mapping with the fields of Arguments"
            ),
            "write its fields as `key: value` lines; there are `artifacts`, `parameters`",
        ),
        (
            (*CONTAINER, "resources", "limits", "cpu"),
            0.5,
            (
                "`spec.templates[1].container.resources.limits.cpu` is the number 0.5, "
                "not a whole number or text such as 500m or 4Gi"
            ),
            'put it in quotes: "0.5"',
        ),
        (
            ("spec", "templates", 1, "plugin"),
            "x",
            '`spec.templates[1].plugin` is the text "x", not a mapping',
            "write `key: value` lines",
        ),
    ],
)
def test_a_wrong_type_says_what_arrived_and_what_is_wanted(
    path: tuple[str | int, ...], value: object, message: str, advice: str
) -> None:
    problem = put(path, value)
    assert problem.path == path
    assert not problem.on_key
    assert (problem.finding.code, problem.finding.message, problem.finding.advice) == (
        "FD405",
        message,
        advice,
    )


@pytest.mark.parametrize(
    ("path", "value", "code", "advice"),
    [
        (
            ("spec", "templates", 1, "retryStrategy", "retryPolicy"),
            "onfailure",
            "FD406",
            "write one of `Always`, `OnFailure`, `OnError`, `OnTransientError`",
        ),
        (
            (*TASK, "name"),
            "a_b",
            "FD407",
            "use letters, digits and `-`, and start with a letter or a digit (`_` and `.` are not allowed)",
        ),
        (
            (*TASK, "name"),
            "run-{{item}}",
            "FD407",
            "the API server reads this text before Argo fills tags in, so write the value itself",
        ),
        (
            (*CONTAINER, "resources", "limits", "memory"),
            "8GB",
            "FD407",
            "write a number with a unit of Kubernetes, such as 2, 500m, 4Gi or 1e3",
        ),
        (
            ("spec", "templates", 0, "dag", "tasks"),
            [{"name": f"t{index}", "template": "work"} for index in range(201)],
            "FD408",
            (
                "run tasks that differ only in their values as one task with `withItems`, "
                "or move a part of the graph to a DAG template of its own"
            ),
        ),
        (
            ("spec", "templates", 1, "steps"),
            [],
            "FD409",
            "add an entry, or remove the whole field where it is optional",
        ),
        (("spec", "parallelism"), 0, "FD410", "leave the field out for no limit"),
        (("spec", "priority"), 2**31, "FD410", "write a number in the range -2147483648 to 2147483647"),
        (
            ("spec", "activeDeadlineSeconds"),
            2**63,
            "FD410",
            "write a number in the range -9223372036854775808 to 9223372036854775807",
        ),
        (("spec", "templates", 1, "name"), "n" * 129, "FD411", "write at most 128 characters"),
    ],
)
def test_a_broken_rule_comes_with_a_way_out(
    path: tuple[str | int, ...], value: object, code: str, advice: str
) -> None:
    problem = put(path, value)
    assert problem.path == path
    assert (problem.finding.code, problem.finding.advice) == (code, advice)


def test_a_near_choice_is_suggested() -> None:
    problem = put(("spec", "templates", 1, "retryStrategy", "retryPolicy"), "onfailure")
    assert problem.finding.caption == "did you mean `OnFailure`?"


@pytest.mark.parametrize(
    ("path", "entry", "message"),
    [
        (
            (*CONTAINER, "env"),
            {"name": "A"},
            '`spec.templates[1].container.env[2]` repeats name "A" of entry [0]',
        ),
        (
            (*CONTAINER, "ports"),
            {"containerPort": 80, "protocol": "TCP"},
            '`spec.templates[1].container.ports[2]` repeats containerPort 80, protocol "TCP" of entry [0]',
        ),
    ],
)
def test_entries_are_told_apart_by_their_keys(
    path: tuple[str | int, ...], entry: Document, message: str
) -> None:
    (problem,) = changed(lambda document: at(document, path).append(entry))
    assert problem.path == (*path, 2)
    assert (problem.finding.code, problem.finding.message) == ("FD412", message)


def test_kind_and_version_are_checked_first() -> None:
    assert put(("kind",), "Workfow").finding.caption == "did you mean `Workflow`?"
    assert put(("kind",), "Pod").finding.code == "FD401"
    assert put(("apiVersion",), "argoproj.io/v1").finding.advice == f"write `apiVersion: {API_VERSION}`"
    problems = list(check_schema({"spec": {"nonsense": 1}}))
    assert [problem.finding.message for problem in problems] == [
        "`apiVersion` is missing",
        "`kind` is missing",
    ]
    assert [problem.path for problem in problems] == [(), ()]


def test_all_findings_of_a_document_come_at_once() -> None:
    def change(document: Document) -> None:
        document["spec"]["entrypont"] = "main"
        at(document, TASK)["when"] = True
        at(document, CONTAINER)["command"] = "python"
        document["spec"]["parallelism"] = 0

    assert sorted(problem.finding.code for problem in changed(change)) == ["FD403", "FD405", "FD405", "FD410"]


def test_null_counts_as_left_out() -> None:
    document = workflow()
    document["metadata"]["creationTimestamp"] = None
    at(document, CONTAINER)["command"] = None
    assert list(check_schema(document)) == []
    at(document, TASK)["name"] = None
    assert [problem.finding.code for problem in check_schema(document)] == ["FD404"]


def test_what_a_cluster_gives_back_is_accepted() -> None:
    document = workflow()
    document["status"] = {"phase": "Succeeded", "nodes": {"w-1": {"anything": [1]}}}
    document["metadata"] |= {"uid": "1", "managedFields": [{"fieldsV1": {"f:spec": {}}}]}
    assert list(check_schema(document)) == []


def test_loop_items_hold_what_they_like() -> None:
    document = workflow()
    at(document, TASK)["withItems"] = [1, "a", True, None, {"a": {"b": [1.5]}}, [1]]
    assert list(check_schema(document)) == []


def test_whole_numbers_may_be_written_with_a_point() -> None:
    document = workflow()
    document["spec"]["parallelism"] = 3.0
    assert list(check_schema(document)) == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1.5, True])
def test_other_numbers_are_not_whole(value: float) -> None:
    assert put(("spec", "parallelism"), value).finding.code == "FD405"


def test_sizes_and_ranges_are_free_where_the_server_does_not_look() -> None:
    tasks = [{"name": f"t{index}", "template": "work"} for index in range(201)]
    document = workflow()
    at(document, TASK)["inline"] = {"dag": {"tasks": tasks}, "parallelism": 0, "name": "{{item}}"}
    assert list(check_schema(document)) == []


@pytest.mark.parametrize(
    ("inline", "path", "code"),
    [
        ({"contaner": {}}, ("contaner",), "FD403"),
        ({"retryStrategy": {"retryPolicy": "Never"}}, ("retryStrategy", "retryPolicy"), "FD406"),
        ({"dag": {"tasks": [{"name": "a_b"}]}}, ("dag", "tasks", 0, "name"), "FD407"),
        (
            {"container": {"resources": {"limits": {"cpu": "{{x}}"}}}},
            ("container", "resources", "limits", "cpu"),
            "FD407",
        ),
        (
            {"dag": {"tasks": [{"name": "a", "inline": {"daemon": 1}}]}},
            ("dag", "tasks", 0, "inline", "daemon"),
            "FD405",
        ),
    ],
)
def test_mistakes_in_inline_templates_are_found(
    inline: Document, path: tuple[str | int, ...], code: str
) -> None:
    def change(document: Document) -> None:
        at(document, TASK)["inline"] = inline

    (problem,) = changed(change)
    assert problem.path == (*TASK, "inline", *path)
    assert problem.finding.code == code


def test_the_table_can_be_looked_up() -> None:
    assert kinds() == ("Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow")
    assert fields("DAGTask")["withParam"] == "string"
    assert required("DAGTask") == ("name",)
    assert rules("DAGTemplate")["tasks"]["maxItems"] == 200
    assert expression_at("Workflow", TASK) == "DAGTask"
    assert expression_at("Workflow", ("metadata", "labels", "x")) == "string"
    assert expression_at("Workflow", ("spec", "nowhere", "x")) is None
    assert expression_at("Workflow", ("spec", "entrypoint", "x")) is None
    with pytest.raises(KeyError):
        fields("Nothing")


def test_the_table_is_closed_under_its_names() -> None:
    waiting, seen = list(kinds()), set[str]()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            assert set(required(name)) | set(rules(name)) <= set(fields(name))
            waiting += [inner for each in fields(name).values() if is_type(inner := each.rpartition(":")[2])]
    assert len(seen) > 190


def test_the_table_is_what_the_generator_writes() -> None:
    done = subprocess.run([sys.executable, "-m", "tools.schema.generate", "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0


def test_the_table_is_loaded_only_when_asked_for() -> None:
    script = (
        "from flowdsl.compiler.schema import table, check_schema\n"
        "print(table.table.cache_info().currsize)\n"
        "list(check_schema({'apiVersion': 'argoproj.io/v1alpha1', 'kind': 'Workflow'}))\n"
        "print(table.table.cache_info().currsize)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == ["0", "1"]


#: Texts that match each named pattern of the schema.
MATCHING = {
    "artifact name": "model.bin",
    "base64": "aGk=",
    "metric name": "run_time",
    "name": "train-1",
    "parameter name": "learning_rate",
    "schedule": "0 2 * * *",
}
SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "any": st.none() | st.booleans() | st.text() | st.lists(st.integers()),
    "boolean": st.booleans(),
    "int-or-string": st.integers() | st.text(),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "integer": st.integers(-(2**63), 2**63 - 1),
    "number": st.integers() | st.floats(allow_nan=False),
    "object": st.dictionaries(st.text(), st.integers()),
    "quantity": st.integers() | st.sampled_from(["1", "500m", "4Gi", "1e3", "0.5"]),
    "string": st.text(),
}


@st.composite
def values(draw: st.DrawFn, expression: str, rule: dict[str, Any], depth: int) -> Any:
    """A value that conforms to a type expression and the rule of its field."""
    outer, _, inner = expression.partition(":")
    if outer == "list":
        most = 1 if "keys" in rule or "set" in rule else 2
        entries = st.lists(
            values(inner, rule.get("each", {}), depth), min_size=rule.get("minItems", 0), max_size=most
        )
        return draw(entries)
    if outer == "map":
        return draw(st.dictionaries(st.text(), values(inner, {}, depth), max_size=2))
    if is_type(expression):
        names = sorted(fields(expression).keys() - set(required(expression)))
        chosen = draw(st.lists(st.sampled_from(names), max_size=3, unique=True)) if names and depth else []
        return {
            name: draw(
                values(fields(expression)[name], dict(rules(expression).get(name, {})), max(depth - 1, 0))
            )
            for name in (*required(expression), *chosen)
        }
    if "enum" in rule:
        return draw(st.sampled_from(rule["enum"]))
    if "pattern" in rule:
        return MATCHING[rule["pattern"]]
    if "minLength" in rule:
        return draw(st.text(min_size=1, max_size=5))
    if "min" in rule:
        return draw(st.integers(rule["min"], rule.get("max", 1000)))
    return draw(SCALARS[expression])


@st.composite
def manifests(draw: st.DrawFn) -> Document:
    kind = draw(st.sampled_from(kinds()))
    return {**draw(values(kind, {}, 4)), "apiVersion": API_VERSION, "kind": kind}


def places(
    value: Any, expression: str, path: tuple[str | int, ...] = ()
) -> list[tuple[tuple[str | int, ...], str]]:
    """Each path of a manifest that the schema checks, with its type expression."""
    outer, _, inner = expression.partition(":")
    found = [(path, expression)]
    if outer == "list":
        for index, item in enumerate(value):
            found += places(item, inner, (*path, index))
    elif outer == "map":
        for key, item in value.items():
            found += places(item, inner, (*path, key))
    elif is_type(expression):
        for field, item in value.items():
            found += places(item, fields(expression)[field], (*path, field))
    return found


@given(manifests())
def test_what_the_table_allows_is_accepted(document: Document) -> None:
    assert [(problem.path, problem.finding.message) for problem in check_schema(document)] == []


@given(manifests(), st.data())
def test_one_change_is_reported_where_it_was_made(document: Document, data: st.DataObject) -> None:
    objects = [(path, each) for path, each in places(document, document["kind"]) if is_type(each)]
    scalars = [
        (path, each)
        for path, each in places(document, document["kind"])
        if each not in ("any", "object") and path not in ((), ("kind",), ("apiVersion",))
    ]
    broken = deepcopy(document)
    retype = data.draw(st.booleans())
    if retype and scalars:
        path, expression = data.draw(st.sampled_from(scalars))
        outer = expression.partition(":")[0]
        at(broken, path[:-1])[path[-1]] = {} if outer not in ("map", "object") and not is_type(outer) else []
        code, where = "FD405", path
    else:
        path, expression = data.draw(st.sampled_from(objects))
        at(broken, path)["noSuchField"] = "x"
        code, where = "FD403", (*path, "noSuchField")
    (problem,) = check_schema(broken)
    assert (problem.finding.code, problem.path, problem.on_key) == (code, where, code == "FD403")


@given(manifests(), st.data())
def test_each_required_field_is_missed(document: Document, data: st.DataObject) -> None:
    needed = [
        (path, name)
        for path, expression in places(document, document["kind"])
        if is_type(expression)
        for name in required(expression)
    ]
    path, name = data.draw(st.sampled_from(needed))
    broken = deepcopy(document)
    del at(broken, path)[name]
    (problem,) = check_schema(broken)
    assert (problem.finding.code, problem.path) == ("FD404", path)
    assert problem.finding.caption == f"needs `{name}`"
