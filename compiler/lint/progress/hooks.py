"""Hooks that `parallelism` blocks, and variables that hooks do not have."""

from __future__ import annotations

from collections import defaultdict
from math import inf
from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import GRAPH_BODIES, WORD_OF
from flowdsl.compiler.lint.manifest.globals import global_outputs
from flowdsl.compiler.lint.progress.hook_statuses import ENDS, may_begin
from flowdsl.compiler.lint.progress.parallelism import beside
from flowdsl.compiler.lint.variables import reading, typing
from flowdsl.compiler.lint.variables.findings import LiteralTag, UnknownVariable
from flowdsl.compiler.lint.variables.texts import plain_tags
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries_at, inside, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Call, Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path
    from flowdsl.grammar.template import Reference, Tag


class NoPlace(Finding):
    """A hook that fails or does not run while `parallelism` leaves no place for it."""

    code = "FD697"
    severity = "warning"
    title = "this hook does not wait for a place where `parallelism: {limit}` leaves none"
    label = "with {limit} running already, {what}"
    help = "{way}"
    limit: int
    what: str
    way: str


_BEHIND = "run `{template}` as a call of its own after `{task}`, with `when`"


class UnknownToHook(Finding):
    """An output of a task in the expression of the task's own hook, which Argo evaluates without it."""

    code = "FD698"
    severity = "warning"
    title = "`{name}` has no value in the expression of a hook of `{task}`"
    label = "{effect}"
    help = "run `{template}` as a call of its own after `{task}`, with `when`"
    name: str
    task: str
    effect: str
    template: str


class TriedTogether(Finding):
    """A retried hook of a retried task: Argo takes the hook for an attempt of the task."""

    code = "FD832"
    severity = "warning"
    title = "this hook counts as an attempt of `{task}`: both have retries"
    label = "{effect}"
    help = "remove the `retryStrategy` of `{template}`, or run it {way}"
    task: str
    template: str
    effect: str
    way: str


class EndNotFound(Finding):
    """A hook at the end of a task that others follow, where both have retries: Argo never finds their end."""

    code = "FD833"
    title = "a run in which this hook has run never ends: Argo does not find `{last}` after it"
    label = "it has retries, as `{task}` has"
    help = "remove the `retryStrategy` of `{template}`, or run it as a task after `{task}`, with `depends`"
    task: str
    template: str
    last: str


_OWN_TASK = "remove `parallelism`, or run `{template}` as {part} of its own"


def places(view: View) -> Iterator[Problem]:
    """Hooks of steps, and those that run during their task, have a free slot of `parallelism`.

    Source: checkParallelism and runOnExitNode in workflow/controller of Argo 4.1: in steps their refusal is an error,
    and a refused hook is a child without a node, over which the controller stumbles where it looks for the last attempt
    of a task. A template at its limit is not processed, so hooks during its tasks do not start.
    """
    whole = view.spec.get("parallelism")
    for call in view.hooks:
        if whole == 1 and call.place[-1] != "exit" and may_begin(call.data, _RUN, "Running"):
            way = "remove `parallelism`, or let the first task do what the hook does"
            yield Problem(call.path, NoPlace(1, "the run ends in Error", way), on_key=True)
    found: list[tuple[Call, Object, Path, bool]] = []
    for call in view.outlines:
        if call.parent is not None:
            found.append((call.parent, call.data, call.path, call.place[-1] == "exit"))
        elif call.data.get("onExit"):
            found.append((call, {"template": call.data["onExit"]}, (*call.path, "onExit"), True))
    if found:
        groups: dict[tuple[int, int], float] = defaultdict(int)
        for call in view.calls:
            if call.parent is None:
                groups[id(call.owner), call.group] += inf if call.loop else 1
        for call, hook, path, at_exit in found:
            size = groups[id(call.owner), call.group]
            yield from _judged(view, call, size, hook, path, at_exit)


def _judged(
    view: View, call: Call, size: float, hook: Object, path: Path, at_exit: bool
) -> Iterator[Problem]:
    """What is wrong with the hook of a task or step, in a group of this size."""
    owner, whole = call.owner, view.spec.get("parallelism")
    steps = owner.body == "steps"
    tried = call.callee is not None and view.tries(call.callee)
    limits = [limit for limit in (owner.data.get("parallelism"), whole) if limit]
    if not limits or not (steps or owner.body == "dag"):
        return
    if at_exit and not steps:
        if not tried:
            return  # the hook at the end of a task of a DAG waits
        busy = beside(owner, call) if owner.dag.is_sound else 0
    else:
        busy = size - at_exit if steps else 1
    if busy < min(limits):
        return
    is_pod = call.callee is not None and call.callee.is_pod
    if at_exit:
        what = (
            "the steps end in Error" if steps else f"the run ends in Error, because `{call.name}` has retries"
        )
    elif is_pod and not tried:
        what = _beside_pod(call, hook, whole == 1)
    else:
        what = _beside_others(call, hook, is_pod)
    if what:
        part = "a step of a later group" if steps else "a task"
        way = _OWN_TASK.format(template=hook.get("template") or "it", part=part)
        yield Problem(path, NoPlace(min(limits), what, way), on_key=True)


def _beside_pod(call: Call, hook: Object, whole: bool) -> str:
    """What happens to a hook without a slot while the pod of its task or step runs; nothing if that is fine.

    `whole`: whether the limit is that of the workflow, and not only of the graph or the steps.
    """
    own = _status(call)
    if call.owner.body == "steps" and may_begin(hook, own, "Pending"):
        return "the steps end in Error"
    if _is_last(call) and may_begin(hook, own, "Pending", *(ENDS if whole else ())):
        return "the graph ends in Error"
    late = may_begin(hook, own, "Running") and not may_begin(hook, own, "Succeeded")
    return "the hook does not run" if late else ""


def _beside_others(call: Call, hook: Object, is_pod: bool) -> str:
    """The same for a task or step that is running before it has a pod: a graph, steps, or one with retries."""
    early = may_begin(hook, _status(call), "Running")
    if call.owner.body == "steps":
        return "the steps never end" if early else ""
    last, full = _is_last(call), call.owner.data.get("parallelism") == 1
    if early:
        if full and (last or not is_pod):
            return "the graph never ends"
        return "the graph ends in Error" if last else ""
    return "the hook does not run" if call.is_awaited and may_begin(hook, _status(call), "Succeeded") else ""


def _is_last(call: Call) -> bool:
    """Whether no task depends on a task: Argo checks its hooks again when it assesses the end of the graph."""
    graph = call.owner
    return graph.body == "dag" and not graph.data["dag"].get("target") and not call.is_awaited


_RUN = ("workflow", "status")


def _status(task: Call) -> tuple[str, ...]:
    """The variable for the status of a task or step."""
    return (WORD_OF.get(task.owner.body, ""), task.name, "status")


def _ends_well(hook: Object, task: Call) -> bool:
    """Whether a hook that has not started may start when its task has succeeded."""
    return may_begin(hook, _status(task), "Succeeded") and not may_begin(hook, _status(task), "Running")


def attempts(view: View) -> Iterator[Problem]:
    """Hooks that run during a retried task have no retries themselves.

    Argo marks the node of such a hook as an attempt, and takes the task's result from the last one. What follows the
    task is a child of its last child, which may be a hook that runs when it has succeeded. Source: executeTemplate and
    getChildNodeIdsRetried in workflow/controller/operator.go of Argo 4.1, and a real controller.
    """
    start = view.first
    around = [(call, start, start.title) for call in view.hooks if start is not None]
    around += [
        (call, call.parent.callee, call.parent.name)
        for call in view.outlines
        if call.parent is not None and call.parent.callee is not None
    ]
    for call, template, name in around:
        if call.place[-1] == "exit" or call.callee is None:
            continue
        if may_begin(call.data, _RUN if call.parent is None else _status(call.parent), "Running"):
            effect, way = f"its end is taken for that of `{name}`", f"when `{name}` has ended"
        elif call.parent is not None and call.parent.is_awaited and _ends_well(call.data, call.parent):
            effect = f"where Argo takes what is after `{name}` for an attempt, too, the run never ends"
            way = f"as a task after `{name}`, with `depends`"
        else:
            continue
        if view.tries(template) and view.tries(call.callee):
            yield Problem(call.path, TriedTogether(name, call.callee.title, effect, way), on_key=True)


def ends(view: View) -> Iterator[Problem]:
    """Argo reaches the last tasks of a graph.

    What follows a retried task is a child of its last child: of the hook at its end. If that has retries,
    too, Argo takes what follows for an attempt, and looks for what comes after it.

    Source: getOutboundNodes in workflow/controller/operator.go and assessDAGPhase in dag.go of Argo 4.1, and a real
    controller.
    """
    found: dict[int, dict[int, tuple[Call, Template, Path]]] = defaultdict(dict)
    for task, hook, path in view.at_ends:
        if task.owner.body != "dag" or task.callee is None or not view.tries(task.callee):
            continue
        others: list[Object] = [
            one or {} for name, one in inside(task.data, "hooks").items() if name != path[-1]
        ]
        behind = [string(one, "template") for one in others if _ends_well(one, task)]
        hooks = [hook, *(view.named.get(name) for name in behind)]  # of several, any may be the last
        if all(one is not None and view.tries(one) for one in hooks):
            found[id(task.owner)][task.owner.call_index[task.name]] = task, hook, path
    for lasting in found.values():
        graph = next(iter(lasting.values()))[0].owner
        lost: set[int] = set()
        for last in graph.last:
            needs = graph.dag.needs[graph.call_index[last.name]]
            if needs and all(one in lasting for one in needs) and needs[0] not in lost:
                lost.add(needs[0])
                task, hook, path = lasting[needs[0]]
                yield Problem(path, EndNotFound(task.name, hook.title, last.name), on_key=True)


def own_outputs(view: View) -> Iterator[Problem]:
    """Hooks use no fields of their own task or step that Argo does not know when it evaluates them.

    An expression is evaluated before the outputs are known; arguments may use them. In a loop there is a hook for
    each item, and no item has the name of the loop. Source: Argo Workflows, runOnExitNode and executeTmplLifeCycleHook.
    """
    for call in view.outlines:
        if call.parent is None or call.owner.body not in WORD_OF:
            continue
        own = (WORD_OF[call.owner.body], call.parent.name)
        text: str = call.data.get("expression") or ""
        for each in reading.expression(text, typing.Extra("flag")).named if own[1] in text else ():
            if each.path[:2] == own and (finding := _unknown(call, own, each)) is not None:
                yield Problem((*call.path, "expression"), finding, part=(each.start, each.end))
        bare = _bare(call, own)
        for path, parameter in entries_at(call.data, call.path, "arguments", "parameters"):
            value: object = parameter.get("value")
            wanted = isinstance(value, str) and (bare or own[1] in value)
            for tag in tags(value) if isinstance(value, str) and wanted else ():
                named = _named(tag)
                found = [_in_argument(call, own, name[2:], tag) for name in named if name[:2] == own]
                if bare:
                    found += [
                        LiteralTag(".".join(name), *bare) for name in named if name[0] == own[0] and name[2:]
                    ]
                if (finding := next(filter(None, found), None)) is not None:
                    yield Problem((*path, "value"), finding, part=(tag.start, tag.end))


def _bare(call: Call, own: tuple[str, str]) -> tuple[str, str] | None:
    """Why a hook begins before its task or step has outputs, and the way out: Argo leaves its arguments as they are.

    Source: executeTmplLifeCycleHook in workflow/controller/hooks.go of Argo 4.1, and a real controller.
    """
    callee = call.parent.callee if call.parent is not None else None
    if call.place[-1] == "exit" or callee is None:
        return None
    way = f"call the hook `exit`, or run `{call.data.get('template') or 'it'}` as a call of its own after `{own[1]}`"
    if may_begin(call.data, (*own, "status"), "Running"):
        return f"the hook begins while `{own[1]}` runs, and knows only the run, inputs and items then", way
    if callee.body in GRAPH_BODIES and not (callee.output_parameters or callee.output_artifacts):
        return f"`{own[1]}` has no outputs, with which Argo would replace it", way
    return None


_IN_LOOP = "let the loop call a template with steps or a DAG, in which one task has the hook"
_TO_NO_HOOK = frozenset(("exitCode", "finishedAt", "hostNodeName", "id", "outputs.result", "startedAt"))
"""Fields of a task or step that Argo does not pass to its hooks. Source: resolveExitTmplArgument."""


def _in_argument(call: Call, own: tuple[str, str], field: tuple[str, ...], tag: Tag) -> Finding | None:
    """What is wrong with a field of its own task or step in an argument of a hook."""
    if call.parent is not None and call.parent.loop:
        return UnknownVariable(".".join(own), (), _IN_LOOP)
    name, wanted = ".".join((*own, *field)), ".".join(field)
    if (
        call.owner.body == "steps"
        and call.place[-1] != "exit"
        and tag.kind != "expression"
        and (wanted in _TO_NO_HOOK or field[:1] == ("outputs",))
    ):
        way = "call the hook `exit`, which begins when the step has ended, or run it as a step after it"
        return UnknownVariable(name, (), way)
    if wanted not in _TO_NO_HOOK:
        return None
    reason = "a hook gets the status of its task or step, its output parameters and its artifacts"
    if wanted == "outputs.result":
        return LiteralTag(name, reason, f"declare an output parameter of `{own[1]}`, and ask for that")
    return LiteralTag(name, reason, f"pass it to a task or step after `{own[1]}`, with `when`")


def _named(tag: Tag) -> list[tuple[str, ...]]:
    """The paths of the variables that a tag names."""
    if tag.kind != "expression":
        return [tag.path]
    return [each.path for each in reading.expression(tag.body, typing.Extra("value"), tag=True).named]


def _unknown(call: Call, own: tuple[str, str], reference: Reference) -> Finding | None:
    """What is wrong with a reference to its own task in the expression of a hook, or None."""
    word, task = own
    what = reference.path[2:3]
    template = call.data.get("template") or "it"
    looped = call.parent is not None and bool(call.parent.loop)
    silent = reference.guarded or what == ("exitCode",) or (word == "tasks" and call.place[-1] == "exit")
    if what in (("outputs",), ("exitCode",)) and silent:
        effect = "it is always missing" if reference.guarded else "the hook never runs"
        return UnknownToHook(reference.dotted, task, effect, template)
    if what == ("outputs",) or (word == "steps" and looped and not reference.guarded):
        return UnknownVariable(reference.dotted, (), _BEHIND.format(template=template, task=task))
    return None


class OfHook(Finding):
    """A plain tag with a global output that only hooks make, which Argo's validator does not know."""

    code = "FD804"
    title = "only a hook makes `{name}`, and Argo refuses a plain tag with a value that no task or step makes"
    label = "not known when the workflow is submitted"
    help = "write `{{{{={name}}}}}`, which is evaluated when it is needed, or let a task or step make it"
    name: str


def outputs_of_hooks(view: View) -> Iterator[Problem]:
    """Plain tags name no global output that only hooks make.

    Source: validateSteps and validateDAG in workflow/validate of Argo 4.1, which add outputs of what they call to the
    variables of the workflow, but not those of hooks.
    """
    if not view.runs or view.spec.get("workflowTemplateRef") is not None:
        return
    calls = (*view.outlines, *view.hooks)
    hooks = {id(call) for call in calls if call.parent is not None or not call.owner.body}
    if not hooks or not all(call.known for call in calls):
        return
    by_hooks, by_others = set[str](), set[str]()
    for call in calls:
        made = by_hooks if id(call) in hooks else by_others
        made.update(global_outputs(call.callee) if call.callee is not None else ())
    only = by_hooks - by_others
    if not only or any("{{" in name for name in by_others):
        return
    for path, name, part in plain_tags(view.spec, view.path):
        if name in only:
            yield Problem(path, OfHook(name), part=part)
