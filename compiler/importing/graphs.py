"""Templates of steps and tasks, as the bodies of pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.findings.importing import Otherwise
from flowdsl.compiler.importing.conditions import condition, expression
from flowdsl.compiler.importing.layout import listed
from flowdsl.compiler.importing.loops import Loop, loop_of
from flowdsl.compiler.importing.model import Asked, Block, Call, Function, Output, Value
from flowdsl.compiler.importing.ports import Port, as_text
from flowdsl.compiler.importing.renamed import FORMULAS, renamed
from flowdsl.compiler.importing.sources import LOCATIONS, source
from flowdsl.compiler.importing.texts import constant, value_of
from flowdsl.compiler.importing.waits import MOST, PLAIN, conjunction, needed
from flowdsl.compiler.lint.tree import entries, inside, is_list
from flowdsl.compiler.naming import slug
from flowdsl.grammar.depends import LOOP_RESULTS, depends
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.model import Input, Json, Key, Reading, Render
    from flowdsl.compiler.lint.tree import Path

_TASK = (
    *("name", "template", "templateRef", "inline", "arguments", "when", "continueOn", "onExit", "hooks"),
    *("withItems", "withParam", "withSequence", "depends", "dependencies"),
)


#: What a task says that is not about each of its items.
_AROUND = ("name", "depends", "dependencies", "continueOn", "onExit", "hooks")


class Graph:
    """A graph on its way to a pipeline; it is what its tags are looked up in, too."""

    def __init__(self, reader: Reading, target: Function, template: Json, path: Path) -> None:
        self.reader = reader
        self.target = target
        self.template = template
        self.path = path
        self.calls: list[Call] = []
        self.tasks: dict[str, Call] = {}
        self.current: Call | None = None
        self.ended = False  # whether the run is over: calls of `on_exit`
        self.patched: list[Json] = []

    # --- tags ---------------------------------------------------------------------------------

    def variable(self, name: tuple[str, ...]) -> Value | None:
        """A variable by its path."""
        inputs = self.target.inputs
        match name:
            case ("inputs", ("parameters" | "artifacts") as kind, of):
                return _input(inputs.get((kind, of)))
            case ("workflow", "parameters", of):
                return _input(inputs.get(("workflow", of)))
            case ("workflow", ("name" | "namespace") as of):
                return Value(lambda: f"run.{of}", _outcome())
            case ("workflow", ("status" | "duration") as of):
                if not self.ended:
                    return _input(inputs.get(("workflow", f".{of}")))
                port = Port(unknown=True)
                port.asked(number=of == "duration")
                return Value(lambda: f"run.{of}", port)
            case (("steps" | "tasks"), task, "status") if task in self.tasks and self.current is not None:
                return self.status(self.tasks[task], self.current)
            case (("steps" | "tasks"), task, *rest) if task in self.tasks:
                return self.result(self.tasks[task], tuple(rest))
            case _:
                return None

    def result(self, call: Call, rest: tuple[str, ...]) -> Value | None:
        """What a task gives, by the path behind its name."""
        match rest:
            case ("outputs", ("parameters" | "artifacts") as kind, name):
                key: Key = kind, name
            case ("outputs", "result"):
                key = "result", ""
            case ("ip",):
                key = "ip", ""
            case _:
                return None
        if key not in call.target.outputs:
            if (known := self.known(call, key)) is not None:
                return known
            self.reader.grow(call.target, key)
        found = call.output(key)
        if found is not None and self.current is not None:
            self.current.taken.add(id(call))
        if found is None or not call.looped:
            return found
        if call.count is None or key[0] == "artifacts":
            return None
        if found.port is not None:
            found.port.asked(text=True)
        port = Port()
        port.asked(items=True, text=True)
        code, count = found.code, call.count
        if self.current is not None:
            what = f"the list of what the items of `{call.task}` give holds texts: Argo writes numbers as numbers"
            way = f"where they are numbers, let `{call.target.name}` return `int` or `float`, and take a list of these"
            self.reader.problems.add(self.current.path, Otherwise(what, way))

        def items() -> Code:
            name, _, field = str(code()).partition(".")
            behind = f".{field}" if field else ""
            return listed(f"{name}[{index}]{behind}" for index in range(count))

        return Value(items, port)

    def results(self, name: tuple[str, ...]) -> Value | None:
        """What all items of a loop have given, by its path, as a list; its port is that of each of them."""
        match name:
            case (("steps" | "tasks"), task, "outputs", "result"):
                key: Key = "result", ""
            case (("steps" | "tasks"), task, "outputs", "parameters", of):
                key = "parameters", of
            case _:
                return None
        call = self.tasks.get(task)
        if call is None or not call.looped:
            return None
        self.reader.grow(call.target, key)
        found = call.output(key) if len(call.target.outputs) == 1 else None
        if found is not None and self.current is not None:
            self.current.taken.add(id(call))
        return found

    def known(self, call: Call, key: Key) -> Value | None:
        """A result that the template of a step says by itself, of what it is given."""
        for index, one in enumerate(entries(call.target.template, "outputs", key[0])):
            if one.get("name") == key[1] and "value" in one and not call.looped:
                path: Path = (*call.target.path, "outputs", key[0], index)
                return value_of(as_text(one["value"]), _Inside(self, call), path)
        return None

    def status(self, of: Call, current: Call) -> Value:
        """How a task has ended, for what runs at its end."""
        if id(of) not in current.taken or all(block.of is not of for block in current.blocks):
            self.at_end(current, "on_exit", of)
        block = next(one for one in current.blocks if one.of is of)
        block.named = True
        return Value(lambda: f"{block.name.removeprefix(' as ')}.status", _outcome())

    def at_end(self, current: Call, word: str, of: Call) -> None:
        """Let a task run at the end of another one."""
        of.used = True
        current.taken.add(id(of))
        current.blocks.append(Block(word, lambda: of.variable, None, of))

    def runs_if(self, task: str, asked: Asked) -> bool:
        """Whether a task is known to run exactly under a condition."""
        call = self.tasks.get(task)
        held = [block.asked for block in call.blocks if block.asked is not None] if call else []
        return len(held) == 1 and held[0].code() == asked.code()

    def refuse(self, path: Path, what: str, way: str = "") -> None:
        """Record that something has no word."""
        self.reader.refuse(path, what, way)

    # --- reading ------------------------------------------------------------------------------

    def read(self) -> None:
        """Read all of the template."""
        if "steps" in self.template:
            self.groups()
        else:
            self.dag()
        for (kind, name), output in self.target.outputs.items():
            self.output(kind, name, output)
        self.rest()

    def groups(self) -> None:
        """Lists of steps, each of which waits for all of the one before."""
        before: list[Call] = []
        for number, group in enumerate(self.template["steps"]):
            made: list[Call] = []
            entries = group if is_list(group) else group.get("steps", [])
            for index, step in enumerate(entries):
                call = self.task(step, (*self.path, "steps", number, index))
                call.after = list(before)
                made.append(call)
            before = made or before

    def dag(self) -> None:
        """Tasks, in an order in which each comes after what it depends on."""
        path: Path = (*self.path, "dag")
        dag = self.template["dag"]
        if dag.get("target"):
            self.refuse((*path, "target"), "a target", "leave it out, and the tasks that it does not need")
        tasks: dict[str, tuple[int, Json]] = {
            str(task["name"]): (index, task) for index, task in enumerate(entries(dag, "tasks"))
        }
        behind = {name: needed(task) & tasks.keys() for name, (_, task) in tasks.items()}
        while behind:
            ready = next((name for name, others in behind.items() if not others & behind.keys()), None)
            name = ready if ready is not None else next(iter(behind))
            del behind[name]
            index, task = tasks[name]
            at: Path = (*path, "tasks", index)
            call = self.task(task, at)
            for other in map(str, entries(task, "dependencies")):
                if other in self.tasks:
                    call.after.append(self.tasks[other])
            if task.get("depends"):
                self.depends(call, str(task["depends"]), (*at, "depends"))
        self.failing()
        if dag.get("failFast") is False:
            self.patched.append({"dag": {"failFast": False}})

    def failing(self) -> None:
        """Who asks whether a task has failed takes its failure on: then it may fail, and others ask, too."""
        for call in self.calls:
            if not call.caught:
                continue
            call.options["may_fail"] = lambda: "True"
            for other in self.calls:
                if call in other.after and other is not call:
                    other.after.remove(call)
                    if all(block.of is not call for block in other.blocks):
                        status = self.status(call, other)
                        port = Port()
                        sides = status, Value(lambda: '"Succeeded"', port)
                        asked = Asked("==", (), sides)
                        other.blocks.append(Block("when", asked.code, asked))

    def task(self, task: Json, path: Path) -> Call:
        """One task."""
        name = str(task.get("name") or self.template.get("name"))
        waiting = Call(name, Function("", {}, path), path)
        self.current = waiting
        loop = loop_of(task, path, self)
        if loop is not None and loop.is_taken_apart(task):
            call = self.reader.rounds(self, task, path, loop)
            task = {key: one for key, one in task.items() if key in _AROUND}
            self.current = call
        else:
            call = self.current = Call(name, self.reader.called(task, path), path)
            self.arguments(call, inside(task, "arguments"), (*path, "arguments"), loop)
        call.taken |= waiting.taken
        if loop is not None:
            call.looped, call.count = True, loop.count
            if not call.over:
                self.unasked(call, loop)
            if (limit := self.template.get("parallelism")) is not None:
                call.parallel = str(limit)
            if self.template.get("failFast"):
                self.patched.append({"name": slug(name), "failFast": True})
        if (when := task.get("when")) is not None:
            self.when(call, str(when), (*path, "when"))
        failing = inside(task, "continueOn")
        if failing.get("failed") or failing.get("error"):
            call.options["may_fail"] = lambda: "True"
            if not (failing.get("failed") and failing.get("error")):
                what = "`may_fail` lets a task fail and be lost"
                way = "`continueOn` names one of the two; look whether the other one matters"
                self.reader.problems.add((*path, "continueOn"), Otherwise(what, way))
        for option, code in self.reader.called_options(call.target).items():
            call.options[option] = constant(code)
        self.current = None
        self.calls.append(call)
        self.tasks[name] = call
        self.hooks(call, task, path)
        left: Json = {key: one for key, one in task.items() if key not in _TASK and one}
        if left:
            self.patch_task(call, left)
        return call

    def arguments(self, call: Call, given: Json, path: Path, loop: Loop | None) -> None:
        """What a task hands over, with what is left to the defaults of its template."""
        target = call.target
        found = {
            ("parameters", str(one["name"])): (index, one)
            for index, one in enumerate(entries(given, "parameters"))
        }
        for index, one in enumerate(entries(given, "artifacts")):
            found["artifacts", str(one["name"])] = index, one
        for key, (index, one) in found.items():
            taken = self.reader.input_of(target, key)
            if taken is None and key in target.lookups:
                way = "leave it out, or take away that the template finds it by itself"
                self.refuse((*path, key[0], index), f"an argument for `{key[1]}`", way)
                continue
            if taken is None:
                what = f"the argument `{key[1]}` is left out: `{target.name}` has no such input"
                self.reader.problems.add(
                    (*path, key[0], index), Otherwise(what, "look whether one is missing")
                )
                continue
            at: Path = (*path, key[0], index)
            if key[0] == "artifacts":
                call.arguments[taken.name] = self.file(one, at)
                continue
            if "value" not in one:
                self.refuse(
                    at,
                    "an argument that is looked up",
                    "let a parameter of the workflow have it, and hand that on",
                )
                continue
            text = as_text(one["value"])
            if loop is not None and loop.named(text):
                call.over[taken.name] = loop.values(text, taken.port, (*at, "value"))
            else:
                call.arguments[taken.name] = value_of(text, self, (*at, "value"), taken.port).code
        self.usual(call)

    def usual(self, call: Call) -> None:
        """Arguments that are not given: values of the run, and what the template itself says with tags."""
        for key, taken in call.target.inputs.items():
            if taken.name in call.arguments or taken.name in call.over:
                continue
            kind, name = key
            if kind == "workflow":
                path = ("workflow", name[1:]) if name.startswith(".") else ("workflow", "parameters", name)
                found = self.variable(path)
                if found is None:
                    self.refuse(call.path, f"`{'.'.join(path)}` at this place")
                    continue
                if found.port is not None and taken.port is not None:
                    taken.port.join(found.port)
                call.arguments[taken.name] = found.code
            elif (own := self.reader.filled(call.target, key)) is not None:
                at, value = own
                inner = _Inside(self, call)
                if kind == "parameters":
                    call.arguments[taken.name] = value_of(value, inner, at, taken.port).code
                else:
                    made = source(value, inner, at)
                    if made is not None:
                        call.arguments[taken.name] = made

    def file(self, artifact: Json, path: Path) -> Render:
        """Where an artifact that is handed over comes from."""
        if artifact.get("subPath"):
            self.refuse(
                (*path, "subPath"), "a part of an artifact", "let the step find the file in the folder"
            )
        origin = artifact.get("from")
        made: Render | None = None
        if origin:
            body = tags(str(origin))
            found = self.variable(tuple(body[0].body.strip().split("."))) if body else None
            if found is None or found.port is not None:
                self.refuse((*path, "from"), f"`{origin}`")
            else:
                made = found.code
        elif "fromExpression" in artifact:
            found = expression(str(artifact["fromExpression"]), self, (*path, "fromExpression"))
            if found is None or found.port is not None:
                self.refuse((*path, "fromExpression"), f"`{artifact['fromExpression']}`")
            else:
                made = found.code
        elif any(kind in artifact for kind in LOCATIONS):
            made = source(artifact, self, path)
            if made is None:
                self.refuse(path, "where this artifact lies")
        return made if made is not None else (lambda: "None")

    def unasked(self, call: Call, loop: Loop) -> None:
        """A loop whose items nobody is given: a parameter that is not used counts them."""
        taken = self.reader.counter(call.target)
        if call.count is None:
            self.refuse(call.path, "a loop whose items are not used")
        call.over[taken.name] = loop.counted(taken.port)

    def when(self, call: Call, text: str, path: Path) -> None:
        """The condition of a task."""
        asked = condition(text, self, path)
        if asked is None:
            if call.taken or call.looped:
                self.refuse(path, f"the condition `{text}`", "compare values with `==`, `!=`, `<` or `>`")
            else:
                self.patch_task(call, {"when": text})
        elif asked is False:
            self.refuse(path, "a task that never runs", "leave it out")
        elif isinstance(asked, Asked):
            call.blocks.append(Block("when", asked.code, asked))

    def depends(self, call: Call, text: str, path: Path) -> None:
        """What a task waits for, and how that has to have ended."""
        operands = depends(text)
        names = [*dict.fromkeys(one.task for one in operands)]
        wanted = (
            conjunction(text, names) if len(names) <= MOST or "|" not in text + "!" * ("!" in text) else None
        )
        if (
            wanted is None
            and "||" not in text
            and "!" not in text
            and not any(one.result for one in operands)
        ):
            wanted = dict.fromkeys(names, PLAIN)
        known = {name: self.tasks[name] for name in names if name in self.tasks}
        if wanted is None or any(one.result in LOOP_RESULTS for one in operands) or len(known) < len(names):
            self.odd(call, text, path)
            return
        for name, states in wanted.items():
            other = known[name]
            if states <= PLAIN:
                call.after.append(other)
                if "Skipped" not in states and any(block.word == "when" for block in other.blocks):
                    call.blocks[:0] = [one for one in other.blocks if one not in call.blocks]
            elif not states & PLAIN:
                self.end(call, "on_failure", other, states, frozenset(("Failed", "Errored")), path)
            elif "Succeeded" in states:
                self.end(
                    call,
                    "on_exit",
                    other,
                    states - {"Daemoned"},
                    frozenset(("Succeeded", "Failed", "Errored")),
                    path,
                )
            else:
                self.odd(call, text, path)

    def odd(self, call: Call, text: str, path: Path) -> None:
        """A `depends` that is left to Argo."""
        if call.taken or call.after:
            self.refuse(path, f"`{text}`", "let the task wait for all of them: `after=[...]`")
            return
        operands = depends(text)
        for one in reversed(operands):
            end = one.start + len(one.task)
            text = f"{text[: one.start]}{slug(one.task)}{text[end:]}"
        self.patch_task(call, {"depends": text})

    def end(
        self, call: Call, word: str, other: Call, states: frozenset[str], usual: frozenset[str], path: Path
    ) -> None:
        """A task at the end of another one."""
        self.at_end(call, word, other)
        other.caught = True
        if states != usual:
            shown = ", ".join(sorted(states))
            what = f"`{word}` runs a task after {', '.join(sorted(usual))}, not only {shown}"
            self.reader.problems.add(path, Otherwise(what, "look whether the difference matters"))

    def hooks(self, call: Call, task: Json, path: Path) -> None:
        """What runs at the end of a task."""
        hooks: Json = dict(inside(task, "hooks"))
        if task.get("onExit"):
            hooks.setdefault("exit", {"template": task["onExit"]})
        leaving = hooks.pop("exit", None)
        if leaving and leaving.get("expression"):
            hooks["exit"], leaving = leaving, None
        if hooks:
            kept = {name: self.reader.hook(hook) for name, hook in hooks.items()}
            self.patch_task(call, {"hooks": renamed(kept, self.reader.names_in(self.target), FORMULAS)})
        if not leaving:
            return
        at: Path = (*path, "hooks", "exit")
        word = "on_exit"
        inner = Call(f"{call.task}-exit", self.reader.called(leaving, at), at)
        self.current = inner
        self.arguments(inner, inside(leaving, "arguments"), (*at, "arguments"), None)
        self.current = None
        inner.blocks = list(call.blocks)
        self.at_end(inner, word, call)
        self.calls.append(inner)

    def output(self, kind: str, name: str, output: Output) -> None:
        """A result of the graph."""
        given = entries(self.template, "outputs", kind)
        index = next((at for at, one in enumerate(given) if one.get("name") == name), None)
        if index is None:
            return
        entry = given[index]
        path: Path = (*self.path, "outputs", kind, index)
        found: Value | None = None
        origin = inside(entry, "valueFrom")
        shown = origin.get("parameter") or entry.get("from") or ""
        formula = origin.get("expression") or entry.get("fromExpression") or ""
        if formula:
            found = expression(str(formula), self, path)
        elif "value" in entry:
            found = value_of(as_text(entry["value"]), self, path)
        elif kind == "parameters":
            found = value_of(str(shown), self, path)
        elif body := tags(str(shown)):
            found = self.variable(tuple(body[0].body.strip().split(".")))
        if found is None:
            self.refuse(path, f"`{formula or shown or name}`")
            return
        if found.port is not None and output.port is not None:
            output.port.join(found.port)
        elif (found.port is None) != (output.port is None):
            self.refuse(path, f"`{formula or shown or name}`")
        output.value = found
        rest: Json = {key: one for key, one in entry.items() if key in ("globalName", "description")}
        if "default" in origin:
            rest["valueFrom"] = {"default": origin["default"]}
        if rest:
            returned = "return" if len(self.target.outputs) == 1 else output.name
            self.patched.append({"outputs": {kind: [{"name": returned, **rest}]}})

    def rest(self) -> None:
        """The fields that a graph has beside its tasks."""
        fields = {
            key: one
            for key, one in self.template.items()
            if key not in ("name", "inputs", "outputs", "steps", "dag", "parallelism", "failFast") and one
        }
        self.reader.graph_options(self.target, fields)
        if fields:
            self.patched.append(renamed(fields, self.reader.names_in(self.target)))

    def patch_task(self, call: Call, fields: Json) -> None:
        """Leave something about a task to Argo."""
        said = renamed(fields, self.reader.names_in(self.target))
        self.patched.append({"dag": {"tasks": [{"name": slug(call.task), **said}]}})


class _Inside:
    """What a template says about itself, seen from one of its calls."""

    def __init__(self, graph: Graph, call: Call) -> None:
        self.graph = graph
        self.call = call

    def variable(self, name: tuple[str, ...]) -> Value | None:
        """A variable by its path: an input of the template is an argument of the call."""
        if name[:2] == ("inputs", "parameters") and len(name) == 3:
            taken = self.call.target.inputs.get(("parameters", name[2]))
            if taken is None or taken.name not in self.call.arguments:
                return None
            return Value(self.call.arguments[taken.name], taken.port)
        return self.graph.variable(name) if name[0] == "workflow" else None

    def runs_if(self, task: str, asked: Asked) -> bool:
        """Nothing is known of other tasks here."""
        return False

    def results(self, name: tuple[str, ...]) -> None:
        """Nothing is known of other tasks here."""

    def refuse(self, path: Path, what: str, way: str = "") -> None:
        """Record that something has no word."""
        self.graph.refuse(path, what, way)


def _outcome() -> Port:
    port = Port(unknown=True)
    port.asked(text=True)
    return port


def _input(found: Input | None) -> Value | None:
    return None if found is None else Value(lambda: found.name, found.port)
