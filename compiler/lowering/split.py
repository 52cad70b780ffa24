"""Splits graphs that are too large for one DAG into nested DAGs of at most 200 tasks.

The full CRDs allow 200 tasks in a DAG. Tasks are grouped so that a group waits for nothing that each of its
members does not wait for anyway: parts of a graph that do not depend on each other are apart, and a part is
cut in two only where everything behind the cut waits for everything before it. What is left of a part of which
something is taken off is not read again: loops that hand on a state lose a task at a time. A graph that has neither
and is still too large is cut in topological order, which makes some tasks wait for others; `Waiting` says so.

A group becomes a template with the values it takes as inputs and those others take of it as outputs.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, TypeAlias

from flowdsl.compiler import ir
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Either, Expr, Op, Out, Param, Ran, Stored, children, substitute

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LIMIT = 200
"""The maximum number of tasks of one DAG. Source: Argo's full CRDs, maxItems of dag.tasks."""

ABSENT = "flowdsl:absent"
"""The output of a group for an output of a task that did not run."""

Unit: TypeAlias = "int | list[Unit]"
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
        self.waits = False
        self.tasks: dict[str, ir.Task] = {task.name: task for task in graph.tasks}
        self.parallelism = graph.parallelism
        self.groups: list[_Group] = []
        self.inside: dict[str, _Group] = {}  # of each task that was moved into a group
        self.stale: set[str] = set()  # the tasks that still refer to what was moved into a group
        self.outward = partial(_Outward, self.inside)
        self.users: dict[str, dict[str, None]] = {}  # of each task: which tasks refer to it
        names = list(self.tasks)
        position = {name: index for index, name in enumerate(names)}
        self.before = [[position[one] for one in task.after] for task in graph.tasks]
        self.after: list[list[int]] = [[] for _ in names]
        for index, found in enumerate(self.before):
            for one in found:
                self.after[one].append(index)
        self.names = names
        self.slots: list[str | None] = [*names]  # in order; a group takes the place of its first task
        self.slot = position
        self.named = {task.name: _named(task) for task in graph.tasks}
        for task in graph.tasks:
            for made in (*task.after, *self.named[task.name]):
                self.users.setdefault(made, {})[task.name] = None

    def templates(self) -> list[ir.Template]:
        """The template with its groups, outermost first."""
        for unit in self.units(list(range(len(self.names)))):
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

    # --- grouping the tasks ------------------------------------------------------------------------

    def units(self, members: list[int]) -> list[Unit]:
        """At most LIMIT units of tasks in topological order, each a task or a list of units."""
        # First inside the largest part, then inside the largest part of that, and so on.
        around: list[tuple[list[Unit], list[Unit]]] = []
        part = _Part(members, self.before, self.after)
        while len(part) > LIMIT:
            bins: list[list[int] | _Part] = []
            for one in self.parts(part):
                last = bins[-1] if bins else None
                if isinstance(last, list) and len(last) + len(one) <= LIMIT:
                    last.extend(one)
                else:
                    bins.append(list(one) if len(one) <= LIMIT else one)
            at = max(range(len(bins)), key=lambda index: len(bins[index]))
            around.append((self._each(bins[:at]), self._each(bins[at + 1 :])))
            largest = bins[at]
            part = largest if isinstance(largest, _Part) else _Part(sorted(largest), self.before, self.after)
        found: list[Unit] = list(part)
        for before, behind in reversed(around):
            found = [*before, found if len(found) > 1 else found[0], *behind]
            while len(found) > LIMIT:
                found = [found[at : at + LIMIT] for at in range(0, len(found), LIMIT)]
            found = _unfolded(found)
        return found

    def _each(self, bins: Sequence[list[int] | _Part]) -> list[Unit]:
        parts = [sorted(one) for one in bins]
        return [one[0] if len(one) == 1 else self.units(one) for one in parts]

    def parts(self, part: _Part) -> list[list[int] | _Part]:
        """The parts of a part in topological order; one that was only trimmed is itself among them."""
        if apart := part.apart():
            return sorted([*apart, part], key=lambda one: next(iter(one)))
        first, last = part.ends()
        if first or last:
            return [*first, part, *last]
        members = list(part)
        cut = self.series(members)
        if len(cut) == 1:
            self.waits = True
            cut = [members[at : at + LIMIT] for at in range(0, len(members), LIMIT)]
        return [*cut]

    def series(self, members: list[int]) -> list[list[int]]:
        """The pieces between cuts at which everything after waits for everything before.

        Between positions k-1 and k there is such a cut if every last task before it and every first task
        after it are joined by an edge: then the number of edges across the cut is that of such pairs.
        """
        inside = {one: at for at, one in enumerate(members)}
        count = len(members)
        needed = [[inside[other] for other in self.before[one] if other in inside] for one in members]
        begins = [max(needs, default=-1) for needs in needed]
        ends = [count] * count
        for at, needs in enumerate(needed):
            for other in needs:
                ends[other] = min(ends[other], at)
        # The increase compared with the previous position.
        last, first, edges = [0] * (count + 2), [0] * (count + 2), [0] * (count + 2)
        for at, needs in enumerate(needed):
            begin = begins[at] + 1
            last[at + 1] += 1
            last[ends[at] + 1] -= 1
            first[begin] += 1
            first[at + 1] -= 1
            for other in needs:
                if begin <= ends[other]:
                    edges[begin] += 1
                    edges[ends[other] + 1] -= 1
        found = zip(accumulate(last), accumulate(first), accumulate(edges), strict=True)
        joined = [spanning == lasts * firsts for lasts, firsts, spanning in found]
        cuts = [0, *(at for at in range(1, count) if joined[at]), count]
        return [members[start:end] for start, end in pairwise(cuts)]

    # --- a group becomes a template ----------------------------------------------------------------

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


class _Part:
    """Tasks independent of all others; some can be removed at a cost that depends on those alone."""

    def __init__(self, members: list[int], before: list[list[int]], after: list[list[int]]) -> None:
        self.members, self.before, self.after = members, before, after
        self.first = 0  # where the remaining members begin
        self.inside = set(members)
        self.waits = {one: sum(other in self.inside for other in before[one]) for one in members}
        self.awaited = {one: sum(other in self.inside for other in after[one]) for one in members}
        self.sources = {one for one in members if not self.waits[one]}
        self.sinks = {one for one in members if not self.awaited[one]}

    def __len__(self) -> int:
        return len(self.inside)

    def __iter__(self) -> Iterator[int]:
        while self.members[self.first] not in self.inside:
            self.first += 1
        left = (self.members[at] for at in range(self.first, len(self.members)))
        return (one for one in left if one in self.inside)

    def ends(self) -> tuple[list[list[int]], list[list[int]]]:
        """Remove tasks at both ends, as long as all tasks next to them wait for all of them; in topological order.

        The end with fewer tasks is examined first: the other may be long, and remain.
        """
        first: list[list[int]] = []
        last: list[list[int]] = []
        while True:
            if len(self.sources) <= len(self.sinks) and self._joined(self.sources, self.after, self.waits):
                first.append(self._remove(self.sources))
            elif self._joined(self.sinks, self.before, self.awaited):
                last.append(self._remove(self.sinks))
            else:
                return first, last[::-1]

    def _joined(self, ends: set[int], beyond: list[list[int]], edges: dict[int, int]) -> bool:
        """Whether each task that has only edges to these ends has one to each of them."""
        reached = Counter(other for one in ends for other in beyond[one] if other in self.inside)
        next_to = [count for other, count in reached.items() if count == edges[other]]
        return bool(next_to) and min(next_to) == len(ends)

    def _remove(self, ends: set[int]) -> list[int]:
        removed = sorted(ends)
        for those in (self.inside, self.sources, self.sinks):
            those.difference_update(removed)
        for beyond, edges, beginning in (
            (self.after, self.waits, self.sources),
            (self.before, self.awaited, self.sinks),
        ):
            for other in (other for one in removed for other in beyond[one] if other in self.inside):
                edges[other] -= 1
                if not edges[other]:
                    beginning.add(other)
        return removed

    def apart(self) -> list[list[int]]:
        """Remove the connected components, except one.

        A search starts at each end, and each advances by a task in turn; those that meet are joined. All but the last
        have finished when that one has advanced about as far as they have.
        """
        turns = deque(_Search(one) for one in min(self.sources, self.sinks, key=len))
        reached = {search.found[0]: search for search in turns}
        found: list[list[int]] = []
        running = len(turns)
        while running > 1:
            search = turns.popleft()
            if search.into is not None:
                continue
            if not search.next:
                found.append(sorted(search.found))
                running -= 1
                continue
            one = search.next.pop()
            for other in (*self.before[one], *self.after[one]):
                if other not in reached and other in self.inside:
                    reached[other] = search
                    search.found.append(other)
                    search.next.append(other)
                elif other in reached and (met := reached[other].whole()) is not search:
                    search.join(met)
                    running -= 1
            turns.append(search)
        for those in (self.inside, self.sources, self.sinks):
            those.difference_update(*found)
        return found


class _Search:
    """What a search has found, and where it continues."""

    def __init__(self, first: int) -> None:
        self.found, self.next = [first], [first]
        self.into: _Search | None = None

    def whole(self) -> _Search:
        """The search that this one was joined into."""
        search = self
        while search.into is not None:
            search.into = search.into.into or search.into
            search = search.into
        return search

    def join(self, other: _Search) -> None:
        """Merge another search into this one."""
        if len(other.found) > len(self.found):  # the shorter lists are moved
            self.found, self.next, other.found, other.next = other.found, other.next, self.found, self.next
        self.found += other.found
        self.next += other.next
        other.into = self


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


def _unfolded(units: list[Unit]) -> list[Unit]:
    """The units with the smallest lists expanded in place, as long as there are at most LIMIT.

    What is not in a group waits for less, and passes nothing through one: a template has at most 500 inputs.
    """
    found = list(units)
    while True:
        lists = [at for at, unit in enumerate(found) if isinstance(unit, list)]
        at = min(lists, key=lambda one: _length(found[one]), default=-1)
        if at < 0 or len(found) - 1 + _length(found[at]) > LIMIT:
            return found
        unit = found[at]
        found[at : at + 1] = unit if isinstance(unit, list) else [unit]


def _length(unit: Unit) -> int:
    return len(unit) if isinstance(unit, list) else 1


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
