"""The entrypoint, and the templates that tasks, steps and hooks call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.manifest.globals import ALWAYS
from flowdsl.compiler.lint.manifest.view import named_by
from flowdsl.compiler.lint.workflow.passed_values import composed, never_filled
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import string
from flowdsl.diagnostic import Finding, Unknown
from flowdsl.grammar.template import TAG, variables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Call
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object


class NoEntrypoint(Finding):
    """A workflow that does not say where it starts."""

    code = "FD510"
    title = "the workflow has no `entrypoint`"
    label = "needs `entrypoint`"
    help = "add `entrypoint` with the name of the template to start with"


class TemplatesBesideReference(Finding):
    """Templates in a workflow that takes them from elsewhere."""

    code = "FD511"
    title = "`templates` cannot be used with `workflowTemplateRef`"
    label = "refused beside `workflowTemplateRef`"
    help = "move the templates to the WorkflowTemplate, or remove `workflowTemplateRef`"


class UndefinedTemplate(Unknown):
    """The name of a template that does not exist."""

    code = "FD514"
    title = "there is no template `{name}`{place}"
    help = "{way}"
    owner: str = ""

    def words(self) -> dict[str, str]:
        """The name and where it is looked up, what was probably meant, and the fix."""
        way = "name a template of `templates`, or add this one"
        if self.owner:
            way = f"name a template of `{self.owner}`, or add this one to it"
        if "{{" in self.name:
            way = "write the name itself: Argo looks for the template before this tag has a value"
        place = f" in `{self.owner}`" if self.owner else ""
        return super().words() | {"place": place, "way": way}


class CallTarget(Finding):
    """A task, step or hook that names no template, or several."""

    code = "FD515"
    title = "`{name}` names {found}"
    label = "exactly one of `template`, `templateRef` and `inline`"
    help = "keep exactly one of `template`, `templateRef` with `name` and `template`, and `inline`"
    name: str
    found: str


class BesideInline(Finding):
    """A task or step that names a template, but runs an inline one."""

    code = "FD846"
    severity = "warning"
    title = "`{field}` of `{name}` is not used: the template in `inline` runs"
    label = "never runs"
    help = "remove `{field}`, or `inline`"
    name: str
    field: str


class HookWithoutExpression(Finding):
    """A hook that does not say when it runs."""

    code = "FD523"
    title = "hook `{name}` has no `expression`"
    label = "only the hook `exit` needs none"
    help = 'add `expression`, such as `workflow.status == "Running"`, or name the hook `exit`'
    name: str


class UnaskedExpression(Finding):
    """The expression of a run's `exit` hook, which Argo does not evaluate: the hook runs at every end."""

    code = "FD870"
    severity = "warning"
    title = "the `expression` of the `exit` hook of a run is not evaluated"
    label = "the hook runs at every end"
    help = "remove it, and write it as a `when` of a step, such as `'{{{{workflow.status}}}}' != 'Succeeded'`"


class TaggedHook(Finding):
    """A hook whose expression has a tag of its own task, or of the run: Argo evaluates the text as it is."""

    code = "FD838"
    title = "the expression of hook `{name}` contains `{tag}`"
    label = "{reason}"
    help = "write `{variable}` without the braces"
    name: str
    tag: str
    variable: str
    reason: str


class WrongScope(Finding):
    """A reference to a namespaced object that needs a cluster-scoped one, or the reverse."""

    code = "FD831"
    severity = "warning"
    title = "`{name}` is a {kind}, but a {wanted} is referenced"
    label = "looked for {where}"
    help = "{way}"
    name: str
    kind: str
    wanted: str
    where: str
    way: str


def scopes(view: View) -> Iterator[Problem]:
    """References have the right kind for the object of their name, if it is known."""
    references = [(view.spec, view.path, "workflowTemplateRef")]
    references += [(call.data, call.path, "templateRef") for call in (*view.outlines, *view.hooks)]
    for owner, path, field in references:
        reference: Object | None = owner.get(field)
        if reference is None or named_by(reference) in (
            *view.library,
            (view.kind, view.metadata.get("name")),
        ):
            continue
        wanted, name = named_by(reference)
        kind = "WorkflowTemplate" if wanted.startswith("Cluster") else "ClusterWorkflowTemplate"
        if (kind, name) in view.library:
            far = kind.startswith("Cluster")
            where = "in the namespace of the workflow" if far else "in the whole cluster"
            way = "add `clusterScope: true` beside the name" if far else "remove `clusterScope`"
            yield Problem((*path, field, "name"), WrongScope(name, kind, wanted, where, way))


def entrypoint(view: View) -> Iterator[Problem]:
    """The workflow starts with an existing template; templates come from one place only."""
    spec = view.spec
    start = view.setting("entrypoint")
    if (view.external or view.base is not None) and spec.get("templates"):
        yield Problem((*view.path, "templates"), TemplatesBesideReference(), on_key=True)
    if not start and not view.external and view.runs:
        yield Problem(view.path, NoEntrypoint())
    owner = string(spec, "workflowTemplateRef", "name")
    for field in ("entrypoint", "onExit"):  # those of its base are reported there
        name: str = spec.get(field) or ""
        if name and name not in view.named and not view.external and not ("{{" in name and view.base):
            yield Problem((*view.path, field), UndefinedTemplate(name, view.named, owner))


def targets(view: View) -> Iterator[Problem]:
    """Each task, step and hook names exactly one template, which exists."""
    for call in (*view.outlines, *view.hooks):
        data = call.data
        if call.callee is not None and data.get("template") and len(data.keys() & _TARGETS) == 1:
            continue
        yield from _target(view, call)
    for call in view.outlines:  # a task's own `onExit` names a template too
        last: str = call.data.get("onExit") or ""
        unknown = "{{" not in last or _names_the_run(last)
        if last and unknown and last not in view.named and not view.external:
            yield Problem((*call.path, "onExit"), UndefinedTemplate(last, view.named))


def _target(view: View, call: Call) -> Iterator[Problem]:
    """The findings about how a task, step or hook names its template."""
    data = call.data
    given = [field for field in ("template", "templateRef", "inline") if data.get(field) not in (None, "")]
    if len(given) == 2 and given[1] == "inline":
        # Source: Argo Workflows, TemplateContext.ResolveTemplate, and resolveTemplateOfCall in its validator.
        yield Problem((*call.path, given[0]), BesideInline(call.title, given[0]), on_key=True)
        if given[0] == "template" and data["template"] not in view.named and not view.external:
            yield Problem((*call.path, "template"), UndefinedTemplate(data["template"], view.named))
    elif len(given) != 1:
        found = " and ".join(f"`{field}`" for field in given) + " at once" if given else "no template"
        yield Problem(call.path, CallTarget(call.title, found))
    elif given == ["templateRef"]:
        yield from _referred(view, call, data["templateRef"])
    elif call.callee is None and (call.known or _is_never_filled(view, call, data["template"])):
        yield Problem((*call.path, "template"), UndefinedTemplate(data["template"], view.named))
    elif call.callee is None and not view.external:
        for path, name in composed(view, call.owner, data["template"], (*call.path, "template")):
            if name and name not in view.named:
                yield Problem(path, UndefinedTemplate(name, view.named))


def _referred(view: View, call: Call, reference: Object) -> Iterator[Problem]:
    """The findings about a `templateRef`: missing fields, or a template that its object does not have."""
    missing = [field for field in ("name", "template") if not reference.get(field)]
    if missing:
        finding = CallTarget(call.title, f"a `templateRef` without `{'` and `'.join(missing)}`")
        yield Problem((*call.path, "templateRef"), finding)
    elif call.callee is None and (there := view.templates_of(reference)) is not None:
        place, text = (*call.path, "templateRef", "template"), reference["template"]
        # Argo checks a name with a tag in it only when the task runs. Source: resolveTemplateOfCall.
        for path, name in composed(view, call.owner, text, place):
            if name and name not in there:
                yield Problem(path, UndefinedTemplate(name, there, reference["name"]))


_TARGETS = frozenset(("template", "templateRef", "inline"))


def _is_never_filled(view: View, call: Call, name: str) -> bool:
    """Whether a tag in the name of a template has no value when Argo looks it up; for hooks, when they run.

    Source: Argo Workflows, validateTemplateHolder.
    """
    hooked = call.parent is not None or call.owner.path == view.path
    return _names_the_run(name) if hooked else never_filled(view, call.owner, name)


def _names_the_run(name: str) -> bool:
    """Whether a tag in a name is a variable of the run that no template is named after."""
    return any(tag[1].strip() in ALWAYS for tag in TAG.finditer(name))


def hooks(view: View) -> Iterator[Problem]:
    """Every hook but `exit` has a condition, which is an expression without tags for the status that it tests.

    Source: Argo Workflows, executeTmplLifeCycleHook and executeWfLifeCycleHook in
    workflow/controller/hooks.go.
    """
    for call in (*view.hooks, *(call for call in view.outlines if call.parent is not None)):
        expression: str = call.data.get("expression") or ""
        if not expression and call.place[-1] != "exit":
            yield Problem(call.path, HookWithoutExpression(str(call.place[-1])))
        if expression and call.place[-1] == "exit" and call.parent is None:
            yield Problem((*call.path, "expression"), UnaskedExpression())
            continue
        for tag in TAG.finditer(expression):
            variable = tag[1].strip()
            own = call.parent is not None and variable.startswith(
                (f"steps.{call.parent.name}.", f"tasks.{call.parent.name}.")
            )
            if not own and variable.startswith("=") and call.parent is None:
                variable = _late(variable[1:]) or variable
            if own or variable in ("workflow.status", *(LATE if call.parent is None else ())):
                bare = call.parent is not None and not own
                reason = "a word without quotes by then" if bare else "nothing replaces it"
                finding = TaggedHook(str(call.place[-1]), tag[0], variable, reason)
                yield Problem((*call.path, "expression"), finding)
                break


LATE = ("workflow.duration", "workflow.failures", "workflow.mainStatus", "workflow.status")
"""Variables that change during a run."""


def _late(expression: str) -> str | None:
    """A variable in an expression that changes during a run."""
    return next((each.dotted for each in variables(expression) if each.dotted in LATE), None)
