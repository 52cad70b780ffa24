"""Reads one document: its parts, what was found in it, and the names that its texts may refer to."""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from flowdsl.compiler import merge
from flowdsl.compiler.findings.importing import NotSayable, Otherwise
from flowdsl.compiler.importing.merging import without_blanks
from flowdsl.compiler.importing.model import Function
from flowdsl.compiler.importing.renamed import renamed
from flowdsl.compiler.importing.workflow_variables import Needs
from flowdsl.compiler.naming import slug
from flowdsl.compiler.options.reading import owner
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, inside, value_at
from flowdsl.grammar.template import is_filled, tags

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.compiler.importing.file_head import Shelf
    from flowdsl.compiler.importing.model import Asked, Call, Json, Slot, Value
    from flowdsl.compiler.importing.ports import Port
    from flowdsl.compiler.tree import Path
    from flowdsl.diagnostic import Finding

_WAY = "change it, or remove it, and import the rest"


_KFP = "pipelines.kubeflow.org/"
_NOTES = (
    *("component_spec", "component_ref", "arguments.parameters", "pipeline_spec"),
    *("pipeline_compilation_time", "kfp_sdk_version"),
)


class Reading:
    """The results of reading one document."""

    def __init__(self, body: Json, shelf: Shelf) -> None:
        self.body = body
        self.kind = str(body.get("kind"))
        self.shelf = shelf
        #: The findings, by their paths and what they say.
        self.problems: dict[tuple[Path, str], Problem] = {}
        self._refused: defaultdict[Path, list[str]] = defaultdict(list)
        self.metadata: Json = copy.deepcopy(inside(body, "metadata"))
        for field in ("labels", "annotations"):
            given = inside(self.metadata, field)
            for key in [key for key in given if owner(key)]:
                del given[key]
                if owner(key) == "Argo":
                    finding = Otherwise(
                        f"`{key}` is left out", "there is nothing to do: Argo writes it itself"
                    )
                    self.add(("metadata", field, key), finding)
            if field in self.metadata and not given:
                del self.metadata[field]
        whole: Json = inside(body, "spec")
        scheduled = self.kind == "CronWorkflow"
        self.cron: Json = {key: one for key, one in whole.items() if scheduled and key != "workflowSpec"}
        self.path: Path = ("spec", "workflowSpec") if scheduled else ("spec",)
        self.spec: Json = without_blanks(copy.deepcopy(inside(body, *map(str, self.path))))
        self.usual_retries = self._usual_retries("templateDefaults")
        self.other_retries = self._usual_retries()  # of a template that still has none
        self.templates: dict[str, tuple[Path, Json]] = {
            str(one.get("name")): ((*self.path, "templates", index), self.retried(one))
            for index, one in enumerate(entries(self.spec, "templates"))
        }
        self._without_notes()
        self.needs = Needs({name: one for name, (_, one) in self.templates.items()})
        self.main = Function("", {}, self.path)
        self.parameters: dict[str, Slot] = {}  # of the workflow
        self.ending: list[Call] = []  # the exit handlers
        self.order: list[Function] = []
        self.hidden: set[str] = set()  # the names of parameters, which would hide functions of the same name
        self.kept: dict[str, Json] = {}  # unchanged templates for hooks, by their names
        self.library = False  # whether all its templates are called by other workflows
        self.hooked: set[str] = set()  # the names of the templates of hooks
        #: Arguments that the cluster looks up, or whose names are invalid in Python.
        self.looked: dict[str, list[Json]] = {"parameters": [], "artifacts": []}
        self.used: set[str] = set()  # the volumes that options mount
        self.mounted: set[str] = set()  # the volumes that Argo mounts by name
        self.beside: Mapping[tuple[str, bool], Reading] = {}  # the cluster's templates in the same file

    def _usual_retries(self, *holder: str) -> Json:
        """The retries that templates have without saying so; graphs that a compiler adds have none."""
        usual: Json = inside(self.spec, *holder)
        retries: Json = inside(usual, "retryStrategy")
        if retries and '"templateRef"' in json.dumps(self.spec):
            field = ".".join((*holder, "retryStrategy"))
            what = "the graph of a loop, which the pipeline has beside its tasks, is retried as these are"
            way = f"let the steps say `retries=`, in place of the `{field}` of all"
            self.add((*self.path, *holder, "retryStrategy"), Otherwise(what, way))
            return {}
        if retries:
            del usual["retryStrategy"]
        return retries

    def retried(self, template: Json) -> Json:
        """A template with the retries that it has without saying so."""
        own: Json = inside(template, "retryStrategy")
        retries = merge.merged(self.usual_retries, own, merge.OF_TEMPLATES) or self.other_retries
        return {**template, "retryStrategy": retries} if retries else template

    def _without_notes(self) -> None:
        """Remove KFP's notes about its components, which repeat their definitions."""
        noted = False
        for holder in (self.metadata, *(inside(one, "metadata") for _, one in self.templates.values())):
            given = inside(holder, "annotations")
            for key in [key for key in given if key.startswith(_KFP) and key.removeprefix(_KFP) in _NOTES]:
                del given[key]
                noted = True
            if "annotations" in holder and not given:
                del holder["annotations"]
        if noted:
            what = "what KFP notes about its components is left out"
            self.add(("metadata",), Otherwise(what, "keep the manifest where pages of KFP are to show it"))

    # --- diagnostics ----------------------------------------------------------------------------

    def refuse(self, path: Path, what: str, way: str = "") -> None:
        """Record that a field cannot be expressed, unless a part of it is recorded already."""
        if not any(part != what and part in what for part in self._refused[path]):
            self._refused[path].append(what)
            self.add(path, NotSayable(what, way or _WAY), what.strip("`"))

    def add(self, path: Path, finding: Finding, words: str = "", before: int = 0) -> None:
        """Record a finding at a path, or at words of the text there, after `before` other occurrences."""
        value = value_at(self.body, path)
        start = -1
        for _ in range(before + 1 if isinstance(value, str) and words else 0):
            start = value.find(words, start + 1)
        problem = Problem(path, finding, part=(start, start + len(words)) if start >= 0 else None)
        self.problems.setdefault((path, finding.message), problem)

    def called(self, task: Json, path: Path) -> Function:
        """The function of the template that a task calls."""
        raise NotImplementedError

    # --- what is left to Argo -------------------------------------------------------------------

    def hook(self, hook: Json) -> Json:
        """A hook that is left to Argo, together with its template."""
        name = str(hook.get("template", ""))
        if name not in self.templates:
            return hook
        template = self.templates[name][1]
        self.hooked.add(name)
        ends = self.spec.get("onExit"), inside(self.spec, "hooks", "exit").get("template")
        called = name in (self.spec.get("entrypoint"), *ends) or name in self.needs.called
        kept = f"{slug(name)}-hook" if called else slug(name)
        self.kept.setdefault(kept, {**template, "name": kept})
        return {**hook, "template": kept}

    def raw(self, value: Any, target: Function, *, told: bool = False) -> Any:
        """A value for `argo=` of a function, with tags that use the new names.

        `told`: the values of the workflow that the function needs are passed to it there.
        """

        def other(path: tuple[str, ...]) -> tuple[str, ...] | None:
            if target.graph is not None and (spelled := target.graph.spelled(path)):
                return spelled
            match path:
                case ("inputs", ("parameters" | "artifacts") as kind, name, *rest):
                    found = target.inputs.get((kind, name))
                    return None if found is None else ("inputs", kind, found.name, *rest)
                case ("outputs", ("parameters" | "artifacts") as kind, name, *rest):
                    known = (kind, name) in target.outputs
                    return ("outputs", kind, target.named((kind, name)), *rest) if known else None
                case ("workflow", "parameters", name) if told and ("workflow", name) in target.inputs:
                    return "inputs", "parameters", target.inputs["workflow", name].name
                case ("workflow", "parameters", name) if name in self.parameters:
                    return "workflow", "parameters", self.parameters[name].name
                case (
                    ("steps" | "tasks"),
                    task,
                    "outputs",
                    ("parameters" | "artifacts") as kind,
                    name,
                    *rest,
                ):
                    call = target.graph.tasks.get(task) if target.graph is not None else None
                    known = call is not None and (kind, name) in call.target.outputs
                    given = call.target.named((kind, name)) if call is not None and known else name
                    return "tasks", slug(task), "outputs", kind, given, *rest
                case (("steps" | "tasks"), task, *rest):
                    call = target.graph.tasks.get(task) if target.graph is not None else None
                    if rest == ["status"] and call is not None and "may_fail" in call.options:
                        what = f"`{'.'.join(path)}` at this place, of a task that may fail,"
                        self.refuse(call.path, what, "remove `continueOn`, or ask in a condition with `==`")
                    return "tasks", slug(task), *rest
                case _:
                    return None

        return renamed(value, other)


class Scope:
    """The variables that tags refer to; this one knows none."""

    def __init__(self, reader: Reading | None = None) -> None:
        self._reader = reader

    def variable(self, name: tuple[str, ...]) -> Value | None:
        """A variable by its path; None if it cannot be expressed."""

    def sayable(self, text: str) -> bool:
        """Whether all tags of a text are known variables."""
        return all(
            tag.kind == "simple" and self.variable(tag.path) is not None
            for tag in tags(text)
            if is_filled(text[tag.start : tag.end])
        )

    def runs_if(self, task: str, asked: Asked) -> bool:
        """Whether a task is known to run exactly under a condition."""
        return False

    def results(self, name: tuple[str, ...]) -> Value | None:
        """The list of the results of a loop's items, by path; its port is that of each item."""

    def apart(self, path: Path, given: Port, taken: Port) -> bool:
        """Whether a passed value keeps its own type."""
        reader = self._reader
        return reader is not None and reader.shelf.types.apart((id(reader.body), path), given, taken)

    def is_apart(self, path: Path) -> bool:
        """Whether an earlier reading has found that a passed value keeps its own type."""
        reader = self._reader
        return reader is not None and reader.shelf.types.is_apart((id(reader.body), path))

    def counted(self, path: Path, taken: Port) -> None:
        """Record that the index of a loop is passed at a path."""
        if (reader := self._reader) is not None:
            reader.shelf.types.counted((id(reader.body), path), taken)

    def tell(self, path: Path, finding: Finding) -> None:
        """Record a finding."""
        if self._reader is not None:
            self._reader.add(path, finding)

    def refuse(self, path: Path, what: str, way: str = "") -> None:
        """Record that something cannot be expressed."""
        if self._reader is not None:
            self._reader.refuse(path, what, way)
