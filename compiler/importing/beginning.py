"""How a run begins and ends: its arguments, its entrypoint, and its exit handler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.findings.importing import OtherName, Otherwise
from flowdsl.compiler.importing.fields import has_tags
from flowdsl.compiler.importing.model import Function, Slot, ports
from flowdsl.compiler.importing.names import Names, identifier, known_outside, parameter
from flowdsl.compiler.importing.ports import Port, as_text
from flowdsl.compiler.importing.scopes import Graph
from flowdsl.compiler.importing.tasks import read_task
from flowdsl.compiler.kinds import LOCATIONS
from flowdsl.compiler.lint.doubts.sharing import shared
from flowdsl.compiler.lint.manifest.view import View
from flowdsl.compiler.naming import slug
from flowdsl.compiler.tree import entries, inside
from flowdsl.grammar.template import only_tag, tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.compiler.importing.document import Reader
    from flowdsl.compiler.importing.model import Entry, Json, Key
    from flowdsl.compiler.tree import Path


def read_document(reader: Reader) -> None:
    """Read a document from its beginning."""
    claims = {found.claim for _, found in shared(View(reader.body))}
    reader.used, reader.mounted = reader.shelf.begin(reader.spec, claims)
    name = str(reader.metadata.get("name") or reader.metadata.get("generateName") or reader.kind).rstrip("-")
    entry = str(reader.spec.get("entrypoint") or "")
    first = Function("", reader.templates[entry][1], ()) if entry in reader.templates else None
    wish = identifier(name)
    alone = first is not None and first.body is not None
    if wish in map(identifier, reader.templates) and (alone or wish != identifier(entry)):
        wish = "main"
    reader.main.name = reader.shelf.names.free(wish, "main")
    _arguments(reader)
    called = first is None or (reader.kind.endswith("Template") and _wants_files(reader, entry))
    if not called:
        _unsaid(reader, entry)
    reader.hidden = {*_of_graphs(reader)}
    if called and reader.templates and "workflowTemplateRef" not in reader.spec:
        _library(reader, name)
        return
    if first is not None:
        _entry(reader, entry, alone)
        _exit(reader)
        _unreached(reader, entry)
    reader.order.append(reader.main)


def _of_graphs(reader: Reader) -> Iterator[str]:
    """The names of the parameters of graphs: their inputs, and what they need of the workflow."""
    yield from (one.name for one in reader.parameters.values())
    for name, (_, template) in reader.templates.items():
        if Function("", template, ()).body is None:
            yield from (parameter(one.name) for one in ports(template, "inputs"))
            yield from (parameter(one.removeprefix(".")) for one in reader.needs.of(name))


def _wants_files(reader: Reader, entry: str) -> bool:
    """Whether callers pass files to a template, so that no run starts with it."""
    inputs = ports(reader.templates[entry][1], "inputs")
    return any(
        one.kind == "artifacts" and not one.said.get("optional") and one.name not in reader.parameters
        for one in inputs
        if all(where not in one.said for where in LOCATIONS)
    )


def _library(reader: Reader, name: str) -> None:
    """Templates for other workflows: functions, without a pipeline of their own."""
    reader.library = True
    for one in list(reader.templates):
        reader.called({"template": one}, reader.templates[one][0])
    what = (
        f"the templates of the {reader.kind} `{name}` become functions; what is compiled has no such object"
    )
    way = "import them where they are called; what calls them by `templateRef` needs the manifest in the cluster"
    reader.add(("metadata", "name"), Otherwise(what, way))


def _unreached(reader: Reader, entry: str) -> None:
    """Read the templates that the entrypoint does not reach."""
    known = {entry, *reader.functions, *reader.hooked}
    others = reader.kind.endswith("Template")
    for name, (path, _) in reader.templates.items():
        if others and name in reader.functions and name != entry:
            _renamed(reader, reader.functions[name], (*path, "name"))
        if name not in known:
            what = f"the template `{name}` is left out: no run of `{reader.main.name}` comes to it"
            way = "there is nothing to do, unless a task is to call it"
            if others:
                way = "keep the manifest for those who call it by `templateRef`, or import it without its entrypoint"
            reader.add((*path, "name"), Otherwise(what, way))


def _renamed(reader: Reader, target: Function, path: Path) -> None:
    """Keep the names of a template and its inputs and outputs where others refer to them."""
    name = str(target.template["name"])
    changed = {f"`{name}`": f"`{slug(target.name)}`"} if slug(target.name) != name else {}
    names = {key: one.name for key, one in target.inputs.items()} | {
        key: target.named(key) for key in target.outputs
    }
    changed |= {
        f"`{key[1]}`": f"`{one}`"
        for key, one in names.items()
        if key[0] in ("parameters", "artifacts") and key[1] != one
    }
    if changed:
        told = ", ".join(f"{before} is {now}" for before, now in changed.items())
        what = f"who calls the template `{name}` by `templateRef` finds other names: {told}"
        reader.add(path, Otherwise(what, "change these calls, or keep the manifest for them"))


def _called(reader: Reader) -> dict[Key, str]:
    """The Python names of the workflow's arguments.

    A template of the cluster refers to them by name: names that are invalid in Python are left out, unless it is
    imported, too.
    """
    reference: Json = inside(reader.spec, "workflowTemplateRef")
    if not reference:
        return _names(reader.spec)
    beside = reader.beside.get((str(reference.get("name")), bool(reference.get("clusterScope"))))
    known = {} if beside is None else _names(beside.spec)
    found = {one.key: known.get(one.key, one.name) for one in ports(reader.spec, "arguments")}
    return {
        key: name
        for key, name in found.items()
        if key in known or (name == known_outside(name) and name not in known.values())
    }


def _free(reader: Reader, name: str) -> str:
    """A free name for a further parameter of the workflow."""
    taken = (one.name for one in reader.main.inputs.values())
    return Names(taken, shadowing=True).free(known_outside(name))


def _names(spec: Json) -> dict[Key, str]:
    names = Names(shadowing=True)
    return {one.key: names.free(known_outside(one.name)) for one in ports(spec, "arguments")}


def _arguments(reader: Reader) -> None:
    """Read the parameters of the workflow."""
    called = _called(reader)
    for one in ports(reader.spec, "arguments", reader.path):
        if one.key not in called:
            reader.looked[one.kind].append(one.said)
            continue
        made = Slot(called[one.key], None)
        if one.kind == "parameters":
            made.port = Port(map(as_text, entries(one.said, "enum")))
        reader.usual(made, one)
        reader.describe(made, one)
        _told(reader, one.name, made.name, (*one.path, "name"))
        reader.parameters[one.name] = made
        reader.main.inputs["workflow" if one.kind == "parameters" else "artifacts", one.name] = made


def _unsaid(reader: Reader, entry: str) -> None:
    """Read the parameters that a template needs of the workflow, and that are only given when a run is submitted."""
    if not reader.kind.endswith("Template"):
        return
    for needed in (*reader.needs.of(entry), *reader.needs.of(str(reader.spec.get("onExit")))):
        if not needed.startswith(".") and needed not in reader.parameters:
            given = reader.parameters[needed] = Slot(_free(reader, needed), Port())
            reader.main.inputs["workflow", needed] = given
            _told(reader, needed, given.name, (*reader.path, "entrypoint"))


def _told(reader: Reader, name: str, now: str, path: Path) -> None:
    """Report the new name of a parameter, if it is renamed."""
    if now != name:
        way = "start runs with that name; in Python, `_` joins the parts of a name"
        reader.add(path, OtherName("the parameter", name, now, way))


def _entry(reader: Reader, name: str, alone: bool) -> None:
    """Read the body of the pipeline: the tasks of the entrypoint, or the entrypoint as its only step."""
    path, template = reader.templates[name]
    main = reader.main
    for one in ports(template, "inputs", path):
        if not (alone and reader.is_looked_up(name, one)):
            _fed(reader, one, alone)
    if not alone:
        main.template, main.path = template, path
        reader.results(main)
        reader.read_body(main, name)
        return
    main.graph = Graph(reader, main, {"name": name}, path)
    handed = [one for one in ports(template, "inputs") if one.key in main.inputs]
    made = read_task(
        main.graph, {"name": name, "template": name, "arguments": _given(handed, "inputs")}, path
    )
    for key, given in made.target.outputs.items():
        main.outputs[key] = Slot(given.name, given.port, given.optional, value=made.output(key))
    main.record = made.target.record


def _given(inputs: Iterable[Entry], root: str) -> Json:
    """Arguments that pass on inputs of the same names in a graph or in the workflow."""
    given: Json = {"parameters": [], "artifacts": []}
    for one in inputs:
        tag = f"{{{{{root}.{one.kind}.{one.name}}}}}"
        given[one.kind].append({"name": one.name, "value" if one.kind == "parameters" else "from": tag})
    return given


def _fed(reader: Reader, one: Entry, alone: bool) -> None:
    """Pass an input to the entrypoint: the workflow's argument of that name, or its own default."""
    found = reader.parameters.get(one.name)
    if found is None and one.text is not None and only_tag(one.text):
        path = tags(one.text)[0].path
        found = (
            reader.parameters.get(path[2]) if path[:2] == ("workflow", "parameters") and path[2:] else None
        )
    if found is None:
        found = Slot(_free(reader, one.name), Port() if one.kind == "parameters" else None)
        if alone and (any(where in one.said for where in LOCATIONS) or has_tags(one.text)):
            return  # given in its call
        if one.kind == "parameters" and has_tags(one.text):
            reader.main.fixed[one.key] = one
            return
        if one.text is None and "valueFrom" in one.said:
            looked = {"name": found.name, "valueFrom": one.said["valueFrom"]}
            reader.looked["parameters"].append(looked)
        reader.usual(found, one)
        reader.parameters[one.name] = found
    if not alone:
        reader.describe(found, one)
    reader.main.inputs[one.key] = found


def _exit(reader: Reader) -> None:
    """Read the exit handler."""
    hooks: Json = dict(inside(reader.spec, "hooks"))
    handler: Json | None = hooks.pop("exit", None)
    path: Path = (*reader.path, "hooks", "exit")
    if reader.spec.get("onExit"):
        handler, path = {"template": reader.spec["onExit"]}, (*reader.path, "onExit")
    if handler is not None and handler.get("expression"):
        hooks["exit"], handler = handler, None
    reader.spec["hooks"] = reader.raw({name: reader.hook(hook) for name, hook in hooks.items()}, reader.main)
    if handler is None:
        return
    graph = Graph(reader, reader.main, {"name": ""}, path)
    graph.ended = True
    name = str(handler.get("template"))
    taken = ports(reader.templates[name][1], "inputs") if name in reader.templates else ()
    known = [one for one in taken if one.kind == "parameters" and one.name in reader.parameters]
    given = handler.get("arguments") or _given(known, "workflow")
    read_task(graph, {"name": name, **handler, "arguments": given}, path)
    reader.ending = graph.calls
