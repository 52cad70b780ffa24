"""Splits graphs that are too large for one DAG into nested DAGs of at most 200 tasks.

The full CRDs allow 200 tasks in a DAG. `flowdsl.compiler.lowering.grouping` says which tasks form a group; where that
makes some tasks wait for others, `Waiting` says so. A group becomes a template with
the values it takes as inputs and those others take of it as outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from flowdsl.compiler import ir
from flowdsl.compiler.lowering.grouping import grouped
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Either, Expr, Op, Out, Param, Ran, Stored, children, substitute

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flowdsl.compiler.lowering.grouping import Unit

LIMIT = 200
"""The maximum number of tasks of one DAG. Source: Argo's full CRDs, maxItems of dag.tasks."""

ABSENT = "flowdsl:absent"
"""The output of a group for an output of a task that did not run."""

Change = Callable[[Expr], Expr | None]


def split(program: ir.Program) -> tuple[ir.Program, list[ir.Template]]:
    """The program with every graph within the limit, and the graphs in which tasks wait for more than they need."""
    templates: list[ir.Template] = []
    waiting: list[ir.Template] = []
    for template in program.templates:
        body = template.body
        if isinstance(body, ir.Graph) and len(body.tasks) > LIMIT:
            splitter = _Splitter(template, body)
            templates.extend(splitter.templates())
            if splitter.waits:
                waiting.append(template)
        else:
            templates.append(template)
    return program._replace(templates=tuple(templates)), waiting


class _Splitter:
    """One graph that is too large."""

    def __init__(self, template: ir.Template, graph: ir.Graph) -> None:
        self.template = template
        self.tasks: dict[str, ir.Task] = {task.name: task for task in graph.tasks}
        self.parallelism = graph.parallelism
        self.groups: list[_Group] = []
        self.inside: dict[str, _Group] = {}  # of each task that was moved into a group
        self.stale: set[str] = set()  # the tasks that still refer to what was moved into a group
        self.outward = partial(_Outward, self.inside)
        self.users: dict[str, dict[str, None]] = {}  # of each task: which tasks refer to it
        self.names = list(self.tasks)
        self.slots: list[str | None] = [*self.names]  # in order; a group takes the place of its first task
        self.slot = {name: index for index, name in enumerate(self.names)}
        self.units, self.waits = grouped(
            [[self.slot[one] for one in task.after] for task in graph.tasks], LIMIT
        )
        self.named = {task.name: _named(task) for task in graph.tasks}
        for task in graph.tasks:
            for made in (*task.after, *self.named[task.name]):
                self.users.setdefault(made, {})[task.name] = None

    def templates(self) -> list[ir.Template]:
        """The template with its groups, outermost first."""
        for unit in self.units:
            if isinstance(unit, list):
                self.group(unit)
        tasks = tuple(self.current(name) for name in self.slots if name is not None)
        outputs = tuple(
            output
            if output.value is None
            else output._replace(value=substitute(output.value, self.outward(output.kind)))
            for output in self.template.outputs
        )
        outer = self.template._replace(body=ir.Graph(tasks, self.parallelism), outputs=outputs)
        return [outer, *(group.template() for group in self.groups)]

    def group(self, units: Sequence[Unit]) -> str:
        """Replace the tasks of a group by one task; returns its name."""
        position = len(self.groups)
        names = [self.names[unit] if isinstance(unit, int) else self.group(unit) for unit in units]
        name = self._name()
        members = {one: self.current(one) for one in names}
        # By name and kind: a file under a key is a parameter and an artifact with the same name.
        inputs: dict[tuple[str, ir.Kind], ir.Argument] = {}

        inward = partial(_Inward, self.tasks, members, inputs)
        inner = tuple(
            task
            if self.named[task.name] <= members.keys() and all(one in members for one in task.after)
            else _changed(task, inward)._replace(after=tuple(one for one in task.after if one in members))
            for task in members.values()
        )
        waits = dict.fromkeys(one for task in members.values() for one in task.after if one not in members)
        first = next(iter(members.values()))
        arguments = tuple(inputs.values())
        task = ir.Task(name, name, arguments, first.place, after=tuple(waits))
        group = _Group(name, members, inner, arguments)
        self.groups.insert(position, group)
        self._replace(group, task)
        return name

    def current(self, name: str) -> ir.Task:
        """The task, with references updated to the groups created since the last call."""
        task = self.tasks[name]
        if name in self.stale:
            self.stale.remove(name)
            task = _changed(task, self.outward)
            task = task._replace(after=tuple(dict.fromkeys(self._outermost(one) for one in task.after)))
            self.tasks[name] = task
            self.named[name] = _named(task)
        return task

    def _outermost(self, name: str) -> str:
        while name in self.inside:
            name = self.inside[name].name
        return name

    def _replace(self, group: _Group, task: ir.Task) -> None:
        """Replace the members of a group by its task."""
        name, members = group.name, group.members
        at = min(self.slot[one] for one in members)
        users: dict[str, None] = {}
        makers: set[str] = set()
        for one, member in members.items():
            self.slots[self.slot.pop(one)] = None
            del self.tasks[one]
            self.inside[one] = group
            users.update(dict.fromkeys(user for user in self.users.pop(one, ()) if user not in members))
            for made in {*member.after, *self.named.pop(one)} - members.keys() - {""}:
                self.users[made].pop(one, None)
                makers.add(made)
        for made in makers:
            self.users[made][name] = None
        self.slots[at] = name
        self.slot[name] = at
        self.tasks[name] = task
        self.users[name] = users
        self.named[name] = _named(task)
        self.stale.update(users)

    def _name(self) -> str:
        number = len(self.groups) + 1
        taken = {group.name for group in self.groups}
        while (name := f"{self.template.name}-part-{number}") in self.tasks or name in taken:
            number += 1
        return name


class _Group:
    """Tasks that become a template; its outputs are those used outside."""

    def __init__(
        self,
        name: str,
        members: Mapping[str, ir.Task],
        tasks: tuple[ir.Task, ...],
        inputs: Sequence[ir.Argument],
    ) -> None:
        self.name, self.members, self.tasks, self.inputs = name, members, tasks, inputs
        # By name and kind, like its inputs.
        self.outputs: dict[tuple[str, ir.Kind], ir.Output] = {}

    def template(self) -> ir.Template:
        ports = tuple(
            ir.Input(one.name, one.kind, optional=one.kind == "artifact" and isinstance(one.type, t.Maybe))
            for one in self.inputs
        )
        place = next(iter(self.members.values())).place
        return ir.Template(self.name, ports, tuple(self.outputs.values()), ir.Graph(self.tasks), place)


class _Inward:
    """Replaces a value that the tasks of a group take from outside by an input of the group."""

    def __init__(
        self,
        tasks: Mapping[str, ir.Task],
        members: Mapping[str, ir.Task],
        inputs: dict[tuple[str, ir.Kind], ir.Argument],
        kind: ir.Kind,
    ) -> None:
        self.tasks, self.members, self.inputs = tasks, members, inputs
        self.how: ir.Kind = "artifact" if kind == "artifact" else "parameter"

    def __call__(self, expr: Expr) -> Expr | None:
        """The input, which is added to the group; None for any other expression."""
        if isinstance(expr, Stored):
            return _texts(expr, _Inward(self.tasks, self.members, self.inputs, "parameter"))
        given: tuple[Expr, t.Type] | None = None
        match expr:
            case Either((Out(str() as made) as first, *rest), whole) if self.skipped(made):
                found = self(first)
                assert found is not None
                return _chosen(found, [substitute(one, self) for one in rest], whole)
            case Out(str() as made, output, typed) if made not in self.members:
                port = f"{made}-{output}"
                if self.skipped(made) and self.how == "parameter":
                    absent = (expr.changed(type=t.TEXT), Const(ABSENT, t.TEXT))
                    given = Either(absent, t.TEXT), t.TEXT
            case Param(port, typed):
                pass
            case Ran(made) if made not in self.members:
                port = f"{made}-status"
                self.inputs[port, "parameter"] = ir.Argument(port, "parameter", expr, t.TEXT)
                return Op("==", (Param(port, t.TEXT), Const("true", t.TEXT)), t.BOOL)
            case _:
                return None
        self.inputs.setdefault((port, self.how), ir.Argument(port, self.how, *(given or (expr, typed))))
        return Param(port, typed)

    def skipped(self, made: str) -> bool:
        """Whether a task outside of the group may not run."""
        return made not in self.members and self.tasks[made].when is not None


class _Outward:
    """Replaces an output of a task in a group by an output of the task for the group."""

    def __init__(self, inside: Mapping[str, _Group], kind: ir.Kind) -> None:
        self.inside = inside
        self.how: ir.Kind = "artifact" if kind == "artifact" else "parameter"

    def __call__(self, expr: Expr) -> Expr | None:
        """The output, which is added to the group; None for any other expression."""
        if isinstance(expr, Stored):
            return _texts(expr, _Outward(self.inside, "parameter"))
        match expr:
            case Either((Out(str() as made) as first, *rest), whole) if group := self.inside.get(made):
                port = self(first)
                assert port is not None
                others = [substitute(one, self) for one in rest]
                chosen = _present if group.members[made].when is None else _chosen
                return chosen(port, others, whole)
            case Out(str() as made, output, typed) if group := self.inside.get(made):
                name = f"{made}-{output}"
                skipped = group.members[made].when is not None and self.how == "parameter"
                default = ABSENT if skipped else None
                optional = self.how == "artifact" and isinstance(typed, t.Maybe)
                group.outputs[name, self.how] = ir.Output(
                    name, self.how, value=expr, default=default, optional=optional
                )
                return substitute(Out(group.name, name, typed), self)
            case Ran(made) if group := self.inside.get(str(made)):
                name = f"{made}-status"
                group.outputs[name, "parameter"] = ir.Output(name, "parameter", value=expr)
                status = substitute(Out(group.name, name, t.TEXT), self)
                return Op("==", (status, Const("true", t.TEXT)), t.BOOL)
            case _:
                return None


def _texts(stored: Stored, change: Change) -> Expr:
    """A file outside of the run: its texts are parameters."""
    return stored.changed(texts=tuple([substitute(one, change) for one in stored.texts]))


def _chosen(port: Expr, others: list[Expr], whole: t.Type) -> Expr:
    """The value of a port if its task ran, else the first of the others that exists."""
    other = others[0] if len(others) == 1 else Either(tuple(others), whole)
    asked = Op("!=", (port.changed(type=t.TEXT), Const(ABSENT, t.TEXT)), t.BOOL)
    return Op("?:", (asked, _present(port, others, whole), other), whole)


def _present(port: Expr, others: list[Expr], whole: t.Type) -> Expr:
    """The value of a port whose task ran; if it is None, it is not chosen."""
    plain = not isinstance(port.type, t.Maybe) and t.is_text(port.type) == t.is_text(whole)
    return port if plain else Either((port, *others), whole)


def _named(task: ir.Task) -> set[str]:
    """The tasks whose outputs a task uses; the empty name for a parameter of the graph."""
    found: set[str] = set()
    stack = [argument.value for argument in task.arguments if type(argument.value) is not Const]
    if task.when is not None:
        stack.append(task.when)
    while stack:
        one = stack.pop()
        if isinstance(one, (Out, Ran)):
            found.add(str(one.task))
        elif isinstance(one, Param):
            found.add("")
        else:
            stack.extend(children(one))
    return found


def _changed(task: ir.Task, change: Callable[[ir.Kind], Change]) -> ir.Task:
    arguments = tuple(
        argument._replace(value=substitute(argument.value, change(argument.kind)))
        for argument in task.arguments
    )
    when = task.when if task.when is None else substitute(task.when, change("parameter"))
    return task._replace(arguments=arguments, when=when)
