"""What a template inside of a call may name: Argo looks at its text where the call stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.variables.findings import UnknownVariable
from flowdsl.compiler.lint.variables.references import strings
from flowdsl.compiler.lint.variables.uses import BODY_OF, Spot
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import Template, View
    from flowdsl.compiler.problem import Problem


def inner_variables(view: View) -> Iterator[Problem]:
    """No simple tag of an inline template names what only this template has; its parameters are known around it.

    Source: Argo Workflows, validateSteps and validateDAG, which resolve a whole call with the scope of its template.
    """
    for template in view.templates:
        if template.around is None:
            continue
        caller = template.around.owner
        for path, _, text in strings(template.data, template.path):
            for tag in tags(text):
                name = tag.body.strip()
                if tag.kind == "simple" and _is_inner(name, template, caller):
                    yield Spot.of_name(path, name, tag.body, tag.start + 2).problem(
                        UnknownVariable(name, (), _WAY)
                    )


_WAY = "give the template a name among `templates`, and call it: its own names are not known here"


def _is_inner(name: str, template: Template, caller: Template) -> bool:
    """Whether a template has a variable that the template around its call has not."""
    root, _, rest = name.partition(".")
    first, _, last = rest.partition(".")
    if root in BODY_OF:
        own = template.body == BODY_OF[root] and first in template.call_index
        return own and not (caller.body == template.body and first in caller.call_index)
    if root == "inputs" and first == "artifacts":
        artifact = last.removesuffix(".path")
        return artifact in template.artifacts and (last != artifact or artifact not in caller.artifacts)
    return name == "pod.name" and template.is_pod
