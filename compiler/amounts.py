"""What pods request from nodes: amounts by resource."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from flowdsl.compiler.kinds import CONTAINER_BODIES
from flowdsl.compiler.tree import entries, inside
from flowdsl.grammar.devices import is_gpu
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.quantity import quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Json = dict[str, Any]
Amounts = dict[str, Decimal]


def amounts(given: Mapping[str, object]) -> Amounts:
    """Quantities as numbers; what is not a quantity, such as a text with a tag, is left out."""
    found: Amounts = {}
    for name, value in given.items():
        try:
            found[name] = quantity(str(value))
        except GrammarError:
            continue
    return found


def asked(spec: Json, word: Literal["limits", "requests"] = "limits") -> Amounts:
    """The resources that a pod reserves on its node; a limit counts as a request where there is none.

    The larger of the sum over its containers, and what any init container requests with the restartable
    ones before it. Source: k8s.io/component-helpers/resource, AggregateContainerRequests.
    """
    lasting = _sum(_own(one, word) for one in entries(spec, "containers"))
    peak: Amounts = {}
    beside: Amounts = {}
    for one in entries(spec, "initContainers"):
        own = _own(one, word)
        if one.get("restartPolicy") == "Always":
            beside = _sum((beside, own))
            own = {}
        peak = _most(peak, _sum((beside, own)))
    return _most(_sum((lasting, beside)), peak)


def asked_by(template: Json) -> Amounts:
    """The resources that the pod of an Argo template reserves, as `asked`; its podSpecPatch is ignored."""
    alone = [template[kind] for kind in CONTAINER_BODIES if template.get(kind)]
    beside = [*entries(template, "containerSet", "containers"), *entries(template, "sidecars")]
    return asked({**template, "containers": [*alone, *beside]}, "requests")


def gpus(given: Mapping[str, Decimal]) -> dict[str, int]:
    """The number of devices among amounts, by resource name."""
    return {name: int(number) for name, number in given.items() if is_gpu(name) and number >= 1}


def _own(container: Json, word: str) -> Amounts:
    limits = amounts(inside(container, "resources", "limits"))
    return limits if word == "limits" else {**limits, **amounts(inside(container, "resources", "requests"))}


def _sum(several: Iterable[Amounts]) -> Amounts:
    found: Amounts = {}
    for one in several:
        for name, number in one.items():
            found[name] = found.get(name, Decimal(0)) + number
    return found


def _most(one: Amounts, other: Amounts) -> Amounts:
    zero = Decimal(0)
    return {name: max(one.get(name, zero), other.get(name, zero)) for name in {**one, **other}}
