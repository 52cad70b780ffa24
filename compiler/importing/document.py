"""Converts the templates of a document that its runs reach to functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.findings.importing import CallsItself, Otherwise
from flowdsl.compiler.importing.actions import leaf
from flowdsl.compiler.importing.fields import has_tags
from flowdsl.compiler.importing.graphs import read_graph
from flowdsl.compiler.importing.library import Library
from flowdsl.compiler.importing.model import Function, Slot, ports
from flowdsl.compiler.importing.names import Names, class_name, identifier, parameter
from flowdsl.compiler.importing.ports import Port, as_text
from flowdsl.compiler.importing.reading import Reading, Scope
from flowdsl.compiler.importing.scopes import Graph, OfRun
from flowdsl.compiler.importing.sources import FETCHED, UNSAID, source
from flowdsl.compiler.importing.tagged import value_of
from flowdsl.compiler.kinds import LOCATIONS
from flowdsl.compiler.tree import entries, inside
from flowdsl.grammar.template import is_filled, tags

if TYPE_CHECKING:
    from flowdsl.compiler.importing.file_head import Shelf
    from flowdsl.compiler.importing.model import Entry, Json
    from flowdsl.compiler.tree import Path


class Reader(Reading):
    """The reader of a document."""

    def __init__(self, body: Json, shelf: Shelf) -> None:
        super().__init__(body, shelf)
        self.functions: dict[str, Function] = {}
        self._open: list[str] = []
        self._libraries: dict[str, Library] = {}

    def called(self, task: Json, path: Path) -> Function:
        """The function of the template that a task calls."""
        if reference := task.get("templateRef"):
            of = str(reference.get("name")), bool(reference.get("clusterScope"))
            beside = self.beside.get(of)
            if beside is not None and reference.get("template") in beside.templates:
                return beside.called({"template": reference["template"]}, path)
            given = sorted(one.key for one in ports(task, "arguments"))
            key = str((reference, given))  # those that are missing have a default, which is in the cluster
            if key not in self._libraries:
                self._libraries[key] = Library(reference, self.shelf)
                self.order.append(self._libraries[key])
            return self._libraries[key]
        name = str(task.get("template"))
        if inline := task.get("inline"):
            name = f"{task.get('name')} inline {path}"
            if name not in self.templates:
                template = self.retried({**inline, "name": str(task.get("name"))})
                self.templates[name] = (*path, "inline"), template
                self.needs.add(name, self.templates[name][1])
        return self._template(name, path)

    def _template(self, name: str, caller: Path) -> Function:
        """The function of a template; its results are known, its body may not be read yet."""
        if name in self.functions and name not in self._open:
            return self.functions[name]
        path, template = self.templates.get(name, ((*self.path, "templates", 0), {"name": name}))
        target = Function("", template, path)
        if name in self._open:
            self.add((*caller, "template"), CallsItself(name))
        elif not {"steps", "dag", target.body} & template.keys():
            self.refuse(caller, f"the template `{name}`", "give it a body")
        else:
            wish = identifier(str(template["name"]))
            while wish in self.hidden:
                wish += "_"
            target.name = self.shelf.names.free(wish)
            self._inputs(target, name)
            self.functions[name] = target
            self.results(target)
            self.read_body(target, name)
            self.order.append(target)
            return target
        target.name = identifier(name)
        self._inputs(target, name)  # so that what is passed to it is not reported as well
        return target

    def read_body(self, target: Function, name: str) -> None:
        """Read what a template runs, or its tasks."""
        if target.body is not None:
            leaf(self, target).read()
            return
        self._open.append(name)
        target.graph = Graph(self, target, target.template, target.path)
        read_graph(target.graph)
        self._open.pop()

    def _inputs(self, target: Function, name: str) -> None:
        """Read the parameters of a template: its inputs, and the values of the workflow that it needs."""
        names = Names(shadowing=True)
        supplied = {
            one.name
            for one in ports(target.template, "outputs")
            if "suspend" in target.template and "supplied" in inside(one.said, "valueFrom")
        }
        for one in ports(target.template, "inputs", target.path):
            if one.key in {("parameters", each) for each in supplied}:
                continue
            if target.body is not None and self.is_looked_up(name, one):
                target.lookups.add(one.key)
                continue
            read = target.body is not None
            port = Port(shown=read) if one.kind == "parameters" else None
            made = Slot(names.free(parameter(one.name)), port)
            target.inputs[one.key] = made
            if target.body != "suspend":  # there it is what a person is asked
                self.describe(made, one)
            made.optional = one.kind == "artifacts" and bool(one.said.get("optional"))
            unsaid = one.kind == "artifacts" and any(where in one.said for where in UNSAID)
            if not unsaid and not has_tags(one.said if one.kind == "artifacts" else one.text):
                self.usual(made, one)
            elif self.library:
                what = f"`{made.name}` of `{target.name}` has no default: that of the manifest needs a run"
                self.add(one.path, Otherwise(what, "pass the value on where it is called"))
            if made.optional and all(where not in one.said for where in LOCATIONS):
                made.default = lambda: "None"
        for needed in self.needs.of(name):
            wish = parameter(needed.removeprefix("."))
            known = names.free(wish, f"workflow_{wish.rstrip('_')}")
            target.inputs["workflow", needed] = Slot(
                known, Port(unknown=needed.startswith("."), shown=target.body is not None)
            )

    def describe(self, made: Slot, one: Entry) -> None:
        """Read the description of a parameter; that of the workflow comes first."""
        about = str(one.said.get("description") or "")
        if about and one.kind == "parameters" and not made.about:
            made.about = self.shelf.text(f"{one.name}-description", about)

    def usual(self, made: Slot, one: Entry) -> None:
        """Read the default of an input, or the location of such a file."""
        port, text = made.port, one.text
        if port is None:
            self._lies(made, one)
        elif text is not None:
            if has_tags(text):
                given = value_of(text, OfRun(self), one.at, port)
                made.default = given.code
            else:
                port.take(text)
                made.default = lambda: self.shelf.value(one.name, port, text)

    def _lies(self, made: Slot, one: Entry) -> None:
        where = next((where for where in LOCATIONS if where in one.said), None)
        if where is None:
            return
        found = source(one.said, Scope(self), one.path)
        if found is None:
            self.refuse(one.path, "where this artifact is stored", FETCHED)
            return
        name = self.shelf.constant(one.name, found())
        made.default = lambda: name

    def is_looked_up(self, template: str, one: Entry) -> bool:
        """Whether Argo resolves an input of a template itself, in a way that cannot be expressed."""
        given = one.key in self.needs.given[template]
        fed = template == self.spec.get("entrypoint") and one.name in self.parameters
        if given or fed:
            return False
        if one.kind == "artifacts":
            return any(where in one.said for where in UNSAID)
        unsayable = not self.library and not _sayable(one.text or "")
        return "configMapKeyRef" in inside(one.said, "valueFrom") or unsayable

    def results(self, target: Function) -> None:
        """Read the outputs of a template; a step declares the paths of its files by name."""
        files = (one.name for one in target.inputs.values() if one.port is None)
        names = Names(files if target.body is not None else (), shadowing=True)
        asked = self.needs.asked[str(target.template.get("name"))]
        unnamed = any(target.makes(key) for key in asked)
        for one in ports(target.template, "outputs"):
            if "value" in one.said and target.body is not None:
                continue  # resolved where it is called
            if unnamed and one.key not in asked:
                target.left.add(one.key)
                continue
            port = Port(unknown=True) if one.kind == "parameters" else None
            if port is not None and "supplied" in inside(one.said, "valueFrom"):
                port = Port(_choices(target.template, one.name))
            optional = one.kind == "artifacts" and bool(one.said.get("optional"))
            name = parameter(one.name)
            name = f"{name}_" if hasattr(tuple, name) else name  # attributes of a NamedTuple
            target.outputs[one.key] = Slot(names.free(name), port, optional)
        if target.template.get("daemon"):
            target.grow(("ip", ""))
        if len(target.outputs) > 1:
            name = str(target.template.get("name"))
            target.record = self.shelf.names.free(f"{class_name(name)}Outputs")
        self._cached(target)

    def _cached(self, target: Function) -> None:
        """Change the key of a cache if results are renamed, since Argo finds cached outputs by name.

        Source: Argo Workflows, workflow/controller/cache, where an entry holds the outputs unchanged.
        """
        cached: Json = inside(target.template, "memoize")
        names = [key[1] for key in target.outputs]
        now = [target.named(key) for key in target.outputs]
        if not cached.get("key") or names == now:
            return
        key = f"{cached['key']}-{'-'.join(now)}"
        target.template = {**target.template, "memoize": {**cached, "key": key}}
        told = ", ".join(f"`{before}` is `{after}`" for before, after in zip(names, now, strict=True))
        what = (
            f"what the cache has is made once more, under the key `{key}`: the output {told} in the pipeline"
        )
        self.add((*target.path, "memoize", "key"), Otherwise(what, "there is nothing to do"))


def _choices(template: Json, name: str) -> list[str]:
    """The `enum` of an output of a gate."""
    inputs = entries(template, "inputs", "parameters")
    return [as_text(item) for one in inputs if one.get("name") == name for item in one.get("enum", [])]


def _sayable(text: str) -> bool:
    """Whether the tags of a text refer only to values that can be passed to a step."""
    for tag in tags(text):
        match tag.path:
            case ("inputs", *_) | ("workflow", "parameters", _) | ("workflow", "name" | "namespace") if (
                tag.kind == "simple"
            ):
                pass
            case _:
                return not is_filled(text[tag.start : tag.end])
    return True
