"""Workflows that are made up: a graph or a list of steps, of leaves that print and of one that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

Json = dict[str, Any]

_PHASES = ("Succeeded", "Succeeded", "Failed", "Failed", "Errored", "Skipped", "Omitted", "Daemoned")
_PRINTING = ("no", "yes", "one", "say", "ask")


def leaf(name: str, *words: str, takes: tuple[str, ...] = ()) -> Json:
    """A template with a command."""
    inputs = {"inputs": {"parameters": [{"name": one} for one in takes]}} if takes else {}
    return {"name": name, **inputs, "container": {"image": "busybox:1.37.0", "command": [*words]}}


LEAVES = [
    leaf("ok", "true"),
    leaf("bad", "false"),
    leaf("no", "echo", "no"),
    leaf("yes", "echo", "yes"),
    leaf("one", "echo", "1"),
    leaf("say", "echo", "{{inputs.parameters.p}}", takes=("p",)),
    leaf("ask", "echo", "{{inputs.parameters.p}}Z{{inputs.parameters.q}}", takes=("p", "q")),
]


class Maker:
    """Generates a workflow; tasks refer to those before them."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.kind = random.choice(("depends", "dependencies", "steps"))
        self.root = "steps" if self.kind == "steps" else "tasks"
        self.called: dict[str, str] = {}  # templates by tasks

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def term(self, name: str) -> str:
        """A term of `depends` about another task."""
        return self.random.choice(
            (
                *(name, name, name, f"{name}.Succeeded"),
                *(f"{name}.Failed", f"({name}.Failed || {name}.Errored)"),
                *(f"({name}.Succeeded || {name}.Failed || {name}.Errored)",) * 2,
                f"{'!' if self.chance(0.3) else ''}{name}.{self.random.choice(_PHASES)}",
            )
        )

    def value(self, names: list[str]) -> str:
        printing = [name for name in names if self.called[name] in _PRINTING]
        if printing and self.chance(0.4):
            return f"{{{{{self.root}.{self.random.choice(printing)}.outputs.result}}}}"
        if names and self.chance(0.3):
            return f"{{{{{self.root}.{self.random.choice(names)}.status}}}}"
        return self.random.choice(
            ("{{workflow.parameters.go}}", "{{workflow.parameters.go}}", "1", "no", "1.0")
        )

    def condition(self, names: list[str]) -> str:
        left, right = self.value(names), self.random.choice(("yes", "no", "1", "Succeeded", "Failed"))
        left = f"'{left}'" if "outputs" in left else left
        return f"{left} {self.random.choice(('==', '==', '!='))} {right}"

    def task(self, number: int, names: list[str]) -> Json:
        """A task that may refer to others."""
        template = self.random.choice((*("ok", "ok", "bad", "no", "yes", "one"), *("say", "ask") * 2))
        found: Json = {"name": f"t{number}", "template": template}
        given = [{"name": one, "value": self.value(names)} for one in ("p", "q")]
        given = given[: {"say": 1, "ask": 2}.get(template, 0)]
        if given:
            found["arguments"] = {"parameters": given}
        if self.chance(0.25):
            found["when"] = self.condition(names)
        looped = self.chance(0.15)
        if looped:
            found["withItems"], item = self.random.choice(
                ((["x", "z"], "{{item}}"), ([{"a": "x", "b": 1}, {"a": "z", "b": 2}], "{{item.b}}"))
            )
            if given:
                self.random.choice(given)["value"] = item
        elif self.chance(0.12):
            found["hooks"] = {"exit": {"template": self.random.choice(("ok", "bad"))}}
        self.called[f"t{number}"] = "" if looped else template
        return found

    def waits(self, task: Json, before: list[str]) -> None:
        """Let a task wait for some of those before it."""
        if self.kind == "dependencies":
            task["dependencies"] = before
            return
        sign = self.random.choice((" && ", " && ", " && ", " || "))
        task["depends"] = sign.join(map(self.term, before))

    def graph(self) -> Json:
        if self.kind == "steps":
            return self.steps()
        tasks: list[Json] = []
        for number in range(self.random.randint(2, 6)):
            known = [str(one["name"]) for one in tasks]
            before = self.random.sample(known, min(len(known), self.random.choice((0, 1, 1, 1, 2))))
            task = self.task(number, before)
            if before:
                self.waits(task, before)
            if self.kind == "dependencies" and self.chance(0.2):
                task["continueOn"] = {"failed": True, "error": True}
            tasks.append(task)
        return {"name": "main", "dag": {"tasks": tasks, "failFast": self.chance(0.7)}}

    def steps(self) -> Json:
        groups: list[list[Json]] = []
        known: list[str] = []
        for number in range(0, self.random.randint(2, 6), 2):
            group = [self.task(number + one, known) for one in range(self.random.choice((1, 1, 2)))]
            for step in group:
                if self.chance(0.2):
                    step["continueOn"] = {"failed": True, "error": True}
            groups.append(group)
            known = [*known, *(str(step["name"]) for step in group)]
        return {"name": "main", "steps": groups}

    def workflow(self) -> Json:
        spec: Json = {
            "entrypoint": "main",
            "arguments": {"parameters": [{"name": "go", "value": self.random.choice(("yes", "no"))}]},
            "templates": [self.graph(), *LEAVES],
        }
        kind = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow"}
        return {**kind, "metadata": {"generateName": "made-up-"}, "spec": spec}
