"""The missing names that findings refer to, each with the list that it should be declared in."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import BODY_OF
from flowdsl.compiler.lint.pods.mounts import UnknownVolume
from flowdsl.compiler.lint.variables.arguments import MissingArgument, MisspeltArgument, UnknownArgument
from flowdsl.compiler.lint.variables.findings import UnknownOutput, UnknownVariable
from flowdsl.compiler.lint.workflow.calls import UndefinedTemplate
from flowdsl.compiler.lint.workflow.dependencies import UndefinedTask
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from flowdsl.compiler.lint.manifest.template import Call, Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.problem import Problem
    from flowdsl.compiler.tree import Path

CALLS = {"dag": ("dag", "tasks"), "steps": ("steps",)}
"""Where the calls of a template are listed, by its body."""


class Name(NamedTuple):
    """A name, and the path of the list of named entries that it belongs to."""

    listed: Path
    name: str


class Names:
    """Derives from findings which names are missing, and which existing names they are about."""

    def __init__(self, view: View) -> None:
        self.view = view

    def asked(self, problem: Problem) -> Name | None:
        """The missing name: if it were in its list, there would be no such problem."""
        finding, view = problem.finding, self.view
        if isinstance(finding, UndefinedTemplate):
            return None if "templateRef" in problem.path else Name((*view.path, "templates"), finding.name)
        if isinstance(finding, UnknownVolume):
            return Name((*view.path, "volumes"), finding.name)
        if isinstance(finding, MissingArgument):
            call = self._call(problem.path)
            return Name((*(call.path if call else view.path), "arguments", f"{finding.what}s"), finding.name)
        if isinstance(finding, (MisspeltArgument, UnknownArgument)):
            return self._input(problem.path, finding.what, finding.name)
        if isinstance(finding, UnknownVariable) and finding.name.startswith("workflow.parameters."):
            name = finding.name.removeprefix("workflow.parameters.")
            return Name((*view.path, "arguments", "parameters"), name)
        template = self._template(problem.path)
        if template is None:
            return None
        if isinstance(finding, UndefinedTask):
            return Name((*template.path, *CALLS["dag"]), finding.name)
        if isinstance(finding, UnknownOutput):
            call = template.call(finding.call)
            return None if call is None else self._of(call.callee, finding.name)
        return self._of(template, finding.name) if isinstance(finding, UnknownVariable) else None

    def about(self, problem: Problem) -> Name | None:
        """The name that a problem is about: an input without an argument, or an argument without an input."""
        finding = problem.finding
        if isinstance(finding, UnknownArgument):
            return Name(problem.path[:-1], finding.name)
        if isinstance(finding, MisspeltArgument):
            return self._input(problem.path, finding.what, finding.close)
        if not isinstance(finding, MissingArgument):
            return None
        if self._call(problem.path) is not None:
            return self._input(problem.path, finding.what, finding.name)
        listed = (path for path, each in self._templates.items() if each.name == finding.template)
        return next((Name((*path, "inputs", f"{finding.what}s"), finding.name) for path in listed), None)

    def _of(self, template: Template | None, variable: str) -> Name | None:
        """The name that a variable of a template refers to: a call, or one of its inputs or outputs."""
        root, *rest = variable.split(".")
        if template is None or template.path not in self._templates or not rest:
            return None
        if root in BODY_OF:
            return Name((*template.path, *CALLS[BODY_OF[root]]), rest[0])
        if root in ("inputs", "outputs") and rest[0] in ("parameters", "artifacts") and len(rest) > 1:
            return Name((*template.path, root, rest[0]), rest[1])
        return None

    def _input(self, path: Path, what: str, name: str) -> Name | None:
        """An input of the template that is called at the place of a problem."""
        call = self._call(path)
        callee = None if call is None else call.callee
        known = callee is not None and callee.path in self._templates
        return Name((*callee.path, "inputs", f"{what}s"), name) if callee is not None and known else None

    def _call(self, path: Path) -> Call | None:
        return next((self._calls[up] for up in _upwards(path) if up in self._calls), None)

    def _template(self, path: Path) -> Template | None:
        return next((self._templates[up] for up in _upwards(path) if up in self._templates), None)

    @cached_property
    def _calls(self) -> dict[Path, Call]:
        return {call.path: call for call in (*self.view.calls, *self.view.hooks)}

    @cached_property
    def _templates(self) -> dict[Path, Template]:
        return {template.path: template for template in self.view.all}


def _upwards(path: Path) -> list[Path]:
    return [path[:length] for length in range(len(path), 0, -1)]
