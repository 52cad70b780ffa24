"""Where a pod may run, in Argo's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.tree import is_list, is_mapping, value_at
from flowdsl.grammar.labels import QUEUE, RUN

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Field, Json


PLACES = ("nodeSelector", "affinity", "tolerations", "schedulerName")
"""The fields that Argo takes from the workflow if a template does not set them."""

OF_OTHERS = frozenset(("podAffinity", "podAntiAffinity"))
"""The parts of an affinity that are about the nodes of other pods."""

PACKED, SPREAD = "flowdsl/pack", "flowdsl/step"
"""Labels of pods: of all that are packed, and of those of one template that are spread."""


_REQUIRED, _ALL = "requiredDuringSchedulingIgnoredDuringExecution", "matchExpressions"


def fields(placement: ir.Placement, template: str) -> tuple[Field, ...]:
    """The fields of a template, each with the options that determine it."""
    return (
        ("nodeSelector", dict(placement.node), ("node", "pool", "spot")),
        ("affinity", _affinity(placement, template), ("where", "gpu", "placement")),
        ("tolerations", [dict(one) for one in placement.tolerations], ("tolerations", "gpu", "pool", "spot")),
        ("priorityClassName", placement.priority, ("priority",)),
    )


def beside(
    fields: Iterable[Field], everywhere: Mapping[str, Any], written: Container[str]
) -> Iterator[Field]:
    """Those fields, merged with what the pipeline sets for all pods, where options such as `gpu` and `spot` only add.

    Argo does not merge a workflow's and a template's, but uses the latter: addSchedulingConstraints in workflowpod.go.
    """
    for field, value, options in fields:
        around, whole = everywhere.get(field), value
        if field == "tolerations" and value and is_list(around) and "tolerations" not in written:
            whole = [*filter(is_mapping, around), *(one for one in value if one not in around)]
        elif field == "nodeSelector" and value and is_mapping(around) and "node" not in written:
            whole = {**around, **value}
        elif field == "affinity" and value and is_mapping(around) and "where" not in written:
            whole = {**around, **value}
            if "nodeAffinity" in value and is_mapping(nodes := around.get("nodeAffinity")):
                whole["nodeAffinity"] = {**nodes, **_both(nodes, value["nodeAffinity"])}
        yield field, whole, options


def _both(around: Json, own: Json) -> Json:
    """The conjunction of two node affinities: each is a list of terms, of which one has to match."""
    terms = value_at(around, (_REQUIRED, "nodeSelectorTerms"))
    if not is_list(terms):
        return own
    inner: list[Json] = own[_REQUIRED]["nodeSelectorTerms"]
    joined: list[Json] = [
        {**one, _ALL: [*(one.get(_ALL) or []), *other[_ALL]]}
        for one in terms
        if is_mapping(one) and one and is_list(one.get(_ALL, []))
        for other in inner
    ]
    return {_REQUIRED: {"nodeSelectorTerms": joined or inner}}


def placed(found: Json, everywhere: Mapping[str, Any]) -> Json:
    """Add to the pods of a Job, which are not Argo's, the placement that the pipeline sets for all pods."""
    for field in PLACES:
        if field in everywhere:
            found.setdefault(field, everywhere[field])
    return found


def labels(placement: ir.Placement, template: str) -> dict[str, str]:
    """The labels of the pods of a template, which queues and other pods select."""
    found = {} if placement.queue is None else admission(placement.queue)
    if placement.near == "pack":
        found[PACKED] = "true"
    elif placement.near == "spread":
        found[SPREAD] = template
    return found


def admission(queue: str) -> dict[str, str]:
    """The label of a pod that waits in a queue."""
    return {QUEUE: queue}


def _affinity(placement: ir.Placement, template: str) -> Json | None:
    found: Json = {}
    if placement.affinity:
        found["nodeAffinity"] = _nodes(placement)
    if placement.near == "pack":
        found["podAffinity"] = _others({PACKED: "true"})
    elif placement.near == "spread":
        found["podAntiAffinity"] = _others({RUN: "{{workflow.name}}", SPREAD: template})
    return found or None


def _others(labels: dict[str, str]) -> Json:
    """A preference, not a requirement, for the node where pods with the labels are.

    With the default scheduler it packs and spreads, and never leaves a pod pending beside a free node.
    """
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
    return {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term}]}


def _nodes(placement: ir.Placement) -> Json:
    terms = [
        {
            _ALL: [
                {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
                for key, operator, values in group
            ]
        }
        for group in placement.affinity
    ]
    return {_REQUIRED: {"nodeSelectorTerms": terms}}
