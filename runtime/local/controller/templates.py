"""Resolves the templates of a run: by name, with the defaults and the values of their inputs.

Source: workflow/templateresolution, workflow/common/util.go (ProcessArgs, SubstituteParams) and
mergedTemplateDefaultsInto in workflow/controller/operator.go, of Argo 4.1.
"""

from __future__ import annotations

from typing import Any

from flowdsl.compiler.evaluation.values import json_of
from flowdsl.compiler.kinds import BODIES, STORES, kind
from flowdsl.compiler.merge import OF_TEMPLATES, merged
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.runtime.local.controller.names import any_string, parameters_json
from flowdsl.runtime.local.controller.scope import Globals, Scope, Variables
from flowdsl.runtime.local.controller.tags import ArgoError, replaced, tagged
from flowdsl.runtime.parts import name_of, part, several

Json = dict[str, Any]

ABSENT = "\x00absent"
"""The value of an argument that refers to a missing output of a skipped task: it counts as not supplied."""

_NAMES = {**STORES, "git": "repo", "http": "url", "plugin": "key"}
"""The fields that give the source of an artifact, except `raw`, and within each the one that has to be there."""
_RESULT = regex(r"""(?:tasks|steps)(?:\.([-\w]+)|\[\\?['"]([-\w]+)\\?['"]\])\.outputs\.result""")


class Unknown(ArgoError):
    """A template of the cluster that is not among the given documents."""


class Base(NamedTuple):
    """The object in which the names of templates are looked up."""

    scope: str
    templates: dict[str, Json]
    metadata: Json


class Templates:
    """The templates of a workflow, and of the templates that it refers to."""

    def __init__(self, run: str, spec: Json, references: list[Json]) -> None:
        self.defaults: Json = part(spec, "templateDefaults")
        self.local = _base(f"local/{run}", spec)
        self.others: dict[tuple[bool, str], Base] = {}
        for document in references:
            cluster = document.get("kind") == "ClusterWorkflowTemplate"
            name = name_of(document)
            scope = f"{'cluster' if cluster else 'namespaced'}/{name}"
            self.others[cluster, name] = _base(scope, part(document, "spec"))
        self._results: dict[int, tuple[Json, frozenset[str]]] = {}

    def resolve(self, base: Base, holder: Json) -> tuple[Base, Json]:
        """The template of a task, step or hook, with the defaults, and the object to look up its own references in.

        Raises ArgoError.
        """
        base, template = self.written(base, holder)
        if self.defaults:
            body = kind(template)
            defaults = {
                name: value for name, value in self.defaults.items() if name not in BODIES or name == body
            }
            template = merged(defaults, template, OF_TEMPLATES)
        return base, template

    def written(self, base: Base, holder: Json) -> tuple[Base, Json]:
        """The same without the defaults. Raises ArgoError."""
        if holder.get("inline") is not None:
            template: Json = holder["inline"]
        elif reference := holder.get("templateRef"):
            key = (bool(reference.get("clusterScope")), reference.get("name", ""))
            if key not in self.others:
                raise Unknown(f"workflow template {key[1]} not found")
            base = self.others[key]
            if reference.get("template") not in base.templates:
                raise ArgoError(
                    f"template {reference.get('template')} not found in workflow template {key[1]}"
                )
            template = base.templates[reference["template"]]
        else:
            name = holder.get("template") or ""
            if not name:
                raise ArgoError("failed to get a template")
            if name not in base.templates:
                raise ArgoError(f"template {name} not found")
            template = base.templates[name]
        if not kind(template):
            raise ArgoError(f"template '{template.get('name', '')}' type is unknown")
        if base.metadata:
            template = {
                **template,
                "metadata": merged(base.metadata, part(template, "metadata"), OF_TEMPLATES),
            }
        return base, template

    def named(self, base: Base, holder: Json) -> None:
        """Check that a loop's template is found by its `template` or `templateRef`, as stored in nodes.

        Raises ArgoError.
        """
        self.resolve(base, {name: holder.get(name) for name in ("template", "templateRef")})

    def keeps_result(self, parent: Json, task: str) -> bool:
        """Whether the template that contains a task mentions the task's result (includeScriptOutput)."""
        if id(parent) not in self._results:
            names = frozenset(one or other for one, other in _RESULT.findall(json_of(parent, escape=False)))
            self._results[id(parent)] = (parent, names)
        return task in self._results[id(parent)][1]


def _base(scope: str, spec: Json) -> Base:
    return Base(scope, {one["name"]: one for one in several(spec, "templates")}, part(spec, "podMetadata"))


def located(artifact: Json) -> bool:
    """Whether an artifact has a location, or a key in the store of the run (HasLocationOrKey)."""
    return artifact.get("raw") is not None or any(
        part(artifact, kind).get(name) for kind, name in _NAMES.items()
    )


def supplied(template: Json, arguments: Json, config: dict[str, dict[str, str]], globals: Variables) -> Json:
    """A template whose inputs have the values of the arguments (ProcessArgs). Raises ArgoError."""
    inputs: Json = part(template, "inputs")
    if not inputs:
        return template
    made = dict(inputs)
    if inputs.get("parameters"):
        given = {one["name"]: one for one in several(arguments, "parameters")}
        made["parameters"] = [
            _parameter(one, given.get(one["name"]), config, globals) for one in inputs["parameters"]
        ]
    if inputs.get("artifacts"):
        brought = {one["name"]: one for one in several(arguments, "artifacts")}
        made["artifacts"] = [_artifact(one, brought.get(one["name"])) for one in inputs["artifacts"]]
    return {**template, "inputs": made}


def _parameter(
    declared: Json, argument: Json | None, config: dict[str, dict[str, str]], globals: Variables
) -> Json:
    found = dict(declared)
    if found.get("value") is None and found.get("default") is not None:
        found["value"] = found["default"]
    if argument is not None:
        if argument.get("value") == ABSENT:
            if found.get("value") is None and found.get("valueFrom") is None:
                raise ArgoError(
                    f"inputs.parameters.{declared['name']}: argument references an absent optional "
                    "(skipped/omitted node output with no default)"
                )
        elif argument.get("value") is not None:
            found["value"] = argument["value"]
            found.pop("valueFrom", None)
        elif argument.get("valueFrom") is not None:
            found["valueFrom"] = argument["valueFrom"]
            found.pop("value", None)
    source = part(found, "valueFrom")
    if reference := source.get("configMapKeyRef"):
        try:
            name, key = replaced([reference.get("name"), reference.get("key")], Scope(globals), "everything")
        except ArgoError as error:
            raise ArgoError(f"failed to substitute configMapKeyRef: {error}") from None
        if name in config and key in config[name]:
            found["value"] = config[name][key]
        elif source.get("default") is not None:
            found["value"] = source["default"]
        else:
            raise ArgoError(
                f"unable to retrieve inputs.parameters.{found['name']} from ConfigMap: "
                f"{not_in(config, name, key)}"
            )
        found.pop("valueFrom", None)
    elif found.get("value") is None:
        raise ArgoError(f"inputs.parameters.{found['name']} was not supplied")
    if found.get("value") is not None:
        found["value"] = any_string(found["value"])
    if "default" in found:
        found["default"] = any_string(found["default"])
    return found


def _artifact(declared: Json, argument: Json | None) -> Json:
    if not declared.get("optional") and not located(declared):
        if argument is None:
            raise ArgoError(f"inputs.artifacts.{declared['name']} was not supplied")
        if not located(argument):
            raise ArgoError(f"inputs.artifacts.{declared['name']} missing location information")
    if argument is None:
        return declared
    found = {name: value for name, value in argument.items() if name not in ("path", "mode", "recurseMode")}
    return found | {name: declared[name] for name in ("path", "mode", "recurseMode") if name in declared}


def substituted(template: Json, globals: Variables, local: Variables) -> Json:
    """A template with its tags replaced, first those of the workflow, then its inputs (SubstituteParams).

    Raises ArgoError.
    """
    first: Json = replaced(template, Scope(local, globals), "nothing")
    if first is template:
        return template  # it has no tags
    second: Json = replaced(first, Scope(_own(first), local, globals), "nothing")
    return second


def _own(template: Json) -> Variables:
    """The variables of a template's own inputs, and of the paths of its files."""
    inputs: Json = part(template, "inputs")
    parameters: list[Json] = several(inputs, "parameters")
    own = Variables({f"inputs.parameters.{one['name']}": any_string(one.get("value")) for one in parameters})
    own["inputs.parameters"] = parameters_json(parameters)
    outputs: Json = part(template, "outputs")
    for prefix, artifacts in (
        ("inputs", several(inputs, "artifacts")),
        ("outputs", several(outputs, "artifacts")),
    ):
        for one in artifacts:
            if one.get("path"):
                own[f"{prefix}.artifacts.{one['name']}.path"] = one["path"]
    for one in several(outputs, "parameters"):
        if path := part(one, "valueFrom").get("path"):
            own[f"outputs.parameters.{one['name']}.path"] = path
    return own


class Origin:
    """A template with its original tags, and the variables that they are replaced with.

    Argo replaces them again on each pass (executeTemplate), so nodes that start late see the current variables of
    the workflow: `globals` at the execution of the template, and afterwards `settled`, those at the start of a pass.
    """

    __slots__ = ("_before", "_depends", "_globals", "_local", "_made", "_made_at", "_own", "_settled", "raw")

    def __init__(self, of: Json | Origin, globals: Globals, settled: Globals, local: Variables) -> None:
        self._before = of if isinstance(of, Origin) else None
        self.raw: Json = of.raw if isinstance(of, Origin) else of
        self._globals = globals
        self._settled = settled
        self._local = local
        self._made: Json = {}
        self._made_at = -1
        self._depends = False
        self._own: tuple[int, Variables] | None = None

    def template(self) -> Json:
        """The template with its tags replaced. Raises ArgoError."""
        if self._made_at != self._globals.changes:
            before = self.raw if self._before is None else self._before.template()
            self._made = substituted(before, self._globals, self._local)
            self._made_at = self._globals.changes
        return self._made

    def part(self, raw: Json) -> Json:
        """A part of `raw` with its tags replaced. Raises ArgoError."""
        before = self._first(raw)
        made: Json = replaced(before, Scope(self._variables(), self._local, self._settled), "nothing")
        return made

    def _first(self, raw: Json) -> Json:
        before = raw if self._before is None else self._before.part(raw)
        made: Json = replaced(before, Scope(self._local, self._settled), "nothing")
        return made

    def _variables(self) -> Variables:
        if self._own is None or (self._depends and self._own[0] != self._settled.changes):
            declared: Json = {name: self.raw[name] for name in ("inputs", "outputs") if name in self.raw}
            self._depends = tagged(declared)
            self._own = self._settled.changes, _own(self._first(declared))
        return self._own[1]


def input_variables(template: Json) -> Variables:
    """The variables of a template's own inputs, which its tasks and steps see (createScope)."""
    found = Variables()
    inputs: Json = part(template, "inputs")
    for one in several(inputs, "parameters"):
        found[f"inputs.parameters.{one['name']}"] = any_string(one.get("value"))
    for one in several(inputs, "artifacts"):
        found[f"inputs.artifacts.{one['name']}"] = one
    return found


def not_in(config: dict[str, dict[str, str]], name: object, key: object) -> str:
    """Argo's message about a missing ConfigMap or key of one."""
    if str(name) in config:
        return f"ConfigMap '{name}' does not have the key '{key}'"
    return (
        f"ConfigMap '{name}' does not exist. Please make sure it has the label "
        "workflows.argoproj.io/configmap-type: Parameter to be detectable by the controller"
    )
