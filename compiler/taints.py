"""Taints of nodes and tolerations of pods: kubectl's notation of a taint, and which toleration covers it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.names import is_label_value, is_qualified_name

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
"""What a taint does to pods that do not tolerate it."""


def toleration(written: object) -> dict[str, str]:
    """A toleration from kubectl's notation for taints, `key[=value][:effect]`, or from Kubernetes' fields.

    Raises `GrammarError`. Source: kubectl taint; core/v1 Toleration.
    """
    if isinstance(written, Mapping):
        fields = cast("Mapping[object, object]", written)
        return _toleration_fields({str(key): str(value) for key, value in fields.items()})
    if not isinstance(written, str):
        raise GrammarError(repr(written), 0, len(repr(written)), "a string such as 'spot=true:NoSchedule'")
    body, colon, effect = written.partition(":")
    key, equals, value = body.partition("=")
    if not is_qualified_name(key):
        raise GrammarError(written, 0, len(key), "the key of a taint, as in 'spot=true:NoSchedule'")
    if colon and effect not in EFFECTS:
        raise GrammarError(written, len(body) + 1, len(written), f"one of {', '.join(EFFECTS)}")
    if not is_label_value(value):
        raise GrammarError(written, len(key) + 1, len(body), "a label value")
    found = {"key": key, "operator": "Equal" if equals else "Exists"}
    if equals:
        found["value"] = value
    if effect:
        found["effect"] = effect
    return found


def _toleration_fields(fields: dict[str, str]) -> dict[str, str]:
    known = ("key", "operator", "value", "effect")
    for field in fields:
        if field not in known:
            raise GrammarError(field, 0, len(field), f"one of {', '.join(known)}")
    operator = fields.get("operator", "Equal")
    if operator not in ("Equal", "Exists"):
        raise GrammarError(f"operator: {operator}", 10, 10 + len(operator), "Equal or Exists")
    if operator == "Exists" and fields.get("value"):
        raise GrammarError(f"value: {fields['value']}", 0, 5, "no value beside Exists")
    effect = fields.get("effect", "")
    if effect and effect not in EFFECTS:
        raise GrammarError(f"effect: {effect}", 8, 8 + len(effect), f"one of {', '.join(EFFECTS)}")
    return {field: fields[field] for field in known if field in fields}


def tolerates(toleration: Mapping[str, object], taint: Mapping[str, object]) -> bool:
    """Whether a toleration covers a taint, each with Kubernetes' fields; what is empty counts as left out.

    Source: core/v1, Toleration.ToleratesTaint.
    """
    if any(toleration.get(field) and toleration[field] != taint.get(field) for field in ("effect", "key")):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and str(toleration.get("value") or "") == str(taint.get("value") or "")


def notation(taint: Mapping[str, object]) -> str:
    """A taint as kubectl writes it: `key[=value][:effect]`."""
    value, effect = taint.get("value"), taint.get("effect")
    return f"{taint.get('key')}{f'={value}' if value else ''}{f':{effect}' if effect else ''}"
