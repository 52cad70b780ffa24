"""The replacement of tags in the stand-in against what a real controller did."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cluster.items import item, raw_items, yaml_to_json
from tests.cluster.tags import ArgoError, Missing, Strict, replaced

SCOPE: dict[str, Any] = {
    "workflow.name": "wf-1",
    "inputs.parameters.plain": 'say "hi"\n\\',
    "inputs.parameters.tag": "{{workflow.name}}",
    "inputs.parameters.sum": "{{=1+1}}",
    "inputs.parameters.bell": "\x07",
    "tasks.gone.outputs.parameters.v": None,
    "tasks.loop.outputs.parameters": '[{"v":"1"}]',
    "tasks.loop.outputs.parameters.v": '["1"]',
}


@pytest.mark.parametrize(
    ("text", "strict", "result"),
    [
        ("{{inputs.parameters.plain}}", "nothing", 'say "hi"\n\\'),
        ("{{ inputs.parameters.plain }}!", "nothing", 'say "hi"\n\\!'),
        ("{{=inputs.parameters['plain']}}", "nothing", 'say "hi"\n\\'),
        ("{{=inputs.parameters['bell']}}", "nothing", "\x07"),
        ("{{inputs.parameters.tag}}", "nothing", "{{workflow.name}}"),
        (
            "{{unknown.thing}} {{ x }} {{inputs.parameters.m}}",
            "nothing",
            "{{unknown.thing}} {{ x }} {{inputs.parameters.m}}",
        ),
        ("{{=inputs.parameters.typo}}", "nothing", "{{=inputs.parameters.typo}}"),
        ("{{=inputs.parameters.typo}}", "tasks", "{{=inputs.parameters.typo}}"),
        ("{{=item}} {{item}}", "tasks", "{{=item}} {{item}}"),
        ("{{=tasks['gone'].outputs.parameters['v'] ?? 'else'}}", "tasks", "else"),
        ("{{tasks.loop.outputs.parameters}}", "tasks", '[{"v":"1"}]'),
        ("{{=tasks['loop'].outputs.parameters['v']}}", "tasks", '["1"]'),
        ("{{tasks.later.outputs.artifacts.file}}", "tasks", "{{tasks.later.outputs.artifacts.file}}"),
        ("{{=asFloat('1e-5') * 2}} {{=1 == 1}} {{=0..2}}", "tasks", "0.00002 true [0,1,2]"),
        ("{{=1/0}}", "nothing", "{{=1/0}}"),
    ],
)
def test_results_are_those_of_the_controller(text: str, strict: Strict, result: str) -> None:
    assert replaced({"a": [text]}, SCOPE, strict) == {"a": [result]}


@pytest.mark.parametrize(
    ("text", "strict", "message"),
    [
        ("{{inputs.parameters.bell}}", "nothing", "the result was invalid JSON"),
        ("{{=bad syntax}}", "nothing", "failed to evaluate expression: unexpected token"),
        ("{{=1/0}}", "tasks", "unsupported value: +Inf"),
        ("{{=fromJSON('null')}}", "tasks", "failed to evaluate expression"),
        ("{{tasks.gone.outputs.parameters.v}}", "tasks", "output is an absent optional"),
        ("x {{tasks.gone.outputs.parameters.v}}", "nothing", "output is an absent optional"),
        ("{{open", "nothing", "Cannot find end tag"),
        ("{{item}}", "everything", "failed to resolve {{item}}"),
    ],
)
def test_errors_are_those_of_the_controller(text: str, strict: Strict, message: str) -> None:
    with pytest.raises(ArgoError) as error:
        replaced([text], SCOPE, strict)
    assert message in str(error.value)


@pytest.mark.parametrize("text", ["{{tasks.x.outputs.parameters.v}}", "{{=tasks.x.outputs.parameters.typo}}"])
def test_a_graph_waits_for_what_does_not_come(text: str) -> None:
    with pytest.raises(Missing):
        replaced(text, SCOPE, "tasks")


def test_data_that_looks_like_a_tag_is_evaluated_when_it_is_handed_on() -> None:
    once = replaced(["{{inputs.parameters.tag}}", "{{inputs.parameters.sum}}"], SCOPE, "nothing")
    assert replaced(once, SCOPE, "nothing") == ["wf-1", "2"]


TEXTS = ['"adam"', "a\\b", "two\nlines", "tab\t", "é"]


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")


@pytest.mark.parametrize("text", TEXTS)
def test_texts_of_items(text: str) -> None:
    """Whole items arrive as they are; texts in a map keep the escapes of their JSON."""
    (whole,) = raw_items(yaml_to_json([text]))
    assert item(whole) == {"item": text}
    (one,) = raw_items(yaml_to_json([{"v": text, "n": 3, "l": [1, "a"], "t": True}]))
    found = item(one)
    assert (found["item.v"], found["item.n"], found["item.l"], found["item.t"]) == (
        escaped(text),
        "3",
        '[1,"a"]',
        "true",
    )


def test_texts_of_maps_from_a_step() -> None:
    (one, other) = raw_items('[{"v": "\\u00e9", "w": "é \\" <"}, 7]')
    assert (item(one)["item.v"], item(one)["item.w"], item(other)["item"]) == ("\\u00e9", 'é \\" <', "7")
    assert raw_items(" [0, 1] ") == ["0", "1"]
    with pytest.raises(ValueError, match="Expecting value"):
        raw_items("not a list")
    with pytest.raises(ArgoError, match="withItems expected"):
        item("null")
