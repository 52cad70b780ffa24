"""Pod templates merged with the `templateDefaults` of their workflow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.combined import Guest, beside
from flowdsl.compiler.merge import OF_TEMPLATES, merged
from flowdsl.diagnostic import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.combined import Whole
    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object


class WrongTogether(Finding):
    """A template that is wrong only because of `templateDefaults`."""

    code = "FD854"
    title = "with `templateDefaults`, `{template}` cannot run: {found}"
    label = "added to `{template}`"
    help = "{way}"
    template: str
    found: str
    way: str


def defaulted(view: View) -> Whole | None:
    """A document with its pod templates merged with `templateDefaults`, added to its templates; None without defaults.

    Argo validates a workflow without its defaults. Source: Argo Workflows, mergedTemplateDefaultsInto.
    """
    return beside(view, _pods(view)) if view.defaults else None


def _pods(view: View) -> Iterator[tuple[Object, Guest]]:
    """The pod templates merged with the defaults, without the defaults for other bodies."""
    place = (*view.path, "templateDefaults")
    for template in view.listed:
        if template.is_pod and (own := view.defaults_of(template)):
            data: Object = merged(own, template.data, OF_TEMPLATES)
            yield data, Guest(view, template, place, partial(_of, template))


def _of(template: Template, finding: Finding) -> Finding:
    """The finding about a template that is invalid because of the defaults."""
    return WrongTogether(template.title, finding.message, finding.advice)
