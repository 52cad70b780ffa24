"""The items of loops as Argo keeps them, and what they are called in a task.

Source: processItem in workflow/controller/operator.go and pkg/apis/workflow/v1alpha1/item.go of Argo 4.1.2.
"""

from __future__ import annotations

import json
from typing import Any

from flowdsl.runtime.expressions.values import json_of
from tests.cluster.golang import fields
from tests.cluster.syntax import Unsupported
from tests.cluster.tags import ArgoError


def yaml_to_json(items: list[Any]) -> str:
    """The items of a manifest as Kubernetes keeps them; it rewrites floats, which are therefore refused."""
    values = [value for one in items for value in (fields(one) or {"": one}).values()]
    if any(isinstance(value, float) for value in values):
        raise Unsupported("an item that is a float")
    return json_of(items)


def raw_items(text: str) -> list[str]:
    """The texts of the elements of a JSON list."""
    if not isinstance(json.loads(text), list):
        raise ValueError(text)
    return [element for _, element in _raw_parts(text)]


def _raw_parts(text: str) -> list[tuple[str, str]]:
    """The texts of the elements of a JSON list or object as they stand there, with their keys."""
    text = text.strip()
    decoder = json.JSONDecoder()
    found: list[tuple[str, str]] = []
    at, key = 1, ""
    end = len(text) - 1
    while text[at:end].strip():
        at += len(text[at:]) - len(text[at:].lstrip(" \n\t\r,:"))
        value, after = decoder.raw_decode(text, at)
        if text.startswith("{") and not key:
            key = value
        else:
            found.append((key, text[at:after]))
            key = ""
        at = after
    return found


def item(raw: str) -> dict[str, Any]:
    """What an item is called in the scope; the texts in a map keep the escapes of their JSON."""
    value = json.loads(raw)
    match value:
        case None:
            raise ArgoError("withItems expected string, number, list, or map")
        case str():
            return {"item": value}
        case dict():
            parts = {f"item.{key}": _bare(part) for key, part in _raw_parts(raw)}
            if "null" in parts.values():
                raise Unsupported("null in an item")
            return {"item": raw, **parts}
        case _:
            return {"item": _bare(raw)}


def _bare(raw: str) -> str:
    """The text of a value of an item: its JSON, without the quotes around a string."""
    for one, other in {"\\u003c": "<", "\\u003e": ">", "\\u0026": "&"}.items():
        raw = raw.replace(one, other)
    return raw[1:-1] if raw.startswith('"') else raw
