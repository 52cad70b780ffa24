"""`top`: the devices of nodes and of runs, as tables."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from flowdsl.cli.process import DONE, out
from flowdsl.cli.reach import Missing
from flowdsl.cli.report import visible
from flowdsl.cli.tables import PHASES, paint_of_output, table
from flowdsl.runtime.cluster.kinds import NODE, POD, WORKFLOW
from flowdsl.runtime.cluster.seam import EVERYWHERE
from flowdsl.runtime.cluster.trouble import FORBIDDEN, NOT_FOUND, Refusal, Unreachable, Unsupported
from flowdsl.runtime.usage import exporter
from flowdsl.runtime.usage.nodes import CARDS, cluster_use, pod_uses
from flowdsl.runtime.usage.runs import ACTIVE, RUN, run_uses

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flowdsl.cli.reach import Reach
    from flowdsl.cli.tables import Paint
    from flowdsl.runtime.cluster.seam import Cluster
    from flowdsl.runtime.usage.nodes import ClusterUse, PodUse
    from flowdsl.runtime.usage.runs import RunUse

Json = dict[str, Any]
Held = dict[tuple[str, str], list[exporter.Device]]

_GOING = "status.phase!=Succeeded,status.phase!=Failed"
_NO_DATA = "N/A"


# --- nodes -----------------------------------------------------------------------------------------------


def top_nodes(reach: Reach, *, details: bool) -> int:
    """Show the devices of all nodes; what may not be read is left out, and said. The exit code."""
    cluster = reach.connect()
    notes: list[str] = []
    pods = _pods(cluster, notes)
    paint = paint_of_output()
    try:
        nodes = cluster.list(NODE).items
    except Refusal as refusal:
        if refusal.code != FORBIDDEN or pods is None:
            raise
        notes.append(f"nodes may not be read, so what there is in all is not known: {_may(NODE.resource)}")
        text = pods_table(pod_uses(pods), paint)
    else:
        label = reach.profile().labels.get("gpu.product")
        cards = (label, *CARDS) if label else CARDS
        text = nodes_table(cluster_use(nodes, pods or (), cards), paint, details=details)
    out(text + "".join(f"note: {visible(note)}\n" for note in notes))
    return DONE


def _pods(cluster: Cluster, notes: list[str], labels: str = "") -> list[Json] | None:
    """The pods that have not ended: all of them, else those of the namespace, else None."""
    for namespace in (EVERYWHERE, cluster.namespace):
        try:
            found = cluster.list(POD, labels=labels, fields=_GOING, namespace=namespace).items
        except Refusal as refusal:
            if refusal.code != FORBIDDEN:
                raise
            continue
        if namespace != EVERYWHERE:
            notes.append(
                f"pods of other namespaces may not be read: only what those of `{namespace}` hold is counted"
            )
        return found
    notes.append(f"pods may not be read, so what they hold is not known: {_may(POD.resource)}")
    return None


def _may(resource: str) -> str:
    return f"kubectl auth can-i list {resource} -A"


def nodes_table(use: ClusterUse, paint: Paint, *, details: bool = False) -> str:
    """Nodes with their devices, and how much of the cluster is in use."""
    sick = any(one.unhealthy for one in use.nodes)
    heads = ["NAME", "IPADDRESS", "ROLE", "STATUS", "GPU(Total)", "GPU(Allocated)"]
    heads += [*(["UNHEALTHY"] if sick else []), "CARD"]
    rows: list[list[str]] = []
    styles: list[list[str]] = []
    for one in use.nodes:
        counts = [str(one.total), str(one.allocated), *([str(one.unhealthy)] if sick else [])]
        rows.append(_visible([one.name, one.address, one.role, one.status, *counts, one.card or "-"]))
        ready = "" if one.status == "Ready" else "yellow"
        styles.append(["", "", "", ready, "", "", *(["red" if one.unhealthy else ""] if sick else [])])
    share = f" ({100 * use.allocated / use.total:.1f}%)" if use.total else ""
    parts = [table(heads, rows, paint, styles=styles, right=range(4, len(heads) - 1), whole=True)]
    parts.append(f"\nAllocated/Total GPUs of the cluster: {use.allocated}/{use.total}{share}\n")
    if use.waiting:
        wanted = sum(one.devices for one in use.waiting)
        parts.append(f"Requested by pods that wait for a node: {wanted}\n")
    if details:
        held = [*((one.name, one.pods) for one in use.nodes), ("without a node", use.waiting)]
        parts += [f"\n{visible(name)}\n{pods_table(pods, paint, node=False)}" for name, pods in held if pods]
    return "".join(parts)


def pods_table(pods: Iterable[PodUse], paint: Paint, *, node: bool = True) -> str:
    """Pods with the devices that they ask for."""
    heads = ["NAMESPACE", "NAME", "STATUS", *(["NODE"] if node else []), "GPU(Requested)", "RESOURCE"]
    rows: list[list[str]] = []
    for one in pods:
        resources = ", ".join(f"{name}: {number}" for name, number in one.resources.items())
        place = [one.node or "-"] if node else []
        rows.append(_visible([one.namespace, one.name, one.status, *place, str(one.devices), resources]))
    styles = [["", "", PHASES.get(row[2], "")] for row in rows]
    return table(
        heads, rows, paint, styles=styles, right=(len(heads) - 2,), indent="" if node else "  ", whole=True
    )


def _visible(cells: Sequence[str]) -> list[str]:
    return [visible(cell) for cell in cells]


# --- runs ------------------------------------------------------------------------------------------------


def top_jobs(reach: Reach, names: Sequence[str], *, instance: bool, everywhere: bool, selector: str) -> int:
    """Show the devices of runs that have not ended; of `names`, whether they have or not. The exit code."""
    cluster = reach.connect()
    namespace = EVERYWHERE if everywhere else cluster.namespace
    notes: list[str] = []
    if names:
        workflows = [_run(cluster, name) for name in dict.fromkeys(names)]
    else:
        workflows = cluster.list(WORKFLOW, labels=ACTIVE, namespace=namespace).items
    pods = cluster.list(POD, labels=RUN, fields=_GOING, namespace=namespace).items
    uses = run_uses(workflows, pods)
    paint = paint_of_output()
    if instance:
        places = {pod.node for use in uses for pod in use.pods if pod.node}
        held = _held(cluster, selector, places, notes) if places else {}
        text = instances_table(uses, held, paint)
        if not any(use.pods for use in uses):
            text = "no pod of an active run asks for a GPU\n"
    else:
        text = runs_table(uses, datetime.now(UTC), paint, everywhere=everywhere)
    if not uses:
        text = f"no run is active in {'any namespace' if everywhere else f'namespace `{namespace}`'}\n"
    out(text + "".join(f"note: {visible(note)}\n" for note in notes))
    return DONE


def _run(cluster: Cluster, name: str) -> Json:
    try:
        return cluster.get(WORKFLOW, name)
    except Refusal as refusal:
        if refusal.code != NOT_FOUND or refusal.no_such_kind:
            raise
        where = f"in namespace `{cluster.namespace}` of {cluster.called}"
        raise Missing(
            f"there is no run `{name}` {where}: flowdsl top job shows those that are active"
        ) from None


def runs_table(uses: Iterable[RunUse], now: datetime, paint: Paint, *, everywhere: bool = False) -> str:
    """Runs with the devices that their pods ask for and hold."""
    heads = ["NAME", "STATUS", "AGE", "GPU(Requested)", "GPU(Allocated)", "NODE"]
    rows: list[list[str]] = []
    for use in uses:
        counts = str(use.requested), str(use.allocated), ", ".join(use.nodes) or "-"
        first = [use.namespace] if everywhere else []
        rows.append(_visible([*first, use.name, use.status, age(use.created, now), *counts]))
    at = int(everywhere)
    styles = [[*[""] * (at + 1), PHASES.get(row[at + 1].partition(" ")[0], "")] for row in rows]
    whole = ["NAMESPACE", *heads] if everywhere else heads
    return table(whole, rows, paint, styles=styles, right=(at + 3, at + 4), whole=True)


def instances_table(uses: Iterable[RunUse], held: Held, paint: Paint) -> str:
    """The pods of runs that ask for devices, a line for each device that the exporter knows of."""
    heads = ["NAME", "STATUS", "GPU(Requested)", "NODE"]
    heads += ["GPU(DeviceIndex)", "GPU(DutyCycle)", "GPU_MEMORY(Used/Total)"]
    rows: list[list[str]] = []
    for use in uses:
        for pod in use.pods:
            own = [pod.name, pod.status, str(pod.devices), pod.node or "-"]
            devices: Sequence[exporter.Device | None] = held.get((pod.namespace, pod.name)) or [None]
            for position, device in enumerate(devices):
                rows.append(_visible([*(own if position == 0 else [""] * 4), *_device(device)]))
    styles = [["", PHASES.get(row[1], "")] for row in rows]
    return table(heads, rows, paint, styles=styles, right=(2,), whole=True)


def _device(device: exporter.Device | None) -> tuple[str, str, str]:
    if device is None:
        return _NO_DATA, _NO_DATA, _NO_DATA
    duty = _NO_DATA if device.duty is None else f"{device.duty:.0f}%"
    if device.used is None:
        return device.number, duty, _NO_DATA
    whole = f"MiB/{_NO_DATA}" if device.memory is None else f"/{device.memory:.0f}MiB"
    return device.number, duty, f"{device.used:.0f}{whole}"


def _held(cluster: Cluster, selector: str, nodes: set[str], notes: list[str]) -> Held:
    """What the exporters of some nodes say; why one cannot be asked is said once."""
    pods = [one for one in _pods(cluster, notes, selector) or () if one["spec"].get("nodeName") in nodes]
    if not pods:
        notes.append(f"no pod of a DCGM exporter is there (labels {selector}): --exporter names other labels")
    found: Held = {}
    for pod in pods:
        metadata = pod["metadata"]
        name = str(metadata["name"])
        try:
            text = cluster.proxy(name, exporter.port(pod), exporter.PATH, namespace=metadata.get("namespace"))
        except (Refusal, Unreachable, Unsupported) as error:
            notes.append(f"the exporter {name} does not answer: {error}")
            continue
        found |= exporter.held(exporter.samples(text.decode("utf-8", "replace")))
    return found


def age(created: str, now: datetime) -> str:
    """How long something has been there, in its two largest units: `45s`, `12m`, `3h5m`, `2d4h`."""
    try:
        seconds = int((now - datetime.fromisoformat(created)).total_seconds())
    except ValueError:
        return "-"
    seconds = max(0, seconds)  # clocks differ
    if seconds < 120:
        return f"{seconds}s"
    minutes = seconds // 60
    if minutes < 120:
        return f"{minutes}m"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours}h{minutes}m" if minutes else f"{hours}h"
    days, hours = divmod(hours, 24)
    return f"{days}d{hours}h" if hours else f"{days}d"
