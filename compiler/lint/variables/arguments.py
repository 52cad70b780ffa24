"""Arguments of calls and runs: those that an input needs, and those that none takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.manifest.template import without_key
from flowdsl.compiler.objects import MARKS
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, entries_at, inside, names_of, string
from flowdsl.diagnostic import Finding, near
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import TypeGuard

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path


class MissingArgument(Finding):
    """An input of the called template that nobody supplies."""

    code = "FD530"
    title = "{call} does not supply {what} `{name}` of template `{template}`"
    label = "needs `{name}`"
    help = "{way}, or give the input of `{template}` {alternative}"
    call: str
    what: str
    name: str
    template: str
    alternative: str
    instead: str = ""

    def words(self) -> dict[str, str]:
        """What is missing, and the fix."""
        return super().words() | {"way": self.instead or f"add `{self.name}` to the arguments"}

    def of(self, names: Sequence[str]) -> MissingArgument:
        """The same about several inputs."""
        name = "`, `".join(names)
        return MissingArgument(
            self.call, f"{self.what}s", name, self.template, self.alternative, self.instead
        )


class NeverGiven(Finding):
    """A parameter without a value in an object that a CronWorkflow or an event runs."""

    code = "FD849"
    title = "nothing gives parameter `{name}` of `{base}` a value"
    label = "{hint}"
    help = "{way}"
    name: str
    base: str
    meant: str

    def words(self) -> dict[str, str]:
        """The parameter, what was probably meant for it, and the fix."""
        hint = f"did you mean `{self.name}`?" if self.meant else f"needs `{self.name}`"
        way = f"write `{self.name}`" if self.meant else f"add `{self.name}` to the arguments"
        return super().words() | {"hint": hint, "way": way}


class NotGiven(NeverGiven):
    """A parameter that neither a workflow nor the object that it runs gives a value."""

    code = "FD588"
    severity = "warning"

    def words(self) -> dict[str, str]:
        """The same, with `-p` as another fix."""
        words = super().words()
        return words if self.meant else words | {"way": f"{words['way']}, or give it by `-p`"}


class OnlyOfRun(Finding):
    """An input of the `onExit` template, which gets only the arguments of the run itself."""

    code = "FD850"
    severity = "warning"
    title = "every run has to be given `{name}`: `onExit` does not get the value given here"
    label = "Argo refuses a run that has no `{name}` of its own"
    help = "call `{template}` in `hooks`, as `exit`: without `arguments`, it gets all of the run's"
    name: str
    template: str


class UnknownArgument(Finding):
    """An argument that the called template does not take; Argo drops it silently."""

    code = "FD531"
    severity = "warning"
    title = "template `{template}` has no input {what} `{name}`, so the argument is dropped"
    label = "{hint}"
    help = "{way}"
    name: str
    what: str
    template: str
    known: Collection[str]

    def words(self) -> dict[str, str]:
        """The name, what was probably meant, and the fix."""
        close = near(self.name, self.known)
        return {
            "name": self.name,
            "what": self.what,
            "template": self.template,
            "hint": f"did you mean `{close}`?" if close else "dropped",
            "way": f"write `{close}`"
            if close
            else f"remove it, or declare it in the inputs of `{self.template}`",
        }


class MisspeltArgument(Finding):
    """An argument that the called template does not take, whose name is nearly that of a missing one."""

    code = "FD538"
    title = "template `{template}` has no {what} `{name}`, but needs `{close}`"
    label = "{hint}"
    help = "write `{close}`{or_both}"
    name: str
    what: str
    template: str
    close: str
    alike: bool

    def words(self) -> dict[str, str]:
        """Both names, and the fix: if the names are not similar, the argument may be a mistake of its own."""
        hint = f"did you mean `{self.close}`?" if self.alike else f"nothing gives `{self.close}`"
        both = "" if self.alike else f", or remove `{self.name}` and add `{self.close}`"
        return super().words() | {"hint": hint, "or_both": both}


class ToBeGiven(Finding):
    """A parameter of the workflow without a value: every run has to be given one."""

    code = "FD820"
    severity = "warning"
    title = "parameter `{name}` has no value, so every run has to be given one"
    label = "a run without it fails"
    help = "add `value`, or pass `-p {name}=...` when submitting the workflow"
    name: str


class NeededAtStart(Finding):
    """A parameter that the first or last template of a run needs, and that has no value: Argo refuses the run."""

    code = "FD797"
    title = "nothing gives parameter `{name}` a value, and {what} `{template}` needs it"
    label = "{hint}"
    help = "{way}"
    name: str
    what: str
    template: str
    declared: bool
    meant: str = ""

    def words(self) -> dict[str, str]:
        """What was probably meant, and the fix."""
        hint = f"did you mean `{self.name}`?" if self.meant else "Argo refuses a run without it"
        way = "add `value`" if self.declared else f"add `{self.name}` to the arguments"
        either = f"{way}, or pass `-p {self.name}=...` when submitting the workflow"
        return super().words() | {"hint": hint, "way": f"write `{self.name}`" if self.meant else either}


LEFT_TO_RUNS = (ToBeGiven, NeededAtStart)
"""The findings about parameters that a person may still give a value when submitting a run."""


def supplied(view: View) -> Iterator[Problem]:
    """Every call supplies what its template needs, and nothing else."""
    for call in (*view.outlines, *view.hooks):
        callee = call.callee
        if callee is None:
            continue
        arguments: Object = call.data.get("arguments") or {}
        parameters: list[Object] = arguments.get("parameters") or []
        artifacts: list[Object] = arguments.get("artifacts") or []
        names = {each.get("name") for each in parameters}
        fits = callee.required_parameters <= names <= callee.parameters.keys()
        if fits and not (artifacts or callee.required_artifacts):
            continue
        files = {each.get("name") for each in artifacts}
        meant: set[str] = set()
        for field, what, given, known, needed in (
            ("parameters", "parameter", parameters, callee.parameters, callee.required_parameters - names),
            ("artifacts", "artifact", artifacts, callee.artifacts, callee.required_artifacts - files),
        ):
            called = enumerate(string(each, "name") for each in given)
            needless = [(index, name) for index, name in called if name and name not in known]
            closest = _closest([name for _, name in needless], needed)
            meant.update(closest.values())
            for index, name in needless:
                path = (*call.path, "arguments", field, index)
                if (close := closest.get(name)) is not None:
                    alike = near(name, (close,)) is not None
                    yield Problem((*path, "name"), MisspeltArgument(name, what, callee.title, close, alike))
                else:
                    yield Problem(path, UnknownArgument(name, what, callee.title, known))
        if call.path == (*view.path, "hooks", "exit") and view.setting("onExit"):
            continue  # it runs instead of the call's template
        if not arguments and call.path == (*view.path, "hooks", "exit"):
            # Its arguments are the run's. Source: Argo Workflows, GetExitHook in pkg/apis/workflow/v1alpha1.
            names |= names_of(view.spec, "arguments", "parameters")
            files |= names_of(view.spec, "arguments", "artifacts")
        yield from _missing(callee, names | meant, files | meant, f"`{call.title}`", call.path)
    yield from _entry(view)
    for call in view.outlines:
        if (last := view.last_of(call)) is not None:
            yield from _missing(last, (), (), f"`onExit` of `{call.title}`", (*call.path, "onExit"), _HOOK)


_HOOK = "call it in `hooks`, as `exit`, with `arguments`"


def _closest(names: Iterable[str], needed: Collection[str]) -> dict[str, str]:
    """The missing inputs of a template that the unknown arguments were probably meant for, by their names.

    If only one of each remains, they are matched, whatever their names are.
    """
    found: dict[str, str] = {}
    others = [*dict.fromkeys(names)]
    left = set(needed)
    for name in others if left else ():
        if (close := near(name, left)) is not None:
            found[name] = close
            left.remove(close)
    alone = [name for name in others if name not in found]
    if len(alone) == len(left) == 1:
        found[alone[0]] = left.pop()
    return found


def given_to_base(view: View) -> Iterator[Problem]:
    """A workflow that runs another object supplies its parameters that have no value."""
    if view.base is None:
        return
    own = entries(view.spec, "arguments", "parameters")
    known = view.base.arguments
    missing = not_given(view, view.base)
    # Expressions that name a missing one are left as they are. Nobody submits the runs of a CronWorkflow.
    never = not_given(view, view.base, computed=False) if view.kind == "CronWorkflow" else ()
    others = {
        each.get("name") or "": index for index, each in enumerate(own) if each.get("name") not in known
    }
    for name in sorted(missing):
        meant = near(name, others) or ""
        path: Path = (*view.path, "workflowTemplateRef")
        if meant:
            path = (*view.path, "arguments", "parameters", others[meant], "name")
        base = string(view.spec, "workflowTemplateRef", "name")
        finding: Finding = (NeverGiven if name in never else NotGiven)(name, base, meant)
        if name not in never and name in known and _takes(view.first, name):
            finding = NeededAtStart(name, _ENTRY, view.first.title, declared=False, meant=meant)
        yield Problem(path, finding)


_ENTRY = "the entrypoint"


def _takes(template: Template | None, name: str) -> TypeGuard[Template]:
    """Whether a template takes a parameter of the run: without a value, this replaces the default of the input, too.

    Source: Argo Workflows, overwriteWithArguments.
    """
    return template is not None and name in template.parameters


def not_given(view: View, base: View, *, computed: bool = True) -> set[str]:
    """The parameters of a base without a value that the arguments of a workflow which runs it do not have.

    `computed`: also those that occur in expressions only.
    """
    known = base.arguments
    missing = {name for name, each in known.items() if not has_value(each)}
    for template in base.templates:
        used = (
            _USED.findall(text) for text in (template.text, template.source) if "workflow.parameters." in text
        )
        missing.update(
            name for names in used for sign, name in names if name not in known and (computed or not sign)
        )
    return missing - names_of(view.spec, "arguments", "parameters")


def has_value(parameter: Object) -> bool:
    """Whether a parameter has a value in the manifest. Source: Argo Workflows, setGlobalParameters and ProcessArgs."""
    source = inside(parameter, "valueFrom")
    return parameter.get("value") is not None or source.get("configMapKeyRef") is not None


_USED = regex(r"\{\{(=?)\s*workflow\.parameters\.([-\w]+)\s*\}\}")


def _entry(view: View) -> Iterator[Problem]:
    """The arguments of the workflow supply what its `entrypoint` and `onExit` templates need.

    The `onExit` template gets the arguments of the run only, and none of the base. Source: Argo Workflows,
    Workflow in workflow/validate/validate.go.
    """
    if (first := view.first) is not None and view.runs:
        place = (*view.path, "entrypoint") if "entrypoint" in view.spec else view.path
        yield from _missing(first, view.arguments, view.given_artifacts, "the workflow", place)
    if (last := view.last) is not None:
        place = (*view.path, "onExit") if "onExit" in view.spec else view.path
        given = entries(view.spec, "arguments", "parameters")
        parameters = {each.get("name") for each in given if view.kind == "Workflow" or has_value(each)}
        files = names_of(view.spec, "arguments", "artifacts")
        other = not view.runs or view.base is not None
        found = "`onExit`" if other else "the workflow"
        yield from _missing(last, parameters, files, found, place, _EXIT if other else "")
        if not view.runs:
            needed = sorted(name for name in last.required_parameters if name in parameters)
            needed += sorted(name for name in last.required_artifacts if name in files)
            yield from (Problem(place, OnlyOfRun(name, last.title)) for name in needed)


_EXIT = "call it in `hooks`, as `exit`: without `arguments`, it has all of the run"


def _missing(
    callee: Template,
    parameters: Iterable[object],
    artifacts: Iterable[object],
    call: str,
    path: Path,
    instead: str = "",
) -> Iterator[Problem]:
    """The required inputs of a template that are not among the given names; `instead` is another way to supply them."""
    for what, required, given, alternative in (
        ("parameter", callee.required_parameters, parameters, "a `default`"),
        ("artifact", callee.required_artifacts, artifacts, "a location, or `optional: true`"),
    ):
        for name in sorted(required.difference(given)):
            way = alternative
            if what == "artifact" and (lacking := without_key(callee.artifacts[name])):
                way = f"what its location lacks, {lacking}"
            yield Problem(path, MissingArgument(call, what, name, callee.title, way, instead))


def to_be_given(view: View) -> Iterator[Problem]:
    """The parameters of a workflow have values; flowdsl's own output omits those that must be given at submission.

    They take the place of those of its base. Source: Argo Workflows, MergeParameters.
    """
    written = any(str(each).startswith(f"{MARKS}/") for each in inside(view.metadata, "annotations"))
    if view.kind != "Workflow" or view.external or written:
        return
    for path, parameter in entries_at(view.spec, view.path, "arguments", "parameters"):
        name = string(parameter, "name")
        if name and not has_value(parameter):
            finding: Finding = ToBeGiven(name)
            for what, template in ((_ENTRY, view.first), ("the exit handler", view.last)):
                if _takes(template, name):
                    finding = NeededAtStart(name, what, template.title, declared=True)
                    break
            yield Problem(path, finding)
