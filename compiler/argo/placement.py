"""Where a pod may run, in Argo's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Field, Json


def fields(placement: ir.Placement) -> tuple[Field, ...]:
    """The fields of a template, each with the options that decide it."""
    return (
        ("nodeSelector", dict(placement.node), ("node",)),
        ("affinity", _affinity(placement), ("where", "gpu")),
        ("tolerations", [dict(one) for one in placement.tolerations], ("tolerations", "gpu")),
        ("priorityClassName", placement.priority, ("priority",)),
    )


def _affinity(placement: ir.Placement) -> Json | None:
    if not placement.affinity:
        return None
    terms = [
        {
            "matchExpressions": [
                {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
                for key, operator, values in group
            ]
        }
        for group in placement.affinity
    ]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"nodeAffinity": required}
