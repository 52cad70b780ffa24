"""The controller: a workflow from its arguments to its end.

Source: workflow/controller/operator.go and workflow/common/util.go of Argo 4.1.2; names of functions there are
given where one follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flowdsl.compiler.expressions import VOLUMES
from tests.cluster.graph import Graph
from tests.cluster.kubelet import Python
from tests.cluster.node import ERROR, FAILED, NOT_SUPPLIED, SUCCEEDED, Json, Node, only
from tests.cluster.pod import Pod
from tests.cluster.store import Store
from tests.cluster.syntax import Unsupported
from tests.cluster.tags import ArgoError, replaced

_SPEC = {"entrypoint", "arguments", "volumes", "templates"}
_SPEC_IGNORED = {
    "serviceAccountName",
    "parallelism",
    "activeDeadlineSeconds",
    "podPriorityClassName",
    "ttlStrategy",
}
_TEMPLATE = {"name", "inputs", "outputs", "dag", "script", "container", "volumes", "retryStrategy"}
_TEMPLATE_IGNORED = {"parallelism", "nodeSelector", "affinity", "tolerations", "priorityClassName", "timeout"}


class Run:
    """A finished run: its entry node, all nodes by name, and the files it left."""

    def __init__(
        self, entry: Node, nodes: dict[str, Node], store: Store, volumes: Mapping[str, Path]
    ) -> None:
        self.entry = entry
        self.phase = entry.phase
        self.nodes = nodes
        self.store = store
        self.volumes = volumes

    def file(self, node: str, output: str, folder: Path) -> Path | None:
        """A copy of a file that a node handed on, or None where there is none."""
        if output not in self.nodes[node].artifacts:
            path = (self.nodes[node].parameters or {}).get(output, "")
            return self.kept(path) if path.startswith(VOLUMES) else None
        target = folder / f"{len(list(folder.iterdir()))}-{output}"
        self.store.load(self.nodes[node].artifacts[output], target, output)
        return target if target.exists() else None

    def kept(self, path: str) -> Path | None:
        """The file at a path on a volume, or None where there is none."""
        claim, _, rest = path.removeprefix(f"{VOLUMES}/").partition("/")
        found = self.volumes[claim] / rest
        return found if found.exists() else None

    def errors(self) -> list[str]:
        """What went wrong, node by node."""
        return [
            f"{one.name}: {one.phase}: {one.message}\n{one.log}"
            for one in self.nodes.values()
            if one.phase in (FAILED, ERROR)
        ]


class Cluster:
    """Runs manifests; `volumes` are the folders of claims by name, `secrets` values by name and key.

    `programs` is the PATH of the containers.
    """

    def __init__(
        self,
        folder: Path,
        python: Python,
        volumes: Mapping[str, Path] | None = None,
        secrets: Mapping[tuple[str, str], str] | None = None,
        programs: str = "/usr/local/bin:/usr/bin:/bin",
    ) -> None:
        self.folder = folder
        self.programs = programs
        self.python = python
        self.volumes = volumes or {}
        self.secrets = secrets or {}
        self.store = Store(folder / "objects")
        self.runs = 0

    def run(self, document: Json, arguments: Mapping[str, str] | None = None) -> Run:
        """Run a Workflow; `arguments` replace the values of its parameters."""
        self.runs += 1
        name = f"{document['metadata'].get('generateName', 'run-')}{self.runs:05}"
        return Workflow(self, document["spec"], name, arguments or {}).run()


class Workflow:
    """One workflow that runs: its templates, its arguments, and the nodes so far."""

    def __init__(self, cluster: Cluster, spec: Json, name: str, given: Mapping[str, str]) -> None:
        only(spec, _SPEC | _SPEC_IGNORED)
        self.cluster = cluster
        self.name = name
        self.entrypoint = spec["entrypoint"]
        self.templates: dict[str, Json] = {one["name"]: one for one in spec["templates"]}
        self.claims = {
            one["name"]: one["persistentVolumeClaim"]["claimName"] for one in spec.get("volumes", [])
        }
        declared = spec.get("arguments", {}).get("parameters", [])
        unknown = given.keys() - {one["name"] for one in declared}
        if unknown:
            raise Unsupported(f"arguments {sorted(unknown)} of no parameter")
        self.arguments: Json = {
            "parameters": [
                {"name": one["name"], "value": given.get(one["name"], one.get("value"))} for one in declared
            ]
        }
        self.globals: dict[str, Any] = {"workflow.name": name, "workflow.namespace": "argo"}
        for one in self.arguments["parameters"]:
            if one["value"] is None:
                raise Unsupported(f"no value for the parameter {one['name']}")
            self.globals[f"workflow.parameters.{one['name']}"] = one["value"]
        self.nodes: dict[str, Node] = {}

    def run(self) -> Run:
        """Execute the entrypoint."""
        entry = self.template(self.name, self.templates[self.entrypoint], self.arguments)
        return Run(entry, self.nodes, self.cluster.store, self.cluster.volumes)

    def template(self, name: str, template: Json, arguments: Json) -> Node:
        """Execute a template (executeTemplate)."""
        node = self.nodes[name] = Node(name, template)
        only(template, _TEMPLATE | _TEMPLATE_IGNORED)
        try:
            processed = self.processed(template, arguments, name)
            if "dag" in template:
                return Graph(self, node, processed).run()
            tries = 1 + processed.get("retryStrategy", {"limit": 0})["limit"]
            for _ in range(tries):
                Pod(self, node, processed).run()
                if node.phase == SUCCEEDED:
                    break
            return node
        except ArgoError as error:
            return node.ended(ERROR, str(error))

    def processed(self, template: Json, arguments: Json, name: str) -> Json:
        """A template with its inputs and everything known by now put into it (ProcessArgs)."""
        given = {one["name"]: one["value"] for one in arguments.get("parameters", [])}
        parameters: list[Json] = []
        for one in template.get("inputs", {}).get("parameters", []):
            only(one, {"name", "default"})
            value = given.get(one["name"])
            if value is None or value == NOT_SUPPLIED:
                if "default" not in one:
                    absent = "argument references an absent optional" if value else "was not supplied"
                    raise ArgoError(f"inputs.parameters.{one['name']}: {absent}")
                value = one["default"]
            parameters.append({"name": one["name"], "value": value})
        sent = {one["name"]: one for one in arguments.get("artifacts", [])}
        artifacts: list[Json] = []
        for one in template.get("inputs", {}).get("artifacts", []):
            only(one, {"name", "path", "optional", "s3", "raw", "archive"})
            if one["name"] in sent:
                artifacts.append({**sent[one["name"]], **{key: one[key] for key in ("path",) if key in one}})
                continue
            if not one.get("optional") and "s3" not in one and "raw" not in one:
                raise ArgoError(f"inputs.artifacts.{one['name']} was not supplied")
            artifacts.append(one)
        inputs = {"parameters": parameters, "artifacts": artifacts}
        scope = {**self.globals, "node.name": name}
        # What was put in may hold tags again: inputs after globals, each over the whole text.
        known = replaced({**template, "inputs": inputs}, scope, "nothing")
        for one in known["inputs"]["parameters"]:
            scope[f"inputs.parameters.{one['name']}"] = one["value"]
        for kind in ("inputs", "outputs"):
            for one in known.get(kind, {}).get("artifacts", []):
                if "path" in one:
                    scope[f"{kind}.artifacts.{one['name']}.path"] = one["path"]
        made: Json = replaced(known, scope, "nothing")
        return made
