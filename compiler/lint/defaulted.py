"""The templates of pods with what the defaults of their workflow add to them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import BODIES
from flowdsl.compiler.lint.joined import Guest, Whole
from flowdsl.compiler.merge import OF_TEMPLATES, merged
from flowdsl.diagnostic import Finding

if TYPE_CHECKING:
    from flowdsl.compiler.lint.manifest.view import Template, View
    from flowdsl.compiler.tree import Object


class WrongTogether(Finding):
    """A template that only the defaults make wrong."""

    code = "FD854"
    title = "with `templateDefaults`, `{template}` cannot run: {found}"
    label = "added to `{template}`"
    help = "{way}"
    template: str
    found: str
    way: str


def defaulted(view: View) -> Whole | None:
    """A document with its pods as the defaults make them, beside its templates; None where there are no defaults.

    Argo validates a workflow without its defaults. Source: Argo Workflows, mergedTemplateDefaultsInto.
    """
    defaults = view.defaults
    if not defaults or not view.listed:
        return None
    guests: list[Guest] = []
    templates: list[Object] = []
    taken = set(view.named)
    place = (*view.path, "templateDefaults")
    for template in view.listed:
        own = {
            field: value for field, value in defaults.items() if field not in BODIES or field == template.body
        }
        if not template.is_pod or not own:
            continue
        name = next(each for n in range(len(taken) + 1) if (each := f"{template.name}-{n}") not in taken)
        taken.add(name)
        data: Object = merged(own, template.data, OF_TEMPLATES)
        templates.append({**data, "name": name})
        guests.append(Guest(view, template, place, partial(_of, template)))
    if not guests:
        return None
    spec = {**view.spec, "templates": [*(each.data for each in view.listed), *templates]}
    return Whole(view.with_spec(spec), len(view.listed), guests, follows=False)


def _of(template: Template, finding: Finding) -> Finding:
    """What is said of a template that the defaults make wrong."""
    return WrongTogether(template.title, finding.message, finding.advice)
