"""Asks people whether suspended steps may go on, and for the values that these need."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from flowdsl.cli.display.texts import visible
from flowdsl.cli.process import agreed, can_ask, err
from flowdsl.runtime.local.controller.names import any_string
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.substitutes import choices
from flowdsl.runtime.names import task_of
from flowdsl.runtime.parts import part, several

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.runtime.local.controller.node import Node


def wanted(node: Node) -> list[str]:
    """The values without which a suspended node cannot be resumed: outputs that have no default."""
    return [
        str(one["name"])
        for one in several(node.outputs, "parameters")
        if part(one, "valueFrom").get("default") is None
    ]


def unasked(node: Node) -> dict[str, str] | None:
    """The answer of a suspended node if everything is approved: an empty one, unless it needs values."""
    return None if wanted(node) else {}


def waiting(nodes: list[Node], again: str) -> str:
    """The message that a run waits for an answer, with the command that gives it."""
    answers = dict.fromkeys(f"--fake {_step(node)}.{name}=VALUE" for node in nodes for name in wanted(node))
    free = [node for node in nodes if not wanted(node)]
    if answers:
        who, how = "an answer to", " ".join([again, *answers, *(["--approve"] if free else [])])
    else:
        who, how = "somebody to approve", f"{again} --approve"
    lines = [f"waits for {who} {', '.join(dict.fromkeys(map(_called, nodes)))}:\n  {how}\n"]
    for node in nodes:
        lines += [
            f"  {_called(node)}.{name} is one of {', '.join(choices(node.inputs, name))}\n"
            for name in wanted(node)
            if choices(node.inputs, name)
        ]
    return "".join(dict.fromkeys(lines))


def _called(node: Node) -> str:
    """The name of a node in its graph; in a run of one step, that of its template."""
    return node.template if node.name == node.display else node.display


def _step(node: Node) -> str:
    """The name that `--fake` uses: the same for all rounds of a loop."""
    return task_of(_called(node), "")


def ask(node: Node, travelling: Callable[[str, str], str]) -> dict[str, str] | None:
    """Ask whether a suspended node may be resumed, if a user can answer.

    `travelling` converts an answer to the value of an output; its RunError says why that is impossible.
    """
    if not can_ask():
        return None
    supplied: dict[str, str] = {}
    if node.message:
        err(f"{_called(node)}: {visible(node.message)}\n")
    asked = [str(one["name"]) for one in several(node.outputs, "parameters")]
    for one in several(node.inputs, "parameters"):
        if one["name"] not in asked:
            err(f"{_called(node)}: {one['name']} is {visible(any_string(one.get('value')))}\n")
        if one.get("description"):
            err(f"{_called(node)}: {visible(str(one['description']))}\n")
    for one in several(node.outputs, "parameters"):
        default = part(one, "valueFrom").get("default")
        text = _value(node, str(one["name"]), default, travelling)
        if text:
            supplied[one["name"]] = text
    return supplied if agreed(f"{_called(node)}: go on") else None


def _value(node: Node, name: str, default: object, travelling: Callable[[str, str], str]) -> str:
    """An answer that the step accepts; nothing for its default, or at the end of the input."""
    allowed = choices(node.inputs, name)
    said = f" ({', '.join(allowed)})" if allowed else ""
    usual = "" if default is None else f" [{default}]"
    while True:
        err(f"{_called(node)}: value of {name}{said}{usual}: ")
        line = sys.stdin.readline()
        text = line.rstrip("\n")
        if not line or (not text and default is not None):
            return ""
        if not text or (allowed and text not in allowed):
            continue
        try:
            return travelling(name, text)
        except RunError as error:
            err(f"{_called(node)}: {visible(str(error))}\n")
