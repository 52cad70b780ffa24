"""The variables that a metric may name: those known when it is measured, and those substituted before.

Source: prepareMetricScope in workflow/controller/steps.go of Argo Workflows; executeTemplate in operator.go, which
measures a template whose tags are filled in, and executeDAGTask in dag.go, which measures that of a task as written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.manifest.globals import workflow_variables
from flowdsl.compiler.lint.variables import reading, typing
from flowdsl.compiler.lint.variables.findings import LiteralTag
from flowdsl.compiler.lint.variables.scope import MEASURED, OF_METRICS, workflow_fault
from flowdsl.compiler.lint.variables.uses import Spot
from flowdsl.diagnostic import near
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.problem import Part, Problem
    from flowdsl.compiler.tree import Path
    from flowdsl.grammar.template import Tag


class Strange(NamedTuple):
    """A variable that a metric does not have: the finding, the fix, and its location in the text."""

    found: str
    way: str
    part: Part


class Measured:
    """What is measured: a template, None if it is unknown, or with `whole` the run that starts with it."""

    def __init__(self, view: View, template: Template | None, *, whole: bool) -> None:
        self.view = view
        self.template = template
        self.whole = whole
        self.is_leaf = template is not None and template.is_leaf
        self.own = (*self._of_node(), *self._ports())
        self.before = frozenset(self._before())
        self.is_task = self.is_leaf and any(self._tasks())

    def _of_node(self) -> Iterator[str]:
        template = self.template
        for name in OF_METRICS:
            if template is None or not (
                (name == "exitCode" and not self.is_leaf) or (name == "retries" and self._has_no_children())
            ):
                yield name

    def _has_no_children(self) -> bool:
        """Whether a node has no children: no tasks, steps, containers or attempts, which Argo counts."""
        template = self.template
        return (
            template is not None
            and self.is_leaf
            and template.body != "containerSet"
            and not self.view.tries(template)
        )

    def _ports(self) -> Iterator[str]:
        template = self.template
        if template is not None:
            yield from (f"inputs.parameters.{each}" for each in template.parameters)
            yield from ("outputs.result",) if self.is_leaf else ()
            yield from (f"outputs.parameters.{each}" for each in template.output_parameters)

    def _before(self) -> Iterator[str]:
        """The variables that are replaced when a template is prepared to run."""
        template = self.template
        if template is None or self.whole:
            return
        yield from ("node.name", "inputs.parameters")
        tasks = [*self._tasks()]
        yield from ("steps.name",) if self.is_leaf or not tasks or not all(tasks) else ()
        yield from ("tasks.name",) if not self.is_leaf and any(tasks) else ()
        yield from (f"inputs.artifacts.{each}.path" for each in template.artifacts if self.is_leaf)
        if template.is_pod:
            yield from (f"outputs.parameters.{each}.path" for each in template.output_parameters)
            yield from (f"outputs.artifacts.{each}.path" for each in template.output_artifacts)
            yield from () if self.view.tries(template) else ("pod.name",)

    def _tasks(self) -> Iterator[bool]:
        """For each call of the template, whether it is a task of a DAG."""
        template = self.template
        if template is not None and not self.whole:
            calls = self.view.callers.get(id(template), ())
            for call in (*calls, template.around) if template.around is not None else calls:
                yield call.is_task

    def strange(self, text: str) -> Iterator[Strange]:
        """The variables of a text that are unknown when it is measured, without those of the workflow."""
        for tag in tags(text) if "{{" in text else ():
            for name, part, exact in _named(tag):
                if name.startswith("workflow."):
                    finding = workflow_fault(self.view, name, frozenset())
                    if exact and isinstance(finding, LiteralTag):
                        yield Strange(f"names `{name}`: {finding.reason}", finding.way, part)
                elif self._is_judged(name) and not self._is_known(name, exact):
                    yield Strange(*self._fault(name), part)

    def _is_judged(self, name: str) -> bool:
        """Whether nothing else reports an unknown variable."""
        root, dot, rest = name.partition(".")
        if root == "workflow" or name in self.before:
            return name in self.before
        if self.template is None:
            return not dot
        if not self.is_leaf or self.whole:
            return True
        if root in ("inputs", "tasks", "steps"):
            return name == "tasks.name"
        return not (root == "item" and rest) and _ends(name)

    def _is_known(self, name: str, exact: bool) -> bool:
        if name in self.before:
            return not self.is_task
        if name in self.own or name.startswith("resourcesDuration."):
            return True
        return not exact and any(
            each.startswith(f"{name}.") or name.startswith(f"{each}.") for each in self.own
        )

    def _fault(self, name: str) -> tuple[str, str]:
        """The finding about an unknown variable, and the fix."""
        if name in self.before:
            found = f"names `{name}`, which Argo has not filled in when it measures a task of a DAG"
            return found, "pass the value on as an input parameter, or remove it"
        if name == "retries":
            found = "names `retries`, and there is no `retryStrategy`"
            return found, "give the template a `retryStrategy`, or remove it"
        return f"names `{name}`, which metrics do not have", self._way(name)

    def _way(self, name: str) -> str:
        """What was probably meant by a variable, as a fix."""
        above, _, last = name.rpartition(".")
        if above and last in self.own:
            return f"write `{{{{{last}}}}}`"
        close = near(last, [each.rpartition(".")[2] for each in self.own if each.rpartition(".")[0] == above])
        meant = f"{above}.{close}".lstrip(".")
        known = ", ".join(f"`{each}`" for each in self.own)
        return f"write `{{{{{meant}}}}}`" if close else f"known here: {known}"

    def of_workflow(self, path: Path, text: str) -> Iterator[Problem]:
        """The findings about expressions and workflow variables of a DAG or step list: nothing else checks them."""
        if self.template is None or self.is_leaf or self.whole or "{{" not in text:
            return
        known = workflow_variables(self.view)
        for tag in tags(text):
            if tag.kind == "expression":
                extra = typing.Extra("value", MEASURED)
                found = reading.expression(tag.body, extra, tag=True, braces="}}" in text[tag.end :]).found
                yield from (fault.at(path, tag.inside) for fault in found)
            for name, part, exact in _named(tag):
                if name.startswith("workflow.") and name not in known:
                    if not exact and any(each.startswith(f"{name}.") for each in known):
                        continue
                    finding = workflow_fault(self.view, name, known)
                    if finding is not None and not (exact and isinstance(finding, LiteralTag)):
                        yield Spot(path, part, expression=not exact).problem(finding)


def _ends(name: str) -> bool:
    """Whether a variable does not end in `path`: such variables of outputs are checked with those of the pod."""
    return not (name.startswith("outputs.") and name.endswith(".path"))


def _named(tag: Tag) -> Iterable[tuple[str, Part, bool]]:
    """The variables of a tag, each with its location in the text, and whether it is the whole tag."""
    if tag.kind == "simple":
        return ((tag.body.strip(), (tag.start, tag.end), True),)
    if tag.kind != "expression":
        return ()
    return [
        (each.dotted, (each.start, each.end), False)
        for each in tag.variables
        if not each.guarded and (len(each.path) > 1 or each.dotted in MEASURED)
    ]
