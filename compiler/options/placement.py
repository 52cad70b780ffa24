"""Where a pod may run, in Kubernetes' own terms: label keys, operators, tolerations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from flowdsl.compiler import mistakes
from flowdsl.compiler.ir import Placement
from flowdsl.compiler.options.reading import Wrong, entries, object_name, said, text_option
from flowdsl.compiler.options.resources import gpu_memory, gpu_products, resource_name, wanted
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.names import is_label_value, is_qualified_name
from flowdsl.value import is_value

if TYPE_CHECKING:
    from flowdsl.compiler.options.reading import Reader
    from flowdsl.gpu import GPU

Term = tuple[str, str, tuple[str, ...]]

#: Short names for the labels that Kubernetes and the usual discovery tools put on nodes.
#: Sources: kubernetes.io/docs/reference/labels-annotations-taints; NVIDIA GPU feature discovery.
LABELS = {
    "arch": "kubernetes.io/arch",
    "host": "kubernetes.io/hostname",
    "os": "kubernetes.io/os",
    "instance": "node.kubernetes.io/instance-type",
    "zone": "topology.kubernetes.io/zone",
    "region": "topology.kubernetes.io/region",
    "gpu.product": "nvidia.com/gpu.product",
    "gpu.memory": "nvidia.com/gpu.memory",
    "gpu.count": "nvidia.com/gpu.count",
    "gpu.family": "nvidia.com/gpu.family",
}
_MEBI = 1024 * 1024
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def settled(found: Mapping[str, Any]) -> Placement:
    """The placement that the options of a step come to."""
    terms = found.get("where", ())
    tolerations = list(found.get("tolerations", ()))
    gpu = wanted(found)
    if gpu is not None:
        terms = tuple((*gpu_terms(gpu), *group) for group in terms or ((),))
        terms = tuple(group for group in terms if group)
        if (extra := gpu_toleration(gpu)) not in tolerations:
            tolerations.append(extra)
    return Placement(found.get("node", {}), terms, tuple(tolerations), found.get("priority"))


def where_terms(text: str) -> tuple[tuple[Term, ...], ...]:
    """A `where` text as node selector terms with the real label keys; raises `GrammarError`."""
    from flowdsl.grammar.where import where

    return tuple(
        tuple(
            (LABELS.get(term.key, term.key), term.operator, _values(term.key, term.operator, term.values))
            for term in group
        )
        for group in where(text)
    )


def _values(key: str, operator: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """The values of a term; memory of a GPU is labelled in MiB."""
    if key != "gpu.memory" or operator not in ("Gt", "Lt"):
        return values
    number = int(values[0])
    if abs(number) < _MEBI:  # written without a suffix: MiB already
        return values
    # Gt counts whole MiB below the limit, Lt those above it.
    return (str(number // _MEBI if operator == "Gt" else math.ceil(number / _MEBI)),)


def gpu_terms(gpu: GPU) -> tuple[Term, ...]:
    """The node labels that a GPU request asks for; raises `GrammarError` for a bad memory."""
    terms: list[Term] = []
    if products := gpu_products(gpu):
        terms.append((LABELS["gpu.product"], "In", products))
    least = gpu_memory(gpu)
    if least is not None:
        terms.append((LABELS["gpu.memory"], "Gt", (str(least - 1),)))
    return tuple(terms)


def gpu_toleration(gpu: GPU) -> dict[str, str]:
    """The toleration for the usual taint of GPU nodes, whatever its value is.

    Source: the taint key is the resource's by convention, with differing values, so `Exists`.
    """
    key = "nvidia.com/gpu" if gpu.mig is not None else resource_name(gpu)
    return {"key": key, "operator": "Exists", "effect": "NoSchedule"}


def node_selector(labels: Mapping[object, object]) -> dict[str, str]:
    """A node selector with the real label keys; raises `GrammarError`."""
    found: dict[str, str] = {}
    for key, value in labels.items():
        if not isinstance(key, str) or not is_qualified_name(LABELS.get(key, key)):
            raise GrammarError(str(key), 0, len(str(key)), "a label name")
        if isinstance(value, bool) or not isinstance(value, (str, int)) or not is_label_value(str(value)):
            shown = f"{key}: {value!r}"
            raise GrammarError(shown, 0, len(shown), "a label value in text: letters, digits, `-`, `_`, `.`")
        if key == "nvidia.com/gpu":
            raise GrammarError(key, 0, len(key), "a label; to ask for a GPU write gpu=1")
        found[LABELS.get(key, key)] = str(value)
    return found


def toleration(written: object) -> dict[str, str]:
    """A toleration from kubectl's notation for taints, `key[=value][:effect]`, or from Kubernetes' fields.

    Raises `GrammarError`. Source: kubectl taint; core/v1 Toleration.
    """
    if isinstance(written, Mapping):
        fields = cast("Mapping[object, object]", written)
        return _toleration_fields({str(key): str(value) for key, value in fields.items()})
    if not isinstance(written, str):
        raise GrammarError(repr(written), 0, len(repr(written)), "a text such as 'spot=true:NoSchedule'")
    body, colon, effect = written.partition(":")
    key, equals, value = body.partition("=")
    if not is_qualified_name(key):
        raise GrammarError(written, 0, len(key), "the key of a taint, as in 'spot=true:NoSchedule'")
    if colon and effect not in _EFFECTS:
        raise GrammarError(written, len(body) + 1, len(written), f"one of {', '.join(_EFFECTS)}")
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
    if effect and effect not in _EFFECTS:
        raise GrammarError(f"effect: {effect}", 8, 8 + len(effect), f"one of {', '.join(_EFFECTS)}")
    return {field: fields[field] for field in known if field in fields}


def _node(name: str, written: object) -> Mapping[str, str]:

    def entry(key: Any, value: Any) -> tuple[str, str]:
        if is_value(value):
            raise Wrong(mistakes.RunTimeOption(f"{name}[{key!r}]"), f"item:{key}")
        try:
            return next(iter(node_selector({key: value}).items()))
        except GrammarError as error:
            part = "key" if error.text == key else "item"
            raise Wrong(mistakes.BadNode(error.text, error.expected), f"{part}:{key}") from None

    return dict(entries(name, written, "a dict of labels", entry))


def _where(name: str, written: object) -> Any:
    text = text_option(name, written)
    try:
        return where_terms(text)
    except GrammarError as error:
        found = f"`{error.found}`" if error.found else "the end"
        raise Wrong(mistakes.BadWhere(error.expected, found, error.start + 1)) from None


def _tolerations(name: str, written: object) -> tuple[Mapping[str, str], ...]:
    if not isinstance(written, (list, tuple)):
        raise Wrong(mistakes.OptionType(name, "a list", said(written)))
    try:
        return tuple(toleration(one) for one in cast("list[object]", written))
    except GrammarError as error:
        raise Wrong(mistakes.BadToleration(error.text, error.expected)) from None


READERS: dict[str, Reader] = {
    "node": _node,
    "where": _where,
    "tolerations": _tolerations,
    "priority": object_name,
}
