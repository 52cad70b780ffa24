"""References to inputs in `templateDefaults`, which every template that gets them has to have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.variables.findings import LiteralTag
from flowdsl.compiler.lint.variables.texts import strings
from flowdsl.compiler.lint.variables.uses import Spot
from flowdsl.compiler.merge import OF_TEMPLATES, merged
from flowdsl.compiler.tree import compact
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.problem import Problem

_INPUTS = "inputs.parameters."


def added(view: View) -> Iterator[Problem]:
    """Every template that gets a text from the defaults has the inputs that the text names.

    Argo validates a workflow without its defaults, and leaves a tag without a value unchanged. Source: Argo
    Workflows, mergedTemplateDefaultsInto, and ProcessArgs in workflow/common/util.go.
    """
    if "inputs" in view.defaults or _INPUTS not in compact(view.defaults):
        return
    for path, text in strings(view.defaults, (*view.path, "templateDefaults")):
        for tag in tags(text):
            for name in tag.names if "?" not in tag.body else ():
                word = name.removeprefix(_INPUTS).partition(".")[0]
                if not name.startswith(_INPUTS):
                    continue
                lacking = (each for each in view.listed if word not in each.parameters)
                if (template := next((one for one in lacking if _gets(view, one, text)), None)) is not None:
                    reason = f"the template `{template.title}` gets it too, and has no input `{word}`"
                    way = f"give `{template.title}` this input, with a `default`, or write the value itself"
                    yield Spot(path, (tag.start, tag.end)).problem(LiteralTag(name, reason, way))


def _gets(view: View, template: Template, text: str) -> bool:
    """Whether a leaf template contains a text of the defaults at run time."""
    return template.is_leaf and compact(text) in compact(
        merged(view.defaults_of(template), template.data, OF_TEMPLATES)
    )
