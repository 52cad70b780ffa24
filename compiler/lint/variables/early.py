"""Global outputs before they are made, as Argo's validator goes through a workflow, and as a run does."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import GRAPH_BODIES
from flowdsl.compiler.lint.manifest.globals import global_outputs
from flowdsl.compiler.lint.manifest.view import LOOPS, callees
from flowdsl.compiler.lint.variables.findings import LiteralTag
from flowdsl.compiler.lint.variables.texts import strings
from flowdsl.compiler.lint.variables.unreplaced import unreplaced
from flowdsl.compiler.lint.variables.uses import Place
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import inside, value_at
from flowdsl.diagnostic import Finding
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.expression import parse
from flowdsl.grammar.expression_tree import variables
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator

    from flowdsl.compiler.lint.manifest.view import Call, Template, View
    from flowdsl.compiler.problem import Part
    from flowdsl.compiler.tree import Path
    from flowdsl.grammar.template import Tag


class TooEarly(Finding):
    """A plain tag with a global output that is made later: Argo refuses the workflow."""

    code = "FD823"
    title = "`{name}` is not known here yet{reason}"
    label = "Argo refuses the workflow{often}"
    help = "{way}"
    name: str
    way: str
    reason: str = ": what makes it comes later"
    often: str = ""


FAILURES = "workflow.failures"
_AT_END = "read it in what `onExit` runs, or give it to a hook of the workflow as an argument"
_STEPS = "move the step that makes it to a group before, or hand the value on as an argument"
_OTHERS = "let what makes it come first, by `depends` or in the list, or hand the value on as an argument"


def early(view: View) -> Iterator[Problem]:
    """Plain tags name global outputs that a call before them makes.

    Source: validateTemplate, validateSteps and validateDAG in workflow/validate of Argo 4.1, which visit each template
    where it is called first. Of tasks that may come in any order, two are tried.
    """
    calls = [call for call in view.outlines if call.parent is None]
    called = {id(each): each for each in callees(calls)}
    made = {name for each in called.values() for name in global_outputs(each)}
    if any("{{" in name for name in made) or not all(call.known for call in calls):
        made = set[str]()
    ends = view.spec.get("onExit") or view.hooks
    if (ends if view.runs else view.setting("entrypoint")) and _asks_for_failures(view):
        made.add(FAILURES)
    if not made or view.external or view.base is not None:
        return
    own = {id(template) for template in view.all}
    walk = _Walk(made.copy(), own, reverse=False)
    one = other = walk.all(view)
    if walk.several:
        other = _Walk(made.copy(), own, reverse=True).all(view)
    told = {**one, **other}
    if all(each.path in view.at for each in called.values() if each.calls):
        yield from _unawaited(view, told)
    for place in told:
        name, way = one.get(place) or other[place]
        finding = TooEarly(name, way)
        if name == FAILURES:
            finding = TooEarly(name, _AT_END, ": only exit handlers have it")
        elif not (place in one and place in other):
            finding = TooEarly(name, way, ": what makes it stands beside", " every now and then")
        yield Problem(place[0], finding, part=place[1])


def _unawaited(view: View, told: Collection[tuple[Path, Part]]) -> Iterator[Problem]:
    """Tags with global outputs in calls that do not wait for what makes them, where it is called once.

    Steps of one group, and tasks without an order, begin together, and Argo replaces what is known then.
    """
    makers: defaultdict[str, list[Call]] = defaultdict(list)
    for call in (*view.calls, *view.hooks):
        for name in global_outputs(call.callee) if call.callee is not None else ():
            makers[name].append(call)
    owners = {id(each.owner): each.owner for made in makers.values() for each in made}
    for owner in filter(partial(_is_once, view), owners.values()):
        own = {
            name: made
            for name, made in makers.items()
            if all(each.owner is owner and each.parent is None for each in made)
        }
        used = list(_uses(owner, own)) if own else []
        waiting = _waiting(owner, [(each, call) for call, name, *_ in used for each in own[name]])
        for call, name, path, part in used:
            made = own[name]
            if (
                call not in made
                and (path, part) not in told
                and not any((each, call) in waiting for each in made)
            ):
                reason = f"`{call.name}` does not wait for `{made[0].name}`, which makes it"
                finding: Finding | None = LiteralTag(name, reason, _OTHERS)
                if owner.body == "steps":  # in a DAG, it may be known by chance
                    text: str = value_at(view.document, path)
                    finding = unreplaced(
                        LiteralTag(name, reason, _STEPS), name, path, text, Place(owner, call)
                    )
                if finding is not None:
                    yield Problem(path, finding, part=part)


def _waiting(owner: Template, pairs: list[tuple[Call, Call]]) -> set[tuple[Call, Call]]:
    """The pairs of which the second begins when the first has ended."""
    if owner.body == "steps":
        return {(one, other) for one, other in pairs if one.group < other.group}
    if not owner.dag.is_sound:
        return set(pairs)
    index = owner.call_index
    reached = owner.dag.reached((index[one.name], index[other.name]) for one, other in pairs)
    return {(one, other) for one, other in pairs if (index[one.name], index[other.name]) in reached}


def _uses(owner: Template, names: Container[str]) -> Iterator[tuple[Call, str, Path, Part]]:
    """The tags in the calls of a template that hold one of some variables."""
    for call in owner.calls:
        texts = {field: call.data[field] for field in ("arguments", "when", *LOOPS) if field in call.data}
        for path, _, text in strings(texts, call.path):
            for tag in tags(text) if "{{" in text else ():
                if name := next(filter(names.__contains__, _named(tag)), ""):
                    yield call, name, path, (tag.start, tag.end)


def _named(tag: Tag) -> Iterable[str]:
    """The variables that a tag names."""
    if tag.kind != "expression":
        return (tag.body.strip(),)
    try:
        return [".".join(each.path) for each in variables(parse(tag.body))]
    except GrammarError:
        return ()


def _is_once(view: View, template: Template) -> bool:
    """Whether a run of the workflow comes to a template once and no more."""
    seen = {id(template)}
    while template is not view.named.get(view.setting("entrypoint")):
        callers = view.callers.get(id(template), ())
        if len(callers) != 1 or callers[0].loop or callers[0].parent is not None:
            return False
        template = callers[0].owner
        if id(template) in seen:
            return False
        seen.add(id(template))
    return id(template) not in view.callers


def _asks_for_failures(view: View) -> bool:
    """Whether a template names them, or what one hands on."""
    leaves = (template for template in view.all if template.body not in GRAPH_BODIES)
    return any(FAILURES in text for text in view.values) or any(
        FAILURES in text for template in leaves for text in (template.source, template.text)
    )


def _at_end(call: Call) -> bool:
    """Whether a step knows its own outputs, because a hook of its end may."""
    return bool(call.data.get("onExit")) or inside(call.data, "hooks").get("exit") is not None


class _Walk:
    """Visits templates as Argo's validator does, and notes what is named before it is known."""

    def __init__(self, made: set[str], own: set[int], reverse: bool) -> None:
        self.unknown = made
        self.own = own
        self.reverse = reverse
        self.several = False  # whether there is more than one order
        self.visited: set[int] = set()
        self.found: dict[tuple[Path, Part], tuple[str, str]] = {}

    def all(self, view: View) -> dict[tuple[Path, Part], tuple[str, str]]:
        """What is named too early in a document: where, the name, and the way out."""
        for field in ("entrypoint", "onExit"):
            template = view.named.get(view.setting(field))
            if field == "onExit" and template is not None:
                self.unknown.discard(FAILURES)
            if template is not None:
                self.visit(template)
        if not (view.runs or view.spec.get("onExit") or view.hooks):
            self.unknown.discard(FAILURES)  # what it runs may bring a hook that reads them
        for template in view.listed:
            self.visit(template)
        return self.found

    def visit(self, template: Template) -> None:
        """Look at a template that is called, and at those that it calls; at each once."""
        if id(template) in self.visited or not self.unknown:
            return
        self.visited.add(id(template))
        is_own = id(template) in self.own
        if template.body not in GRAPH_BODIES:
            self._texts(template.data, template.path, _OTHERS if is_own else "")
            return
        in_steps = template.body == "steps"
        order = range(len(template.calls)) if in_steps else template.dag.sorted(self.reverse)
        self.several |= not in_steps and sum(not needs for needs in template.dag.needs) > 1
        for call in (template.calls[position] for position in order):
            if call.callee is not None:
                self.visit(call.callee)
            if in_steps and not _at_end(call):
                self._call(call, _STEPS if is_own else "")
            self._make(call)
            if in_steps and _at_end(call):
                self._call(call, _STEPS if is_own else "")
        for call in () if in_steps else template.calls:
            self._call(call, _OTHERS if is_own else "")
        outputs = template.data.get("outputs")
        self._texts(outputs, (*template.path, "outputs"), _OTHERS if is_own else "")

    def _make(self, call: Call) -> None:
        if call.callee is not None:
            self.unknown.difference_update(global_outputs(call.callee))

    def _call(self, call: Call, way: str) -> None:
        self._texts({key: value for key, value in call.data.items() if key != "inline"}, call.path, way)

    def _texts(self, node: object, path: Path, way: str) -> None:
        """Look at the texts below a node; those of another document, without a `way`, have no place in this one."""
        for place, _, text in strings(node, path) if self.unknown and way else ():
            for tag in tags(text):
                name = tag.body.strip()
                if tag.kind != "expression" and name in self.unknown:
                    self.found[place, (tag.start, tag.end)] = name, way
