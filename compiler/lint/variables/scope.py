"""The variables in scope in a template, besides those of tasks, steps and items."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.manifest.globals import global_outputs
from flowdsl.compiler.lint.variables.findings import LiteralTag, NotDeclared, UnknownVariable
from flowdsl.compiler.lint.variables.hyphens import as_dotted, as_keys
from flowdsl.diagnostic import near
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.expression import parse
from flowdsl.grammar.functions import builtins, sprig
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import ROOTS, may_be_variable

if TYPE_CHECKING:
    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.diagnostic import Finding

RETRY = ("retries", "lastRetry.exitCode", "lastRetry.status", "lastRetry.duration", "lastRetry.message")
"""The variables that exist with a `retryStrategy`."""

OF_TRIES = ("lastRetry", "retries")
"""The roots of these."""

OF_METRICS = ("duration", "status", "exitCode", "retries")
"""The variables without a dot that metrics have."""

MEASURED = frozenset((*OF_METRICS, "resourcesDuration"))
"""The names that exist in expressions of metrics only."""


OF_CALLERS = ("tasks.name", "steps.name")
"""The variables for the name of a template's caller."""


class Scope:
    """The variables of one template, as Argo's validator and controller see them.

    `allowed` are those that need no further checks. `around` are the variables of the workflow, or of the
    scope around an inline template.
    """

    def __init__(self, view: View, template: Template, around: frozenset[str]) -> None:
        self.view = view
        self.template = template
        lacking = [name for name in OF_CALLERS if name not in self.of_callers]
        self.allowed: frozenset[str] = (around | self._own()).difference(lacking)

    @cached_property
    def of_callers(self) -> frozenset[str]:
        """The variables for the caller's name that exist in each call. An inline template has those of its outer one.

        Source: Argo Workflows, executeTemplate in workflow/controller/operator.go: what is not a task is a
        step.
        """
        view, template = self.view, self.template
        calls = view.callers.get(id(template), ()) if template.around is None else ()
        of_tasks = [call.is_task for call in calls]
        if view.runs and view.begins_or_ends_with(template):
            of_tasks.append(False)
        found = {"tasks.name"} if all(of_tasks) else set[str]()
        return frozenset(found if any(of_tasks) else (*found, "steps.name"))

    @cached_property
    def prefixes(self) -> frozenset[str]:
        """The prefixes of the allowed variables, which an expression may use as mappings."""
        parts = (name.split(".") for name in (*self.allowed, "workflow.parameters.json"))
        return frozenset(".".join(each[:length]) for each in parts for length in range(1, len(each)))

    def _own(self) -> set[str]:
        template = self.template
        known = {f"inputs.parameters.{name}" for name in template.parameters}
        if not template.is_leaf:
            known |= {f"inputs.artifacts.{name}" for name in template.artifacts}
        known.add("inputs.parameters")
        if template.is_leaf:
            known |= {f"inputs.artifacts.{name}.path" for name in template.artifacts}
        if template.is_pod:
            known.add("pod.name")
        if self.view.tries(template):
            known.update(RETRY)
        return known

    def fault(self, name: str) -> Finding | None:
        """What is wrong with a variable that does not belong to a task, a step or an item, or None."""
        if name in self.allowed:
            return None
        finding = self._fault(name)
        if isinstance(finding, UnknownVariable) and (written := as_expression(name)):
            return UnknownVariable(name, (), f"write `{{{{={written}}}}}`")
        return finding

    def without_inputs(self, kind: str) -> bool:
        """Whether there are no inputs of a kind: the expression then remains text, even if it has a fallback."""
        return not any(each.startswith(f"inputs.{kind}.") for each in self.allowed)

    def _fault(self, name: str) -> Finding | None:
        root, dot, rest = name.partition(".")
        if dot and not rest and root in _NEVER_ALONE:
            return UnknownVariable(name, (), "write the rest of the name after the dot, or remove it")
        if name in OF_CALLERS:
            return self._of_callers(name)
        if root == "inputs" and (finding := self._input(name, rest)) is not None:
            return finding
        if root == "workflow" and rest:
            return workflow_fault(self.view, name, self.allowed)
        if (path := _OUTPUT_PATH.fullmatch(name)) is not None and self.template.is_pod:
            return self._output_path(name, path[1])
        if root == "outputs" and rest and self.template.is_leaf:
            known = [*self.template.output_parameters, *self.template.output_artifacts]
            near_by = f"{name}.path" if rest.partition(".")[2] in known and self.template.is_pod else ""
            reason = "a template knows the paths of its own outputs, and not what they are"
            way = "remove it: only metrics know the outputs"
            if near_by:
                way = f"remove it, or write `{{{{{near_by}}}}}` for the path of its file"
            return LiteralTag(name, reason, way)
        if root == "pod" and rest:
            return UnknownVariable(name, (), "only a template that runs in a pod has `pod.name`")
        if root in OF_TRIES and "retries" in self.allowed:
            return UnknownVariable(name, RETRY, "")
        if root in OF_TRIES:
            way = "give the template a `retryStrategy`, or remove the tag"
            return LiteralTag(name, "the template has no `retryStrategy`", way)
        if root == "cronworkflow" and rest:
            way = "write the name itself, or use a variable of the workflow"
            return LiteralTag(name, "only `when` and `stopStrategy` of a CronWorkflow know it", way)
        bare = name.lstrip(".")
        for meant in (bare, f"inputs.{bare}", f"workflow.{bare}"):
            if root in ("", "parameters") and meant in self.allowed:
                way = f"write `{{{{{meant}}}}}`"
                return LiteralTag(name, f"Argo has no variables below `{root or '.'}`", way, meant)
        if name.startswith("item[") and self.template.is_leaf:
            return None  # it belongs to the text: templates of other tools have an `item`, too
        return misspelt(name)

    def _of_callers(self, name: str) -> Finding:
        """What is wrong with the name of a task or step if only some callers of the template are one."""
        other = next((each for each in OF_CALLERS if each != name and each in self.of_callers), "")
        which = "some of what calls" if len(self.of_callers) == 0 else "what calls"
        caller = "is not a task of a DAG" if name == "tasks.name" else "is a task of a DAG"
        way = (
            f"write `{{{{{other}}}}}`"
            if other and name == "steps.name"
            else "pass the name on as an argument"
        )
        return LiteralTag(name, f"{which} `{self.template.title}` {caller}", way)

    def _input(self, name: str, rest: str) -> Finding | None:
        """What is wrong with the name of an input, or None for `inputs` alone."""
        if f"{name}.path" in self.allowed:
            reason = "an artifact is a file, which is at its path"
            return LiteralTag(name, reason, f"write `{{{{{name}.path}}}}`", f"{name}.path")
        if (meant := as_dotted(name)) != name and meant in self.allowed:
            return UnknownVariable(name, (), f"write `{{{{{meant}}}}}`, or `{{{{={name}}}}}`")
        if not rest:
            return None
        known = sorted(
            each for each in self.allowed if each.startswith(("inputs.parameters.", "inputs.artifacts."))
        )
        if (way := self._of_other_sort(*rest.split(".", 2)[:2])) and name not in known:
            return UnknownVariable(name, (), way)
        return UnknownVariable(name, known, "" if known else "the template has no inputs")

    def _of_other_sort(self, kind: str, name: str = "") -> str:
        """What to write for an input that is a parameter instead of an artifact, or vice versa; empty for others."""
        if kind == "artifacts" and name in self.template.parameters:
            return f"`{name}` is a parameter: write `{{{{inputs.parameters.{name}}}}}`"
        if kind != "parameters" or name not in self.template.artifacts or name in self.template.parameters:
            return ""
        if self.template.is_leaf:
            return f"`{name}` is an artifact: write `{{{{inputs.artifacts.{name}.path}}}}` for the path of its file"
        return f"`{name}` is an artifact: pass it on in `artifacts`, with `from: {{{{inputs.artifacts.{name}}}}}`"

    def _output_path(self, name: str, kind: str) -> Finding | None:
        """What is wrong with the path of an output of the template itself, or None."""
        outputs = self.template.output_parameters if kind == "parameters" else self.template.output_artifacts
        known = sorted(f"outputs.{kind}.{each}.path" for each in outputs)
        reason = "" if known else f"the template has no output {kind}"
        return None if name in known else UnknownVariable(name, known, reason)


_NEVER_ALONE = ("inputs", "item", "pod", "steps", "tasks", "workflow")
"""Roots that Argo takes for variables when a dot follows. Source: Argo Workflows, validate_util.go and validate.go."""

_OUTPUT_PATH = regex(r"outputs\.(parameters|artifacts)\.[^.]+\.path")


_ALIKE = 0.75
"""How alike a misspelt root is to that of Argo: `metrics`, as templates of other tools have it, is not `retries`."""


def misspelt(name: str) -> LiteralTag | None:
    """The warning about a variable whose root is nearly one of Argo's, or about an expression, or None."""
    if _CALL.match(name) and (written := as_expression(name)):
        return LiteralTag(name, "an expression begins with `=`", f"write `{{{{={written}}}}}`")
    if name.startswith("=") and (written := _written(name[1:].strip())):
        return LiteralTag(name, "a space stands before the `=`", f"write `{{{{={written}}}}}`")
    dotted = as_dotted(name.strip("'\""))
    if dotted != name and may_be_variable(dotted):
        reason = "Argo reads quotes and brackets only in expressions"
        return LiteralTag(name, reason, f"write `{{{{{dotted}}}}}`", dotted)
    root, _, rest = name.partition(".")
    if root in ROOTS or not rest or not _WORD.fullmatch(root) or (meant := near(root, ROOTS, _ALIKE)) is None:
        return None
    way = f"write `{{{{{meant}.{rest}}}}}`, or ignore this where the braces belong to the text"
    return LiteralTag(name, f"Argo has no variables below `{root}`", way, f"{meant}.{rest}")


def as_expression(name: str) -> str:
    """The body of a simple tag as an expression, if it is meant as one; else empty."""
    return _written(name) if _OPERATION.search(name) else ""


def _written(name: str) -> str:
    """An expression over variables of Argo, with their names in the required form; empty if it is none."""
    if not _VARIABLE.search(name):
        return ""
    written = as_keys(name)
    known = (*builtins(), *(f"sprig.{each}" for each in sprig()))
    if (call := _CALL.match(written)) is not None and call[1] not in known:
        close = near(call[1], known)
        written = f"{close}{written[call.end(1) :]}" if close else ""
    try:
        parse(written)
    except GrammarError:
        return ""
    return written


_CALL = regex(r"((?:sprig\.)?\w+)\(")
_VARIABLE = regex(rf"\b(?:{'|'.join(sorted(ROOTS))})\b")
_WORD = regex(r"\w+")
_OPERATION = regex(r"\w\(| (?:[-+*/%<>?|]|[<>=!]=|&&|\|\||\?\?|in|contains|matches|startsWith|endsWith) ")


_FORMS = (*"AaBbdHILMmpSYyZz", "s", "RFC3339")
"""The formats of a time. Source: Argo Workflows, util/strftime and setGlobalParameters."""


def workflow_fault(view: View, name: str, known: frozenset[str]) -> Finding | None:
    """What is wrong with a variable of the workflow that is not among the `known`, or None.

    What a workflow that uses this template may define is not checked: the parameters of a WorkflowTemplate,
    and everything in a document with `workflowTemplateRef`.
    """
    word = name.split(".")[1]
    if view.external or word == "duration":
        return None
    if word == "creationTimestamp":
        form = name.split(".")[2:]
        if not form or form[0] in _FORMS:
            return None
        way = f"write one of {', '.join(f'`{each}`' for each in _FORMS)} after `workflow.creationTimestamp.`"
        return LiteralTag(name, "Argo does not write times so", way)
    if word == "scheduledTime":
        if view.kind != "Workflow":
            return None
        return LiteralTag(
            name, "only a CronWorkflow has a scheduled time", "use `workflow.creationTimestamp`"
        )
    if view.kind in ("WorkflowTemplate", "ClusterWorkflowTemplate") and word in ("parameters", "failures"):
        _, prefix, parameter = name.partition("workflow.parameters.")
        meant = near(parameter, view.arguments, 0.8) if prefix else None
        return NotDeclared(name, f"workflow.parameters.{meant}") if meant else None
    if word == "outputs" and any(not call.known for call in view.calls):
        return None  # a template of another document may set it
    if word == "outputs" and any("{{" in each for each in known):
        return None
    if any(name in global_outputs(template) for template in view.all):
        way = "Argo knows the global outputs only of what a task, step or hook calls: start with one that calls it"
        return UnknownVariable(name, (), way)
    reasons = {
        "priority": "set `priority` in the spec to use it",
        "failures": "only exit handlers have it: name one as `onExit`",
    }
    _, _, given = name.partition("workflow.outputs.parameters.")
    if given and not any(each.startswith("workflow.outputs.parameters.") for each in known):
        reasons["outputs"] = f"write `globalName: {given}` at the output that is meant"
    if word == "artifacts":
        own_input = f"inputs.{name.removeprefix('workflow.')}"
        way = (
            f"the artifacts of a run are inputs of its entrypoint: declare it there, as `{{{{{own_input}}}}}`"
        )
        return UnknownVariable(name, (), way)
    own, every = _sorted(known, word)
    if word in ("parameters", "labels", "annotations") and not own:
        key = name.removeprefix("workflow.parameters.")
        way = f"add `{key}` to the arguments of the workflow, which has none"
        return UnknownVariable(name, (), f"the workflow has no {word}" if key in (name, "json") else way)
    return UnknownVariable(name, own or every, reasons.get(word, ""))


@lru_cache(16)
def _sorted(known: frozenset[str], word: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The variables of the workflow below a word, and all known ones."""
    every = tuple(sorted(known))
    own = (one for one in every if one.startswith(f"workflow.{word}.") and not one.endswith(".json"))
    return tuple(own), every
