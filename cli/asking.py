"""What a run asks people: whether suspended steps go on, and with which answers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from flowdsl.cli.process import err
from flowdsl.runtime.local.shapes import part, several
from flowdsl.runtime.local.substitutes import task_of

if TYPE_CHECKING:
    from flowdsl.runtime.local.node import Node


def wanted(node: Node) -> list[str]:
    """What a suspended node cannot go on without: outputs that have no default."""
    return [
        str(one["name"])
        for one in several(node.outputs, "parameters")
        if part(one, "valueFrom").get("default") is None
    ]


def waiting(nodes: list[Node], again: str) -> str:
    """Whom a run waits for, and the command that answers."""
    answers = [f"--fake {task_of(node.name, '')}.{name}=VALUE" for node in nodes for name in wanted(node)]
    free = [node for node in nodes if not wanted(node)]
    if answers:
        who, how = "an answer to", " ".join([again, *answers, *(["--approve"] if free else [])])
    else:
        who, how = "somebody to approve", f"{again} --approve"
    return f"waits for {who} {', '.join(node.display for node in nodes)}:\n  {how}\n"


def ask(node: Node) -> dict[str, str] | None:
    """Ask whether a suspended node may go on, where somebody can answer."""
    if not sys.stdin.isatty() or not sys.stderr.isatty():
        return None
    supplied: dict[str, str] = {}
    if node.message:
        err(f"{node.display}: {node.message}\n")
    for one in several(node.outputs, "parameters"):
        default = part(one, "valueFrom").get("default")
        err(f"{node.display}: value of {one['name']}{'' if default is None else f' [{default}]'}: ")
        text = sys.stdin.readline().rstrip("\n")
        if text:
            supplied[one["name"]] = text
    err(f"{node.display}: go on? [y/N] ")
    return supplied if sys.stdin.readline().strip().lower() in ("y", "yes") else None
