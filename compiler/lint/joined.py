"""A workflow merged with the templates of other objects that it uses, as Argo runs it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.lint.combined import NONE, Guest, Whole
from flowdsl.compiler.lint.manifest.view import named_by
from flowdsl.compiler.lint.variables.arguments import not_given
from flowdsl.compiler.tree import inside, is_list, is_mapping, string
from flowdsl.diagnostic import Finding

if TYPE_CHECKING:
    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path


class FailsHere(Finding):
    """A template of another object that fails with the parameters, volumes or defaults of this workflow."""

    code = "FD830"
    title = "`{template}` of `{owner}` fails in this workflow: {found}"
    label = "run with the parameters, volumes and defaults of this workflow"
    help = "{way}"
    template: str
    owner: str
    found: str
    way: str


def joined(view: View) -> Whole | None:
    """A workflow with the templates of other known objects that it uses; None where it uses none.

    Source: Argo Workflows, storedTemplates of the status, and JoinWorkflowSpec.
    """
    if not view.runs or view.external:
        return None
    joining = _Joining(view)
    base = view.base
    spec = view.spec
    if base is not None:
        if view.listed:
            return None  # which is reported elsewhere
        spec = _over(base.spec, {key: value for key, value in spec.items() if key != "workflowTemplateRef"})
        given: list[Object] = [{"name": name} for name in sorted(not_given(view, base))]
        spec = _over({"arguments": {"parameters": given}}, spec)  # reported elsewhere, and may be given later
        for template in _begun(view, base):
            joining.name(base, template, (*view.path, "workflowTemplateRef"))
    templates = [joining.rewritten(each.data, None, each.path) for each in view.listed]
    hooks = {
        name: joining.call(hook or {}, None, (*view.path, "hooks", name))
        for name, hook in inside(view.spec, "hooks").items()
    }
    for guest in joining.guests:  # grows during the loop
        data = joining.rewritten(guest.template.data, guest.owner, guest.via)
        templates.append({**data, "name": joining.names[id(guest.template)]})
    if not joining.guests:
        return None
    spec = {**spec, "templates": templates, "hooks": {**inside(spec, "hooks"), **hooks}}
    return Whole(view.with_spec(spec), len(view.listed), joining.guests, follows=True, values=NONE)


def _begun(view: View, base: View) -> list[Template]:
    """The templates of its base that a run starts or ends with; all of them where others are only named at run time.

    Templates that the run does not reach may be for other workflows, which have what they need.
    """
    names = [view.setting("entrypoint"), view.setting("onExit")]
    names += [string(hook.data, "template") for hook in (*view.hooks, *base.hooks)]
    found = [base.named[name] for name in dict.fromkeys(names) if name in base.named]
    late = any("{{" in string(call.data, field) for call in base.calls for field in ("template", "onExit"))
    return base.listed if late or not found else found


class _Joining:
    """The templates of other objects that a workflow uses, as they are found."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.guests: list[Guest] = []
        self.names: dict[int, str] = {}
        self.taken = set[str]() if view.base is not None else set(view.named)

    def name(self, owner: View, template: Template, via: Path) -> str:
        """The name of a template of another object within the workflow, which is added to it if necessary."""
        if (known := self.names.get(id(template))) is not None:
            return known
        name, count = template.name, 1
        while name in self.taken:
            count += 1
            name = f"{template.name}-{count}"
        self.taken.add(name)
        self.names[id(template)] = name
        self.guests.append(Guest(owner, template, via, partial(_of, owner, template)))
        return name

    def rewritten(self, data: Object, owner: View | None, path: Path) -> Object:
        """A template whose calls refer to templates of the workflow only, as far as they are known."""

        def each(call: Object, *place: str | int) -> Object:
            return self.call(call, owner, (*path, *place) if owner is None else path)

        if is_mapping(data.get("dag")):
            tasks: list[Object] = data["dag"].get("tasks") or []
            listed = [each(task, "dag", "tasks", index) for index, task in enumerate(tasks)]
            return {**data, "dag": {**data["dag"], "tasks": listed}}
        if is_list(data.get("steps")):
            groups: list[list[Object]] = data["steps"]
            return {
                **data,
                "steps": [
                    [each(step, "steps", at, index) for index, step in enumerate(group)]
                    for at, group in enumerate(groups)
                ],
            }
        return data

    def call(self, data: Object, owner: View | None, path: Path) -> Object:
        """A task, step or hook that refers to a template of the workflow, if that is known."""
        call = data.copy()
        reference: Object | None = data.get("templateRef")
        if data.get("inline") is not None:
            call["inline"] = self.rewritten(
                data["inline"], owner, path if owner is not None else (*path, "inline")
            )
        elif reference is not None:
            via = path if owner is not None else (*path, "templateRef")
            name = self._found(self._meant(reference), reference.get("template"), via)
            if name:
                del call["templateRef"]
                call["template"] = name
        for field in ("template", "onExit") if owner is not None else ():
            if data.get(field):
                call[field] = self._found(owner, data[field], path) or data[field]
        if data.get("hooks"):
            call["hooks"] = {
                name: self.call(hook or {}, owner, path if owner is not None else (*path, "hooks", name))
                for name, hook in inside(data, "hooks").items()
            }
        return call

    def _meant(self, reference: Object) -> View | None:
        """The object that a reference refers to."""
        return self.view.library.get(named_by(reference))

    def _found(self, owner: View | None, name: Any, via: Path) -> str:
        """The name of a template of an object within the workflow; empty if there is none."""
        template = None if owner is None else owner.named.get(name)
        return "" if owner is None or template is None else self.name(owner, template, via)


def _over(below: Any, above: Any) -> Any:
    """A value merged with one that takes precedence: mappings by key, lists by the names of their entries."""
    if is_mapping(below) and is_mapping(above):
        return {
            **below,
            **{key: _over(below[key], above[key]) if key in below else above[key] for key in above},
        }
    if is_list(below) and is_list(above):
        names: set[object] = {each.get("name") for each in above if is_mapping(each)}
        return [*above, *(each for each in below if not is_mapping(each) or each.get("name") not in names)]
    return below if above is None else above


def _of(owner: View, template: Template, finding: Finding) -> Finding:
    """The finding about a template of another object."""
    return FailsHere(template.name, string(owner.metadata, "name"), finding.message, finding.advice)
