"""Converts one task or step: what it calls with what, how often, when, and its exit hook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.findings.importing import Otherwise
from flowdsl.compiler.importing.conditions import condition
from flowdsl.compiler.importing.dependencies import wait
from flowdsl.compiler.importing.expressions import expression
from flowdsl.compiler.importing.fields import has_tags
from flowdsl.compiler.importing.layout import listed
from flowdsl.compiler.importing.library import Library
from flowdsl.compiler.importing.loops import loop_of
from flowdsl.compiler.importing.model import Asked, Block, Call, Function, Slot, ports
from flowdsl.compiler.importing.names import identifier
from flowdsl.compiler.importing.ports import as_text, item_text
from flowdsl.compiler.importing.reading import Scope
from flowdsl.compiler.importing.scopes import Inside, Round
from flowdsl.compiler.importing.sources import FETCHED, source
from flowdsl.compiler.importing.tagged import pieces, value_of, way_out
from flowdsl.compiler.importing.texts import constant
from flowdsl.compiler.kinds import LOCATIONS
from flowdsl.compiler.lint.manifest.template import LOOPS
from flowdsl.compiler.naming import slug
from flowdsl.compiler.tree import inside, is_mapping
from flowdsl.grammar.template import only_tag, references, tags

if TYPE_CHECKING:
    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.loops import Loop
    from flowdsl.compiler.importing.model import Entry, Json, Render, Value
    from flowdsl.compiler.importing.scopes import Graph
    from flowdsl.compiler.tree import Path

#: Fields of a task that do not apply to each of its items.
_AROUND = ("name", "depends", "dependencies", "continueOn")
_OWN = (*_AROUND, *LOOPS, *("template", "templateRef", "inline", "arguments", "when", "onExit", "hooks"))


_LOOK = "look whether the difference matters"


def read_task(graph: Graph, task: Json, path: Path) -> Call:
    """One task of a graph."""
    name = graph.name_of(task)
    waiting = graph.current = Call(name, Function("", {}, path), path)
    loop = loop_of(task, path, graph)
    inner = _exit_hook(task) or ("when" in task and name in graph.order.ended)  # they apply to the items
    if loop is not None and (inner or loop.is_taken_apart(task, path)):
        call = graph.current = _rounds(graph, task, path, loop)
        task = {key: one for key, one in task.items() if key in _AROUND}
    else:
        call = graph.current = Call(name, graph.reader.called(task, path), path)
        _arguments(graph, call, task, path, loop)
    call.taken |= waiting.taken
    if loop is not None:
        _looped(graph, call, loop)
    if (when := task.get("when")) is not None:
        _when(graph, call, str(when), (*path, "when"))
    _going_on(graph, call, inside(task, "continueOn"))
    if name in graph.order.caught:
        call.options["may_fail"] = constant("True")
    call.options |= {option: constant(code) for option, code in call.target.options.items()}
    graph.current = None
    wait(graph, call, path)
    graph.calls.append(call)
    graph.tasks[name] = call
    _hooks(graph, call, task, path)
    left: Json = {key: one for key, one in task.items() if key not in _OWN and one}
    if left:
        graph.patch_task(call, left)
    return call


def _looped(graph: Graph, call: Call, loop: Loop) -> None:
    """Set the options of a loop."""
    call.looped, call.count = True, loop.count
    if not call.over:  # no parameter gets the items: an unused one counts them
        taken = call.target.counter()
        if call.count is None:
            graph.refuse(call.path, "a loop whose items are not used")
        call.over[taken.name] = loop.counted(taken.port)
    limit = graph.template.get("parallelism")
    if limit is not None:
        call.parallel = str(limit)
    if not graph.template.get("failFast"):
        return
    if limit is None and not graph.reader.spec.get("parallelism"):
        graph.patched.append({"name": slug(call.task), "failFast": True})
        return
    # See FD869.
    way = "in a pipeline the loop has a DAG of its own, which never ends then: leave out `failFast` or `parallelism`"
    graph.refuse(
        (*graph.path, "failFast"), "a loop with `parallelism` that ends at the first item that fails", way
    )


def _rounds(outer: Graph, task: Json, path: Path, loop: Loop) -> Call:
    """The call of a pipeline for each item of a task, whose items are accessed by field or have a condition."""
    name = str(task.get("name"))
    template: Json = {"name": name, "steps": [[]]}
    target = Function(outer.reader.shelf.names.free(f"{identifier(name).rstrip('_')}_each"), template, path)
    call = Call(name, target, path)
    graph = target.graph = Round(outer, call, template)
    graph.first = loop.first
    port, listing = graph.item, None if loop.listing is None else loop.listing.port
    if listing is not None:
        port.root.record = listing.root.record
    outside = {*_AROUND, *LOOPS} - {"name"}
    read_task(graph, {key: one for key, one in task.items() if key not in outside}, path)
    outer.reader.order.append(target)
    if loop.listing is not None and listing is not None:
        if port.root.record is not None:
            listing.root.record = port.root.record
            port.root.record.loose = loop.each
        elif loop.each:
            port.join(listing)
        else:
            port.asked(text=True)  # the items may have any type, and stay unchanged
        call.over["item"] = loop.listing.code
        return call
    if loop.numbers is not None:
        port.asked(whole=True)
        call.over["item"] = loop.numbers
        return call
    items = loop.items or []
    for one in items:
        if is_mapping(one) and port.root.record is not None:
            port.root.record.take(one)
        else:
            port.take(item_text(one))

    def written() -> Code:
        record = port.root.record
        return listed(port.value(item_text(one)) if record is None else record.value(one) for one in items)

    call.over["item"] = written
    return call


def _arguments(graph: Graph, call: Call, holder: Json, path: Path, loop: Loop | None = None) -> None:
    """Read the arguments of a task, and the defaults of its template."""
    target = call.target
    left: list[Json] = []
    said_by_argo = set[str]()
    for one in ports(holder, "arguments", path):
        if loop is None and _is_left(graph, call, one):
            taken = None if isinstance(target, Library) else target.taken(one.key)
            left.append({"name": one.name if taken is None else taken.name, "value": one.text})
            if taken is not None:
                _unsaid(taken)
                said_by_argo.add(taken.name)
            continue
        taken = target.taken(one.key)
        if taken is None and one.key in target.lookups:
            way = "leave it out, or take away that the template finds it by itself"
            graph.refuse(one.path, f"an argument for `{one.name}`", way)
        elif taken is None:
            what = f"the argument `{one.name}` is left out: `{target.name}` has no such input"
            graph.reader.add(one.path, Otherwise(what, "look whether one is missing"))
        elif one.kind == "artifacts":
            call.arguments[taken.name] = _file(graph, one, taken)
            if one.said.get("subPath"):
                _part(graph, call, one, taken, loop)
        elif "value" not in one.said:
            way = "let a parameter of the workflow have it, and pass that on"
            graph.refuse(one.path, "an argument that is looked up", way)
        else:
            _parameter(graph, call, one, taken, loop)
    if left:
        graph.patch_task(call, {"arguments": {"parameters": left}})
    for key, taken in target.inputs.items():
        if taken.name in call.arguments or taken.name in call.over or taken.name in said_by_argo:
            continue
        if key[0] == "workflow":
            _known(graph, call, taken, key[1])
        else:
            _usual(graph, call, taken, key)


def _parameter(graph: Graph, call: Call, one: Entry, taken: Slot, loop: Loop | None) -> None:
    """Read the argument of a task for a parameter: one for each item of its loop, or a single one."""
    text, at = as_text(one.said["value"]), one.at
    if loop is not None and loop.named(text):
        call.over[taken.name] = loop.values(text, taken.port, at)
        return
    if _falls_back(graph, call, one, text):
        what = f"`{text}`, in whose place the default of `{one.name}` is taken where that task is skipped,"
        graph.refuse(at, what, "say the default in the output of that task")
    found = value_of(text, graph, at, taken.port)
    port, exact = found.port, found.exact
    call.arguments[taken.name] = (
        found.code
        if port is None or exact is None
        else lambda: graph.reader.shelf.value(f"{call.task}-{taken.name}", port, exact)
    )


def _falls_back(graph: Graph, call: Call, given: Entry, text: str) -> bool:
    """Whether an input gets its default if the task that an argument comes from is skipped by Argo.

    Source: Argo Workflows, markAbsentOptionalArgs in workflow/controller/scope.go.
    """
    name = _alone(text)
    if len(name) < 4 or name[2] != "outputs" or name[1] not in graph.left:
        return False
    usual = [one for one in ports(call.target.template, "inputs") if one.key == given.key]
    made = [one for one in ports(graph.tasks[name[1]].target.template, "outputs") if one.key == name[3:]]
    return any(one.text is not None or "default" in one.said for one in usual) and not any(
        "default" in inside(one.said, "valueFrom") for one in made
    )


def _alone(text: str) -> tuple[str, ...]:
    """The path of the variable, if a text consists of one tag."""
    found = only_tag(text.strip())
    return () if found is None else tuple(found[1].strip().split("."))


class _Trial(Scope):
    """A scope that only tests whether something can be expressed."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self._graph = graph
        self.failed = False

    def variable(self, name: tuple[str, ...]) -> Value | None:
        """A variable of the graph."""
        return self._graph.variable(name)

    def refuse(self, path: Path, what: str, way: str = "") -> None:
        """It cannot."""
        self.failed = True


def _unsaid(taken: Slot) -> None:
    """Add an input to a function that a call leaves to Argo: an optional text."""
    port = taken.port
    if port is not None:
        port.asked(text=True)
        port.root.unknown = True
        taken.default = taken.default or (lambda: port.value(""))


def _is_left(graph: Graph, call: Call, one: Entry) -> bool:
    """Whether an argument is left to Argo: it cannot be expressed, but Argo knows all names in it.

    Not for a hook, which is no task whose arguments could be patched.
    """
    text = one.text if one.kind == "parameters" else None
    if text is None or call.blocks or graph.ended:
        return False
    named = [graph.tasks[path[1]] for path in _named(text) if path[1:2] and path[1] in graph.tasks]
    before, used, trial = {*call.taken}, [other.used for other in named], _Trial(graph)
    pieces(text, trial, one.path)
    if not trial.failed:
        return False
    if not isinstance(call.target, Library):
        taken = call.target.taken(one.key)
        if taken is None or isinstance(graph, Round) or not _known_to_argo(graph, text):
            return False
    call.taken &= before  # the values in it are not passed, so the task has to wait for their tasks
    for other, was in zip(named, used, strict=True):
        other.used = was
    return True


def _named(text: str) -> list[tuple[str, ...]]:
    """The paths of the variables in a text."""
    return [one.path for one in references(text)]


def _known_to_argo(graph: Graph, text: str) -> bool:
    """Whether all names in a text exist in the compiled manifest."""
    known = (name[0] == "workflow" or name[-1] != "status" for name in _named(text))
    return all(known) and all(map(graph.is_named, _named(text)))


def _known(graph: Graph, call: Call, taken: Slot, name: str) -> None:
    """Pass a value of the workflow to a template that needs it."""
    path = ("workflow", name[1:]) if name.startswith(".") else ("workflow", "parameters", name)
    found = graph.variable(path)
    if found is None:
        graph.refuse(call.path, f"`{'.'.join(path)}` at this place")
        return
    if found.port is not None and taken.port is not None:
        taken.port.join(found.port)
    call.arguments[taken.name] = found.code


def _usual(graph: Graph, call: Call, taken: Slot, key: tuple[str, str]) -> None:
    """Pass the default of an input that contains tags, for calls without an argument."""
    inner = Inside(graph, call)
    for one in ports(call.target.template, "inputs", call.target.path):
        if one.key != key:
            continue
        if one.kind == "parameters" and one.text is not None and has_tags(one.text):
            call.arguments[taken.name] = value_of(one.text, inner, one.path, taken.port).code
        elif one.kind == "artifacts" and has_tags(one.said):
            made = source(one.said, inner, one.path)
            if made is not None:
                call.arguments[taken.name] = made


def _file(graph: Graph, one: Entry, taken: Slot) -> Render:
    """The source of an artifact argument."""
    said = one.said
    if any(kind in said for kind in LOCATIONS):
        made = source(said, graph, one.path)
        if made is None:
            graph.refuse(one.path, "where this artifact is stored", FETCHED)
        return made or constant("None")
    field = next((field for field in ("from", "fromExpression") if said.get(field)), "")
    text, found = str(said.get(field)), None
    if field == "fromExpression":
        found = expression(text, graph)
    elif body := tags(text):
        found = graph.variable(body[0].path)
    if field and (found is None or found.port is not None):
        graph.refuse((*one.path, field), f"`{text}`", way_out(text))
    if found is not None and found.file is not None:
        may_miss(graph, found.file, one)
        found.file.hand(taken)
    return constant("None") if found is None else found.code


def may_miss(graph: Graph, given: Slot, one: Entry) -> None:
    """Report an optional file that Argo requires where it is passed on.

    Source: Argo Workflows, resolveDependencyReferences in workflow/controller/dag.go.
    """
    if given.optional and not one.said.get("optional"):
        what = (
            f"where the file `{one.name}` is missing, the run goes on; in the manifest it ends with an error"
        )
        way = "if the file is always there, leave out `optional` of the output"
        graph.reader.add(one.path, Otherwise(what, way))


def _part(graph: Graph, call: Call, one: Entry, taken: Slot, loop: Loop | None) -> None:
    """Read a part of an artifact; it is left to Argo if Argo passes the artifact from step to step."""
    name = _alone(str(one.said.get("from", "")))
    made = graph.tasks.get(name[1]) if name[2:4] == ("outputs", "artifacts") else None
    looped = loop is not None or isinstance(graph, Round) or (made is not None and made.looped)
    if looped or made is None or made.target.body is None or call.target.body is None or call.blocks:
        way = "let the step find the file in the folder"
        graph.refuse((*one.path, "subPath"), "a part of an artifact at this place", way)
        return
    graph.patch_task(
        call, {"arguments": {"artifacts": [{"name": taken.name, "subPath": one.said["subPath"]}]}}
    )


def _when(graph: Graph, call: Call, text: str, path: Path) -> None:
    """The condition of a task."""
    types, place = graph.reader.shelf.types, (id(graph.reader.body), path)
    before = {*call.taken}
    asked = None if types.is_left(place) else condition(text, graph, path)
    if isinstance(asked, Asked):
        types.ask(place, asked)
        call.blocks.append(Block("when", asked.code, asked))
    elif asked is not True:
        _left(graph, call, text, path)
        call.taken &= before  # the task waits for those in its condition because of its dependencies


def _left(graph: Graph, call: Call, text: str, path: Path) -> None:
    """Leave a condition to Argo, if all names in it are known there."""
    if call.looped or call.blocks or not _known_to_argo(graph, text):
        way = way_out(text) or "compare values with `==`, `!=`, `<` or `>`"
        graph.refuse(path, f"the condition `{text}`", way)
    else:
        graph.left.add(call.task)
        graph.patch_task(call, {"when": text})
        borne = "steps" in graph.template and any("may_fail" in one.options for one in graph.calls)
        if borne and call.task in graph.order.last:
            skipped = f"`{call.task}` is skipped after a failed task; in the manifest it succeeds then"
            graph.reader.add(path, Otherwise(f"the graph fails where {skipped}", _LOOK))


def _going_on(graph: Graph, call: Call, on: Json) -> None:
    """`continueOn`."""
    if not (on.get("failed") or on.get("error")):
        return
    call.options["may_fail"] = constant("True")
    if not (on.get("failed") and on.get("error")):
        what = "`may_fail` continues after Failed and after Error; the manifest only after one of them"
        graph.reader.add((*call.path, "continueOn"), Otherwise(what, _LOOK))
    if call.task in graph.order.last and "dag" in graph.template:
        what = f"the graph fails where a task before `{call.task}` fails; in the manifest it succeeds then"
        graph.reader.add((*call.path, "continueOn"), Otherwise(what, _LOOK))


def _text(one: Entry) -> str:
    """The value of an argument, or its source."""
    return as_text(one.said.get("value", one.said.get("from", "")))


def _exit_hook(task: Json) -> Json | None:
    """The hook that always runs at the end of a task."""
    hook: Json | None = (
        {"template": task["onExit"]} if task.get("onExit") else inside(task, "hooks").get("exit")
    )
    return None if not hook or hook.get("expression") else hook


def _hooks(graph: Graph, call: Call, task: Json, path: Path) -> None:
    """Read what runs at the end of a task; its outcome does not count, but dependents of the task wait for it.

    Source: Argo Workflows, workflow/controller/dag.go and steps.go, where `runOnExitNode` is called.
    """
    leaving = _exit_hook(task)
    # Outputs of a failed task may be missing at its end: Argo uses those that exist.
    taken = (references(_text(one)) for one in ports(leaving or {}, "arguments"))
    takes = any(one.path[1:3] == (call.task, "outputs") for several in taken for one in several)
    skipped = call.blocks or call.task in graph.left
    said = leaving is not None and not (skipped or takes or call.task in graph.order.asked)
    hooks: Json = {name: one for name, one in inside(task, "hooks").items() if name != "exit" or not said}
    if leaving is not None and not said:
        hooks["exit"] = leaving
    if hooks and (call.looped or (isinstance(graph, Round) and not {*hooks} <= {"exit"})):
        graph.refuse((*path, "hooks"), "a hook of a loop", "let the template that is called run it")
    elif hooks:
        graph.patch_task(call, {"hooks": {name: graph.reader.hook(hook) for name, hook in hooks.items()}})
    if leaving is None or not said:
        return
    at: Path = (*path, "hooks", "exit")
    inner = graph.current = Call(f"{call.task}-exit", graph.reader.called(leaving, at), at)
    inner.at_end("on_exit", call)  # before its arguments, which may use the outcome
    inner.options["may_fail"] = constant("True")
    _arguments(graph, inner, leaving, at)
    graph.current = None
    graph.calls.append(inner)
    call.exits.append(inner)
