"""Templates that call each other: without end, or too deeply."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import GRAPH_BODIES
from flowdsl.compiler.limits import DEEPEST
from flowdsl.compiler.lint.manifest.dag import cycle_in_words, cycles, inner_first
from flowdsl.compiler.lint.manifest.template import Template, callees
from flowdsl.compiler.lint.workflow.constant_conditions import holds
from flowdsl.compiler.lint.workflow.loops import has_items
from flowdsl.compiler.lint.workflow.passed_values import composed
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.depends import asks
from flowdsl.grammar.template import TAG

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from flowdsl.compiler.lint.manifest.template import Call
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Path


class EndlessRecursion(Finding):
    """Templates that call each other without a condition: Argo stops them at depth 100."""

    code = "FD527"
    title = "templates call each other without end: {cycle}"
    label = "calls itself in the end"
    help = "give one of these calls a `when` that ends the recursion"
    cycle: str


class TooDeep(Finding):
    """Templates nested so deeply that Argo ends the run."""

    code = "FD782"
    title = "what `{name}` runs is {depth} templates deep, and Argo ends a run at {most}"
    label = "the first of them"
    help = "inline graphs that only call one other template"
    name: str
    depth: int
    most: int


def recursion(view: View) -> Iterator[Problem]:
    """Templates do not call themselves without a condition, also not through templates of other objects."""
    found = [(path, [template.title for template in chain]) for path, chain in _endless([view])]
    same = view.library.get((view.kind, string(view.metadata, "name")))
    if same is not None and same.document == view.document:
        found += same.circles
    for path, names in found:
        yield Problem(path, EndlessRecursion(cycle_in_words(names)))


def note_circles(views: Iterable[View]) -> None:
    """Notes the recursions through several objects in the first object of each: all are looked at only once."""
    leaving = [view for view in views if any("templateRef" in call.data for call in view.calls)]
    owners = {id(template): (at, view) for at, view in enumerate(leaving) for template in view.templates}
    for path, chain in _endless(leaving):
        around = [owners[id(template)] for template in chain]
        if len({at for at, _ in around}) > 1:
            names = [
                f"{view.metadata['name']}/{template.title}"
                for (_, view), template in zip(around, chain, strict=True)
            ]
            around[0][1].circles.append((path, names))


def _endless(views: Sequence[View]) -> Iterator[tuple[Path, list[Template]]]:
    """The templates of objects that call each other without a condition, from the first object on, and its call."""
    templates = [(view, template) for view in views for template in view.templates]
    position = {id(template): index for index, (_, template) in enumerate(templates)}
    called = [
        [(position[id(callee)], path) for callee, path in _certain(*each) if id(callee) in position]
        for each in templates
    ]
    for cycle in cycles([[index for index, _ in some] for some in called]):
        first = cycle.index(min(cycle))
        chain = [*cycle[first:], *cycle[:first]]
        path = next(path for index, path in called[chain[0]] if index == chain[1 % len(chain)])
        yield path, [templates[index][1] for index in chain]


def _certain(view: View, template: Template) -> Iterator[tuple[Template, Path]]:
    """The DAGs and step lists that a template runs unless something fails, also as exit handlers; with their paths."""
    holds_at_first = cache(partial(_holds_at_first, view, template))
    for call in template.calls:
        if call.callee is not None and call.callee.body in GRAPH_BODIES:
            when = string(call.data, "when")
            if _runs(call) or (_runs(call, when="") and _is_unchanged(call) and holds_at_first(when)):
                yield call.callee, call.path
        last = view.last_of(call)
        if last is not None and last.body in GRAPH_BODIES and _runs(call):
            yield last, (*call.path, "onExit")
    for hook in template.hooks:
        at_end = hook.place[-1] == "exit" and not hook.data.get("expression")
        task = hook.parent
        if not at_end or task is None or task.data.get("onExit") or not _runs(task):
            continue
        if hook.callee is not None and hook.callee.body in GRAPH_BODIES:
            yield hook.callee, hook.path


def depth(view: View) -> Iterator[Problem]:
    """Templates that certainly run are not nested too deeply."""
    first = view.first
    if first is None or len(inner_first([first], Template.graphs)) < DEEPEST - 1:
        return
    depths: dict[int, int] = {}
    for one in inner_first([first], _run_by):
        depths[id(one)] = 1 + max((depths.get(id(each), 0) for each in _run_by(one)), default=0)
    if (found := depths[id(first)]) >= DEEPEST:
        yield Problem(first.path, TooDeep(first.title, found, DEEPEST))


def _run_by(template: Template) -> list[Template]:
    """The templates that a template runs unless something fails."""
    return callees(filter(_runs, template.calls))


def _runs(call: Call, when: str | None = None) -> bool:
    """Whether a call runs unless something fails; `when`: the condition to take instead of its own."""
    data, owner = call.data, call.owner.data
    depends: str = data.get("depends") or ""
    target = string(owner, "dag", "target")
    if asks(depends) or target or (call.loop and not has_items(call)):
        return False
    return holds(string(data, "when") if when is None else when)


def _is_unchanged(call: Call) -> bool:
    """Whether a template calls itself under a condition on inputs that it passes on as they are."""
    if call.callee is not call.owner:
        return False
    given = {
        string(each, "name"): each.get("value") for each in entries(call.data, "arguments", "parameters")
    }
    names = [tag[1].strip() for tag in TAG.finditer(string(call.data, "when"))]
    return bool(names) and all(
        name.startswith(_INPUT) and given.get(name.removeprefix(_INPUT)) == f"{{{{{name}}}}}"
        for name in names
    )


_INPUT = "inputs.parameters."


def _holds_at_first(view: View, template: Template, when: str) -> bool:
    """Whether a condition on the inputs of a template is known to hold in one of its calls in every run."""
    given = composed(view, template, when, template.path) if view.runs else ()
    own = (*view.path, "templates")  # others, who submits the run may change
    return any(path[: len(own)] == own and value and holds(value) for path, value in given)
