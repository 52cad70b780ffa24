"""A pod: inputs are brought, the program of its container is executed, and the outputs are taken."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cluster.kubelet import Paths, Template, command, environment, expanded, too_long
from tests.cluster.node import ERROR, FAILED, SUCCEEDED, Json, LiteralTag, Node, only
from tests.cluster.store import location
from tests.cluster.syntax import Unsupported
from tests.cluster.tags import leftover

if TYPE_CHECKING:
    from tests.cluster.run import Workflow

CONTAINER = {"image", "command", "args", "env", "volumeMounts", "source", "resources"}


class Pod:
    """One attempt of a step."""

    def __init__(self, workflow: Workflow, node: Node, template: Json) -> None:
        self.workflow = workflow
        self.node = node
        name = f"{workflow.name}-{len(workflow.nodes)}"
        self.folder = workflow.cluster.folder / "pod"  # the same for all, so that a step has one source
        tag = leftover(template)
        if tag is not None:
            raise LiteralTag(f"{node.name} would get the text {tag}")
        self.template: Json = json.loads(Template(name, workflow.name).carried(json.dumps(template)))
        kind = "script" if "script" in template else "container"
        # The kubelet sees these as they are, the executor only the rest of the template.
        self.container: Json = {**template[kind], "source": self.template[kind].get("source")}
        only(self.container, CONTAINER)
        self.key = f"{workflow.name}/{name}"
        self.paths = Paths(self.places())

    def places(self) -> dict[str, Path]:
        """The folders of this machine for the paths that are mounted, by path."""
        found = {"/tmp/flowdsl": self.folder / "flowdsl"}
        empty = {one["name"] for one in self.template.get("volumes", []) if one["emptyDir"] == {}}
        for mount in self.container.get("volumeMounts", []):
            only(mount, {"name", "mountPath", "subPath", "readOnly"})
            name = mount["name"]
            if name in empty:
                continue
            claim = self.workflow.cluster.volumes[self.workflow.claims[name]]
            found[mount["mountPath"]] = claim / mount.get("subPath", "")
        return found

    def run(self) -> None:
        """Run the pod to its end, and note on the node how it ended and what it printed."""
        shutil.rmtree(self.folder, ignore_errors=True)
        work = self.folder / "work"
        work.mkdir(parents=True)
        for place in self.paths.places.values():
            Path(place).mkdir(parents=True, exist_ok=True)
        for mount in self.container.get("volumeMounts", []):
            self.paths.path(mount["mountPath"]).mkdir(parents=True, exist_ok=True)
        log = self.folder / "log"
        log.touch()
        self.load()
        code = self.execute(work, log)
        self.node.log = log.read_text(encoding="utf-8", errors="replace")
        if code != 0:
            self.node.ended(FAILED, f"Error (exit code {code})")
            return
        try:
            self.save()
        except OSError as error:
            self.node.parameters = None
            self.node.ended(ERROR, f"Error (exit code 64): {error}")
            return
        self.node.ended(SUCCEEDED)

    def load(self) -> None:
        """Bring the input artifacts; `ArgoError` for one that is missing and must not be."""
        for one in self.template["inputs"]["artifacts"]:
            found = location(one)
            if found.data is not None:
                found = found._replace(data=self.paths.here(found.data))
            target = self.paths.path(one["path"])
            self.workflow.cluster.store.load(found, target, one["name"])

    def execute(self, work: Path, log: Path) -> int:
        """The exit code of the container; 1 where Linux would refuse its variables or arguments."""
        container = self.container
        entries: list[tuple[str, str, bool]] = []
        for one in container.get("env", []):
            if "valueFrom" in one:
                secret = one["valueFrom"]["secretKeyRef"]
                value = self.workflow.cluster.secrets[secret["name"], secret["key"]]
                entries.append((one["name"], value, False))
            else:
                entries.append((one["name"], one["value"], True))
        known = environment(entries)
        words = [expanded(one, known) for one in (*container["command"], *container.get("args", []))]
        if too_long(known) or too_long(words):
            log.write_text("argument list too long", encoding="utf-8")
            return 1
        env = {"PATH": self.workflow.cluster.programs, "HOME": str(work)}
        env |= {name: self.paths.here(value) for name, value in known.items()}
        if container["source"] is None:
            return command([self.paths.here(one) for one in words], env, work, log)
        if words != ["python3"]:
            raise Unsupported(f"a script for {words}")
        script = self.folder / "script"
        script.write_text(self.paths.here(container["source"]), encoding="utf-8")
        return self.workflow.cluster.python.run(script, env, work, log)

    def save(self) -> None:
        """Take the outputs; what is missing is an error, unless it may be."""
        outputs = self.template.get("outputs", {})
        found: dict[str, str] = {}
        for one in outputs.get("parameters", []):
            only(one, {"name", "value", "valueFrom"})
            if "value" in one:
                found[one["name"]] = one["value"]
                continue
            only(one["valueFrom"], {"path"})
            path = self.paths.path(one["valueFrom"]["path"])
            text = path.read_bytes().decode()
            found[one["name"]] = self.paths.there(text).removesuffix("\n")
        self.node.parameters = found
        for one in outputs.get("artifacts", []):
            only(one, {"name", "path", "archive", "s3", "optional"})
            path = self.paths.path(one["path"])
            if not path.exists():
                if one.get("optional"):
                    continue
                raise FileNotFoundError(f"{one['path']} no such file or directory")
            artifact = location(one)
            if not artifact.key:
                artifact = artifact._replace(key=f"{self.key}/{one['name']}.tgz")
            if artifact.plain:
                self.workflow.cluster.store.put(artifact.key, path)
            else:
                self.workflow.cluster.store.put_archive(artifact.key, path, one["name"])
            self.node.artifacts[one["name"]] = artifact
