"""One document: its templates as functions, as far as its runs reach them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.findings.importing import CallsItself, NotSayable, OtherName
from flowdsl.compiler.importing.fields import TEMPLATE, has_tags, say
from flowdsl.compiler.importing.graphs import Graph
from flowdsl.compiler.importing.leaves import WORDS, Leaf
from flowdsl.compiler.importing.library import Library
from flowdsl.compiler.importing.merging import without_blanks
from flowdsl.compiler.importing.model import Function, Input, Output, Problems
from flowdsl.compiler.importing.names import Names, class_name, identifier
from flowdsl.compiler.importing.needs import Needs
from flowdsl.compiler.importing.ports import Port, as_text
from flowdsl.compiler.importing.renamed import FORMULAS, renamed
from flowdsl.compiler.importing.rounds import rounds
from flowdsl.compiler.importing.sources import LOCATIONS, UNSAID, source
from flowdsl.compiler.lint.tree import entries, inside, is_list, is_mapping
from flowdsl.compiler.naming import slug

if TYPE_CHECKING:
    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.loops import Loop
    from flowdsl.compiler.importing.model import Call, Json, Key
    from flowdsl.compiler.importing.renamed import Renaming
    from flowdsl.compiler.importing.shelf import Shelf
    from flowdsl.compiler.lint.tree import Path
    from flowdsl.diagnostic import Finding

_WAY = "change it, or take it out, and import the rest"
#: How the labels and annotations begin that flowdsl writes itself.
_OWN = "flowdsl.dev/"
_PORT = {
    "parameters": ("name", "value", "default", "valueFrom"),
    "artifacts": ("name", "path", "optional", "from", "fromExpression", *LOCATIONS),
}


class Reader:
    """What is read of one document."""

    def __init__(self, body: Json, shelf: Shelf) -> None:
        self.body = body
        self.kind = str(body.get("kind"))
        self.shelf = shelf
        self.problems = Problems()
        self.metadata: Json = copy.deepcopy(inside(body, "metadata"))
        whole: Json = inside(body, "spec")
        for field in ("labels", "annotations"):
            kept = {key: one for key, one in inside(self.metadata, field).items() if not key.startswith(_OWN)}
            self.metadata.pop(field, None)
            self.metadata |= {field: kept} if kept else {}
        self.cron: Json = {key: one for key, one in whole.items() if key != "workflowSpec"}
        self.path: Path = ("spec", "workflowSpec") if self.kind == "CronWorkflow" else ("spec",)
        if self.kind != "CronWorkflow":
            self.cron = {}
        spec: Json = inside(whole, "workflowSpec") if self.kind == "CronWorkflow" else whole
        self.spec: Json = without_blanks(copy.deepcopy(spec))
        shelf.begin(self.spec)
        self.templates: dict[str, tuple[int, Json]] = {
            str(one.get("name")): (index, one) for index, one in enumerate(entries(self.spec, "templates"))
        }
        self.needs = Needs({name: one for name, (_, one) in self.templates.items()})
        self.functions: dict[str, Function] = {}
        self.order: list[Function] = []
        self.open: list[str] = []
        self.graphs: dict[int, Graph] = {}
        self.leaves: dict[int, Leaf] = {}
        self.libraries: dict[tuple[str, str, bool], Library] = {}
        self.options: dict[int, dict[str, Code]] = {}  # of graphs, and of their calls
        self.parameters: dict[str, Input] = {}
        self.main: Function
        self.exit: Graph | None = None
        self.hidden: set[str] = set()  # the names of parameters, which would hide functions of the same name
        self.kept: list[Json] = []  # templates as they are, for hooks
        self.looked: list[Json] = []  # parameters that are looked up in the cluster

    def refuse(self, path: Path, what: str, way: str = "") -> None:
        """Record that something has no word."""
        self.add(path, NotSayable(what, way or _WAY), what.strip("`"))

    def hook(self, hook: Json) -> Json:
        """A hook that is left to Argo, and so is its template."""
        name = str(hook.get("template", ""))
        if name not in self.templates:
            return hook
        template = self.templates[name][1]
        called = any(name in self.needs.called(one) for one in self.templates)
        kept = f"{slug(name)}-hook" if called else slug(name)
        if all(one["name"] != kept for one in self.kept):
            self.kept.append({**template, "name": kept})
        return {**hook, "template": kept}

    def rounds(self, graph: Graph, task: Json, path: Path, loop: Loop) -> Call:
        """The call of a pipeline for each item of a task."""
        return rounds(graph, task, path, loop)

    def made(self, target: Function, graph: Graph) -> None:
        """A pipeline that no template is."""
        self.graphs[id(target)] = graph
        self.order.append(target)

    def add(self, path: Path, finding: Finding, words: str = "") -> None:
        """Record a finding at a path, or at the words of the text there that it is about."""
        value: Any = self.body
        for step in path:
            value = (
                value[step]
                if is_mapping(value) and step in value
                else (value[step] if is_list(value) and isinstance(step, int) and step < len(value) else None)
            )
        start = value.find(words) if isinstance(value, str) and words else -1
        self.problems.add(path, finding, (start, start + len(words)) if start >= 0 else None)

    # --- the pipeline ---------------------------------------------------------------------------

    def read(self) -> None:
        """Read the document from its beginning."""
        name = str(self.metadata.get("name") or self.metadata.get("generateName") or self.kind).rstrip("-")
        entry = str(self.spec.get("entrypoint") or "")
        wish = identifier(name)
        taken = {identifier(one) for one in self.templates}
        main = Function("", {}, self.path, pipeline=True)
        leaf = entry in self.templates and _body(self.templates[entry][1]) is not None
        if wish in taken and (leaf or wish != identifier(entry)):
            wish = "main"
        main.name = self.shelf.names.free(wish, "main")
        self.main = main
        self.arguments()
        self.hidden = {one.name for one in self.parameters.values()} | {
            identifier(str(one["name"]))
            for _, template in self.templates.values()
            if _body(template) is None
            for kind in ("parameters", "artifacts")
            for one in entries(template, "inputs", kind)
        }
        if "workflowTemplateRef" in self.spec or not self.templates:
            self.order.append(main)
            return
        if entry not in self.templates:
            way = "leave it in the cluster, and call what it holds with `@call_template`"
            self.refuse(self.path, f"a {self.kind} without an entrypoint", way)
            return
        self.entry(entry, leaf)
        self.leave()

    def arguments(self) -> None:
        """The parameters of the workflow."""
        names = Names()
        arguments: Json = inside(self.spec, "arguments")
        for kind in ("parameters", "artifacts"):
            for index, one in enumerate(entries(arguments, kind)):
                name = str(one.get("name"))
                path: Path = (*self.path, "arguments", kind, index)
                made = Input(names.free(identifier(name)), None)
                if kind == "parameters":
                    made.port = Port(map(as_text, entries(one, "enum")))
                    text = one.get("value", one.get("default"))
                    if text is not None:
                        self.default(made, as_text(text), path)
                elif any(where in one for where in LOCATIONS):
                    self.lies(made, one, path)
                if made.name != name:
                    way = "who starts a run says it so; the parts of a name are joined by `_` in Python"
                    self.problems.add((*path, "name"), OtherName("the parameter", name, made.name, way))
                self.parameters[name] = made
                self.main.inputs["workflow" if kind == "parameters" else "artifacts", name] = made

    def default(self, made: Input, text: str, path: Path) -> None:
        """The value that a parameter has."""
        port = made.port
        assert port is not None
        if has_tags(text):
            self.refuse(
                path, f"the value `{text}`", "write the value, or let the one who starts a run say it"
            )
        port.take(text)
        made.default = lambda: port.value(text)

    def lies(self, made: Input, one: Json, path: Path) -> None:
        """Where a file lies that nobody hands over."""
        found = source(one, self.nothing, path)
        if found is None:
            self.refuse(path, "where this artifact lies")
            return
        name = self.shelf.constant(str(one["name"]), found())
        made.default = lambda: name

    @property
    def nothing(self) -> Leaf:
        """A scope in which there is nothing."""
        return Leaf(self, Function("", {}, self.path), "container")

    def entry(self, name: str, leaf: bool) -> None:
        """The body of the pipeline: what its first template runs, or that template as its only step."""
        index, template = self.templates[name]
        path: Path = (*self.path, "templates", index)
        main = self.main
        for needed in (*self.needs.of(name), *self.needs.of(str(self.spec.get("onExit")))):
            unsaid = not needed.startswith(".") and needed not in self.parameters
            if unsaid and self.kind.endswith("Template"):  # whoever starts a run says it
                self.parameters[needed] = Input(identifier(needed), Port())
                main.inputs["workflow", needed] = self.parameters[needed]
        inputs: Json = inside(template, "inputs")
        for kind in ("parameters", "artifacts"):
            for at, one in enumerate(entries(inputs, kind)):
                if not (leaf and self.is_looked_up(name, kind, one)):
                    self.fed(name, kind, one, (*path, "inputs", kind, at), leaf)
        if leaf:
            graph = Graph(self, main, {"name": name}, path)
            self.graphs[id(main)] = graph
            given = {
                kind: [
                    {
                        "name": of,
                        "value": f"{{{{inputs.parameters.{of}}}}}",
                        "from": f"{{{{inputs.artifacts.{of}}}}}",
                    }
                    for held, of in main.inputs
                    if held == kind and any(one["name"] == of for one in entries(inputs, kind))
                ]
                for kind in ("parameters", "artifacts")
            }
            made = graph.task({"name": name, "template": name, "arguments": given}, path)
            for key, given_by in made.target.outputs.items():
                found = made.output(key)
                main.outputs[key] = Output(given_by.name, given_by.port, given_by.optional, found)
            main.record = made.target.record
        else:
            self.open.append(name)
            graph = Graph(self, main, template, path)
            self.graphs[id(main)] = graph
            self.outputs(main, template, path)
            graph.read()
            self.open.pop()

    def fed(self, entry: str, kind: str, one: Json, path: Path, leaf: bool) -> None:
        """An input of the first template: the workflow's argument of that name, or what it says itself."""
        name = str(one["name"])
        found = self.parameters.get(name)
        if found is None:
            found = Input(identifier(name), Port() if kind == "parameters" else None)
            text = one.get("value", one.get("default"))
            if text is not None:
                self.default(found, as_text(text), path)
            elif "valueFrom" in one:
                self.looked.append({"name": found.name, "valueFrom": one["valueFrom"]})
            elif kind == "artifacts" and any(where in one for where in LOCATIONS):
                if leaf:
                    return
                self.lies(found, one, path)
            self.parameters[name] = found
        self.main.inputs[kind, name] = found

    def leave(self) -> None:
        """What runs at the end."""
        hooks: Json = dict(inside(self.spec, "hooks"))
        handler: Json | None = hooks.pop("exit", None)
        path: Path = (*self.path, "hooks", "exit")
        if self.spec.get("onExit"):
            handler, path = {"template": self.spec["onExit"]}, (*self.path, "onExit")
        if handler is not None and handler.get("expression"):
            hooks["exit"], handler = handler, None
        kept = {name: self.hook(hook) for name, hook in hooks.items()}
        self.spec["hooks"] = renamed(kept, self.names_in(self.main), FORMULAS)
        if handler is None:
            return
        self.exit = Graph(self, self.main, {"name": ""}, path)
        self.exit.ended = True
        name = str(handler.get("template"))
        given: Json = handler.get("arguments") or {
            "parameters": [
                {"name": one["name"], "value": f"{{{{workflow.parameters.{one['name']}}}}}"}
                for one in (
                    entries(self.templates[name][1] if name in self.templates else {}, "inputs", "parameters")
                )
                if str(one["name"]) in self.parameters
            ]
        }
        self.exit.task({"name": name, **handler, "arguments": given}, path)

    # --- functions ------------------------------------------------------------------------------

    def called(self, task: Json, path: Path) -> Function:
        """The function of what a task calls."""
        if reference := task.get("templateRef"):
            key = (
                str(reference.get("name")),
                str(reference.get("template")),
                bool(reference.get("clusterScope")),
            )
            if key not in self.libraries:
                self.libraries[key] = Library(key, self.shelf)
                self.order.append(self.libraries[key].target)
            return self.libraries[key].target
        if inline := task.get("inline"):
            name = f"{task.get('name')} inline {path}"
            if name not in self.templates:
                self.templates[name] = -1, {**inline, "name": str(task.get("name"))}
                self.needs.add(name, self.templates[name][1])
            return self.template(name, (*path, "inline"), path)
        name = str(task.get("template"))
        index = self.templates.get(name, (0, {}))[0]
        return self.template(name, (*self.path, "templates", index), path)

    def template(self, name: str, path: Path, caller: Path) -> Function:
        """The function of a template; its results are known, its body may be read already."""
        if name in self.functions and name not in self.open:
            return self.functions[name]
        template = self.templates.get(name, (0, {"name": name}))[1]
        body = _body(template)
        target = Function("", template, path, pipeline=body is None)
        if name in self.open or ("steps" not in template and "dag" not in template and body is None):
            if name in self.open:
                self.problems.add((*caller, "template"), CallsItself(name))
            else:
                self.refuse(caller, f"the template `{name}`", "give it a body")
            target.name = identifier(name)
            return target
        wish = identifier(str(template["name"]))
        target.name = self.shelf.names.free(f"{wish}_" if wish in self.hidden else wish)
        self.inputs(target, template, name)
        self.functions[name] = target
        self.outputs(target, template, path)
        if body is None:
            self.open.append(name)
            graph = Graph(self, target, template, path)
            self.graphs[id(target)] = graph
            graph.read()
            self.open.pop()
        else:
            leaf = Leaf(self, target, body)
            self.leaves[id(target)] = leaf
            leaf.read()
        self.order.append(target)
        return target

    def inputs(self, target: Function, template: Json, name: str) -> None:
        """What a template takes: its inputs, and what it knows of the workflow."""
        names = Names()
        given: Json = inside(template, "inputs")
        supplied = {
            str(one["name"])
            for one in entries(template, "outputs", "parameters")
            if "suspend" in template and "supplied" in inside(one, "valueFrom")
        }
        for kind in ("parameters", "artifacts"):
            for index, one in enumerate(entries(given, kind)):
                if str(one["name"]) in supplied:
                    continue
                if not target.pipeline and self.is_looked_up(name, kind, one):
                    target.lookups.add((kind, str(one["name"])))
                    continue
                made = Input(
                    names.free(identifier(str(one["name"]))), Port() if kind == "parameters" else None
                )
                target.inputs[kind, str(one["name"])] = made
                self.usual(made, kind, one, (*target.path, "inputs", kind, index))
        for needed in self.needs.of(name):
            wish = identifier(needed.removeprefix("."))
            made = Input(
                names.free(wish, f"workflow_{wish.rstrip('_')}"), Port(unknown=needed.startswith("."))
            )
            target.inputs["workflow", needed] = made

    def usual(self, made: Input, kind: str, one: Json, path: Path) -> None:
        """What an input is where nothing is handed over."""
        if kind == "parameters":
            text = one.get("value", one.get("default"))
            if text is not None and not has_tags(text):
                port, known = made.port, as_text(text)
                assert port is not None
                port.take(known)
                made.default = lambda: port.value(known)
            return
        made.optional = bool(one.get("optional"))
        where = next((where for where in LOCATIONS if where in one), None)
        if where is not None and where not in UNSAID and not has_tags(one):
            self.lies(made, one, (*path, where))
        elif made.optional and where is None:
            made.default = lambda: "None"

    def is_looked_up(self, template: str, kind: str, one: Json) -> bool:
        """Whether Argo finds an input of a template by itself, in a way that there is no word for."""
        found = "configMapKeyRef" in inside(one, "valueFrom") or any(where in one for where in UNSAID)
        return found and (kind, str(one["name"])) not in self.needs.given(template)

    def filled(self, target: Function, key: Key) -> tuple[Path, Any] | None:
        """What an input says about itself with tags, for whom calls it without an argument."""
        for index, one in enumerate(entries(target.template, "inputs", key[0])):
            if one.get("name") == key[1]:
                path: Path = (*target.path, "inputs", key[0], index)
                value = one if key[0] == "artifacts" else one.get("value", one.get("default"))
                if has_tags(value) and (key[0] == "parameters" or any(where in one for where in LOCATIONS)):
                    return path, value if key[0] == "artifacts" else as_text(value)
        return None

    def outputs(self, target: Function, template: Json, path: Path) -> None:
        """What a template gives."""
        names = Names()
        given: Json = inside(template, "outputs")
        for kind in ("parameters", "artifacts"):
            for one in entries(given, kind):
                if "value" in one and not target.pipeline:
                    continue  # known where it is called
                port = Port(unknown=True) if kind == "parameters" else None
                if port is not None and "supplied" in inside(one, "valueFrom"):
                    port = Port(_choices(template, str(one["name"])))
                optional = kind == "artifacts" and bool(one.get("optional"))
                made = Output(names.free(identifier(str(one["name"]))), port, optional)
                target.outputs[kind, str(one["name"])] = made
        if template.get("daemon"):
            self.grow(target, ("ip", ""))
        self.recorded(target, str(template.get("name")))

    def recorded(self, target: Function, name: str) -> None:
        """Give the results of a function a class, if there are several."""
        if len(target.outputs) > 1 and not target.record:
            target.record = self.shelf.names.free(f"{class_name(name)}Outputs")

    def grow(self, target: Function, key: Key) -> None:
        """A result that nothing is said about: what a program prints, an address, or what a library gives."""
        library = next((one for one in self.libraries.values() if one.target is target), None)
        if library is not None:
            library.grow(key)
            self.recorded(target, library.key[1])
            return
        body = _body(target.template)
        prints = key[0] == "result" and body in ("container", "script", "http") and not target.outputs
        serves = key[0] == "ip" and bool(target.template.get("daemon")) and not target.outputs
        if prints or serves:
            port = Port(unknown=True)
            if serves:
                port.asked(text=True)
            target.outputs[key] = Output("return", port)

    def input_of(self, target: Function, key: Key) -> Input | None:
        """An input of what is called; a library takes what it is given."""
        for one in self.libraries.values():
            if one.target is target:
                return one.input_of(key)
        return target.inputs.get(key)

    def counter(self, target: Function) -> Input:
        """A parameter of a function that counts the items of a loop."""
        key: Key = ("item", "")
        if key not in target.inputs:
            names = Names()
            names.taken |= {one.name for one in target.inputs.values()}
            target.inputs[key] = Input(names.free("item"), Port(), lambda: "0")
        return target.inputs[key]

    # --- options --------------------------------------------------------------------------------

    def graph_options(self, target: Function, fields: Json) -> None:
        """Say what a graph has beside its tasks, as far as there are words."""
        said: dict[str, Code] = {}
        words = ("locks",) if target is self.main else ("locks", "retries")
        say([row for row in TEMPLATE if row.option in words], fields, said)
        self.options[id(target)] = said

    def called_options(self, target: Function) -> dict[str, Code]:
        """What a call of a graph says about it."""
        said = dict(self.options.get(id(target), {})) if target.pipeline else {}
        limit = target.template.get("parallelism") if target.pipeline else None
        if limit is not None and not any(one.looped for one in self.graphs[id(target)].calls):
            said["parallelism"] = str(limit)
        return said

    def names_in(self, target: Function) -> Renaming:
        """How tags in a template name things now."""

        def other(path: tuple[str, ...]) -> tuple[str, ...] | None:
            match path:
                case ("inputs", ("parameters" | "artifacts") as kind, name, *rest):
                    found = target.inputs.get((kind, name))
                    return None if found is None else ("inputs", kind, found.name, *rest)
                case ("workflow", "parameters", name) if name in self.parameters:
                    return "workflow", "parameters", self.parameters[name].name
                case (("steps" | "tasks"), task, *rest):
                    return "tasks", slug(task), *rest
                case _:
                    return None

        return other

    def rest_of(self, target: Function, side: str, kind: str, one: Json) -> Json:
        """What an input or output says besides what a function does."""
        found: Json = {key: item for key, item in one.items() if key not in _PORT[kind]}
        if "suspend" in target.template and kind == "parameters":
            return {}
        origin = dict(inside(one, "valueFrom"))
        for known in ("path", "jsonPath", "jqFilter", "supplied", "parameter", "expression"):
            origin.pop(known, None)
        if origin and side == "outputs":
            found["valueFrom"] = origin
        if side == "outputs" and kind == "artifacts":
            found |= {where: one[where] for where in LOCATIONS if where in one}
        return found


def _body(template: Json) -> str | None:
    """What a template runs, if it is no graph."""
    return next((one for one in WORDS if one in template), None)


def _choices(template: Json, name: str) -> list[str]:
    """What a person may supply for an output of a gate."""
    inputs = entries(template, "inputs", "parameters")
    return [as_text(item) for one in inputs if one.get("name") == name for item in one.get("enum", [])]
