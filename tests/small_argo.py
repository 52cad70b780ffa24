"""Enough of Argo to run a manifest whose files are on volumes: tags, simple expressions, loops, and pods as processes.

A claim is a folder, and so is each path of a pod that something is mounted at; everything else of a pod is a
folder that is its own. Task after task runs, in the order of the manifest.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_TAG = re.compile(r"\{\{(=?)(.*?)\}\}")
_BEST = re.compile(r"== (max|min)\(map\(.*asFloat\(#\.(\w+)\)\)\)\)\[0\]\.(\w+)\)")
_ROWS = re.compile(r"fromJSON\((tasks\[[^]]+\]\.outputs\.parameters\['results'\])\)")
_OUTPUT = re.compile(r"tasks\['([^']+)'\]\.outputs\.parameters\['([^']+)'\]")
_WRITABLE = "/tmp/flowdsl"


class Failed(Exception):
    """A pod that ended with another exit code than 0; its text is what it said."""


class Scope(NamedTuple):
    """What tags may name."""

    inputs: Mapping[str, str]
    tasks: Mapping[str, Mapping[str, str] | None]
    item: Any = None


class SmallArgo:
    """One run of a manifest; `claims` has a folder for each claim."""

    def __init__(self, document: dict[str, Any], folder: Path, run: str = "run-x7k2p") -> None:
        spec = document["spec"]
        self.run = run
        self.folder = folder
        self.claims = folder / "claims"
        self.entry: str = spec["entrypoint"]
        given = spec.get("arguments", {}).get("parameters", ())
        self.given = {one["name"]: one["value"] for one in given if "value" in one}
        self.templates: dict[str, Any] = {one["name"]: one for one in spec["templates"]}
        volumes = spec.get("volumes", ())
        self.volumes = {
            one["name"]: self.claims / one["persistentVolumeClaim"]["claimName"] for one in volumes
        }
        for claim in self.volumes.values():
            claim.mkdir(parents=True, exist_ok=True)
        self.pods: list[str] = []

    def start(self, **parameters: str) -> dict[str, str]:
        """Run all of it; the outputs of the pipeline."""
        return self.template(self.templates[self.entry], {**self.given, **parameters})

    def here(self, path: str) -> Path:
        """The file on this machine for a path on a volume."""
        claim, _, rest = path.removeprefix("/flowdsl/volumes/").partition("/")
        return self.claims / claim / rest

    def template(self, template: dict[str, Any], given: Mapping[str, str]) -> dict[str, str]:
        """Run one template; its outputs."""
        declared = template.get("inputs", {}).get("parameters", ())
        inputs = {
            one["name"]: given[one["name"]] if one["name"] in given else one["default"] for one in declared
        }
        scope = Scope(inputs, {})
        if "dag" in template:
            scope = self.graph(template["dag"], scope)
        else:
            self.pod(template, scope)
        found: dict[str, str] = {}
        for one in template.get("outputs", {}).get("parameters", ()):
            if "value" in one:
                found[one["name"]] = self.text(one["value"], scope)
                continue
            source = one["valueFrom"]
            if "path" in source:
                found[one["name"]] = (
                    (self.pod_folder / source["path"].lstrip("/")).read_text().removesuffix("\n")
                )
            elif "expression" in source:
                found[one["name"]] = self.evaluate(source["expression"], scope)
            else:
                found[one["name"]] = self.text(source["parameter"], scope)
        return found

    def graph(self, dag: dict[str, Any], scope: Scope) -> Scope:
        """Run the tasks of a graph; the scope with their outputs."""
        tasks: dict[str, Mapping[str, str] | None] = {}
        scope = scope._replace(tasks=tasks)
        for task in dag["tasks"]:
            name, template = task["name"], self.templates[task["template"]]
            if "when" in task and self.text(task["when"], scope) != "true":
                tasks[name] = None
                continue
            items = task.get("withItems")
            if "withParam" in task:
                items = json.loads(self.text(task["withParam"], scope))
            if items is None:
                tasks[name] = self.template(template, self.arguments(task, scope))
                continue
            rows: list[dict[str, str]] = []
            for item in items:
                try:
                    rows.append(self.template(template, self.arguments(task, scope._replace(item=item))))
                except Failed:
                    if "continueOn" not in task:
                        raise
            tasks[name] = {"": json.dumps(rows)}
        return scope

    def arguments(self, task: dict[str, Any], scope: Scope) -> dict[str, str]:
        """What a task gives to its template."""
        given = task.get("arguments", {}).get("parameters", ())
        return {one["name"]: self.text(one["value"], scope) for one in given}

    def pod(self, template: dict[str, Any], scope: Scope) -> None:
        """Run a script or a command line in folders of its own; raises `Failed`."""
        self.pods.append(template["name"])
        container = template.get("script") or template["container"]
        self.pod_folder = self.folder / f"pod-{len(self.pods)}"
        paths = {_WRITABLE: self.pod_folder / _WRITABLE.lstrip("/")}
        for mount in container.get("volumeMounts", ()):
            if mount["name"] not in self.volumes:
                continue
            source = self.volumes[mount["name"]] / self.text(mount.get("subPath", ""), scope)
            source.mkdir(parents=True, exist_ok=True)  # as the kubelet does
            paths[mount["mountPath"]] = source
        (paths[_WRITABLE] / "out").mkdir(parents=True)
        work = self.pod_folder / "work"
        work.mkdir()

        longest = sorted(paths, key=len, reverse=True)
        mounted = re.compile(rf"(?:{'|'.join(longest)})(?![\w-])")

        def local(text: str) -> str:
            return mounted.sub(lambda found: str(paths[found[0]]), text)

        env = {one["name"]: local(self.text(one["value"], scope)) for one in container.get("env", ())}
        if "source" in container:
            (self.pod_folder / "script").write_text(local(container["source"]), encoding="utf-8")
            command = [sys.executable, str(self.pod_folder / "script")]
        else:
            words = [*container["command"], *container.get("args", ())]
            command = [local(self.text(word, scope)) for word in words]
        done = subprocess.run(
            command,
            env={"PATH": os.environ["PATH"], **env},
            cwd=work,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Failed(done.stdout + done.stderr)

    # --- text ---------------------------------------------------------------------------------------

    def text(self, text: str, scope: Scope) -> str:
        """A text with its tags replaced."""

        def value(tag: re.Match[str]) -> str:
            return self.evaluate(tag[2], scope) if tag[1] else self.simple(tag[2], scope)

        return _TAG.sub(value, text)

    def simple(self, tag: str, scope: Scope) -> str:
        """The text behind a plain tag."""
        root, *rest = tag.split(".")
        if root == "workflow":
            assert rest == ["name"]
            return self.run
        if root == "item":
            return str(scope.item[rest[0]] if rest else scope.item)
        if root == "inputs":
            return scope.inputs[rest[1]]
        outputs = scope.tasks[rest[0]]
        assert outputs is not None
        return outputs[".".join(rest[3:])]

    def evaluate(self, expression: str, scope: Scope) -> str:
        """The text that an expression comes to: the few that files on volumes need."""
        if best := _BEST.search(expression):
            rows_of = _ROWS.search(expression)
            assert rows_of is not None
            goal, metric, name = best.groups()
            rows = json.loads(self.evaluate(rows_of[1], scope))
            chosen: dict[str, str] = {"max": max, "min": min}[goal](rows, key=lambda row: float(row[metric]))
            expression = expression[: best.start()]
            rest = best.string[best.end() :]
            known = repr(chosen[name])
            if not rest.startswith(")"):
                return chosen[name]
            return self.shown(eval(f"float({known}{rest}", {}))  # noqa: S307 -- of a manifest of the test

        def output(found: re.Match[str]) -> str:
            outputs = scope.tasks[found[1]]
            return repr(None if outputs is None else outputs[found[2]])

        code = re.sub(
            r"inputs\.parameters\['([^']+)'\]", lambda found: repr(scope.inputs[found[1]]), expression
        )
        code = _OUTPUT.sub(output, code)
        code = code.replace(" ?? ", " or ")  # no path is empty
        code = re.sub(r"0\.\.(.+)-1\)$", r"list(range(\1)))", code)
        names = {
            "fromJSON": json.loads,
            "toJSON": json.dumps,
            "asInt": int,
            "asFloat": float,
            "replace": str.replace,
            "item": scope.item,
        }
        return self.shown(eval(code, names))  # noqa: S307 -- as above

    @staticmethod
    def shown(value: object) -> str:
        """A value as Argo writes it into text."""
        return value if isinstance(value, str) else json.dumps(value)
