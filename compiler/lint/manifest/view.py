"""A manifest prepared for the rules: its templates and calls, indexed once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import BODIES, WORD_OF
from flowdsl.compiler.lint.manifest.items import Survey, survey
from flowdsl.compiler.lint.manifest.template import Call, Template, by_name, callees
from flowdsl.compiler.tree import entries, inside
from flowdsl.grammar.template import only_tag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from flowdsl.compiler.problem import Problem
    from flowdsl.compiler.tree import Object, Path

    Library = Mapping[tuple[str, str], "View"]
    Rule = Callable[["View"], Iterable[Problem]]


class View:
    """One document of one of Argo's four kinds; `exists` says that it has a spec, which the schema requires.

    `templates` are those to check: all, or one of each sort, which suffices to tell whether there are
    findings. `outlines` are the calls to check where their texts do not matter: all, or one for each outline
    in a template. `library` has the documents that this one may refer to, by kind and name; `base` is the one
    of its `workflowTemplateRef`, and `external` says that the base is not available. `circles` are the
    recursions that begin here and lead through other documents: the path of the call, and the templates.
    """

    def __init__(self, document: Object, each: bool = True, library: Library | None = None) -> None:
        self.document = document
        self.library = library or {}
        self.circles: list[tuple[Path, list[str]]] = []
        self.kind: str = document["kind"]
        self.runs = self.kind in ("Workflow", "CronWorkflow")  # it is not a template for others
        self.metadata = inside(document, "metadata")
        self.spec = inside(document, "spec")
        self.path: Path = ("spec",)
        self.exists = document.get("spec") is not None
        if self.kind == "CronWorkflow":
            self.exists = self.spec.get("workflowSpec") is not None
            self.spec = inside(self.spec, "workflowSpec")
            self.path = ("spec", "workflowSpec")
        reference = self.spec.get("workflowTemplateRef")
        self.base = None if reference is None else self.library.get(named_by(reference))
        self.external = reference is not None and self.base is None
        listed: list[Object] = self.spec.get("templates") or []
        self.listed = [Template(data, (*self.path, "templates", i)) for i, data in enumerate(listed)]
        self.named: dict[str, Template] = {}
        for template in self.listed:
            self.named.setdefault(template.name, template)
        self.named.pop("", None)
        if self.base is not None:
            self.named = {**self.base.named, **self.named}
        self.templates = self.listed.copy()
        self.calls: list[Call] = []
        for template in self.templates:  # grows during the loop: inline templates have calls too
            self._add_calls(template)
        self.hooks = list(self._workflow_hooks())
        self.all = self.templates
        self.outlines = self.calls
        if not each:
            self.outlines = [call for template in self.all if template.calls for call in template.outlines]
            sorts: dict[object, Template] = {}
            for template in self.all:
                sorts.setdefault(template.sort, template)
            self.templates = list(sorts.values())

    def with_spec(self, spec: Object) -> Object:
        """The document with another spec for its runs."""
        if self.kind == "CronWorkflow":
            spec = {**inside(self.document, "spec"), "workflowSpec": spec}
        return {**self.document, "spec": spec}

    def clear(self) -> None:
        """Break the reference cycles between templates and calls, so that no garbage collection is needed."""
        for template in self.all:
            template.around = None
            template.calls.clear()
            template.hooks.clear()

    def link(self, library: Library) -> None:
        """Resolve its calls to templates in the documents of a library, which may include this one."""
        self.library = library
        for call in (*self.calls, *self.hooks):
            if call.data.get("templateRef") is not None and call.data.get("inline") is None:
                self._resolve(call)

    def templates_of(self, reference: Object) -> Mapping[str, Template] | None:
        """The templates of the object that a `templateRef` refers to, which may be this; None if not available."""
        meant = named_by(reference)
        if meant == (self.kind, self.metadata.get("name")):
            return self.named
        other = self.library.get(meant)
        return None if other is None else other.named

    @property
    def defaults(self) -> Object:
        """The fields that Argo merges into every template with the same body at run time."""
        return inside(self.spec, "templateDefaults")

    def defaults_of(self, template: Template) -> Object:
        """The defaults that Argo merges into a template: without those for other bodies."""
        others = {body for body in BODIES if body != template.body}
        return {field: value for field, value in self.defaults.items() if field not in others}

    def levels(self, template: Template) -> tuple[tuple[Object, Path], ...]:
        """Where a template has its settings from, each with its path: itself, before its defaults and the spec."""
        defaults = (self.defaults, (*self.path, "templateDefaults"))
        return ((template.data, template.path), defaults, (self.spec, self.path))

    @cached_property
    def volumes(self) -> dict[str, Object]:
        """The volumes of the spec by name."""
        return by_name(entries(self.spec, "volumes"))

    def volumes_of(self, template: Template) -> dict[str, Object]:
        """The volumes that the pods of a template may have, by name: its own, and those of the spec."""
        own = entries(template.data, "volumes")
        return {**self.volumes, **by_name(own)} if own else self.volumes

    @cached_property
    def retried(self) -> bool:
        """Whether the workflow sets a `retryStrategy` for all templates."""
        return any(each.get("retryStrategy") is not None for each in (self.defaults, self.spec))

    def is_patched(self, template: Template) -> bool:
        """Whether a `podSpecPatch` changes the pods of a template."""
        return any(each.get("podSpecPatch") for each, _ in self.levels(template))

    def tries(self, template: Template) -> bool:
        """Whether a template is retried."""
        return self.retried or template.data.get("retryStrategy") is not None

    @cached_property
    def owners(self) -> list[tuple[Object, Path]]:
        """The spec, all templates and their defaults, which have many fields in common, each with its path."""
        return [(self.spec, self.path), *((template.data, template.path) for template in self.with_defaults)]

    @cached_property
    def with_defaults(self) -> list[Template]:
        """The templates, with their defaults as an additional one."""
        defaults = self.defaults
        return (
            [*self.templates, Template(defaults, (*self.path, "templateDefaults"))]
            if defaults
            else self.templates
        )

    @cached_property
    def containers(self) -> list[tuple[Template, Path, Object]]:
        """The user-defined containers of the templates, each with its template and its path in it."""
        return [(each, *container) for each in self.templates for container in each.containers]

    @cached_property
    def arguments(self) -> dict[str, Object]:
        """The parameters of the workflow by name, with those of its base."""
        found = by_name(entries(self.spec, "arguments", "parameters"))
        return found if self.base is None else {**self.base.arguments, **found}

    @cached_property
    def outputs_of_calls(self) -> frozenset[str] | None:
        """What tags may name of all tasks and steps, such as `tasks.a.id`; None if what one calls is not known."""
        known: set[str] = set()
        for call in self.calls:
            word, outputs = WORD_OF.get(call.owner.body), call.outputs
            if outputs is None or call.data.get("templateRef") is not None:
                return None
            if word and call.parent is None:
                known.update(f"{word}.{call.name}.{output}" for output in outputs)
        return frozenset(known)

    @cached_property
    def at(self) -> dict[Path, Template]:
        """All templates by their paths."""
        return {template.path: template for template in self.all}

    @cached_property
    def callers(self) -> dict[int, list[Call]]:
        """The tasks, steps and hooks that call each template, by the identity of the template."""
        found: dict[int, list[Call]] = {}
        for call in (*self.calls, *self.hooks):
            found.setdefault(id(call.callee), []).append(call)
        return found

    def begins_or_ends_with(self, template: Template) -> bool:
        """Whether a template is the entrypoint or the `onExit` of a run, and gets its arguments."""
        name = template.name
        return bool(name) and name in (self.setting("entrypoint"), self.setting("onExit"))

    @property
    def first(self) -> Template | None:
        """The entrypoint template of a run, if it is known."""
        return self.named.get(self.setting("entrypoint"))

    @property
    def last(self) -> Template | None:
        """The `onExit` template of a run, if it is known."""
        return self.named.get(self.setting("onExit"))

    def last_of(self, call: Call) -> Template | None:
        """The `onExit` template of a task or step, if it is known."""
        return self.named.get(call.data.get("onExit") or "")

    def run_by(self, template: Template) -> list[Template]:
        """The templates that a template runs, by calls, their hooks and their `onExit`, as far as they are known."""
        ends = filter(None, map(self.last_of, template.calls))
        return [*callees((*template.calls, *template.hooks)), *ends]

    def setting(self, field: str) -> str:
        """A text of the spec, or of its base."""
        own: str = self.spec.get(field) or ""
        return own if own or self.base is None else self.base.setting(field)

    @cached_property
    def values(self) -> list[str]:
        """The values of all arguments of all calls."""
        arguments = [call.data["arguments"] for call in self.calls if call.data.get("arguments")]
        values = [each.get("value") for some in arguments for each in some.get("parameters") or ()]
        return [value for value in values if type(value) is str]

    @cached_property
    def handing(self) -> list[Call]:
        """The calls that pass artifacts."""
        return [call for call in self.outlines if inside(call.data, "arguments").get("artifacts")]

    @cached_property
    def at_ends(self) -> list[tuple[Call, Template, Path]]:
        """The exit hooks of tasks and steps: the call, the template that the hook runs, and the path of the hook."""
        found: list[tuple[Call, Template, Path]] = []
        for call in self.outlines:
            if call.parent is None:
                if (last := self.last_of(call)) is not None:
                    found.append((call, last, (*call.path, "onExit")))
            elif call.place[-1] == "exit" and call.callee is not None:
                found.append((call.parent, call.callee, call.path))
        return found

    @cached_property
    def given_artifacts(self) -> list[object]:
        """The names of the artifacts among the arguments of the workflow."""
        specs = [self.spec] if self.base is None else [self.spec, self.base.spec]
        return [each.get("name") for spec in specs for each in entries(spec, "arguments", "artifacts")]

    @cached_property
    def looping(self) -> list[Call]:
        """The calls that are loops."""
        return [call for call in self.outlines if call.loop]

    @cached_property
    def _surveys(self) -> dict[int, Survey]:
        return {}

    def survey(self, call: Call) -> Survey:
        """What the `withItems` of a call have in common."""
        if (found := self._surveys.get(id(call))) is None:
            found = self._surveys[id(call)] = survey(call.data["withItems"], written=True)
        return found

    def _add_calls(self, template: Template) -> None:
        """Collect the calls of a template, and their inline templates."""
        if template.body == "dag":
            tasks: list[Object] = template.data["dag"].get("tasks") or []
            template.calls = [Call(template, ("dag", "tasks", i), task) for i, task in enumerate(tasks)]
        elif template.body == "steps":
            groups: list[list[Object]] = template.data["steps"]
            template.calls = [
                Call(template, ("steps", i, j), step, i)
                for i, group in enumerate(groups)
                for j, step in enumerate(group)
            ]
        named = self.named
        for call in template.calls:
            data = call.data
            self.calls.append(call)
            callee = named.get(data.get("template") or "")
            if callee is not None and "inline" not in data and "templateRef" not in data:
                call.callee = callee
            else:
                self._resolve(call)
            if "hooks" in data:
                template.hooks += self._hooks_of(template, call)
        self.calls += template.hooks

    def _hooks_of(self, template: Template, call: Call) -> Iterator[Call]:
        for name, hook in inside(call.data, "hooks").items():
            found = Call(template, ("hooks", name), hook or {}, call.group, call)
            self._resolve(found)
            yield found

    def _workflow_hooks(self) -> Iterator[Call]:
        around = Template({}, self.path)
        for name, hook in inside(self.spec, "hooks").items():
            found = Call(around, ("hooks", name), hook or {})
            self._resolve(found)
            yield found

    def _resolve(self, call: Call) -> None:
        """Find the template of a call, or note that it is not in this document."""
        data = call.data
        if data.get("inline") is not None:
            call.callee = Template(data["inline"], (*call.path, "inline"), call)
            self.templates.append(call.callee)
        elif data.get("templateRef") is not None:
            reference: Object = data["templateRef"]
            there = self.templates_of(reference)
            call.callee = None if there is None else there.get(reference.get("template") or "")
            call.known = there is not None
        else:
            name: str = data.get("template") or ""
            call.callee = self.named.get(self._chosen(name))
            call.known = call.callee is not None or not (self.external or "{{" in name)

    def _chosen(self, name: str) -> str:
        """The name of a template; for a parameter of the run, its value if that is known."""
        tag = only_tag(name) if self.runs and "{{" in name else None
        value: object = None
        if tag is not None and tag[1].strip().startswith(_PARAMETER):
            value = self.arguments.get(tag[1].strip().removeprefix(_PARAMETER), {}).get("value")
        return value if isinstance(value, str) and "{{" not in value else name


_PARAMETER = "workflow.parameters."


def named_by(reference: Object) -> tuple[str, str]:
    """The kind and the name of the object that a `templateRef` or `workflowTemplateRef` refers to."""
    kind = "ClusterWorkflowTemplate" if reference.get("clusterScope") else "WorkflowTemplate"
    return kind, reference.get("name") or ""
