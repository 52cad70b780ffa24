"""Global outputs that are read before they are set, in the order of Argo's validator and of a run, or never kept."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import GRAPH_BODIES
from flowdsl.compiler.lint.manifest.dag import inner_first
from flowdsl.compiler.lint.manifest.globals import global_outputs
from flowdsl.compiler.lint.manifest.template import LOOPS, callees
from flowdsl.compiler.lint.variables.findings import LiteralTag
from flowdsl.compiler.lint.variables.texts import naming, plain_tags
from flowdsl.compiler.lint.variables.unreplaced import unreplaced
from flowdsl.compiler.lint.variables.uses import Place
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries_at, inside, string, value_at
from flowdsl.diagnostic import Finding
from flowdsl.grammar.template import only_tag

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator

    from flowdsl.compiler.lint.manifest.template import Call, Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.problem import Part
    from flowdsl.compiler.tree import Path


class TooEarly(Finding):
    """A plain tag with a global output that is made only later: Argo refuses the workflow."""

    code = "FD823"
    title = "`{name}` is not known here yet{reason}"
    label = "Argo refuses the workflow{often}"
    help = "{way}"
    name: str
    way: str
    reason: str = ": what makes it comes later"
    often: str = ""


class OnlyAtEnd(Finding):
    """A tag with the failures of a run, in a template that is checked for itself and not as what runs at an end."""

    code = "FD878"
    severity = "warning"
    title = (
        "`argo lint` and Argo's server refuse the template: only the end of a run knows `workflow.failures`"
    )
    label = "with `kubectl apply`, what a run ends with may be this template"
    help = (
        "write `{{{{=workflow.failures}}}}`, which is evaluated in the run, or give the template an `onExit`"
    )


class NeverNoted(Finding):
    """The global name of an output that a graph or a list of steps has, and Argo does not note."""

    # Sources: Argo Workflows, executeDAG in workflow/controller/dag.go, which notes the outputs of its tasks when it
    # has ended, and getTemplateOutputsFromScope in operator.go: an artifact that is handed on keeps the fields of its
    # source.
    code = "FD892"
    severity = "warning"
    title = "the run has no global output `{name}`: {reason}"
    label = "has no effect"
    help = "{way}"
    name: str
    reason: str
    way: str


class Replaced(Finding):
    """An output with the global name of another output of its template, which it replaces."""

    # Source: Argo Workflows, addParamToGlobalScope and addArtifactToGlobalScope.
    code = "FD879"
    severity = "warning"
    title = "`{name}` is the global output of `{first}` already: the last one replaces it"
    label = "the run keeps only one"
    help = "give each output a `globalName` of its own"
    name: str
    first: str


FAILURES = "workflow.failures"
_AT_END = "read it in what `onExit` runs, or give it to a hook of the workflow as an argument"
_PERHAPS = "only what runs at an end may have this template"
_STEPS = "move the step that makes it to a group before, or pass the value on as an argument"
_OTHERS = "let what makes it come first, by `depends` or in the list, or pass the value on as an argument"


def early(view: View) -> Iterator[Problem]:
    """Simple tags name global outputs that an earlier call sets.

    Source: validateTemplate, validateSteps and validateDAG in workflow/validate of Argo 4.1, which visit each
    template where it is called first. Two of the possible orders of tasks are tried.
    """
    calls = [call for call in view.outlines if call.parent is None]
    called = {id(each): each for each in callees(calls)}
    made = {name for each in called.values() for name in global_outputs(each)}
    sure = all(call.known for call in calls) and not view.external and view.base is None
    computed = {name for name in made if "{{" in name}
    if computed and sure:
        yield from _computed(view, made - computed)
    if computed or not sure:
        made = set[str]()
    ends = view.spec.get("onExit") or view.hooks
    if (ends or not view.runs) and _asks_for_failures(view):
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
        finding: Finding = TooEarly(name, way)
        if way == _PERHAPS:
            finding = OnlyAtEnd()
        elif name == FAILURES:
            finding = TooEarly(name, _AT_END, ": only exit handlers have it")
        elif not (place in one and place in other):
            finding = TooEarly(name, way, ": what makes it is beside this", " every now and then")
        yield Problem(place[0], finding, part=place[1])


def _computed(view: View, made: Collection[str]) -> Iterator[Problem]:
    """Simple tags with global outputs where the `globalName` is only known at run time.

    Source: addOutputsToScope in workflow/validate of Argo 4.1: any name is accepted in a step list after a
    call that sets one, in all of a DAG with such a call, and for artifacts in `onExit`.
    """
    first = inner_first([] if view.first is None else [view.first], lambda each: callees(each.outlines))
    begun = set(map(id, first))
    for kind in ("parameters", "artifacts"):
        prefix = f"workflow.outputs.{kind}."
        at_end = kind == "artifacts" and view.spec.get("onExit")
        for template in (each for each in view.listed if not at_end or id(each) in begun):
            for node, path, way in _before_makers(template, prefix):
                for place, name, part in plain_tags(node, path):
                    if name.startswith(prefix) and name not in made:
                        finding = TooEarly(name, way or _looked_up(name, prefix), _IN_RUN)
                        yield Problem(place, finding, part=part)


_IN_RUN = ": a `globalName` with a tag in it is known in the run only"


def _looked_up(name: str, prefix: str) -> str:
    """How to refer to a global output where Argo does not validate the name."""
    if ".artifacts." in prefix:
        return "take it in the graph that makes it, after the call that does, or at the end of the run"
    return f"write `{{{{={prefix[:-1]}['{name.removeprefix(prefix)}']}}}}`, which is looked up in the run"


def _before_makers(template: Template, prefix: str) -> Iterator[tuple[object, Path, str]]:
    """The parts of a template that Argo validates before a call in it sets outputs with unknown names.

    With each, the fix, if it is to be moved after the call.
    """
    if template.body not in GRAPH_BODIES:
        yield template.data, template.path, ""
        return
    makes = (call for call in template.calls if call.callee is not None and _names_later(call.callee, prefix))
    maker = next(makes, None)
    if maker is None:
        yield template.data.get("outputs"), (*template.path, "outputs"), ""
    elif template.body == "dag":
        return
    for call in template.calls:
        if call is maker and _at_end(call):
            return
        yield _without_inline(call), call.path, "" if maker is None else _STEPS
        if call is maker:
            return


def _names_later(template: Template, prefix: str) -> bool:
    return any("{{" in name and name.startswith(prefix) for name in global_outputs(template))


def _without_inline(call: Call) -> dict[str, object]:
    return {key: value for key, value in call.data.items() if key != "inline"}


def _unawaited(view: View, told: Collection[tuple[Path, Part]]) -> Iterator[Problem]:
    """Tags with global outputs in calls that do not wait for the call that sets them, which occurs once.

    Steps of one group, and tasks without an order, start together, and Argo replaces what is known then.
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
            before = [each for each in made if (each, call) in waiting]
            if call not in made and (path, part) not in told and all(map(_noted_late, before)):
                reason = f"`{call.name}` does not wait for `{made[0].name}`, which makes it"
                way = _OTHERS
                if before:
                    reason = f"`{owner.title}` takes note of it when all of its tasks have ended"
                    way = "pass the value on as an argument"
                finding: Finding | None = LiteralTag(name, reason, way)
                if owner.body == "steps":  # in a DAG, it may be known by chance
                    text: str = value_at(view.document, path)
                    finding = unreplaced(
                        LiteralTag(name, reason, _STEPS), name, path, text, Place(owner, call)
                    )
                if finding is not None:
                    yield Problem(path, finding, part=part)


def _waiting(owner: Template, pairs: list[tuple[Call, Call]]) -> set[tuple[Call, Call]]:
    """The pairs of which the second starts after the first has ended."""
    if owner.body == "steps":
        return {(one, other) for one, other in pairs if one.group < other.group}
    if not owner.dag.is_sound:
        return set(pairs)
    index = owner.call_index
    reached = owner.dag.reached((index[one.name], index[other.name]) for one, other in pairs)
    return {(one, other) for one, other in pairs if (index[one.name], index[other.name]) in reached}


def _uses(owner: Template, names: Container[str]) -> Iterator[tuple[Call, str, Path, Part]]:
    """The tags in the calls of a template that contain one of some variables."""
    for call in owner.calls:
        texts = {field: call.data[field] for field in ("arguments", "when", *LOOPS) if field in call.data}
        yield from ((call, *found) for found in naming(texts, call.path, names))


def _is_once(view: View, template: Template) -> bool:
    """Whether a run reaches a template exactly once."""
    seen = {id(template)}
    while template is not view.first:
        callers = view.callers.get(id(template), ())
        if len(callers) != 1 or callers[0].loop or callers[0].parent is not None:
            return False
        template = callers[0].owner
        if id(template) in seen:
            return False
        seen.add(id(template))
    return id(template) not in view.callers


def _asks_for_failures(view: View) -> bool:
    """Whether a template, or an argument, refers to the failures."""
    leaves = (template for template in view.all if template.body not in GRAPH_BODIES)
    return any(FAILURES in text for text in view.values) or any(
        FAILURES in text for template in leaves for text in (template.source, template.text)
    )


def _at_end(call: Call) -> bool:
    """Whether a step knows its own outputs, because its exit hook may use them."""
    return bool(call.data.get("onExit")) or inside(call.data, "hooks").get("exit") is not None


def never_noted(view: View) -> Iterator[Problem]:
    """The global outputs of DAGs and step lists are stored."""
    if view.external or not all(call.known for call in view.outlines):
        return
    noted = {name for template in view.all for name in _noted(view, template)}
    if any("{{" in name for name in noted):
        return
    for template in view.listed:
        called = view.callers.get(id(template)) or view.begins_or_ends_with(template)
        for kind in ("parameters", "artifacts") if template.body in GRAPH_BODIES and called else ():
            for place, output in entries_at(template.data, template.path, "outputs", kind):
                name = string(output, "globalName")
                if not name or f"workflow.outputs.{kind}.{name}" in noted:
                    continue
                path = (*place, "globalName")
                if kind == "parameters":
                    reason = "of a graph, only another graph notes the outputs, and of no loop"
                    way = "give the `globalName` to the output of the task that makes the value"
                    yield Problem(path, NeverNoted(name, reason, way))
                elif _is_made_within(output):
                    reason = "an artifact that is handed on keeps the name that its source has"
                    way = "give the `globalName` to the output of the template that makes the file"
                    yield Problem(path, NeverNoted(name, reason, way))


def replaced(view: View) -> Iterator[Problem]:
    """The global outputs of one template have different names."""
    for template in view.templates:
        for kind in ("parameters", "artifacts"):
            first: dict[str, str] = {}
            for path, output in entries_at(template.data, template.path, "outputs", kind):
                name, own = string(output, "globalName"), string(output, "name")
                if name and first.setdefault(name, own) != own:
                    yield Problem((*path, "globalName"), Replaced(name, first[name]))


def _noted(view: View, template: Template) -> Iterable[str]:
    """The global outputs that the run has after a call of a template, as far as known."""
    names = global_outputs(template)
    if template.body not in GRAPH_BODIES:
        return names
    callers = view.callers.get(id(template), ())
    if template.body == "dag" and view.runs and not any(map(_notes, callers)):
        return ()
    return (name for name in names if name.startswith("workflow.outputs.parameters."))


def _is_made_within(artifact: dict[str, object]) -> bool:
    """Whether an artifact is the output of a task or step."""
    source = artifact.get("from")
    tag = only_tag(source) if type(source) is str else None
    return tag is not None and tag[1].strip().startswith(("tasks.", "steps."))


def _noted_late(call: Call) -> bool:
    """Whether the outputs of a task are stored when its DAG has ended: those of a pod are stored when it has."""
    return call.owner.body == "dag" and call.callee is not None and call.callee.body == "dag"


def _notes(call: Call) -> bool:
    """Whether the caller of a DAG stores its outputs, when it has ended itself."""
    return call.is_task and not call.loop


class _Walk:
    """Visits templates in the order of Argo's validator, and records names that are used before they are known."""

    def __init__(self, made: set[str], own: set[int], reverse: bool) -> None:
        self.unknown = made
        self.own = own
        self.reverse = reverse
        self.several = False  # whether there are several orders
        self.perhaps = False  # whether templates that are not visited may be used by an exit handler
        self.visited: set[int] = set()
        self.found: dict[tuple[Path, Part], tuple[str, str]] = {}

    def all(self, view: View) -> dict[tuple[Path, Part], tuple[str, str]]:
        """The names that a document uses too early: by location, the name and the fix."""
        if view.first is not None:
            self.visit(view.first)
        if view.last is not None:
            self.unknown.discard(FAILURES)
            self.visit(view.last)
        self.perhaps = not (view.runs or view.hooks)  # its users may have a hook that reads them
        for template in view.listed:
            self.visit(template)
        return self.found

    def visit(self, template: Template) -> None:
        """Check a template that is called, and those that it calls; each once."""
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
        self._texts(_without_inline(call), call.path, way)

    def _texts(self, node: object, path: Path, way: str) -> None:
        """Check the texts below a node; those of another document, without a `way`, are not reported."""
        for place, name, part in plain_tags(node, path) if self.unknown and way else ():
            if name in self.unknown:
                perhaps = self.perhaps and name == FAILURES
                self.found[place, part] = name, _PERHAPS if perhaps else way
