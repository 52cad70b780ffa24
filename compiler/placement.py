"""Where a pod may run, in Kubernetes' own terms: label keys, operators, tolerations."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

from flowdsl.compiler import mistakes
from flowdsl.diagnostic import is_long
from flowdsl.gpu import GPU
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.names import is_label_value, is_qualified_name
from flowdsl.grammar.quantity import quantity
from flowdsl.value import is_value

if TYPE_CHECKING:
    from flowdsl.diagnostic import Finding

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
#: The extended resource of each vendor's device plug-in.
VENDORS = {
    "nvidia": "nvidia.com/gpu",
    "amd": "amd.com/gpu",
    "intel": "gpu.intel.com/i915",
    "habana": "habana.ai/gaudi",
    "google": "google.com/tpu",
}
_MEBI = 1024 * 1024
_MIG = re.compile(r"(?:\d+c\.)?\d+g\.\d+gb[-.+a-z]*")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class Wrong(Exception):
    """An option that cannot be used as written.

    `part` says which part of the option is at fault, as in `flowdsl.place.Argument`: "name" is the
    option's name, "item:NAME" and "key:NAME" are an entry of its dict, or an argument of its call.
    """

    def __init__(self, finding: Finding, part: str = "value") -> None:
        super().__init__(finding.message)
        self.finding = finding
        self.part = part


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
    if gpu.memory is not None:
        least = math.ceil(quantity(str(gpu.memory)) / _MEBI)
        terms.append((LABELS["gpu.memory"], "Gt", (str(least - 1),)))
    return tuple(terms)


def gpu_toleration(gpu: GPU, resource: str) -> dict[str, str]:
    """The toleration for the usual taint of GPU nodes, whatever its value is.

    Source: the taint key is the resource's by convention, with differing values, so `Exists`.
    """
    key = "nvidia.com/gpu" if gpu.mig is not None else resource
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


def resource_name(gpu: GPU) -> str:
    """The extended resource that a GPU request asks for."""
    if gpu.resource is not None:
        return gpu.resource
    if gpu.mig is not None:
        return f"nvidia.com/mig-{gpu.mig}"
    return VENDORS[gpu.vendor]


def gpu_request(name: str, written: object) -> GPU:
    """The GPUs that an option asks for; raises `Wrong`."""
    gpu = GPU(written) if isinstance(written, int) and not isinstance(written, bool) else written
    if not isinstance(gpu, GPU):
        raise Wrong(mistakes.OptionType(name, "a whole number or GPU(...)", said(written)))
    for field in ("count", "product", "memory", "vendor", "resource", "mig"):
        if is_value(getattr(gpu, field)):
            raise Wrong(mistakes.RunTimeOption(field), f"item:{field}")
    count = cast("object", gpu.count)
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise Wrong(mistakes.BadGpuCount(said(count)))
    for field in ("memory", "resource", "mig"):
        text: object = getattr(gpu, field)
        if text is not None and not isinstance(text, str):
            raise Wrong(mistakes.OptionType(f"{field} of GPU", "a text", said(text)), f"item:{field}")
    if gpu.resource is None and gpu.vendor not in VENDORS:
        raise Wrong(mistakes.UnknownVendor(str(gpu.vendor), tuple(VENDORS)), "item:vendor")
    if gpu.resource is not None and ("/" not in gpu.resource or not is_qualified_name(gpu.resource)):
        raise Wrong(mistakes.BadGpuResource(gpu.resource), "item:resource")
    if gpu.mig is not None:
        if gpu.resource is not None or gpu.vendor != "nvidia":
            raise Wrong(mistakes.MigVendor(), "item:mig")
        if _MIG.fullmatch(gpu.mig) is None:
            wrong = mistakes.OptionType("mig of GPU", 'a profile such as "1g.5gb"', said(gpu.mig))
            raise Wrong(wrong, "item:mig")
    for product in gpu_products(gpu):
        if "*" in product:
            raise Wrong(mistakes.ProductPattern(product), "item:product")
        if not product or not is_label_value(product):
            label = "the text of a label of nodes"
            raise Wrong(mistakes.OptionType("product of GPU", label, said(product)), "item:product")
    try:
        gpu_terms(gpu)
    except GrammarError as error:
        raise Wrong(mistakes.BadQuantity("memory", str(gpu.memory), error.expected), "item:memory") from None
    return gpu


def gpu_products(gpu: GPU) -> tuple[str, ...]:
    """The products a GPU request names; raises `Wrong`."""
    written = cast("object", gpu.product)
    products = () if written is None else (written,) if isinstance(written, str) else written
    if isinstance(products, (list, tuple)):
        given = cast("list[object]", products)
        texts = tuple(one for one in given if isinstance(one, str))
        if len(texts) == len(given):
            return texts
    have = said(cast("object", gpu.product))
    raise Wrong(mistakes.OptionType("product of GPU", "a text or a list of texts", have), "item:product")


def gpu_doubts(gpu: GPU) -> Iterator[Wrong]:
    """What a GPU request may ask for, and probably does not mean."""
    for usual in VENDORS.values():
        if gpu.resource is not None and _misspells(gpu.resource, usual):
            yield Wrong(mistakes.UnusualResource(gpu.resource, usual), "item:resource")


def said(thing: object) -> str:
    """A value for a message."""
    long = isinstance(thing, int) and is_long(thing)
    shown = "" if long else repr(thing)
    return type(thing).__name__ if long or len(shown) > 60 else shown


def _misspells(text: str, name: str) -> bool:
    """Whether a text is a name with one character more, less or other."""
    if text == name or abs(len(text) - len(name)) > 1:
        return False
    same = next((at for at, (one, other) in enumerate(zip(text, name, strict=False)) if one != other), None)
    at = min(len(text), len(name)) if same is None else same
    longer, shorter = (text, name) if len(text) > len(name) else (name, text)
    return longer[at + 1 :] == (shorter[at:] if len(longer) > len(shorter) else shorter[at + 1 :])
