"""The structure of a workflow: the bodies of its templates, and the order of their tasks."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import BODIES, GRAPH_BODIES
from flowdsl.compiler.lint.manifest.dag import cycles, inner_first
from flowdsl.compiler.lint.manifest.view import DEEPEST, Template, callees
from flowdsl.compiler.lint.workflow.loops import has_items
from flowdsl.compiler.lint.workflow.passed_values import composed, never_filled
from flowdsl.compiler.problem import Problem, Various
from flowdsl.compiler.tree import entries, inside, string
from flowdsl.diagnostic import Finding, suggest
from flowdsl.grammar.depends import LOOP_RESULTS, RESULTS, asks, depends
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.names import is_argo_name, is_depended_upon, is_dns_label
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import TAG, is_filled

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from flowdsl.compiler.lint.manifest.view import Call, View
    from flowdsl.compiler.tree import Path


class NoBody(Finding):
    """A template that does nothing."""

    code = "FD512"
    title = "template `{name}` has nothing to run"
    label = "{reason}"
    help = "{way}"
    name: str
    bodies: tuple[str, ...]
    empty: str = ""

    def words(self) -> dict[str, str]:
        """The name and the fix, which depends on whether an empty body is given."""
        if not self.empty:
            way = f"give it exactly one of {', '.join(self.bodies)}"
            return {"name": self.name, "reason": "nothing says what it does", "way": way}
        way = "write `suspend: {}`" if self.empty == "suspend" else f"write its fields below `{self.empty}`"
        return {"name": self.name, "reason": f"nothing follows `{self.empty}:`", "way": way}


class SeveralBodies(Finding):
    """A template that has several types at once."""

    code = "FD513"
    title = "template `{name}` has {bodies} at once"
    label = "only one of them is possible"
    help = "keep one of {bodies}, and move the others to templates of their own"
    name: str
    bodies: tuple[str, ...]


class EmptyGraph(Finding):
    """Steps or a DAG without anything to do."""

    code = "FD528"
    title = "{owner} has no {what}"
    label = "{reason}"
    help = "add one, or remove {part}"
    owner: str
    what: str
    part: str = "the template"
    reason: str = "needs at least one"


class BadPlugin(Various):
    """A `plugin` template that does not name one plugin, or a plugin without what its pod needs."""

    code = "FD529"


class UndefinedTask(Finding):
    """A dependency or target that is not a task of the DAG."""

    code = "FD516"
    title = "there is no task `{name}` in this DAG"
    label = "{suggestion}"
    help = "{way}"
    name: str
    known: Iterable[str]

    def words(self) -> dict[str, str]:
        """The name, what was probably meant, and the fix."""
        way = "name a task of the same DAG, or add this one"
        if "{{" in self.name:
            way = "write the name itself: Argo looks for the task before this tag has a value"
        return {"name": self.name, "suggestion": suggest(self.name, self.known), "way": way}


class EmptyTarget(Finding):
    """A `target` with an extra space, after which Argo looks for a task without a name."""

    code = "FD805"
    title = "`target` has an extra space, where Argo looks for a task without a name"
    help = "put one space between two names, and none around them"


class Cycle(Finding):
    """Tasks or containers that wait for each other."""

    code = "FD517"
    title = "{what} wait for each other: {cycle}"
    label = "waits for itself"
    help = "remove one of these dependencies"
    what: str
    cycle: str


class BadDepends(Finding):
    """A `depends` text that Argo cannot read."""

    code = "FD518"
    title = "`depends` cannot be read: expected {expected}, found {found}"
    label = "at character {column}"
    help = "write task names, `&&`, `||`, `!` and parentheses, such as `a && (b.Failed || c)`"
    expected: str
    found: str
    column: int


class UnknownResult(Finding):
    """A word after a task's name that Argo does not know."""

    code = "FD519"
    title = "`{result}` is not a result of task `{task}`"
    label = "{suggestion}"
    help = "use one of {results}"
    result: str
    task: str

    def words(self) -> dict[str, str]:
        """The word and what was probably meant."""
        return {
            "result": self.result,
            "task": self.task,
            "suggestion": suggest(self.result, RESULTS),
            "results": ", ".join(RESULTS),
        }


class LoopResult(Finding):
    """A result of all items, asked of a task without items."""

    code = "FD520"
    title = "`{task}.{result}` needs a task with a loop, and `{task}` has none"
    label = "`{task}` has no items"
    help = "use `{task}.{instead}`, or give `{task}` a loop"
    task: str
    result: str
    instead: str


class DigitFirst(Finding):
    """A task's name that cannot be used in `depends`."""

    code = "FD521"
    title = "task `{name}` begins with a digit in a DAG with dependencies"
    label = "begins with a digit"
    help = "begin the name with a letter: Argo computes with names when `depends` or `dependencies` is used"
    name: str


class WordOfExpressions(Finding):
    """A task's name that Argo reads as something else where another task depends on it."""

    code = "FD695"
    title = "no task can depend on `{name}`: to Argo, the name is a keyword of expressions"
    label = "not usable in an expression"
    help = "use another name, such as `{instead}`: Argo turns `depends` and `dependencies` into an expression"
    name: str
    instead: str


class MixedDependencies(Finding):
    """Two ways of giving the order, in one DAG."""

    code = "FD522"
    title = "`{field}` cannot be used in a DAG that uses `depends`"
    label = "refused beside `depends`"
    help = "{way}"
    field: str
    way: str


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


def bodies(view: View) -> Iterator[Problem]:
    """Each template has exactly one body, which is not empty."""
    for template in view.templates:
        if len(template.bodies) > 1:
            yield Problem(template.path, SeveralBodies(template.title, tuple(template.bodies)))
        elif not template.bodies:
            empty = next((body for body in BODIES if body in template.data), "")
            place: Path = (*template.path, empty) if empty else template.path
            yield Problem(place, NoBody(template.title, BODIES, empty), on_key=bool(empty))
        elif template.body == "dag" and not template.calls:
            yield Problem((*template.path, "dag"), EmptyGraph(f"template `{template.title}`", "tasks"))
        elif template.body == "steps":
            yield from _empty_groups(template)


def _empty_groups(template: Template) -> Iterator[Problem]:
    """The findings about empty step groups before a non-empty one: those at the end complete at once.

    Source: a real controller, which does not process what it has started after an empty group.
    """
    groups: list[list[object]] = template.data["steps"]
    if not all(groups[:-1]):
        finding = EmptyGraph("the group", "steps", "it", "the run never gets beyond it")
        last = max((index for index, group in enumerate(groups) if group), default=0)
        for index, group in enumerate(groups[:last]):
            if not group:
                yield Problem((*template.path, "steps", index), finding)


def plugins(view: View) -> Iterator[Problem]:
    """A `plugin` template names one plugin; plugins of the workflow have a container with what Argo requires.

    Source: Argo Workflows, Plugin.UnmarshalJSON and Sidecar.Validate.
    """
    for template in view.templates:
        plugin = template.data.get("plugin")
        if plugin is not None and len(plugin) != 1:
            finding = BadPlugin(f"`plugin` has {len(plugin)} keys", "give one key, the name of the plugin")
            yield Problem((*template.path, "plugin"), finding)
    for index, each in enumerate(entries(view.spec, "executorPlugins")):
        place: Path = (*view.path, "executorPlugins", index)
        if not string(each, "metadata", "name"):
            yield Problem((*place, "metadata"), BadPlugin("the plugin has no name", "add `name`"))
        container = inside(each, "spec", "sidecar", "container")
        resources = inside(container, "resources")
        name = string(container, "name")
        if "name" in container and not is_dns_label(name):
            way = "use at most 63 lower-case letters, digits and `-`"
            finding = BadPlugin(f"the container of the plugin cannot be called `{name}`", way)
            yield Problem((*place, "spec", "sidecar", "container", "name"), finding)
        needed = {
            "ports": container.get("ports"),
            "resources.requests": resources.get("requests") is not None,
            "resources.limits": resources.get("limits") is not None,
            "securityContext": container.get("securityContext") is not None,
        }
        for field, given in needed.items():
            if not given:
                finding = BadPlugin(f"the container of the plugin has no `{field}`", f"add `{field}`")
                yield Problem((*place, "spec", "sidecar", "container"), finding)


def dependencies(view: View) -> Iterator[Problem]:
    """Tasks depend on other existing tasks, and on results that Argo knows."""
    told: set[tuple[Path, str]] = set()
    for template in view.templates:
        if template.body != "dag":
            continue
        filled = _filled(view, template)
        yield from _with_values(view, template, filled, told)
        yield from _as_written(template, filled)
        yield from _results(template)
        yield from _cycles(template)
        yield from _one_way(template)
        yield from _readable(template)
        yield from _target(view, template)


def _as_written(template: Template, filled: Collection[int]) -> Iterator[Problem]:
    """The texts of dependencies can be read, and name tasks that exist; those of `filled` tasks have tags."""
    calls, dag = template.calls, template.dag
    for position, error in dag.malformed:
        if position not in filled:
            finding = BadDepends(error.expected, error.shown, error.start + 1)
            yield Problem((*calls[position].path, "depends"), finding, part=(error.start, error.end))
    for missing in dag.missing:
        if missing.task not in filled or "{{" not in missing.name:
            path = (*calls[missing.task].path, *missing.place)
            yield Problem(path, UndefinedTask(missing.name, dag.index), part=missing.part)


def _results(template: Template) -> Iterator[Problem]:
    """The results that dependencies ask for are ones that the task can have."""
    calls, dag = template.calls, template.dag
    for position, operand in dag.results:
        result = operand.result or ""
        path = (*calls[position].path, "depends")
        if result not in RESULTS:
            part = operand.end - len(result), operand.end
            yield Problem(path, UnknownResult(result, operand.task), part=part)
        elif result not in LOOP_RESULTS or operand.task not in dag.index:
            continue
        elif not calls[dag.index[operand.task]].loop:
            instead = "Succeeded" if result == "AnySucceeded" else "Failed"
            part = operand.start, operand.end
            yield Problem(path, LoopResult(operand.task, result, instead), part=part)


def _cycles(template: Template) -> Iterator[Problem]:
    """No tasks wait for each other."""
    for cycle in cycles(template.dag.needs):
        calls = [template.calls[position] for position in cycle]
        field = "depends" if calls[0].data.get("depends") else "dependencies"
        yield Problem((*calls[0].path, field), Cycle("tasks", _chain([call.name for call in calls])))


def _filled(view: View, template: Template) -> dict[int, list[tuple[Path, str]]]:
    """The dependency texts with tags that Argo replaces before it parses them, by task."""
    found: dict[int, list[tuple[Path, str]]] = {}
    for position, call in enumerate(template.calls if template.dag.is_tagged else ()):
        texts: list[tuple[Path, object]] = [(("depends",), call.data.get("depends"))]
        texts += [
            (("dependencies", index), name) for index, name in enumerate(call.data.get("dependencies") or ())
        ]
        for place, text in texts:
            if isinstance(text, str) and is_filled(text) and not never_filled(view, template, text):
                found.setdefault(position, []).append(((*call.path, *place), text))
    return found


def _with_values(
    view: View, template: Template, filled: dict[int, list[tuple[Path, str]]], told: set[tuple[Path, str]]
) -> Iterator[Problem]:
    """The findings about dependencies after replacing tags, as far as their values are known."""
    index = template.dag.index
    for path, text in (each for some in filled.values() for each in some):
        for place, value in composed(view, template, text, path):
            if value in index or (place, value) in told:
                continue
            told.add((place, value))
            if path[-1] != "depends":
                yield Problem(place, UndefinedTask(value, index))
                continue
            try:
                operands = list(depends(value))
            except GrammarError as error:
                yield Problem(place, BadDepends(error.expected, error.shown, error.start + 1))
                continue
            for each in operands:
                if each.task not in index:
                    yield Problem(place, UndefinedTask(each.task, index))
                elif each.result and each.result not in RESULTS:
                    yield Problem(place, UnknownResult(each.result, each.task))


_WORD = regex(rf"(?:{TAG.pattern}|\S)+", re.DOTALL)
"""A word of a target; a tag may have spaces."""


def _target(view: View, template: Template) -> Iterator[Problem]:
    """The target of a DAG names tasks that exist."""
    index = template.dag.index
    for path, text in _targets(view, template):
        for word in _WORD.finditer(text):
            waits = "{{" in word[0] and not (is_filled(word[0]) and never_filled(view, template, word[0]))
            if word[0] not in index and not waits:
                yield Problem(path, UndefinedTask(word[0], index), part=word.span())
        if text and "" in TAG.sub("tag", text).split(" "):
            yield Problem(path, EmptyTarget())


def _targets(view: View, template: Template) -> Iterator[tuple[Path, str]]:
    """The texts for the targets of a DAG: its own, and the known values of their tags."""
    target: str = template.data["dag"].get("target") or ""
    path = (*template.path, "dag", "target")
    yield path, target
    for word in _WORD.finditer(target):
        if "{{" in word[0] and not never_filled(view, template, word[0]):
            yield from composed(view, template, word[0], path)


def _chain(names: list[str]) -> str:
    """A cycle in words, abbreviated if it is long."""
    shown = names if len(names) <= 8 else [*names[:4], "...", *names[-3:]]
    return " -> ".join([*shown, names[0]])


def _readable(template: Template) -> Iterator[Problem]:
    """The names of tasks are valid in the `depends` expressions that Argo generates.

    If a name begins with a digit, the API server also rejects empty dependency fields.
    """
    calls, needed = template.calls, template.dag.needed
    uses_depends = any(call.data.get("depends") for call in calls)
    for position, call in enumerate(calls):
        if call.name[:1].isdecimal():
            own = any(call.data.get(field) is not None for field in ("depends", "dependencies"))
            if uses_depends or own or position in needed:
                yield Problem((*call.path, "name"), DigitFirst(call.name))
        elif position in needed and not is_depended_upon(call.name) and is_argo_name(call.name):
            yield Problem((*call.path, "name"), WordOfExpressions(call.name, f"{call.name}-1"))


def _one_way(template: Template) -> Iterator[Problem]:
    """A DAG uses either `depends` or `dependencies`; the API server rejects both in one task, even if empty."""
    if all(call.data.get("depends") is None for call in template.calls):
        return
    used = any(call.data.get("depends") for call in template.calls)
    for call in template.outlines:
        data = call.data
        names = data.get("dependencies")
        if names is not None and ((used and names) or data.get("depends") is not None):
            way = "write `depends: " + " && ".join(map(str, names)) + "`" if names else "remove it"
            yield Problem((*call.path, "dependencies"), MixedDependencies("dependencies", way), on_key=True)
        if not (used or data.get("depends") is not None):
            continue
        if data.get("continueOn") is not None:
            way = (
                f"ask for results where they are used, such as `{call.name}.Succeeded || {call.name}.Failed`"
            )
            yield Problem((*call.path, "continueOn"), MixedDependencies("continueOn", way), on_key=True)


def recursion(view: View) -> Iterator[Problem]:
    """Templates do not call themselves without a condition, also not through templates of other objects."""
    templates = view.templates.copy()
    position = {id(template): index for index, template in enumerate(templates)}
    called: list[list[int]] = []
    for template in templates:  # grows during the loop, by templates of other objects
        callees = [callee for callee, _ in _certain(view, template)]
        for callee in callees:
            if position.setdefault(id(callee), len(templates)) == len(templates):
                templates.append(callee)
        called.append([position[id(callee)] for callee in callees])
    for cycle in cycles(called):
        own = next((at for at, index in enumerate(cycle) if index < len(view.templates)), None)
        if own is None:
            continue  # it is reported in the object that has it
        chain = [templates[index] for index in (*cycle[own:], *cycle[:own])]
        path = next(path for callee, path in _certain(view, chain[0]) if callee is chain[1 % len(chain)])
        yield Problem(path, EndlessRecursion(_chain([template.title for template in chain])))


def _certain(view: View, template: Template) -> Iterator[tuple[Template, Path]]:
    """The DAGs and step lists that a template runs unless something fails, also as exit handlers; with their paths."""
    for call in template.calls:
        if call.callee is not None and call.callee.body in GRAPH_BODIES and _runs(call):
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


def _runs(call: Call) -> bool:
    data, owner = call.data, call.owner.data
    depends: str = data.get("depends") or ""
    target = string(owner, "dag", "target")
    if asks(depends) or target or (call.loop and not has_items(call)):
        return False
    return holds(data.get("when") or "")


@lru_cache(maxsize=1024)
def holds(condition: str) -> bool:
    """Whether a `when` holds in every run: it is empty, or has only constants."""
    return not condition or _constant(condition) is True


def never_holds(condition: str) -> bool:
    """Whether a `when` holds in no run: it has only constants."""
    return bool(condition) and _constant(condition) is False


def _constant(condition: str) -> bool | None:
    """The value of a condition; None if it has tags or cannot be evaluated."""
    if "{{" in condition:
        return None
    # Few manifests have conditions without variables.
    from flowdsl.compiler.evaluation import conditions
    from flowdsl.compiler.evaluation.values import ExpressionError

    try:
        return conditions.condition(condition)
    except ExpressionError:
        return None
