"""Texts that loops get from elsewhere, in which braces stand around what is no variable.

Source: processItem in workflow/controller/operator.go, which replaces every tag of a task or step or fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.manifest.view import LOOPS
from flowdsl.compiler.lint.variables.findings import UnknownVariable
from flowdsl.compiler.lint.variables.texts import strings
from flowdsl.compiler.lint.workflow.arriving import reaching
from flowdsl.compiler.problem import Problem
from flowdsl.grammar.template import is_filled, tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Path


def brought(view: View) -> Iterator[Problem]:
    """The texts that come into loops by tags have no tags but those of Argo, which waits for ever for any other one."""
    told: set[tuple[Path, str]] = set()
    for call in view.looping:
        if "{{" not in (call.data.get("when") or "{{"):  # where it is not true, tags may stay
            continue
        apart = ("inline", *(LOOPS if call.owner.body == "steps" else ()))
        data = {field: one for field, one in call.data.items() if field not in apart}
        if call.loop == "withItems" and view.survey(call).without_tags:
            data.pop("withItems", None)
        for path, value in reaching(view, call.owner, (text for _, _, text in strings(data, call.path))):
            for tag in tags(value) if "{{" in value and not is_filled(value) else ():
                if (path, tag.body) not in told:
                    told.add((path, tag.body))
                    way = f"remove it: it comes into the loop `{call.name}`, where Argo replaces every tag or fails"
                    yield Problem(path, UnknownVariable(tag.body.strip(), (), way), part=(tag.start, tag.end))
