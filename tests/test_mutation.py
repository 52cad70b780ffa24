"""Valid manifests, each broken in one place: an error is reported there.

A mutation finds the places of a manifest where it can be made; the property draws a manifest, a mutation and a
place. What is asked is that some error touches the lines of the broken place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowdsl.compiler.lint import lint
from flowdsl.compiler.tree import is_mapping
from flowdsl.compiler.yaml.documents import read
from flowdsl.compiler.yaml.emit import emit

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted([*ROOT.glob("examples/**/pipeline.yaml"), *ROOT.glob("tests/lowering/*.yaml")])
Object = dict[str, Any]
Way = tuple[str | int, ...]
Change = tuple[Callable[[Object], None], Way]
"""A function that breaks a document, and the place of the change."""

_REFERENCE = re.compile(r"(tasks(?:\.|\[')([\w-]+)(?:'\])?\.outputs\.parameters(?:\.|\[')([\w-]+))")


@cache
def manifests() -> tuple[Object, ...]:
    loader: Any = yaml.CSafeLoader
    return tuple(one for file in FILES for one in yaml.load_all(file.read_text("utf-8"), Loader=loader))


def at(document: Object, way: Way) -> Any:
    found: Any = document
    for step in way:
        found = found[step]
    return found


def put(way: Way, value: object) -> Change:
    """Write another value."""

    def change(document: Object) -> None:
        at(document, way[:-1])[way[-1]] = value

    return change, way


def drop(way: Way, place: Way | None = None) -> Change:
    def change(document: Object) -> None:
        del at(document, way[:-1])[way[-1]]

    return change, way[:-1] if place is None else place


def rename(way: Way, name: str) -> Change:
    """Rename a key, in place."""

    def change(document: Object) -> None:
        holder = at(document, way[:-1])
        entries = [(name if key == way[-1] else key, value) for key, value in holder.items()]
        holder.clear()
        holder.update(entries)

    return change, (*way[:-1], name)


def templates(document: Object) -> Iterator[tuple[Way, Object]]:
    for index, template in enumerate(document["spec"]["templates"]):
        yield ("spec", "templates", index), template


def tasks(document: Object) -> Iterator[tuple[Way, Object, list[Object]]]:
    for way, template in templates(document):
        if "dag" in template:
            for index, task in enumerate(template["dag"]["tasks"]):
                yield (*way, "dag", "tasks", index), task, template["dag"]["tasks"]


def pods(document: Object) -> Iterator[tuple[Way, Object]]:
    for way, template in templates(document):
        for kind in ("container", "script"):
            if kind in template:
                yield (*way, kind), template[kind]


def arguments(document: Object) -> Iterator[tuple[Way, Object, Object]]:
    """Parameters that are passed to templates, with these templates."""
    named = {one["name"]: one for one in document["spec"]["templates"]}
    for way, task, _ in tasks(document):
        if "template" in task:
            for index, one in enumerate(task.get("arguments", {}).get("parameters", ())):
                yield (*way, "arguments", "parameters", index), one, named[task["template"]]


def texts(node: object, way: Way = ()) -> Iterator[tuple[Way, str]]:
    if is_mapping(node):
        for key, value in node.items():
            yield from texts(value, (*way, key))
    elif isinstance(node, list):
        for index, value in enumerate(cast("list[object]", node)):
            yield from texts(value, (*way, index))
    elif isinstance(node, str) and way[-1] != "source":
        yield way, node


def needed(template: Object, name: str) -> bool:
    found = [one for one in template.get("inputs", {}).get("parameters", ()) if one["name"] == name]
    return bool(found) and "default" not in found[0]


# --- the mutations -----------------------------------------------------------------------------------


def drop_an_argument(document: Object) -> Iterator[Change]:
    for way, one, template in arguments(document):
        if needed(template, one["name"]):
            yield drop(way, way[:-3])


def misspell_an_argument(document: Object) -> Iterator[Change]:
    for way, one, template in arguments(document):
        if needed(template, one["name"]):
            yield put((*way, "name"), one["name"] + "x")


def misspell_a_task_in_a_reference(document: Object) -> Iterator[Change]:
    for way, text in texts(document["spec"], ("spec",)):
        if (found := _REFERENCE.search(text)) and "{{" in text:
            yield put(way, text[: found.start(2)] + "zz-" + text[found.start(2) :])


def misspell_an_output(document: Object) -> Iterator[Change]:
    for way, text in texts(document["spec"], ("spec",)):
        if (found := _REFERENCE.search(text)) and "{{" in text and "??" not in text:
            yield put(way, text[: found.end(3)] + "zz" + text[found.end(3) :])


def misspell_an_input(document: Object) -> Iterator[Change]:
    for way, text in texts(document["spec"], ("spec",)):
        found = re.search(r"inputs\.(?:parameters|artifacts)(?:\.|\[')([\w-]+)", text)
        if found and "{{" in text:
            yield put(way, text[: found.end(1)] + "zz" + text[found.end(1) :])


def reverse_an_edge(document: Object) -> Iterator[Change]:
    for way, task, others in tasks(document):
        names = [one["name"] for one in others]
        for name in [one for one in re.findall(r"[\w-]+", task.get("depends", "")) if one in names]:
            before = (*way[:-1], names.index(name))

            def change(document: Object, before: Way = before, after: str = task["name"]) -> None:
                at(document, before)["depends"] = after

            yield change, way[:-1]


def rename_a_template(document: Object) -> Iterator[Change]:
    used = {task["template"]: way for way, task, _ in tasks(document) if "template" in task}
    text = json.dumps(document)
    for way, template in templates(document):
        if (name := template["name"]) in used:
            change, place = put((*way, "name"), f"{name}-x")
            uses = len(re.findall(rf'"(?:template|entrypoint|onExit)": "{name}"', text))
            yield change, place if uses > 1 else (*used[name], "template")


def misspell_a_template(document: Object) -> Iterator[Change]:
    for way, task, _ in tasks(document):
        if "template" in task:
            yield put((*way, "template"), task["template"] + "x")


def misspell_the_entrypoint(document: Object) -> Iterator[Change]:
    yield put(("spec", "entrypoint"), document["spec"]["entrypoint"] + "x")


def drop_the_entrypoint(document: Object) -> Iterator[Change]:
    if document["kind"] == "Workflow":
        yield drop(("spec", "entrypoint"))


def misspell_a_dependency(document: Object) -> Iterator[Change]:
    for way, task, _ in tasks(document):
        if "depends" in task:
            yield put((*way, "depends"), task["depends"] + "x")


def spoil_a_dependency(document: Object) -> Iterator[Change]:
    for way, task, _ in tasks(document):
        if "depends" in task:
            yield put((*way, "depends"), task["depends"] + " &&")


def forget_a_dependency(document: Object) -> Iterator[Change]:
    for way, task, _ in tasks(document):
        if re.fullmatch(r"[\w-]+", task.get("depends", "")) and "tasks" in str(task.get("arguments")):
            yield drop((*way, "depends"), way)


def spoil_an_expression(document: Object) -> Iterator[Change]:
    for way, text in texts(document["spec"], ("spec",)):
        if "{{=" in text:
            yield put(way, text.replace("{{=", "{{=(", 1))


def spoil_a_condition(document: Object) -> Iterator[Change]:
    for way, task, _ in tasks(document):
        if "when" in task:
            yield put((*way, "when"), "{{workflow.name}} === ((")


def spoil_a_quantity(document: Object) -> Iterator[Change]:
    for way, pod in pods(document):
        for part, amounts in pod.get("resources", {}).items():
            for name in amounts:
                yield put((*way, "resources", part, name), "4GB")


def ask_for_half_a_gpu(document: Object) -> Iterator[Change]:
    for way, pod in pods(document):
        for name in pod.get("resources", {}).get("limits", ()):
            if "/" in name:
                yield put((*way, "resources", "limits", name), "500m")


def spoil_a_duration(document: Object) -> Iterator[Change]:
    for way, template in templates(document):
        if "timeout" in template:
            yield put((*way, "timeout"), "5 parsecs")


def spoil_a_task_name(document: Object) -> Iterator[Change]:
    for way, task, _ in tasks(document):
        yield put((*way, "name"), task["name"] + "_x y")


def repeat_a_task(document: Object) -> Iterator[Change]:
    for way, task, others in tasks(document):
        if len(others) > 1 and others[0] is not task:
            yield put((*way, "name"), others[0]["name"])


def repeat_a_template(document: Object) -> Iterator[Change]:
    first = document["spec"]["templates"][0]["name"]
    for way, _ in list(templates(document))[1:]:
        change, _ = put((*way, "name"), first)
        yield change, ("spec", "templates")


def misspell_a_field(document: Object) -> Iterator[Change]:
    for way, template in templates(document):
        for field in template:
            yield rename((*way, field), field + "x")
    for way, task, _ in tasks(document):
        for field in task:
            yield rename((*way, field), field + "x")


def write_a_list_for_a_text(document: Object) -> Iterator[Change]:
    for way, pod in pods(document):
        yield put((*way, "image"), [pod["image"]])


def forget_the_image(document: Object) -> Iterator[Change]:
    for way, _ in pods(document):
        yield drop((*way, "image"))


def forget_what_a_template_runs(document: Object) -> Iterator[Change]:
    for way, template in templates(document):
        for body in ("container", "script", "dag"):
            if body in template:
                yield drop((*way, body))


def run_two_things(document: Object) -> Iterator[Change]:
    for way, _ in templates(document):
        change, _ = put((*way, "suspend"), {})
        yield change, way


def mount_an_unknown_volume(document: Object) -> Iterator[Change]:
    for way, pod in pods(document):
        for index in range(len(pod.get("volumeMounts", ()))):
            yield put((*way, "volumeMounts", index, "name"), "no-such-volume")


def mount_twice_at_one_path(document: Object) -> Iterator[Change]:
    for way, pod in pods(document):
        for index in range(1, len(pod.get("volumeMounts", ()))):
            change, _ = put((*way, "volumeMounts", index, "mountPath"), pod["volumeMounts"][0]["mountPath"])
            yield change, (*way, "volumeMounts", index)


def use_an_item_without_a_loop(document: Object) -> Iterator[Change]:
    for way, task, _ in tasks(document):
        if not task.keys() & {"withItems", "withParam"}:
            for index in range(len(task.get("arguments", {}).get("parameters", ()))):
                yield put((*way, "arguments", "parameters", index, "value"), "{{item.x}}")


def use_a_field_that_no_item_has(document: Object) -> Iterator[Change]:
    for way, task, _ in tasks(document):
        if isinstance((task.get("withItems") or [None])[0], dict):
            for index in range(len(task["arguments"]["parameters"])):
                yield put((*way, "arguments", "parameters", index, "value"), "{{item.nowhere}}")


def loop_in_two_ways(document: Object) -> Iterator[Change]:
    for way, task, _ in tasks(document):
        if "withItems" in task:
            change, _ = put((*way, "withParam"), "[1]")
            yield change, way


def a_policy_that_there_is_not(document: Object) -> Iterator[Change]:
    for way, template in templates(document):
        if "retryStrategy" in template:
            yield put((*way, "retryStrategy", "retryPolicy"), "Sometimes")


def no_task_at_a_time(document: Object) -> Iterator[Change]:
    for way, template in templates(document):
        if "parallelism" in template:
            yield put((*way, "parallelism"), 0)


def a_selector_that_is_no_text(document: Object) -> Iterator[Change]:
    for way, template in templates(document):
        for key in template.get("nodeSelector", ()):
            yield put((*way, "nodeSelector", key), True)


def an_operator_that_there_is_not(document: Object) -> Iterator[Change]:
    for way, template in templates(document):
        for index in range(len(template.get("tolerations", ()))):
            yield put((*way, "tolerations", index, "operator"), "Like")


def a_control_character(document: Object) -> Iterator[Change]:
    for way, one, _ in arguments(document):
        if "value" in one and "{{" not in one["value"]:
            yield put((*way, "value"), "bell \x07")


def nothing_to_read(document: Object) -> Iterator[Change]:
    for way, template in templates(document):
        if "dag" not in template:
            for index, one in enumerate(template.get("outputs", {}).get("parameters", ())):
                if "valueFrom" in one:
                    yield drop((*way, "outputs", "parameters", index, "valueFrom"))


def forget_an_input(document: Object) -> Iterator[Change]:
    for way, template in templates(document):
        for index, one in enumerate(template.get("inputs", {}).get("parameters", ())):
            if f"inputs.parameters.{one['name']}}}" in str(template):
                change, _ = drop((*way, "inputs", "parameters", index))
                yield change, way


def a_kind_that_there_is_not(document: Object) -> Iterator[Change]:
    yield put(("kind",), document["kind"] + "s")


MUTATIONS: tuple[Callable[[Object], Iterator[Change]], ...] = (
    drop_an_argument,
    misspell_an_argument,
    misspell_a_task_in_a_reference,
    misspell_an_output,
    misspell_an_input,
    reverse_an_edge,
    rename_a_template,
    misspell_a_template,
    misspell_the_entrypoint,
    drop_the_entrypoint,
    misspell_a_dependency,
    spoil_a_dependency,
    forget_a_dependency,
    spoil_an_expression,
    spoil_a_condition,
    spoil_a_quantity,
    ask_for_half_a_gpu,
    spoil_a_duration,
    spoil_a_task_name,
    repeat_a_task,
    repeat_a_template,
    misspell_a_field,
    write_a_list_for_a_text,
    forget_the_image,
    forget_what_a_template_runs,
    run_two_things,
    mount_an_unknown_volume,
    mount_twice_at_one_path,
    use_an_item_without_a_loop,
    use_a_field_that_no_item_has,
    loop_in_two_ways,
    a_policy_that_there_is_not,
    no_task_at_a_time,
    a_selector_that_is_no_text,
    an_operator_that_there_is_not,
    a_control_character,
    nothing_to_read,
    forget_an_input,
    a_kind_that_there_is_not,
)


def is_found(document: Object, change: Change) -> bool:
    """Whether an error is reported at the lines of the change."""
    broken = deepcopy(document)
    alter, place = change
    alter(broken)
    (parsed,), _ = read(emit([broken]), "broken.yaml")
    node = parsed.region(place)
    found = [parsed.place(one) for one in lint(parsed.body) if one.finding.severity == "error"]
    return any(one.line <= node.end_line and node.line <= one.end_line for one in found)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_every_mutation_is_made_somewhere(mutation: Callable[[Object], Iterator[Change]]) -> None:
    changes = ((document, change) for document in manifests() for change in mutation(document))
    first = next(changes, None)
    assert first is not None
    assert is_found(*first)


def test_there_is_nothing_wrong_without() -> None:
    for document in manifests():
        assert [one for one in lint(document) if one.finding.severity == "error"] == []


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(st.data())
def test_an_error_is_reported_at_the_broken_place(data: st.DataObject) -> None:
    mutation = data.draw(st.sampled_from(MUTATIONS))
    document = data.draw(st.sampled_from([one for one in manifests() if next(mutation(one), None)]))
    changes = list(mutation(document))
    assert is_found(document, data.draw(st.sampled_from(changes)))
