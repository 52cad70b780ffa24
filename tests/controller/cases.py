"""Workflows that are made up of all that decides what runs, and how their pods end: by their names and a number."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from flowdsl.runtime.local.controller import events
from flowdsl.runtime.parts import part, several, texts
from tests.controller.compare import Case
from tests.controller.smallest import called
from tests.local.simulation import Pod
from tests.made_up import LEAVES, Maker, leaf

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]

LIMITS: Json = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "limits"},
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
)
IP = "10.0.0.1"
WORDS = ("yes", "no", "1", "2", '["x","z"]', "[]", '[{"a":"x","b":1}]', "", "x y")
MORE = [
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
]
EXPRESSIONS = ("Running", "Succeeded", "Failed", "Pending", "Error")


class Mixed(Maker):
    """Makes up one template, and those that it calls."""

    def __init__(self, random: Random, templates: list[Json], depth: int) -> None:
        super().__init__(random)
        self.templates = templates
        self.depth = depth

    def task(self, number: int, names: list[str]) -> Json:
        made = super().task(number, names)
        if self.chance(0.45):
            made.pop("arguments", None)
            self.instead(made, number)
        if self.chance(0.12):
            self.loop(made, names)
        if self.chance(0.15):
            self.hooks(made)
        return made

    def instead(self, made: Json, number: int) -> None:
        """Another template: a leaf of another kind, or one that calls others."""
        if self.depth and self.chance(0.5):
            made["template"] = inner(self.random, self.templates, self.depth - 1)
        else:
            made["template"] = str(self.random.choice(self.leaves())["name"])
        if made["template"] == "remembers":
            made["arguments"] = {"parameters": [{"name": "p", "value": self.random.choice(("x", "z"))}]}
        self.called[str(made["name"])] = made["template"] if not made.get("withItems") else ""

    def leaves(self) -> list[Json]:
        return [*MORE, *(one for one in self.templates if "container" in one and not one.get("inputs"))]

    def loop(self, made: Json, names: list[str]) -> None:
        """A loop over what another one printed, or over numbers."""
        lists = [name for name in names if self.called[name] in ("says", "out", "out-or-not")]
        if "withItems" in made:
            return
        if lists and self.chance(0.8):
            name = self.random.choice(lists)
            what = "result" if self.called[name] == "says" else "parameters.o"
            made["withParam"] = f"{{{{{self.root}.{name}.outputs.{what}}}}}"
        else:
            made["withSequence"] = {"count": self.random.choice(("0", "1", "2"))}
        self.called[str(made["name"])] = ""

    def hooks(self, made: Json) -> None:
        name, status = made["name"], self.random.choice(EXPRESSIONS)
        template = self.random.choice(("ok", "bad", "may", "says"))
        if self.chance(0.5):
            made["hooks"] = {"exit": {"template": template}}
        if self.chance(0.6):
            expression = f'{self.root}["{name}"].status == "{status}"'
            made.setdefault("hooks", {})["h"] = {"expression": expression, "template": template}

    def value(self, names: list[str]) -> str:
        givers = [
            name for name in names if self.called[name] in ("out", "out-or-not", "everywhere", "remembers")
        ]
        if givers and self.chance(0.4):
            return f"{{{{{self.root}.{self.random.choice(givers)}.outputs.parameters.o}}}}"
        if self.chance(0.05):
            return "{{workflow.status}}"
        return super().value(names)


def inner(random: Random, templates: list[Json], depth: int) -> str:
    """Make a template of tasks or steps up, and give its name."""
    maker = Mixed(random, templates, depth)
    made = maker.graph()
    made["name"] = f"g{len(templates)}"
    templates.append(made)
    limits(random, made)
    names = [
        name for name, template in maker.called.items() if template in ("out", "out-or-not", "says", "yes")
    ]
    if names and maker.chance(0.5):
        name = random.choice(names)
        what = "result" if maker.called[name] in ("says", "yes") else "parameters.o"
        made["outputs"] = {
            "parameters": [
                {"name": "o", "valueFrom": {"parameter": f"{{{{{maker.root}.{name}.outputs.{what}}}}}"}}
            ]
        }
    return str(made["name"])


def limits(random: Random, made: Json) -> None:
    """What may hold a template up, end it, or let it begin again."""
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
    """A workflow."""
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
        expression = f'workflow.status == "{random.choice(EXPRESSIONS)}"'
        spec["hooks"] = {"h": {"expression": expression, "template": random.choice(("ok", "bad", "may"))}}
    spec["templates"] = used(spec, [*templates, *LEAVES, *MORE])
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "run"},
        "spec": spec,
    }


def used(spec: Json, templates: list[Json]) -> list[Json]:
    """The templates that are called from somewhere, by these or others."""
    by_name = {str(one["name"]): one for one in templates}
    found: dict[str, Json] = {}
    waiting = called(spec)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = by_name[name]
            waiting |= called(by_name[name])
    return list(found.values())


def made_up(seed: int) -> Case:
    """The case of a number."""
    random = Random(seed)
    manifest = workflow(random)
    objects: list[Json] = [LIMITS]
    if random.random() < 0.15:  # as a workflow that names a template of workflows
        objects.append({**manifest, "kind": "WorkflowTemplate", "metadata": {"name": "library"}})
        manifest = {**manifest, "spec": {"workflowTemplateRef": {"name": "library"}}}
    return Case(manifest, objects, world(seed))


def world(seed: int) -> Callable[[events.StartPod], Pod]:
    """How the pods of a number end: `true` and `echo` well, `false` not, `chance` by the name of the node."""

    def ends(pod: events.StartPod) -> Pod:
        dice = Random(f"{seed} {pod.name}")
        takes = dice.randrange(1001, 4000) / 1000
        words = [*texts(part(pod.template, "container"), "command"), "", ""]
        names = [str(one["name"]) for one in several(part(pod.template, "containerSet"), "containers")]
        phase: events.Phase = "Succeeded"
        if words[0] == "false" or ((words[0] == "chance" or names) and dice.random() < 0.35):
            phase = "Error" if words[1] == "error" and dice.random() < 0.6 else "Failed"
        word = str(words[1]) if words[0] == "echo" else dice.choice(WORDS)
        if phase == "Error":
            return Pod(events.Outcome(phase, "wait: Error (exit code 64): lost", {}), takes, ip=IP)
        code = 0 if phase == "Succeeded" else 1 if names else dice.choice((1, 1, 2, 3))
        message = f"main: Error (exit code {code})" if code else ""
        outputs: Json = {"exitCode": str(code)}
        if not code:
            given = several(part(pod.template, "outputs"), "parameters")
            if given:
                outputs["parameters"] = [
                    {key: one[key] for key in ("name", "globalName") if key in one} | {"value": word}
                    for one in given
                ]
            if pod.keeps_result:
                outputs["result"] = word
        containers: dict[str, tuple[events.Phase, str]] = {
            name: (phase, f"{name}: Error (exit code 1): " if code else "") for name in names
        }
        return Pod(events.Outcome(phase, message, outputs, containers or None), takes, ip=IP)

    return ends
