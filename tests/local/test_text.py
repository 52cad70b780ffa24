"""What becomes of a text that a step hands on: Argo puts it into JSON and evaluates what it finds there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from flowdsl.compiler.evaluation import go_json
from flowdsl.runtime.local.controller import events, items
from flowdsl.runtime.local.controller.sprintf import sprintf
from flowdsl.runtime.local.controller.tags import ArgoError
from tests.local.simulation import Pod, Simulation, leaf, simulate, workflow

HANDED_ON = "{{tasks.g.outputs.parameters.v}}"

EXACT = [
    "",
    " ",
    'say "yes"',
    "it's",
    "two\nlines\r\n",
    "a\tb",
    "back\\slash \\n \\\\ \\",
    "é ü ß 漢字",
    "😀 🏁",
    "\u2028",
    "<b> & 'c'",
    '"x"',
    "null",
    "true",
    "1e-5",
    '{"a": [1, "b"]}',
    '{"a":{"b":"}}"}}',
    "$ $$ $(NAME) ${NAME}",
    "{{ x }}",
    "{{unknown.thing}}",
    "{{item}}",
    "{{=item}}",
    "{{=inputs.parameters.typo}}",
    "{{inputs.parameters.m}}",
    "{ {a} }",
    "{{",
    "{{ never closed",
    "%d %s",
]

#: Go's strconv.Quote has escapes for these that JSON lacks.
REFUSED = ["\x07", "\x00", "a\x1bb", "\x7f", "\U000e0001", "\U0001f3f4\U000e0067\U000e007f"]


def handed_on(text: str, value: str = HANDED_ON, taken: str = "{{inputs.parameters.m}}") -> Simulation:
    """A run in which a step takes the output of another one."""
    tasks: list[dict[str, Any]] = [
        {"name": "g", "template": "makes"},
        {
            "name": "take",
            "template": "takes",
            "dependencies": ["g"],
            "arguments": {"parameters": [{"name": "m", "value": value}]},
        },
    ]
    outputs: dict[str, Any] = {"parameters": [{"name": "v", "valueFrom": {"path": "/v"}}]}
    manifest = workflow(
        {"name": "main", "dag": {"tasks": tasks}},
        leaf("makes", outputs=outputs),
        {**leaf("takes", "m"), "container": {"image": "i", "args": [taken]}},
    )

    def world(action: events.StartPod) -> Pod:
        made = {"parameters": [{"name": "v", "value": text}]}
        return Pod(events.Outcome("Succeeded", "", made if action.name == "run.g" else None))

    return simulate(manifest, world)


def arrived(run: Simulation) -> Any:
    """The argument of the pod that took the text."""
    (pod,) = [pod for pod in run.pods.values() if pod.name == "run.take"]
    return pod.template["container"]["args"][0]


@pytest.mark.parametrize("text", EXACT)
def test_most_texts_arrive_as_they_are(text: str) -> None:
    run = handed_on(text)
    assert run.inputs("take") == {"m": text}
    assert arrived(run) == text


@pytest.mark.parametrize("text", REFUSED)
def test_control_characters_make_the_step_an_error(text: str) -> None:
    run = handed_on(text)
    assert run.nodes["take"].phase == "Error"
    assert run.nodes["take"].message == (
        "cannot finish template replacement because the result was invalid JSON"
    )


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("{{workflow.name}}", "run"),
        ("{{ workflow.name }}!", "run!"),
        ("{{=1+1}}", "2"),
        ("{{='a' + \"b\"}}", "ab"),
        ("{{=nosuch(1)}}", "{{=nosuch(1)}}"),
    ],
)
def test_a_text_that_looks_like_a_tag_is_evaluated(text: str, becomes: str) -> None:
    assert arrived(handed_on(text)) == becomes


def test_an_expression_that_is_not_closed_reaches_into_the_json_around_it() -> None:
    run = handed_on("{{=bad syntax")
    assert run.nodes["take"].phase == "Error"
    assert "errored: failed to unmarshall JSON expression: " in run.nodes["take"].message


def test_an_expression_that_is_none_makes_the_step_an_error() -> None:
    run = handed_on("{{=1 +}}")
    assert run.nodes["take"].phase == "Error"
    assert "errored: failed to evaluate expression: " in run.nodes["take"].message


@pytest.mark.parametrize("text", [*EXACT, *REFUSED, "{{workflow.name}}", "{{=1+1}}", "{{=bad syntax"])
def test_json_without_braces_and_dollars_in_its_texts_arrives_as_it_is(text: str) -> None:
    encoded = re.sub(
        r'"(?:[^"\\]|\\.)*"',
        lambda match: match[0].replace("{", r"\u007b").replace("$", r"\u0024"),
        json.dumps([text]),
    )
    assert json.loads(arrived(handed_on(encoded))) == [text]


def test_dollars_are_doubled_by_an_expression() -> None:
    value = "{{=replace(tasks.g.outputs.parameters.v, '$', '$$')}}"
    assert arrived(handed_on("a$b $(NAME)", value)) == "a$$b $$(NAME)"


def test_an_expression_sees_the_text_as_it_is() -> None:
    text = 'a "b"\n\\ é'
    assert arrived(handed_on(text, "{{=tasks.g.outputs.parameters.v}}")) == text
    assert arrived(handed_on(text, "{{=len(tasks.g.outputs.parameters.v)}}")) == "9"


@pytest.mark.parametrize("text", REFUSED[:4])
def test_control_characters_pass_where_only_expressions_take_them(text: str) -> None:
    run = handed_on(text, "{{=tasks.g.outputs.parameters.v}}", "{{=inputs.parameters['m']}}")
    assert arrived(run) == text


def test_a_tag_in_a_tag_is_replaced_from_within() -> None:
    assert arrived(handed_on("name", "{{workflow.{{tasks.g.outputs.parameters.v}}}}")) == "run"


def test_script_source_keeps_what_is_no_variable() -> None:
    source = "print('{{ x }} {{user}} {{user.name}} {{workflowx}} $$ $(A)')"
    manifest = workflow({"name": "main", "script": {"image": "i", "command": ["sh"], "source": source}})
    (pod,) = simulate(manifest).pods.values()
    assert pod.template["script"]["source"] == source


def test_a_large_text_arrives() -> None:
    text = "x" * 300_000
    assert arrived(handed_on(text)) == text


def test_half_of_a_pair_is_another_sign() -> None:
    assert [one.variables["item"] for one in items.of_text('["a\\ud83d", "\\ud83d\\ude00"]')] == [
        "a\ufffd",
        "\U0001f600",
    ]


def test_numbers_of_a_sequence_have_64_bits() -> None:
    with pytest.raises(ArgoError, match='parsing "99999999999999999999": value out of range'):
        items.of_sequence({"count": "99999999999999999999"})


def recorded(name: str) -> list[tuple[str, str]]:
    """The lines of a file with what Go answered, each a question and the answer as JSON."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [
        (line.rpartition("  =>  ")[0], json.loads(line.rpartition("  =>  ")[2])) for line in text.splitlines()
    ]


def test_numbers_of_a_sequence_are_formatted_as_go_does() -> None:
    """By fmt.Sprintf: a format and a number in each line."""
    expected = {tuple(asked.rsplit("  ", 1)): text for asked, text in recorded("formats.txt")}
    assert {(form, number): sprintf(form, int(number)) for form, number in expected} == expected


def test_what_is_no_json_is_said_as_go_says_it() -> None:
    """By encoding/json of Go 1.26 without its second version: a text as JSON in each line."""

    def fault(text: str) -> str:
        with pytest.raises(go_json.JsonError) as caught:
            go_json.loads(text)
        return str(caught.value)

    expected = {json.loads(asked): message for asked, message in recorded("json_faults.txt")}
    assert {text: fault(text) for text in expected} == expected
