"""What a template inside of a call may name: Argo looks at its text where the call stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import BODY_OF
from flowdsl.compiler.lint.variables.findings import UnknownVariable
from flowdsl.compiler.lint.variables.texts import strings
from flowdsl.compiler.lint.variables.uses import Spot
from flowdsl.compiler.tree import entries, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import Call, Template, View
    from flowdsl.compiler.problem import Problem
    from flowdsl.compiler.tree import Path


class Overwritten(Finding):
    """An input of an inline template with the name of one around it, which Argo uses instead."""

    code = "FD852"
    severity = "warning"
    title = "`{name}` is the input of `{around}` here, not the one that `{call}` is given"
    label = "replaced before `{call}` is called"
    help = "give the input of one of the two another name"
    name: str
    around: str
    call: str


def inner_variables(view: View) -> Iterator[Problem]:
    """A simple tag of an inline template names what this template has, and so has the template around its call.

    Source: Argo Workflows, validateSteps and validateDAG, which resolve a whole call with the scope of its template,
    and validateTemplate, which resolves an inline template by itself, without the arguments that it is called with: the
    first one of a workflow only, because it takes others without a name for the same. What a run has of an object that
    it names are the templates as they are written, without the inputs of what is around them.
    """
    inner = [(template, template.around.owner) for template in view.templates if template.around is not None]
    first = _first(view) if inner else None
    for template, caller in inner:
        for path, _, text in strings(template.data, template.path):
            given = path[len(template.path)] == "inputs"
            for tag in tags(text):
                name = tag.body.strip()
                if tag.kind != "simple":
                    continue
                if _is_inner(name, template, caller):
                    way = _NAMED
                elif template.path == first and not given and _is_outer(view, name, template, caller):
                    way = _ARGUMENT
                else:
                    continue
                spot = Spot.of_name(path, name, tag)
                yield spot.problem(UnknownVariable(name, (), way))


def overwritten(view: View) -> Iterator[Problem]:
    """The inputs of an inline template have names of their own, unless they are given the same.

    Source: Argo Workflows, ProcessArgs, which fills in the inputs of a template in all that it holds.
    """
    for template in view.all:
        call = template.around
        while call is not None:
            outer = call.owner
            own = template.parameters.keys() & outer.parameters
            names = {f"inputs.parameters.{name}" for name in own if not _handed_on(template.around, name)}
            for path, _, text in strings(template.data, template.path) if names else ():
                below = path[len(template.path) :]
                if below[0] == "inputs" or "inline" in below:
                    continue
                for tag in tags(text):
                    read = tag.body.strip().lstrip("=").strip()
                    if read in names and template.around is not None:
                        spot = Spot.of_name(path, read, tag)
                        yield spot.problem(Overwritten(read, outer.title, template.around.title))
            call = outer.around


def _handed_on(call: Call | None, name: str) -> bool:
    """Whether a call hands an input on under the same name."""
    given = () if call is None else entries(call.data, "arguments", "parameters")
    value = next((each.get("value") for each in given if each.get("name") == name), None)
    return isinstance(value, str) and value.strip("{}= ") == f"inputs.parameters.{name}"


_NAMED = "give the template a name among `templates`, and call it: its own names are not known here"
_ARGUMENT = "pass it on in the `arguments` of the call, to an input of the template"


def _first(view: View) -> Path | None:
    """The path of the inline template that Argo's validator comes to first."""
    listed = [template for template in view.all if template.around is None]
    entry = view.named.get(string(view.spec, "entrypoint"))
    seen: set[Path] = set()
    todo = [*reversed(listed), *([] if entry is None else [entry])]
    while todo:
        template = todo.pop()
        if template.around is not None:
            return template.path
        if template.path not in seen:
            seen.add(template.path)
            order = template.dag.order if template.body == "dag" else range(len(template.calls))
            todo += [callee for at in reversed(order) if (callee := template.calls[at].callee) is not None]
    return None


def _is_inner(name: str, template: Template, caller: Template) -> bool:
    """Whether a template has a variable that the template around its call has not."""
    root, _, rest = name.partition(".")
    first, _, last = rest.partition(".")
    if root in BODY_OF:
        own = template.body == BODY_OF[root] and first in template.call_index
        return own and not _has(caller, root, first)
    if root == "inputs" and first == "artifacts":
        artifact = last.removesuffix(".path")
        return artifact in template.artifacts and (last != artifact or artifact not in caller.artifacts)
    return name == "pod.name" and template.is_pod


def _is_outer(view: View, name: str, template: Template, caller: Template) -> bool:
    """Whether a variable is that of a graph around a call, or the name of its task, for which Argo would wait."""
    root, _, rest = name.partition(".")
    sort, _, last = rest.partition(".")
    if root == "inputs" and sort == "parameters" and not view.runs:
        return last in caller.parameters and last not in template.parameters
    if root not in BODY_OF or template.body == BODY_OF[root]:
        return False
    return _has(caller, root, rest.partition(".")[0]) or (name == "tasks.name" and caller.body == "dag")


def _has(template: Template, root: str, call: str) -> bool:
    """Whether a template is a graph with a task or step of a name."""
    return template.body == BODY_OF[root] and call in template.call_index
