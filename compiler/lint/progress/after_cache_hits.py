"""Tasks that Argo loses: the one before was a cache hit, which leaves no node to follow, so the run never ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.manifest.dag import inner_first
from flowdsl.compiler.lint.manifest.template import Template, callees
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import compact, inside
from flowdsl.diagnostic import Finding
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Call
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path


class RetriedCache(Finding):
    """A cached step that is retried, with tasks that wait for it alone."""

    code = "FD326"
    title = (
        "a run that finds the result of `{step}` in the cache never ends: `{task}` waits for it, and it "
        "has retries"
    )
    label = "Argo forgets what waits only for cached results with retries"
    help = (
        "let `{task}` wait for another task, too; or call `{step}` in a template with `dag` of its own, and "
        "move the retries there"
    )
    step: str
    task: str


def lost(view: View) -> Iterator[Problem]:
    """No task depends only on memoized templates with retries: after a cache hit, it runs, but the graph never ends.

    A cache hit creates the retry node alone, without attempts, and Argo attaches the next node to the last of
    these; for graphs and loops, to their last nodes. Steps are attached to their group if there is nothing else.
    Source: getOutboundNodes in workflow/controller/operator.go of Argo 4.1.
    """
    used = callees(view.calls)
    if "memoize" not in view.defaults and not any("memoize" in each.data for each in used):
        return
    ends: dict[int, list[Template]] = {}
    for template in inner_first(used, Template.called):
        ends[id(template)] = _ends(view, template, ends)
    told: set[int] = set()
    for owner in view.all:
        if owner.body != "dag" or not owner.dag.is_sound:
            continue
        for call, needs in zip(owner.calls, owner.dag.needs, strict=True):
            found = _of_all([owner.calls[need] for need in needs], ends)
            for template in found:
                if id(template) not in told:
                    told.add(id(template))
                    yield Problem(_place(view, template, call), RetriedCache(template.title, call.title))


def _ends(view: View, template: Template, ends: dict[int, list[Template]]) -> list[Template]:
    """The memoized templates at the end of a template; none if it ends with anything else, too."""
    given = {**view.defaults, **template.data}
    retried = given.get("retryStrategy") is not None
    if given.get("memoize") is not None:
        return [template] if retried and not _differs(view, template, given) else []
    if retried or view.spec.get("retryStrategy") is not None:
        return []
    if template.body == "dag" and (template.data["dag"].get("target") or not template.dag.is_sound):
        return []
    return _of_all(template.last, ends)


def _differs(view: View, template: Template, given: Object) -> bool:
    """Whether the cache key of a template may differ in every run: then the cache serves later nodes of the run."""
    key = compact(given["memoize"])
    left = [template] if "inputs." in key else []
    seen = {id(template)}
    texts = [key, compact(inside(template.data, "inputs"))]
    for each in left:  # grows during the iteration
        for call in view.callers.get(id(each), ()):
            text = compact(inside(call.data, "arguments"))
            texts.append(text)
            if "inputs." in text and id(call.owner) not in seen:
                seen.add(id(call.owner))
                left.append(call.owner)
    return any(_OF_RUN.search(text) for text in texts)


_OF_RUN = regex(r"workflow\.(?:name|uid|creationTimestamp|scheduledTime)")


def _of_all(calls: list[Call], ends: dict[int, list[Template]]) -> list[Template]:
    """The templates at the end of calls, if each of them ends with memoized templates."""
    found = [ends.get(id(call.callee), []) for call in calls]
    return [template for some in found for template in some] if all(found) else []


def _place(view: View, template: Template, call: Call) -> Path:
    """The path of a template's retry strategy, or the waiting task if it has none of its own."""
    if view.at.get(template.path) is template and "retryStrategy" in template.data:
        return (*template.path, "retryStrategy")
    return call.path
