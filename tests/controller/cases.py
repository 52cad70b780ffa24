"""Workflows that are made up of all that decides what runs, and how their pods end: by their names and a number."""

from __future__ import annotations

import copy
from random import Random
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.tree import is_list, is_mapping
from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.controller.names import node_id
from flowdsl.runtime.parts import part, several, texts
from tests.controller.compare import Case
from tests.controller.smallest import called
from tests.local.simulation import Pod
from tests.made_up import LEAVES, Maker, leaf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, Any]

LIMITS: Json = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "limits", "labels": {"workflows.argoproj.io/configmap-type": "Parameter"}},
    "data": {"one": "1", "two": "2"},
}
LOCKS: tuple[Json, ...] = (
    {"mutexes": [{"name": "m"}]},
    {"mutexes": [{"name": "n"}, {"name": "m"}]},
    {"semaphores": [{"configMapKeyRef": {"name": "limits", "key": "one"}}]},
    {"semaphores": [{"configMapKeyRef": {"name": "limits", "key": "two"}}], "mutexes": [{"name": "n"}]},
)
RETRIES: tuple[Json, ...] = (
    {"limit": "1"},
    {"limit": "2", "retryPolicy": "Always"},
    {"limit": 1, "retryPolicy": "OnError"},
    {"limit": "3", "backoff": {"duration": "2", "factor": 2, "maxDuration": "9s"}},
    {"limit": "2", "expression": "asInt(lastRetry.exitCode) < 2"},
    {"retryPolicy": "Always", "expression": "lastRetry.status == 'Error' && asInt(retries) < 2"},
    {"limit": "2", "expression": "asInt(lastRetry.duration) < 3"},
)
IP = "10.0.0.1"
SAYING = ("says", "script")
GIVING = ("out", "out-or-not", "makes", "fails-with-outputs")
"""Templates with a result, and those with an output `o`."""
AGGREGATES = ("result", "parameters", "parameters.o")
"""What a loop gives."""
WORDS = ("yes", "no", "1", "2", '["x","z"]', "[]", '[{"a":"x","b":1}]', "", "x y")
_MADE = "{apiVersion: v1, kind: ConfigMap, metadata: {name: '{{workflow.name}}'}}"
MORE: list[Json] = [
    leaf("may", "chance"),
    leaf("errs", "chance", "error"),
    leaf("says", "chance", "say"),
    {**leaf("out", "chance"), "outputs": {"parameters": [{"name": "o", "valueFrom": {"path": "/o"}}]}},
    {
        **leaf("out-or-not", "chance"),
        "outputs": {"parameters": [{"name": "o", "valueFrom": {"path": "/o", "default": "none"}}]},
    },
    {
        **leaf("everywhere", "true"),
        "outputs": {"parameters": [{"name": "o", "globalName": "g", "valueFrom": {"path": "/o"}}]},
    },
    {"name": "pause", "suspend": {"duration": "2"}},
    {"name": "asks-a-host", "http": {"url": "http://host/"}},
    {**leaf("patched", "chance", takes=("p",)), "podSpecPatch": "{{inputs.parameters.p}}"},
    {**leaf("late", "chance"), "activeDeadlineSeconds": 2},
    {
        "name": "set",
        "containerSet": {
            "containers": [
                {"name": "a", "image": "busybox", "command": ["chance"]},
                {"name": "main", "image": "busybox", "command": ["chance"], "dependencies": ["a"]},
            ]
        },
    },
    {
        **leaf("files", "chance"),
        "outputs": {
            "artifacts": [{"name": "a", "path": "/a"}, {"name": "b", "path": "/b", "optional": True}],
        },
    },
    {**leaf("reads", "true"), "inputs": {"artifacts": [{"name": "f", "path": "/f"}]}},
    {**leaf("may-read", "true"), "inputs": {"artifacts": [{"name": "f", "path": "/f", "optional": True}]}},
    {
        "name": "answer",
        "suspend": {},
        "outputs": {
            "parameters": [
                {"name": "o", "globalName": "g", "valueFrom": {"supplied": {}}},
                {"name": "p", "valueFrom": {"supplied": {}, "default": "none"}},
            ]
        },
    },
    {
        "name": "again",
        "steps": [
            [{"name": "flip", "template": "says"}],
            [{"name": "more", "template": "again", "when": "'{{steps.flip.outputs.result}}' == 'yes'"}],
        ],
    },
    {
        **leaf("remembers", "echo", "{{inputs.parameters.p}}", takes=("p",)),
        "outputs": {"parameters": [{"name": "o", "valueFrom": {"path": "/o"}}]},
        "memoize": {"key": "{{inputs.parameters.p}}", "cache": {"configMap": {"name": "kept"}}},
    },
    {
        **leaf("or-else", "echo", "{{inputs.parameters.p}} {{inputs.parameters.q}}"),
        "inputs": {
            "parameters": [
                {"name": "p", "default": "{{workflow.parameters.go}}"},
                {"name": "q", "value": "{{=inputs.parameters.p + 'q'}}"},
            ]
        },
    },
    {
        **leaf("reads-config", "echo", "{{inputs.parameters.p}}"),
        "inputs": {
            "parameters": [
                {"name": "p", "valueFrom": {"configMapKeyRef": {"name": "limits", "key": "two"}}},
                {
                    "name": "q",
                    "valueFrom": {"configMapKeyRef": {"name": "limits", "key": "no"}, "default": "d"},
                },
            ]
        },
    },
    {
        **leaf("gives-file", "chance"),
        "outputs": {"artifacts": [{"name": "a", "path": "/a", "globalName": "file"}]},
    },
    {
        "name": "items",
        "inputs": {"parameters": [{"name": "p"}]},
        "steps": [
            [
                {
                    "name": "each",
                    "template": "say",
                    "arguments": {"parameters": [{"name": "p", "value": "{{item}}-{{inputs.parameters.p}}"}]},
                    "withParam": "{{=toJson(filter(1..asInt(len(inputs.parameters.p)), # % 2 == 1))}}",
                }
            ],
            [
                {
                    "name": "all",
                    "template": "say",
                    "arguments": {"parameters": [{"name": "p", "value": "{{=len(inputs.parameters.p)}}"}]},
                    "when": "{{steps.each.status}} == Succeeded",
                }
            ],
        ],
        "outputs": {
            "parameters": [
                {
                    "name": "o",
                    "valueFrom": {"expression": "steps.all.status + '!'"},
                }
            ]
        },
    },
    {"name": "script", "script": {"image": "busybox", "command": ["chance", "say"], "source": "date"}},
    {
        "name": "makes",
        "resource": {"action": "create", "successCondition": "status.ready == 1", "manifest": _MADE},
        "outputs": {"parameters": [{"name": "o", "valueFrom": {"jsonPath": "{.metadata.name}"}}]},
    },
    {
        "name": "set-tried",
        "retryStrategy": {"limit": "1"},
        "containerSet": {
            "containers": [
                {"name": "a", "image": "busybox", "command": ["chance"]},
                {"name": "b", "image": "busybox", "command": ["chance"]},
                {"name": "main", "image": "busybox", "command": ["chance"], "dependencies": ["a", "b"]},
            ]
        },
    },
    {
        **leaf("given-time", "chance", takes=("p",)),
        "activeDeadlineSeconds": "{{=len(inputs.parameters.p)}}",
    },
    {
        **leaf("fails-with-outputs", "chance", "give"),
        "outputs": {
            "parameters": [{"name": "o", "globalName": "g", "valueFrom": {"path": "/o", "default": "none"}}],
            "artifacts": [{"name": "a", "path": "/a", "globalName": "file", "optional": True}],
        },
    },
    {**leaf("soon", "chance"), "pendingTimeout": "1s"},
    {
        "name": "hands-on",
        "inputs": {"artifacts": [{"name": "f", "optional": True}]},
        "dag": {
            "tasks": [
                {"name": "gives", "template": "files"},
                {
                    "name": "reads",
                    "template": "may-read",
                    "depends": "gives || gives.Failed",
                    "arguments": {
                        "artifacts": [
                            {"name": "f", "optional": True, "from": "{{tasks.gives.outputs.artifacts.b}}"}
                        ]
                    },
                },
                {
                    "name": "own",
                    "template": "may-read",
                    "arguments": {
                        "artifacts": [{"name": "f", "optional": True, "from": "{{inputs.artifacts.f}}"}]
                    },
                },
            ]
        },
        "outputs": {
            "artifacts": [{"name": "a", "optional": True, "from": "{{tasks.gives.outputs.artifacts.a}}"}]
        },
    },
]
EXPRESSIONS = ("Running", "Succeeded", "Failed", "Pending", "Error")


class Mixed(Maker):
    """Generates one template, and those that it calls."""

    def __init__(self, random: Random, templates: list[Json], depth: int) -> None:
        super().__init__(random)
        self.templates = templates
        self.depth = depth
        self.looped: set[str] = set()

    def task(self, number: int, names: list[str]) -> Json:
        made = super().task(number, names)
        if self.chance(0.45):
            made.pop("arguments", None)
            self.instead(made, names)
        if self.chance(0.12):
            self.loop(made, names)
        if self.chance(0.15):
            self.hooks(made)
        if {"withItems", "withParam", "withSequence"} & made.keys():
            self.looped.add(str(made["name"]))
        if self.chance(0.2):
            made["when"] = self.expression(names)
        return made

    def expression(self, names: list[str]) -> str:
        """A computed condition, or one with several comparisons."""
        known = [name for name in names if name not in self.looped] or ["none"]
        name = self.random.choice(known)
        task = f"{self.root}['{name}']" if name != "none" else "{'status': 'Succeeded'}"
        status = f"{{{{{self.root}.{name}.status}}}}" if name != "none" else "Failed"
        return self.random.choice(
            (
                f"{{{{={task}.status in ['Succeeded', 'Skipped']}}}}",
                f"{{{{={task}?.outputs?.result == 'yes' || workflow.parameters.go == 'yes'}}}}",
                f"{{{{={task}.status matches '^(Fail|Err)' ? 'true' : 'false'}}}}",
                f"{status} =~ '^Succ' || {{{{workflow.parameters.go}}}} == yes",
                f"({status} == Succeeded || {status} == Failed) && !({{{{workflow.parameters.go}}}} == no)",
                f"'{status}' in ('Succeeded', 'Omitted', '{{{{workflow.parameters.go}}}}')",
                "{{=asInt('2') > 1}} && 1 < 2",
                "1.0 == 1",
            )
        )

    def term(self, name: str) -> str:
        if name in self.looped and self.chance(0.4):
            return f"{name}.{self.random.choice(('AnySucceeded', 'AllFailed'))}"
        return super().term(name)

    def instead(self, made: Json, names: list[str]) -> None:
        """Set another template: a leaf of another kind, or one that calls others."""
        if self.depth and self.chance(0.5):
            made["template"] = inner(self.random, self.templates, self.depth - 1)
        else:
            made["template"] = str(self.random.choice(self.leaves())["name"])
        if made["template"] == "remembers":
            made["arguments"] = {"parameters": [{"name": "p", "value": self.random.choice(("x", "z"))}]}
        if made["template"] == "given-time":
            made["arguments"] = {"parameters": [{"name": "p", "value": self.value(names)}]}
        if made["template"] in ("items", "or-else") and (made["template"] == "items" or self.chance(0.5)):
            made["arguments"] = {"parameters": [{"name": "p", "value": self.value(names)}]}
        if made["template"] == "patched":
            patch = self.random.choice(("null", "{}", '{"containers": 5}', "activeDeadlineSeconds: 2"))
            value = patch if self.chance(0.7) else self.value(names)
            made["arguments"] = {"parameters": [{"name": "p", "value": value}]}
        if made["template"] in ("reads", "may-read", "hands-on"):
            givers = ("files", "gives-file", "fails-with-outputs", "hands-on")
            self.reads(made, [name for name in names if self.called[name] in givers])
        self.called[str(made["name"])] = made["template"] if not made.get("withItems") else ""

    def reads(self, made: Json, givers: list[str]) -> None:
        """Let a task read an artifact of another one, which may be missing."""
        if givers:
            source = f"{self.root}.{self.random.choice(givers)}.outputs.artifacts.{self.random.choice('aab')}"
            if "gives-file" in self.called.values() and self.chance(0.3):
                source = "workflow.outputs.artifacts.file"
            file: Json = {"name": "f", "from": f"{{{{{source}}}}}"}
            if self.chance(0.4):
                file["optional"] = True
        else:
            file = {"name": "f", "raw": {"data": "x"}}
        if made["template"] == "reads" or self.chance(0.7):
            made["arguments"] = {"artifacts": [file]}

    def leaves(self) -> list[Json]:
        return [*MORE, *(one for one in self.templates if "container" in one and not one.get("inputs"))]

    def loop(self, made: Json, names: list[str]) -> None:
        """Let a task loop over the output of another one, or over numbers."""
        lists = [name for name in names if self.called[name] in (*SAYING, *GIVING)]
        if "withItems" in made:
            return
        if self.looped and self.chance(0.4):
            name = self.random.choice(sorted(self.looped))
            made["withParam"] = f"{{{{{self.root}.{name}.outputs.{self.random.choice(AGGREGATES)}}}}}"
        elif lists and self.chance(0.8):
            name = self.random.choice(lists)
            what = "result" if self.called[name] in SAYING else "parameters.o"
            made["withParam"] = f"{{{{{self.root}.{name}.outputs.{what}}}}}"
        elif self.chance(0.5):
            made["withParam"] = self.random.choice(
                (
                    "{{=toJson(1..2)}}",
                    "{{=toJson(map(['a', 'b'], {let x = #; {'k': x, 'n': [1]} }))}}",
                    '["{{workflow.parameters.go}}", 1.50, null, {"b": {"c": true}}, ["q"]]',
                    "{{=workflow.parameters.go == 'yes' ? '[1,2]' : '[]'}}",
                )
            )
        else:
            made["withSequence"] = self.random.choice(
                (
                    {"count": self.random.choice(("0", "1", "2"))},
                    {"start": "3", "end": "2", "format": "n%03d"},
                    {"start": "1", "end": "{{=asInt('2')}}"},
                    {"count": "{{=len(workflow.parameters.go)}}", "format": "%x-a"},
                )
            )
        self.called[str(made["name"])] = ""

    def hooks(self, made: Json) -> None:
        name, status = made["name"], self.random.choice(EXPRESSIONS)
        template = self.random.choice(("ok", "bad", "may", "says"))
        if self.chance(0.5):
            hook: Json = {"template": template}
            if self.chance(0.4):
                what = {
                    "says": "result",
                    "yes": "result",
                    "out": "parameters.o",
                    "out-or-not": "parameters.o",
                }
                given = what.get(self.called[str(name)])
                text = f"{{{{{self.root}.{name}.outputs.{given}}}}}" if given else "{{workflow.status}}"
                hook = {"template": "say", "arguments": {"parameters": [{"name": "p", "value": text}]}}
            made["hooks"] = {"exit": hook}
        if "hooks" in made and self.chance(0.2):
            made["onExit"] = made.pop("hooks")["exit"]["template"]
            if made["onExit"] == "say":
                made["onExit"] = "no"
        if self.chance(0.6):
            expression = self.random.choice(
                (
                    f'{self.root}["{name}"].status == "{status}"',
                    f'{self.root}["{name}"].status == "{status}"',
                    f"{self.root}['{name}'].status in ['{status}', 'Running'] && workflow.parameters.go != 'no'",
                )
            )
            made.setdefault("hooks", {})["h"] = {"expression": expression, "template": template}

    def value(self, names: list[str]) -> str:
        givers = [
            name for name in names if self.called[name] in (*GIVING, "everywhere", "remembers", "answer")
        ]
        if givers and self.chance(0.4):
            return f"{{{{{self.root}.{self.random.choice(givers)}.outputs.parameters.o}}}}"
        if self.chance(0.05):
            return "{{workflow.status}}"
        if self.chance(0.15):
            return self.random.choice(
                (
                    "{{=sprig.upper(workflow.parameters.go)}}",
                    "{{workflow.name}}/{{workflow.namespace}}/{{workflow.parameters}}",
                    "{{=toJson({'a': [1, workflow.parameters.go]})}}",
                    *(
                        f"{{{{{self.root}.{name}.exitCode}}}}"
                        for name in names[:1]
                        if name not in self.looped
                    ),
                    *(f"{{{{={self.root}.{name}.status}}}}" for name in names[:1]),
                    *(f"{{{{={self.root}['{name}'].outputs?.result ?? 'nil'}}}}" for name in names[:1]),
                )
            )
        if self.chance(0.05) and {"everywhere", "answer"} & {*self.called.values()}:
            return "{{workflow.outputs.parameters.g}}"
        return super().value(names)


def inner(random: Random, templates: list[Json], depth: int) -> str:
    """Generate a template of tasks or steps; returns its name."""
    maker = Mixed(random, templates, depth)
    made = maker.graph()
    made["name"] = f"g{len(templates)}"
    tasks = [str(one["name"]) for one in made.get("dag", {}).get("tasks", [])]
    if tasks and maker.chance(0.1):
        made["dag"]["target"] = " ".join(random.sample(tasks, min(len(tasks), random.choice((1, 1, 2)))))
    templates.append(made)
    limits(random, made)
    names = [name for name, template in maker.called.items() if template in (*GIVING, *SAYING, "yes")]
    if names and maker.chance(0.5):
        name = random.choice(names)
        what = "result" if maker.called[name] in (*SAYING, "yes") else "parameters.o"
        one: Json = {"name": "o", "valueFrom": {"parameter": f"{{{{{maker.root}.{name}.outputs.{what}}}}}"}}
        if maker.chance(0.3):
            task, given = f"{maker.root}['{name}']", what.partition(".")[2]
            value = f"outputs.parameters['{given}']" if given else "outputs.result"
            one["valueFrom"] = {"expression": f"{task}.status == 'Succeeded' ? {task}.{value} : 'none'"}
        if maker.chance(0.2):
            one["globalName"] = "g"
        if maker.chance(0.2):
            one["valueFrom"]["default"] = "d"
        made["outputs"] = {"parameters": [one]}
    return str(made["name"])


def limits(random: Random, made: Json) -> None:
    """Add what may delay a template, end it, or retry it."""
    if random.random() < 0.2:
        made["retryStrategy"] = random.choice(RETRIES)
    if random.random() < 0.2:
        made["synchronization"] = random.choice(LOCKS)
    if "container" in made:
        if random.random() < 0.1:
            made["timeout"] = "3s"
        return
    if random.random() < 0.2:
        made["parallelism"] = random.choice((1, 1, 2))
    if random.random() < 0.2:
        made["failFast"] = random.choice((True, False))


def workflow(random: Random) -> Json:
    """Generate a workflow."""
    templates: list[Json] = []
    for number in range(random.choice((0, 1, 2))):
        made = leaf(f"l{number}", "chance")
        limits(random, made)
        if random.random() < 0.15:
            made["daemon"] = True
        templates.append(made)
    entry = inner(random, templates, random.choice((0, 1, 2)))
    spec: Json = {
        "entrypoint": entry,
        "arguments": {"parameters": [{"name": "go", "value": random.choice(("yes", "no"))}]},
    }
    if random.random() < 0.2:
        spec["onExit"] = random.choice(("ok", "bad", "may", inner(random, templates, 0)))
    if random.random() < 0.15:
        spec["parallelism"] = random.choice((1, 2, 3))
    if random.random() < 0.08:
        spec["activeDeadlineSeconds"] = random.choice((3, 6))
    if random.random() < 0.1:
        spec["synchronization"] = random.choice(LOCKS)
    if random.random() < 0.1:
        spec["templateDefaults"] = random.choice(
            ({"retryStrategy": {"limit": "1"}}, {"parallelism": 1}, {"timeout": "4s"})
        )
    if random.random() < 0.15:
        spec["retryStrategy"] = random.choice(RETRIES)
    if random.random() < 0.15:
        expression = f'workflow.status == "{random.choice(EXPRESSIONS)}"'
        spec["hooks"] = {"h": {"expression": expression, "template": random.choice(("ok", "bad", "may"))}}
    if "onExit" not in spec and random.random() < 0.1:
        text = random.choice(("{{workflow.status}}", "{{workflow.parameters.go}}"))
        handler = {"template": "say", "arguments": {"parameters": [{"name": "p", "value": text}]}}
        spec.setdefault("hooks", {})["exit"] = handler
    spec["templates"] = used(spec, [*templates, *LEAVES, *MORE])
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "run"},
        "spec": spec,
    }


def used(spec: Json, templates: list[Json]) -> list[Json]:
    """The templates that are called, directly or through others."""
    by_name = {str(one["name"]): one for one in templates}
    found: set[str] = set()
    waiting = called(spec)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting |= called(by_name[name])
    return [one for name, one in by_name.items() if name in found]


def made_up(seed: int) -> Case:
    """The generated case of a seed."""
    random = Random(seed)
    manifest = copy.deepcopy(workflow(random))
    objects: list[Json] = [LIMITS]
    if random.random() < 0.15:  # as a workflow with a workflowTemplateRef
        objects.append({**manifest, "kind": "WorkflowTemplate", "metadata": {"name": "library"}})
        manifest = {**manifest, "spec": {"workflowTemplateRef": {"name": "library"}}}
    elif random.random() < 0.15:
        objects.append(elsewhere(random, manifest))
    return Case(manifest, objects, world(seed), [*given(random, manifest, objects)])


def elsewhere(random: Random, manifest: Json) -> Json:
    """Copy templates to another object, to which some calls then refer; other calls get inline templates."""
    kind = random.choice(("WorkflowTemplate", "WorkflowTemplate", "ClusterWorkflowTemplate"))
    templates: list[Json] = copy.deepcopy(manifest["spec"]["templates"])
    found = {"apiVersion": manifest["apiVersion"], "kind": kind, "metadata": {"name": "shelf"}}
    plain = {str(one["name"]): one for one in templates if "container" in one}
    for call in list(_calls(manifest["spec"]["templates"])):
        dice, name = random.random(), str(call["template"])
        if dice < 0.4:
            del call["template"]
            scope = {} if kind == "WorkflowTemplate" else {"clusterScope": True}
            call["templateRef"] = {"name": "shelf", "template": name, **scope}
        elif dice < 0.6 and name in plain and "name" in call:
            del call["template"]
            call["inline"] = {key: part for key, part in plain[name].items() if key != "name"}
    return {**found, "spec": {"templates": templates}}


def _calls(value: Any) -> Iterator[Json]:
    """Tasks, steps and hooks."""
    if is_mapping(value):
        if "template" in value:
            yield value
        value = list(value.values())
    if is_list(value):
        for one in value:
            yield from _calls(one)


def given(random: Random, manifest: Json, objects: list[Json]) -> Iterator[events.Resumed | events.ShutDown]:
    """What users do: answer the suspended steps of the entrypoint, and stop the run."""
    spec = manifest["spec"] if "templates" in manifest["spec"] else objects[1]["spec"]
    entry = next(one for one in spec["templates"] if one["name"] == spec["entrypoint"])
    for place, group in enumerate(entry.get("steps", [])):
        for step in group:
            yield from _answer(random, step, f"run[{place}].{step['name']}")
    for task in entry.get("dag", {}).get("tasks", []):
        yield from _answer(random, task, f"run.{task['name']}")
    if random.random() < 0.1:
        at = random.randrange(500, 12000) / 1000
        yield events.ShutDown(at, random.choice(("Stop", "Stop", "Terminate")))


def _answer(random: Random, call: Json, name: str) -> Iterator[events.Resumed]:
    """The answer to a suspended step, repeated since it may not be waiting yet."""
    if "answer" in (call.get("template"), call.get("templateRef", {}).get("template")):
        answers = {"o": random.choice(WORDS)} | ({"p": "said"} if random.random() < 0.5 else {})
        for at in range(5, 60, 5):
            yield events.Resumed(at + random.random(), node_id("run", name), answers)


def world(seed: int) -> Callable[[events.StartPod], Pod]:
    """How the pods of a seed end: `true` and `echo` succeed, `false` fails, `chance` depends on the node name."""

    def ends(pod: events.StartPod) -> Pod:
        dice = Random(f"{seed} {pod.name}")
        takes = dice.randrange(1001, 4000) / 1000
        container = part(pod.template, "container") or part(pod.template, "script")
        words = [*texts(container, "command"), "", ""]
        names = [str(one["name"]) for one in several(part(pod.template, "containerSet"), "containers")]
        phase: events.Phase = "Succeeded"
        if words[0] == "false" or (
            (words[0] == "chance" or names or {"http", "resource"} & pod.template.keys())
            and dice.random() < 0.35
        ):
            phase = "Error" if words[1] == "error" and dice.random() < 0.6 else "Failed"
        word = str(words[1]) if words[0] == "echo" else dice.choice(WORDS)
        if phase == "Error":
            return Pod(
                events.Outcome(phase, "wait: Error (exit code 64): lost", {"exitCode": "0"}), takes, ip=IP
            )
        code = 0 if phase == "Succeeded" else 1 if names else dice.choice((1, 1, 2, 3))
        message = f"main: Error (exit code {code})" if code else ""
        outputs: Json = {"exitCode": str(code)}
        if not code or words[1] == "give":
            promised = several(part(pod.template, "outputs"), "parameters")
            if promised:
                outputs["parameters"] = [
                    {key: one[key] for key in ("name", "globalName") if key in one} | {"value": word}
                    for one in promised
                ]
            if files := several(part(pod.template, "outputs"), "artifacts"):
                there = [one for one in files if not one.get("optional") or dice.random() < 0.5]
                outputs["artifacts"] = [{"name": one["name"], "s3": {"key": pod.pod}} for one in there]
            if pod.keeps_result:
                outputs["result"] = word
        ways = {name: _way(name, phase) for name in names} or None
        made = Pod(events.Outcome(phase, message, outputs, ways), takes, ip=IP)
        if not names:
            return made
        killed = {name: _way(name, "Failed") for name in names}
        failed = events.Outcome("Failed", "main: Error (exit code 1)", {"exitCode": "1"}, killed)
        return made._replace(stopped=failed)

    return ends


def _way(name: str, phase: events.Phase) -> tuple[events.Phase, str]:
    """How a container of a container set ended."""
    return phase, f"{name}: Error (exit code 1): " if phase == "Failed" else ""
