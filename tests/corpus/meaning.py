"""What a manifest means, apart from names and order: two that mean the same run the same.

A workflow is unrolled into its pods (and other leaves). For each: the body, with every tag replaced by where its
value comes from; the leaves it waits for; the conditions and loops it stands under; and what the graphs around it
set. Names of templates, tasks and volumes are gone; so are graphs that only hand values on, steps against tasks,
`withItems` against as many tasks, and the different ways to write one condition. Everything else has to be equal.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from flowdsl.compiler.tree import is_list, is_mapping
from tests.corpus.conditions import Tree, condition, depends, expression

Json = dict[str, Any]

BODIES = ("container", "script", "containerSet", "resource", "suspend", "data", "http", "plugin")
_TAG = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_RANGE = re.compile(r"^toJSON\(0\.\.len\(fromJSON\((.*)\)\)-1\)$", re.DOTALL)

#: What only describes an object, or names it.
_DESCRIPTIVE = ("workflows.argoproj.io/", "flowdsl.")


class Leaf(NamedTuple):
    """A leaf of the unrolled workflow: everything about it, and the digest of that."""

    digest: str
    shown: Any


class Scope(NamedTuple):
    """What tags mean inside a template: its inputs, its tasks, and the item of the loop around it."""

    inputs: dict[str, Any]
    artifacts: dict[str, Any]
    tasks: dict[str, Task]
    item: Any = None


class Task:
    """A task after unrolling: its leaves, and what its outputs come from."""

    def __init__(self) -> None:
        self.leaves: list[Leaf] = []
        self.outputs: list[dict[str, Any]] = []  # one for each item
        self.looped = False

    @property
    def digests(self) -> list[str]:
        """What tells its leaves from others."""
        return sorted(leaf.digest for leaf in self.leaves)

    def output(self, name: str) -> Any:
        """Where an output comes from; of a loop, what all items hand on."""
        if not self.looped:
            return self.outputs[0].get(name, ["output", name, self.digests])
        return ["each", [one.get(name, ["output", name]) for one in self.outputs]]


def meaning(document: Json) -> Counter[str]:
    """The digests of all leaves of a workflow and of its spec, each as often as there are such."""
    return Counter(leaf.digest for leaf in leaves(document))


def leaves(document: Json) -> list[Leaf]:
    """All leaves of a workflow, those of its exit handler, and its spec."""
    return _Reading(document).leaves()


def _digest(shown: Any) -> Leaf:
    text = json.dumps(shown, sort_keys=True, default=str)
    return Leaf(hashlib.sha256(text.encode()).hexdigest()[:16], shown)


class _Reading:
    def __init__(self, document: Json) -> None:
        self.document = document
        self.conditions: dict[str, list[Any]] = {}  # of each leaf
        holder = document["spec"]
        self.spec: Json = holder.get("workflowSpec", holder) if document["kind"] == "CronWorkflow" else holder
        self.templates: dict[str, Json] = {one["name"]: one for one in self.spec.get("templates", ())}
        self.volumes = {
            **{one["name"]: _without(one, "name") for one in self.spec.get("volumes", ())},
            **{one["metadata"]["name"]: one["spec"] for one in self.spec.get("volumeClaimTemplates", ())},
        }
        self.defaults: Json = self.spec.get("templateDefaults", {})

    # --- the workflow ------------------------------------------------------------------------------

    def leaves(self) -> list[Leaf]:
        arguments = self.spec.get("arguments", {})
        given = {
            one["name"]: ["parameter", _plain_name(one["name"]), _default(one), one.get("valueFrom")]
            for one in arguments.get("parameters", ())
        }
        targets = [each.get("dag", {}).get("target", "") for each in self.spec.get("templates", ())]
        for name, value in given.items():
            if any(f"{{{{workflow.parameters.{name}}}}}" in target for target in targets):
                value[2] = str(value[2]).lower()  # names of tasks, which are lower-case in the language
        files = {one["name"]: _without(one, "name") for one in arguments.get("artifacts", ())}
        self.workflow = {f"workflow.parameters.{name}": value for name, value in given.items()}
        found = [_digest({"spec": self._own(self.document), "parameters": sorted(map(str, given.values()))})]
        entry = self.spec.get("entrypoint")
        if entry:
            ran = self._template({"template": entry}, given, files, {"after": []}, None)
            found += ran.leaves
            # What a run gives has no reader inside; it means something if it is a graph that says so.
            if "steps" in self.templates[entry] or "dag" in self.templates[entry]:
                found.append(_digest({"gives": sorted(map(str, ran.outputs[0].values()))}))
        else:
            for name in self.templates:
                found += self._template({"template": name}, {}, {}, {"after": []}, None).leaves
        for hook, one in self._hooks(self.spec, Scope({}, {}, {})):
            exits = self._template(one, given, {}, {"after": [], "hook": hook}, None)
            found += exits.leaves
        return [one for one in found if one.shown != {"gives": []}]

    def _own(self, document: Json) -> Json:
        """What an object says besides names, templates and arguments."""
        spec = {
            key: value
            for key, value in self.spec.items()
            if key
            not in (
                "entrypoint",
                "templates",
                "arguments",
                "volumes",
                "volumeClaimTemplates",
                "onExit",
                "hooks",
                "templateDefaults",
            )
        }
        outer: Json = document["spec"] if self.spec is not document["spec"] else {}
        spec, outer = _unmarked(spec), _unmarked(outer)
        metadata = document.get("metadata", {})
        said = {
            field: {k: v for k, v in metadata.get(field, {}).items() if not k.startswith(_DESCRIPTIVE)}
            for field in ("labels", "annotations")
        }
        claims = sorted(
            json.dumps(one["spec"], sort_keys=True) for one in self.spec.get("volumeClaimTemplates", ())
        )
        return {
            "kind": document["kind"],
            "spec": _strings(spec),
            "cron": _strings(_without(outer, "workflowSpec")),
            "metadata": said,
            "claims": claims,
        }

    def _hooks(self, holder: Json, scope: Scope) -> Iterator[tuple[Any, Json]]:
        """The hooks of a workflow or task with their conditions; `onExit` is the older way to write one of them."""
        if "onExit" in holder:
            yield "exit", {"template": holder["onExit"]}
        for name, one in holder.get("hooks", {}).items():
            yield "exit" if name == "exit" else self._shown(expression(one["expression"]), scope), one

    # --- templates ---------------------------------------------------------------------------------

    def _template(
        self, holder: Json, given: Json, files: Json, around: Json, when: list[Any] | None, item: Any = None
    ) -> Task:
        """What a task runs: the leaves, and where the outputs come from."""
        found = Task()
        if "templateRef" in holder:
            shown = {"templateRef": holder["templateRef"], "inputs": given, "artifacts": files}
            leaf = _digest({**shown, "around": around, "when": when})
            found.leaves.append(leaf)
            found.outputs.append({})
            return found
        template: Json = holder.get("inline") or self.templates[holder["template"]]
        template = {**self.defaults, **template}
        inputs: Json = {}
        for one in template.get("inputs", {}).get("parameters", ()):
            name = one["name"]
            own = _text(one.get("value", one.get("default")))
            own = self._value(own, Scope({}, {}, {})) if own is not None else one.get("valueFrom")
            inputs[f"inputs.parameters.{name}"] = given.get(name, own)
        own_inputs = Scope(inputs, {}, {})
        artifacts = {
            f"inputs.artifacts.{one['name']}": files.get(one["name"])
            or self._resolved(_place(one), own_inputs)
            for one in template.get("inputs", {}).get("artifacts", ())
        }
        scope = Scope(inputs, artifacts, {}, item)
        if "steps" in template or "dag" in template:
            self._graph(template, scope, around, when, found)
        else:
            self._leaf(template, scope, around, when, found)
        return found

    def _leaf(self, template: Json, scope: Scope, around: Json, when: list[Any] | None, found: Task) -> None:
        body = {
            key: value
            for key, value in template.items()
            if key not in ("name", "inputs", "outputs", "volumes", "metadata")
            and (key in BODIES or value not in ({}, [], None))
        }
        _settle(body)
        own = {one["name"]: _without(one, "name") for one in template.get("volumes", ())}
        for kind in ("container", "script"):
            if kind in body:
                body[kind] = self._container(body[kind], {**self.volumes, **own})
        for kind in ("sidecars", "initContainers"):
            if kind in body:
                body[kind] = [self._container(one, {**self.volumes, **own}) for one in body[kind]]
        files = {
            one["path"]: [
                scope.artifacts[f"inputs.artifacts.{one['name']}"],
                one.get("mode"),
                one.get("optional"),
            ]
            for one in template.get("inputs", {}).get("artifacts", ())
        }
        outputs: Json = _supplied(template)
        # One with a value is nothing that a pod writes: it hands on what is known.
        written = sorted(
            json.dumps(_without(one, "name"), sort_keys=True)
            for kind in ("parameters", "artifacts")
            for one in outputs.get(kind, ())
            if "value" not in one
        )
        for kind in ("parameters", "artifacts"):
            for one in outputs.get(kind, ()):
                scope.inputs[f"outputs.{kind}.{one['name']}"] = ["own", _without(one, "name")]
        metadata = {
            field: {k: v for k, v in entries.items() if not k.startswith(_DESCRIPTIVE)}
            for field, entries in template.get("metadata", {}).items()
        }
        resolved = self._resolved(_strings(body), scope)
        for kind in ("container", "script", "sidecars", "initContainers"):
            for container in resolved.get(kind, ()) if kind.endswith("s") else [resolved.get(kind, {})]:
                variables = frozenset(one["name"] for one in container.get("env", ()))
                for key in ("argv", "env"):
                    if key in container:
                        container[key] = _undoubled(container[key], variables)
        shown = {
            "body": resolved,
            "files": self._resolved(files, scope),
            "written": self._resolved(written, scope),
            "metadata": self._resolved(metadata, scope),
            "around": around,
            "when": when or [],
            "asked": _asked(template),
        }
        leaf = _digest(shown)
        self.conditions[leaf.digest] = when or []
        found.leaves.append(leaf)
        made = {
            f"outputs.{kind}.{one['name']}": [leaf.digest, _without(one, "name", "globalName", "archive")]
            for kind in ("parameters", "artifacts")
            for one in outputs.get(kind, ())
            if "value" not in one
        }
        for one in outputs.get("parameters", ()):
            if "value" in one:
                made[f"outputs.parameters.{one['name']}"] = self._value(one["value"], scope)
        for word in ("result", "exitCode"):
            made[f"outputs.{word}"] = [leaf.digest, word]
        for word in ("ip", "status", "id", "hostNodeName"):
            made[word] = [leaf.digest, word]
        found.outputs.append(made)

    @staticmethod
    def _container(container: Json, volumes: Json) -> Json:
        """A container with volumes in place of their names, and its command line as one list."""
        found = {key: value for key, value in container.items() if key not in ("name", "command", "args")}
        found["argv"] = [*container.get("command", ()), *container.get("args", ())]
        if "volumeMounts" in found:
            found["volumeMounts"] = sorted(
                (
                    {
                        **{k: v for k, v in one.items() if k != "name" and v not in ("", False)},
                        "of": volumes[one["name"]],
                    }
                    for one in found["volumeMounts"]
                ),
                key=lambda one: str(one["mountPath"]),
            )
        return found

    # --- graphs ------------------------------------------------------------------------------------

    def _graph(self, template: Json, scope: Scope, around: Json, when: list[Any] | None, found: Task) -> None:
        settings = {
            key: _strings(value)
            for key, value in template.items()
            if key not in ("name", "inputs", "outputs", "steps", "dag") and value not in ({}, [], None)
        }
        dag = _without(template.get("dag", {}), "tasks")
        if "{{" not in dag.get("target", "{{"):
            del dag["target"]  # the tasks that it leaves out are left out
        settings = self._resolved(settings | dag, scope)
        _settle(settings)
        if settings:
            around = {**around, "graphs": [*around.get("graphs", []), settings]}
        before = around.get("after", [])
        waits: dict[str, Any] = {}
        for task, after in _tasks(template):
            waited = sorted({*before, *self._closure(after, scope, waits)}, key=str)
            waits[task["name"]] = waited
            inner = {**around, "after": waited}
            if isinstance(after, Tree):
                ends = {name: one.digests for name, one in scope.tasks.items()}
                inner["depends"] = after.shown(ends)
            scope.tasks[task["name"]] = self._task(task, scope, inner, when or [])
            found.leaves += scope.tasks[task["name"]].leaves
        made: Json = {}
        for one in template.get("outputs", {}).get("parameters", ()):
            source = one.get("valueFrom", {})
            value = one.get(
                "value",
                source.get("parameter", source.get("expression") and f"{{{{={source['expression']}}}}}"),
            )
            made[f"outputs.parameters.{one['name']}"] = self._resolved(value, scope)
        for one in template.get("outputs", {}).get("artifacts", ()):
            made[f"outputs.artifacts.{one['name']}"] = self._resolved(one.get("from"), scope)
        found.outputs.append(made)

    @staticmethod
    def _closure(after: Any, scope: Scope, waits: Json) -> set[str]:
        names = after.names() if isinstance(after, Tree) else after
        return {digest for name in names for digest in (*scope.tasks[name].digests, *waits[name])}

    def _task(self, task: Json, scope: Scope, around: Json, when: list[Any]) -> Task:
        if "continueOn" in task:
            around = {**around, "continueOn": task["continueOn"]}
        rows, over = _rows(task)
        found = Task()
        found.looped = over is not None or "withItems" in task or "withSequence" in task
        if over is not None:
            match = _RANGE.match(over.removeprefix("{{=").removesuffix("}}"))
            source = self._value(f"{{{{={match[1]}}}}}" if match else over, scope)
            around = {**around, "loops": [*around.get("loops", []), source]}
            rows = [["item", source]]
        for row in rows:
            inner = scope._replace(item=row if found.looped else scope.item)
            conditions = list(when)
            if "when" in task:
                known = self._shown(condition(task["when"]), inner)
                if known is False:
                    continue
                if known is not True:
                    conditions.append(known)
            arguments = task.get("arguments", {})
            given = {
                one["name"]: self._value(one["value"], inner) if "value" in one else one.get("valueFrom")
                for one in arguments.get("parameters", ())
            }
            files = {
                one["name"]: self._value(one["from"], inner)
                if "from" in one
                else self._resolved(_without(one, "name"), inner)
                for one in arguments.get("artifacts", ())
            }
            ran = self._template(task, given, files, around, sorted(conditions, key=str), inner.item)
            found.leaves += ran.leaves
            found.outputs += ran.outputs
            itself = inner._replace(tasks={**inner.tasks, task["name"]: ran})
            for hook, one in self._hooks(task, itself):
                extra = {"after": [], "hook": [hook, ran.digests]}
                args = {
                    each["name"]: self._value(each["value"], inner)
                    for each in one.get("arguments", {}).get("parameters", ())
                }
                found.leaves += self._template(one, args, {}, extra, None).leaves
        return found

    # --- values ------------------------------------------------------------------------------------

    def _resolved(self, part: Any, scope: Scope) -> Any:
        """A part of a body with every tag replaced."""
        if isinstance(part, str):
            return self._value(part, scope)
        if is_mapping(part):
            return {key: self._resolved(value, scope) for key, value in part.items()}
        if is_list(part):
            return [self._resolved(value, scope) for value in part]
        return part

    def _value(self, text: Any, scope: Scope) -> Any:
        """A text as its parts: literal ones, and where values come from."""
        if not isinstance(text, str):
            return _text(text)
        parts: list[Any] = []
        end = 0
        for match in _TAG.finditer(text):
            parts += [text[end : match.start()]] if match.start() > end else []
            body = match[1].strip()
            if body.startswith("="):
                parts.append(self._shown(expression(body[1:]), scope))
            else:
                parts.append(self._reference(body, scope))
            end = match.end()
        parts += [text[end:]] if end < len(text) else []
        joined: list[Any] = []
        for part in parts:
            if isinstance(part, str) and joined and isinstance(joined[-1], str):
                joined[-1] += part
            else:
                joined.append(part)
        return joined[0] if len(joined) == 1 else ["join", *joined] if joined else ""

    def _shown(self, tree: Tree, scope: Scope) -> Any:
        """A condition or expression with what its variables come from."""
        shown = tree.shown(lambda path: self._reference(path, scope))
        if is_list(shown) and shown[:1] == ["?:"]:
            _, asked, one, other = shown
            # What a leaf gives that runs if just this holds is there if this holds.
            if is_list(one) and self.conditions.get(str(one[0])) == [asked]:
                return ["??", one, other]
        return shown

    def _reference(self, path: str, scope: Scope) -> Any:
        """Where the value of a variable comes from."""
        if path in scope.inputs:
            return scope.inputs[path]
        if path in scope.artifacts:
            return scope.artifacts[path]
        if path in self.workflow:
            return self.workflow[path]
        if path == "item":
            return _text(scope.item)
        if path.startswith("item."):
            field = path.removeprefix("item.")
            return _text(scope.item[field]) if is_mapping(scope.item) else ["field", field, scope.item]
        root, _, rest = path.partition(".")
        if root in ("tasks", "steps"):
            name, _, output = rest.partition(".")
            return scope.tasks[name].output(output)
        if root in ("workflow", "pod", "retries", "lastRetry", "inputs", "outputs"):
            return ["variable", path]
        return f"{{{{{path}}}}}"


def _tasks(template: Json) -> list[tuple[Json, Any]]:
    """The tasks of a graph in an order in which each comes after those it waits for, with these."""
    if "steps" in template:
        found: list[tuple[Json, Any]] = []
        before: list[str] = []
        for group in template["steps"]:
            found += [(task, before) for task in group]
            before = [task["name"] for task in group]
        return found
    waiting: dict[str, tuple[Json, Any]] = {}
    for task in template["dag"]["tasks"]:
        after: Any = list(task.get("dependencies", ()))
        if "depends" in task:
            tree = depends(task["depends"])
            after = tree.names() if tree.is_conjunction() else tree
        waiting[task["name"]] = task, after
    target = template["dag"].get("target", "")
    targets: list[str] = [] if "{{" in target else target.split()
    if targets:
        wanted: set[str] = set()
        while targets:
            name = targets.pop()
            wanted.add(name)
            after = waiting[name][1]
            targets += after.names() if isinstance(after, Tree) else after
        waiting = {name: one for name, one in waiting.items() if name in wanted}
    ordered: list[tuple[Json, Any]] = []
    done: set[str] = set()
    while waiting:
        for name, (task, after) in list(waiting.items()):
            if set(after.names() if isinstance(after, Tree) else after) <= done:
                ordered.append((task, after))
                done.add(name)
                del waiting[name]
    return ordered


def _rows(task: Json) -> tuple[list[Any], str | None]:
    """The items of a task that are written out; or what it is looped over."""
    if "withItems" in task:
        return task["withItems"], None
    if "withSequence" in task:
        sequence = task["withSequence"]
        start = int(sequence.get("start", 0))
        end = int(sequence["end"]) if "end" in sequence else start + int(sequence["count"]) - 1
        numbers = range(start, end + 1) if end >= start else range(start, end - 1, -1)
        form = sequence.get("format")
        return [form % number if form else str(number) for number in numbers], None
    if "withParam" in task:
        text = task["withParam"]
        if text.lstrip().startswith("["):
            return json.loads(text), None
        return [], text
    return [None], None


def _unmarked(holder: Json) -> Json:
    """A spec without the labels of runs that say where they come from, and without what is false if not said."""
    marks = {
        field: {name: text for name, text in entries.items() if not name.startswith(_DESCRIPTIVE)}
        for field, entries in holder.get("workflowMetadata", {}).items()
    }
    marks = {field: entries for field, entries in marks.items() if entries}
    found = _without(holder, "workflowMetadata")
    if found.get("suspend") is False:
        del found["suspend"]
    return {**found, "workflowMetadata": marks} if marks else found


def _settle(template: Json) -> None:
    """Take away what says what holds anyway."""
    retry = template.get("retryStrategy", {})
    # The policy of a strategy without an expression, if it has none. Source: Argo Workflows, RetryPolicyActual.
    if retry.get("retryPolicy") == "OnFailure" and "expression" not in retry:
        template["retryStrategy"] = _without(retry, "retryPolicy")
    probe = template.get("container", {}).get("readinessProbe")
    if probe and probe.get("timeoutSeconds") == 1:  # Kubernetes' default
        template["container"] = {**template["container"], "readinessProbe": _without(probe, "timeoutSeconds")}
    http = template.get("http", {})
    if http.get("method") == "GET":  # Argo's default
        template["http"] = _without(http, "method")
    manifest = template.get("resource", {}).get("manifest")
    if manifest is not None:
        with contextlib.suppress(yaml.YAMLError):  # with tags it may be no YAML yet
            template["resource"] = {**template["resource"], "manifest": yaml.safe_load(manifest)}


def _supplied(template: Json) -> Json:
    """The outputs of a template. What a person is offered as the answer is the answer, if nothing else is said."""
    outputs: Json = template.get("outputs", {})
    offered = {one["name"]: one.get("default") for one in template.get("inputs", {}).get("parameters", ())}
    found: list[Json] = []
    for one in outputs.get("parameters", ()):
        source: Json = one.get("valueFrom", {})
        if "supplied" in source and offered.get(one["name"]) is not None:
            source = {"default": offered[one["name"]], **source}
        found.append({**one, "valueFrom": source} if source else one)
    return {**outputs, "parameters": found} if found else outputs


def _asked(template: Json) -> list[Any]:
    """What a person is asked: the answers to choose from, and the text beside."""
    if "suspend" not in template:
        return []
    asked = template.get("inputs", {}).get("parameters", ())
    return sorted(str([sorted(one.get("enum", ())), one.get("description", "").rstrip(".")]) for one in asked)


def _undoubled(part: Any, variables: frozenset[str]) -> Any:
    """Text of a container as it arrives: Kubernetes takes `$$` for `$`, so what doubles it adds nothing to the text.

    `$(NAME)` arrives as it is, too, unless there is a variable of that name.
    """
    if isinstance(part, str):
        pieces = re.split(r"(\$\$|\$\(\w+\))", part)
        return "".join(
            "$" if one == "$$" else f"\0{one}" if one[:2] == "$(" and one[2:-1] in variables else one
            for one in pieces
        )
    if is_mapping(part):
        return {key: _undoubled(value, variables) for key, value in part.items()}
    if is_list(part):
        if len(part) == 4 and part[0] == "replace" and part[2:] == ["$", "$$"]:
            return part[1]
        return [_undoubled(one, variables) for one in part]
    return part


def _without(entries: Json, *names: str) -> Json:
    return {key: value for key, value in entries.items() if key not in names}


def _plain_name(name: str) -> str:
    return name.replace("-", "_").lower()


def _place(artifact: Json) -> Json:
    """Where the file of an input lies, if no task says it."""
    return _without(artifact, "name", "path", "optional", "mode")


def _default(parameter: Json) -> Any:
    """The value of a parameter of the run; of a list or object as JSON, without its spaces."""
    value = _text(parameter.get("value"))
    try:
        return json.dumps(json.loads(value)) if str(value).lstrip()[:1] in ("[", "{") else value
    except ValueError:
        return value


def _text(value: Any) -> Any:
    """A value as the text that Argo hands on."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    return value


def _strings(part: Any) -> Any:
    """Numbers and texts that Argo and Kubernetes take for each other, in one form."""
    if is_mapping(part):
        return {key: _strings(value) for key, value in part.items()}
    if is_list(part):
        return [_strings(value) for value in part]
    return str(part) if isinstance(part, int) and not isinstance(part, bool) else part
