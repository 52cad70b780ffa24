"""Devices of nodes: how many exist, how many pods hold, how many are unhealthy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.amounts import amounts, asked, gpus
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.phases import PENDING, POD_ENDED
from flowdsl.runtime.status.gpu import card

if TYPE_CHECKING:
    from collections.abc import Iterable

Json = dict[str, Any]


class PodUse(NamedTuple):
    """A pod that requests devices, and its node; `node` is empty while it is unscheduled."""

    namespace: str
    name: str
    status: str
    node: str
    devices: int
    resources: dict[str, int]


class NodeUse(NamedTuple):
    """A node with its devices.

    `total` can be allocated to pods; `allocated` is held by pods that have not ended; `unhealthy` are those that
    the device plugin has withdrawn. `card` is the label of the product, empty without one.
    """

    name: str
    address: str
    role: str
    status: str
    total: int
    allocated: int
    unhealthy: int
    card: str
    pods: tuple[PodUse, ...]


class ClusterUse(NamedTuple):
    """The nodes of a cluster, and the unscheduled pods."""

    nodes: tuple[NodeUse, ...]
    waiting: tuple[PodUse, ...]

    @property
    def total(self) -> int:
        """All devices."""
        return sum(one.total for one in self.nodes)

    @property
    def allocated(self) -> int:
        """Those that pods hold."""
        return sum(one.allocated for one in self.nodes)


def pod_uses(pods: Iterable[Json]) -> list[PodUse]:
    """The pods that have not ended and request devices, sorted by name.

    A pod that is bound to a node holds its devices, even before it runs. Source: the scheduler of Kubernetes counts
    pods by `spec.nodeName` until their phase is Succeeded or Failed.
    """
    found: list[PodUse] = []
    for pod in pods:
        if phase(pod) in POD_ENDED:
            continue
        spec, metadata = part(pod, "spec"), part(pod, "metadata")
        held = gpus(asked(spec))
        if held:
            place = str(spec.get("nodeName") or "")
            names = str(metadata.get("namespace") or ""), str(metadata.get("name") or "")
            found.append(PodUse(*names, phase(pod), place, sum(held.values()), held))
    return sorted(found)


def phase(pod: Json) -> str:
    """The phase of a pod; `Terminating` if it is being deleted."""
    known = str(part(pod, "status").get("phase") or PENDING)
    deleted = part(pod, "metadata").get("deletionTimestamp")
    return "Terminating" if deleted and known not in POD_ENDED else known


def cluster_use(nodes: Iterable[Json], pods: Iterable[Json], *labels: str) -> ClusterUse:
    """The devices of all nodes; `labels` are further label keys that name the product of a card."""
    uses = pod_uses(pods)
    found: list[NodeUse] = []
    for node in nodes:
        metadata, status = part(node, "metadata"), part(node, "status")
        name = str(metadata.get("name") or "")
        held = tuple(use for use in uses if use.node == name)
        has = sum(gpus(amounts(part(status, "allocatable"))).values())
        installed = sum(gpus(amounts(part(status, "capacity"))).values())
        found.append(
            NodeUse(
                name,
                _address(status),
                _role(part(metadata, "labels")),
                _status(node),
                has,
                sum(use.devices for use in held),
                max(0, installed - has),
                card(node, *labels),
                held,
            )
        )
    found.sort(key=lambda one: (one.total + one.unhealthy == 0, one.name))
    return ClusterUse(tuple(found), tuple(use for use in uses if not use.node))


def _address(status: Json) -> str:
    known = {str(one.get("type")): str(one.get("address")) for one in several(status, "addresses")}
    return known.get("InternalIP") or known.get("ExternalIP") or known.get("Hostname") or "-"


def _role(labels: dict[str, str]) -> str:
    """The roles as kubectl shows them. Source: kubectl, findNodeRoles."""
    prefix = "node-role.kubernetes.io/"
    found = {key.removeprefix(prefix) for key in labels if key.startswith(prefix)} | {
        labels.get("kubernetes.io/role", "")
    }
    return ",".join(sorted(found - {""})) or "-"


def _status(node: Json) -> str:
    """Whether a node is ready, as kubectl shows it."""
    ready = [one for one in several(part(node, "status"), "conditions") if one.get("type") == "Ready"]
    known = "Unknown" if not ready or ready[0].get("status") == "Unknown" else ""
    word = known or ("Ready" if ready[0].get("status") == "True" else "NotReady")
    return word + (",SchedulingDisabled" if part(node, "spec").get("unschedulable") else "")
