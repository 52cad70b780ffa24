"""A manifest as a picture of its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.graph.picture import AT_THE_END, Node, Picture, also_named, short, times
from flowdsl.compiler.limits import DEEPEST
from flowdsl.compiler.lint.manifest.view import View, named_by
from flowdsl.compiler.lint.workflow.loops import written_items
from flowdsl.compiler.tree import inside, string
from flowdsl.grammar.depends import asks
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flowdsl.compiler.graph.picture import Graph
    from flowdsl.compiler.lint.manifest.template import Call, Template
    from flowdsl.compiler.lint.manifest.view import Library
    from flowdsl.compiler.tree import Object

_WHOLE = regex(r"-?[0-9]{1,18}")
_MOST = 5_000
"""How many runs of graphs are drawn: those that call each other twice have twice as many at each level."""


def picture(document: Object, library: Library) -> Picture:
    """The picture of a document that has no errors; `library` has the templates that it may refer to.

    Without an entrypoint, the templates that no other one runs are drawn.
    """
    view = View(document, library=library)
    name = string(view.metadata, "name") or string(view.metadata, "generateName").rstrip("-")
    room = iter(range(_MOST))
    if view.first is not None and view.first.calls:
        nodes, edges = _graph(view, view.first, f"{view.first.name}/", (view.first,), room)
    else:
        nodes, edges = tuple(each.node("", (), room) for each in _beginning(view)), ()
    hooks = [_hooked(view, each, f"hooks.{each.title}") for each in view.hooks if each.title != "exit"]
    hooks += [_hooked(view, each, AT_THE_END) for each in view.hooks if each.title == "exit"]
    if view.last is not None:
        hooks.append(_Run(AT_THE_END, view.last, view, view.last.name))
    return Picture(name, (*nodes, *(each.node("", (), room) for each in hooks)), edges)


def _beginning(view: View) -> list[_Run]:
    """What a document begins with, if that is no graph."""
    if view.first is not None:
        return [_Run(view.first.name, view.first, view)]
    if view.external:
        return [_Run(string(view.spec, "workflowTemplateRef", "name"), None, view)]
    run = {id(one) for each in view.listed for one in view.run_by(each)}
    return [_Run(each.name, each, view) for each in view.listed if id(each) not in run]


class _Run(NamedTuple):
    """What runs a template of a document: a task, a step or a hook; the template is None if it is elsewhere."""

    name: str
    template: Template | None
    view: View
    template_name: str = ""
    times: str = ""
    when: str = ""

    def node(self, head: str, around: tuple[Template, ...], room: Iterator[int]) -> Node:
        """Its node; what a template runs is not drawn in itself again, nor where there is no room for it."""
        identity, template = head + self.name, self.template
        runs = also_named(self.name, self.template_name)
        inside: Graph = ((), ())
        if template is not None and template.calls and _is_new(template, around, room):
            inside = _graph(self.view, template, f"{identity}/", (*around, template), room)
        return Node(identity, self.name, runs, self.times, short(self.when), *inside)


def _is_new(template: Template, around: tuple[Template, ...], room: Iterator[int]) -> bool:
    return template not in around and len(around) < DEEPEST and next(room, None) is not None


def _graph(
    view: View, template: Template, head: str, around: tuple[Template, ...], room: Iterator[int]
) -> Graph:
    """What a template runs; nothing for a leaf."""
    nodes: list[Node] = []
    edges: list[tuple[str, str]] = []
    for call, before in zip(template.calls, _before(template), strict=True):
        nodes.append(_called(view, call).node(head, around, room))
        edges += ((head + template.calls[one].name, head + call.name) for one in before)
        for hook in _hooks(view, call):
            nodes.append(hook.node(head, around, room))
            edges.append((head + call.name, nodes[-1].id))
    return tuple(nodes), tuple(edges)


def _before(template: Template) -> Sequence[Sequence[int]]:
    """What each call waits for, by position: its dependencies, or all steps of the group before its own."""
    if template.body == "dag":
        return template.dag.needs
    groups: dict[int, list[int]] = {}
    for position, call in enumerate(template.calls):
        groups.setdefault(call.group, []).append(position)
    earlier = dict(zip(groups, [[], *groups.values()], strict=False))
    return [earlier[call.group] for call in template.calls]


def _called(view: View, call: Call) -> _Run:
    """A task or step."""
    asked = call.depends if asks(call.depends) else ""
    when = ", ".join(filter(None, (asked, string(call.data, "when"))))
    return _Run(call.name, call.callee, *_reference(view, call), _times(call) if call.loop else "", when)


def _hooks(view: View, call: Call) -> Iterator[_Run]:
    """The hooks of a task or step, named as their nodes are in Argo."""
    if last := string(call.data, "onExit"):
        yield _Run(f"{call.name}.onExit", view.last_of(call), view, last)
    for hook in call.owner.hooks:
        if hook.parent is call:
            name = "onExit" if hook.title == "exit" else f"hooks.{hook.title}"
            yield _hooked(view, hook, f"{call.name}.{name}")


def _hooked(view: View, hook: Call, name: str) -> _Run:
    return _Run(name, hook.callee, *_reference(view, hook), "", string(hook.data, "expression"))


def _reference(view: View, call: Call) -> tuple[View, str]:
    """The document with the template that is called, or this one if that is not known, and the name in it."""
    if call.data.get("inline") is not None:
        return view, ""
    if (reference := call.data.get("templateRef")) is None:
        return view, string(call.data, "template")
    name = f"{reference.get('name')}/{reference.get('template')}"
    return view.library.get(named_by(reference), view), name


def _times(call: Call) -> str:
    parallel = call.owner.data.get("parallelism")
    return times(_count(call), parallel if isinstance(parallel, int) else None)


def _count(call: Call) -> int | None:
    """The number of items of a loop, if it is written there."""
    sequence = inside(call.data, "withSequence")
    if not sequence:
        return len(written_items(call.data)[1]) or None
    start, end, count = (str(sequence.get(field, "")) or "0" for field in ("start", "end", "count"))
    numbers = [int(each) for each in (start, end, count) if _WHOLE.fullmatch(each)]
    if len(numbers) < 3:
        return None
    if "count" not in sequence:
        return abs(numbers[1] - numbers[0]) + 1
    return abs(numbers[2] - 1) + 1 if numbers[2] else 0  # a negative one counts down
