"""Converts templates with steps or a DAG to bodies of pipelines."""

from __future__ import annotations

from graphlib import TopologicalSorter
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from flowdsl.compiler.findings.importing import Otherwise
from flowdsl.compiler.importing.dependencies import Order, Waits, dag_waits, needed, states
from flowdsl.compiler.importing.expressions import expression
from flowdsl.compiler.importing.fields import TEMPLATE, has_tags, say
from flowdsl.compiler.importing.model import ports
from flowdsl.compiler.importing.tagged import value_of
from flowdsl.compiler.importing.tasks import may_miss, read_task
from flowdsl.compiler.naming import slug
from flowdsl.compiler.tree import entries, inside, is_list
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.importing.model import Entry, Json, Slot, Value
    from flowdsl.compiler.importing.scopes import Graph
    from flowdsl.compiler.tree import Path

#: Fields of a graph that the pipeline itself expresses.
_OWN = ("name", "inputs", "outputs", "steps", "dag", "parallelism", "failFast")


def read_graph(graph: Graph) -> None:
    """Read all of a template of steps or tasks."""
    if "steps" in graph.template:
        _groups(graph)
    else:
        _dag(graph)
    for one in ports(graph.template, "outputs", graph.path):
        if (output := graph.target.outputs.get(one.key)) is not None:
            _output(graph, one, output)
    _rest(graph)


def _groups(graph: Graph) -> None:
    """Read groups of steps, each of which waits for all of the previous one."""
    found: dict[str, tuple[Path, Json]] = {}
    waits: dict[str, Waits] = {}
    before: dict[str, Json] = {}
    for number, group in enumerate(graph.template["steps"]):
        steps: list[Json] = group if is_list(group) else group.get("steps", [])
        own = {graph.name_of(step): step for step in steps}
        waits |= dict.fromkeys(own, Waits(states(before)))
        for index, (name, step) in enumerate(own.items()):
            found[name] = (*graph.path, "steps", number, index), step
        before = own or before
    _tasks(graph, found, waits)


def _dag(graph: Graph) -> None:
    """Read the tasks of a DAG, each after its dependencies."""
    path: Path = (*graph.path, "dag")
    dag = graph.template["dag"]
    tasks: dict[str, tuple[int, Json]] = {
        str(task["name"]): (index, _named(graph, task, (*path, "tasks", index)))
        for index, task in enumerate(entries(dag, "tasks"))
    }
    behind = {name: needed(task) & tasks.keys() for name, (_, task) in tasks.items()}
    if target := dag.get("target"):
        behind = _targeted(graph, str(target), behind, (*path, "target"))
    found: dict[str, tuple[Path, Json]] = {}
    for name in _sorted(behind):
        index, task = tasks[name]
        found[name] = (*path, "tasks", index), task
    _tasks(graph, found, dag_waits({name: task for name, (_, task) in found.items()}))
    if dag.get("failFast") is False:
        graph.patched.append({"dag": {"failFast": False}})


def _named(graph: Graph, task: Json, path: Path) -> Json:
    """A task without its references by tags that a pipeline cannot express."""
    tagged = [field for field in ("depends", "dependencies") if has_tags(str(task.get(field) or ""))]
    for field in tagged:
        graph.refuse((*path, field), f"a task of `{field}` by a tag", "write its name in place of the tag")
    return {field: value for field, value in task.items() if field not in tagged} if tagged else task


def _sorted(behind: dict[str, set[str]]) -> Iterator[str]:
    """The tasks in topological order, otherwise in that of the document."""
    places = {name: index for index, name in enumerate(behind)}
    names, ready = [*behind], list[int]()
    order = TopologicalSorter(behind)
    order.prepare()
    while order.is_active():
        for name in order.get_ready():
            heappush(ready, places[name])
        found = names[heappop(ready)]
        yield found
        order.done(found)


def _tasks(graph: Graph, tasks: dict[str, tuple[Path, Json]], waits: dict[str, Waits]) -> None:
    """Read tasks that are sorted topologically."""
    graph.order = Order({name: task for name, (_, task) in tasks.items()}, waits)
    for path, task in tasks.values():
        read_task(graph, task, path)


def _targeted(graph: Graph, target: str, behind: dict[str, set[str]], path: Path) -> dict[str, set[str]]:
    """The tasks that a `target` needs."""
    if has_tags(target):
        tasks = entries(graph.template, "dag", "tasks")
        # In a pipeline these are separate tasks.
        ends = any(task.get("onExit") or task.get("hooks") for task in tasks)
        if ends or any(slug(name) != name for name in behind):
            way = "write its name, or leave it out and give tasks conditions; names in lower case can stay"
            graph.refuse(path, f"the target `{target}`", way)
        else:
            graph.patched.append(graph.reader.raw({"dag": {"target": target}}, graph.target))
        return behind
    wanted, more = set[str](), {*target.split()} & behind.keys()
    while more:
        wanted |= more
        more = {other for name in more for other in behind[name]} - wanted
    if others := ", ".join(f"`{name}`" for name in behind if name not in wanted):
        said = Otherwise(
            f"the pipeline leaves out {others}", "the target does not need it, so that no run comes to it"
        )
        graph.reader.add(path, said)
    return {name: others for name, others in behind.items() if name in wanted}


def _output(graph: Graph, entry: Entry, output: Slot) -> None:
    """Read an output of the graph."""
    said = entry.said
    origin = inside(said, "valueFrom")
    shown = str(origin.get("parameter") or said.get("from") or "")
    formula = str(origin.get("expression") or said.get("fromExpression") or "")
    found: Value | None = None
    if formula:
        found = expression(formula, graph)
    elif entry.kind == "parameters":
        found = value_of(entry.text if entry.text is not None else shown, graph, entry.path)
    elif body := tags(shown):
        found = graph.variable(body[0].path)
    if found is None or (found.port is None) != (output.port is None):
        graph.refuse(entry.path, f"`{formula or shown or entry.name}`")
    if found is None:
        return
    if found.port is not None and output.port is not None:
        output.port.join(found.port)
        output.port.asked(shown=graph.target is graph.reader.main)
    if found.file is not None:
        may_miss(graph, found.file, entry)
        found.file.hand(output)
    output.value = found
    rest: Json = {key: one for key, one in said.items() if key in ("globalName", "description")}
    if "default" in origin:
        rest["valueFrom"] = {"default": origin["default"]}
    if rest:
        given = {"name": graph.target.named(entry.key), **rest}
        graph.patched.append({"outputs": {entry.kind: [given]}})


def _limited(graph: Graph, limit: int) -> None:
    """Read the limit of parallel tasks; a loop is a separate graph with the same limit."""
    looped = any(one.looped for one in graph.calls)
    if looped and graph.order.is_chain:
        return
    if graph.target is graph.reader.main:  # the option of a pipeline limits the whole run
        graph.patched.append({"parallelism": limit})
    else:
        graph.target.options["parallelism"] = str(limit)
    if looped:
        what = f"each loop runs {limit} items at once; in the manifest all tasks of the graph together do"
        way = "let each loop have a part of the limit: `parallel=`, or limit the run: `parallelism=` of the pipeline"
        graph.reader.add((*graph.path, "parallelism"), Otherwise(what, way))


def _rest(graph: Graph) -> None:
    """Read the remaining fields of a graph."""
    target = graph.target
    fields = {key: one for key, one in graph.template.items() if key not in _OWN and one}
    words = ("locks",) if target is graph.reader.main else ("locks", "retries")
    say([row for row in TEMPLATE if row.option in words], fields, target.options)
    if (limit := graph.template.get("parallelism")) is not None:
        _limited(graph, limit)
    if graph.template.get("failFast") and not any(one.looped for one in graph.calls):
        fields["failFast"] = True  # set on loops separately
    if fields:
        graph.patched.append(graph.reader.raw(fields, target))
