"""Expressions and conditions of recorded runs give what the real controller made of them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from flowdsl.compiler.evaluation.conditions import condition
from flowdsl.compiler.evaluation.evaluate import evaluate, text_of
from tests.corpus import CORPUS, corpus

Object = dict[str, Any]
FILES = sorted((CORPUS / "recordings").glob("*.json"))
_TAG = re.compile(r"\{\{=(.*?)\}\}", re.DOTALL)


def listed(node: Any, *keys: str) -> list[Any]:
    """A list deep inside an object, empty where there is none."""
    for key in keys:
        node = node.get(key) if node else None
    found: list[Any] = node or []
    return found


def parameters(node: Object, side: str) -> Object:
    """The parameters of a node by name."""
    return {each["name"]: each["value"] for each in listed(node, side, "parameters") if "value" in each}


def scope(result: Object, boundary: Object) -> Object:
    """The variables inside the template that a node ran, from what the run left behind."""
    nodes = result["status"]["nodes"]
    inside = [node for node in nodes.values() if node.get("boundaryID") == boundary["id"]]
    calls: Object = {}
    for node in inside:
        outputs: Object = {"parameters": parameters(node, "outputs")}
        if printed := listed(node, "outputs", "result"):
            outputs["result"] = printed
        name = node["displayName"]
        if node["type"] == "TaskGroup":
            each = [one for one in inside if one["displayName"].startswith(f"{name}(")]
            each.sort(key=lambda one: int(one["displayName"].partition("(")[2].partition(":")[0]))
            rows = [parameters(one, "outputs") for one in each if one["phase"] == "Succeeded"]
            keys: list[str] = [*rows[0]] if rows else []
            outputs["parameters"] = {key: json.dumps([row[key] for row in rows]) for key in keys}
            outputs["parameters"]["results"] = json.dumps(rows)
        calls[name] = {"status": node["phase"], "outputs": outputs}
    given = listed(result, "spec", "arguments", "parameters")
    workflow = {
        "name": result["metadata"]["name"],
        "parameters": {each["name"]: each.get("value") for each in given},
    }
    around = {"inputs": {"parameters": parameters(boundary, "inputs")}, "workflow": workflow}
    return {**around, "tasks": calls, "steps": calls}


def compared(result: Object) -> list[tuple[str, str, str]]:
    """Each expression without a loop around, with what it gives here and what it gave there."""
    nodes = result["status"]["nodes"]
    templates: Object = {template["name"]: template for template in listed(result, "spec", "templates")}
    found: list[tuple[str, str, str]] = []
    for node in nodes.values():
        boundary: Any = nodes.get(node.get("boundaryID", ""))
        template = templates.get(boundary["templateName"]) if boundary else None
        calls = listed(template, "dag", "tasks") or [
            one for group in listed(template, "steps") for one in group
        ]
        for call in calls:
            if call["name"] != node["displayName"] or node["phase"] in ("Omitted", "Skipped", "Error"):
                continue
            there = parameters(node, "inputs")
            for each in listed(call, "arguments", "parameters"):
                text = str(each.get("value") or "")
                if "{{=" in text and _TAG.sub("", text).count("{{") == 0 and each["name"] in there:
                    names = scope(result, boundary)
                    here = "".join(
                        text_of(evaluate(part, names)) if number % 2 else part
                        for number, part in enumerate(_TAG.split(text))
                    )
                    found.append((text, here, there[each["name"]]))
        own = templates.get(node.get("templateName", ""))
        there = parameters(node, "outputs")
        for each in listed(own, "outputs", "parameters"):
            text = str(listed(each, "valueFrom", "expression") or "")
            if text and "{{" not in text and each["name"] in there and node["phase"] == "Succeeded":
                found.append((text, text_of(evaluate(text, scope(result, node))), there[each["name"]]))
    return found


def recorded() -> list[tuple[str, str, str]]:
    recordings = corpus("recordings")
    results = [json.loads(path.read_text(encoding="utf-8"))["result"] for path in recordings.glob("*.json")]
    for path in recordings.glob("histories/*.jsonl"):
        events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        results.append([event["object"] for event in events if event.get("kind") == "wf"][-1])
    return [each for result in results for each in compared(result)]


def test_expressions_give_what_they_gave() -> None:
    found = recorded()
    assert len(found) >= 8
    assert [(text, here) for text, here, _ in found] == [(text, there) for text, _, there in found]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_conditions_that_were_false_are_false(path: Any) -> None:
    nodes = json.loads(path.read_text(encoding="utf-8"))["result"]["status"]["nodes"]
    for node in nodes.values():
        if match := re.fullmatch(r"when '(.*)' evaluated false", node.get("message") or "", re.DOTALL):
            assert condition(match[1]) is False
