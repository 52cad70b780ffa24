"""Names of nodes and pods as the controller makes them, and how it formats values that are not strings.

Sources: workflow/util/pod_name.go, NodeID in pkg/apis/workflow/v1alpha1, and anystring.go there, of Argo 4.1.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from flowdsl.compiler.evaluation.values import json_of
from flowdsl.grammar.numbers import fixed
from flowdsl.grammar.regex import regex

LEARNING = regex(r"(?:points|round)-[1-9]\d*$")
"""The tasks of a sweep that learns: they choose the points of its next trials, and run these."""

_LONGEST_PREFIX = 242  # bytes; a Kubernetes name has at most 253, the hash with its hyphen 11
_FIELDS = {
    "": ("name", "default", "value", "valueFrom", "globalName", "enum", "description"),
    "valueFrom": (
        *("path", "jsonPath", "jqFilter", "event", "parameter", "supplied", "configMapKeyRef", "default"),
        "expression",
    ),
    "configMapKeyRef": ("name", "key", "optional"),
}
"""The fields of a parameter, and of what is in it, in Argo's order."""


@lru_cache(256)
def fnv32a(text: str) -> int:
    """The 32-bit FNV-1a hash."""
    value = 0x811C9DC5
    for byte in text.encode("utf-8", "surrogatepass"):
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def node_id(run: str, name: str) -> str:
    """The id of a node. Two names may have the same: the caller handles that."""
    return name if name == run else f"{run}-{fnv32a(name)}"


def pod_name(run: str, node: str, template: str) -> str:
    """The name of the pod of a node."""
    if node == run:
        return run
    prefix = f"{run}-{template}" if template else run
    return f"{prefix[:_LONGEST_PREFIX]}-{fnv32a(node)}"


def any_string(value: Any) -> str:
    """The text of a value where the manifest may have a number or a bool."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value) if abs(value) < 2**53 else fixed(float(value))
        case float():
            return fixed(value)
        case _:
            return ""


def parameters_json(parameters: list[dict[str, Any]]) -> str:
    """Parameters as the JSON text of `inputs.parameters` and `workflow.parameters`, with fields in Argo's order."""
    return f"[{','.join(_in_order('', one) for one in parameters)}]"


def _in_order(kind: str, value: Any) -> str:
    """The JSON text of a parameter, or of its field of this name."""
    if kind not in _FIELDS:
        return json_of(any_string(value) if kind in ("default", "value") else value)
    found = [(name, value[name]) for name in _FIELDS[kind] if value.get(name) is not None]
    return f"{{{','.join(f'{json_of(name)}:{_in_order(name, one)}' for name, one in found)}}}"
