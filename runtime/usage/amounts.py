"""What pods ask of nodes: amounts by resource, and which of them count GPUs."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.quantity import quantity
from flowdsl.grammar.regex import regex
from flowdsl.runtime.local.controller.shapes import part, several

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Json = dict[str, Any]
Amounts = dict[str, Decimal]

_NAMES = regex(
    r"nvidia\.com/mig-.+|gpu\.intel\.com/(?!.*(?:memory|millicores|monitoring|tiles)).+|habana\.ai/.+|.+/Ascend.+"
    r"|aws\.amazon\.com/neuron.*|.+/(?:v?gpu|gpu\.shared|gpu-count|tpu)"
)


def is_gpu(resource: str) -> bool:
    """Whether a resource counts devices that compute, of whatever vendor, and not their memory or the like."""
    return _NAMES.fullmatch(resource) is not None


def amounts(given: Mapping[str, object]) -> Amounts:
    """Quantities as numbers; what is none, as a text with a tag in it, is left out."""
    found: Amounts = {}
    for name, value in given.items():
        try:
            found[name] = quantity(str(value))
        except GrammarError:
            continue
    return found


def asked(spec: Json, word: Literal["limits", "requests"] = "limits") -> Amounts:
    """What a pod takes of its node while it runs; a limit is a request where there is none.

    The larger of what its containers ask together, and what any init container asks beside the restartable
    ones before it. Source: k8s.io/component-helpers/resource, AggregateContainerRequests.
    """
    lasting = _sum(_own(one, word) for one in several(spec, "containers"))
    peak: Amounts = {}
    beside: Amounts = {}
    for one in several(spec, "initContainers"):
        own = _own(one, word)
        if one.get("restartPolicy") == "Always":
            beside = _sum((beside, own))
            own = {}
        peak = _most(peak, _sum((beside, own)))
    return _most(_sum((lasting, beside)), peak)


def gpus(given: Mapping[str, Decimal]) -> dict[str, int]:
    """The devices among amounts, by the name of their resource."""
    return {name: int(number) for name, number in given.items() if is_gpu(name) and number >= 1}


def _own(container: Json, word: str) -> Amounts:
    resources = part(container, "resources")
    limits = amounts(part(resources, "limits"))
    return limits if word == "limits" else {**limits, **amounts(part(resources, "requests"))}


def _sum(several: Iterable[Amounts]) -> Amounts:
    found: Amounts = {}
    for one in several:
        for name, number in one.items():
            found[name] = found.get(name, Decimal(0)) + number
    return found


def _most(one: Amounts, other: Amounts) -> Amounts:
    zero = Decimal(0)
    return {name: max(one.get(name, zero), other.get(name, zero)) for name in {**one, **other}}
