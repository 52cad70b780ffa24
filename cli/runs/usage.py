"""`top`: the devices of nodes and of runs, as tables."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from flowdsl.cli.clusters.reach import Missing
from flowdsl.cli.display.lengths import age
from flowdsl.cli.display.paint import paint_of_output
from flowdsl.cli.display.signs import style_of
from flowdsl.cli.display.tables import Cell, Column, Table
from flowdsl.cli.display.texts import line
from flowdsl.cli.process import DONE, note, out
from flowdsl.grammar.labels import RUN
from flowdsl.runtime.cluster.kinds import NODE, POD, WORKFLOW
from flowdsl.runtime.cluster.seam import EVERYWHERE
from flowdsl.runtime.cluster.trouble import FORBIDDEN, Refusal, Unreachable, Unsupported
from flowdsl.runtime.usage import exporter
from flowdsl.runtime.usage.nodes import cluster_use, pod_uses
from flowdsl.runtime.usage.runs import ACTIVE, run_uses

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flowdsl.cli.clusters.reach import Reach
    from flowdsl.cli.display.paint import Paint
    from flowdsl.runtime.cluster.seam import Cluster
    from flowdsl.runtime.usage.nodes import ClusterUse, PodUse
    from flowdsl.runtime.usage.runs import RunUse

Json = dict[str, Any]
Held = dict[tuple[str, str], list[exporter.Device]]

_GOING = "status.phase!=Succeeded,status.phase!=Failed"
_NO_DATA = "N/A"


# --- nodes -----------------------------------------------------------------------------------------------


def top_nodes(reach: Reach, *, details: bool) -> int:
    """Show the devices of all nodes; reports what may not be read. Returns the exit code."""
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
        use = cluster_use(nodes, pods or (), *([label] if label else []))
        text = nodes_table(use, paint, details=details)
    out(text)
    for one in notes:
        note(line(one))
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
    """Nodes with their devices, and the usage of the cluster."""
    sick = any(one.unhealthy for one in use.nodes)
    columns = [Column("NAME", least=16), Column("IPADDRESS", least=9), Column("ROLE", least=6)]
    columns += [Column("STATUS", least=8), Column("GPU(Total)", right=True, short="TOTAL")]
    columns.append(Column("GPU(Allocated)", right=True, short="USED"))
    columns += [Column("UNHEALTHY", right=True, short="SICK")] if sick else []
    columns.append(Column("CARD", least=8))
    rows: list[list[Cell]] = []
    for one in use.nodes:
        row = [Cell(line(one.name)), Cell(line(one.address)), Cell(line(one.role))]
        row.append(Cell(line(one.status), "" if one.status == "Ready" else "yellow"))
        row += [Cell(str(one.total)), Cell(str(one.allocated))]
        row += [Cell(str(one.unhealthy), "red" if one.unhealthy else "")] if sick else []
        rows.append([*row, Cell(line(one.card) or "-")])
    share = f" ({100 * use.allocated / use.total:.1f}%)" if use.total else ""
    parts = [Table(columns, rows, paint.width()).text(paint)]
    parts.append(f"\nAllocated/Total GPUs of the cluster: {use.allocated}/{use.total}{share}\n")
    if use.waiting:
        wanted = sum(one.devices for one in use.waiting)
        parts.append(f"Requested by pods that wait for a node: {wanted}\n")
    if details:
        held = [*((one.name, one.pods) for one in use.nodes), ("without a node", use.waiting)]
        parts += [f"\n{line(name)}\n{pods_table(pods, paint, node=False)}" for name, pods in held if pods]
    return "".join(parts)


def pods_table(pods: Iterable[PodUse], paint: Paint, *, node: bool = True) -> str:
    """Pods with the devices that they request; without their `node`, indented below its name."""
    columns = [Column("NAMESPACE", least=6), Column("NAME", least=16), Column("STATUS")]
    columns += [Column("NODE", least=8)] if node else []
    columns += [Column("GPU(Requested)", right=True, short="GPU"), Column("RESOURCE", least=8)]
    rows: list[list[Cell]] = []
    for one in pods:
        resources = ", ".join(f"{name}: {number}" for name, number in one.resources.items())
        row = [Cell(line(one.namespace)), Cell(line(one.name)), _status(one.status)]
        row += [Cell(line(one.node) or "-")] if node else []
        rows.append([*row, Cell(str(one.devices)), Cell(line(resources))])
    room = paint.width()
    if node:
        return Table(columns, rows, room).text(paint)
    text = Table(columns, rows, room and room - 2).text(paint)
    return "".join(f"  {each}\n" for each in text.splitlines())


def _status(text: str) -> Cell:
    return Cell(line(text), style_of(text.partition(" ")[0]))


# --- runs ------------------------------------------------------------------------------------------------


def top_jobs(reach: Reach, names: Sequence[str], *, instance: bool, everywhere: bool, selector: str) -> int:
    """Show the devices of unfinished runs, or of those in `names`, unfinished or not. Returns the exit code."""
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
        text = runs_table(uses, time.time(), paint, everywhere=everywhere)
    if not uses:
        text = f"no run is active in {'any namespace' if everywhere else f'namespace `{namespace}`'}\n"
    out(text)
    for one in notes:
        note(line(one))
    return DONE


def _run(cluster: Cluster, name: str) -> Json:
    try:
        return cluster.get(WORKFLOW, name)
    except Refusal as refusal:
        if not refusal.absent:
            raise
        where = f"in namespace `{cluster.namespace}` of {cluster.called}"
        raise Missing(
            f"there is no run `{name}` {where}: flowdsl top job shows those that are active"
        ) from None


def runs_table(uses: Iterable[RunUse], now: float, paint: Paint, *, everywhere: bool = False) -> str:
    """Runs with the devices that their pods request and hold."""
    columns = [Column("NAMESPACE", least=6)] if everywhere else []
    columns += [Column("NAME", least=16), Column("STATUS"), Column("AGE", right=True)]
    columns += [Column("GPU(Requested)", right=True, short="WANTED")]
    columns += [Column("GPU(Allocated)", right=True, short="USED"), Column("NODE", least=8)]
    rows: list[list[Cell]] = []
    for use in uses:
        row = [Cell(line(use.namespace))] if everywhere else []
        row += [Cell(line(use.name)), _status(use.status)]
        row.append(Cell("" if use.created is None else age(now - use.created)))
        row += [Cell(str(use.requested)), Cell(str(use.allocated))]
        rows.append([*row, Cell(line(", ".join(use.nodes)) or "-")])
    return Table(columns, rows, paint.width()).text(paint)


def instances_table(uses: Iterable[RunUse], held: Held, paint: Paint) -> str:
    """The pods of runs that request devices, a line for each device that the exporter knows."""
    columns = [Column("NAME", least=16), Column("STATUS"), Column("GPU(Requested)", right=True, short="GPU")]
    columns += [Column("NODE", least=8), Column("GPU(DeviceIndex)", short="INDEX")]
    columns += [Column("GPU(DutyCycle)", short="DUTY"), Column("GPU_MEMORY(Used/Total)", short="MEMORY")]
    rows: list[list[Cell]] = []
    for use in uses:
        for pod in use.pods:
            own = [
                Cell(line(pod.name)),
                _status(pod.status),
                Cell(str(pod.devices)),
                Cell(line(pod.node) or "-"),
            ]
            devices: Sequence[exporter.Device | None] = held.get((pod.namespace, pod.name)) or [None]
            for position, device in enumerate(devices):
                first = own if position == 0 else [Cell("")] * 4
                rows.append([*first, *(Cell(line(text)) for text in _device(device))])
    return Table(columns, rows, paint.width()).text(paint)


def _device(device: exporter.Device | None) -> tuple[str, str, str]:
    if device is None:
        return _NO_DATA, _NO_DATA, _NO_DATA
    duty = _NO_DATA if device.duty is None else f"{device.duty:.0f}%"
    if device.used is None:
        return device.number, duty, _NO_DATA
    whole = f"MiB/{_NO_DATA}" if device.memory is None else f"/{device.memory:.0f}MiB"
    return device.number, duty, f"{device.used:.0f}{whole}"


def _held(cluster: Cluster, selector: str, nodes: set[str], notes: list[str]) -> Held:
    """The metrics of the exporters of some nodes; reports once why one cannot be asked."""
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
