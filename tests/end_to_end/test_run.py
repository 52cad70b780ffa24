"""What a compiled manifest must never lead to is noticed by the runs of these tests."""

from __future__ import annotations

from typing import Any

import pytest

from tests.end_to_end.run import Clash, Hang, Json, LiteralTag
from tests.end_to_end.world import World


def workflow(value: str, key: str) -> Json:
    """A step that stores a file, and one behind it that is given a value and stores another file."""
    tasks: list[Json] = [
        {"name": "one", "template": "one"},
        {
            "name": "two",
            "template": "two",
            "depends": "one",
            "arguments": {"parameters": [{"name": "v", "value": value}]},
        },
    ]

    def step(name: str, key: str, **more: Any) -> Json:
        out: Json = {"name": "o", "path": "/tmp/o", "archive": {"none": {}}, "s3": {"key": key}}
        container = {"image": "a:1", "command": ["sh", "-c", "echo '{{inputs.parameters.v}}' > /tmp/o"]}
        return {"name": name, **more, "container": container, "outputs": {"artifacts": [out]}}

    given: Json = {"inputs": {"parameters": [{"name": "v", "value": "none"}]}}
    templates = [
        {"name": "main", "dag": {"tasks": tasks}},
        step("one", "files", **given),
        step("two", key, **given),
    ]
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"generateName": "run-"},
        "spec": {"entrypoint": "main", "templates": templates},
    }


def test_a_run_is_seen_by_its_tasks(world: World) -> None:
    run = world.run(workflow("{{=1 + 1}}", "more"))
    assert run.phases() == {"": "Succeeded", "one": "Succeeded", "two": "Succeeded"}
    assert run.objects == ["files", "more"]
    file = run.file("run-00001.two", "o", world.folder)
    assert file is not None
    assert file.read_text() == "2\n"


@pytest.mark.parametrize(
    "value", ["{{=inputs.parameters.typo}}", "{{=nosuch}}", "{{inputs.parameters.typo}}"]
)
def test_a_tag_that_would_pass_as_text_is_noticed(world: World, value: str) -> None:
    with pytest.raises(LiteralTag):
        world.run(workflow(value, "more"))


@pytest.mark.parametrize(
    "value", ["{{tasks.one.outputs.parameters.typo}}", "{{=tasks.one.outputs.parameters.typo}}"]
)
def test_a_run_that_would_never_end_is_noticed(world: World, value: str) -> None:
    with pytest.raises(Hang):
        world.run(workflow(value, "more"))


@pytest.mark.parametrize("key", ["files", "files/below"])
def test_files_in_one_place_are_noticed(world: World, key: str) -> None:
    document = workflow("1", key)
    if key != "files":  # a file and a folder of one name cannot be here, as they can in an object store
        document["spec"]["templates"][1]["container"]["command"][2] = "mkdir /tmp/o && touch /tmp/o/x"
    with pytest.raises(Clash):
        world.run(document)
